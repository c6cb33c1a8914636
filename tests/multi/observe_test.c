/* SPDX-License-Identifier: MIT */
/* Observers that look often, or at very much. */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <setjmp.h>

#include <cmocka.h>

#include "taskq/taskq.h"

#define LIMITED 4200 /* tasks with a limit key each: more than TQ_QUEUE_QUICK looks at */

static struct tq *tq;
static char name[64];

static int begin(void **state)
{
	const struct tq_open_opts opts = { .size = sizeof(opts),
					   .flags = TQ_OPEN_CREATE | TQ_OPEN_EXCLUSIVE,
					   .max_bytes = 64u << 20 };

	(void)state;
	snprintf(name, sizeof(name), "test-%d-observe", (int)getpid());
	return tq_open(name, &opts, &tq);
}

static int end(void **state)
{
	(void)state;
	tq = tq_close(tq);
	return tq_destroy(name, TQ_DESTROY_FORCE);
}

static void h3_scan(void **state)
{
	struct tq_task_brief briefs[100];
	const struct tq_task_spec spec = { .size = sizeof(spec),
					   .kind = "k",
					   .label = "l",
					   .priority = -3,
					   .flags = TQ_TASK_HOLD };
	uint64_t ids[3], cursor = 0, left = 9;

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(tq_submit(tq, &spec, &ids[i]), 0);
	assert_int_equal(tq_task_steer(tq, ids[1], TQ_TASK_ACTION_CANCEL), 0);
	assert_int_equal(tq_task_steer(tq, ids[1], TQ_TASK_ACTION_FORGET), 0);
	briefs[0].size = sizeof(briefs[0]);
	assert_int_equal(tq_task_scan(tq, TQ_SCAN_LABELS, &cursor, &left, briefs, 100), 2);
	assert_int_equal(left, 0);
	assert_int_equal(briefs[0].id, ids[0]);
	assert_int_equal(briefs[1].id, ids[2]);
	assert_int_equal(briefs[1].priority, -3);
	assert_int_equal(briefs[1].state, TQ_READY);
	assert_true(briefs[1].flags & TQ_INFO_HELD);
	assert_string_equal(briefs[1].label, "l");
	assert_string_equal(briefs[1].queue, "default");
	assert_string_equal(briefs[1].kind, "k");
	assert_int_equal(tq_task_scan(tq, 0, &cursor, &left, briefs, 100), 0);
	cursor = 0;
	assert_int_equal(tq_task_scan(tq, 0, &cursor, &left, briefs, 1), 1);
	assert_int_equal(left, 2);
	assert_string_equal(briefs[0].label, "");
	briefs[0].size = 8;
	assert_int_equal(tq_task_scan(tq, 0, &cursor, &left, briefs, 1), -EINVAL);
	assert_int_equal(tq_task_scan(tq, 2, &cursor, &left, briefs, 0), -EINVAL);
}

/* More of them than one copy has, and a freed one in each place of it. */
static void h3_scan_of_many(void **state)
{
	static struct tq_task_brief briefs[64];
	const struct tq_task_spec spec = { .size = sizeof(spec), .kind = "k", .queue = "q" };
	uint64_t cursor = 0, left = 1, ids[1000], seen = 0;

	(void)state;
	for (unsigned i = 0; i < 1000; i++)
		assert_int_equal(tq_submit(tq, &spec, &ids[i]), 0);
	for (unsigned i = 0; i < 1000; i += 3) {
		assert_int_equal(tq_task_steer(tq, ids[i], TQ_TASK_ACTION_CANCEL), 0);
		assert_int_equal(tq_task_steer(tq, ids[i], TQ_TASK_ACTION_FORGET), 0);
	}
	while (left > 0) {
		briefs[0].size = sizeof(briefs[0]);
		const int n = tq_task_scan(tq, 0, &cursor, &left, briefs, 50);

		assert_in_range(n, 0, 50);
		for (int i = 0; i < n; i++, seen++)
			assert_int_equal(briefs[i].id, ids[seen / 2 * 3 + seen % 2 + 1]);
	}
	assert_int_equal(seen, 666);
}

static struct tq_queue_info look_at_queue(uint32_t flags)
{
	struct tq_queue_info info = { .size = sizeof(info) };
	uint64_t cursor = 0;

	assert_int_equal(tq_queue_list(tq, flags, &cursor, &info, 1), 1);
	return info;
}

/* Few limit keys are looked at, many are not, and it says so. */
static void h3_quick_look_at_queues(void **state)
{
	const struct tq_limit_opts one = {
		.size = sizeof(one), .rate = 1, .burst = 1, .interval_ns = 3600000000000
	};
	char key[32];
	const char *keys[] = { key };
	const struct tq_task_spec spec = {
		.size = sizeof(spec), .kind = "k", .limits = keys, .limit_count = 1
	};
	struct tq_worker *worker;
	struct tq_claim claim = { .size = sizeof(claim) };

	(void)state;
	snprintf(key, sizeof(key), "full");
	assert_int_equal(tq_limit_set(tq, key, &one), 0);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(tq_submit(tq, &spec, NULL), 0);
	assert_int_equal(tq_worker_open(tq, NULL, &worker), 0);
	assert_int_equal(tq_claim(worker, 0, &claim), 0); /* takes the only token */
	assert_int_equal(look_at_queue(TQ_QUEUE_QUICK).counters.throttled, 2);
	for (unsigned i = 0; i < LIMITED; i++) {
		snprintf(key, sizeof(key), "key-%u", i);
		assert_int_equal(tq_submit(tq, &spec, NULL), 0);
	}
	assert_int_equal(look_at_queue(0).counters.throttled, 2);
	assert_false(look_at_queue(0).flags & TQ_QUEUE_PARTIAL);
	assert_int_equal(look_at_queue(TQ_QUEUE_QUICK).counters.throttled, 0);
	assert_true(look_at_queue(TQ_QUEUE_QUICK).flags & TQ_QUEUE_PARTIAL);
	tq_worker_close(worker);
}

/* A queue that a worker names twice has one worker more, not two. */
static void h3_workers_of_queues(void **state)
{
	const char *const queues[] = { "a", "b", "a" };
	const struct tq_worker_opts opts = { .size = sizeof(opts),
					     .queues = queues,
					     .queue_count = 3 };
	struct tq_queue_info info = { .size = sizeof(info) };
	struct tq_worker *workers[3];

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(tq_worker_open(tq, &opts, &workers[i]), 0);
	assert_int_equal(tq_queue_info(tq, "a", &info), 0);
	assert_int_equal(info.workers, 3);
	workers[0] = tq_worker_close(workers[0]);
	info.size = sizeof(info);
	assert_int_equal(tq_queue_info(tq, "b", &info), 0);
	assert_int_equal(info.workers, 2);
	tq_worker_close(workers[1]);
	tq_worker_close(workers[2]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(h3_scan, begin, end),
		cmocka_unit_test_setup_teardown(h3_scan_of_many, begin, end),
		cmocka_unit_test_setup_teardown(h3_quick_look_at_queues, begin, end),
		cmocka_unit_test_setup_teardown(h3_workers_of_queues, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
