/* SPDX-License-Identifier: MIT */
/* Building worlds. */
#include "tests/crash/world.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scheduler/graph/behalf.h"
#include "scheduler/worker/sleep.h"
#include "taskq/taskq.h"
#include "tests/crash/step.h"

#define BYTES (5ull << 20) /* the largest start states, and what submits leave */
#define START_NS 1000000000000ull /* not 0: times that are set must differ from unset ones */
#define SEED 42

void tqt_must(int r, const char *what)
{
	if (r >= 0)
		return;
	fprintf(stderr, "%s: %s\n", what, tq_strerror(r));
	exit(1);
}

static void create(struct tqt_world *w, const struct tqt_world_options *options)
{
	static _Atomic unsigned number;
	const struct tq_open_opts opts = { .size = sizeof(opts),
					   .flags = TQ_OPEN_CREATE | TQ_OPEN_EXCLUSIVE,
					   .max_bytes = options->max_bytes ? options->max_bytes
									   : BYTES,
					   .tasks_max = options->tasks_max,
					   .trace_entries = TQ_TRACE_LEAST };
	struct tq *tq;

	snprintf(w->path, sizeof(w->path), "/dev/shm/taskq-crash.%d.%u", (int)getpid(), number++);
	tqt_must(tq_open(w->path, &opts, &tq), w->path);
	tq_close(tq);
	tqt_must(tqi_segment_attach(w->path, &tqi_schema, false, false, &w->seg), "attach");
	unlink(w->path); /* whoever dies now leaves nothing */
	((struct tqi_root *)tqi_segment_root(&w->seg))->seed = SEED; /* two runs, one course */
}

void tqt_world_open(struct tqt_world *w, const struct tqt_world_options *options)
{
	memset(w, 0, sizeof(*w));
	tqt_system_init(&w->system, START_NS);
	create(w, options);
	w->tq = tqt_handle_new(&w->seg, &w->system, TQT_PID_VICTIM);
	w->other = tqt_handle_new(&w->seg, &w->system, TQT_PID_OTHER);
	tqi_self(w->tq); /* reads /proc now, not when stepped */
	tqi_self(w->other);
	tqt_map_init(&w->map, w->seg.base, w->seg.geometry.max_bytes);
	tqt_map_unwatch(&w->map);
}

void tqt_world_close(struct tqt_world *w)
{
	tqt_map_free(&w->map);
	tqt_handle_free(w->tq);
	tqt_handle_free(w->other);
	tqi_segment_detach(&w->seg);
	free(w->worker);
	if (w->opened != w->worker)
		free(w->opened);
}

uint64_t tqt_submit(struct tqt_world *w, const struct tq_task_spec *spec)
{
	uint64_t id;

	tqt_must(tq_submit(w->tq, spec, &id), "submit");
	return id;
}

uint64_t tqt_submit_plain(struct tqt_world *w)
{
	const struct tq_task_spec spec = { .size = sizeof(spec),
					   .kind = "k",
					   .label = "label",
					   .payload = "payload",
					   .payload_bytes = 7,
					   .attempts_max = 3 };

	return tqt_submit(w, &spec);
}

void tqt_fill(struct tqt_world *w, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		tqt_submit_plain(w);
}

void tqt_serve(struct tqt_world *w, uint64_t lease_ns)
{
	static const char *const queues[] = { "default", "other" };
	const struct tq_worker_opts opts = {
		.size = sizeof(opts), .queues = queues, .queue_count = 2, .lease_ns = lease_ns
	};

	tqt_must(tq_worker_open(w->tq, &opts, &w->worker), "worker");
}

void tqt_claim(struct tqt_world *w)
{
	struct tq_claim *claim = &w->claims[w->claim_count++];

	claim->size = sizeof(*claim);
	tqt_must(tq_claim(w->worker, 0, claim), "claim");
	w->ids[w->id_count++] = claim->id;
}

void tqt_finish(struct tqt_world *w, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct tq_claim claim = { .size = sizeof(claim) };

		tqt_submit_plain(w);
		tqt_must(tq_claim(w->worker, 0, &claim), "claim");
		tqt_must(tq_complete(w->worker, &claim, "result", 6), "complete");
	}
}

/* Ours no longer: it bears the tid of somebody else. */
static void give_away(struct tqt_world *w, pthread_mutex_t *mutex)
{
	pthread_mutex_unlock(mutex);
	*(volatile uint32_t *)(void *)mutex = TQT_TID_OTHER + w->others++;
}

static void dies(void *mutex)
{
	volatile uint32_t *word = mutex;

	*word = (*word & FUTEX_WAITERS) | FUTEX_OWNER_DIED;
}

static int enter_sleep(struct tqt_world *w, enum tqi_interest interest, uint32_t subject,
		       uint32_t attempt, uint32_t *ret_waiter)
{
	const struct tqi_ident ident = tqi_ident_self(w->other);
	struct tqi_tx tx;
	bool full;

	tqt_must(tqi_hold_begin(w->other, &tx), "hold");
	uint32_t waiter = tqi_sleep_enter(&tx, &ident, interest, subject, &full);

	if (waiter) {
		tqi_behalf_enter(&tx, waiter, attempt);
		tqi_sleep_again(&tx, waiter, UINT64_MAX);
	}
	*ret_waiter = waiter;
	return tqi_hold_end(w->other, &tx, waiter ? 0 : -ENOMEM);
}

static uint32_t foreign_sleeper(struct tqt_world *w, enum tqi_interest interest, uint32_t subject,
				uint32_t attempt)
{
	uint32_t waiter;
	int r = enter_sleep(w, interest, subject, attempt, &waiter);

	if (r == -ENOMEM) {
		tqt_must(tqi_make_room(w->other, 0), "room");
		r = enter_sleep(w, interest, subject, attempt, &waiter);
	}
	tqt_must(r, "sleep");
	struct tqi_waiter *slot = tqi_table_peek(&w->seg, TQI_WAITERS, waiter);

	give_away(w, &slot->mutex);
	return waiter;
}

uint32_t tqt_foreign_sleeper(struct tqt_world *w, enum tqi_interest interest, uint32_t subject)
{
	return foreign_sleeper(w, interest, subject, 0);
}

uint32_t tqt_foreign_wait(struct tqt_world *w, uint32_t attempt)
{
	return foreign_sleeper(w, TQI_INTEREST_TASKS, 0, attempt);
}

void tqt_give_away_worker(struct tqt_world *w, struct tq_worker *worker, uint32_t pid)
{
	struct tqi_worker *record = tqi_table_peek(&w->seg, TQI_WORKERS, worker->index);

	give_away(w, &record->life);
	record->owner.pid = pid;
	free(worker);
}

uint32_t tqt_foreign_worker(struct tqt_world *w, uint32_t pid, uint32_t claims, bool asleep)
{
	static const char *const queues[] = { "default", "other" };
	const struct tq_worker_opts opts = {
		.size = sizeof(opts), .queues = queues, .queue_count = 2, .name = "foreign"
	};
	struct tq_worker *worker;

	tqt_must(tq_worker_open(w->other, &opts, &worker), "foreign worker");
	for (uint32_t i = 0; i < claims; i++) {
		struct tq_claim claim = { .size = sizeof(claim) };

		tqt_submit_plain(w);
		tqt_must(tq_claim(worker, 0, &claim), "foreign claim");
	}
	uint32_t index = worker->index;

	tqt_give_away_worker(w, worker, pid);
	if (asleep)
		tqt_foreign_sleeper(w, TQI_INTEREST_WORK, index);
	return index;
}

void tqt_sleeper_dies(struct tqt_world *w, uint32_t waiter)
{
	dies(&((struct tqi_waiter *)tqi_table_peek(&w->seg, TQI_WAITERS, waiter))->mutex);
}

void tqt_worker_dies(struct tqt_world *w, uint32_t worker)
{
	dies(&((struct tqi_worker *)tqi_table_peek(&w->seg, TQI_WORKERS, worker))->life);
}

void tqt_elapse(struct tqt_world *w, uint64_t ns)
{
	w->system.now_ns += ns;
}

static void unstepped(void *arg)
{
	struct tqt_world *w = arg;
	struct tqt_stepper *stepper = tqt_step_pause();

	w->meanwhile(w);
	tqt_step_resume(stepper);
}

void tqt_meanwhile(struct tqt_world *w, void (*others)(struct tqt_world *w))
{
	w->meanwhile = others;
	w->system.meanwhile = unstepped;
	w->system.arg = w;
}
