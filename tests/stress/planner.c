/* SPDX-License-Identifier: MIT */
/*
 * Planners: whole graphs, groups with completion tasks to which others add members, and
 * dependencies, of new tasks and of waiting ones; killed at any point of that.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "draft.h"

#define MEMBERS_MAX 10u
#define RECENT 100u
#define GRAPH_FUSES 4u /* a graph takes many holds: it is the more often cut off */
#define BACKLOG 300u /* as for submitters */

/* A group on its way, or a graph. */
struct plan {
	uint32_t group;	     /* in the ledger */
	uint32_t completion; /* slot; UINT32_MAX none */
	uint32_t first, count; /* slots of the members */
	struct draft *drafts; /* of these, then of the completion task */
	struct tq_group_opts opts;
	uint64_t id;
};

static void drop_plan(struct plan *plan)
{
	for (uint32_t i = 0; plan->drafts && i <= plan->count; i++)
		draft_drop(&plan->drafts[i]);
	free(plan->drafts);
}

/* Records that stay: or nobody could tell whether all of them were there. */
static struct draft *write_member(struct player *p, struct plan *plan, uint32_t i)
{
	struct draft *d = &plan->drafts[i];

	draft_write(p, d, plan->first + i, true);
	d->spec.full_timeout_ns = 0;
	return d;
}

static void choose_completion(struct player *p, struct plan *plan)
{
	plan->completion = UINT32_MAX;
	if (!chance_percent(&p->chance, 70))
		return;
	plan->completion = plan->first + plan->count;
	plan->opts.condition = (uint32_t)chance_in(&p->chance, TQ_GROUP_ANY, TQ_GROUP_FAIL);
	struct draft *d = write_member(p, plan, plan->count);

	if (chance_percent(&p->chance, 10))
		(void)draft_after(p, d, plan->completion, 1);
	plan->opts.completion = &d->spec;
}

/* Entries in the ledger for all of it; false: there is no room. */
static bool open_plan(struct player *p, struct plan *plan, uint32_t count, bool is_graph)
{
	*plan = (struct plan){ .count = count, .opts = { .size = sizeof(plan->opts) } };
	plan->drafts = calloc(count + 1, sizeof(*plan->drafts));
	plan->first = plan->drafts ? ledger_offer(p->ledger, count + 1) : UINT32_MAX;
	if (plan->first == UINT32_MAX)
		return false;
	choose_completion(p, plan);
	plan->group = ledger_group_offer(p->ledger, plan->opts.condition, is_graph, p->who);
	if (plan->group == UINT32_MAX)
		return false;
	if (plan->completion != UINT32_MAX)
		ledger_completes(p->ledger, plan->completion, plan->group);
	return true;
}

/* What a call has answered is that of its completion task, too. */
static void answered(struct player *p, struct plan *plan, const char *call, int r)
{
	struct tq_group_info info = { .size = sizeof(info) };

	player_accepts(p, call, r);
	ledger_group_answered(p->ledger, plan->group, r, plan->id);
	if (plan->completion == UINT32_MAX)
		return;
	if (r < 0)
		ledger_refused(p->ledger, plan->completion, r);
	else if (tq_group_info(p->tq, plan->id, &info) == 0)
		ledger_accepted(p->ledger, plan->completion, info.completion);
}

/* Graphs. */

static int add_member(struct player *p, struct tq_graph *graph, struct plan *plan, uint32_t i)
{
	struct tq_graph_dependency after[LEDGER_AFTER_MAX];
	struct draft *d = write_member(p, plan, i);
	uint32_t slot = plan->first + i, count = 0;

	ledger_join(p->ledger, slot, plan->group);
	if (chance_percent(&p->chance, 15))
		(void)draft_after(p, d, slot, 1);
	for (uint32_t on = i; on > 0 && count < 2; on--) {
		uint32_t kind = draft_kind(p);

		if (chance_percent(&p->chance, 50) &&
		    ledger_after(p->ledger, slot, plan->first + on - 1, kind, true))
			after[count++] = (struct tq_graph_dependency){ on - 1, kind };
	}
	return tq_graph_add(graph, &d->spec, after, count, NULL);
}

static int submit_graph(struct player *p, struct plan *plan, uint64_t *ret_ids)
{
	struct tq_graph *graph;
	int r = tq_graph_new(p->tq, &plan->opts, &graph);

	if (r < 0)
		return r;
	for (uint32_t i = 0; i < plan->count && r == 0; i++)
		r = add_member(p, graph, plan, i);
	for (uint32_t i = 0; i < GRAPH_FUSES; i++)
		fuse_light(p);
	if (r == 0)
		r = tq_graph_submit(graph, ret_ids, &plan->id);
	tq_graph_drop(graph);
	return r;
}

static void plan_graph(struct player *p)
{
	struct plan plan;
	uint64_t ids[MEMBERS_MAX];
	uint32_t count = (uint32_t)chance_in(&p->chance, 1, MEMBERS_MAX);

	if (open_plan(p, &plan, count, true)) {
		int r = submit_graph(p, &plan, ids);

		answered(p, &plan, "tq_graph_submit", r);
		for (uint32_t i = 0; i < count; i++)
			if (r < 0)
				ledger_refused(p->ledger, plan.first + i, r);
			else
				ledger_accepted(p->ledger, plan.first + i, ids[i]);
	}
	drop_plan(&plan);
}

/* Groups. */

static void submit_member(struct player *p, struct plan *plan, uint32_t i)
{
	struct draft *d = write_member(p, plan, i);
	uint32_t slot = plan->first + i;
	uint64_t id;

	if (chance_percent(&p->chance, 30))
		(void)draft_after(p, d, slot, 2);
	d->spec.group = plan->id;
	ledger_join(p->ledger, slot, plan->group);
	player_does(p, DOING_PLAN, slot);
	int r = tq_submit(p->tq, &d->spec, &id);

	if (r != TQ_ECYCLE) /* it comes after the group's completion task, be it by others */
		player_accepts(p, "tq_submit of a member", r);
	if (r < 0)
		ledger_refused(p->ledger, slot, r);
	else
		ledger_accepted(p->ledger, slot, id);
}

/* Nobody joins any more, or all that has not ended is cancelled. */
static void close_group(struct player *p, struct plan *plan)
{
	struct ledger_group *g = &p->ledger->group[plan->group];
	int r = 0;

	if (chance_percent(&p->chance, 10) && player_phase_is(p, PHASE_STORM)) {
		ledger_killing(p->ledger, p->who, 0); /* unsealed: it is cancelled */
		_exit(EXIT_PLANNED);
	}
	player_does(p, DOING_PLAN, UINT32_MAX);
	do {
		if (chance_percent(&p->chance, 20)) {
			atomic_fetch_or(&g->asked, ASKED_CANCEL);
			r = tq_group_cancel(p->tq, plan->id);
		} else {
			r = tq_group_seal(p->tq, plan->id);
		}
	} while (r == TQ_ELOCKED);
	player_accepts(p, "sealing a group", r);
	g->sealed = r == 0;
}

static void plan_group(struct player *p)
{
	struct plan plan;
	uint32_t count = (uint32_t)chance_below(&p->chance, MEMBERS_MAX);

	if (open_plan(p, &plan, count, false)) {
		fuse_light(p);
		int r = tq_group_new(p->tq, &plan.opts, &plan.id);

		answered(p, &plan, "tq_group_new", r);
		for (uint32_t i = 0; i < count && r == 0; i++)
			submit_member(p, &plan, i);
		if (r == 0 && chance_percent(&p->chance, 50)) /* for others to join */
			player_work(chance_in(&p->chance, 1, 20) * MS);
		if (r == 0)
			close_group(p, &plan);
		if (r == 0 && chance_percent(&p->chance, 30))
			player_accepts(p, "tq_group_wait",
				       tq_group_wait(p->tq, plan.id,
						     chance_below(&p->chance, 50) * MS, NULL));
	}
	drop_plan(&plan);
}

/* Dependencies. */

static uint32_t choose_task(struct player *p)
{
	uint32_t end = p->ledger->tasks, room = end < RECENT ? end : RECENT;
	uint32_t slot = room ? end - 1 - (uint32_t)chance_below(&p->chance, room) : UINT32_MAX;

	return slot != UINT32_MAX && p->ledger->task[slot].state == LEDGER_ACCEPTED ? slot
										    : UINT32_MAX;
}

/* Of a task that may start meanwhile: what it was to wait for is sure after the answer only. */
static void add_dependency(struct player *p)
{
	uint32_t slot = choose_task(p), on = choose_task(p), kind = draft_kind(p);

	if (slot == UINT32_MAX || on == UINT32_MAX || on >= slot)
		return;
	struct ledger_after *a = ledger_after(p->ledger, slot, on, kind, false);

	if (!a)
		return;
	int r = tq_task_after(p->tq, p->ledger->task[slot].id, p->ledger->task[on].id, kind);

	if (r != TQ_ECYCLE) /* the other one came later, by another submitter */
		player_accepts(p, "tq_task_after", r);
	a->sure = r == 0;
}

static void doom(struct player *p)
{
	uint32_t slot = choose_task(p);

	if (slot == UINT32_MAX || p->ledger->task[slot].outcome)
		return;
	ledger_ask(p->ledger, slot, ASKED_DOOM);
	player_accepts(
		p, "cancel with dependants",
		tq_task_steer(p->tq, p->ledger->task[slot].id, TQ_TASK_ACTION_CANCEL_DEPENDANTS));
}

static void submit_dependant(struct player *p)
{
	uint32_t slot = ledger_offer(p->ledger, 1);
	struct draft d;
	uint64_t id;

	if (slot == UINT32_MAX)
		return;
	draft_write(p, &d, slot, false);
	(void)draft_after(p, &d, slot, LEDGER_AFTER_MAX);
	fuse_light(p);
	int r = tq_submit(p->tq, &d.spec, &id);

	player_accepts(p, "tq_submit of a dependant", r);
	if (r < 0)
		ledger_refused(p->ledger, slot, r);
	else
		ledger_accepted(p->ledger, slot, id);
	draft_drop(&d);
}

static void pace(struct player *p)
{
	struct tq_segment_info info = { .size = sizeof(info) };
	bool full = tq_segment_info(p->tq, &info) == 0 && info.tasks_unfinished > BACKLOG;

	player_work(chance_in(&p->chance, 1, full ? 200 : 20) * MS);
}

int play_planner(struct player *p)
{
	if (!player_open(p, 0))
		return 0;
	while (player_phase_is(p, PHASE_STORM)) {
		uint64_t dice = chance_below(&p->chance, 100);

		player_does(p, DOING_PLAN, UINT32_MAX);
		if (dice < 30)
			plan_graph(p);
		else if (dice < 60)
			plan_group(p);
		else if (dice < 80)
			submit_dependant(p);
		else if (dice < 97)
			add_dependency(p);
		else
			doom(p);
		pace(p);
	}
	return 0;
}
