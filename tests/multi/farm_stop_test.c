/* SPDX-License-Identifier: MIT */
/* Attempts that are stopped: time-out, cancel, lost lease. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "farm_box.h"

/* A tree all of which ignores SIGTERM; the leader counts the ones it gets. */
static const char *const stubborn =
	"trap 'echo term >>terms' TERM\n"
	"(trap '' TERM; exec sleep 1000) & echo $! >child; echo $$ >leader\n"
	"while :; do sleep 0.01; done\n";

static uint32_t count_terms(struct farm_box *box)
{
	char path[128], text[256];

	snprintf(path, sizeof(path), "%s/terms", box->dir);
	FILE *file = fopen(path, "r");
	size_t n = file ? fread(text, 1, sizeof(text), file) : 0;

	if (file)
		fclose(file);
	return (uint32_t)(n / strlen("term\n"));
}

static void e4_timeout_terms_once_then_kills_the_tree(void **state)
{
	struct farm_box *box = *state;
	const struct tq_task_spec spec = { .timeout_ns = 300 * MS };

	box->opts.grace_ns = 500 * MS;
	farm_start(box);
	uint64_t id = submit_script(box, stubborn, &spec);
	long leader = wait_number(box, "leader");
	struct tq_task_info info = wait_final(box, id);

	assert_int_equal(info.state, TQ_FAILED);
	assert_cause(&info, "timeout");
	assert_true(info.ended_ns - info.started_ns >= 800 * MS);
	assert_false(process_is_there(leader));
	assert_false(process_is_there(wait_number(box, "child")));
	assert_int_equal(count_terms(box), 1);
	assert_int_equal(farm_stop(box), 0);
}

static void e4_timed_out_command_that_obeys_ends_at_once(void **state)
{
	struct farm_box *box = *state;
	const struct tq_task_spec spec = { .timeout_ns = 100 * MS,
					   .attempts_max = 2,
					   .backoff_ns = 1 };

	box->opts.grace_ns = 60 * S;
	farm_start(box);
	uint64_t id = submit_script(box, "sleep 1000", &spec);
	struct tq_task_info info = wait_final(box, id);

	assert_int_equal(info.state, TQ_FAILED);
	assert_cause(&info, "timeout");
	assert_int_equal(info.failures, 2); /* a time-out counts as a failure */
	assert_int_equal(info.attempt, 2);
	assert_int_equal(farm_stop(box), 0);
}

static void e7_cancel_of_a_running_command(void **state)
{
	struct farm_box *box = *state;

	box->opts.grace_ns = 200 * MS;
	farm_start(box);
	uint64_t id = submit_script(box, stubborn, NULL);
	long leader = wait_number(box, "leader");

	assert_int_equal(tq_task_steer(box->tq, id, TQ_TASK_ACTION_CANCEL), 1);
	struct tq_task_info info = wait_final(box, id);

	assert_int_equal(info.state, TQ_CANCELLED);
	assert_cause(&info, "cancelled");
	assert_false(process_is_there(leader));
	assert_false(process_is_there(wait_number(box, "child")));
	assert_int_equal(count_terms(box), 1);
	assert_int_equal(farm_stop(box), 0);
}

/* Cancelled again and again just as they start: none is stuck, none runs on. */
static void e7_cancel_at_the_start(void **state)
{
	struct farm_box *box = *state;

	box->opts.workers = 2;
	box->opts.grace_ns = 60 * S;
	farm_start(box);
	for (int i = 0; i < 60; i++) {
		uint64_t id = submit_script(box, "exec sleep 1000", NULL);

		if (i % 2)
			wait_running(box, id);
		assert_true(tq_task_steer(box->tq, id, TQ_TASK_ACTION_CANCEL) >= 0);
		assert_int_equal(wait_final(box, id).state, TQ_CANCELLED);
	}
	assert_int_equal(farm_stop(box), 0);
}

static int hang(struct tq_run *run, void *arg)
{
	(void)arg;
	while (run)
		pause();
	return TQ_RUN_DONE;
}

static int obey(struct tq_run *run, void *arg)
{
	int r;

	(void)arg;
	do
		r = tq_claim_wait_stop(tq_run_worker(run), tq_run_claim(run), 60 * S);
	while (r < 0);
	tq_run_error(run, r == TQ_CAUSE_TIMEOUT ? "saw the time-out" : "saw something else");
	return TQ_RUN_FAIL;
}

static void stopping_handlers(struct tq *tq)
{
	if (tq_handler_set(tq, "hang", hang, NULL) < 0 ||
	    tq_handler_set(tq, "obey", obey, NULL) < 0)
		_exit(FARM_FAILED);
}

static void e4_handler_that_hangs_is_killed_with_its_process(void **state)
{
	struct farm_box *box = *state;
	const struct tq_task_spec spec = { .timeout_ns = 100 * MS };

	box->opts.grace_ns = 200 * MS;
	box->handlers = stopping_handlers;
	farm_start(box);
	uint64_t id = submit_kind(box, "hang", &spec);
	pid_t worker = (pid_t)wait_running(box, id).worker_pid;
	struct tq_task_info info = wait_final(box, id);

	assert_int_equal(info.state, TQ_FAILED);
	assert_cause(&info, "timeout");
	assert_int_equal(info.crashes, 0);
	assert_true(info.ended_ns - info.started_ns >= 300 * MS);
	assert_false(process_is_there(worker));
	/* Sacrificed: replaced without back-off. */
	uint64_t before_ns = now_ns();

	info = wait_final(box, submit_script(box, "true", NULL));
	assert_int_equal(info.state, TQ_DONE);
	assert_true(now_ns() - before_ns < 5 * S);
	assert_int_equal(farm_stop(box), 0);
}

static void e7_handler_sees_that_it_is_to_stop(void **state)
{
	struct farm_box *box = *state;
	const struct tq_task_spec spec = { .timeout_ns = 100 * MS };

	box->opts.grace_ns = 60 * S;
	box->handlers = stopping_handlers;
	farm_start(box);
	wait_workers(box, 1);
	pid_t worker = any_worker(box);
	struct tq_task_info info = wait_final(box, submit_kind(box, "obey", &spec));

	assert_int_equal(info.state, TQ_FAILED);
	assert_cause(&info, "timeout");
	assert_string_equal(info.error_text, "saw the time-out");
	assert_int_equal(any_worker(box), worker);
	assert_int_equal(farm_stop(box), 0);
}

static void e4_stopped_worker_loses_its_lease_and_its_life(void **state)
{
	struct farm_box *box = *state;

	box->opts.lease_ns = 300 * MS;
	box->opts.grace_ns = 300 * MS;
	farm_start(box);
	uint64_t id = submit_script(box,
				    "[ $TASKQ_ATTEMPT = 1 ] || exit 0\n"
				    "trap 'echo term >>terms' TERM\n"
				    "echo $$ >leader; while :; do sleep 0.01; done",
				    NULL);
	long leader = wait_number(box, "leader");
	pid_t worker = (pid_t)wait_running(box, id).worker_pid;

	kill(worker, SIGSTOP);
	struct tq_task_info info = wait_final(box, id);

	assert_int_equal(info.state, TQ_DONE);
	assert_int_equal(info.attempt, 2);
	assert_int_equal(info.losses, 1);
	assert_int_equal(info.crashes, 0);
	assert_false(process_is_there(worker));
	assert_false(process_is_there(leader));
	assert_int_equal(count_terms(box), 1);
	assert_int_equal(farm_stop(box), 0);
}

static int work_long(struct tq_run *run, void *arg)
{
	struct timespec left = { .tv_sec = 1 };

	(void)run;
	(void)arg;
	while (nanosleep(&left, &left) < 0)
		;
	return TQ_RUN_DONE;
}

static void long_handler(struct tq *tq)
{
	if (tq_handler_set(tq, "long", work_long, NULL) < 0)
		_exit(FARM_FAILED);
}

/* E2: a task much longer than the lease keeps it, also after the worker was idle. */
static void e2_heartbeat_keeps_the_lease(void **state)
{
	struct farm_box *box = *state;

	box->opts.lease_ns = 150 * MS;
	box->handlers = long_handler;
	farm_start(box);
	for (int i = 0; i < 2; i++) {
		struct tq_task_info info = wait_final(box, submit_kind(box, "long", NULL));

		assert_int_equal(info.state, TQ_DONE);
		assert_int_equal(info.attempt, 1);
		assert_int_equal(info.losses, 0);
		for (uint64_t until = now_ns() + 300 * MS; now_ns() < until;)
			pause_ms(); /* the heartbeat falls asleep */
	}
	assert_int_equal(farm_stop(box), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, farm_box_setup, farm_box_teardown)
	const struct CMUnitTest tests[] = {
		TEST(e4_timeout_terms_once_then_kills_the_tree),
		TEST(e4_timed_out_command_that_obeys_ends_at_once),
		TEST(e7_cancel_of_a_running_command),
		TEST(e7_cancel_at_the_start),
		TEST(e4_handler_that_hangs_is_killed_with_its_process),
		TEST(e7_handler_sees_that_it_is_to_stop),
		TEST(e4_stopped_worker_loses_its_lease_and_its_life),
		TEST(e2_heartbeat_keeps_the_lease),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
