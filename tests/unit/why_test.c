/* SPDX-License-Identifier: MIT */
/* What `why` says is before a task, against what claims then do. */
#include "tests/unit/fixture.h"

#include "client/observe/ask.h"
#include "scheduler/limit/limit.h"
#include "scheduler/limit/server.h"
#include "scheduler/order/policy.h"
#include "scheduler/record/serves.h"
#include "tests/crash/handle.h"

#define TASKS 300
#define MANY 15000 /* so that a lane's heap has near and far chunks */
#define ROUNDS 24
#define ASKED 12 /* in a round */
#define WORKERS (TASKS / TQ_CLAIMS_MAX + 1)

static const char *const kinds[] = { "a", "b", "c", "d" };
static const char *const keys[] = { "x", "y", "z" };

static struct tq tq; /* an observer without a lock */

/* A random policy of the queue. */
static void order(struct fixture *f, uint64_t *random)
{
	struct tqi_policy p = { .max_wait_ns = tqt_below(random, 3) ? 0 : SECOND };

	switch (tqt_below(random, 5)) {
	case 0:
		p.edf = 1;
		break;
	case 1:
		p.fair = 1;
		break;
	case 2:
		p.hybrid = 3;
		break;
	default:
		break;
	}
	if (!p.edf && tqt_below(random, 2))
		for (uint32_t b = 0; b < TQ_BANDS; b++)
			p.ageing[b] = 1000 + 500 * b;
	begin(f);
	conclude(f, tqi_policy_set(&f->tx, 1, &p));
}

static void fill(struct fixture *f, uint64_t *random)
{
	for (uint32_t i = 0; i < TASKS; i++) {
		struct tq_task_spec spec = { .kind = kinds[tqt_below(random, 4)],
					     .priority = (int32_t)tqt_below(random, 4000) };

		if (!tqt_below(random, 3))
			spec.fair_key = keys[tqt_below(random, 3)];
		if (!tqt_below(random, 4))
			spec.deadline_ns = (1000 + tqt_below(random, 1000)) * SECOND;
		if (!tqt_below(random, 4))
			spec.limits = &keys[tqt_below(random, 3)];
		spec.limit_count = spec.limits != NULL;
		submit(f, spec);
		f->box.system.now_ns += SECOND / 50;
	}
}

/* Workers of the kinds a, b and c: as many as it takes to start all. */
static void add_workers(struct fixture *f, uint32_t workers[WORKERS])
{
	static const struct tqi_ident owner = { .pid = 7, .tid = 7, .start = 7 };
	const char *queue = "default";
	struct tqi_worker_request request = { .owner = &owner,
					      .name = "",
					      .queues = &queue,
					      .queue_count = 1,
					      .kinds = kinds,
					      .kind_count = 3 };

	for (uint32_t i = 0; i < WORKERS; i++) {
		begin(f);
		assert_int_equal(tqi_worker_register(&f->tx, &request, &workers[i]), 0);
		commit(f);
	}
}

/* Claims until it is its turn; how many others began. */
static uint32_t claims_before(struct fixture *f, const uint32_t workers[WORKERS], uint64_t id)
{
	struct tqi_claimed claimed;

	for (uint32_t n = 0; n < TASKS; n++) {
		assert_int_not_equal(claim(f, workers[n / TQ_CLAIMS_MAX], &claimed), 0);
		if (claimed.id == id)
			return n;
	}
	return TASKS;
}

static struct tqi_ask_before ask_before(struct fixture *f, uint32_t worker, uint64_t id)
{
	const struct tqi_worker *w = tqi_table_peek(&f->box.seg, TQI_WORKERS, worker);
	struct tqi_ask_before ask = { .id = id };

	memcpy(ask.kinds, w->kinds, sizeof(ask.kinds));
	tqi_ask_before(&tq, &ask);
	return ask;
}

static void compare(struct fixture *f, uint64_t *random, const uint32_t workers[WORKERS])
{
	struct tqt_image image;

	tqt_image_take(&image, &f->box.seg);
	for (uint32_t i = 0; i < ASKED; i++) {
		const uint32_t index = 1 + tqt_below(random, TASKS);
		const struct tqi_task *task = tqi_table_peek(&f->box.seg, TQI_TASKS, index);
		const uint64_t id = tqi_id_make(index, task->generation);

		if (!tqi_worker_serves_kind(tqi_table_peek(&f->box.seg, TQI_WORKERS, workers[0]),
					    task->kind))
			continue;
		const struct tqi_ask_before ask = ask_before(f, workers[0], id);

		assert_true(ask.is_all);
		assert_false(ask.is_torn);
		assert_int_equal(ask.count, claims_before(f, workers, id));
		tqt_image_restore(&image, &f->box.seg);
	}
	tqt_image_free(&image);
}

/* As a claim orders tasks of one class. */
static uint32_t count_before(struct fixture *f, const struct tqi_task *task)
{
	uint32_t count = 0;

	for (uint32_t i = 1; i < MANY; i++) {
		const struct tqi_task *t = tqi_table_peek(&f->box.seg, TQI_TASKS, i);

		count += t->key < task->key ||
			 (t->key == task->key && t->sequence < task->sequence);
	}
	return count;
}

static void open_box(struct fixture *f)
{
	open_fixture(f, 2 * TASKS);
	tq.seg = f->box.seg;
	tq.seg.readonly = true;
}

/* Any policy, limits that have room, kinds that nobody serves. */
static void test_h4_before_is_what_is_claimed_before(void **state)
{
	uint64_t random = 11;

	(void)state;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		struct fixture f;
		uint32_t workers[WORKERS];

		open_box(&f);
		add_workers(&f, workers);
		order(&f, &random);
		fill(&f, &random);
		compare(&f, &random, workers);
		assert_sound(&f);
		close_fixture(&f);
	}
}

/* What waits for the same limit is before it, and what it waits for is none of it. */
static void test_h4_before_behind_a_full_limit(void **state)
{
	static const struct tqi_limit_change one = { .size = 1 };
	struct tq_task_spec limited = { .kind = "a", .limits = keys, .limit_count = 1 };
	struct fixture f;
	uint32_t workers[WORKERS];
	struct tqi_claimed claimed;

	(void)state;
	open_box(&f);
	add_workers(&f, workers);
	begin(&f);
	conclude(&f, tqi_limit_set(&f.tx, "x", &one));
	submit(&f, limited);
	claim(&f, workers[0], &claimed);
	submit(&f, limited);
	submit(&f, limited);
	const uint64_t id = submit(&f, limited);

	submit(&f, limited);
	submit(&f, (struct tq_task_spec){ .kind = "b" });
	limited.kind = "b";
	submit(&f, limited);
	assert_int_equal(claim(&f, workers[0], &claimed), tqi_id_make(6, 1)); /* the others park */
	assert_int_equal(ask_before(&f, workers[0], id).count, 2);
	close_fixture(&f);
}

/* A paused queue goes on in its order some time. */
static void test_h4_before_in_a_paused_queue(void **state)
{
	struct fixture f;
	uint32_t workers[WORKERS];

	(void)state;
	open_box(&f);
	add_workers(&f, workers);
	submit(&f, (struct tq_task_spec){ .kind = "a" });
	const uint64_t id = submit(&f, (struct tq_task_spec){ .kind = "a" });

	((struct tqi_queue *)tqi_table_peek(&f.box.seg, TQI_QUEUES, 1))->flags |= TQI_QUEUE_PAUSED;
	assert_int_equal(ask_before(&f, workers[0], id).count, 1);
	close_fixture(&f);
}

/* Nothing of a view reaches the segment. */
static void test_h4_a_view_changes_nothing(void **state)
{
	struct fixture f;
	uint32_t workers[WORKERS];
	uint64_t random = 5;
	struct tqt_image image;

	(void)state;
	open_box(&f);
	add_workers(&f, workers);
	fill(&f, &random);
	tqt_image_take(&image, &f.box.seg);
	ask_before(&f, workers[0], tqi_id_make(TASKS, 1));
	assert_memory_equal(f.box.seg.base, image.bytes, image.size);
	tqt_image_free(&image);
	close_fixture(&f);
}

/* As far as it may look: a heap with far chunks, and more tasks than it counts. */
static void test_h4_before_among_very_many(void **state)
{
	struct tqt_box_options o = { .tasks_max = MANY };
	struct fixture f;
	uint32_t workers[WORKERS];
	uint64_t random = 3;

	(void)state;
	tqt_box_open(&f.box, &o);
	while (tqt_box_grow(&f.box, 8))
		;
	tq.seg = f.box.seg;
	tq.seg.readonly = true;
	add_workers(&f, workers);
	for (uint32_t i = 1; i < MANY; i++)
		submit(&f, (struct tq_task_spec){ .kind = "a",
						  .priority = (int32_t)tqt_below(&random, 4000) });
	for (uint32_t i = 0; i < 3 * ASKED; i++) {
		const uint32_t index = 1 + tqt_below(&random, MANY - 1);
		const struct tqi_task *task = tqi_table_peek(&f.box.seg, TQI_TASKS, index);
		const struct tqi_ask_before ask =
			ask_before(&f, workers[0], tqi_id_make(index, task->generation));
		const uint32_t count = count_before(&f, task);

		assert_int_equal(ask.is_all, count == ask.count);
		assert_true(ask.is_all || (ask.count > TQ_WHY_BEFORE_MAX / 2 && count > ask.count));
	}
	close_fixture(&f);
}

/* Nine tasks alike, workers that serve them, and the task that starts last. */
static uint64_t last_of_nine(struct fixture *f, uint32_t *workers)
{
	uint64_t id = 0;

	open_box(f);
	add_workers(f, workers);
	for (uint32_t i = 0; i < 9; i++)
		id = submit(f, (struct tq_task_spec){ .kind = "a" });
	return id;
}

/* A transaction under way, whose writer may be stopped or dead, has not happened. */
static void test_h4_before_is_of_what_was_committed(void **state)
{
	struct tqi_claimed claimed;
	struct fixture f;
	uint32_t workers[WORKERS];

	(void)state;
	const uint64_t id = last_of_nine(&f, workers);

	begin(&f);
	assert_int_equal(tqi_claim(&f.tx, workers[0], &claimed), 0);
	const struct tqi_ask_before ask = ask_before(&f, workers[0], id);

	assert_int_equal(ask.count, 8);
	assert_true(ask.is_all);
	assert_false(ask.is_torn);
	commit(&f);
	assert_int_equal(ask_before(&f, workers[0], id).count, 7);
	close_fixture(&f);
}

/* Others are quick: whenever a view is begun, another transaction has ended. */
static uint64_t now_and_a_transaction(void *ctx)
{
	const struct fixture *f = ctx;

	struct tqi_word64 *version = &tqi_segment_core(&f->box.seg)->version;

	tqi_store_relaxed64(version, tqi_load_relaxed64(version) + 2);
	return f->box.system.now_ns;
}

/* Then an observer that may take the lock does, once, and another one says what it did. */
static void test_h4_before_in_a_hurry(void **state)
{
	struct tqi_ops ops;
	struct fixture f;
	uint32_t workers[WORKERS];

	(void)state;
	const uint64_t id = last_of_nine(&f, workers);

	ops = *f.box.seg.ops;
	ops.now = now_and_a_transaction;
	ops.ctx = &f;
	tq.seg.ops = &ops;
	assert_true(ask_before(&f, workers[0], id).is_torn);
	assert_int_equal(ask_before(&f, workers[0], id).count, 8);

	struct tq *writer = tqt_handle_new(&f.box.seg, &f.box.system, 7);
	struct tqi_ask_before ask = { .id = id, .kinds = { UINT64_MAX } };

	writer->seg.ops = &ops;
	tqi_ask_before(writer, &ask);
	assert_false(ask.is_torn);
	assert_int_equal(ask.count, 8);
	assert_int_equal(tqi_segment_core(&f.box.seg)->lock.__data.__lock, 0);
	tqt_handle_free(writer);
	close_fixture(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_h4_before_is_what_is_claimed_before),
		cmocka_unit_test(test_h4_before_behind_a_full_limit),
		cmocka_unit_test(test_h4_before_in_a_paused_queue),
		cmocka_unit_test(test_h4_a_view_changes_nothing),
		cmocka_unit_test(test_h4_before_among_very_many),
		cmocka_unit_test(test_h4_before_is_of_what_was_committed),
		cmocka_unit_test(test_h4_before_in_a_hurry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
