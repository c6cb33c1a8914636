/* SPDX-License-Identifier: MIT */
/*
 * What tasks inherit, from what is believed of those that wait for them; where that was
 * wrong, it is put right in slices, as are places.
 */
#include "scheduler/graph/inherit.h"
#include "scheduler/rebuild/rebuild_state.h"

/* What a wait on somebody's behalf lends. */
static void mend_lent(struct tqi_check *c, struct tqi_waiter *s)
{
	const struct tqi_attempt *a = s->attempt ? tqi_attempt_at(c->tx, s->attempt) : NULL;

	if (!a || a->waits_life != s->attempt_life)
		return;
	const struct tqi_worth w = tqi_worth_of(c->tx, tqi_task_at(c->tx, a->task));

	s->lent = w.priority;
	s->lent_hops = w.hops;
	s->lent_deadline_ns = w.deadline_ns;
	s->lent_deadline_hops = w.deadline_hops;
}

int tqi_rebuild_inherit(struct tqi_check *c)
{
	int r = 0;

	for (uint32_t w = 1; w < c->count[TQI_WAITERS]; w++) {
		struct tqi_waiter *s = tqi_check_record(c, TQI_WAITERS, w);

		if (s && s->state != TQI_WAITER_FREE)
			mend_lent(c, s);
	}
	for (uint32_t i = 1; i < c->count[TQI_TASKS] && r == 0; i++) {
		const struct tqi_task *t = tqi_check_record(c, TQI_TASKS, i);

		if (t && t->state != TQ_FREE)
			r = tqi_inherit_restore(c->tx, i);
	}
	return r;
}
