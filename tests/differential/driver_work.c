/* SPDX-License-Identifier: MIT */
/* Operations of clients and workers. */
#include <stdio.h>

#include "driver.h"

/* What a submit points to. */
struct draft {
	struct tq_task_spec spec;
	const char *limits[2];
	struct tq_dependency after[2];
};

static int32_t some_priority(struct driver *d)
{
	static const int32_t bands[] = { -10, 0, 0, 5, 250, 500, 800 };

	return bands[driver_below(d, 7)] + (int32_t)driver_below(d, 20);
}

static void draft_ties(struct driver *d, struct draft *t)
{
	for (uint32_t i = driver_below(d, 3); driver_chance(d, d->mixed) && i > 0; i--) {
		t->limits[t->spec.limit_count++] = driver_name('l', driver_below(d, DRIVER_LIMITS));
		t->spec.limits = t->limits;
	}
	if (!driver_chance(d, d->mixed))
		t->spec.fair_key = driver_name('t', driver_below(d, DRIVER_TENANTS));
	if (driver_chance(d, 10) && d->task_count) {
		t->after[0] = (struct tq_dependency){ driver_pick_task(d), TQ_AFTER_ANY, 0 };
		t->spec.after = t->after;
		t->spec.after_count = 1;
	}
}

static void draft_times(struct driver *d, struct draft *t)
{
	t->spec.backoff_ns = 1; /* jitter depends on ids; a delay is another matter */
	t->spec.backoff_cap_ns = 1;
	if (driver_chance(d, 8))
		t->spec.delay_ns = (1 + driver_below(d, 300)) * DRIVER_MS;
	if (driver_chance(d, d->mixed + 1))
		t->spec.deadline_ns = (1 + driver_below(d, 20000)) * DRIVER_MS;
}

void driver_submit(struct driver *d)
{
	struct draft t = { .spec = { .size = sizeof(t.spec) } };

	if (d->task_count == DRIVER_TASKS) {
		printf("submit nothing\n");
		return;
	}
	t.spec.queue = driver_name('q', driver_below(d, DRIVER_QUEUES));
	t.spec.kind = driver_name('k', driver_below(d, d->kinds));
	t.spec.priority = some_priority(d);
	t.spec.attempts_max = 1 + driver_below(d, 3);
	t.spec.flags = (driver_chance(d, 12) ? TQ_TASK_HOLD : 0) |
		       (driver_chance(d, 4) ? TQ_TASK_FORGET : 0) |
		       (driver_chance(d, 30) ? TQ_TASK_AT_MOST_ONCE : 0);
	draft_ties(d, &t);
	draft_times(d, &t);
	if (d->planted && d->task_count % 100 == 50)
		t.spec.priority = -t.spec.priority;
	int r = tq_submit(d->tq, &t.spec, &d->ids[d->task_count]);

	printf("submit t%u %d\n", d->task_count, r);
	d->task_count += r == 0;
}

static bool is_done(struct driver *d, uint64_t id)
{
	struct tq_task_info info = { .size = sizeof(info) };

	return tq_task_info(d->tq, id, &info) == 0 && info.state == TQ_DONE;
}

void driver_steer(struct driver *d)
{
	uint64_t id = driver_pick_task(d);
	uint32_t how = driver_below(d, 6), action = TQ_TASK_ACTION_HOLD + how;

	if ((action == TQ_TASK_ACTION_RETRY || action == TQ_TASK_ACTION_RETRY_DEPENDANTS) &&
	    is_done(d, id))
		return; /* was refused, and is not any more */
	int r = tq_task_steer(d->tq, id, action);

	printf("steer t%d %u %d\n", driver_task(d, id), how, r);
}

void driver_update(struct driver *d)
{
	static const uint32_t fields[] = { TQ_UPDATE_PRIORITY, TQ_UPDATE_QUEUE, TQ_UPDATE_DELAY,
					   TQ_UPDATE_DEADLINE };
	uint64_t id = driver_pick_task(d);
	struct tq_task_update update = {
		.size = sizeof(update),
		.fields = fields[driver_below(d, 4)],
		.priority = some_priority(d),
		.queue = driver_name('q', driver_below(d, DRIVER_QUEUES)),
		.delay_ns = (1 + driver_below(d, 300)) * DRIVER_MS,
		.deadline_ns = (1 + driver_below(d, 20000)) * DRIVER_MS,
	};
	int r = tq_task_update(d->tq, id, &update);

	printf("update t%d %u %d\n", driver_task(d, id), update.fields, r);
}

/* Of any kind, of every second one, of one, or of a random set; of one queue or several. */
static void open_worker(struct driver *d, struct driver_worker *w)
{
	const char *queues[DRIVER_QUEUES], *kinds[DRIVER_KINDS];
	struct tq_worker_opts opts = { .size = sizeof(opts), .queues = queues, .kinds = kinds };
	uint32_t how = driver_below(d, 5), first = driver_below(d, DRIVER_QUEUES);

	opts.queue_count = 1 + driver_below(d, DRIVER_QUEUES);
	for (uint32_t i = 0; i < opts.queue_count; i++)
		queues[i] = driver_name('q', (first + i) % DRIVER_QUEUES);
	for (uint32_t k = 0; k < DRIVER_KINDS && how < 3; k++)
		if (how == 0 ? k % 2 == 0 : how == 1 ? k < 1 : driver_chance(d, 2))
			kinds[opts.kind_count++] = driver_name('k', k);
	if (how == 1)
		kinds[0] = driver_name('k', driver_below(d, d->kinds));
	int r = tq_worker_open(d->tq, &opts, &w->worker);

	printf("open %u queues %u kinds %d\n", opts.queue_count, opts.kind_count, r);
	if (r < 0)
		w->worker = NULL;
}

static void close_worker(struct driver_worker *w)
{
	for (uint32_t i = 0; i < DRIVER_HELD; i++)
		w->held[i] = false;
	w->worker = tq_worker_close(w->worker);
}

static struct driver_worker *pick_worker(struct driver *d)
{
	struct driver_worker *w = &d->workers[driver_below(d, DRIVER_WORKERS)];

	if (!w->worker)
		open_worker(d, w);
	return w;
}

/* The first claim that is held, or is not. */
static uint32_t find_claim(const struct driver_worker *w, bool held)
{
	uint32_t i = 0;

	while (i < DRIVER_HELD && w->held[i] != held)
		i++;
	return i;
}

void driver_claim(struct driver *d)
{
	struct driver_worker *w = pick_worker(d);
	uint32_t i = find_claim(w, false);

	if (i == DRIVER_HELD || !w->worker) {
		printf("claim w%d: its hands are full\n", (int)(w - d->workers));
		return;
	}
	w->claims[i].size = sizeof(w->claims[i]);
	int r = tq_claim(w->worker, 0, &w->claims[i]);

	w->held[i] = r == 0;
	if (r == 0)
		printf("start w%d t%d %u\n", (int)(w - d->workers), driver_task(d, w->claims[i].id),
		       w->claims[i].attempt);
	else
		printf("claim w%d %d\n", (int)(w - d->workers), r);
}

static struct tq_verdict some_verdict(struct driver *d)
{
	static const uint32_t kinds[] = { TQ_VERDICT_DONE,  TQ_VERDICT_DONE,   TQ_VERDICT_DONE,
					  TQ_VERDICT_DONE,  TQ_VERDICT_FAIL,   TQ_VERDICT_FAIL,
					  TQ_VERDICT_FATAL, TQ_VERDICT_RELEASE };
	struct tq_verdict v = { .size = sizeof(v), .kind = kinds[driver_below(d, 8)] };

	if (v.kind == TQ_VERDICT_RELEASE && driver_chance(d, 2))
		v.delay_ns = (1 + driver_below(d, 300)) * DRIVER_MS;
	return v;
}

void driver_end(struct driver *d)
{
	struct driver_worker *w = pick_worker(d);
	uint32_t i = find_claim(w, true);
	const struct tq_verdict v = some_verdict(d);

	if (i == DRIVER_HELD || !w->worker) {
		printf("end w%d: nothing\n", (int)(w - d->workers));
		return;
	}
	int r = tq_end(w->worker, &w->claims[i], &v);

	w->held[i] = false;
	printf("end t%d %u %d\n", driver_task(d, w->claims[i].id),
	       v.kind - (uint32_t)TQ_VERDICT_DONE, r); /* the numbers were others before */
}

/* It goes, with all that it holds; another one comes when its turn does. */
void driver_reopen(struct driver *d)
{
	struct driver_worker *w = pick_worker(d);

	close_worker(w);
	printf("close w%d\n", (int)(w - d->workers));
}

void driver_close_workers(struct driver *d)
{
	for (uint32_t i = 0; i < DRIVER_WORKERS; i++)
		if (d->workers[i].worker)
			close_worker(&d->workers[i]);
}
