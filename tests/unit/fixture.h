/* SPDX-License-Identifier: MIT */
/* Short forms for tests of the scheduler: a box, and one call per operation, committed. */
#ifndef TQT_UNIT_FIXTURE_H
#define TQT_UNIT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "scheduler/check/check.h"
#include "scheduler/task/claim.h"
#include "scheduler/task/depart.h"
#include "scheduler/time/due.h"
#include "scheduler/task/due_run.h"
#include "scheduler/graph/edge.h"
#include "scheduler/task/look.h"
#include "scheduler/order/queue.h"
#include "scheduler/order/ready.h"
#include "scheduler/record/stream.h"
#include "scheduler/worker/sleep.h"
#include "scheduler/task/steer.h"
#include "scheduler/task/submit.h"
#include "scheduler/task/sweep.h"
#include "scheduler/task/task.h"
#include "scheduler/wake/wake.h"
#include "scheduler/worker/keepers.h"
#include "scheduler/worker/worker.h"
#include "tests/support/box.h"
#include "tests/support/image.h"

#define SECOND 1000000000ull

struct fixture {
	struct tqt_box box;
	struct tqi_tx tx;
};

static inline void begin(struct fixture *f)
{
	tqt_box_begin(&f->box, &f->tx);
}

static inline void commit(struct fixture *f)
{
	assert_false(f->tx.corrupt);
	tqi_wake_keepers(&f->tx);
	tqi_tx_commit(&f->tx);
	assert_false(f->tx.corrupt);
}

static inline struct tqi_waiter *sleeper_of(struct fixture *f, uint32_t w)
{
	return tqi_table_peek(&f->box.seg, TQI_WAITERS, w);
}

/* Somebody of this process; its slot. */
static inline uint32_t fall_asleep(struct fixture *f, uint32_t pid, uint32_t interest,
				   uint32_t subject)
{
	const struct tqi_ident owner = { .pid = pid, .tid = pid, .start = 1 };
	bool full;

	begin(f);
	uint32_t w = tqi_sleep_enter(&f->tx, &owner, interest, subject, &full);

	assert_int_not_equal(w, 0);
	tqi_sleep_again(&f->tx, w, UINT64_MAX);
	commit(f);
	return w;
}

/* Of what an operation has answered: committed, or undone after an error. */
static inline int conclude(struct fixture *f, int r)
{
	if (r < 0)
		tqi_tx_abort(&f->tx);
	else
		commit(f);
	return r;
}

static inline void open_fixture(struct fixture *f, uint64_t tasks_max)
{
	struct tqt_box_options o = { .max_bytes = 16ull << 20, .tasks_max = tasks_max };

	tqt_box_open(&f->box, &o);
	assert_true(tqt_box_grow(&f->box, 4));
}

static inline void close_fixture(struct fixture *f)
{
	tqt_box_close(&f->box);
}

/* Zero fields are defaults; queue and kind too.  What tqi_submit() answers. */
static inline int try_submit(struct fixture *f, struct tq_task_spec spec, uint64_t *ret_id)
{
	struct tqi_submit s = { .spec = &spec };

	if (!spec.queue)
		spec.queue = "default";
	if (!spec.kind)
		spec.kind = "exec";
	begin(f);
	return conclude(f, tqi_submit(&f->tx, &s, ret_id));
}

static inline uint64_t submit(struct fixture *f, struct tq_task_spec spec)
{
	uint64_t id;

	assert_int_equal(try_submit(f, spec, &id), 0);
	return id;
}

/* `how` is one of scheduler/task/steer.h. */
static inline int steer_task(struct fixture *f, int (*how)(struct tqi_tx *tx, uint64_t id),
			     uint64_t id)
{
	begin(f);
	return conclude(f, how(&f->tx, id));
}

static inline uint32_t add_worker(struct fixture *f, const char *queue, uint64_t lease_ns)
{
	static const struct tqi_ident owner = { .pid = 7, .tid = 7, .start = 7 };
	struct tqi_worker_request request = { .owner = &owner,
					      .name = "",
					      .queues = &queue,
					      .queue_count = 1,
					      .lease_ns = lease_ns };
	uint32_t worker;

	begin(f);
	assert_int_equal(tqi_worker_register(&f->tx, &request, &worker), 0);
	commit(f);
	return worker;
}

/* Id of the task claimed; 0 none. */
static inline uint64_t claim(struct fixture *f, uint32_t worker, struct tqi_claimed *ret_claimed)
{
	begin(f);
	int r = tqi_claim(&f->tx, worker, ret_claimed);

	commit(f);
	return r == 0 ? ret_claimed->id : 0;
}

static inline struct tqi_task *task_of(struct fixture *f, uint64_t id)
{
	return tqi_table_peek(&f->box.seg, TQI_TASKS, tqi_id_index(id));
}

#define DONE ((struct tqi_verdict){ .kind = TQ_VERDICT_DONE, .cause = TQ_CAUSE_EXIT })
#define FAIL ((struct tqi_verdict){ .kind = TQ_VERDICT_FAIL, .cause = TQ_CAUSE_ERROR })
#define FATAL ((struct tqi_verdict){ .kind = TQ_VERDICT_FATAL, .cause = TQ_CAUSE_ERROR })
#define RELEASE ((struct tqi_verdict){ .kind = TQ_VERDICT_RELEASE, .cause = TQ_CAUSE_RELEASED })

static inline int end(struct fixture *f, uint32_t worker, const struct tqi_claimed *claimed,
		      struct tqi_verdict verdict)
{
	begin(f);
	int r = tqi_end(&f->tx, worker, claimed->attempt, claimed->id,
			task_of(f, claimed->id)->epoch, &verdict);

	commit(f);
	return r;
}

/* One worker of the default queue, and its last claim. */
struct one_worker {
	struct fixture f;
	uint32_t worker;
	struct tqi_claimed c;
};

static inline void open_one_worker(struct one_worker *s)
{
	open_fixture(&s->f, 100);
	s->worker = add_worker(&s->f, "default", 0);
}

/* The worker is killed, or leaves; another one comes. */
static inline void die_at_work(struct one_worker *s)
{
	static const struct tqi_death death = { .cause = TQ_CAUSE_SIGNAL, .cause_arg = 9 };
	const struct tqi_worker *w = tqi_table_peek(&s->f.box.seg, TQI_WORKERS, s->worker);

	begin(&s->f);
	assert_true(tqi_worker_dead(&s->f.tx, s->worker, w->generation, &death));
	commit(&s->f);
	s->worker = add_worker(&s->f, "default", 0);
}

static inline void leave_work(struct one_worker *s)
{
	begin(&s->f);
	assert_true(tqi_worker_unregister(&s->f.tx, s->worker));
	commit(&s->f);
	s->worker = add_worker(&s->f, "default", 0);
}

/* Sleepers that were popped. */
static inline uint32_t count_woken(struct one_worker *s)
{
	uint32_t n = 0;

	for (uint32_t w = 1; w < tqi_segment_core(&s->f.box.seg)->tables[TQI_WAITERS].count; w++) {
		const struct tqi_waiter *waiter = tqi_table_peek(&s->f.box.seg, TQI_WAITERS, w);

		n += waiter->state == TQI_WAITER_TRANSIT;
	}
	return n;
}

static inline void print_finding(void *arg, const char *text)
{
	(void)arg;
	print_error("check: %s\n", text);
}

static inline void assert_sound(struct fixture *f)
{
	void *scratch = calloc(1, tqi_check_scratch_bytes(&f->box.seg.geometry));
	struct tqi_tx tx;

	assert_non_null(scratch);
	tqi_tx_view(&tx, &f->box.seg);
	assert_int_equal(tqi_check(&tx, scratch, print_finding, NULL), 0);
	free(scratch);
}

#endif
