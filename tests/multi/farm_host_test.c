/* SPDX-License-Identifier: MIT */
/* C6: a farm in a program that has children of its own. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "farm_box.h"
#include "shm/ident.h"

#define CHILD_CODE 7

static int gate[2];	/* a byte: a child of the host ends */
static pid_t childs[2]; /* of the host: in its group, and in one of its own */

static pid_t begin_child(bool leads)
{
	pid_t pid = fork();
	char byte;

	if (pid != 0) {
		if (leads)
			setpgid(pid, pid);
		return pid;
	}
	_exit(read(gate[0], &byte, 1) == 1 ? CHILD_CODE : 1);
}

/* A zombie, or gone. */
static bool has_ended(pid_t pid)
{
	uint64_t start;
	char state;

	return tqi_pid_start((uint32_t)pid, &start, &state) < 0 || state == 'Z';
}

static void await_end(pid_t pid)
{
	while (!has_ended(pid))
		pause_ms();
}

/* Ends the host's children while the farm runs, and leaves an orphan that has ended as well. */
static int end_them(struct tq_run *run, void *arg)
{
	pid_t orphan = fork();

	(void)run;
	(void)arg;
	if (orphan == 0)
		_exit(0);
	await_end(orphan);
	if (write(gate[1], "ab", 2) != 2)
		return 1;
	for (int i = 0; i < 2; i++)
		await_end(childs[i]);
	return 0;
}

/* The host: its exit code says what it has found. */
static int play_host(struct farm_box *box)
{
	int found = 0, status;

	if (pipe2(gate, O_CLOEXEC) < 0 || tq_handler_set(box->tq, "end", end_them, NULL) < 0)
		return 1;
	childs[0] = begin_child(false);
	childs[1] = begin_child(true);
	box->opts.flags |= TQ_FARM_UNTIL_EMPTY;
	if (tq_farm_run(box->tq, &box->opts) != 0)
		return 2;
	for (int i = 0; i < 2; i++)
		found += waitpid(childs[i], &status, WNOHANG) == childs[i] && WIFEXITED(status) &&
			 WEXITSTATUS(status) == CHILD_CODE;
	if (found != (box->opts.flags & TQ_FARM_REAP_ALL ? 0 : 2))
		return 3;
	return waitpid(-1, &status, WNOHANG) < 0 && errno == ECHILD ? 0 : 4; /* no zombie is left */
}

static int run_host(struct farm_box *box)
{
	uint64_t id = submit_kind(box, "end", NULL);
	pid_t parent = getpid();

	box->farm = fork();
	if (box->farm == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(getppid() == parent ? play_host(box) : 1);
	}
	int code = farm_join(box);

	assert_int_equal(wait_final(box, id).state, TQ_DONE);
	return code;
}

static void a_farm_reaps_only_its_own(void **state)
{
	assert_int_equal(run_host(*state), 0);
}

static void or_all_when_it_is_told_to(void **state)
{
	struct farm_box *box = *state;

	box->opts.flags |= TQ_FARM_REAP_ALL;
	assert_int_equal(run_host(box), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "fault.C6: a farm reaps only its own", a_farm_reaps_only_its_own, farm_box_setup,
		  farm_box_teardown, NULL },
		{ "fault.C6: or all when it is told to", or_all_when_it_is_told_to, farm_box_setup,
		  farm_box_teardown, NULL },
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
