/* SPDX-License-Identifier: MIT */
/* Several verdicts in one call: each as if it were made alone, up to the first that cannot be. */
#include <errno.h>
#include <string.h>

#include "review_help.h"

#define TASKS 8
#define LARGE_BYTES (100u << 10) /* does not fit what is copied under the lock */
#define BATCH 150u		 /* three holds */

struct batch {
	struct tq_worker *worker;
	struct tq_claim claims[TASKS];
	struct tq_verdict verdicts[TASKS];
	uint64_t ids[TASKS];
	int results[TASKS];
};

/* All claimed, and all to be done without a result. */
static void begin(struct farm_box *box, struct batch *b)
{
	b->worker = open_worker(box->tq, "q");
	for (int i = 0; i < TASKS; i++) {
		b->ids[i] = submit_to(box, "q", 0);
		b->claims[i] = claim_now(b->worker);
		b->verdicts[i] = (struct tq_verdict){ .size = sizeof(b->verdicts[i]),
						      .kind = TQ_VERDICT_DONE };
		b->results[i] = 1;
	}
}

static int end(struct batch *b, uint32_t from, uint32_t count)
{
	return tq_end_many(b->worker, b->claims + from, b->verdicts + from, count,
			   b->results + from);
}

static void each_verdict_is_made_as_if_alone(void **state)
{
	static const char large[LARGE_BYTES] = "large";
	struct farm_box *box = *state;
	struct batch b;

	begin(box, &b);
	b.verdicts[1].kind = TQ_VERDICT_FATAL;
	b.verdicts[1].text = "why";
	b.verdicts[2].result = "small";
	b.verdicts[2].result_bytes = 5;
	b.verdicts[3].result = large;
	b.verdicts[3].result_bytes = LARGE_BYTES;
	b.verdicts[4].kind = TQ_VERDICT_RELEASE;
	b.claims[5].epoch++; /* of an attempt that is not its own */
	assert_int_equal(end(&b, 0, TASKS), TASKS);
	for (int i = 0; i < TASKS; i++)
		assert_int_equal(b.results[i], i == 5 ? TQ_ELEASE : 0);
	assert_int_equal(state_of(box, b.ids[0]), TQ_DONE);
	assert_int_equal(state_of(box, b.ids[1]), TQ_FAILED);
	assert_string_equal(result_of(box, b.ids[2]), "small");
	assert_int_equal(wait_final(box, b.ids[3]).result_bytes, LARGE_BYTES);
	assert_int_equal(state_of(box, b.ids[4]), TQ_READY);
	assert_int_equal(state_of(box, b.ids[5]), TQ_RUNNING);
	assert_int_equal(state_of(box, b.ids[7]), TQ_DONE);
	tq_worker_close(b.worker);
	assert_sound(box);
}

static void what_cannot_be_made_ends_the_call(void **state)
{
	struct farm_box *box = *state;
	struct batch b;

	begin(box, &b);
	b.verdicts[3].kind = TQ_VERDICT_RELEASE + 1;
	b.verdicts[6].size--;
	assert_int_equal(end(&b, 0, TASKS), 3);
	assert_int_equal(end(&b, 3, TASKS - 3), -EINVAL);
	assert_int_equal(end(&b, 4, TASKS - 4), 2);
	assert_int_equal(end(&b, 6, 1), -EINVAL);
	for (int i = 0; i < TASKS; i++)
		assert_int_equal(b.results[i], i < 3 || i == 4 || i == 5 ? 0 : 1);
	assert_int_equal(state_of(box, b.ids[3]), TQ_RUNNING);
	assert_int_equal(state_of(box, b.ids[7]), TQ_RUNNING);
	assert_int_equal(tq_end_many(b.worker, NULL, NULL, 0, NULL), 0);
	assert_int_equal(tq_end_many(b.worker, NULL, b.verdicts, 1, NULL), -EINVAL);
	tq_worker_close(b.worker);
	assert_sound(box);
}

/* More than one hold makes; what has no claim any more is refused in each. */
static void more_than_a_hold(void **state)
{
	struct farm_box *box = *state;
	struct tq_worker *worker = open_worker(box->tq, "q");
	uint64_t id = submit_to(box, "q", 0);
	struct tq_verdict verdicts[BATCH];
	struct tq_claim claims[BATCH];
	int results[BATCH];

	claims[0] = claim_now(worker);
	for (uint32_t i = 0; i < BATCH; i++) {
		claims[i] = claims[0];
		verdicts[i] =
			(struct tq_verdict){ .size = sizeof(verdicts[i]), .kind = TQ_VERDICT_DONE };
	}
	assert_int_equal(tq_end_many(worker, claims, verdicts, BATCH, results), BATCH);
	assert_int_equal(results[0], 0);
	for (uint32_t i = 1; i < BATCH; i++)
		assert_int_equal(results[i], TQ_ELEASE);
	assert_int_equal(state_of(box, id), TQ_DONE);
	tq_worker_close(worker);
	assert_sound(box);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, farm_box_setup, farm_box_teardown)
	const struct CMUnitTest tests[] = {
		TEST(each_verdict_is_made_as_if_alone),
		TEST(what_cannot_be_made_ends_the_call),
		TEST(more_than_a_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
