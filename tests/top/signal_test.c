/* SPDX-License-Identifier: MIT */
/* H8, E3: no signal goes to a process that is not the worker. */
#include "model_fixture.h" /* before cmocka.h, which has a macro fail() */
#include "worker_kill.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char name[64];

static pid_t start_sleeper(void)
{
	const pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	return pid;
}

static struct tq *open_segment(void)
{
	const struct tq_open_opts opts = { .size = sizeof(opts), .flags = TQ_OPEN_CREATE };
	struct tq *tq;

	snprintf(name, sizeof(name), "%s-signal", getenv("TASKQ_TEST_ID"));
	assert_int_equal(tq_open(name, &opts, &tq), 0);
	return tq;
}

static void h8_strangers_get_no_signal(void **state)
{
	struct tq *tq = open_segment();
	struct tq_worker_info info = { .size = sizeof(info) }, other;
	const pid_t stranger = start_sleeper();
	struct tq_worker *worker;
	uint64_t cursor = 0;

	(void)state;
	assert_int_equal(tq_worker_open(tq, NULL, &worker), 0);
	assert_int_equal(tq_worker_list(tq, &cursor, &info, 1), 1);
	other = info;
	other.pid = (uint32_t)stranger; /* not who registered */
	assert_int_equal(worker_kill(tq, &other), -ESRCH);
	other = info;
	other.registered_ns--; /* an earlier one of its number */
	assert_int_equal(worker_kill(tq, &other), -ESRCH);
	worker = tq_worker_close(worker);
	assert_int_equal(worker_kill(tq, &info), -ESRCH); /* it has left */
	assert_int_equal(waitpid(stranger, NULL, WNOHANG), 0);
	kill(stranger, SIGKILL);
	assert_int_equal(waitpid(stranger, NULL, 0), stranger);
	tq_close(tq);
	assert_int_equal(tq_destroy(name, TQ_DESTROY_FORCE), 0);
}

/* What cannot be done says why. */
static void h8_actions_say_why_not(void **state)
{
	const struct source source = { .name = name };
	char said[ACT_TEXT_MAX];
	struct action action;
	struct model model;

	(void)state;
	fixture_model(&model);
	snprintf(name, sizeof(name), "%s-none", getenv("TASKQ_TEST_ID"));
	assert_true(act_find('C', SUBJECT_TASK, &model.tasks[0], &action));
	assert_false(act_run(&source, &action, said));
	assert_string_equal(said, "Cancel: No such file or directory");
	assert_false(act_find('C', SUBJECT_QUEUE, &model.now.queues[0], &action));
	assert_false(act_find('c', SUBJECT_TASK, &model.tasks[0], &action));
	assert_false(act_find('C', SUBJECT_TASK, NULL, &action));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(h8_strangers_get_no_signal),
		cmocka_unit_test(h8_actions_say_why_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
