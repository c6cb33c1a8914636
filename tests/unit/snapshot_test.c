/* SPDX-License-Identifier: MIT */
/* H3: what an observer copied while a writer was inside, and for how long that holds. */
#include "tests/unit/fixture.h"

#include "client/observe/snapshot.h"
#include "scheduler/record/task_record.h"
#include "shm/pool.h"

/* A task that is done, and a transaction under way that frees it. */
static uint64_t begin_freeing(struct one_worker *s)
{
	uint64_t id = submit(&s->f, (struct tq_task_spec){ .label = "its own" });
	struct tqi_claimed c;

	assert_int_equal(claim(&s->f, s->worker, &c), id);
	assert_int_equal(end(&s->f, s->worker, &c, DONE), 0);
	begin(&s->f);
	assert_int_equal(tqi_steer_forget(&s->f.tx, id), 0);
	return id;
}

/*
 * The task is there until the commit, as it was; then its blocks are others'.  Its stamp
 * is that of the transaction from before the commit on, so it does not tell.
 */
static void test_h3_copy_from_before_a_commit(void **state)
{
	struct one_worker s;
	struct tqi_task copy;
	char label[8] = "";

	(void)state;
	open_one_worker(&s);
	uint64_t id = begin_freeing(&s);
	const struct tqi_segment *seg = &s.f.box.seg;

	assert_int_equal(tqi_peek_task(seg, id, &copy), 0);
	assert_int_equal(copy.state, TQ_DONE);
	assert_int_equal(
		tqi_peek_block(seg, copy.payload, copy.payload_bytes, label, copy.label_bytes), 0);
	assert_string_equal(label, "its own");
	assert_true(tqi_task_unchanged(seg, tqi_id_index(id), &copy));
	commit(&s.f);
	assert_false(tqi_task_unchanged(seg, tqi_id_index(id), &copy));
	assert_int_equal(tqi_peek_task(seg, id, &copy), TQ_EGONE);
	assert_sound(&s.f);
	close_fixture(&s.f);
}

/* What another transaction did to others says nothing of a task. */
static void test_h3_copy_of_an_untouched_one(void **state)
{
	struct one_worker s;
	struct tqi_task copy;

	(void)state;
	open_one_worker(&s);
	uint64_t other = submit(&s.f, (struct tq_task_spec){ .delay_ns = SECOND });

	begin_freeing(&s);
	assert_int_equal(tqi_peek_task(&s.f.box.seg, other, &copy), 0);
	commit(&s.f);
	assert_true(tqi_task_unchanged(&s.f.box.seg, tqi_id_index(other), &copy));
	assert_sound(&s.f);
	close_fixture(&s.f);
}

/*
 * What frees a block writes into it before the commit.  Whoever reads the task by then,
 * its writer stopped or dead there, gets its payload as it was.
 */
static void block_that_is_being_freed(void **state)
{
	static const char payload[] = "nobody else's";
	struct one_worker s;
	struct tqi_task copy;
	char buf[sizeof(payload)] = "";

	(void)state;
	open_one_worker(&s);
	uint64_t id = submit(&s.f, (struct tq_task_spec){ .payload = payload,
							  .payload_bytes = sizeof(payload) });
	const struct tqi_segment *seg = &s.f.box.seg;

	begin(&s.f);
	struct tqi_task *t = tqi_task_at(&s.f.tx, tqi_id_index(id));

	tqi_task_touch(&s.f.tx, t);
	tqi_block_free(&s.f.tx, t->payload);
	assert_memory_not_equal(tqi_unit(&s.f.tx, t->payload), payload, sizeof(payload));
	assert_int_equal(tqi_peek_task(seg, id, &copy), 0);
	assert_int_equal(tqi_peek_owned(seg, &copy, copy.payload, 0, buf, sizeof(buf)), 0);
	assert_memory_equal(buf, payload, sizeof(payload));
	assert_true(tqi_task_unchanged(seg, tqi_id_index(id), &copy));
	tqi_tx_abort(&s.f.tx);
	assert_sound(&s.f);
	close_fixture(&s.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_h3_copy_from_before_a_commit),
		cmocka_unit_test(test_h3_copy_of_an_untouched_one),
		{ "fault.D0: a block that is being freed is read as it was",
		  block_that_is_being_freed, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
