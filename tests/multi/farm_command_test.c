/* SPDX-License-Identifier: MIT */
/* Commands as a farm runs them: environment, output, exit codes, and what they leave behind. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "farm_box.h"

static void f1_command_sees_its_task(void **state)
{
	struct farm_box *box = *state;
	const char *argv[] = { "sh", "-c",
			       "echo $TASKQ_ID $TASKQ_ATTEMPT $TASKQ_QUEUE $EXTRA; pwd; "
			       "cat; echo err >&2",
			       NULL };
	const char *env[] = { "EXTRA=more", "TASKQ_QUEUE=mine", NULL };
	const struct tq_exec exec = {
		.size = sizeof(exec), .argv = argv, .env = env, .cwd = box->dir
	};
	char expected[256], id_text[TQ_ID_TEXT_MAX];

	farm_start(box);
	uint64_t id = submit_argv(box, &exec, NULL);
	struct tq_task_info info = wait_final(box, id);

	assert_int_equal(info.state, TQ_DONE);
	assert_cause(&info, "exit:0");
	snprintf(expected, sizeof(expected), "%s 1 mine more\n%s\nerr\n",
		 tq_task_id_format(id, id_text), box->dir);
	assert_string_equal(result_of(box, id), expected);
	assert_int_equal(info.output_bytes, strlen(expected));
	assert_true(info.max_rss_bytes > 0);
	assert_true(info.cpu_ns > 0);
	assert_int_equal(farm_stop(box), 0);
}

static void a2_exit_codes_and_signals(void **state)
{
	struct farm_box *box = *state;

	farm_start(box);
	uint64_t failing = submit_script(box, "exit 3", NULL);
	uint64_t killed = submit_script(box, "kill -KILL $$", NULL);
	struct tq_task_info info = wait_final(box, failing);

	assert_int_equal(info.state, TQ_FAILED);
	assert_cause(&info, "exit:3");
	info = wait_final(box, killed);
	assert_int_equal(info.state, TQ_FAILED);
	assert_cause(&info, "signal:KILL");
	assert_int_equal(farm_stop(box), 0);
}

static void f1_command_not_found_and_not_executable(void **state)
{
	struct farm_box *box = *state;
	const char *absent[] = { "no-such-command", NULL }, *data[] = { "/etc/passwd", NULL };
	const char *path[] = { "PATH=/nowhere", NULL }, *shell[] = { "sh", "-c", "true", NULL };
	struct tq_exec exec = { .size = sizeof(exec), .argv = absent };

	farm_start(box);
	struct tq_task_info info = wait_final(box, submit_argv(box, &exec, NULL));

	assert_cause(&info, "exit:127");
	assert_non_null(strstr(info.error_text, "no-such-command: No such file"));
	exec.argv = data;
	info = wait_final(box, submit_argv(box, &exec, NULL));
	assert_cause(&info, "exit:126");
	assert_non_null(strstr(info.error_text, "/etc/passwd: Permission denied"));
	exec.argv = shell;
	exec.env = path; /* the task's PATH counts */
	info = wait_final(box, submit_argv(box, &exec, NULL));
	assert_cause(&info, "exit:127");
	wait_workers(box, 1);
	assert_int_equal(farm_stop(box), 0);
}

static void f1_bad_directory_or_output_fails_the_task_only(void **state)
{
	struct farm_box *box = *state;
	const char *argv[] = { "true", NULL };
	struct tq_exec exec = { .size = sizeof(exec), .argv = argv, .cwd = "/no/such/directory" };

	farm_start(box);
	wait_workers(box, 1);
	pid_t worker = any_worker(box);
	struct tq_task_info info = wait_final(box, submit_argv(box, &exec, NULL));

	assert_int_equal(info.state, TQ_FAILED);
	assert_int_equal(info.cause, TQ_CAUSE_ERROR);
	assert_non_null(strstr(info.error_text, "/no/such/directory: No such file"));
	exec.cwd = NULL;
	exec.output_path = "/no/such/directory/out";
	info = wait_final(box, submit_argv(box, &exec, NULL));
	assert_int_equal(info.state, TQ_FAILED);
	assert_non_null(strstr(info.error_text, "cannot write to /no/such/directory/out"));
	assert_int_equal(any_worker(box), worker);
	assert_int_equal(farm_stop(box), 0);
}

static void f1_output_file_is_truncated_and_written(void **state)
{
	struct farm_box *box = *state;
	const char *argv[] = { "sh", "-c", "echo 1234567", NULL };
	const struct tq_exec exec = {
		.size = sizeof(exec), .argv = argv, .cwd = box->dir, .output_path = "out"
	};

	farm_start(box);
	wait_final(box, submit_argv(box, &exec, NULL));
	struct tq_task_info info = wait_final(box, submit_argv(box, &exec, NULL));

	assert_int_equal(info.state, TQ_DONE);
	assert_int_equal(info.result_bytes, 0);
	assert_int_equal(wait_number(box, "out"), 1234567);
	assert_int_equal(farm_stop(box), 0);
}

static void f1_tail_of_a_long_output_is_kept(void **state)
{
	struct farm_box *box = *state;
	char tail[4096 + 1];

	box->opts.output_tail_bytes = 1000;
	farm_start(box);
	uint64_t id = submit_script(box, "seq 100000; printf '%s' the-end", NULL);
	struct tq_task_info info = wait_final(box, id);
	uint64_t bytes;

	assert_int_equal(info.state, TQ_DONE);
	assert_int_equal(info.output_bytes, 588895 + 7);
	assert_int_equal(info.result_bytes, 1000);
	assert_true(info.flags & TQ_INFO_CUT);
	assert_int_equal(tq_task_result(box->tq, id, tail, sizeof(tail) - 1, &bytes), 0);
	assert_int_equal(bytes, 1000);
	tail[bytes] = '\0';
	assert_string_equal(tail + 1000 - 21, "\n99999\n100000\nthe-end");
	assert_int_equal(farm_stop(box), 0);
}

static void f1_output_is_followed_while_it_runs(void **state)
{
	struct farm_box *box = *state;
	char text[64], path[128];
	uint64_t offset;
	uint32_t attempt;

	farm_start(box);
	uint64_t id = submit_script(box, "echo first; until [ -e go ]; do sleep 0.01; done; echo 2",
				    NULL);
	int n = tq_output_read(box->tq, id, 0, text, sizeof(text), PATIENCE_NS, &offset, &attempt);

	assert_int_equal(n, 6);
	assert_memory_equal(text, "first\n", 6);
	snprintf(path, sizeof(path), "%s/go", box->dir);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	n = tq_output_read(box->tq, id, 6, text, sizeof(text), PATIENCE_NS, &offset, &attempt);
	assert_int_equal(n, 2);
	assert_int_equal(offset, 6);
	wait_final(box, id);
	assert_int_equal(farm_stop(box), 0);
}

static void f1_nothing_of_the_group_survives(void **state)
{
	struct farm_box *box = *state;

	farm_start(box);
	uint64_t id =
		submit_script(box, "trap '' TERM HUP; sleep 1000 & echo $! >child; exit 0", NULL);
	struct tq_task_info info = wait_final(box, id);

	assert_int_equal(info.state, TQ_DONE);
	assert_false(process_is_there(wait_number(box, "child")));
	assert_int_equal(farm_stop(box), 0);
}

/* A descendant that may live on is not waited for, though it keeps the pipe open. */
static void f1_stranger_with_the_pipe_delays_nothing(void **state)
{
	struct farm_box *box = *state;

	farm_start(box);
	uint64_t id = submit_leaving(box, "setsid sh -c 'echo $$ >stranger; exec sleep 1000' & "
					  "until [ -s stranger ]; do sleep 0.01; done; echo done");
	struct tq_task_info info = wait_final(box, id);
	long stranger = wait_number(box, "stranger");

	assert_int_equal(info.state, TQ_DONE);
	assert_string_equal(result_of(box, id), "done\n");
	assert_true(process_is_there(stranger));
	kill((pid_t)stranger, SIGKILL);
	assert_int_equal(farm_stop(box), 0);
}

static void f1_signals_are_on_default(void **state)
{
	struct farm_box *box = *state;

	farm_start(box);
	uint64_t id = submit_script(box, "grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status", NULL);

	wait_final(box, id);
	const char *text = result_of(box, id);

	assert_non_null(strstr(text, "SigBlk:\t0000000000000000"));
	assert_non_null(strstr(text, "SigIgn:\t0000000000000000"));
	assert_int_equal(farm_stop(box), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, farm_box_setup, farm_box_teardown)
	const struct CMUnitTest tests[] = {
		TEST(f1_command_sees_its_task),
		TEST(a2_exit_codes_and_signals),
		TEST(f1_command_not_found_and_not_executable),
		TEST(f1_bad_directory_or_output_fails_the_task_only),
		TEST(f1_output_file_is_truncated_and_written),
		TEST(f1_tail_of_a_long_output_is_kept),
		TEST(f1_output_is_followed_while_it_runs),
		TEST(f1_nothing_of_the_group_survives),
		TEST(f1_stranger_with_the_pipe_delays_nothing),
		TEST(f1_signals_are_on_default),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
