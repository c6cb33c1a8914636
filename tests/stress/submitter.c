/* SPDX-License-Identifier: MIT */
/* Submitters: tasks of all sorts, one by one and in batches, each in the ledger first. */
#include <stdlib.h>

#include "draft.h"

#define BATCH_MAX 24u
#define BACKLOG 300u /* unfinished tasks at which a submitter waits for some to end */
#define GROUPS_RECENT 16u

static int submit_drafts(struct player *p, const struct draft *drafts, uint32_t count,
			 uint64_t *ret_ids)
{
	struct tq_task_spec specs[BATCH_MAX];

	for (uint32_t i = 0; i < count; i++)
		specs[i] = drafts[i].spec;
	fuse_light(p);
	if (count == 1) {
		int r = tq_submit(p->tq, specs, ret_ids);

		return r < 0 ? r : 1;
	}
	return tq_submit_many(p->tq, specs, count, ret_ids);
}

/* A group that somebody has open, to the best of the ledger's knowledge; UINT32_MAX none. */
static uint32_t choose_group(struct player *p)
{
	uint32_t end = p->ledger->groups, room = end < GROUPS_RECENT ? end : GROUPS_RECENT;
	uint32_t group = room ? end - 1 - (uint32_t)chance_below(&p->chance, room) : UINT32_MAX;
	const struct ledger_group *g = room ? &p->ledger->group[group] : NULL;

	return g && g->state == LEDGER_ACCEPTED && !g->is_graph && !g->sealed ? group : UINT32_MAX;
}

/* It becomes a member of somebody's group, or comes after others. */
static void link_draft(struct player *p, struct draft *d, uint32_t slot)
{
	uint32_t group = chance_percent(&p->chance, 40) ? choose_group(p) : UINT32_MAX;

	if (group != UINT32_MAX) {
		ledger_join(p->ledger, slot, group);
		d->spec.group = p->ledger->group[group].id;
	} else if (chance_percent(&p->chance, 10)) {
		(void)draft_after(p, d, slot, 1);
	}
}

uint32_t submit_some(struct player *p)
{
	uint32_t count =
		chance_percent(&p->chance, 80) ? 1 : (uint32_t)chance_in(&p->chance, 2, BATCH_MAX);
	struct draft *drafts = calloc(count, sizeof(*drafts));
	uint32_t first = drafts ? ledger_offer(p->ledger, count) : UINT32_MAX, last = UINT32_MAX;
	uint64_t ids[BATCH_MAX];

	if (first == UINT32_MAX) {
		free(drafts);
		return UINT32_MAX;
	}
	for (uint32_t i = 0; i < count; i++) {
		draft_write(p, &drafts[i], first + i, false);
		link_draft(p, &drafts[i], first + i);
	}
	int r = submit_drafts(p, drafts, count, ids);

	if (r != TQ_ECYCLE) /* a member after what its group's end is waited for by */
		player_accepts(p, "tq_submit", r);
	atomic_fetch_add(&p->ledger->full, r == TQ_EFULL);
	for (uint32_t i = 0; i < count; i++) {
		if (r > (int)i)
			ledger_accepted(p->ledger, last = first + i, ids[i]);
		else
			ledger_refused(p->ledger, first + i, r);
		draft_drop(&drafts[i]);
	}
	free(drafts);
	return last;
}

/* Not faster than the others work. */
static void pace(struct player *p, uint32_t slot)
{
	struct tq_segment_info info = { .size = sizeof(info) };
	uint64_t patience = chance_in(&p->chance, 1, 40) * MS;

	if (tq_segment_info(p->tq, &info) == 0 && info.tasks_unfinished > BACKLOG)
		patience = S / 2;
	player_does(p, DOING_WAIT, slot);
	if (slot == UINT32_MAX) {
		player_work(patience / 4);
		return;
	}
	const uint64_t id = p->ledger->task[slot].id;

	player_accepts(p, "tq_wait", tq_wait(p->tq, &id, 1, patience, NULL, NULL));
}

int play_submitter(struct player *p)
{
	if (!player_open(p, 0))
		return 0;
	while (player_phase_is(p, PHASE_STORM)) {
		player_does(p, DOING_SUBMIT, UINT32_MAX);
		pace(p, submit_some(p));
	}
	return 0;
}
