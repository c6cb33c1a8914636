/* SPDX-License-Identifier: MIT */
/*
 * Dependencies: tasks that wait for the end of others.
 *
 * DP-1  An edge with a kind is a dependency of its `waiter`, a task, on its `task`, which was
 *     submitted before it.  The dependant's extra has the chain.  Sequences leave only
 *     cycles through completion tasks, which wait for younger ones, and running tasks'
 *     waits: those a bounded search refuses (tqi_cycle_blocks()).
 * DP-2  It is decided once, when its task is final.  Met: the dependant waits for one thing
 *     less.  Otherwise the dependant is cancelled, cause dependency, culprit that task; the
 *     edge is REFUSED then, and stays on that task's list.  A shut member of a graph has its
 *     culprit until it is shown, and is cancelled then: later ends are only told.
 * DP-3  A task that ends for another reason gives up its edges, in slices, and unpins by
 *     that what it depended on.  One that a dependency has cancelled keeps them as long as
 *     its record is there, unless it is to be forgotten: so it can be revived with them.
 *     So does one that was a group's member when it ended: a graph can be seen afterwards.
 * DP-4  To retry a task alone counts all that it has on its culprit as met.  Those that are
 *     open are waited for, and those for an after-ok on others that live again (DP-5): so
 *     it does not matter in which order these were revived while this one had ended.
 * DP-5  To revive those that a task's end has cancelled, each gets a new life, blocked on
 *     this task's: what else it waited for and is open, or was not decided for it because
 *     it had ended, it waits for again; what has failed meanwhile is its culprit then.
 *     The end of one that was done has cancelled only what came after its failure: no one
 *     is revived with it.  For one that is after-ok and after-fail of the same task, which
 *     is never met, the order in which its own dependencies are revived decides whether it
 *     waits for both again.
 * DP-6  The end of a task that DOOMS cancels all its dependants, and each dooms its own.
 */
#ifndef TQI_SCHEDULER_GRAPH_AFTER_H
#define TQI_SCHEDULER_GRAPH_AFTER_H

#include "scheduler/record/extra.h"

/* Whether a task has any. */
static inline bool tqi_after_has_any(struct tqi_tx *tx, const struct tqi_task *task)
{
	return (task->flags & TQI_TASK_EXTRA) && tqi_task_extra(tx, task)->after;
}

/* Before a new life: how many dependencies are open; a refused one counts as met. */
uint32_t tqi_after_reopen(struct tqi_tx *tx, const struct tqi_task *task);

/* Whether a final task keeps its dependencies while it is not to be forgotten (DP-3). */
static inline bool tqi_after_keeps(const struct tqi_task *task, const struct tqi_extra *extra)
{
	return task->cause == TQ_CAUSE_DEPENDENCY || (extra && extra->counted);
}
/* Whether a final task has dependencies to give up (DP-3). */
bool tqi_after_must_release(struct tqi_tx *tx, const struct tqi_task *task);
/* Give them up, as far as there is room; true when it has none any more that it must. */
bool tqi_after_release(struct tqi_tx *tx, uint32_t task);
/* The same of a record that is to go; true when it has none any more. */
bool tqi_after_discard(struct tqi_tx *tx, uint32_t task);
/* Whether the end of a task in this final state is what such a dependant waits for. */
bool tqi_after_is_met(uint32_t kind, uint32_t state);

#endif
