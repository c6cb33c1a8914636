/* SPDX-License-Identifier: MIT */
/* Operations on tasks: submit, claim, end. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "scheduler/claim.h"
#include "scheduler/submit.h"
#include "shm/inflight.h"
#include "shm/pool.h"
#include "tests/property/world.h"

#define MS 1000000ull
#define BIG_MAX 150000
#define KEYS 12 /* their names are one letter, and a few more */

static const struct tqi_ident self = { .pid = 1, .tid = 1, .start = 1 };

/* Submitting. */

struct submission {
	struct model_submit model;
	struct tqi_submit core;
	uint64_t id;
	unsigned char payload[BIG_MAX];
	char label[TQ_LABEL_MAX + 1];
	char unique[8];
	const char *limits[TQ_LIMITS_MAX];
	char tenant[8];
};

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
		s->kind = 1 + s->unique % MODEL_KINDS;
}

/* Up to four, at times one of them twice. */
static void choose_limits(struct world *w, struct submission *s)
{
	uint32_t count = chance(w, 2) ? 0 : 1 + below(w, chance(w, 3) ? TQ_LIMITS_MAX : 1);

	s->model.limits = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t x = 1 + below(w, MODEL_LIMITS);

		s->model.limits |= 1u << x;
		s->limits[i] = limit_name(x);
	}
	s->model.spec.limits = s->limits;
	s->model.spec.limit_count = count;
}

static void choose_spec(struct world *w, struct submission *s, uint32_t payload_max)
{
	struct tq_task_spec *spec = &s->model.spec;

	*spec = (struct tq_task_spec){ .size = sizeof(*spec) };
	s->model.queue = 1 + below(w, MODEL_QUEUES);
	s->model.kind = 1 + below(w, MODEL_KINDS);
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
	choose_limits(w, s);
	s->model.tenant = chance(w, 3) ? 0 : 1 + below(w, MODEL_TENANTS);
	s->model.payload = pattern_make(w, payload_max);
	s->model.label = pattern_make(w, chance(w, 3) ? TQ_LABEL_MAX : 0);
}

static void point_spec(struct submission *s)
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

static bool table_is_full(struct world *w)
{
	return tqi_segment_core(&w->box.seg)->tables[TQI_TASKS].live + 1 >=
	       w->box.seg.geometry.tables[TQI_TASKS].max;
}

/* What a refusal says must be so; the core has undone what it did on the way to it. */
static void check_refusal(struct world *w, const struct submission *s, int r, bool full)
{
	const struct model_queue *q = &w->m->queues[s->model.queue];
	uint32_t h = s->model.unique ? model_holder(w->m, s->model.queue, s->model.unique) : 0;

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
	model_submit(w->m, &s->model, slot, meeting.leader);
	expect(w, (int64_t)tqi_id_generation(s->id), (int64_t)w->m->tasks[slot].generation,
	       "generation");
}

static int submit(struct world *w, struct submission *s)
{
	bool full = table_is_full(w) && !model_finished(w->m);
	int expected = model_admit(w->m, s->model.queue);
	int r = perform(w, submit_core, s, false);

	note(w, "submit %s/%s prio %d delay %llu payload %u flags %x key %u/%u fair %u: %d, %u",
	     s->model.spec.queue, s->model.spec.kind, s->model.spec.priority,
	     (unsigned long long)s->model.spec.delay_ns, s->model.payload.bytes,
	     s->model.spec.flags, s->model.unique, s->model.scope, s->model.tenant, r,
	     tqi_id_index(s->id));
	if (r == NO_ROOM)
		return r;
	if (expected)
		expect(w, r, expected, "submit");
	else if (r < 0)
		check_refusal(w, s, r, full);
	else
		follow_submit(w, s, r, full);
	return r;
}

void op_submit(struct world *w)
{
	static struct submission s;

	memset(&s.core, 0, sizeof(s.core));
	choose_spec(w, &s, chance(w, 200) ? 40000 : w->payload_max);
	point_spec(&s);
	submit(w, &s);
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
	choose_spec(w, &s, BIG_MAX);
	point_spec(&s);
	b.bytes = tqi_submit_block_bytes(&s.model.spec);
	note(w, "block of %llu in flight", (unsigned long long)b.bytes);
	if (!b.bytes || perform(w, take_block, &b, false) < 0)
		return;
	tqi_submit_block_fill(&s.model.spec, w->box.seg.base + ((uint64_t)b.ref << TQI_UNIT_SHIFT));
	s.core.block_token = b.token;
	s.id = 0;
	int r = chance(w, 3) ? NO_ROOM : submit(w, &s);

	if (r < 0)
		expect(w, perform(w, undo_block, &b, false), 0, "undo of a block in flight");
}

/* Claims and verdicts. */

struct claim {
	uint32_t worker;
	struct tqi_claimed claimed;
};

static int claim_core(struct world *w, void *arg)
{
	struct claim *c = arg;

	return tqi_claim(&w->tx, c->worker, &c->claimed);
}

static void follow_claim(struct world *w, const struct claim *c, int r)
{
	uint32_t task = 0;

	w->comparison.unsettled = r == -EALREADY;
	w->unsettled += r == -EALREADY;
	int expected = model_claim(w->m, c->worker, c->claimed.attempt, &task);

	expect(w, r, expected, "claim");
	if (r < 0)
		return;
	expect(w, c->claimed.task, task, "claimed task");
	expect(w, (int64_t)c->claimed.id, (int64_t)id_of(w, task), "claimed id");
	uint64_t at = model_due_of_attempt(&w->m->tasks[task]);

	/* Beyond what the due heap can say is none. */
	expect(w, (int64_t)c->claimed.timeout_at_ns, at > INT64_MAX ? 0 : (int64_t)at, "time-out");
}

void op_claim(struct world *w)
{
	struct claim c = { .worker = pick_worker(w) };

	if (!c.worker)
		return;
	int r = perform(w, claim_core, &c, true);

	note(w, "claim by %u: %d, task %u", c.worker, r, c.claimed.task);
	if (r != NO_ROOM)
		follow_claim(w, &c, r);
}

struct ending {
	uint32_t task;
	struct model_verdict model;
	struct tqi_verdict core;
	bool stale;
	bool and_claim;
	struct claim claim;
	int claim_r;
	unsigned char result[BIG_MAX];
	char text[TQ_TEXT_MAX + 1];
};

static void choose_verdict(struct world *w, struct ending *e)
{
	static const uint32_t kinds[] = { TQ_VERDICT_DONE,    TQ_VERDICT_DONE, TQ_VERDICT_DONE,
					  TQ_VERDICT_DONE,    TQ_VERDICT_FAIL, TQ_VERDICT_FAIL,
					  TQ_VERDICT_RELEASE, TQ_VERDICT_FATAL };
	struct model_verdict *v = &e->model;

	*v = (struct model_verdict){ .kind = kinds[below(w, 8)] };
	v->cause = v->kind == TQ_VERDICT_RELEASE ? TQ_CAUSE_RELEASED
		   : chance(w, 3)		 ? TQ_CAUSE_ERROR
						 : TQ_CAUSE_EXIT;
	v->cause_arg = v->kind == TQ_VERDICT_DONE ? 0 : (int32_t)below(w, 256);
	v->result = pattern_make(w, chance(w, 100) ? 40000 : w->payload_max);
	v->output_bytes = chance(w, 4) ? v->result.bytes + below(w, 3) * 1000u : 0;
	v->text = pattern_make(w, chance(w, 3) ? TQ_TEXT_MAX : 0);
	v->max_rss_bytes = chance(w, 3) ? below(w, 1000000) : 0;
	v->cpu_ns = chance(w, 3) ? below(w, 1000000) : 0;
	v->delay_ns = chance(w, 3) ? some_time(w) : 0;
}

static void point_verdict(struct ending *e)
{
	const struct model_verdict *v = &e->model;

	pattern_fill(v->result, e->result);
	pattern_fill(v->text, e->text);
	e->text[v->text.bytes] = '\0';
	e->core = (struct tqi_verdict){ .kind = v->kind,
					.cause = v->cause,
					.cause_arg = v->cause_arg,
					.result = e->result,
					.result_bytes = v->result.bytes,
					.output_bytes = v->output_bytes,
					.max_rss_bytes = v->max_rss_bytes,
					.cpu_ns = v->cpu_ns,
					.delay_ns = v->delay_ns,
					.text = v->text.bytes ? e->text : NULL };
}

static int end_core(struct world *w, void *arg)
{
	struct ending *e = arg;
	const struct model_task *t = &w->m->tasks[e->task];
	int r = tqi_end(&w->tx, t->attempt.worker, t->attempt.record, id_of(w, e->task),
			t->epoch - e->stale, &e->core);

	if (r < 0 || !e->and_claim)
		return r;
	e->claim_r = tqi_claim(&w->tx, e->claim.worker, &e->claim.claimed);
	return e->claim_r == -ENOMEM ? -ENOMEM : r;
}

static bool choose_ending(struct world *w, struct ending *e)
{
	e->task = pick_task(w, TQ_RUNNING);
	e->stale = e->and_claim = false;
	if (!e->task)
		return false;
	const struct model_worker *worker = &w->m->workers[w->m->tasks[e->task].attempt.worker];

	if (worker->dead)
		return false;
	choose_verdict(w, e);
	point_verdict(e);
	return true;
}

static void end(struct world *w, struct ending *e)
{
	int r = perform(w, end_core, e, false);

	note(w, "end of %u verdict %u result %u text %u%s%s: %d", e->task, e->model.kind,
	     e->model.result.bytes, e->model.text.bytes, e->stale ? " stale" : "",
	     e->and_claim ? " and claim" : "", r);
	if (r == NO_ROOM)
		return;
	expect(w, r, e->stale ? TQ_ELEASE : 0, "end");
	if (r < 0)
		return;
	model_end(w->m, e->task, &e->model);
	if (e->and_claim)
		follow_claim(w, &e->claim, e->claim_r);
}

static struct ending ending;

void op_end(struct world *w)
{
	if (choose_ending(w, &ending))
		end(w, &ending);
}

void op_end_stale(struct world *w)
{
	if (!choose_ending(w, &ending))
		return;
	ending.stale = true;
	end(w, &ending);
}

/* Verdict and next claim in one transaction, as tq_next() does. */
void op_next(struct world *w)
{
	if (!choose_ending(w, &ending))
		return;
	ending.and_claim = true;
	ending.claim = (struct claim){ .worker = w->m->tasks[ending.task].attempt.worker };
	end(w, &ending);
}
