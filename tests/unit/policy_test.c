/* SPDX-License-Identifier: MIT */
/* scheduler/policy: bands, ageing, eras; its arithmetic at the ends. */
#include "tests/unit/fixture.h"

#include <errno.h>
#include <stdlib.h>

#include "scheduler/check/check.h"
#include "scheduler/rebuild/rebuild.h"
#include "taskq/error.h"

#define POINT 1000u /* a second: thousandths of a point */
#define OFF TQ_OFF

static uint64_t put(struct fixture *f, int32_t priority)
{
	return submit(f, (struct tq_task_spec){ .priority = priority, .attempts_max = 9 });
}

static int set(struct fixture *f, struct tqi_policy policy)
{
	const struct tqi_queue_settings settings = { .policy = policy };
	bool full;

	begin(f);
	return conclude(f,
			tqi_queue_set(&f->tx, tqi_queue_make(&f->tx, "default", &full), &settings));
}

static struct tqi_policy ageing(uint32_t low, uint32_t normal, uint32_t high, uint32_t critical)
{
	return (struct tqi_policy){ .ageing = { low, normal, high, critical } };
}

static void sweep_out(struct fixture *f)
{
	bool more = true;

	while (more) {
		begin(f);
		more = tqi_sweep_slice(&f->tx);
		commit(f);
	}
}

static void wait(struct fixture *f, uint64_t seconds)
{
	f->box.system.now_ns += seconds * SECOND;
}

static struct tqi_queue *queue_of(struct fixture *f)
{
	return tqi_table_peek(&f->box.seg, TQI_QUEUES, 1);
}

/* B2: a band that ages overtakes, when its time has come; the others stay strict. */
static void test_low_overtakes(void **state)
{
	struct tqi_claimed c;
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t worker = add_worker(&f, "default", 0);

	assert_int_equal(set(&f, ageing(2 * POINT, 0, 0, 0)), 0);
	uint64_t low = put(&f, TQ_PRIORITY_LOW);

	wait(&f, 49); /* -100 + 98 */
	uint64_t first = put(&f, TQ_PRIORITY_NORMAL);

	assert_int_equal(claim(&f, worker, &c), first);
	wait(&f, 2);
	uint64_t second = put(&f, TQ_PRIORITY_NORMAL);

	assert_sound(&f);
	assert_int_equal(claim(&f, worker, &c), low);
	assert_int_equal(claim(&f, worker, &c), second);
	close_fixture(&f);
}

/* B2: all of one rate need no bands apart, and are compared by their keys alone. */
static void test_one_rate_for_all(void **state)
{
	struct tqi_claimed c;
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t worker = add_worker(&f, "default", 0);

	assert_int_equal(set(&f, ageing(POINT, POINT, POINT, POINT)), 0);
	assert_int_equal(queue_of(&f)->flags & ~TQI_QUEUE_CONFIGURED, 0);
	uint64_t low = put(&f, TQ_PRIORITY_LOW);

	wait(&f, 99);
	uint64_t normal = put(&f, 0);

	wait(&f, 1000); /* at every later time it is the same */
	assert_int_equal(claim(&f, worker, &c), normal);
	assert_int_equal(claim(&f, worker, &c), low);
	low = put(&f, TQ_PRIORITY_LOW);
	wait(&f, 101);
	normal = put(&f, 0);
	assert_int_equal(claim(&f, worker, &c), low);
	assert_int_equal(claim(&f, worker, &c), normal);
	close_fixture(&f);
}

/* B2: a release keeps what was gained, a retry begins anew; paused time counts. */
static void test_age_is_kept_or_not(void **state)
{
	struct tqi_claimed c;
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t worker = add_worker(&f, "default", 0);

	assert_int_equal(set(&f, ageing(10 * POINT, 0, 0, 0)), 0);
	uint64_t low = put(&f, TQ_PRIORITY_LOW);

	begin(&f);
	tqi_queue_flag(&f.tx, 1, TQI_QUEUE_PAUSED, true);
	commit(&f);
	wait(&f, 11);
	begin(&f);
	tqi_queue_flag(&f.tx, 1, TQI_QUEUE_PAUSED, false);
	commit(&f);
	uint64_t normal = put(&f, 0);

	assert_int_equal(claim(&f, worker, &c), low);
	end(&f, worker, &c, RELEASE);
	assert_int_equal(claim(&f, worker, &c), low);
	begin(&f);
	assert_int_equal(tqi_steer_cancel(&f.tx, low), 1);
	commit(&f);
	end(&f, worker, &c, FAIL);
	begin(&f);
	assert_int_equal(tqi_steer_retry(&f.tx, low), 0);
	commit(&f);
	assert_int_equal(claim(&f, worker, &c), normal);
	assert_int_equal(claim(&f, worker, &c), low);
	close_fixture(&f);
}

/* B2: a change holds at once for what comes; the rest follows in slices, ages and all. */
static void test_eras(void **state)
{
	struct tqi_claimed c;
	struct fixture f;
	uint64_t low[40];

	(void)state;
	open_fixture(&f, 200);
	uint32_t worker = add_worker(&f, "default", 0);

	for (uint32_t i = 0; i < 40; i++)
		low[i] = put(&f, TQ_PRIORITY_LOW);
	wait(&f, 20);
	assert_int_equal(set(&f, ageing(10 * POINT, 0, 0, 0)), 0);
	assert_true(queue_of(&f)->flags & TQI_QUEUE_MOVING);
	assert_int_equal(set(&f, ageing(20 * POINT, 0, 0, 0)), -EBUSY);
	assert_int_equal(set(&f, ageing(10 * POINT, OFF, 0, 0)), 0); /* changes nothing */
	assert_sound(&f);
	uint64_t normal = put(&f, 0);

	assert_int_equal(claim(&f, worker, &c), normal); /* no old one has aged yet */
	normal = put(&f, 0);
	begin(&f);
	assert_true(tqi_sweep_slice(&f.tx)); /* eight of them */
	commit(&f);
	assert_sound(&f);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(claim(&f, worker, &c), low[i]);
	assert_int_equal(claim(&f, worker, &c), normal);
	sweep_out(&f);
	assert_false(queue_of(&f)->flags & TQI_QUEUE_MOVING);
	normal = put(&f, 0);
	assert_int_equal(claim(&f, worker, &c), low[8]);
	assert_int_equal(set(&f, ageing(OFF, 0, 0, 0)), 0);
	sweep_out(&f);
	assert_int_equal(queue_of(&f)->flags & ~TQI_QUEUE_CONFIGURED, 0);
	assert_int_equal(claim(&f, worker, &c), normal);
	assert_sound(&f);
	close_fixture(&f);
}

/* Classes are used again: a policy that goes to and fro makes no more of them. */
static void test_classes_are_used_again(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, 200);
	uint32_t worker = add_worker(&f, "default", 0);
	struct tqi_claimed c;
	uint32_t count = 0;

	for (uint32_t i = 0; i < 50; i++) {
		for (int32_t p = -1; p < 3; p++)
			put(&f, p * 100);
		assert_int_equal(set(&f, ageing(i % 3 ? 1 + i : OFF, 0, i % 2 ? 5 : OFF, 0)), 0);
		for (int n = 0; n < 4; n++)
			assert_true(claim(&f, worker, &c));
		sweep_out(&f);
		for (int n = 0; n < 4; n++) {
			const struct tqi_worker *w =
				tqi_table_peek(&f.box.seg, TQI_WORKERS, worker);
			const struct tqi_attempt *a =
				tqi_table_peek(&f.box.seg, TQI_ATTEMPTS, w->attempts);

			c = (struct tqi_claimed){ .attempt = w->attempts,
						  .task = a->task,
						  .id = a->id };
			end(&f, worker, &c, FAIL);
		}
		if (i == 10)
			count = tqi_segment_core(&f.box.seg)->tables[TQI_CLASSES].count;
		assert_sound(&f);
		wait(&f, 1000);
		begin(&f);
		tqi_due_run(&f.tx, 1000);
		commit(&f);
		while (claim(&f, worker, &c))
			end(&f, worker, &c, (struct tqi_verdict){ .kind = TQ_VERDICT_DONE });
	}
	assert_int_equal(tqi_segment_core(&f.box.seg)->tables[TQI_CLASSES].count, count);
	close_fixture(&f);
}

/* B2: bounds may be anything that ascends. */
static void test_bands(void **state)
{
	struct tqi_claimed c;
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t worker = add_worker(&f, "default", 0);
	const struct tqi_policy wrong = { .band_from = { 5, 5, 6 } };

	assert_int_equal(set(&f, wrong), -EINVAL);
	assert_int_equal(set(&f, (struct tqi_policy){ .ageing = { 0, POINT, 0, 0 },
						      .band_from = { -7, 7, INT32_MAX } }),
			 0);
	uint64_t below = put(&f, -8), in = put(&f, -7);

	wait(&f, 15); /* -7 + 15 */
	uint64_t above = put(&f, 7), top = put(&f, INT32_MAX);

	assert_sound(&f);
	assert_int_equal(claim(&f, worker, &c), top);
	assert_int_equal(claim(&f, worker, &c), in);
	assert_int_equal(claim(&f, worker, &c), above);
	assert_int_equal(claim(&f, worker, &c), below);
	close_fixture(&f);
}

/* B4: after N starts of other bands one of the least urgent band that has work. */
static void test_hybrid(void **state)
{
	static const int32_t order[] = { 1000, 1000, -100, 1000, 100, -100, 100, 0, 0 };
	struct tqi_claimed c;
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t worker = add_worker(&f, "default", 0);

	assert_int_equal(set(&f, (struct tqi_policy){ .hybrid = 2 }), 0);
	for (uint32_t i = 0; i < 3; i++)
		put(&f, TQ_PRIORITY_CRITICAL);
	for (uint32_t i = 0; i < 2; i++) {
		put(&f, TQ_PRIORITY_LOW);
		put(&f, TQ_PRIORITY_HIGH);
		put(&f, TQ_PRIORITY_NORMAL);
	}
	for (uint32_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		assert_int_equal(task_of(&f, claim(&f, worker, &c))->priority, order[i]);
	assert_int_equal(claim(&f, worker, &c), 0);
	assert_sound(&f);
	assert_int_equal(set(&f, (struct tqi_policy){ .hybrid = OFF }), 0);
	sweep_out(&f);
	assert_int_equal(queue_of(&f)->flags & ~TQI_QUEUE_CONFIGURED, 0);
	close_fixture(&f);
}

static uint64_t put_due(struct fixture *f, int32_t priority, uint64_t deadline)
{
	return submit(
		f, (struct tq_task_spec){ .priority = priority, .deadline_ns = deadline * SECOND });
}

/* B5: the band first, then the deadline, then what has none; a change takes over what waits. */
static void test_edf(void **state)
{
	struct tqi_claimed c;
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t worker = add_worker(&f, "default", 0);
	uint64_t none = put(&f, 50), late = put_due(&f, 99, 100);

	assert_int_equal(set(&f, (struct tqi_policy){ .edf = 1, .ageing = { POINT } }), -ENOTSUP);
	assert_int_equal(set(&f, (struct tqi_policy){ .edf = 1 }), 0);
	uint64_t early = put_due(&f, 1, 10), low = put_due(&f, -1, 1), twin = put_due(&f, 2, 10);

	assert_sound(&f);
	assert_int_equal(claim(&f, worker, &c), early);
	sweep_out(&f);
	assert_sound(&f);
	assert_int_equal(set(&f, ageing(POINT, 0, 0, 0)), -ENOTSUP);
	assert_int_equal(claim(&f, worker, &c), twin);
	assert_int_equal(claim(&f, worker, &c), late);
	assert_int_equal(claim(&f, worker, &c), none);
	assert_int_equal(claim(&f, worker, &c), low);
	assert_int_equal(set(&f, (struct tqi_policy){ .edf = OFF }), 0);
	late = put_due(&f, 0, 10);
	uint64_t high = put(&f, 1);

	assert_int_equal(claim(&f, worker, &c), high);
	assert_int_equal(claim(&f, worker, &c), late);
	close_fixture(&f);
}

/* B3: an overdue task gets every second start, the oldest first; all others keep their order. */
static void test_max_wait(void **state)
{
	uint64_t low[3], high[3];
	struct tqi_claimed c;
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t worker = add_worker(&f, "default", 0);

	low[0] = put(&f, -100); /* these before there is a limit */
	low[1] = put(&f, -100);
	assert_int_equal(set(&f, (struct tqi_policy){ .max_wait_ns = 10 * SECOND }), 0);
	sweep_out(&f);
	wait(&f, 9);
	for (uint32_t i = 0; i < 3; i++)
		high[i] = put(&f, 100);
	assert_int_equal(claim(&f, worker, &c), high[0]);
	wait(&f, 1);
	low[2] = put(&f, -100);
	assert_int_equal(claim(&f, worker, &c), low[0]);
	assert_int_equal(claim(&f, worker, &c), high[1]);
	assert_int_equal(claim(&f, worker, &c), low[1]);
	assert_sound(&f);
	assert_int_equal(claim(&f, worker, &c), high[2]);
	assert_int_equal(claim(&f, worker, &c), low[2]); /* not overdue, but alone */
	assert_int_equal(set(&f, (struct tqi_policy){ .max_wait_ns = UINT64_MAX }), 0);
	sweep_out(&f);
	assert_int_equal(queue_of(&f)->flags & ~TQI_QUEUE_CONFIGURED, 0);
	close_fixture(&f);
}

/* B3: under overload, when all are overdue, half of the starts are still by priority. */
static void test_overload(void **state)
{
	struct tqi_claimed c;
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t worker = add_worker(&f, "default", 0);

	assert_int_equal(set(&f, (struct tqi_policy){ .max_wait_ns = SECOND, .hybrid = 1 }), 0);
	for (int32_t i = 0; i < 6; i++) {
		put(&f, i * 10);
		wait(&f, 1);
	}
	wait(&f, 1);
	/* Overdue, most urgent, overdue, most urgent ... */
	for (int32_t i = 0; i < 3; i++) {
		assert_int_equal(task_of(&f, claim(&f, worker, &c))->priority, i * 10);
		assert_int_equal(task_of(&f, claim(&f, worker, &c))->priority, 50 - i * 10);
	}
	assert_sound(&f);
	close_fixture(&f);
}

/* The ends of the arithmetic: priorities, rates, and the latest time. */
static void test_arithmetic(void **state)
{
	const uint64_t last_ns = (uint64_t)TQI_KEY_MS_MAX * TQI_NS_PER_MS;

	(void)state;
	for (int32_t p = INT32_MIN;; p = INT32_MAX) {
		int64_t first = tqi_policy_key(TQ_AGEING_MAX, 0, p);
		int64_t last = tqi_policy_key(TQ_AGEING_MAX, last_ns, p);

		assert_true(first < last);
		assert_int_equal(tqi_policy_urgency(TQ_AGEING_MAX, last_ns, last), p * TQI_POINT);
		assert_int_equal(tqi_policy_urgency(TQ_AGEING_MAX, last_ns, first),
				 p * TQI_POINT + (int64_t)TQ_AGEING_MAX * TQI_KEY_MS_MAX);
		assert_int_equal(tqi_policy_key(TQ_AGEING_MAX, UINT64_MAX, p), last);
		if (p == INT32_MAX)
			break;
	}
	assert_int_equal(tqi_policy_key(1, 1000000, 0), 1); /* a millionth */
}

/* What a rebuild makes of policies and classes that cannot be. */
static void test_damage_is_mended(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t worker = add_worker(&f, "default", 0);
	struct tqi_claimed c;

	put(&f, -100);
	assert_int_equal(set(&f, ageing(POINT, 0, 0, 0)), 0);
	uint64_t low = put(&f, -100), normal = put(&f, 0);
	struct tqi_class *class = tqi_table_peek(&f.box.seg, TQI_CLASSES, 2);
	void *scratch = calloc(1, tqi_check_scratch_bytes(&f.box.seg.geometry));
	struct tqi_tx tx;

	class->rate = UINT32_MAX;
	class->band = 3;
	task_of(&f, low)->key = 77;
	queue_of(&f)->band_from[1] = -5;
	tqi_tx_view(&tx, &f.box.seg);
	assert_int_not_equal(tqi_check(&tx, scratch, NULL, NULL), 0);
	memset(scratch, 0, tqi_check_scratch_bytes(&f.box.seg.geometry));
	begin(&f);
	assert_int_equal(tqi_rebuild(&f.tx, scratch), 0);
	commit(&f);
	free(scratch);
	assert_sound(&f);
	sweep_out(&f);
	assert_sound(&f);
	assert_int_equal(claim(&f, worker, &c), normal);
	assert_true(claim(&f, worker, &c));
	assert_int_equal(claim(&f, worker, &c), low);
	close_fixture(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_low_overtakes),
		cmocka_unit_test(test_one_rate_for_all),
		cmocka_unit_test(test_age_is_kept_or_not),
		cmocka_unit_test(test_eras),
		cmocka_unit_test(test_classes_are_used_again),
		cmocka_unit_test(test_bands),
		cmocka_unit_test(test_hybrid),
		cmocka_unit_test(test_edf),
		cmocka_unit_test(test_max_wait),
		cmocka_unit_test(test_overload),
		cmocka_unit_test(test_arithmetic),
		cmocka_unit_test(test_damage_is_mended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
