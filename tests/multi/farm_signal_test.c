/* SPDX-License-Identifier: MIT */
/* What a master does when it is told something, and when there is nothing left to do. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "farm_box.h"

static void f4_term_lets_the_running_task_finish(void **state)
{
	struct farm_box *box = *state;

	box->opts.grace_ns = 60 * S;
	farm_start(box);
	uint64_t running = submit_script(box, "echo $$ >leader; sleep 0.3; echo done", NULL);

	wait_number(box, "leader");
	uint64_t waiting = submit_script(box, "true", NULL);

	assert_int_equal(farm_stop(box), 0);
	struct tq_task_info info = { .size = sizeof(info) };

	assert_int_equal(tq_task_info(box->tq, running, &info), 0);
	assert_int_equal(info.state, TQ_DONE);
	assert_string_equal(result_of(box, running), "done\n");
	assert_int_equal(tq_task_info(box->tq, waiting, &info), 0);
	assert_int_equal(info.state, TQ_READY);
	wait_workers(box, 0);
}

static void assert_given_back(struct farm_box *box, uint64_t id)
{
	struct tq_task_info info = { .size = sizeof(info) };

	assert_int_equal(tq_task_info(box->tq, id, &info), 0);
	assert_int_equal(info.state, TQ_READY);
	assert_int_equal(info.cause, TQ_CAUSE_RELEASED);
	assert_int_equal(info.crashes, 0);
	assert_int_equal(info.failures, 0);
	wait_workers(box, 0);
}

static void f4_grace_over_gives_back(void **state)
{
	struct farm_box *box = *state;

	box->opts.grace_ns = 200 * MS;
	box->opts.workers = 2;
	farm_start(box);
	uint64_t first = submit_script(box, "echo $$ >first; sleep 1000", NULL);
	uint64_t second = submit_script(box, "echo $$ >second; sleep 1000", NULL);
	long pid = wait_number(box, "first");

	wait_number(box, "second");
	assert_int_equal(farm_stop(box), 2);
	assert_false(process_is_there(pid));
	assert_given_back(box, first);
	assert_given_back(box, second);
}

static void f4_second_term_gives_back_at_once(void **state)
{
	struct farm_box *box = *state;

	box->opts.grace_ns = 600 * S;
	farm_start(box);
	uint64_t id = submit_script(box, "trap '' TERM; echo $$ >leader; sleep 1000", NULL);

	wait_number(box, "leader");
	kill(box->farm, SIGTERM);
	while (any_worker(box) && process_is_there(box->farm)) {
		struct tq_worker_info infos[4] = { { .size = sizeof(infos[0]) } };
		uint64_t cursor = 0;
		uint32_t stopping = 0;

		/* Until the first one has been heeded. */
		for (int i = tq_worker_list(box->tq, &cursor, infos, 4) - 1; i >= 0; i--)
			stopping |= infos[i].flags & TQ_WORKER_IS_STOPPING;
		if (stopping)
			break;
		pause_ms();
	}
	assert_int_equal(farm_stop(box), 1);
	assert_given_back(box, id);
}

static void f4_quit_gives_back_at_once(void **state)
{
	struct farm_box *box = *state;

	box->opts.grace_ns = 600 * S;
	farm_start(box);
	uint64_t id = submit_script(box, "echo $$ >leader; sleep 1000", NULL);

	wait_number(box, "leader");
	kill(box->farm, SIGQUIT);
	assert_int_equal(farm_join(box), 1);
	assert_given_back(box, id);
}

/* SIGTERM at any moment of a sleeping farm's life is heard. */
static void f4_term_is_never_lost(void **state)
{
	struct farm_box *box = *state;

	box->opts.workers = 2;
	box->opts.grace_ns = 600 * S; /* a lost one would be a time-out of this test */
	for (int i = 0; i < 40; i++) {
		farm_start(box);
		if (i % 2)
			wait_workers(box, 2);
		for (int k = 0; k < i / 4; k++)
			pause_ms();
		int code = farm_stop(box);

		/* Before the farm has its handlers the signal kills it, as it should. */
		assert_true(code == 0 || code == 128 + SIGTERM);
		wait_workers(box, 0);
	}
}

static void f4_ttin_and_ttou_change_the_number(void **state)
{
	struct farm_box *box = *state;

	box->opts.workers = 2;
	farm_start(box);
	wait_workers(box, 2);
	kill(box->farm, SIGTTIN);
	wait_workers(box, 3);
	kill(box->farm, SIGTTOU);
	wait_workers(box, 2);
	kill(box->farm, SIGTTOU);
	wait_workers(box, 1);
	kill(box->farm, SIGTTOU); /* the last one stays */
	struct tq_task_info info = wait_final(box, submit_script(box, "true", NULL));

	assert_int_equal(info.state, TQ_DONE);
	wait_workers(box, 1);
	assert_int_equal(farm_stop(box), 0);
}

static void f4_ttou_never_takes_a_busy_worker_s_task(void **state)
{
	struct farm_box *box = *state;

	box->opts.workers = 2;
	farm_start(box);
	uint64_t ids[2];
	char path[128];

	for (int i = 0; i < 2; i++) {
		char script[128];

		snprintf(script, sizeof(script),
			 "echo $$ >leader%d; until [ -e go ]; do sleep 0.01; done", i);
		ids[i] = submit_script(box, script, NULL);
	}
	wait_number(box, "leader0");
	wait_number(box, "leader1");
	kill(box->farm, SIGTTOU);
	/* Neither is taken away; one leaves when its task is done. */
	snprintf(path, sizeof(path), "%s/go", box->dir);
	fclose(fopen(path, "w"));
	for (int i = 0; i < 2; i++) {
		struct tq_task_info info = wait_final(box, ids[i]);

		assert_int_equal(info.state, TQ_DONE);
		assert_int_equal(info.attempt, 1);
	}
	wait_workers(box, 1);
	assert_int_equal(farm_stop(box), 0);
}

static void f1_until_empty_ends_when_all_is_done(void **state)
{
	struct farm_box *box = *state;
	uint64_t ids[20];
	const struct tq_task_spec spec = { .attempts_max = 2, .backoff_ns = 50 * MS };

	for (int i = 0; i < 20; i++)
		ids[i] = submit_script(box, i ? "exit 0" : "[ $TASKQ_ATTEMPT = 2 ]", &spec);
	box->opts.workers = 3;
	box->opts.flags = TQ_FARM_UNTIL_EMPTY;
	farm_start(box);
	assert_int_equal(farm_join(box), 0);
	for (int i = 0; i < 20; i++) {
		struct tq_task_info info = { .size = sizeof(info) };

		assert_int_equal(tq_task_info(box->tq, ids[i], &info), 0);
		assert_int_equal(info.state, TQ_DONE);
	}
}

static void f1_until_empty_survives_a_crash(void **state)
{
	struct farm_box *box = *state;
	uint64_t id = submit_script(box, "[ $TASKQ_ATTEMPT = 2 ] || kill -KILL $PPID", NULL);

	box->opts.flags = TQ_FARM_UNTIL_EMPTY;
	farm_start(box);
	assert_int_equal(farm_join(box), 0);
	struct tq_task_info info = wait_final(box, id);

	assert_int_equal(info.state, TQ_DONE);
	assert_int_equal(info.crashes, 1);
}

static void f5_max_tasks_replaces_workers_without_back_off(void **state)
{
	struct farm_box *box = *state;
	uint32_t pids[12];
	uint64_t before_ns = now_ns();

	box->opts.max_tasks = 2;
	farm_start(box);
	for (int i = 0; i < 12; i++)
		pids[i] = wait_final(box, submit_script(box, "true", NULL)).worker_pid;
	for (int i = 0; i < 12; i += 2)
		assert_int_equal(pids[i], pids[i + 1]);
	for (int i = 2; i < 12; i += 2)
		assert_int_not_equal(pids[i], pids[i - 1]);
	assert_true(now_ns() - before_ns < 10 * S);
	assert_int_equal(farm_stop(box), 0);
}

static int grow(struct tq_run *run, void *arg)
{
	const size_t bytes = 32u << 20;
	volatile char *leaked = malloc(bytes);

	(void)run;
	(void)arg;
	for (size_t i = 0; leaked && i < bytes; i += 4096)
		leaked[i] = 1;
	return leaked ? TQ_RUN_DONE : TQ_RUN_FAIL;
}

static void growing_handler(struct tq *tq)
{
	if (tq_handler_set(tq, "grow", grow, NULL) < 0)
		_exit(FARM_FAILED);
}

static void f5_max_rss_replaces_a_worker_that_leaks(void **state)
{
	struct farm_box *box = *state;

	box->opts.max_rss_bytes = 48u << 20;
	box->handlers = growing_handler;
	farm_start(box);
	uint32_t first = wait_final(box, submit_kind(box, "grow", NULL)).worker_pid;

	assert_int_equal(wait_final(box, submit_kind(box, "grow", NULL)).worker_pid, first);
	assert_int_not_equal(wait_final(box, submit_kind(box, "grow", NULL)).worker_pid, first);
	assert_int_equal(farm_stop(box), 0);
}

static void f1_name_is_unique_among_the_living(void **state)
{
	struct farm_box *box = *state;

	box->opts.name = "the-farm";
	farm_start(box);
	wait_workers(box, 1);
	assert_int_equal(tq_farm_run(box->tq, &box->opts), -EEXIST);
	kill(box->farm, SIGKILL);
	farm_join(box);
	farm_start(box); /* the dead do not count */
	struct tq_task_info info = wait_final(box, submit_script(box, "true", NULL));

	assert_int_equal(info.state, TQ_DONE);
	assert_int_equal(farm_stop(box), 0);
}

static void f1_bad_options_are_refused(void **state)
{
	struct farm_box *box = *state;
	struct tq_farm_opts opts = { .size = sizeof(opts), .flags = TQ_FARM_NO_EXEC };

	assert_int_equal(tq_farm_run(box->tq, &opts), -EINVAL); /* nothing to run */
	opts.flags = 1u << 30;
	assert_int_equal(tq_farm_run(box->tq, &opts), -EINVAL);
	opts.flags = 0;
	opts.name = "no/name";
	assert_int_equal(tq_farm_run(box->tq, &opts), -EINVAL);
}

static void expect_line(int fd, const char *line)
{
	char text[64];
	ssize_t n = recv(fd, text, sizeof(text) - 1, 0);

	assert_true(n > 0);
	text[n] = '\0';
	assert_string_equal(text, line);
}

static void f4_service_manager_is_told(void **state)
{
	struct farm_box *box = *state;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const struct timeval patience = { .tv_sec = 20 };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int n = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "%s", box->name);

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	assert_int_equal(bind(fd, (const struct sockaddr *)&address,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)),
			 0);
	address.sun_path[0] = '@';
	setenv("NOTIFY_SOCKET", address.sun_path, 1);
	farm_start(box);
	unsetenv("NOTIFY_SOCKET");
	expect_line(fd, "READY=1");
	assert_int_equal(farm_stop(box), 0);
	expect_line(fd, "STOPPING=1");
	close(fd);
}

static void on_usr1(int signal)
{
	(void)signal;
	tq_farm_stop();
}

static void own_handler(struct tq *tq)
{
	(void)tq;
	signal(SIGUSR1, on_usr1);
}

static void f4_host_may_keep_its_signals(void **state)
{
	struct farm_box *box = *state;

	box->opts.flags = TQ_FARM_KEEP_SIGNALS;
	box->opts.grace_ns = 600 * S;
	box->handlers = own_handler;
	farm_start(box);
	wait_workers(box, 1);
	uint64_t id = submit_script(box, "[ $TASKQ_ATTEMPT = 2 ] || kill -KILL $PPID", NULL);
	struct tq_task_info info = wait_final(box, id);

	assert_int_equal(info.state, TQ_DONE); /* a death is noticed without SIGCHLD */
	assert_int_equal(info.crashes, 1);
	kill(any_worker(box), SIGKILL);
	info = wait_final(box, submit_script(box, "true", NULL));
	assert_int_equal(info.state, TQ_DONE);
	kill(box->farm, SIGUSR1);
	assert_int_equal(farm_join(box), 0);
}

/* Such a host's children are reaped by the kernel; what they were is not known then. */
static void ignore_children(struct tq *tq)
{
	(void)tq;
	signal(SIGCHLD, SIG_IGN);
}

static void f4_host_may_ignore_its_children(void **state)
{
	struct farm_box *box = *state;
	const struct tq_task_spec once = { .crashes_max = 1 };

	box->opts.flags = TQ_FARM_KEEP_SIGNALS | TQ_FARM_UNTIL_EMPTY;
	box->handlers = ignore_children;
	uint64_t again = submit_script(box, "[ $TASKQ_ATTEMPT = 2 ] || kill -KILL $PPID", NULL);
	uint64_t never = submit_script(box, "kill -KILL $PPID", &once);

	farm_start(box);
	assert_int_equal(farm_join(box), 0);
	struct tq_task_info info = wait_final(box, again);

	assert_int_equal(info.state, TQ_DONE);
	assert_int_equal(info.crashes, 1);
	info = wait_final(box, never);
	assert_int_equal(info.state, TQ_FAILED);
	assert_cause(&info, "worker-died");
	wait_workers(box, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, farm_box_setup, farm_box_teardown)
	const struct CMUnitTest tests[] = {
		TEST(f4_term_lets_the_running_task_finish),
		TEST(f4_grace_over_gives_back),
		TEST(f4_second_term_gives_back_at_once),
		TEST(f4_quit_gives_back_at_once),
		TEST(f4_term_is_never_lost),
		TEST(f4_ttin_and_ttou_change_the_number),
		TEST(f4_ttou_never_takes_a_busy_worker_s_task),
		TEST(f1_until_empty_ends_when_all_is_done),
		TEST(f1_until_empty_survives_a_crash),
		TEST(f5_max_tasks_replaces_workers_without_back_off),
		TEST(f5_max_rss_replaces_a_worker_that_leaks),
		TEST(f1_name_is_unique_among_the_living),
		TEST(f1_bad_options_are_refused),
		TEST(f4_service_manager_is_told),
		TEST(f4_host_may_keep_its_signals),
		TEST(f4_host_may_ignore_its_children),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
