/* SPDX-License-Identifier: MIT */
/* Waiters: for one task, any or all of some; they must return when it has ended. */
#include <errno.h>
#include <string.h>

#include "storm.h"

#define RECENT 256u /* they wait for one of the newest so many */
#define MANY 6u

/* One that was accepted; UINT32_MAX none found. */
static uint32_t choose(struct player *p)
{
	uint32_t end = p->ledger->tasks, room = end < RECENT ? end : RECENT;

	for (int i = 0; i < 20 && room; i++) {
		uint32_t slot = end - 1 - (uint32_t)chance_below(&p->chance, room);

		if (p->ledger->task[slot].state == LEDGER_ACCEPTED &&
		    (!p->ledger->task[slot].outcome || i > 10))
			return slot;
	}
	return UINT32_MAX;
}

static uint64_t choose_timeout(struct player *p)
{
	if (chance_percent(&p->chance, 50))
		return TQ_FOREVER_NS;
	return chance_in(&p->chance, 0, 300) * MS;
}

/* A record that is to be kept goes only when somebody asked. */
static void check_gone(struct player *p, uint32_t slot, int r)
{
	const struct ledger_task *t = &p->ledger->task[slot];

	if (r == -ENOENT ||
	    (r == TQ_EGONE && (t->traits & TRAIT_KEEP) && !(t->asked & ASKED_FORGET)))
		ledger_fault(p->ledger, FAULT_LOST, slot, "waited for: %s", tq_strerror(r));
}

/* Texts are the record's, or none: never another task's. */
static void check_texts(struct player *p, uint32_t slot, const struct tq_task_info *info)
{
	uint32_t of = paper_label_slot(info->label);

	if (info->label[0] && of != slot)
		ledger_fault(p->ledger, FAULT_MIXED, slot, "tq_wait shows the label '%.40s'",
			     info->label);
}

static void wait_for_one(struct player *p, uint32_t slot)
{
	struct tq_task_info info = { .size = sizeof(info) };
	uint64_t id = p->ledger->task[slot].id;
	int r = tq_wait(p->tq, &id, 1, choose_timeout(p), NULL, &info);

	check_gone(p, slot, r);
	if (r < 0) {
		player_accepts(p, "tq_wait", r);
		return;
	}
	check_texts(p, slot, &info);
	if (info.id != id || info.state < TQ_DONE)
		ledger_fault(p->ledger, FAULT_ANSWER, slot, "tq_wait: id %llx, %s",
			     (unsigned long long)info.id, tq_task_state_name(info.state));
	ledger_outcome(p->ledger, slot, info.state);
	outcome_check_result(p, slot, &info);
	if ((p->ledger->task[slot].traits & TRAIT_KEEP) && chance_percent(&p->chance, 30))
		outcome_forget(p, slot, id);
}

static void wait_for_many(struct player *p)
{
	uint32_t slots[MANY], count = 0;
	uint64_t ids[MANY];
	bool any = chance_percent(&p->chance, 50);

	while (count < MANY && (slots[count] = choose(p)) != UINT32_MAX) {
		ids[count] = p->ledger->task[slots[count]].id;
		count++;
	}
	if (!count)
		return;
	/* The end of one is the end of the wait, or not. */
	player_does(p, DOING_WAIT, any ? slots[0] : UINT32_MAX);
	const struct tq_wait_opts opts = {
		.size = sizeof(opts),
		.flags = TQ_WAIT_PRIORITY | (any ? TQ_WAIT_ANY : 0),
		.priority = (int32_t)chance_below(&p->chance, 400) - 200,
	};
	int r = tq_wait(p->tq, ids, count, choose_timeout(p), &opts, NULL);

	if (r != -ENOENT) /* which one is not known: the judge will see */
		player_accepts(p, "tq_wait of several", r);
	if (r >= (any ? (int)count : 1))
		ledger_fault(p->ledger, FAULT_ANSWER, slots[0], "tq_wait: index %d of %u", r,
			     count);
}

static void wait_for_state(struct player *p, uint32_t slot)
{
	const uint64_t id = p->ledger->task[slot].id;
	const struct tq_wait_opts running = { .size = sizeof(running), .states = 1u << TQ_RUNNING };
	int r = tq_wait(p->tq, &id, 1, choose_timeout(p), &running, NULL);

	check_gone(p, slot, r);
	player_accepts(p, "tq_wait for a state", r);
}

/* On behalf of the attempt: it may have been told that it would wait for itself. */
void attempt_waits(struct player *p)
{
	uint32_t slot = choose(p);

	if (slot == UINT32_MAX)
		return;
	const uint64_t id = p->ledger->task[slot].id;
	int r = tq_wait(p->tq, &id, 1, chance_in(&p->chance, 1, 20) * MS, NULL, NULL);

	check_gone(p, slot, r);
	if (r != -EDEADLK)
		player_accepts(p, "tq_wait in an attempt", r);
}

int play_waiter(struct player *p)
{
	if (!player_open(p, 0))
		return 0;
	while (player_phase_is(p, PHASE_STORM)) {
		uint32_t slot = choose(p);
		uint64_t dice = chance_below(&p->chance, 100);

		player_does(p, DOING_WAIT, slot);
		if (slot == UINT32_MAX)
			player_work(5 * MS);
		else if (dice < 60)
			wait_for_one(p, slot);
		else if (dice < 85)
			wait_for_many(p);
		else
			wait_for_state(p, slot);
	}
	return 0;
}
