/* SPDX-License-Identifier: MIT */
/* Decisions over many tasks whose maker is gone: shown as decided, carried out by the next. */
#include <errno.h>
#include <string.h>

#include "review_help.h"
#include "scheduler/order/queue.h"
#include "scheduler/task/sweep.h"

#define TASKS 600 /* many slices of the sweep */

static uint64_t submit_many(struct farm_box *box)
{
	const struct tq_task_spec spec = { .size = sizeof(spec), .queue = "q", .kind = "k" };
	uint64_t first = 0, id;

	for (int i = 0; i < TASKS; i++) {
		assert_int_equal(tq_submit(box->tq, &spec, &id), 0);
		first = first ? first : id;
	}
	return first;
}

static struct tq_queue_info queue_info(struct farm_box *box)
{
	struct tq_queue_info info = { .size = sizeof(info) };

	assert_int_equal(tq_queue_info(box->tq, "q", &info), 0);
	return info;
}

static int count_in(struct farm_box *box, uint32_t states)
{
	const struct tq_task_filter filter = { .size = sizeof(filter), .states = states };
	static struct tq_task_info infos[TASKS];
	uint64_t cursor = 0;

	for (int i = 0; i < TASKS; i++)
		infos[i].size = sizeof(infos[i]);
	return tq_task_list(box->tq, &filter, &cursor, infos, TASKS);
}

static int count_scanned(struct farm_box *box, uint32_t state)
{
	static struct tq_task_brief briefs[TASKS + 8];
	uint64_t cursor = 0, left;
	int found = 0;

	for (int i = 0; i < TASKS + 8; i++)
		briefs[i].size = sizeof(briefs[i]);
	int n = tq_task_scan(box->tq, 0, &cursor, &left, briefs, TASKS + 8);

	for (int i = 0; i < n; i++)
		found += briefs[i].state == state;
	return found;
}

/* As a caller that is killed with its decision committed. */
static void decide_to_purge(struct farm_box *box)
{
	struct tqi_tx tx;

	assert_int_equal(tqi_hold_begin(box->tq, &tx), 0);
	assert_int_equal(tqi_queue_purge(&tx, tqi_queue_find(&tx, "q")), TASKS);
	assert_int_equal(tqi_hold_end(box->tq, &tx, 0), 0);
}

static bool is_swept(struct farm_box *box)
{
	return !((const struct tqi_root *)tqi_segment_root(&box->tq->seg))->sweep.left;
}

static void a_decided_purge_is_shown_as_decided(void **state)
{
	struct farm_box *box = *state;
	struct tq_task_info info = { .size = sizeof(info) };
	const uint64_t first = submit_many(box);

	decide_to_purge(box);
	assert_false(is_swept(box));
	assert_int_equal(tq_task_info(box->tq, first, &info), 0);
	assert_int_equal(info.state, TQ_CANCELLED);
	assert_string_equal(cause_of(&info), "cancelled");
	assert_true(info.ended_ns >= info.submitted_ns);
	assert_int_equal(count_in(box, 1u << TQ_READY), 0);
	assert_int_equal(count_in(box, 1u << TQ_CANCELLED), TASKS);
	assert_int_equal(count_scanned(box, TQ_CANCELLED), TASKS);
	const struct tq_queue_info queue = queue_info(box);

	assert_int_equal(queue.counters.depth[TQ_READY], 0);
	assert_int_equal(queue.counters.depth[TQ_CANCELLED], TASKS);
	assert_int_equal(queue.counters.cancelled, TASKS);
	assert_true(queue.flags & TQ_QUEUE_PURGING);
	submit_to(box, "q", 0);
	assert_int_equal(queue_info(box).counters.depth[TQ_READY], 1);
	assert_int_equal(count_in(box, 1u << TQ_READY), 1);
}

static void the_next_purge_carries_it_out(void **state)
{
	struct farm_box *box = *state;

	submit_many(box);
	decide_to_purge(box);
	assert_in_range(tq_queue_steer(box->tq, "q", TQ_QUEUE_PURGE), TASKS - 16, TASKS);
	assert_true(is_swept(box));
	assert_int_equal(tq_queue_steer(box->tq, "q", TQ_QUEUE_PURGE), 0);
	assert_int_equal(queue_info(box).counters.cancelled, TASKS);
	assert_sound(box);
}

static void whoever_comes_carries_it_on(void **state)
{
	struct farm_box *box = *state;

	submit_many(box);
	decide_to_purge(box);
	for (int i = 0; i < TASKS && !is_swept(box); i++)
		submit_to(box, "other", 0);
	assert_true(is_swept(box));
	assert_sound(box);
}

/* As a setter that is killed with its change committed. */
static void decide_on_edf(struct farm_box *box)
{
	const struct tqi_queue_settings edf = { .policy = { .edf = 1 } };
	struct tqi_tx tx;

	assert_int_equal(tqi_hold_begin(box->tq, &tx), 0);
	assert_int_equal(tqi_queue_set(&tx, tqi_queue_find(&tx, "q"), &edf), 0);
	assert_int_equal(tqi_hold_end(box->tq, &tx, 0), 0);
}

static void the_next_change_of_an_order_finishes_the_one_before(void **state)
{
	struct farm_box *box = *state;
	const struct tq_queue_opts fifo = { .size = sizeof(fifo), .edf = TQ_OFF };

	submit_many(box);
	decide_on_edf(box);
	assert_true(queue_info(box).flags & TQ_QUEUE_REORDERING);
	assert_int_equal(tq_queue_set(box->tq, "q", &fifo), 0);
	const struct tq_queue_info queue = queue_info(box);

	assert_false(queue.flags & TQ_QUEUE_REORDERING);
	assert_int_equal(queue.edf, 0);
	assert_sound(box);
}

static void any_hold_goes_on_with_it(void **state)
{
	struct farm_box *box = *state;
	struct tq_worker *worker = open_worker(box->tq, "elsewhere");
	struct tq_claim claim = { .size = sizeof(claim) };

	submit_many(box);
	decide_on_edf(box);
	for (int i = 0; i < TASKS && queue_info(box).flags & TQ_QUEUE_REORDERING; i++)
		assert_int_equal(tq_claim(worker, 0, &claim), -ETIMEDOUT);
	assert_false(queue_info(box).flags & TQ_QUEUE_REORDERING);
	tq_worker_close(worker);
	assert_sound(box);
}

#define TEST(name, f)                                                                              \
	{                                                                                          \
		name, f, farm_box_setup, farm_box_teardown, NULL                                   \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("fault.S7: a decided purge is shown as decided",
		     a_decided_purge_is_shown_as_decided),
		TEST("fault.S7: the next purge carries it out", the_next_purge_carries_it_out),
		TEST("fault.S7: whoever comes carries it on", whoever_comes_carries_it_on),
		TEST("fault.S8: the next change of an order finishes the one before",
		     the_next_change_of_an_order_finishes_the_one_before),
		TEST("fault.S8: any hold goes on with it", any_hold_goes_on_with_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
