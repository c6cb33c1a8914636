/* SPDX-License-Identifier: MIT */
/* G3: commands between real processes: order, deaths, sleepers; a host's own in a farm. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "review_help.h"

#define MANY_CHILDREN 20 /* more than are woken in one hold */

static struct tq_worker *open_commanded(struct tq *tq)
{
	static const char *const queues[] = { "q" };
	const struct tq_worker_opts opts = { .size = sizeof(opts),
					     .queues = queues,
					     .queue_count = 1,
					     .flags = TQ_WORKER_COMMANDS };
	struct tq_worker *worker;

	assert_int_equal(tq_worker_open(tq, &opts, &worker), 0);
	return worker;
}

static uint64_t send(struct farm_box *box, uint32_t to, const char *name, int count)
{
	const struct tq_command_spec spec = {
		.size = sizeof(spec), .name = name, .queue = "q", .to = to
	};
	uint64_t id;

	assert_int_equal(tq_command_send(box->tq, &spec, &id), count);
	return id;
}

static struct tq_command_info answers_of(struct farm_box *box, uint64_t id)
{
	struct tq_command_info info = { .size = sizeof(info) };

	assert_int_equal(tq_command_wait(box->tq, id, PATIENCE_NS, &info), 0);
	assert_true(info.ended_ns >= info.sent_ns);
	return info;
}

static void wait_taken(struct farm_box *box, uint64_t id, uint32_t count)
{
	struct tq_command_info info = { .size = sizeof(info) };
	uint64_t until = now_ns() + PATIENCE_NS;

	do {
		assert_int_equal(tq_command_wait(box->tq, id, 0, &info), -ETIMEDOUT);
		assert_true(now_ns() < until);
		pause_ms();
	} while (info.answers[TQ_ANSWER_TAKEN] != count);
}

/* Takes commands until it is told to "end"; tells "hang" that it has been taken. */
static int obey(struct farm_box *box, void *arg)
{
	struct tq_worker *worker = open_commanded(box->tq);
	struct tq_claim claim = { .size = sizeof(claim) };
	struct tq_command command = { .size = sizeof(command) };

	(void)arg;
	for (;;) {
		int r = tq_claim(worker, TQ_FOREVER_NS, &claim);

		if (r == TQ_ECOMMAND)
			r = tq_command_take(worker, &command);
		if (r < 0)
			return 1;
		if (strcmp(command.name, "hang") == 0)
			pause(); /* until it is killed */
		if (tq_command_ack(worker, command.id, TQ_ANSWER_DONE, command.name) < 0)
			return 2;
		if (strcmp(command.name, "end") == 0)
			break;
	}
	tq_worker_close(worker);
	return 0;
}

static void g3_commands_come_before_tasks_and_in_order(void **state)
{
	struct farm_box *box = *state;
	struct tq_worker *worker = open_commanded(box->tq);
	struct tq_claim claim = { .size = sizeof(claim) };
	struct tq_command command = { .size = sizeof(command) };
	char name[16];

	assert_int_equal(tq_command_take(worker, &command), -EAGAIN);
	submit_to(box, "q", 0);
	for (int i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "c%d", i);
		send(box, i % 2 ? TQ_COMMAND_TO_ANY : TQ_COMMAND_TO_ALL, name, 1);
	}
	for (int i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "c%d", i);
		assert_int_equal(tq_claim(worker, TQ_FOREVER_NS, &claim), TQ_ECOMMAND);
		assert_int_equal(tq_command_take(worker, &command), 0);
		assert_string_equal(command.name, name);
		assert_int_equal(tq_command_ack(worker, command.id, TQ_ANSWER_DONE, NULL), 0);
		assert_int_equal(tq_command_ack(worker, command.id, TQ_ANSWER_DONE, NULL),
				 TQ_ESTATE);
	}
	assert_int_equal(tq_claim(worker, 0, &claim), 0);
	send(box, TQ_COMMAND_TO_ANY, "between", 1);
	const struct tq_verdict done = { .size = sizeof(done), .kind = TQ_VERDICT_DONE };
	int verdict = 1;
	uint64_t id = claim.id;

	/* The verdict stands. */
	assert_int_equal(tq_next(worker, &claim, &done, TQ_FOREVER_NS, &claim, &verdict),
			 TQ_ECOMMAND);
	assert_int_equal(verdict, 0);
	assert_int_equal(state_of(box, id), TQ_DONE);
	tq_worker_close(worker);
	assert_sound(box);
}

/* Many that sleep all get it, though one hold wakes only some of them. */
static void g3_all_that_sleep_get_it(void **state)
{
	struct farm_box *box = *state;
	pid_t pids[MANY_CHILDREN];

	for (int i = 0; i < MANY_CHILDREN; i++)
		pids[i] = start_child(box, obey, NULL);
	wait_asleep(box, TQI_INTEREST_WORK, MANY_CHILDREN);
	uint64_t id = send(box, TQ_COMMAND_TO_ALL, "end", MANY_CHILDREN);

	assert_int_equal(answers_of(box, id).answers[TQ_ANSWER_DONE], MANY_CHILDREN);
	for (int i = 0; i < MANY_CHILDREN; i++)
		assert_int_equal(join_child(pids[i], PATIENCE_NS), 0);
	assert_sound(box);
}

/* Nobody else is there to see it: only who waits for the answer. */
static void g3_killed_worker_is_gone(void **state)
{
	struct farm_box *box = *state;
	struct tq_command_answer answer = { .size = sizeof(answer) };
	pid_t pid = start_child(box, obey, NULL);
	uint64_t cursor = 0;

	wait_asleep(box, TQI_INTEREST_WORK, 1);
	uint64_t id = send(box, TQ_COMMAND_TO_ALL, "hang", 1);
	uint64_t next = send(box, TQ_COMMAND_TO_ALL, "never", 1);

	wait_taken(box, id, 1);
	kill_child(pid);
	assert_int_equal(answers_of(box, id).answers[TQ_ANSWER_GONE], 1);
	assert_int_equal(answers_of(box, next).answers[TQ_ANSWER_GONE], 1);
	assert_int_equal(tq_command_answers(box->tq, id, &cursor, &answer, 1), 1);
	assert_int_equal(answer.pid, pid);
	assert_int_equal(answer.takes, 1);
	assert_sound(box);
}

/* What anybody was to do is done by another one. */
static void g3_any_is_done_by_another(void **state)
{
	struct farm_box *box = *state;
	pid_t pid = start_child(box, obey, NULL);

	wait_asleep(box, TQI_INTEREST_WORK, 1);
	uint64_t id = send(box, TQ_COMMAND_TO_ANY, "hang", 1);

	wait_taken(box, id, 1);
	struct tq_worker *worker = open_commanded(box->tq);
	struct tq_claim claim = { .size = sizeof(claim) };
	struct tq_command command = { .size = sizeof(command) };

	assert_int_equal(tq_claim(worker, 0, &claim), -ETIMEDOUT);
	kill_child(pid);
	assert_int_equal(tq_claim(worker, PATIENCE_NS, &claim), TQ_ECOMMAND);
	assert_int_equal(tq_command_take(worker, &command), 0);
	assert_int_equal(command.id, id);
	assert_int_equal(tq_command_ack(worker, id, TQ_ANSWER_DONE, NULL), 0);
	assert_int_equal(answers_of(box, id).answers[TQ_ANSWER_DONE], 1);
	tq_worker_close(worker);
	assert_sound(box);
}

/* A host's own commands, in the workers of a farm. */
static int answer(void *arg, const struct tq_command *command, char *text, uint64_t room)
{
	if (strcmp(command->name, "greet") != 0)
		return -ENOSYS;
	snprintf(text, room, "%s, %.*s", (const char *)arg, (int)command->argument_bytes,
		 (const char *)command->argument);
	return 0;
}

static int refuse_to_reload(void *arg)
{
	(void)arg;
	return -EPERM;
}

static void g3_host_answers_its_own(void **state)
{
	static char hello[] = "hello";
	struct farm_box *box = *state;
	struct tq_command_answer a = { .size = sizeof(a) };
	struct tq_command_spec spec = { .size = sizeof(spec),
					.name = "greet",
					.argument = "world",
					.argument_bytes = 5,
					.to = TQ_COMMAND_TO_ALL };
	uint64_t id, cursor = 0;

	box->opts.workers = 1;
	box->opts.command = answer;
	box->opts.command_arg = hello;
	box->opts.reload = refuse_to_reload;
	farm_start(box);
	wait_workers(box, 1);
	assert_int_equal(tq_command_send(box->tq, &spec, &id), 1);
	assert_int_equal(answers_of(box, id).answers[TQ_ANSWER_DONE], 1);
	assert_int_equal(tq_command_answers(box->tq, id, &cursor, &a, 1), 1);
	assert_string_equal(a.text, "hello, world");
	spec.name = "other";
	assert_int_equal(tq_command_send(box->tq, &spec, &id), 1);
	assert_int_equal(answers_of(box, id).answers[TQ_ANSWER_REFUSED], 1);
	spec.name = "reload";
	spec.to = TQ_COMMAND_TO_FARMS;
	assert_int_equal(tq_command_send(box->tq, &spec, &id), 1);
	assert_int_equal(answers_of(box, id).answers[TQ_ANSWER_REFUSED], 1);
	assert_int_equal(farm_stop(box), 0);
}

/* In a child of a process that opened it, a worker's calls are refused. */
static int try_in_child(struct farm_box *box, void *arg)
{
	struct tq_command command = { .size = sizeof(command) };

	(void)box;
	return tq_command_take(arg, &command) != -ECHILD ||
	       tq_command_ack(arg, 1, TQ_ANSWER_DONE, NULL) != -ECHILD;
}

static void g3_fork(void **state)
{
	struct farm_box *box = *state;
	struct tq_worker *worker = open_commanded(box->tq);

	assert_int_equal(join_child(start_child(box, try_in_child, worker), PATIENCE_NS), 0);
	tq_worker_close(worker);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, farm_box_setup, farm_box_teardown)
	const struct CMUnitTest tests[] = {
		TEST(g3_commands_come_before_tasks_and_in_order),
		TEST(g3_all_that_sleep_get_it),
		TEST(g3_killed_worker_is_gone),
		TEST(g3_any_is_done_by_another),
		TEST(g3_host_answers_its_own),
		TEST(g3_fork),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
