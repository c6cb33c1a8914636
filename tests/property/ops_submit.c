/* SPDX-License-Identifier: MIT */
/* Operations that submit a task. */
#include "tests/property/submission.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "scheduler/graph/group.h"
#include "scheduler/task/submit.h"
#include "shm/inflight.h"
#include "shm/pool.h"

#define VISITS 60 /* submits for one to a queue, or of a kind, that is seldom used */
#define MS 1000000ull
#define KEYS 12 /* their names are one letter, and a few more */

static const struct tqi_ident self = { .pid = 1, .tid = 1, .start = 1 };

static void choose_times(struct world *w, struct tq_task_spec *spec)
{
	spec->delay_ns = chance(w, 5) ? some_time(w) : 0;
	if (!spec->delay_ns && chance(w, 6)) /* at times before now */
		spec->at_ns = w->m->wall_ns + below(w, 8000) * MS - 1000 * MS;
	spec->timeout_ns = chance(w, 4) ? some_time(w) : chance(w, 10) ? TQ_UNLIMITED : 0;
	spec->timeout_total_ns = chance(w, 8) ? some_time(w) : 0;
	spec->progress_timeout_ns = chance(w, 8) ? some_time(w) : 0;
	spec->deadline_ns = chance(w, 4) ? some_time(w) : 0;
	spec->backoff_ns = chance(w, 3) ? (1 + below(w, 300)) * MS : 0;
	spec->backoff_cap_ns = chance(w, 6) ? (1 + below(w, 2000)) * MS : 0;
}

/* Mostly of the kind that the others of that key are: else nothing coalesces. */
static void choose_key(struct world *w, struct model_submit *s)
{
	static const uint32_t scopes[] = { TQ_UNIQUE_QUEUED, TQ_UNIQUE_ACTIVE, TQ_UNIQUE_KEPT,
					   TQ_UNIQUE_COALESCE };

	s->unique = s->scope = 0;
	if (!chance(w, 2))
		return;
	s->unique = 1 + below(w, KEYS);
	s->scope = s->unique % 2 && !chance(w, 4) ? TQ_UNIQUE_COALESCE : scopes[below(w, 4)];
	if (!chance(w, 8))
		s->kind = 1 + s->unique % MODEL_STAYING_KINDS;
}

uint32_t choose_limits(struct world *w, struct chosen_limits *limits,
		       uint32_t ret_weight[MODEL_LIMITS + 1])
{
	uint32_t bits = 0;

	memset(ret_weight, 0, (MODEL_LIMITS + 1) * sizeof(*ret_weight));
	limits->count = chance(w, 2) ? 0 : 1 + below(w, chance(w, 3) ? TQ_LIMITS_MAX : 1);
	for (uint32_t i = 0; i < limits->count; i++) {
		uint32_t x = 1 + below(w, MODEL_LIMITS);
		uint32_t weight = chance(w, 3) ? 1 + below(w, chance(w, 9) ? TQ_WEIGHT_MAX : 4) : 1;

		bits |= 1u << x;
		limits->keys[i] = limit_name(x);
		limits->weights[i] = weight;
		if (weight > ret_weight[x])
			ret_weight[x] = weight;
	}
	return bits;
}

/* One has many at times, so that telling them takes more than one slice. */
static uint32_t pick_parent(struct world *w)
{
	uint32_t favourite = (uint32_t)(w->op / 2000) % w->m->task_slots;

	return chance(w, 3) && model_find(w->m, id_of(w, favourite)) ? favourite
								     : pick_task(w, TQ_STATE_COUNT);
}

static void choose_after(struct world *w, struct submission *s)
{
	struct tq_task_spec *spec = &s->model.spec;
	uint32_t count = 1 + below(w, MODEL_AFTER);

	spec->after = s->model.after;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t on = pick_parent(w);
		bool stale = on && w->m->tasks[on].generation > 1 && chance(w, 30);

		if (on)
			s->model.after[spec->after_count++] = (struct tq_dependency){
				.id = tqi_id_make(on, w->m->tasks[on].generation - stale),
				.kind = pick_after(w)
			};
	}
}

/* Of those that are open, mostly. */
static void choose_group(struct world *w, struct submission *s)
{
	uint32_t group = pick_group(w, chance(w, 10) ? TQI_GROUP_FREE : TQI_GROUP_OPEN);

	if (group)
		s->model.spec.group = tqi_id_make(group, w->m->groups[group].generation);
}

static void choose_links(struct world *w, struct submission *s)
{
	s->model.group = s->model.graph = 0;
	s->model.shut = s->model.completes = false;
	if (!w->link_every || !chance(w, w->link_every))
		return;
	if (chance(w, 2) && room_for_links(w))
		choose_after(w, s);
	if (chance(w, 2))
		choose_group(w, s);
}

void submission_choose(struct world *w, struct submission *s, uint32_t payload_max)
{
	struct tq_task_spec *spec = &s->model.spec;

	*spec = (struct tq_task_spec){ .size = sizeof(*spec) };
	s->model.queue = chance(w, VISITS) ? MODEL_QUEUES : 1 + below(w, MODEL_STAYING_QUEUES);
	s->model.kind = chance(w, VISITS) ? MODEL_KINDS : 1 + below(w, MODEL_STAYING_KINDS);
	choose_times(w, spec);
	spec->priority = chance(w, 3) ? (int32_t)below(w, 7) * 50 - 150 : 0;
	spec->priority = chance(w, 100) ? INT32_MIN : chance(w, 100) ? INT32_MAX : spec->priority;
	spec->attempts_max = chance(w, 2) ? 1 + below(w, 12) : 0;
	spec->crashes_max = chance(w, 4) ? 1 + below(w, 4) : 0;
	spec->losses_max = chance(w, 4) ? 1 + below(w, 3) : 0;
	spec->flags = (chance(w, 15) ? TQ_TASK_HOLD : 0) | (chance(w, 6) ? TQ_TASK_FORGET : 0) |
		      (chance(w, 25) ? TQ_TASK_KEEP : 0) |
		      (chance(w, 12) ? TQ_TASK_AT_MOST_ONCE : 0);
	choose_key(w, &s->model);
	s->model.limits = choose_limits(w, &s->limits, s->model.weight);
	s->model.spec.limits = s->limits.keys;
	s->model.spec.limit_weights = s->limits.weights;
	s->model.spec.limit_count = s->limits.count;
	s->model.tenant = chance(w, 3) ? 0 : 1 + below(w, MODEL_TENANTS);
	s->model.payload = pattern_make(w, payload_max);
	s->model.label = pattern_make(w, chance(w, 3) ? TQ_LABEL_MAX : 0);
	choose_links(w, s);
	s->by = chance(w, 4) ? pick_task(w, TQ_RUNNING) : 0;
	s->core.attempt = s->by ? w->m->tasks[s->by].attempt.record : 0;
}

void submission_point(struct submission *s)
{
	struct tq_task_spec *spec = &s->model.spec;

	pattern_fill(s->model.payload, s->payload);
	pattern_fill(s->model.label, s->label);
	s->label[s->model.label.bytes] = '\0';
	spec->payload = s->payload;
	spec->payload_bytes = s->model.payload.bytes;
	spec->label = s->model.label.bytes ? s->label : NULL;
	spec->unique_key = s->model.unique ? s->unique : NULL;
	spec->unique_scope = s->model.scope;
	spec->fair_key = s->model.tenant ? s->tenant : NULL;
	snprintf(s->tenant, sizeof(s->tenant), TENANT_NAME, s->model.tenant);
	snprintf(s->unique, sizeof(s->unique), "%c-key", 'a' + (int)s->model.unique);
	spec->queue = queue_name(s->model.queue);
	spec->kind = kind_name(s->model.kind);
}

static int submit_core(struct world *w, void *arg)
{
	struct submission *s = arg;

	s->core.spec = &s->model.spec;
	s->core.queue = chance(w, 2) ? 0 : s->model.queue;
	s->core.kind = chance(w, 2) ? 0 : s->model.kind;
	return tqi_submit(&w->tx, &s->core, &s->id);
}

/* Nobody is blocked by it for ever; a leader's own waits are seen by the core only. */
static bool closes_cycle(const struct world *w, const struct model_submit *s)
{
	if (s->group && s->graph && model_graph_waits_for_ever(w->m, s->graph, s->group))
		return true;
	return s->group &&
	       (w->m->groups[s->group].completion || model_group_waiters(w->m, s->group)) &&
	       model_blocks_for_ever(w->m, 0, s->after, s->spec.after_count, s->group);
}

/* What a refusal says must be so; the core has undone what it did on the way to it. */
static void check_refusal(struct world *w, const struct submission *s, int r, bool full)
{
	const struct model_queue *q = &w->m->queues[s->model.queue];
	uint32_t h = s->model.unique ? model_holder(w->m, s->model.queue, s->model.unique) : 0;

	if (r == TQ_EGONE &&
	    (model_after_check(w->m, &s->model) < 0 || model_waits_for_over(w->m, &s->model)))
		return;
	if (r == TQ_ECYCLE && (s->model.unique || closes_cycle(w, &s->model)))
		return;
	if (r == TQ_EFULL && (full || q->waiting >= q->depth_max))
		return;
	if (r == -EEXIST && h && w->m->tasks[h].kind != s->model.kind &&
	    w->m->tasks[h].scope == TQ_UNIQUE_COALESCE && s->model.scope == TQ_UNIQUE_COALESCE)
		return;
	fail(w, "submit answered %d without a reason", r);
}

/* Done: by a task that was there, or a new one. */
static void follow_submit(struct world *w, const struct submission *s, int r, bool full)
{
	const struct model_queue *q = &w->m->queues[s->model.queue];
	struct model_meeting meeting = { 0 };
	uint32_t slot = tqi_id_index(s->id);

	if (s->model.unique)
		model_meet(w->m, &s->model, &meeting);
	if (meeting.refused || (!meeting.twin && (full || q->waiting >= q->depth_max)))
		fail(w, "a submit should have been refused");
	expect(w, r, meeting.twin != 0, "submit");
	w->twins += meeting.twin != 0;
	w->successors += meeting.leader != 0;
	if (meeting.twin) {
		expect(w, (int64_t)s->id, (int64_t)id_of(w, meeting.twin), "twin");
		if (meeting.replace)
			model_replace(w->m, &s->model, meeting.twin);
		return;
	}
	if (slot >= MODEL_TASKS || w->m->tasks[slot].state != TQ_FREE)
		fail(w, "slot %u is in use", slot);
	expect(w, 0, model_after_check(w->m, &s->model), "a dependency");
	if (is_searched_whole(w) && closes_cycle(w, &s->model))
		fail(w, "a submit closes a cycle");
	w->links += s->model.spec.after_count;
	model_submit(w->m, &s->model, slot, meeting.leader);
	expect(w, (int64_t)tqi_id_generation(s->id), (int64_t)w->m->tasks[slot].generation,
	       "generation");
}

static int expected_of(struct world *w, struct submission *s)
{
	uint64_t group = s->model.spec.group;

	if (s->model.completes && (w->m->flags & TQI_ROOT_SHUTDOWN))
		return TQ_ESHUTDOWN; /* there are no new groups */
	int r = group ? model_group_check(w->m, group) : 0;

	if (group)
		s->model.group = tqi_id_index(group);
	if (r == 0)
		r = model_admit(w->m, s->model.queue);
	return r == TQ_EDRAINING && s->by && w->m->tasks[s->by].queue == s->model.queue ? 0 : r;
}

int submission_do(struct world *w, struct submission *s, core_op *core, void *arg)
{
	int expected = expected_of(w, s);
	int r = perform(w, core, arg, false);

	note(w,
	     "submit %s/%s prio %d delay %llu payload %u flags %x key %u/%u fair %u "
	     "after %u group %u: %d, %u",
	     s->model.spec.queue, s->model.spec.kind, s->model.spec.priority,
	     (unsigned long long)s->model.spec.delay_ns, s->model.payload.bytes,
	     s->model.spec.flags, s->model.unique, s->model.scope, s->model.tenant,
	     s->model.spec.after_count, s->model.group, r, tqi_id_index(s->id));
	if (r == NO_ROOM)
		return r;
	if (expected)
		expect(w, r, expected, "submit");
	else if (r < 0)
		check_refusal(w, s, r, w->full);
	else
		follow_submit(w, s, r, w->full);
	return r;
}

void op_submit(struct world *w)
{
	static struct submission s;

	memset(&s.core, 0, sizeof(s.core));
	submission_choose(w, &s, chance(w, 200) ? 40000 : w->payload_max);
	submission_point(&s);
	submission_do(w, &s, submit_core, &s);
}

struct block {
	uint64_t bytes;
	uint64_t token;
	uint32_t ref;
};

static int take_block(struct world *w, void *arg)
{
	struct block *b = arg;

	b->ref = tqi_block_take(&w->tx, b->bytes);
	if (!b->ref)
		return -ENOMEM;
	b->token = tqi_inflight_take(&w->tx, TQI_INFLIGHT_BLOCK, b->ref, 1, &self);
	return b->token ? 0 : TQ_EFULL;
}

static int undo_block(struct world *w, void *arg)
{
	const struct block *b = arg;
	struct tqi_inflight entry;

	for (uint32_t i = 0; i < TQI_INFLIGHT_MAX; i++)
		if (tqi_inflight_peek(&w->tx, i, &entry) && entry.first == b->ref)
			tqi_inflight_undo(&w->tx, i, &entry);
	return tqi_inflight_get(&w->tx, b->token) ? -EEXIST : 0;
}

/* A large payload, written between two holds; at times its owner "dies" there. */
void op_submit_in_flight(struct world *w)
{
	static struct submission s;
	struct block b = { 0 };

	memset(&s.core, 0, sizeof(s.core));
	submission_choose(w, &s, BIG_MAX);
	submission_point(&s);
	b.bytes = tqi_submit_block_bytes(&s.model.spec);
	note(w, "block of %llu in flight", (unsigned long long)b.bytes);
	if (!b.bytes || perform(w, take_block, &b, false) < 0)
		return;
	tqi_submit_block_fill(&s.model.spec, w->box.seg.base + ((uint64_t)b.ref << TQI_UNIT_SHIFT));
	s.core.block_token = b.token;
	s.id = 0;
	int r = chance(w, 3) ? NO_ROOM : submission_do(w, &s, submit_core, &s);

	if (r < 0)
		expect(w, perform(w, undo_block, &b, false), 0, "undo of a block in flight");
}
