/* SPDX-License-Identifier: MIT */
/* Numbers that are used again: only the start time tells a process from its successor. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "client/farm/launch.h"
#include "shm/ident.h"
#include "shm/inflight.h"
#include "shm/process_group.h"
#include "taskq/farm.h"
#include "tests/support/box.h"

#define RAN 7 /* exit code of a command that ran */

/* A process that leads a group of its own, until it is ended. */
static uint32_t start_leader(void)
{
	int ready[2];
	char byte;

	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (setpgid(0, 0) < 0 || write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return (uint32_t)pid;
}

static void end_leader(uint32_t pid)
{
	kill((pid_t)pid, SIGKILL);
	waitpid((pid_t)pid, NULL, 0);
}

static uint64_t start_of(uint32_t pid)
{
	uint64_t start;
	char state;

	assert_int_equal(tqi_pid_start(pid, &start, &state), 0);
	return start;
}

static void a_process_with_the_number_of_another_is_no_proof_of_life(void **state)
{
	const struct tqi_ops *ops = &tqi_ops_linux;
	uint32_t pid = start_leader();
	const uint64_t start = start_of(pid);

	(void)state;
	assert_false(ops->process_gone(NULL, &(struct tqi_ident){ .pid = pid, .start = start }));
	assert_true(ops->process_gone(NULL, &(struct tqi_ident){ .pid = pid, .start = start - 1 }));
	/* Not known: then its absence alone is proof. */
	assert_false(ops->process_gone(NULL, &(struct tqi_ident){ .pid = pid }));
	end_leader(pid);
	assert_true(ops->process_gone(NULL, &(struct tqi_ident){ .pid = pid, .start = start }));
}

static void a_group_with_the_number_of_another_is_not_waited_for(void **state)
{
	uint32_t pid = start_leader();
	const uint64_t start = start_of(pid);

	(void)state;
	assert_false(tqi_process_group_is_empty(pid, start));
	assert_true(tqi_process_group_is_empty(pid, start - 1));
	assert_false(tqi_process_group_is_empty(pid, 0));
	end_leader(pid);
	assert_true(tqi_process_group_is_empty(pid, start));
}

/* Who has something in flight is asked for by all that says who that is. */
static void what_is_in_flight_names_its_owner_wholly(void **state)
{
	const struct tqi_ident owner = { .pid = 11, .tid = 12, .start = 13 };
	struct tqi_inflight entry;
	struct tqt_box box;
	struct tqi_tx tx;

	(void)state;
	tqt_box_open(&box, NULL);
	tqt_box_begin(&box, &tx);
	assert_true(tqi_inflight_take(&tx, TQI_INFLIGHT_GROW, 5, 1, &owner) != 0);
	tqi_tx_commit(&tx);
	assert_true(tqi_inflight_peek(&tx, 0, &entry));
	assert_int_equal(entry.owner.pid, owner.pid);
	assert_int_equal(entry.owner.tid, owner.tid);
	assert_int_equal(entry.owner.start, owner.start);
	tqt_box_close(&box);
}

/* The exit code of a command whose worker says `go`, or closes the pipe as its death does. */
static int launched(const char *go)
{
	char *argv[] = { "sh", "-c", "exit 7", NULL };
	const struct tq_exec exec = { .size = sizeof(exec), .argv = (const char *const *)argv };
	struct tqi_launch launch = { .exec = &exec, .env = environ, .parent = getpid() };
	int status;

	assert_int_equal(pipe(launch.go), 0);
	assert_int_equal(pipe(launch.status), 0);
	assert_int_equal(pipe(launch.output), 0);
	pid_t pid = fork();

	if (pid == 0)
		tqi_launch_child(&launch);
	assert_true(pid > 0);
	close(launch.go[0]);
	if (*go)
		assert_int_equal(write(launch.go[1], go, 1), 1);
	close(launch.go[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	for (int i = 0; i < 2; i++) {
		close(launch.status[i]);
		close(launch.output[i]);
	}
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void a_command_whose_worker_died_before_it_said_go_does_not_run(void **state)
{
	(void)state;
	assert_int_equal(launched("g"), RAN);
	assert_int_equal(launched(""), 127);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_with_the_number_of_another_is_no_proof_of_life),
		cmocka_unit_test(a_group_with_the_number_of_another_is_not_waited_for),
		cmocka_unit_test(what_is_in_flight_names_its_owner_wholly),
		cmocka_unit_test(a_command_whose_worker_died_before_it_said_go_does_not_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
