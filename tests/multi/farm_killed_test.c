/* SPDX-License-Identifier: MIT */
/*
 * A farm's worker killed, or told to end, before and after every system call of its
 * life, from its fork to its end: the farm ends with all tasks done, and nothing of the
 * worker is left.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "farm_tracer.h"

#define TASKS 2
#define FARMS 8 /* at once: they sleep most of the time, for the back-off of workers */

struct farms {
	struct farm_box *boxes[FARMS];
	struct farm_trace like; /* box and stop are filled in */
	bool commands;
	uint64_t ids[FARMS][TASKS];
};

static int answer(struct tq_run *run, void *arg)
{
	const struct tq_claim *claim = tq_run_claim(run);
	struct tq_worker *worker = tq_run_worker(run);

	(void)arg;
	if (tq_claim_progress(worker, claim, 50, "half") < 0 ||
	    tq_claim_checkpoint(worker, claim, "half", 4) < 0)
		return TQ_RUN_FAIL;
	return tq_run_result(run, "42", 2);
}

static void set_handlers(struct tq *tq)
{
	if (tq_handler_set(tq, "answer", answer, NULL) < 0)
		_Exit(FARM_FAILED);
}

static void print_finding(void *arg, const char *text)
{
	(void)arg;
	print_message("check: %s\n", text);
}

/* No record of a worker, dying or not. */
static void assert_nothing_left(struct farm_box *box)
{
	struct tq_worker_info infos[8] = { { .size = sizeof(infos[0]) } };
	uint64_t cursor = 0;

	assert_int_equal(tq_worker_list(box->tq, &cursor, infos, 8), 0);
	assert_int_equal(tq_check(box->tq, TQ_CHECK_EXACT, print_finding, NULL), 0);
}

static void assert_done(struct farm_box *box, uint64_t id)
{
	struct tq_task_info info = { .size = sizeof(info) };

	assert_int_equal(tq_task_info(box->tq, id, &info), 0);
	assert_int_equal(info.state, TQ_DONE);
	assert_true(info.attempt <= 2);
	assert_memory_equal(result_of(box, id), "42", 2);
}

static void submit_all(struct farms *farms, unsigned f)
{
	for (int i = 0; i < TASKS; i++)
		farms->ids[f][i] = farms->commands && i == 0
					   ? submit_script(farms->boxes[f], "echo 42", NULL)
					   : submit_kind(farms->boxes[f], "answer", NULL);
}

static void assert_ended_well(struct farms *farms, unsigned f, const struct farm_trace *trace)
{
	const bool good = trace->code == 0 && trace->pid != 0;

	if (getenv("FARM_LOG") || !good)
		print_message("stop %u of %u: the farm's code is %d\n", trace->stop, trace->stops,
			      trace->code);
	assert_true(good);
	for (int i = 0; i < TASKS; i++)
		assert_done(farms->boxes[f], farms->ids[f][i]);
	assert_nothing_left(farms->boxes[f]);
}

/* From this stop on; false: the worker's life was over before the last of them. */
static bool run_batch(struct farms *farms, unsigned stop)
{
	struct farm_trace traces[FARMS];

	for (unsigned f = 0; f < FARMS; f++) {
		traces[f] = farms->like;
		traces[f].box = farms->boxes[f];
		traces[f].stop = stop + f;
		submit_all(farms, f);
	}
	farms_run_traced(traces, FARMS);
	for (unsigned f = 0; f < FARMS; f++)
		assert_ended_well(farms, f, &traces[f]);
	return traces[FARMS - 1].stops >= traces[FARMS - 1].stop;
}

static void signal_everywhere(struct farms *farms, const struct tq_farm_opts *opts)
{
	unsigned stop = 1;

	for (unsigned f = 0; f < FARMS; f++) {
		const struct tq_farm_opts before = farms->boxes[f]->opts;

		farms->boxes[f]->opts = *opts;
		farms->boxes[f]->opts.size = before.size;
		farms->boxes[f]->opts.lease_ns = before.lease_ns;
		farms->boxes[f]->opts.grace_ns = before.grace_ns;
		farms->boxes[f]->handlers = set_handlers;
	}
	while (run_batch(farms, stop))
		stop += FARMS;
	print_message("about %u stops\n", stop);
}

static void e3_killed_everywhere(void **state)
{
	struct farms *farms = *state;
	const struct tq_farm_opts opts = { .workers = 1,
					   .flags = TQ_FARM_UNTIL_EMPTY | TQ_FARM_NO_EXEC };

	farms->like.signal = SIGKILL;
	signal_everywhere(farms, &opts);
}

static void e3_killed_everywhere_with_a_command(void **state)
{
	struct farms *farms = *state;
	const struct tq_farm_opts opts = { .workers = 1, .flags = TQ_FARM_UNTIL_EMPTY };

	farms->like.signal = SIGKILL;
	farms->commands = true;
	signal_everywhere(farms, &opts);
}

static void e3_second_worker_killed_everywhere(void **state)
{
	struct farms *farms = *state;
	const struct tq_farm_opts opts = { .workers = 2,
					   .flags = TQ_FARM_UNTIL_EMPTY | TQ_FARM_NO_EXEC };

	farms->like.signal = SIGKILL;
	farms->like.worker = 1;
	signal_everywhere(farms, &opts);
}

/* Each worker is worn out by one task, and no SIGCHLD tells of its end. */
static void e3_killed_everywhere_without_sigchld(void **state)
{
	struct farms *farms = *state;
	const struct tq_farm_opts opts = {
		.workers = 1,
		.max_tasks = 1,
		.flags = TQ_FARM_UNTIL_EMPTY | TQ_FARM_NO_EXEC | TQ_FARM_KEEP_SIGNALS,
	};

	farms->like.signal = SIGKILL;
	signal_everywhere(farms, &opts);
}

static void f4_told_to_end_everywhere(void **state)
{
	struct farms *farms = *state;
	const struct tq_farm_opts opts = { .workers = 1, .flags = TQ_FARM_UNTIL_EMPTY };

	farms->like.signal = SIGTERM;
	farms->commands = true;
	signal_everywhere(farms, &opts);
}

static int setup(void **state)
{
	struct farms *farms = calloc(1, sizeof(*farms));

	assert_non_null(farms);
	for (unsigned f = 0; f < FARMS; f++) {
		void *box;

		farm_box_setup(&box);
		farms->boxes[f] = box;
	}
	*state = farms;
	return 0;
}

static int teardown(void **state)
{
	struct farms *farms = *state;
	int r = 0;

	for (unsigned f = 0; f < FARMS; f++) {
		void *box = farms->boxes[f];

		r |= farm_box_teardown(&box);
	}
	free(farms);
	return r;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(e3_killed_everywhere),
		TEST(e3_killed_everywhere_with_a_command),
		TEST(e3_second_worker_killed_everywhere),
		TEST(e3_killed_everywhere_without_sigchld),
		TEST(f4_told_to_end_everywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
