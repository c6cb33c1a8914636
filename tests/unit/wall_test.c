/* SPDX-License-Identifier: MIT */
/* C1: starts by the wall clock, and what becomes of them when it is set. */
#include "tests/unit/fixture.h"

#include <errno.h>

#include "client/worker/worker_api.h"
#include "scheduler/graph/after.h"
#include "scheduler/task/depend.h"
#include "scheduler/task/submit.h"
#include "scheduler/time/wall.h"
#include "scheduler/task/due_run.h"
#include "taskq/error.h"
#include "tests/crash/handle.h"

#define HOUR (3600 * SECOND)

static uint64_t wall_of(const struct fixture *f)
{
	return f->box.system.now_ns + f->box.system.wall_offset_ns;
}

static void run_out(struct fixture *f)
{
	bool more = true;

	while (more) {
		begin(f);
		more = tqi_due_run(&f->tx, 8) || tqi_wall_run(&f->tx, 8);
		commit(f);
	}
}

static void elapse(struct fixture *f, uint64_t ns)
{
	f->box.system.now_ns += ns;
	run_out(f);
}

/* Somebody sets it: no time passes. */
static void set_clock(struct fixture *f, int64_t by)
{
	f->box.system.wall_offset_ns += (uint64_t)by;
	run_out(f);
}

static uint64_t submit_at(struct fixture *f, uint64_t from_now, struct tq_task_spec spec)
{
	spec.at_ns = wall_of(f) + from_now;
	return submit(f, spec);
}

static uint64_t next_by_wall(struct fixture *f)
{
	begin(f);
	uint64_t next = tqi_wall_next(&f->tx);

	commit(f);
	return next;
}

static const struct tqi_root *root_of(struct fixture *f)
{
	return tqi_segment_root(&f->box.seg);
}

static void test_c1_not_before(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t id = submit_at(&s.f, 10 * SECOND, (struct tq_task_spec){ 0 });

	assert_int_equal(task_of(&s.f, id)->state, TQ_DELAYED);
	assert_int_equal(next_by_wall(&s.f), wall_of(&s.f) + 10 * SECOND);
	elapse(&s.f, 10 * SECOND - 1);
	assert_int_equal(claim(&s.f, s.worker, &s.c), 0);
	elapse(&s.f, 1);
	assert_int_equal(claim(&s.f, s.worker, &s.c), id);
	assert_int_equal(next_by_wall(&s.f), UINT64_MAX);
	assert_int_equal(root_of(&s.f)->time.appointments, 1);
	end(&s.f, s.worker, &s.c, DONE);
	assert_int_equal(root_of(&s.f)->time.appointments, 0);
	close_fixture(&s.f);
}

/* A time that has passed is no hindrance. */
static void test_c1_past(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t id = submit(&s.f, (struct tq_task_spec){ .at_ns = 1 });

	assert_int_equal(task_of(&s.f, id)->state, TQ_READY);
	assert_int_equal(claim(&s.f, s.worker, &s.c), id);
	close_fixture(&s.f);
}

static void test_c1_order(void **state)
{
	struct one_worker s;
	uint64_t ids[50];

	(void)state;
	open_one_worker(&s);
	for (uint32_t i = 0; i < 50; i++)
		ids[i] = submit_at(&s.f, (1 + i * 37 % 50) * SECOND, (struct tq_task_spec){ 0 });
	for (uint32_t second = 1; second <= 50; second++) {
		elapse(&s.f, SECOND);
		for (uint32_t i = 0; i < 50; i++)
			assert_int_equal(task_of(&s.f, ids[i])->state,
					 1 + i * 37 % 50 <= second ? TQ_READY : TQ_DELAYED);
	}
	close_fixture(&s.f);
}

/* A step moves the start with it, and moves nothing else. */
static void test_c1_step(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t at = submit_at(&s.f, HOUR, (struct tq_task_spec){ 0 });
	uint64_t delayed = submit(&s.f, (struct tq_task_spec){ .delay_ns = HOUR });

	set_clock(&s.f, -(int64_t)HOUR);
	elapse(&s.f, HOUR);
	assert_int_equal(task_of(&s.f, delayed)->state, TQ_READY);
	assert_int_equal(task_of(&s.f, at)->state, TQ_DELAYED); /* it waits longer */
	delayed = submit(&s.f, (struct tq_task_spec){ .delay_ns = HOUR });
	set_clock(&s.f, (int64_t)HOUR);
	assert_int_equal(task_of(&s.f, at)->state, TQ_READY); /* and starts at once */
	assert_int_equal(task_of(&s.f, delayed)->state, TQ_DELAYED);
	close_fixture(&s.f);
}

/* Both clocks watch it: the deadline ends it, wherever it waits. */
static void test_c1_deadline(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t before = submit_at(&s.f, 2 * HOUR, (struct tq_task_spec){ .deadline_ns = HOUR });
	uint64_t after = submit_at(&s.f, HOUR / 2, (struct tq_task_spec){ .deadline_ns = HOUR });

	elapse(&s.f, HOUR / 2);
	assert_int_equal(task_of(&s.f, after)->state, TQ_READY);
	elapse(&s.f, HOUR / 2);
	assert_int_equal(task_of(&s.f, before)->state, TQ_EXPIRED);
	assert_int_equal(task_of(&s.f, after)->state, TQ_EXPIRED);
	assert_int_equal(next_by_wall(&s.f), UINT64_MAX);
	close_fixture(&s.f);
}

static void test_c1_held(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t id = submit_at(&s.f, SECOND, (struct tq_task_spec){ .flags = TQ_TASK_HOLD });

	elapse(&s.f, SECOND);
	assert_int_equal(task_of(&s.f, id)->state, TQ_READY);
	assert_int_equal(claim(&s.f, s.worker, &s.c), 0);
	begin(&s.f);
	assert_int_equal(tqi_steer_hold(&s.f.tx, id, false), 0);
	commit(&s.f);
	assert_int_equal(claim(&s.f, s.worker, &s.c), id);
	close_fixture(&s.f);
}

static void test_c1_cancel_and_retry(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t id = submit_at(&s.f, HOUR, (struct tq_task_spec){ 0 });

	begin(&s.f);
	assert_int_equal(tqi_steer_cancel(&s.f.tx, id), 0);
	commit(&s.f);
	assert_int_equal(next_by_wall(&s.f), UINT64_MAX);
	assert_int_equal(root_of(&s.f)->time.appointments, 0);
	begin(&s.f);
	assert_int_equal(tqi_steer_retry(&s.f.tx, id), 0);
	commit(&s.f);
	assert_int_equal(claim(&s.f, s.worker, &s.c), id); /* a new life starts at once */
	close_fixture(&s.f);
}

static int update_at(struct fixture *f, uint64_t id, uint64_t from_now)
{
	const struct tq_task_update u = { .fields = TQ_UPDATE_AT, .at_ns = wall_of(f) + from_now };

	begin(f);
	int r = tqi_steer_update(&f->tx, id, &u);

	commit(f);
	return r;
}

/* A plain task gets an appointment, with its payload; another; and one that has passed. */
static void test_c1_update_at(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t id = submit(&s.f, (struct tq_task_spec){ .payload = "abc", .payload_bytes = 3 });

	assert_int_equal(update_at(&s.f, id, HOUR), 0);
	assert_int_equal(task_of(&s.f, id)->state, TQ_DELAYED);
	assert_int_equal(next_by_wall(&s.f), wall_of(&s.f) + HOUR);
	assert_int_equal(update_at(&s.f, id, 2 * HOUR), 0);
	assert_int_equal(next_by_wall(&s.f), wall_of(&s.f) + 2 * HOUR);
	assert_int_equal(root_of(&s.f)->time.appointments, 1);
	assert_sound(&s.f);
	set_clock(&s.f, HOUR);
	assert_int_equal(task_of(&s.f, id)->state, TQ_DELAYED);
	assert_int_equal(update_at(&s.f, id, 0), 0);
	assert_int_equal(claim(&s.f, s.worker, &s.c), id);
	begin(&s.f);
	const struct tqi_task *task = task_of(&s.f, id);

	assert_memory_equal(tqi_unit(&s.f.tx, task->payload), "abc", 3);
	commit(&s.f);
	assert_int_equal(update_at(&s.f, id, HOUR), TQ_ESTATE);
	end(&s.f, s.worker, &s.c, DONE);
	assert_int_equal(root_of(&s.f)->time.appointments, 0);
	assert_sound(&s.f);
	close_fixture(&s.f);
}

/* Ready tasks keep their place when the time has passed; a delay and a time replace each other. */
static void test_c1_update_between(void **state)
{
	const struct tq_task_update delay = { .fields = TQ_UPDATE_DELAY, .delay_ns = SECOND };
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t id = submit(&s.f, (struct tq_task_spec){ 0 });
	uint64_t ready_ns = task_of(&s.f, id)->ready_ns;

	elapse(&s.f, SECOND);
	assert_int_equal(update_at(&s.f, id, 0), 0);
	assert_int_equal(task_of(&s.f, id)->state, TQ_READY);
	assert_int_equal(task_of(&s.f, id)->ready_ns, ready_ns);
	assert_int_equal(update_at(&s.f, id, HOUR), 0);
	begin(&s.f);
	assert_int_equal(tqi_steer_update(&s.f.tx, id, &delay), 0);
	commit(&s.f);
	assert_int_equal(root_of(&s.f)->time.appointments, 0);
	assert_int_equal(update_at(&s.f, id, HOUR), 0);
	elapse(&s.f, SECOND);
	assert_int_equal(task_of(&s.f, id)->state, TQ_DELAYED);
	elapse(&s.f, HOUR);
	assert_int_equal(task_of(&s.f, id)->state, TQ_READY);
	assert_sound(&s.f);
	close_fixture(&s.f);
}

/* Whoever has a large payload has room for an appointment from the start: none is copied. */
static void test_c1_update_large(void **state)
{
	static char large[TQI_COPY_MAX + 1];
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t id = submit(
		&s.f, (struct tq_task_spec){ .payload = large, .payload_bytes = sizeof(large) });
	uint32_t block = task_of(&s.f, id)->payload;

	assert_int_equal(update_at(&s.f, id, HOUR), 0);
	assert_int_equal(task_of(&s.f, id)->payload, block);
	assert_int_equal(next_by_wall(&s.f), wall_of(&s.f) + HOUR);
	assert_sound(&s.f);
	close_fixture(&s.f);
}

static void test_c1_update(void **state)
{
	const struct tq_task_update urgent = { .fields = TQ_UPDATE_PRIORITY, .priority = 5 };
	const struct tq_task_update later = { .fields = TQ_UPDATE_DELAY, .delay_ns = SECOND };
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t a = submit_at(&s.f, HOUR, (struct tq_task_spec){ 0 });
	uint64_t b = submit_at(&s.f, HOUR, (struct tq_task_spec){ 0 });

	begin(&s.f);
	assert_int_equal(tqi_steer_update(&s.f.tx, a, &urgent), 0);
	assert_int_equal(tqi_steer_update(&s.f.tx, b, &later), 0);
	commit(&s.f);
	elapse(&s.f, SECOND);
	assert_int_equal(claim(&s.f, s.worker, &s.c), b);
	assert_int_equal(root_of(&s.f)->time.appointments, 1);
	elapse(&s.f, HOUR - SECOND);
	assert_int_equal(task_of(&s.f, a)->state, TQ_READY);
	close_fixture(&s.f);
}

/* A back-off goes by the monotonic clock, whatever the task began with. */
static void test_c1_backoff(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t id = submit_at(&s.f, SECOND,
				(struct tq_task_spec){ .attempts_max = 2, .backoff_ns = SECOND });

	elapse(&s.f, SECOND);
	claim(&s.f, s.worker, &s.c);
	end(&s.f, s.worker, &s.c, FAIL);
	assert_int_equal(task_of(&s.f, id)->state, TQ_DELAYED);
	set_clock(&s.f, -(int64_t)HOUR);
	assert_int_equal(next_by_wall(&s.f), UINT64_MAX);
	elapse(&s.f, 2 * SECOND);
	assert_int_equal(claim(&s.f, s.worker, &s.c), id);
	close_fixture(&s.f);
}

/* One that waits for its key's holder, too: whichever is later. */
static void test_c1_coalesced(void **state)
{
	const struct tq_task_spec spec = { .unique_key = "k", .unique_scope = TQ_UNIQUE_COALESCE };
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	submit(&s.f, spec);
	claim(&s.f, s.worker, &s.c);
	uint64_t second = submit_at(&s.f, HOUR, spec);

	assert_int_equal(task_of(&s.f, second)->state, TQ_BLOCKED);
	end(&s.f, s.worker, &s.c, DONE);
	assert_int_equal(task_of(&s.f, second)->state, TQ_DELAYED);
	elapse(&s.f, HOUR);
	assert_int_equal(claim(&s.f, s.worker, &s.c), second);
	close_fixture(&s.f);
}

/* Sleeping: a worker that has the segment for itself, in a make-believe process. */
struct scene {
	struct fixture f;
	struct tq *tq;
	struct tq_worker *worker;
};

static void open_scene(struct scene *s)
{
	open_fixture(&s->f, 100);
	s->tq = tqt_handle_new(&s->f.box.seg, &s->f.box.system, TQT_PID_VICTIM);
	assert_int_equal(tq_worker_open(s->tq, NULL, &s->worker), 0);
}

static void close_scene(struct scene *s)
{
	tq_worker_close(s->worker);
	tqt_handle_free(s->tq);
	close_fixture(&s->f);
}

static uint64_t hand_in(struct scene *s, uint64_t from_now, uint64_t delay_ns)
{
	struct tq_task_spec spec = { .size = sizeof(spec), .kind = "k", .delay_ns = delay_ns };
	uint64_t id;

	spec.at_ns = from_now ? wall_of(&s->f) + from_now : 0;
	assert_int_equal(tq_submit(s->tq, &spec, &id), 0);
	return id;
}

/* The id that a sleeping worker got in the end; by then it was `ret_ns` later. */
static uint64_t sleep_and_claim(struct scene *s, uint64_t *ret_ns)
{
	uint64_t since = s->f.box.system.now_ns;
	struct tq_claim c = { .size = sizeof(c) };

	assert_int_equal(tq_claim(s->worker, TQ_FOREVER_NS, &c), 0);
	*ret_ns = s->f.box.system.now_ns - since;
	assert_int_equal(tq_complete(s->worker, &c, NULL, 0), 0);
	return c.id;
}

static void forward(void *arg)
{
	((struct scene *)arg)->f.box.system.wall_offset_ns += HOUR;
}

static void back(void *arg)
{
	((struct scene *)arg)->f.box.system.wall_offset_ns -= HOUR;
}

static void meanwhile(struct scene *s, void (*others)(void *))
{
	s->f.box.system.meanwhile = others;
	s->f.box.system.arg = s;
}

/* An appointment that has come is over, also for one that comes to wait for a task then. */
static void test_c1_kept_once(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t parent = submit(&s.f, (struct tq_task_spec){ 0 });
	uint64_t id = submit_at(&s.f, SECOND, (struct tq_task_spec){ 0 });

	elapse(&s.f, 2 * SECOND);
	assert_int_equal(task_of(&s.f, id)->state, TQ_READY);
	begin(&s.f);
	assert_int_equal(tqi_after_add(&s.f.tx, id, parent, TQ_AFTER_OK), 0);
	commit(&s.f);
	set_clock(&s.f, -(int64_t)HOUR);
	assert_int_equal(task_of(&s.f, id)->state, TQ_BLOCKED);
	assert_int_equal(claim(&s.f, s.worker, &s.c), parent);
	assert_int_equal(end(&s.f, s.worker, &s.c, DONE), 0);
	assert_int_equal(task_of(&s.f, id)->state, TQ_READY);
	assert_sound(&s.f);
	close_fixture(&s.f);
}

/* Asleep by the wall clock itself: no look in between. */
static void test_c1_sleep(void **state)
{
	struct scene s;
	uint64_t took;

	(void)state;
	open_scene(&s);
	uint64_t id = hand_in(&s, HOUR, 0);

	assert_int_equal(sleep_and_claim(&s, &took), id);
	assert_int_equal(took, HOUR);
	assert_int_equal(s.f.box.system.wall_waits, 1);
	id = hand_in(&s, HOUR, 0);
	meanwhile(&s, forward);
	assert_int_equal(sleep_and_claim(&s, &took), id);
	assert_int_equal(took, 0);
	id = hand_in(&s, HOUR, 0);
	meanwhile(&s, back);
	assert_int_equal(sleep_and_claim(&s, &took), id);
	assert_int_equal(took, 2 * HOUR);
	close_scene(&s);
}

/* With something due by the monotonic clock as well, a step is noticed within 5 s. */
static void test_c1_sleep_by_both(void **state)
{
	struct scene s;
	uint64_t took;

	(void)state;
	open_scene(&s);
	uint64_t delayed = hand_in(&s, 0, 2 * HOUR);
	uint64_t id = hand_in(&s, HOUR, 0);

	assert_int_equal(sleep_and_claim(&s, &took), id);
	assert_int_equal(took, HOUR);
	id = hand_in(&s, HOUR, 0);
	meanwhile(&s, forward);
	assert_int_equal(sleep_and_claim(&s, &took), id);
	assert_true(took <= 5 * SECOND);
	id = hand_in(&s, HOUR, 0);
	meanwhile(&s, back);
	assert_int_equal(sleep_and_claim(&s, &took), delayed);
	assert_int_equal(sleep_and_claim(&s, &took), id);
	assert_int_equal(s.f.box.system.wall_waits, 1); /* the last: nothing else is due */
	close_scene(&s);
}

/* Who sleeps is told of an earlier appointment. */
static void submit_earlier(void *arg)
{
	hand_in(arg, 60 * SECOND, 0);
}

static void test_c1_told(void **state)
{
	struct scene s;
	uint64_t took;

	(void)state;
	open_scene(&s);
	uint64_t late = hand_in(&s, HOUR, 0);

	meanwhile(&s, submit_earlier);
	assert_int_not_equal(sleep_and_claim(&s, &took), late);
	assert_int_equal(took, 60 * SECOND);
	assert_true(s.f.box.system.woken_count > 0);
	close_scene(&s);
}

/* The same for a schedule by cron: a step wakes who keeps time, and the run is made. */
static void test_c1_sleep_by_cron(void **state)
{
	const struct tq_task_spec run = { .size = sizeof(run), .kind = "k", .label = "run" };
	const struct tq_schedule_spec spec = {
		.size = sizeof(spec), .task = &run, .cron = "@hourly", .zone = "UTC"
	};
	struct tq_schedule_info info = { .size = sizeof(info) };
	struct scene s;
	uint64_t id, took;

	(void)state;
	open_scene(&s);
	assert_int_equal(tq_schedule_create(s.tq, &spec, &id), 0);
	uint64_t to_next = HOUR - wall_of(&s.f) % HOUR;
	uint64_t first = sleep_and_claim(&s, &took);

	assert_int_equal(took, to_next);
	assert_int_equal(s.f.box.system.wall_waits, 1);
	meanwhile(&s, forward);
	assert_int_not_equal(sleep_and_claim(&s, &took), first);
	assert_int_equal(took, 0);
	meanwhile(&s, back); /* what has been does not come again */
	sleep_and_claim(&s, &took);
	assert_int_equal(took, 2 * HOUR);
	assert_int_equal(tq_schedule_info(s.tq, id, &info), 0);
	assert_int_equal(info.runs, 3);
	close_scene(&s);
}

/* C1: a setting that its runs cannot have is refused, not dropped. */
static void test_c1_no_such_run(void **state)
{
	const struct tq_dependency on = { .id = 1 };
	const struct tq_task_spec refused[] = {
		{ .size = sizeof(refused[0]), .kind = "k", .at_ns = 1 },
		{ .size = sizeof(refused[0]), .kind = "k", .full_timeout_ns = 1 },
		{ .size = sizeof(refused[0]), .kind = "k", .after = &on, .after_count = 1 },
		{ .size = sizeof(refused[0]), .kind = "k", .group = 1 },
	};
	struct scene s;

	(void)state;
	open_scene(&s);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		const struct tq_schedule_spec spec = { .size = sizeof(spec),
						       .task = &refused[i],
						       .every_ns = HOUR };

		assert_int_equal(tq_schedule_create(s.tq, &spec, NULL), -EINVAL);
	}
	close_scene(&s);
}

/* The kernel's own wait: by the clock that people set, woken like any other. */
static void test_c1_system_clock(void **state)
{
	const struct tqi_ops *ops = &tqi_ops_linux;
	struct tqi_word32 word = { 0 };
	const struct tqi_futex same = { &word, 0 }, other = { &word, 1 };
	uint64_t until = ops->wall(ops->ctx) + SECOND / 50;

	(void)state;
	assert_int_equal(ops->futex_wait_wall(ops->ctx, &other, 1, until), 0);
	assert_int_equal(ops->futex_wait_wall(ops->ctx, &same, 1, until), -ETIMEDOUT);
	assert_true(ops->wall(ops->ctx) >= until);
	assert_int_equal(ops->futex_wait_wall(ops->ctx, &same, 1, 1), -ETIMEDOUT);
}

static void test_c1_refused(void **state)
{
	struct tq_task_spec spec = { .size = sizeof(spec), .kind = "k", .at_ns = 5, .delay_ns = 5 };
	struct scene s;

	(void)state;
	open_scene(&s);
	assert_int_equal(tq_submit(s.tq, &spec, NULL), -EINVAL);
	spec.delay_ns = 0;
	spec.at_ns = 1ull << 63;
	assert_int_equal(tq_submit(s.tq, &spec, NULL), -ERANGE);
	close_scene(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_c1_not_before),
		cmocka_unit_test(test_c1_past),
		cmocka_unit_test(test_c1_order),
		cmocka_unit_test(test_c1_step),
		cmocka_unit_test(test_c1_deadline),
		cmocka_unit_test(test_c1_held),
		cmocka_unit_test(test_c1_cancel_and_retry),
		cmocka_unit_test(test_c1_update),
		cmocka_unit_test(test_c1_update_at),
		cmocka_unit_test(test_c1_update_between),
		cmocka_unit_test(test_c1_update_large),
		cmocka_unit_test(test_c1_backoff),
		cmocka_unit_test(test_c1_coalesced),
		cmocka_unit_test(test_c1_kept_once),
		cmocka_unit_test(test_c1_sleep),
		cmocka_unit_test(test_c1_sleep_by_both),
		cmocka_unit_test(test_c1_told),
		cmocka_unit_test(test_c1_sleep_by_cron),
		cmocka_unit_test(test_c1_no_such_run),
		cmocka_unit_test(test_c1_system_clock),
		cmocka_unit_test(test_c1_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
