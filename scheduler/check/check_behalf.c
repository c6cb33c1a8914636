/* SPDX-License-Identifier: MIT */
/* On whose behalf sleepers wait (WO-1, WO-2). */
#include "scheduler/check/check_state.h"

static bool is_of(const struct tqi_waiter *s, uint32_t a, uint32_t life)
{
	return s->attempt == a && s->attempt_life == life;
}

/* The slots of an attempt. */
static void check_list(struct tqi_check *c, uint32_t a, const struct tqi_attempt *attempt)
{
	struct tqi_check_list list = { TQI_CHECK_LIST(TQI_WAITERS, tqi_waiter, attempt_prev,
						      attempt_next),
				       .mark = TQI_SEEN_WAITER, .name = "waits of attempt",
				       .owner = a, .next = attempt->waits };
	const struct tqi_waiter *s;

	while ((s = tqi_check_next(c, &list)))
		if (!is_of(s, a, attempt->waits_life))
			tqi_check_break(c, &list);
}

/* Its neighbours know it. */
static bool is_linked(struct tqi_check *c, uint32_t w, const struct tqi_waiter *s)
{
	const struct tqi_waiter *prev = tqi_check_record_in_use(c, TQI_WAITERS, s->attempt_prev);
	const struct tqi_waiter *next = tqi_check_record_in_use(c, TQI_WAITERS, s->attempt_next);

	return (!s->attempt_prev ||
		(prev && prev->attempt_next == w && is_of(prev, s->attempt, s->attempt_life))) &&
	       (!s->attempt_next ||
		(next && next->attempt_prev == w && is_of(next, s->attempt, s->attempt_life)));
}

/* Those of an attempt that has ended are on no list. */
static void check_waiter(struct tqi_check *c, uint32_t w)
{
	const struct tqi_waiter *s = tqi_check_record_in_use(c, TQI_WAITERS, w);

	if (!s || !s->attempt || (c->marks[TQI_WAITERS][w] & TQI_SEEN_WAITER))
		return;
	const struct tqi_attempt *attempt = tqi_check_record(c, TQI_ATTEMPTS, s->attempt);

	if (!attempt || attempt->waits_life == s->attempt_life)
		tqi_check_fault(c, "sleeper %u: attempt %u does not know it", w, s->attempt);
	else if (!is_linked(c, w, s))
		tqi_check_fault(c, "sleeper %u: its neighbours do not know it", w);
}

void tqi_check_behalf(struct tqi_check *c)
{
	for (uint32_t a = 1; a < c->count[TQI_ATTEMPTS]; a++) {
		const struct tqi_attempt *attempt = tqi_check_record_in_use(c, TQI_ATTEMPTS, a);

		if (attempt)
			check_list(c, a, attempt);
	}
	for (uint32_t w = 1; w < c->count[TQI_WAITERS]; w++)
		check_waiter(c, w);
}
