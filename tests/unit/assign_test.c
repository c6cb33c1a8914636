/* SPDX-License-Identifier: MIT */
/* scheduler/assign: batches, stealing, and the ways back (F6). */
#include "tests/unit/fixture.h"

#include <stdlib.h>

#include "scheduler/order/assign.h"
#include "scheduler/check/check.h"

#define BATCH 4

static void set_batch(struct fixture *f)
{
	const struct tqi_queue_settings settings = { .batch = BATCH };
	bool full;

	begin(f);
	uint32_t queue = tqi_queue_make(&f->tx, "default", &full);

	assert_int_equal(tqi_queue_set(&f->tx, queue, &settings), 0);
	commit(f);
}

/* Default settings of a thief, but for the interval. */
static uint32_t add_thief(struct fixture *f, uint64_t interval_ns)
{
	uint32_t worker = add_worker(f, "default", 0);
	struct tqi_worker *record = tqi_table_peek(&f->box.seg, TQI_WORKERS, worker);

	record->steal_max = TQ_STEAL_COUNT_DEFAULT;
	record->steal_capacity = TQ_STEAL_CAPACITY_DEFAULT;
	record->steal_interval_ns = interval_ns;
	return worker;
}

static void submit_some(struct fixture *f, uint32_t count, uint64_t *ids)
{
	for (uint32_t i = 0; i < count; i++)
		ids[i] = submit(f, (struct tq_task_spec){ .attempts_max = 2 });
}

static uint32_t assigned(struct fixture *f, uint32_t worker)
{
	const struct tqi_worker *record = tqi_table_peek(&f->box.seg, TQI_WORKERS, worker);

	return record->assigned_count;
}

/* A1, A2: a batch is taken in order, and starts before what is more urgent. */
static void f6_batch_is_taken_in_order(void **state)
{
	struct tqi_claimed c;
	uint64_t ids[6];
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	set_batch(&f);
	uint32_t worker = add_worker(&f, "default", 0);

	submit_some(&f, 6, ids);
	assert_int_equal(claim(&f, worker, &c), ids[0]);
	assert_int_equal(assigned(&f, worker), BATCH - 1);
	assert_int_equal(task_of(&f, ids[1])->state, TQ_READY);
	assert_sound(&f);
	uint64_t urgent = submit(&f, (struct tq_task_spec){ .priority = 9 });

	for (uint32_t i = 1; i < BATCH; i++)
		assert_int_equal(claim(&f, worker, &c), ids[i]);
	assert_int_equal(claim(&f, worker, &c), urgent);
	assert_sound(&f);
	close_fixture(&f);
}

/* Without a batch nothing is taken beforehand: priority is strict. */
static void f6_off_by_default(void **state)
{
	struct tqi_claimed c;
	uint64_t ids[3];
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t worker = add_worker(&f, "default", 0);

	submit_some(&f, 3, ids);
	assert_int_equal(claim(&f, worker, &c), ids[0]);
	uint64_t urgent = submit(&f, (struct tq_task_spec){ .priority = 9 });

	assert_int_equal(assigned(&f, worker), 0);
	assert_int_equal(claim(&f, worker, &c), urgent);
	close_fixture(&f);
}

/* A1: a task with a limit is never taken beforehand. */
static void f6_limited_tasks_are_not_assigned(void **state)
{
	static const char *const limits[] = { "key" };
	struct tqi_claimed c;
	uint64_t ids[2];
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	set_batch(&f);
	uint32_t worker = add_worker(&f, "default", 0);

	submit_some(&f, 2, ids);
	submit(&f, (struct tq_task_spec){ .limits = limits, .limit_count = 1 });
	assert_int_equal(claim(&f, worker, &c), ids[0]);
	assert_int_equal(assigned(&f, worker), 1);
	assert_sound(&f);
	close_fixture(&f);
}

/* A3: one who has nothing takes the last ones of who has most, and starts the first of them. */
static void f6_idle_worker_steals(void **state)
{
	struct tqi_claimed c;
	uint64_t ids[BATCH];
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	set_batch(&f);
	uint32_t owner = add_worker(&f, "default", 0), thief = add_thief(&f, SECOND);

	submit_some(&f, BATCH, ids);
	assert_int_equal(claim(&f, owner, &c), ids[0]);
	assert_int_equal(claim(&f, thief, &c), ids[2]);
	assert_int_equal(assigned(&f, owner), 1);
	assert_int_equal(assigned(&f, thief), 1);
	assert_sound(&f);
	assert_int_equal(claim(&f, thief, &c), ids[3]);
	assert_int_equal(claim(&f, thief, &c), 0); /* its interval */
	begin(&f);
	assert_int_equal(tqi_steal_due(&f.tx, thief), f.tx.now_ns + SECOND);
	commit(&f);
	f.box.system.now_ns += SECOND;
	assert_int_equal(claim(&f, thief, &c), ids[1]);
	assert_int_equal(claim(&f, owner, &c), 0);
	assert_sound(&f);
	close_fixture(&f);
}

/* A worker of that queue, with an attempt and BATCH - 1 tasks for later. */
static uint32_t add_owner(struct fixture *f, const char *queue)
{
	uint32_t owner = add_worker(f, queue, 0);
	struct tqi_claimed c;

	for (uint32_t i = 0; i < BATCH; i++)
		submit(f, (struct tq_task_spec){ .queue = queue });
	assert_int_not_equal(claim(f, owner, &c), 0);
	assert_int_equal(assigned(f, owner), BATCH - 1);
	return owner;
}

/* A3: who has most, of those that have something for the thief; of equals the first. */
static void f6_the_richest_is_robbed(void **state)
{
	const struct tqi_queue_settings settings = { .batch = BATCH };
	uint32_t owners[8], thief;
	struct tqi_claimed c;
	struct fixture f;
	bool full;

	(void)state;
	open_fixture(&f, 1000);
	set_batch(&f);
	begin(&f);
	assert_int_equal(tqi_queue_set(&f.tx, tqi_queue_make(&f.tx, "other", &full), &settings), 0);
	commit(&f);
	for (uint32_t i = 0; i < 31; i++)
		add_owner(&f, "other"); /* nothing for who serves the default queue */
	for (uint32_t i = 0; i < 8; i++)
		owners[i] = add_owner(&f, "default");
	for (uint32_t i = 0; i < 3; i++)
		assert_int_not_equal(claim(&f, owners[i], &c), 0); /* one less for later */
	thief = add_thief(&f, 0);
	assert_int_not_equal(claim(&f, thief, &c), 0);
	assert_int_equal(assigned(&f, owners[0]), BATCH - 2);
	assert_int_equal(assigned(&f, owners[3]), BATCH - 1 - TQ_STEAL_COUNT_DEFAULT);
	assert_int_equal(assigned(&f, owners[4]), BATCH - 1);
	assert_sound(&f);
	close_fixture(&f);
}

/* A3: not without so much of its batch free. */
static void f6_busy_worker_does_not_steal(void **state)
{
	struct tqi_claimed c;
	uint64_t ids[2 * BATCH];
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	set_batch(&f);
	uint32_t thief = add_thief(&f, 0), owner = add_worker(&f, "default", 0);

	submit_some(&f, BATCH - 1, ids);
	for (uint32_t i = 0; i < BATCH - 1; i++)
		assert_int_equal(claim(&f, thief, &c), ids[i]);
	submit_some(&f, BATCH, ids);
	assert_int_equal(claim(&f, owner, &c), ids[0]);
	assert_int_equal(claim(&f, thief, &c), 0); /* 1 of 4 is free, 0.3 is wanted */
	close_fixture(&f);
}

/* A4, A2: what is assigned goes back from who ends, and when the queue is paused. */
static void f6_assigned_tasks_go_back(void **state)
{
	struct tqi_claimed c;
	uint64_t ids[BATCH];
	struct fixture f;
	bool done = false;

	(void)state;
	open_fixture(&f, 100);
	set_batch(&f);
	uint32_t first = add_worker(&f, "default", 0), second = add_worker(&f, "default", 0);

	submit_some(&f, BATCH, ids);
	assert_int_equal(claim(&f, first, &c), ids[0]);
	while (!done) {
		begin(&f);
		done = tqi_worker_unregister(&f.tx, first);
		commit(&f);
	}
	assert_sound(&f);
	assert_int_equal(task_of(&f, ids[1])->attempts, 0);
	assert_int_equal(claim(&f, second, &c), ids[0]);
	begin(&f);
	tqi_queue_flag(&f.tx, 1, TQI_QUEUE_PAUSED, true);
	commit(&f);
	assert_int_equal(claim(&f, second, &c), 0);
	assert_int_equal(assigned(&f, second), 0);
	assert_sound(&f);
	begin(&f);
	tqi_queue_flag(&f.tx, 1, TQI_QUEUE_PAUSED, false);
	commit(&f);
	assert_int_equal(claim(&f, second, &c), ids[1]);
	close_fixture(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(f6_batch_is_taken_in_order),
		cmocka_unit_test(f6_off_by_default),
		cmocka_unit_test(f6_limited_tasks_are_not_assigned),
		cmocka_unit_test(f6_idle_worker_steals),
		cmocka_unit_test(f6_the_richest_is_robbed),
		cmocka_unit_test(f6_busy_worker_does_not_steal),
		cmocka_unit_test(f6_assigned_tasks_go_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
