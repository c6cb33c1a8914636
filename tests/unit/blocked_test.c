/* SPDX-License-Identifier: MIT */
/* A2, B2: tasks that wait for something else than time, and settings that come later. */
#include "tests/unit/fixture.h"

#include "scheduler/graph/blocked.h"

static uint64_t submit_blocked(struct fixture *f, uint32_t unmet, struct tq_task_spec spec)
{
	struct tqi_submit s = { .spec = &spec, .unmet = unmet };
	uint64_t id;

	spec.queue = "default";
	spec.kind = "exec";
	begin(f);
	assert_int_equal(tqi_submit(&f->tx, &s, &id), 0);
	commit(f);
	return id;
}

static void unblock(struct fixture *f, uint64_t id)
{
	begin(f);
	tqi_task_unblock(&f->tx, tqi_id_index(id));
	commit(f);
}

static void block(struct fixture *f, uint64_t id)
{
	begin(f);
	assert_int_equal(tqi_task_extra_make(&f->tx, task_of(f, id)), 0);
	tqi_task_block(&f->tx, tqi_id_index(id));
	commit(f);
}

/* It begins to age when nothing blocks it any more. */
static void test_starts_with_the_last_gate(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t id = submit_blocked(&s.f, 2, (struct tq_task_spec){ 0 });

	assert_int_equal(task_of(&s.f, id)->state, TQ_BLOCKED);
	assert_int_equal(claim(&s.f, s.worker, &s.c), 0);
	unblock(&s.f, id);
	assert_int_equal(task_of(&s.f, id)->state, TQ_BLOCKED);
	s.f.box.system.now_ns += SECOND;
	unblock(&s.f, id);
	assert_int_equal(task_of(&s.f, id)->ready_ns, s.f.box.system.now_ns);
	assert_sound(&s.f);
	assert_int_equal(claim(&s.f, s.worker, &s.c), id);
	close_fixture(&s.f);
}

/* The delay runs meanwhile; what is left of it is waited for then. */
static void test_delay_counts_from_submission(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	const struct tq_task_spec delayed = { .delay_ns = 10 * SECOND };
	uint64_t early = submit_blocked(&s.f, 1, delayed), late = submit_blocked(&s.f, 1, delayed);

	s.f.box.system.now_ns += 4 * SECOND;
	unblock(&s.f, early);
	assert_int_equal(task_of(&s.f, early)->state, TQ_DELAYED);
	s.f.box.system.now_ns += 6 * SECOND;
	unblock(&s.f, late);
	assert_int_equal(task_of(&s.f, late)->state, TQ_READY);
	close_fixture(&s.f);
}

/* A waiting task is blocked anew: by the first thing only, and payload and label stay. */
static void test_settings_come_later(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t id = submit(&s.f, (struct tq_task_spec){ .payload = "payload",
							  .payload_bytes = 7,
							  .label = "label" });

	assert_false(task_of(&s.f, id)->flags & TQI_TASK_EXTRA);
	block(&s.f, id);
	block(&s.f, id);
	assert_int_equal(task_of(&s.f, id)->state, TQ_BLOCKED);
	begin(&s.f);
	assert_int_equal(tqi_root(&s.f.tx)->ready, 0);
	commit(&s.f);
	unblock(&s.f, id);
	unblock(&s.f, id);
	assert_sound(&s.f);
	assert_int_equal(claim(&s.f, s.worker, &s.c), id);
	const struct tqi_task *t = task_of(&s.f, id);

	assert_memory_equal(s.f.box.seg.base + ((uint64_t)t->payload << TQI_UNIT_SHIFT),
			    "payloadlabel", 12);
	close_fixture(&s.f);
}

/* Held ones stay held, cancelled and expired ones wait for nothing. */
static void test_ends_while_blocked(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t held = submit_blocked(&s.f, 1, (struct tq_task_spec){ .flags = TQ_TASK_HOLD });
	uint64_t gone = submit_blocked(&s.f, 1, (struct tq_task_spec){ 0 });
	uint64_t late = submit_blocked(&s.f, 1, (struct tq_task_spec){ .deadline_ns = SECOND });

	begin(&s.f);
	assert_int_equal(tqi_steer_cancel(&s.f.tx, gone), 0);
	commit(&s.f);
	unblock(&s.f, held);
	assert_int_equal(claim(&s.f, s.worker, &s.c), 0);
	s.f.box.system.now_ns += SECOND;
	begin(&s.f);
	tqi_due_run(&s.f.tx, 8);
	commit(&s.f);
	assert_int_equal(task_of(&s.f, late)->state, TQ_EXPIRED);
	assert_sound(&s.f);
	close_fixture(&s.f);
}

/* RC-7: the successor of a key needs both, its turn and its gates. */
static void test_successor_with_a_gate(void **state)
{
	const struct tq_task_spec keyed = { .unique_key = "key",
					    .unique_scope = TQ_UNIQUE_COALESCE };
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t first = submit(&s.f, keyed), next;

	assert_int_equal(claim(&s.f, s.worker, &s.c), first);
	next = submit_blocked(&s.f, 1, keyed);
	end(&s.f, s.worker, &s.c, DONE);
	assert_int_equal(task_of(&s.f, next)->state, TQ_BLOCKED);
	unblock(&s.f, next);
	assert_sound(&s.f);
	assert_int_equal(claim(&s.f, s.worker, &s.c), next);
	first = next;
	next = submit_blocked(&s.f, 1, keyed);
	unblock(&s.f, next);
	assert_int_equal(task_of(&s.f, next)->state, TQ_BLOCKED);
	assert_sound(&s.f);
	end(&s.f, s.worker, &s.c, DONE);
	assert_int_equal(claim(&s.f, s.worker, &s.c), next);
	close_fixture(&s.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_starts_with_the_last_gate),
		cmocka_unit_test(test_delay_counts_from_submission),
		cmocka_unit_test(test_settings_come_later),
		cmocka_unit_test(test_ends_while_blocked),
		cmocka_unit_test(test_successor_with_a_gate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
