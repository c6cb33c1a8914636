/* SPDX-License-Identifier: MIT */
/* A submit beside very many sleepers that it is not for: counted in instructions. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>

#include "taskq/taskq.h"
#include "tests/crash/step.h"
#include "tests/crash/world.h"

#define FEW 1
#define MANY 400
#define SLACK 16 /* a span of slots further on, another bucket: one in so many instructions */

struct submit {
	uint32_t clients;
	uint64_t instructions;
};

static bool count(struct tqt_stepper *stepper)
{
	(void)stepper;
	return true;
}

/* A worker of somebody else, asleep, of a queue that gets no task. */
static void sleep_elsewhere(struct tqt_world *w)
{
	static const char *const queues[] = { "elsewhere" };
	const struct tq_worker_opts opts = { .size = sizeof(opts),
					     .queues = queues,
					     .queue_count = 1 };
	struct tq_worker *worker;

	tqt_must(tq_worker_open(w->other, &opts, &worker), "worker");
	const uint32_t index = worker->index;

	tqt_give_away_worker(w, worker, TQT_PID_OTHER);
	tqt_foreign_sleeper(w, TQI_INTEREST_WORK, index);
}

static void *submit_stepped(void *arg)
{
	static struct tqt_world w;
	const struct tqt_world_options options = { .max_bytes = 16u << 20 };
	struct tqt_stepper stepper = { .look = count };
	struct submit *s = arg;

	tqt_step_thread();
	tqt_world_open(&w, &options);
	sleep_elsewhere(&w);
	for (uint32_t i = 0; i < s->clients; i++)
		tqt_foreign_sleeper(&w, TQI_INTEREST_TASKS, 0);
	tqt_submit_plain(&w); /* makes queue and kind */
	tqt_step_begin(&stepper);
	tqt_submit_plain(&w);
	tqt_step_end();
	s->instructions = stepper.steps;
	tqt_world_close(&w);
	return NULL;
}

static uint64_t instructions_beside(uint32_t clients)
{
	struct submit submit = { .clients = clients };
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, submit_stepped, &submit), 0);
	pthread_join(thread, NULL);
	return submit.instructions;
}

static void a_submit_passes_over_clients_that_wait(void **state)
{
	const uint64_t few = instructions_beside(FEW), many = instructions_beside(MANY);

	(void)state;
	assert_true(few > 100);
	if (many > few + few / SLACK)
		fail_msg("%llu instructions beside %d clients, %llu beside %d",
			 (unsigned long long)many, MANY, (unsigned long long)few, FEW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "fault.S2: a submit passes over clients that wait, however many",
		  a_submit_passes_over_clients_that_wait, NULL, NULL, NULL },
	};

	tqt_step_install();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
