/* SPDX-License-Identifier: MIT */
/* D3: a list that leads back into itself is damage to whoever holds the lock, not a loop. */
#include "tests/unit/fixture.h"

#include "scheduler/record/name.h"
#include "scheduler/task/depend.h"
#include "scheduler/worker/command.h"

static void assert_damaged(struct fixture *f)
{
	assert_true(f->tx.corrupt);
	tqi_tx_abort(&f->tx);
}

static void test_d3_dependencies_of_a_task(void **state)
{
	struct tq_dependency after = { 0 };
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	after.id = submit(&f, (struct tq_task_spec){ 0 });
	const uint64_t id = submit(&f, (struct tq_task_spec){ .after = &after, .after_count = 1 });

	begin(&f);
	const struct tqi_extra *extra = tqi_task_extra(&f.tx, task_of(&f, id));

	TQI_SET(&f.tx, tqi_edge_at(&f.tx, extra->after)->next_of_waiter, extra->after);
	tqi_after_record(&f.tx, tqi_id_index(id));
	assert_damaged(&f);
	assert_sound(&f);
	close_fixture(&f);
}

static void test_d3_attempts_of_a_worker(void **state)
{
	struct tqi_claimed claimed;
	struct tqi_suspect suspect;
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	const uint32_t w = add_worker(&f, "default", 0);

	submit(&f, (struct tq_task_spec){ 0 });
	assert_true(claim(&f, w, &claimed) > 0);
	begin(&f);
	TQI_SET(&f.tx, tqi_attempt_at(&f.tx, claimed.attempt)->next, claimed.attempt);
	tqi_worker_suspect(&f.tx, w, &suspect);
	assert_damaged(&f);
	assert_sound(&f);
	close_fixture(&f);
}

static void test_d3_classes_of_a_queue(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	const uint64_t id =
		submit(&f, (struct tq_task_spec){ .delay_ns = SECOND, .kind = "other" });
	const uint32_t w = add_worker(&f, "default", 0);

	begin(&f);
	const struct tqi_task *t = task_of(&f, id);
	const struct tqi_queue *queue = tqi_queue_at(&f.tx, t->queue);

	memset(tqi_worker_at(&f.tx, w)->kinds, 0, sizeof(uint64_t)); /* for this look only */
	TQI_SET(&f.tx, tqi_class_at(&f.tx, queue->chains[0].first)->next, queue->chains[0].first);
	tqi_ready_any(&f.tx, tqi_worker_at(&f.tx, w));
	assert_damaged(&f);
	close_fixture(&f);
}

static void test_d3_chain_of_a_bucket(void **state)
{
	bool full;
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	begin(&f);
	const uint32_t q = tqi_queue_make(&f.tx, "default", &full);
	const struct tqi_hash_index *index = tqi_name_index(&f.tx, TQI_QUEUES);

	TQI_SET(&f.tx, tqi_queue_at(&f.tx, q)->node.next, q);
	assert_int_equal(tqi_hash_next(&f.tx, index, TQI_QUEUES, q), 0);
	assert_damaged(&f);
	close_fixture(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_d3_dependencies_of_a_task),
		cmocka_unit_test(test_d3_attempts_of_a_worker),
		cmocka_unit_test(test_d3_classes_of_a_queue),
		cmocka_unit_test(test_d3_chain_of_a_bucket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
