/* SPDX-License-Identifier: MIT */
/* Operations on queues and the segment. */
#include <errno.h>

#include "scheduler/order/kind.h"
#include "scheduler/order/queue.h"
#include "scheduler/order/unused.h"
#include "scheduler/task/steer.h"
#include "scheduler/task/task.h"
#include "tests/property/world.h"

#define MS 1000000ull
#define SEARCH_HOLDS 100 /* of so few names */

struct queue_op {
	uint32_t queue;
	uint32_t flag;
	bool on;
	struct tqi_queue_settings settings;
	uint32_t flags;
	uint32_t count;
};

static int flag_core(struct world *w, void *arg)
{
	const struct queue_op *q = arg;

	tqi_queue_flag(&w->tx, q->queue, q->flag, q->on);
	return 0;
}

static void set_flag(struct world *w, uint32_t flag, const char *name)
{
	struct queue_op q = { .queue = 1 + below(w, MODEL_STAYING_QUEUES),
			      .flag = flag,
			      .on = chance(w, 4) };

	note(w, "%s queue %u: %d", name, q.queue, q.on);
	perform(w, flag_core, &q, false);
	model_queue_flag(w->m, q.queue, q.flag, q.on);
}

void op_pause(struct world *w)
{
	set_flag(w, TQ_QUEUE_PAUSED, "pause");
}

void op_drain(struct world *w)
{
	set_flag(w, TQ_QUEUE_DRAINING, "drain");
}

static int purge_core(struct world *w, void *arg)
{
	return (int)tqi_queue_purge(&w->tx, ((struct queue_op *)arg)->queue);
}

void op_purge(struct world *w)
{
	struct queue_op q = { .queue = 1 + below(w, MODEL_STAYING_QUEUES) };
	int r = perform(w, purge_core, &q, false);

	note(w, "purge queue %u: %d", q.queue, r);
	expect(w, r, model_purge(w->m, q.queue), "purge");
}

static int set_core(struct world *w, void *arg)
{
	const struct queue_op *q = arg;

	return tqi_queue_set(&w->tx, q->queue, &q->settings);
}

void op_queue_set(struct world *w)
{
	struct queue_op q = { .queue = 1 + below(w, MODEL_STAYING_QUEUES) };
	struct model_queue *m = &w->m->queues[q.queue];

	m->configured = true;
	m->depth_max = q.settings.depth_max = chance(w, 4) ? 1 + below(w, 60) : TQ_UNLIMITED;
	m->timeout_ns = q.settings.timeout_ns = chance(w, 3) ? some_time(w) : TQ_UNLIMITED;
	m->backoff_ns = q.settings.backoff_ns = (1 + below(w, 500)) * MS;
	m->backoff_cap_ns = q.settings.backoff_cap_ns = (1 + below(w, 5000)) * MS;
	m->attempts_max = q.settings.attempts_max = 1 + below(w, 4);
	m->batch = chance(w, 2) ? 2 + below(w, TQ_BATCH_MAX - 1) : 0;
	q.settings.batch = m->batch ? m->batch : TQ_OFF;
	note(w, "set queue %u", q.queue);
	perform(w, set_core, &q, false);
	model_wake_room(w->m);
}

struct kind_op {
	uint32_t kind;
	bool clears;
	struct tqi_kind_defaults change;
};

static int kind_core(struct world *w, void *arg)
{
	const struct kind_op *k = arg;

	if (k->clears)
		return tqi_kind_clear(&w->tx, k->kind);
	tqi_kind_set(&w->tx, k->kind, &k->change);
	return 0;
}

/* Some of a kind's defaults, or none any more. */
void op_kind_set(struct world *w)
{
	struct kind_op k = { .kind = 1 + below(w, MODEL_KINDS), .clears = chance(w, 2) };
	struct tqi_kind_defaults *m = &w->m->defaults[k.kind];
	int r = k.clears && !model_has_defaults(w->m, k.kind) ? -ENOENT : 0;

	if (k.clears) {
		*m = (struct tqi_kind_defaults){ .timeout_ns = 0 };
	} else {
		if (chance(w, 2))
			m->timeout_ns = k.change.timeout_ns = some_time(w);
		if (chance(w, 3))
			m->timeout_total_ns = k.change.timeout_total_ns = some_time(w);
		if (chance(w, 2))
			m->backoff_ns = k.change.backoff_ns = (1 + below(w, 500)) * MS;
		if (chance(w, 3))
			m->backoff_cap_ns = k.change.backoff_cap_ns = (1 + below(w, 5000)) * MS;
		if (chance(w, 2))
			m->attempts_max = k.change.attempts_max = 1 + below(w, 4);
	}
	note(w, "%s kind %u", k.clears ? "clear" : "set", k.kind);
	expect(w, perform(w, kind_core, &k, false), r, "defaults of a kind");
}

static int shutdown_core(struct world *w, void *arg)
{
	tqi_steer_shutdown(&w->tx, ((struct queue_op *)arg)->flags);
	return 0;
}

void op_shutdown(struct world *w)
{
	struct queue_op q = { .flags = w->m->flags    ? TQ_SHUTDOWN_UNDO
				       : chance(w, 2) ? TQ_SHUTDOWN_CANCEL
						      : 0 };

	note(w, "shutdown %u", q.flags);
	perform(w, shutdown_core, &q, false);
	model_shutdown(w->m, q.flags);
}

static int evict_core(struct world *w, void *arg)
{
	return (int)tqi_task_evict(&w->tx, ((struct queue_op *)arg)->count);
}

void op_evict(struct world *w)
{
	struct queue_op q = { .count = 1 + below(w, 16) };
	int r = perform(w, evict_core, &q, false);

	note(w, "evict %u: %d", q.count, r);
	expect(w, r, model_evict(w->m, q.count), "evict");
}

/* One hold of a search, and what comes of it; tried and undone, it begins from `before` again. */
struct search {
	bool of_queues;
	struct tqi_unused before, after;
};

static int search_core(struct world *w, void *arg)
{
	struct search *s = arg;

	s->after = s->before;
	return (int)(s->of_queues ? tqi_queue_unused(&w->tx, &s->after)
				  : tqi_kind_unused(&w->tx, &s->after));
}

static int make_core(struct world *w, void *arg)
{
	const struct search *s = arg;
	bool full;

	return (int)(s->of_queues ? tqi_queue_make(&w->tx, queue_name(s->after.at), &full)
				  : tqi_kind_make(&w->tx, kind_name(s->after.at), &full));
}

static bool is_unused(const struct world *w, bool of_queues, uint32_t at)
{
	return of_queues ? model_queue_is_unused(w->m, at) : model_kind_is_unused(w->m, at);
}

/* What is given back is made again: the first free place is its own. */
static void renew(struct world *w, struct search *s)
{
	expect(w, is_unused(w, s->of_queues, s->after.at), 1, "it is unused");
	if (s->of_queues)
		model_queue_renew(w->m, s->after.at);
	else
		model_kind_renew(w->m, s->after.at);
	expect(w, perform(w, make_core, s, false), (int)s->after.at, "its place");
}

void op_unused(struct world *w)
{
	struct search s = { .of_queues = chance(w, 2) };
	const uint32_t last = s.of_queues ? MODEL_QUEUES : MODEL_KINDS;
	int step = TQI_UNUSED_MORE;

	for (int i = 0; i < SEARCH_HOLDS && step == TQI_UNUSED_MORE; i++) {
		step = perform(w, search_core, &s, false);
		s.before = s.after;
	}
	note(w, "unused %s: %d, %u", s.of_queues ? "queue" : "kind", step, s.after.at);
	if (step == TQI_UNUSED_GIVEN)
		renew(w, &s);
	/* Which kinds a queue has classes of an earlier era of is not known here. */
	if (!s.of_queues && model_moving(w->m))
		return;
	for (uint32_t at = 1; at <= last && step == TQI_UNUSED_NONE; at++)
		expect(w, is_unused(w, s.of_queues, at), 0, "all are needed");
}
