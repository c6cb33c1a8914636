/* SPDX-License-Identifier: MIT */
/* What may have become of a task. */
#include "judge.h"

bool judge_exists(const struct ledger_task *t)
{
	return t->state == LEDGER_ACCEPTED || (t->state == LEDGER_OFFERED && t->id);
}

static bool may_be_cancelled(struct ledger *l, const struct ledger_task *t)
{
	uint32_t slot = (uint32_t)(t - l->task);

	return (t->asked & (ASKED_CANCEL | ASKED_DOOM)) || judge_was_cancelled_with(l, slot) ||
	       judge_may_be_refused(l, slot) || ((t->traits & TRAIT_PURGED) && l->purges);
}

/*
 * A record that nobody saw end is gone, as it may be: then its last attempt that was
 * noted must have said an end.  One that died on the way would have had a successor:
 * such tasks may crash more often than any does.
 */
static bool has_ended(struct ledger *l, const struct ledger_task *t)
{
	if (t->outcome || may_be_cancelled(l, t))
		return true;
	if (t->owner)
		return false;
	return (t->last & (SAID_DONE | SAID_FATAL)) ||
	       (t->last == SAID_FAIL && t->failures >= t->failures_max);
}

static void judge_gone(struct ledger *l, uint32_t slot, int r)
{
	const struct ledger_task *t = &l->task[slot];
	bool kept = (t->traits & TRAIT_KEEP) && !(t->asked & ASKED_FORGET);

	if (r != TQ_EGONE || kept)
		ledger_fault(l, FAULT_LOST, slot, "asked for it: %s", tq_strerror(r));
	else if (!has_ended(l, t))
		ledger_fault(l, FAULT_LOST, slot, "its record is freed, and it had not ended");
}

static bool is_spent(const struct tq_task_info *i)
{
	return i->failures >= i->attempts_max || i->crashes >= i->crashes_max ||
	       i->losses >= i->losses_max;
}

/* The state is final. */
static bool was_said(struct ledger *l, const struct ledger_task *t, const struct tq_task_info *i)
{
	switch (i->state) {
	case TQ_DONE:
		return t->said & SAID_DONE;
	case TQ_FAILED:
		return (t->said & (SAID_FAIL | SAID_FATAL)) || (t->traits & TRAIT_ONCE) ||
		       is_spent(i);
	case TQ_CANCELLED:
		return may_be_cancelled(l, t);
	default:
		return false;
	}
}

static bool was_heard(const struct ledger_task *t, uint32_t state)
{
	if (t->heard & SAID_DONE)
		return state == TQ_DONE;
	if (t->heard & SAID_FATAL) /* a failure becomes `cancelled` when that was asked for */
		return state == TQ_FAILED || state == TQ_CANCELLED;
	return true;
}

static void judge_here(struct ledger *l, uint32_t slot, const struct tq_task_info *i)
{
	const struct ledger_task *t = &l->task[slot];
	char cause[32];

	if (i->state < TQ_DONE) {
		ledger_fault(l, FAULT_UNENDED, slot, "it is %s", tq_task_state_name(i->state));
		return;
	}
	ledger_outcome(l, slot, i->state);
	if (!was_said(l, t, i))
		ledger_fault(l, FAULT_UNSAID, slot, "%s by %s, failures %u crashes %u losses %u",
			     tq_task_state_name(i->state),
			     tq_cause_format(i->cause, i->cause_arg, cause), i->failures,
			     i->crashes, i->losses);
}

void judge_task(struct ledger *l, uint32_t slot, int r, const struct tq_task_info *info)
{
	const struct ledger_task *t = &l->task[slot];

	if (!judge_exists(t)) {
		if (t->id || t->starts)
			ledger_fault(l, FAULT_GHOST, slot, "it was not accepted");
		return;
	}
	if (r == 0)
		judge_here(l, slot, info);
	else
		judge_gone(l, slot, r);
	if (t->outcome && !was_heard(t, t->outcome))
		ledger_fault(l, FAULT_UNHEARD, slot, "heard %x, and it is %s", t->heard,
			     tq_task_state_name(t->outcome));
}
