/* SPDX-License-Identifier: MIT */
/* Dependencies: each task's chain of them, and what they come to (RC-11, DP-1 to DP-3). */
#include "scheduler/graph/after.h"
#include "scheduler/check/check_state.h"

bool tqi_check_is_refused(struct tqi_check *c, const struct tqi_edge *edge)
{
	const struct tqi_task *on = tqi_check_record(c, TQI_TASKS, edge->task);
	const struct tqi_task *t = tqi_check_record(c, TQI_TASKS, edge->waiter);
	const struct tqi_extra *extra = t ? tqi_check_extra(c, t) : NULL;

	return edge->kind && on && extra &&
	       (extra->shut || (t->state == TQ_CANCELLED && t->cause == TQ_CAUSE_DEPENDENCY)) &&
	       extra->culprit == tqi_id_make(edge->task, on->generation);
}

const char *tqi_check_edge_fault(struct tqi_check *c, const struct tqi_edge *edge, uint32_t index)
{
	const struct tqi_task *on = edge ? tqi_check_record_in_use(c, TQI_TASKS, edge->task) : NULL;
	const struct tqi_task *t = tqi_check_record(c, TQI_TASKS, index);

	if (!edge || edge->waiter != index || edge->kind < TQ_AFTER_OK ||
	    edge->kind > TQ_AFTER_FAIL || edge->told > TQI_EDGE_REFUSED)
		return "is another's";
	if (!on || on->state == TQ_FREE)
		return "has no task";
	return on->sequence >= t->sequence ? "is on a later task" : NULL; /* DP-1 */
}

/* Of one that is sound in itself. */
static void check_edge(struct tqi_check *c, uint32_t e, const struct tqi_edge *edge,
		       const struct tqi_task *t)
{
	const struct tqi_task *on = tqi_check_record(c, TQI_TASKS, edge->task);
	bool open = edge->told == TQI_EDGE_OPEN;

	c->pins[edge->task]++;
	c->unmet[edge->waiter] += open && !tqi_state_is_final(t->state);
	if (open && tqi_state_is_final(on->state) && !(on->flags & TQI_TASK_TELLING))
		tqi_check_fault(c, "edge %u: task %u is final, and has not told it", e, edge->task);
	if (edge->told == TQI_EDGE_REFUSED && !tqi_check_is_refused(c, edge))
		tqi_check_fault(c, "edge %u: task %u was not refused by it", e, edge->waiter);
}

void tqi_check_task_after(struct tqi_check *c, uint32_t index, const struct tqi_task *t)
{
	const struct tqi_extra *extra = tqi_check_extra(c, t);
	bool telling = t->flags & TQI_TASK_TELLING, final = tqi_state_is_final(t->state);
	bool blamed = t->cause == TQ_CAUSE_DEPENDENCY;
	struct tqi_check_list list = { TQI_CHECK_CHAIN(TQI_EDGES, tqi_edge, next_of_waiter),
				       .mark = TQI_SEEN_WAITER, .name = "dependencies of task",
				       .owner = index, .next = extra ? extra->after : 0 };
	const struct tqi_edge *edge;

	c->unmet[index] += telling && !final; /* ED-3: its dependants are being revived */
	if (blamed && !(extra && extra->culprit))
		tqi_check_fault(c, "task %u: cause dependency, of nothing", index);
	while ((edge = tqi_check_next(c, &list))) {
		const char *fault = tqi_check_edge_fault(c, edge, index);

		if (fault) {
			tqi_check_fault(c, "task %u: dependency %u %s", index, list.at, fault);
			return;
		}
		check_edge(c, list.at, edge, t);
	}
	if (list.broken)
		return;
	if (extra)
		tqi_check_equal(c, "task", index, "after_count", extra->after_count, list.count);
	if (list.count && final && !telling && !tqi_after_keeps(t, extra))
		tqi_check_fault(c, "task %u: final, and has dependencies still", index);
}
