/* SPDX-License-Identifier: MIT */
/* D2, D5: the operations of the sweep on groups and graphs, and their preparations. */
#include "client/core/sleeper.h"
#include "scheduler/graph/group.h"
#include "scheduler/task/group_make.h"
#include "scheduler/task/submit.h"
#include "scheduler/wake/called.h"
#include "scheduler/wake/wake.h"
#include "tests/crash/operations.h"

#define WALKED 12 /* more members than one hold of a walk changes */
#define NODES 5	  /* of a graph */

/* Before all others, and so claimed first. */
static const struct tq_task_spec spec = {
	.size = sizeof(spec), .kind = "k", .label = "member", .priority = TQ_PRIORITY_CRITICAL
};
static const struct tq_task_spec after = { .size = sizeof(after), .kind = "k", .label = "after" };

static uint64_t make(struct tqt_world *w, uint32_t condition)
{
	const struct tq_group_opts opts = { .size = sizeof(opts),
					    .label = "group",
					    .completion = condition ? &after : NULL,
					    .condition = condition,
					    .flags = TQ_GROUP_DETACHED };
	uint64_t id;

	tqt_must(tq_group_new(w->tq, &opts, &id), "group");
	return id;
}

static void join(struct tqt_world *w, uint64_t group, uint32_t count, uint32_t flags)
{
	struct tq_task_spec member = spec;

	member.group = group;
	member.flags = flags;
	for (uint32_t i = 0; i < count; i++)
		tqt_submit(w, &member);
}

/* ids[0]: an open group with a completion task, and two members. */
void tqt_prepare_group(struct tqt_world *w)
{
	w->ids[0] = make(w, TQ_GROUP_ANY);
	join(w, w->ids[0], 2, 0);
}

void tqt_prepare_empty_group(struct tqt_world *w)
{
	w->ids[0] = make(w, TQ_GROUP_FAIL);
}

void tqt_prepare_members(struct tqt_world *w)
{
	w->ids[0] = make(w, TQ_GROUP_ANY);
	join(w, w->ids[0], WALKED, 0);
}

/* Of two members, the victim runs the second; the first waits. */
void tqt_prepare_member(struct tqt_world *w)
{
	tqt_serve(w, 0);
	tqt_prepare_group(w);
	tqt_claim(w);
	w->id_count = 0;
}

/* So many tasks are done, one after the other. */
static void end_first(struct tqt_world *w, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct tq_claim claim = { .size = sizeof(claim) };

		tqt_must(tq_claim(w->worker, 0, &claim), "claim");
		tqt_must(tq_complete(w->worker, &claim, NULL, 0), "complete");
	}
}

static void last_member(struct tqt_world *w, uint32_t condition)
{
	uint64_t group = make(w, condition);

	tqt_serve(w, 0);
	join(w, group, 3, 0);
	end_first(w, 2);
	tqt_must(tq_group_seal(w->tq, group), "seal");
	tqt_claim(w);
	w->ids[0] = group;
}

/* It is sealed, and the victim runs the last one; somebody waits for the group. */
void tqt_prepare_last_member(struct tqt_world *w)
{
	last_member(w, TQ_GROUP_OK);
	uint32_t s = tqt_foreign_sleeper(w, TQI_INTEREST_GROUP, tqi_id_index(w->ids[0]));
	struct tqi_tx tx;

	tqt_must(tqi_hold_begin(w->other, &tx), "hold");
	tqi_called_seen(&tx, s, TQI_GROUP_LAST);
	tqt_must(tqi_hold_end(w->other, &tx, 0), "sleeper");
}

/* A complete one with more that wait for its end than were popped at once, one of them dead. */
void tqt_prepare_called(struct tqt_world *w)
{
	uint64_t group = make(w, 0);
	uint32_t s = 0;

	for (uint32_t i = 0; i < TQI_WAKE_POPS + 3; i++) {
		uint32_t one = tqt_foreign_sleeper(w, TQI_INTEREST_GROUP, tqi_id_index(group));

		if (i == TQI_WAKE_POPS)
			s = one;
	}
	tqt_must(tq_group_seal(w->tq, group), "seal");
	tqt_sleeper_dies(w, s);
}

void tqt_run_keep_called(struct tqt_world *w)
{
	tqi_keep(w->tq);
}

/* The victim runs another task than the group's. */
void tqt_prepare_group_and_claim(struct tqt_world *w)
{
	tqt_prepare_claim(w);
	w->ids[0] = make(w, 0);
	join(w, w->ids[0], 2, 0);
}

void tqt_prepare_no_failure(struct tqt_world *w)
{
	last_member(w, TQ_GROUP_FAIL);
}

/* Cancelled, and nobody has walked over its members. */
void tqt_prepare_condemned(struct tqt_world *w)
{
	struct tqi_tx tx;

	tqt_serve(w, 0);
	tqt_prepare_members(w);
	tqt_must(tqi_hold_begin(w->tq, &tx), "hold");
	tqt_must(tqi_hold_end(w->tq, &tx, tqi_group_cancel(&tx, w->ids[0])), "cancel");
}

/* Complete, with its pins; some of its members go with them. */
void tqt_prepare_released(struct tqt_world *w)
{
	uint64_t group = make(w, 0);

	tqt_serve(w, 0);
	join(w, group, WALKED, 0);
	join(w, group, 2, TQ_TASK_FORGET);
	end_first(w, WALKED + 2);
	tqt_must(tq_group_seal(w->tq, group), "seal");
}

/* Released, and kept for its time. */
void tqt_prepare_old_group(struct tqt_world *w)
{
	struct tq_task_spec kept = spec;
	uint64_t group = make(w, 0);

	tqt_serve(w, 0);
	kept.group = group;
	kept.flags = TQ_TASK_KEEP;
	tqt_submit(w, &kept);
	end_first(w, 1);
	tqt_must(tq_group_seal(w->tq, group), "seal");
	tqi_sweep_out(w->tq);
}

/* Groups of somebody who has died: an open one, and a graph half written. */
static uint64_t of_dead;

static int make_op(struct tqi_tx *tx, void *arg)
{
	static const struct tqi_ident dead = { .pid = TQT_PID_DEAD,
					       .tid = TQT_PID_DEAD,
					       .start = 1 };
	const struct tqi_group_request request = { .owner = &dead, .building = *(bool *)arg };
	uint64_t id, completion;
	int r = tqi_group_make(tx, &request, &id, &completion);

	of_dead = r == 0 ? id : 0;
	return r;
}

static void make_of_dead(struct tqt_world *w, bool building)
{
	tqt_must(tqi_run(w->tq, make_op, &building), "group of the dead");
}

static int member_op(struct tqi_tx *tx, void *arg)
{
	struct tqi_submit s = { .spec = arg, .shut = true };
	uint64_t id;
	int r = tqi_graph_find(tx, of_dead, &s.group);

	return r < 0 ? r : tqi_submit(tx, &s, &id);
}

void tqt_prepare_dead_group(struct tqt_world *w)
{
	make_of_dead(w, false);
	join(w, of_dead, WALKED, 0);
}

void tqt_prepare_dead_graph(struct tqt_world *w)
{
	make_of_dead(w, true);
	for (uint32_t i = 0; i < WALKED; i++) {
		struct tq_task_spec member = spec;

		member.queue = "default";
		member.fair_key = i % 2 ? "tenant" : NULL;
		tqt_must(tqi_run(w->tq, member_op, &member), "member of the dead");
	}
}

/* In private memory, which outlives the victim's stack: it is dropped with the next one. */
static struct tq_graph *graph;

void tqt_prepare_graph(struct tqt_world *w)
{
	const struct tq_group_opts opts = { .size = sizeof(opts),
					    .label = "graph",
					    .completion = &after };
	const struct tq_graph_dependency on = { .member = 0 };

	tq_graph_drop(graph);
	tqt_must(tq_graph_new(w->tq, &opts, &graph), "graph");
	for (uint32_t i = 0; i < NODES; i++)
		tqt_must(tq_graph_add(graph, &spec, i ? &on : NULL, i ? 1 : 0, NULL), "add");
}

void tqt_run_group_new(struct tqt_world *w)
{
	const struct tq_group_opts opts = { .size = sizeof(opts), .label = "new" };

	w->result = tq_group_new(w->tq, &opts, &w->ids[0]);
}

void tqt_run_group_new_completion(struct tqt_world *w)
{
	const struct tq_group_opts opts = { .size = sizeof(opts), .completion = &after };

	w->result = tq_group_new(w->tq, &opts, &w->ids[0]);
}

void tqt_run_submit_member(struct tqt_world *w)
{
	struct tq_task_spec member = spec;

	member.group = w->ids[0];
	w->result = tq_submit(w->tq, &member, NULL);
}

void tqt_run_group_seal(struct tqt_world *w)
{
	w->result = tq_group_seal(w->tq, w->ids[0]);
}

void tqt_run_group_seal_empty(struct tqt_world *w)
{
	w->result = tq_group_seal(w->tq, w->ids[0]);
}

void tqt_run_group_cancel(struct tqt_world *w)
{
	w->result = tq_group_cancel(w->tq, w->ids[0]);
}

void tqt_run_group_cancel_running(struct tqt_world *w)
{
	w->result = tq_group_cancel(w->tq, w->ids[0]);
}

static void complete(struct tqt_world *w)
{
	w->result = tq_complete(w->worker, &w->claims[0], NULL, 0);
}

void tqt_run_complete_member(struct tqt_world *w)
{
	complete(w);
}

void tqt_run_complete_last_member(struct tqt_world *w)
{
	complete(w);
}

void tqt_run_complete_against(struct tqt_world *w)
{
	complete(w);
}

void tqt_run_fail_last_member(struct tqt_world *w)
{
	w->result = tq_fail(w->worker, &w->claims[0], 1, "bad");
}

void tqt_run_cancel_member(struct tqt_world *w)
{
	w->result = tq_task_steer(w->tq, w->claims[0].id, TQ_TASK_ACTION_CANCEL);
}

void tqt_run_claim_condemned(struct tqt_world *w)
{
	tqt_run_claim(w);
}

static void complete_meanwhile(struct tqt_world *w)
{
	tqt_must(tq_complete(w->worker, &w->claims[0], NULL, 0), "complete meanwhile");
}

void tqt_run_group_wait(struct tqt_world *w)
{
	tqt_must(tq_claim_adopt(w->worker, NULL), "adopt"); /* as a client */
	tqt_meanwhile(w, complete_meanwhile);
	w->result = tq_group_wait(w->tq, w->ids[0], TQT_LONG_NS, NULL);
}

static void cancel_meanwhile(struct tqt_world *w)
{
	tqt_must(tq_group_cancel(w->tq, w->ids[0]), "cancel meanwhile");
}

/* On behalf of the claim, which is no member. */
void tqt_run_group_wait_behalf(struct tqt_world *w)
{
	tqt_meanwhile(w, cancel_meanwhile);
	w->result = tq_group_wait(w->tq, w->ids[0], TQT_LONG_NS, NULL);
}

/* A member's, for itself. */
void tqt_run_group_wait_cycle(struct tqt_world *w)
{
	w->result = tq_group_wait(w->tq, w->ids[0], TQT_LONG_NS, NULL);
}

void tqt_run_group_wait_timeout(struct tqt_world *w)
{
	w->result = tq_group_wait(w->tq, w->ids[0], TQT_SECOND_NS, NULL);
}

void tqt_run_group_next(struct tqt_world *w)
{
	struct tq_group_cursor cursor = { .number = 2 };

	tqt_must(tq_claim_adopt(w->worker, NULL), "adopt"); /* as a client */
	tqt_meanwhile(w, complete_meanwhile);
	w->result = tq_group_next(w->tq, w->ids[0], &cursor, TQT_LONG_NS, NULL);
}

void tqt_run_graph_submit(struct tqt_world *w)
{
	w->result = tq_graph_submit(graph, NULL, NULL);
}

void tqt_run_keep_dead_group(struct tqt_world *w)
{
	tqt_run_keep_dead(w);
}

void tqt_run_keep_dead_graph(struct tqt_world *w)
{
	tqt_run_keep_dead(w);
}

void tqt_run_keep_released(struct tqt_world *w)
{
	tqt_run_keep_idle(w);
}

void tqt_run_keep_old_group(struct tqt_world *w)
{
	tqt_run_keep_retire(w);
}
