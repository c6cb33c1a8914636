/* SPDX-License-Identifier: MIT */
/*
 * The end of a task, and what it does to those that wait for it (scheduler/graph/edge.h,
 * scheduler/graph/after.h).
 *
 * A task that ends tells its dependants, and whom that refuses ends, too: finish, tell,
 * go_through, tell_first, decide, refuse, finish.  It is the one recursion of the scheduler,
 * and two deep at most: who ends because of a dependency tells nobody at once, but joins the
 * telling list, and the slices of that begin anew.
 */
#ifndef TQI_SCHEDULER_TASK_END_H
#define TQI_SCHEDULER_TASK_END_H

#include "scheduler/record/records.h"

/*
 * The one function that makes final transitions.  The task is in no lane heap and
 * has no attempt.  Wakes its waiters, updates counters, lists or frees the record.
 */
void tqi_task_finish(struct tqi_tx *tx, uint32_t index, uint32_t state, uint32_t cause,
		     int32_t cause_arg);
/*
 * Whether nobody waits for its end, and nothing is kept of it: tqi_task_settle() will free it.
 * Then it is never final, and neither a time nor a cause of its end is written.
 */
static inline bool tqi_task_goes_at_once(const struct tqi_task *task)
{
	const uint32_t flags = task->flags & (TQI_TASK_FORGET | TQI_TASK_EXTRA | TQI_TASK_TELLING);

	return flags == TQI_TASK_FORGET && !task->edges && !task->pins;
}
/* The same as tqi_task_finish() of such a one that is done, and has no rare settings. */
void tqi_task_leave(struct tqi_tx *tx, uint32_t index, struct tqi_task *task,
		    struct tqi_stream *stream, uint32_t cause, int32_t cause_arg);
/* Cancel a waiting task, whatever it waits for. */
void tqi_task_cancel_waiting(struct tqi_tx *tx, uint32_t index);
/* End one that is over: it is condemned, or else has outlived its deadline. */
void tqi_task_end_over(struct tqi_tx *tx, uint32_t index);
/* Cancel a waiting task because of another one; its dependants are doomed if that one's were. */
void tqi_after_refuse(struct tqi_tx *tx, uint32_t task, uint64_t culprit, bool dooms);

/* A shut member of a graph that has been published becomes real, and goes its way. */
void tqi_member_open(struct tqi_tx *tx, uint32_t task);

/* One slice of the telling list (ED-3); true when something is left. */
bool tqi_edge_tell_slice(struct tqi_tx *tx);

#endif
