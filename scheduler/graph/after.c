/* SPDX-License-Identifier: MIT */
/* Dependencies. */
#include "scheduler/graph/after.h"

#include "scheduler/graph/edge.h"
#include "scheduler/record/task_record.h"

bool tqi_after_is_met(uint32_t kind, uint32_t state)
{
	if (kind == TQ_AFTER_ANY)
		return true;
	return (state == TQ_DONE) == (kind == TQ_AFTER_OK);
}

uint32_t tqi_after_reopen(struct tqi_tx *tx, const struct tqi_task *task)
{
	uint32_t unmet = 0, steps = 0;

	if (!tqi_after_has_any(tx, task))
		return 0;
	for (uint32_t e = tqi_task_extra(tx, task)->after;
	     e && tqi_table_walks(tx, TQI_EDGES, &steps);) {
		const struct tqi_edge *edge = tqi_edge_at(tx, e);

		unmet += edge->told == TQI_EDGE_OPEN;
		if (edge->told == TQI_EDGE_REFUSED)
			tqi_edge_set(tx, e, TQI_EDGE_TOLD);
		e = edge->next_of_waiter;
	}
	return unmet;
}

bool tqi_after_must_release(struct tqi_tx *tx, const struct tqi_task *task)
{
	return tqi_after_has_any(tx, task) && ((task->flags & TQI_TASK_FORGET) ||
					       !tqi_after_keeps(task, tqi_task_extra(tx, task)));
}

bool tqi_after_discard(struct tqi_tx *tx, uint32_t index)
{
	const struct tqi_task *task = tqi_task_at(tx, index);

	if (!tqi_after_has_any(tx, task))
		return true;
	struct tqi_extra *extra = tqi_task_extra(tx, task);

	while (extra->after && !tx->corrupt && !tqi_tx_is_filling(tx)) {
		uint32_t e = extra->after;

		TQI_SET(tx, extra->after, tqi_edge_at(tx, e)->next_of_waiter);
		TQI_ADD(tx, extra->after_count, -1);
		if (extra->unmet && tqi_edge_at(tx, e)->told == TQI_EDGE_OPEN)
			TQI_ADD(tx, extra->unmet, -1); /* of one that is undone, in slices */
		tqi_edge_free(tx, e);
	}
	return extra->after == 0;
}

bool tqi_after_release(struct tqi_tx *tx, uint32_t index)
{
	return !tqi_after_must_release(tx, tqi_task_at(tx, index)) || tqi_after_discard(tx, index);
}
