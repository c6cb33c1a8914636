/* SPDX-License-Identifier: MIT */
/* Many threads on one handle: what TSan can see of the queue, all of it in one mapping. */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <setjmp.h>

#include <cmocka.h>

#include "taskq/taskq.h"

#define SUBMITTERS 2
#define WORKERS 3
#define TASKS 400 /* by each submitter */
#define WAIT_NS 60000000000ull

static struct tq *queue;
static atomic_uint ended, failures;
static uint64_t ids[SUBMITTERS][TASKS];

static void expect(int wanted, int r, const char *what)
{
	if (r == wanted)
		return;
	fprintf(stderr, "%s: %s\n", what, tq_error_name(r));
	atomic_fetch_add(&failures, 1);
}

/* Submits, then waits for all of its own, and looks at each without the lock. */
static void *submitter(void *arg)
{
	uint64_t *mine = arg;
	struct tq_task_spec spec = {
		.size = sizeof(spec), .kind = "k", .payload = "x", .payload_bytes = 1
	};

	for (uint32_t i = 0; i < TASKS; i++) {
		spec.priority = (int32_t)(i % 7);
		spec.delay_ns = i % 50 ? 0 : 1000000;
		expect(0, tq_submit(queue, &spec, &mine[i]), "submit");
	}
	expect(0, tq_wait(queue, mine, TASKS, WAIT_NS, NULL, NULL), "wait");
	for (uint32_t i = 0; i < TASKS; i++) {
		struct tq_task_info info = { .size = sizeof(info) };

		expect(0, tq_task_info(queue, mine[i], &info), "info");
		expect(TQ_DONE, (int)info.state, "state");
	}
	return NULL;
}

static void *worker(void *arg)
{
	struct tq_claim claim = { .size = sizeof(claim) };
	struct tq_worker *w = NULL;

	(void)arg;
	expect(0, tq_worker_open(queue, NULL, &w), "worker");
	while (atomic_load(&ended) < SUBMITTERS * TASKS) {
		int r = tq_claim(w, 50000000, &claim);

		if (r == -ETIMEDOUT)
			continue;
		expect(0, r, "claim");
		expect(0, tq_claim_progress(w, &claim, 50, "half"), "progress");
		expect(0, tq_complete(w, &claim, "ok", 2), "complete");
		atomic_fetch_add(&ended, 1);
	}
	tq_worker_close(w);
	return NULL;
}

static void a6_d7_e1_threads_share_a_handle(void **state)
{
	const struct tq_open_opts opts = { .size = sizeof(opts),
					   .flags = TQ_OPEN_CREATE | TQ_OPEN_EXCLUSIVE };
	pthread_t submitters[SUBMITTERS], workers[WORKERS];
	char name[TQ_NAME_MAX + 1];

	(void)state;
	snprintf(name, sizeof(name), "test-%d-threads", (int)getpid());
	assert_int_equal(tq_open(name, &opts, &queue), 0);
	for (int i = 0; i < WORKERS; i++)
		assert_int_equal(pthread_create(&workers[i], NULL, worker, NULL), 0);
	for (int i = 0; i < SUBMITTERS; i++)
		assert_int_equal(pthread_create(&submitters[i], NULL, submitter, ids[i]), 0);
	for (int i = 0; i < SUBMITTERS; i++)
		pthread_join(submitters[i], NULL);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);
	assert_int_equal(atomic_load(&failures), 0);
	assert_int_equal(tq_check(queue, TQ_CHECK_EXACT, NULL, NULL), 0);
	tq_close(queue);
	assert_int_equal(tq_destroy(name, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a6_d7_e1_threads_share_a_handle) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
