/* SPDX-License-Identifier: MIT */
/* tq_check() on a segment that others change, and whose writers are killed (H3, H6). */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "client/core/handle.h"
#include "taskq/taskq.h"

static char last_finding[256];

static void keep_finding(void *arg, const char *text)
{
	(void)arg;
	snprintf(last_finding, sizeof(last_finding), "%s", text);
}

static struct tq *open_segment(char name[TQ_NAME_MAX + 1])
{
	const struct tq_open_opts opts = { .size = sizeof(opts),
					   .flags = TQ_OPEN_CREATE | TQ_OPEN_EXCLUSIVE,
					   .max_bytes = 16u << 20 };
	struct tq *tq;

	snprintf(name, TQ_NAME_MAX, "test-%d-check", (int)getpid());
	assert_int_equal(tq_open(name, &opts, &tq), 0);
	return tq;
}

static void close_segment(struct tq *tq, const char *name)
{
	tq_close(tq);
	assert_int_equal(tq_destroy(name, TQ_DESTROY_FORCE), 0);
}

/* Submits and works, for ever. */
static _Noreturn void be_busy(struct tq *tq)
{
	const struct tq_worker_opts opts = { .size = sizeof(opts) };
	struct tq_worker *worker;
	char payload[500] = "payload";

	if (tq_worker_open(tq, &opts, &worker) < 0)
		_exit(1);
	for (uint64_t i = 0;; i++) {
		const struct tq_task_spec spec = { .size = sizeof(spec),
						   .kind = "k",
						   .payload = payload,
						   .payload_bytes = i % sizeof(payload),
						   .attempts_max = 2,
						   .backoff_ns = 1 };
		struct tq_claim claim = { .size = sizeof(claim) };

		(void)!tq_submit(tq, &spec, NULL);
		if (tq_claim(worker, 0, &claim) < 0)
			continue;
		if (i % 3)
			(void)!tq_complete(worker, &claim, payload, i % 100);
		else
			(void)!tq_fail(worker, &claim, 0, "because");
	}
}

static pid_t start_busy(struct tq *tq)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		be_busy(tq);
	return pid;
}

static void stop_busy(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void sleep_ms(long ms)
{
	const struct timespec ts = { .tv_nsec = ms * 1000000 };

	nanosleep(&ts, NULL);
}

static void assert_sound(struct tq *tq, uint32_t flags)
{
	int r = tq_check(tq, flags, keep_finding, NULL);

	if (r)
		fail_msg("%d: %s", r, r > 0 ? last_finding : tq_strerror(r));
}

static void test_live(void **state)
{
	char name[TQ_NAME_MAX + 1];
	struct tq *tq = open_segment(name);
	pid_t pid = start_busy(tq);

	(void)state;
	for (int i = 0; i < 30; i++) {
		sleep_ms(2);
		assert_sound(tq, 0);
		assert_sound(tq, TQ_CHECK_EXACT);
	}
	stop_busy(pid);
	close_segment(tq, name);
}

/* A read-only handle, and a writer that was killed or stopped inside a change. */
static void test_dead_and_stopped_writers(void **state)
{
	const struct tq_open_opts readonly = { .size = sizeof(readonly),
					       .flags = TQ_OPEN_READONLY };
	char name[TQ_NAME_MAX + 1];
	struct tq *tq = open_segment(name), *observer;
	uint64_t inside = 0;

	(void)state;
	assert_int_equal(tq_open(name, &readonly, &observer), 0);
	assert_int_equal(tq_check(observer, TQ_CHECK_REPAIR, keep_finding, NULL), -EROFS);
	for (int i = 0; i < 40; i++) {
		pid_t pid = start_busy(tq);

		sleep_ms(1 + i % 3);
		kill(pid, SIGSTOP);
		waitpid(pid, NULL, WUNTRACED);
		inside += tqi_load_relaxed64(&tqi_segment_core(&tq->seg)->version) & 1;
		assert_sound(observer, 0);
		stop_busy(pid);
		assert_sound(observer, 0);
	}
	print_message("%u of 40 were inside a change\n", (unsigned)inside);
	tq_close(observer);
	close_segment(tq, name);
}

static void test_damage_and_repair(void **state)
{
	const struct tq_task_spec spec = { .size = sizeof(spec), .kind = "k" };
	char name[TQ_NAME_MAX + 1];
	struct tq *tq = open_segment(name);
	struct tqi_root *root = tqi_segment_root(&tq->seg);
	uint64_t id;

	(void)state;
	for (int i = 0; i < 100; i++)
		assert_int_equal(tq_submit(tq, &spec, &id), 0);
	root->ready = 3;
	assert_int_equal(tq_check(tq, 0, keep_finding, NULL), 1);
	assert_string_equal(last_finding, "root 0: ready is 3, should be 100");
	assert_int_equal(tq_check(tq, TQ_CHECK_EXACT, NULL, NULL), 1);
	assert_int_equal(tq_check(tq, TQ_CHECK_REPAIR, NULL, NULL), 1);
	assert_sound(tq, 0);
	assert_int_equal(root->ready, 100);
	assert_int_equal(tq_check(tq, 1u << 9, NULL, NULL), -EINVAL);

	/* Half a repair: nobody else may go on. */
	root->flags |= TQI_ROOT_REPAIR;
	assert_int_equal(tq_submit(tq, &spec, &id), TQ_ECORRUPT);
	assert_true(tq_check(tq, 0, NULL, NULL) > 0);
	assert_true(tq_check(tq, TQ_CHECK_REPAIR, NULL, NULL) > 0);
	assert_int_equal(tq_submit(tq, &spec, &id), 0);
	assert_sound(tq, TQ_CHECK_EXACT);
	close_segment(tq, name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_live),
		cmocka_unit_test(test_dead_and_stopped_writers),
		cmocka_unit_test(test_damage_and_repair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
