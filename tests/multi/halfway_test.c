/* SPDX-License-Identifier: MIT */
/*
 * H3: what `show`, `queue show` and `why` read while somebody stands still inside a
 * transaction, stopped and then killed: what was committed before.
 */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "review_help.h"

#include "scheduler/task/steer.h"

typedef int half(struct tqi_tx *tx, uint64_t id);

static uint64_t waits; /* the task that the transaction is about */

/* All that is said of it and of its queue. */
struct said {
	struct tq_task_info task;
	struct tq_queue_info queue;
	struct tq_why why;
};

static struct said ask(struct tq *tq)
{
	struct said said;

	memset(&said, 0, sizeof(said));
	said.task.size = sizeof(said.task);
	said.queue.size = sizeof(said.queue);
	said.why.size = sizeof(said.why);
	assert_int_equal(tq_task_info(tq, waits, &said.task), 0);
	assert_int_equal(tq_queue_info(tq, "default", &said.queue), 0);
	assert_int_equal(tq_task_why(tq, waits, &said.why), 0);
	said.queue.counters.oldest_ready_ns = 0; /* an age */
	return said;
}

static int begin_and_stop(struct farm_box *box, void *arg)
{
	half *const *change = arg;
	struct tqi_tx tx;

	if (tqi_hold_begin(box->tq, &tx) < 0 || (*change)(&tx, waits) < 0 ||
	    tx.core->undo_count == 0)
		return 1;
	raise(SIGSTOP);
	return 2; /* it is killed there */
}

static int hold(struct tqi_tx *tx, uint64_t id)
{
	return tqi_steer_hold(tx, id, true);
}

static int move_up(struct tqi_tx *tx, uint64_t id)
{
	const struct tq_task_update update = { .size = sizeof(update),
					       .fields = TQ_UPDATE_PRIORITY,
					       .priority = 9 };

	return tqi_steer_update(tx, id, &update);
}

static void wait_stopped(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
}

static void stand_still(struct farm_box *box, struct tq *reader, half *change)
{
	waits = submit_to(box, "default", 0);
	const struct said before = ask(reader);
	const pid_t pid = start_child(box, begin_and_stop, &change);

	wait_stopped(pid);
	const struct said stopped = ask(reader);

	kill_child(pid);
	const struct said killed = ask(reader);

	submit_to(box, "another", 0); /* whoever has the lock next rolls back */
	const struct said rescued = ask(reader);

	assert_memory_equal(&stopped, &before, sizeof(before));
	assert_memory_equal(&killed, &before, sizeof(before));
	assert_memory_equal(&rescued, &before, sizeof(before));
	assert_sound(box);
}

static void h3_a_holder_stopped_and_killed(void **state)
{
	static int (*const halves[])(struct tqi_tx * tx, uint64_t id) = { tqi_steer_cancel, hold,
									  move_up };
	const struct tq_open_opts opts = { .size = sizeof(opts), .flags = TQ_OPEN_READONLY };
	struct farm_box *box = *state;
	struct tq *observer;

	assert_int_equal(tq_open(box->name, &opts, &observer), 0);
	for (uint32_t i = 0; i < 2 * sizeof(halves) / sizeof(halves[0]); i++)
		stand_still(box, i % 2 ? observer : box->tq, halves[i / 2]);
	tq_close(observer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(h3_a_holder_stopped_and_killed, farm_box_setup,
						farm_box_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
