/* SPDX-License-Identifier: MIT */
/* Batches: several of one sort under a transaction, each as if it were made alone (BA-1, BA-2). */
#include <string.h>

#include "client/core/batch.h"
#include "review_help.h"

#define COUNT 20u /* three transactions */
#define FIRST 11u /* that is refused: the fourth of the second one */

struct specs {
	struct tq_task_spec specs[COUNT];
	uint64_t ids[COUNT];
};

static void fill(struct specs *s, const char *queue)
{
	for (uint32_t i = 0; i < COUNT; i++)
		s->specs[i] = (struct tq_task_spec){ .size = sizeof(s->specs[i]),
						     .queue = queue,
						     .kind = "k",
						     .payload = &s->specs[i].priority,
						     .payload_bytes = sizeof(int32_t),
						     .priority = (int32_t)i };
}

static int submit(struct farm_box *box, struct specs *s)
{
	return tq_submit_many(box->tq, s->specs, COUNT, s->ids);
}

/* They start by priority, the last one first, each with what it was handed in with. */
static void assert_starts(struct farm_box *box, const char *queue, const uint64_t *ids, uint32_t n)
{
	struct tq_worker *worker = open_worker(box->tq, queue);
	struct tq_verdict verdicts[COUNT];
	struct tq_claim claims[COUNT];

	for (uint32_t i = 0; i < COUNT; i++) {
		claims[i].size = sizeof(claims[i]);
		verdicts[i] =
			(struct tq_verdict){ .size = sizeof(verdicts[i]), .kind = TQ_VERDICT_DONE };
	}
	assert_int_equal(tq_claim_many(worker, 0, claims, COUNT), n);
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t which = n - 1 - i;

		assert_int_equal(claims[i].id, ids[which]);
		assert_memory_equal(claims[i].payload, &(int32_t){ (int32_t)which }, 4);
		assert_int_equal(state_of(box, ids[which]), TQ_RUNNING);
	}
	assert_int_equal(tq_end_many(worker, claims, verdicts, n, NULL), n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(state_of(box, ids[i]), TQ_DONE);
	tq_worker_close(worker);
}

static uint64_t version(struct farm_box *box)
{
	return tqi_load_relaxed64(&tqi_segment_core(&box->tq->seg)->version);
}

static void several_share_a_transaction(void **state)
{
	struct farm_box *box = *state;
	struct specs s;

	fill(&s, "q");
	assert_int_equal(submit(box, &s), COUNT); /* makes the names, and grows */
	const uint64_t before = version(box);

	assert_int_equal(submit(box, &s), COUNT);
	/* A transaction ends two versions after the one before it. */
	assert_int_equal((version(box) - before) / 2,
			 (COUNT + TQI_BATCH_SHARED - 1) / TQI_BATCH_SHARED);
	assert_sound(box);
}

/* The one that finds no room is undone with those before it, which come in nevertheless. */
static void what_is_refused_takes_none_along(void **state)
{
	const struct tq_queue_opts opts = { .size = sizeof(opts), .depth_max = FIRST };
	struct farm_box *box = *state;
	struct specs s;

	fill(&s, "short");
	assert_int_equal(tq_queue_set(box->tq, "short", &opts), 0);
	assert_int_equal(submit(box, &s), FIRST);
	assert_int_equal(submit(box, &s), TQ_EFULL);
	assert_sound(box);
	assert_starts(box, "short", s.ids, FIRST);
	assert_int_equal(submit(box, &s), FIRST);
	assert_starts(box, "short", s.ids, FIRST);
	assert_sound(box);
}

/* Its own queue lets them through, as it does one alone: that is tried once it has refused. */
static void a_drained_queue_lets_its_own_through(void **state)
{
	struct farm_box *box = *state;
	struct tq_worker *worker = open_worker(box->tq, "drained");
	const uint64_t id = submit_to(box, "drained", 0);
	struct tq_claim claim = claim_now(worker);
	struct specs s;

	assert_int_equal(claim.id, id);
	assert_int_equal(tq_queue_steer(box->tq, "drained", TQ_QUEUE_DRAIN), 0);
	fill(&s, "drained");
	for (uint32_t i = 0; i < FIRST; i++)
		s.specs[i].queue = "other";
	assert_int_equal(submit(box, &s), COUNT);
	assert_int_equal(tq_complete(worker, &claim, NULL, 0), 0);
	assert_int_equal(tq_submit_many(box->tq, s.specs, COUNT, NULL), FIRST);
	assert_sound(box);
	tq_worker_close(worker);
}

/* Those that share a transaction meet each other: the later ones are the first one again. */
static void twins_in_one_transaction(void **state)
{
	struct farm_box *box = *state;
	struct specs s;

	fill(&s, "q");
	for (uint32_t i = 0; i < COUNT; i++)
		s.specs[i].unique_key = i % 2 ? "odd" : "even";
	assert_int_equal(submit(box, &s), COUNT);
	for (uint32_t i = 2; i < COUNT; i++)
		assert_int_equal(s.ids[i], s.ids[i % 2]);
	assert_int_not_equal(s.ids[0], s.ids[1]);
	assert_sound(box);
}

/* A box of so many records, all of them ended tasks'. */
static void fill_up(struct farm_box *box, uint32_t records)
{
	const struct tq_open_opts opts = { .size = sizeof(opts),
					   .flags = TQ_OPEN_CREATE | TQ_OPEN_EXCLUSIVE,
					   .max_bytes = 64u << 20,
					   .tasks_max = records };

	assert_int_equal(tq_destroy(box->name, 0), 0);
	tq_close(box->tq);
	assert_int_equal(tq_open(box->name, &opts, &box->tq), 0);
	for (uint32_t i = 0; i < records; i++)
		assert_int_equal(
			tq_task_steer(box->tq, submit_to(box, "q", 0), TQ_TASK_ACTION_CANCEL), 0);
}

/* Each commits on its way, for the record that it needs: what is committed is not made again. */
static void records_are_freed_on_the_way(void **state)
{
	const struct tq_queue_opts opts = { .size = sizeof(opts), .depth_max = FIRST };
	struct tq_queue_info info = { .size = sizeof(info) };
	struct farm_box *box = *state;
	struct specs s;

	fill_up(box, COUNT + 4);
	fill(&s, "short");
	assert_int_equal(tq_queue_set(box->tq, "short", &opts), 0);
	assert_int_equal(submit(box, &s), FIRST);
	assert_int_equal(tq_queue_info(box->tq, "short", &info), 0);
	assert_int_equal(info.counters.depth[TQ_READY], FIRST);
	assert_starts(box, "short", s.ids, FIRST);
	assert_sound(box);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, farm_box_setup, farm_box_teardown)
	const struct CMUnitTest tests[] = {
		TEST(several_share_a_transaction),	    TEST(what_is_refused_takes_none_along),
		TEST(a_drained_queue_lets_its_own_through), TEST(twins_in_one_transaction),
		TEST(records_are_freed_on_the_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
