/* SPDX-License-Identifier: MIT */
/* S4: the file of a segment is removed under those who are attached to it. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "review_help.h"

#define SLEEPERS 5

static void remove_file(struct farm_box *box)
{
	char path[TQI_PATH_MAX];

	assert_int_equal(tqi_segment_path(box->name, path), 0);
	assert_int_equal(unlink(path), 0);
}

/* The next look of this process is due at once, as after a while without any. */
static void let_look(struct tq *tq)
{
	tqi_store_relaxed64(&tq->removal_look_ns, 0);
}

static struct tq_task_spec held(void)
{
	return (struct tq_task_spec){ .size = sizeof(struct tq_task_spec),
				      .kind = "k",
				      .flags = TQ_TASK_HOLD };
}

static int wait_for_it(struct farm_box *box, void *arg)
{
	return tq_wait(box->tq, (const uint64_t *)arg, 1, TQ_FOREVER_NS, NULL, NULL) == TQ_EREMOVED
		       ? 0
		       : 1;
}

static void start_sleepers(struct farm_box *box, uint64_t *id, pid_t pids[SLEEPERS])
{
	const struct tq_task_spec spec = held();

	assert_int_equal(tq_submit(box->tq, &spec, id), 0);
	for (int i = 0; i < SLEEPERS; i++)
		pids[i] = start_child(box, wait_for_it, id);
	wait_asleep(box, TQI_INTEREST_TASKS, SLEEPERS);
}

static void join_sleepers(pid_t pids[SLEEPERS])
{
	for (int i = 0; i < SLEEPERS; i++)
		assert_int_equal(join_child(pids[i], PROMPT_NS), 0);
}

static void a_submit_notices_and_tells_all_who_sleep(void **state)
{
	struct farm_box *box = *state;
	const struct tq_task_spec spec = held();
	struct tq_task_info info = { .size = sizeof(info) };
	pid_t pids[SLEEPERS];
	uint64_t id;

	start_sleepers(box, &id, pids);
	remove_file(box);
	let_look(box->tq);
	assert_int_equal(tq_submit(box->tq, &spec, &id), TQ_EREMOVED);
	join_sleepers(pids);
	assert_int_equal(tq_task_steer(box->tq, id, TQ_TASK_ACTION_CANCEL), TQ_EREMOVED);
	assert_int_equal(tq_wait(box->tq, &id, 1, 0, NULL, &info), TQ_EREMOVED);
}

static void a_batch_and_a_sleep_notice(void **state)
{
	struct farm_box *box = *state;
	const struct tq_task_spec specs[2] = { held(), held() };
	uint64_t ids[2];

	remove_file(box);
	let_look(box->tq);
	assert_int_equal(tq_submit_many(box->tq, specs, 2, ids), TQ_EREMOVED);
	struct tq_worker *worker;

	assert_int_equal(tq_worker_open(box->tq, NULL, &worker), TQ_EREMOVED);
}

static void an_idle_claim_notices_before_it_sleeps(void **state)
{
	struct farm_box *box = *state;
	struct tq_worker *worker = open_worker(box->tq, "q");
	struct tq_claim claim = { .size = sizeof(claim) };

	remove_file(box);
	let_look(box->tq);
	assert_int_equal(tq_claim(worker, TQ_FOREVER_NS, &claim), TQ_EREMOVED);
	tq_worker_close(worker);
	assert_int_equal(tqi_segment_core(&box->tq->seg)->tables[TQI_WORKERS].live, 0);
}

/* RM-1: whoever marked it was killed before it had woken anybody. */
static void a_mark_that_nobody_was_told_of_is_told_by_the_next(void **state)
{
	struct farm_box *box = *state;
	pid_t pids[SLEEPERS];
	uint64_t id;

	start_sleepers(box, &id, pids);
	remove_file(box);
	tqi_store_release32(&tqi_segment_header(&box->tq->seg)->destroyed, TQI_LOST_REMOVED);
	assert_int_equal(tq_wait(box->tq, &id, 1, TQ_FOREVER_NS, NULL, NULL), TQ_EREMOVED);
	join_sleepers(pids);
}

static int work_in_it(struct farm_box *box, void *arg)
{
	struct tqi_word32 *up = arg;
	struct tq_worker *worker = open_worker(box->tq, "q");
	struct tq_claim claim = { .size = sizeof(claim) };

	tqi_store_release32(up, 1);
	int r = tq_claim(worker, TQ_FOREVER_NS, &claim);

	tq_worker_close(worker);
	return r == TQ_EREMOVED ? 0 : 1;
}

/* A worker of a process of its own, asleep. */
static pid_t start_worker(struct farm_box *box)
{
	struct tqi_word32 *up = share(sizeof(*up));
	pid_t pid = start_child(box, work_in_it, up);

	wait_set(up);
	wait_asleep(box, TQI_INTEREST_WORK, 1);
	give_up(up, sizeof(*up));
	return pid;
}

static int open_anew(const struct farm_box *box, uint64_t lock_timeout_ns)
{
	const struct tq_open_opts opts = { .size = sizeof(opts),
					   .flags = TQ_OPEN_CREATE,
					   .max_bytes = 4u << 20,
					   .lock_timeout_ns = lock_timeout_ns };
	struct tq *tq;
	int r = tq_open(box->name, &opts, &tq);

	if (r == 0)
		tq_close(tq);
	return r;
}

/* RM-3: idle workers without a master learn of it from whoever makes the next one. */
static void a_successor_ends_the_workers_that_are_left(void **state)
{
	struct farm_box *box = *state;
	pid_t pid = start_worker(box);

	remove_file(box);
	assert_int_equal(open_anew(box, 0), 0);
	assert_int_equal(join_child(pid, PROMPT_NS), 0);
}

static void no_successor_while_a_worker_is_stopped(void **state)
{
	struct farm_box *box = *state;
	pid_t pid = start_worker(box);

	stop_child(pid);
	remove_file(box);
	assert_int_equal(open_anew(box, 20 * MS), TQ_EREMOVED);
	assert_int_equal(open_anew(box, 20 * MS), TQ_EREMOVED);
	kill(pid, SIGCONT);
	assert_int_equal(join_child(pid, PROMPT_NS), 0);
	assert_int_equal(open_anew(box, 20 * MS), 0);
}

/* A proof of death is enough. */
static void the_dead_hold_nobody_back(void **state)
{
	struct farm_box *box = *state;
	pid_t pid = start_worker(box);

	kill_child(pid);
	remove_file(box);
	assert_int_equal(open_anew(box, 20 * MS), 0); /* our own handle has the file open */
	assert_int_equal(tq_task_steer(box->tq, 1, TQ_TASK_ACTION_CANCEL), TQ_EREMOVED);
}

#define TEST(name, f)                                                                              \
	{                                                                                          \
		name, f, farm_box_setup, farm_box_teardown, NULL                                   \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("fault.S4: a submit notices and tells all who sleep",
		     a_submit_notices_and_tells_all_who_sleep),
		TEST("fault.S4: a batch and a sleep notice", a_batch_and_a_sleep_notice),
		TEST("fault.S4: an idle claim notices before it sleeps",
		     an_idle_claim_notices_before_it_sleeps),
		TEST("fault.S4: a mark that nobody was told of is told by the next",
		     a_mark_that_nobody_was_told_of_is_told_by_the_next),
		TEST("fault.S4: a successor ends the workers that are left",
		     a_successor_ends_the_workers_that_are_left),
		TEST("fault.S4: no successor while a worker is stopped",
		     no_successor_while_a_worker_is_stopped),
		TEST("fault.S4: the dead hold nobody back", the_dead_hold_nobody_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
