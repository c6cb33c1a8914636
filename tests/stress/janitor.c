/* SPDX-License-Identifier: MIT */
/*
 * Janitors: note the ends of tasks, forget them, and check the segment under its lock,
 * while all others go on.
 */
#include <errno.h>

#include "storm.h"

#define PAGE 32u
#define FINAL (1u << TQ_DONE | 1u << TQ_FAILED | 1u << TQ_CANCELLED | 1u << TQ_EXPIRED)

static void tidy(struct player *p)
{
	const struct tq_task_filter filter = { .size = sizeof(filter), .states = FINAL };
	struct tq_task_info infos[PAGE] = { { .size = sizeof(infos[0]) } };
	uint64_t cursor = 0;
	uint32_t slot;
	int n;

	while ((n = tq_task_list(p->tq, &filter, &cursor, infos, PAGE)) > 0)
		for (int i = 0; i < n; i++) {
			if (outcome_see(p, &infos[i], &slot) &&
			    (p->ledger->task[slot].traits & TRAIT_KEEP) &&
			    chance_percent(&p->chance, 60)) {
				outcome_check_result(p, slot, &infos[i]);
				outcome_forget(p, slot, infos[i].id);
			}
			infos[i].size = sizeof(infos[i]);
		}
	player_accepts(p, "tq_task_list", n);
}

static void finding(void *arg, const char *text)
{
	struct player *p = arg;

	ledger_fault(p->ledger, FAULT_UNSOUND, UINT32_MAX, "under the lock: %s", text);
}

int play_janitor(struct player *p)
{
	if (!player_open(p, 0))
		return 0;
	while (player_phase_is(p, PHASE_STORM)) {
		player_does(p, DOING_LOOK, UINT32_MAX);
		tidy(p);
		if (chance_percent(&p->chance, 30))
			player_accepts(p, "tq_check exact",
				       tq_check(p->tq, TQ_CHECK_EXACT, finding, p));
		player_work(chance_in(&p->chance, 20, 100) * MS);
	}
	return 0;
}
