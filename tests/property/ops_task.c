/* SPDX-License-Identifier: MIT */
/* Operations on tasks: claim, end. */
#include <errno.h>

#include "scheduler/task/claim.h"
#include "tests/property/world.h"

#define RESULT_MAX 150000

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
	/* What memory was too short to keep is learnt before this attempt ends as well. */
	w->compare_now |= w->m->tasks[task].has_older;
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
	unsigned char result[RESULT_MAX];
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
