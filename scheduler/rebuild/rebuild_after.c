/* SPDX-License-Identifier: MIT */
/* Dependencies: those that make sense stay; what they come to is counted anew. */
#include "scheduler/graph/after.h"
#include "scheduler/rebuild/rebuild_state.h"

/* Who is through needs them no more (DP-3). */
static bool is_through(const struct tqi_task *t, const struct tqi_extra *extra)
{
	return tqi_state_is_final(t->state) && !tqi_after_keeps(t, extra);
}

static uint32_t told_of(struct tqi_check *c, const struct tqi_edge *edge, const struct tqi_task *t,
			const struct tqi_task *on)
{
	bool final = tqi_state_is_final(t->state);

	if (edge->told == TQI_EDGE_REFUSED)
		return tqi_check_is_refused(c, edge) ? TQI_EDGE_REFUSED : TQI_EDGE_TOLD;
	if (final && tqi_state_is_final(on->state))
		return TQI_EDGE_TOLD;
	/* That it has gone on is believed. */
	return final || t->state == TQ_BLOCKED ? edge->told : TQI_EDGE_TOLD;
}

/* An open edge on a final task: its end is told by the slices. */
static void attach(struct tqi_check *c, uint32_t e, struct tqi_edge *edge, struct tqi_task *t,
		   struct tqi_extra *extra)
{
	struct tqi_task *on = tqi_task_at(c->tx, edge->task);

	c->marks[TQI_EDGES][e] |= TQI_SEEN_WAITER | TQI_SEEN_LINKED;
	on->pins++;
	extra->after_count++;
	edge->told = told_of(c, edge, t, on);
	extra->unmet += edge->told == TQI_EDGE_OPEN && !tqi_state_is_final(t->state);
	tqi_rebuild_edge_list(c, e);
}

/* As far as the chain is whole; those on lost tasks are met by that. */
static void mend_chain(struct tqi_check *c, uint32_t index, struct tqi_task *t,
		       struct tqi_extra *extra)
{
	uint32_t *link = &extra->after;

	while (*link) {
		uint32_t e = *link;
		struct tqi_edge *edge = tqi_check_record(c, TQI_EDGES, e);

		if (!edge || edge->waiter != index || !edge->kind ||
		    (c->marks[TQI_EDGES][e] & (TQI_SEEN_WAITER | TQI_SEEN_LINKED)))
			break;
		c->marks[TQI_EDGES][e] |= TQI_SEEN_WAITER;
		if (is_through(t, extra) || tqi_check_edge_fault(c, edge, index)) {
			*link = edge->next_of_waiter;
			continue;
		}
		attach(c, e, edge, t, extra);
		link = &edge->next_of_waiter;
	}
	*link = 0;
}

void tqi_rebuild_after(struct tqi_check *c)
{
	for (uint32_t i = 1; i < c->count[TQI_TASKS]; i++) {
		struct tqi_task *t = tqi_check_record(c, TQI_TASKS, i);
		struct tqi_extra *extra = t && t->state != TQ_FREE ? tqi_check_extra(c, t) : NULL;

		if (extra)
			mend_chain(c, i, t, extra);
	}
}
