/* SPDX-License-Identifier: MIT */
/* scheduler/graph/cycle.c: waits, and dependencies, that would close a cycle (E9, D3). */
#include "scheduler/graph/cycle.h"

#include "scheduler/graph/after.h"
#include "scheduler/graph/behalf.h"
#include "scheduler/graph/group.h"
#include "scheduler/task/depend.h"
#include "scheduler/task/group_make.h"
#include "scheduler/wake/called.h"
#include "tests/unit/fixture.h"

#define TASKS 140 /* more than one search looks at */
#define FINAL (1u << TQ_DONE | 1u << TQ_FAILED | 1u << TQ_CANCELLED | 1u << TQ_EXPIRED)

/* Tasks that run, each in an attempt of its own; `ready` does not. */
struct scene {
	struct fixture f;
	uint32_t task[TASKS], attempt[TASKS], ready;
};

static void open_scene(struct scene *s)
{
	struct tqi_claimed c;
	uint32_t worker = 0;

	open_fixture(&s->f, 500);
	for (int i = 0; i < TASKS; i++) {
		submit(&s->f, (struct tq_task_spec){ .priority = 0 });
		if (i % 32 == 0)
			worker = add_worker(&s->f, "default", 0);
		assert_int_not_equal(claim(&s->f, worker, &c), 0);
		s->task[i] = tqi_id_index(c.id);
		s->attempt[i] = c.attempt;
	}
	s->ready = tqi_id_index(submit(&s->f, (struct tq_task_spec){ .priority = 0 }));
}

/* A slot on behalf of task `who`, for `count` others; 0 and gone when it is refused. */
static uint32_t wait_for(struct scene *s, int who, const uint32_t *tasks, uint32_t count,
			 uint32_t how)
{
	static const struct tqi_ident self = { .pid = 7, .tid = 7, .start = 7 };
	bool full;

	begin(&s->f);
	uint32_t w =
		tqi_sleep_enter(&s->f.tx, &self, TQI_INTEREST_TASKS, how | TQI_WAIT_ADDING, &full);

	tqi_behalf_enter(&s->f.tx, w, who < 0 ? 0 : s->attempt[who]);
	for (uint32_t i = 0; i < count; i++)
		assert_true(tqi_edge_add(&s->f.tx, w, tasks[i]));
	tqi_cycle_ready(&s->f.tx, w);
	return conclude(&s->f, tqi_cycle_closes(&s->f.tx, w) ? TQ_ECYCLE : 0) < 0 ? 0 : w;
}

/* Likewise for the last end in a group, or for the next one. */
static uint32_t wait_for_group(struct scene *s, int who, uint64_t group, uint32_t told)
{
	static const struct tqi_ident self = { .pid = 7, .tid = 7, .start = 7 };
	bool full;

	begin(&s->f);
	uint32_t w =
		tqi_sleep_enter(&s->f.tx, &self, TQI_INTEREST_GROUP, tqi_id_index(group), &full);

	tqi_behalf_enter(&s->f.tx, w, s->attempt[who]);
	tqi_called_seen(&s->f.tx, w, told);
	return conclude(&s->f, tqi_cycle_closes(&s->f.tx, w) ? TQ_ECYCLE : 0) < 0 ? 0 : w;
}

/* An open group, its completion task *ret_completion; nothing of it gets a worker. */
static uint64_t make_group(struct scene *s, uint64_t *ret_completion)
{
	const struct tq_task_spec after = { .queue = "idle", .kind = "exec" };
	struct tqi_submit completion = { .spec = &after };
	const struct tqi_group_request request = { .completion = &completion };
	uint64_t id;

	begin(&s->f);
	assert_int_equal(tqi_group_make(&s->f.tx, &request, &id, ret_completion), 0);
	commit(&s->f);
	return id;
}

/* A task of a group (0 none) after another one (0 none): its id; 0 refused, nothing changed. */
static uint64_t submit_after(struct scene *s, uint64_t group, uint64_t on)
{
	const struct tq_dependency after = { .id = on, .kind = TQ_AFTER_ANY };
	const struct tq_task_spec spec = {
		.queue = "idle", .group = group, .after = &after, .after_count = on ? 1 : 0
	};
	uint64_t id = 0;
	int r = try_submit(&s->f, spec, &id);

	assert_true(r == 0 || r == TQ_ECYCLE);
	return r < 0 ? 0 : id;
}

static int add_after(struct scene *s, uint64_t id, uint64_t on)
{
	begin(&s->f);
	return conclude(&s->f, tqi_after_add(&s->f.tx, id, on, TQ_AFTER_ANY));
}

static void seal_group(struct scene *s, uint64_t group)
{
	begin(&s->f);
	assert_int_equal(tqi_group_seal(&s->f.tx, group), 0);
	commit(&s->f);
}

/* A member that runs, in the attempt `who`. */
static void run_member(struct scene *s, int who, uint64_t group)
{
	struct tqi_claimed c;
	uint64_t id = submit(&s->f, (struct tq_task_spec){ .queue = "other", .group = group });

	assert_int_equal(claim(&s->f, add_worker(&s->f, "other", 0), &c), id);
	s->task[who] = tqi_id_index(c.id);
	s->attempt[who] = c.attempt;
}

static uint32_t wait_for_one(struct scene *s, int who, int whom)
{
	return wait_for(s, who, &s->task[whom], 1, FINAL);
}

static void close_scene(struct scene *s)
{
	assert_sound(&s->f);
	close_fixture(&s->f);
}

static void test_e9_for_itself_and_for_each_other(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s);
	assert_false(wait_for_one(&s, 0, 0));
	assert_true(wait_for_one(&s, -1, 0)); /* a client may */
	assert_true(wait_for_one(&s, 0, 1));
	assert_false(wait_for_one(&s, 1, 0));
	assert_true(wait_for_one(&s, 1, 2));
	assert_false(wait_for_one(&s, 2, 0));
	assert_true(wait_for(&s, 2, &s.ready, 1, FINAL)); /* it may get a worker yet */
	close_scene(&s);
}

/* A ring of many; one so large that the search ends before it is through is not refused. */
static void test_e9_a_ring_within_bounds(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s);
	for (int i = 0; i < 100; i++)
		assert_true(wait_for_one(&s, i, i + 1));
	assert_false(wait_for_one(&s, 100, 0));
	for (int i = 100; i < TASKS - 1; i++)
		assert_true(wait_for_one(&s, i, i + 1));
	assert_true(wait_for_one(&s, TASKS - 1, 0));
	close_scene(&s);
}

/* All of them: one that cannot end is enough. */
static void test_e9_for_all(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s);
	const uint32_t three[] = { s.ready, s.task[3], s.task[1] };

	assert_true(wait_for_one(&s, 1, 0));
	assert_false(wait_for(&s, 0, three, 3, 0));
	assert_true(wait_for(&s, 0, three, 2, 0));
	assert_false(wait_for_one(&s, 3, 1)); /* for one that waits for one that waits for all */
	close_scene(&s);
}

/* Any of them: only when none of them can end. */
static void test_e9_for_any(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s);
	const uint32_t with_ready[] = { s.task[1], s.ready }, both[] = { s.task[1], s.task[2] };

	assert_true(wait_for_one(&s, 1, 0));
	assert_true(wait_for(&s, 0, with_ready, 2, TQI_WAIT_ANY));
	assert_true(wait_for_one(&s, 2, 1)); /* by way of 0, which may go on */
	assert_true(wait_for_one(&s, 3, 4));
	const uint32_t stuck[] = { s.task[3], s.task[3] }, too[] = { s.task[5], s.task[3] };

	assert_true(wait_for(&s, 4, too, 2, TQI_WAIT_ANY));
	assert_false(wait_for_one(&s, 5, 4)); /* 3 has no way on either, but by 4 */
	assert_true(wait_for(&s, 5, both, 2, TQI_WAIT_ANY));
	assert_true(wait_for_one(&s, 6, 7));
	assert_true(wait_for_one(&s, 8, 7));
	const uint32_t all_closed[] = { s.task[6], s.task[8] };

	assert_false(wait_for(&s, 7, all_closed, 2, TQI_WAIT_ANY));
	assert_true(wait_for(&s, 7, stuck, 2, TQI_WAIT_ANY));
	close_scene(&s);
}

/* An attempt that waits twice, in two threads, is stuck only with both. */
static void test_e9_several_waits_of_one_attempt(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s);
	assert_true(wait_for_one(&s, 1, 0));
	assert_true(wait_for(&s, 1, &s.ready, 1, FINAL));
	assert_true(wait_for_one(&s, 0, 1));
	assert_true(wait_for_one(&s, 3, 2));
	assert_true(wait_for_one(&s, 3, 2));
	assert_false(wait_for_one(&s, 2, 3));
	close_scene(&s);
}

/* What a state on the way ends, and what is still being put together, is not stuck. */
static void test_e9_not_for_its_end(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s);
	assert_true(wait_for(&s, 0, &s.task[0], 1, FINAL | 1u << TQ_DELAYED));
	assert_true(wait_for(&s, 1, &s.task[2], 1, FINAL | 1u << TQ_DELAYED));
	assert_true(wait_for_one(&s, 2, 1));
	uint32_t w = wait_for_one(&s, 3, 4);

	begin(&s.f);
	TQI_SET(&s.f.tx, tqi_waiter_at(&s.f.tx, w)->subject, TQI_WAIT_ADDING);
	commit(&s.f);
	assert_true(wait_for_one(&s, 4, 3));
	close_scene(&s);
}

/* The successor of a key waits for the one that has it, without a slot. */
static void test_e9_for_its_successor(void **state)
{
	const struct tq_task_spec keyed = { .queue = "other",
					    .unique_key = "key",
					    .unique_scope = TQ_UNIQUE_COALESCE };
	struct tqi_claimed c;
	struct scene s;

	(void)state;
	open_scene(&s);
	submit(&s.f, keyed);
	claim(&s.f, add_worker(&s.f, "other", 0), &c);
	s.task[0] = tqi_id_index(c.id);
	s.attempt[0] = c.attempt;
	uint32_t successor = tqi_id_index(submit(&s.f, keyed));

	assert_int_equal(task_of(&s.f, successor)->state, TQ_BLOCKED);
	assert_false(wait_for(&s, 0, &successor, 1, FINAL));
	assert_true(wait_for(&s, 1, &successor, 1, FINAL));
	assert_false(wait_for_one(&s, 0, 1));
	close_scene(&s);
}

/* Who comes after it, too, and by way of others. */
static void test_e9_for_its_dependant(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s);
	const struct tq_dependency after[] = { { .id = tqi_id_make(s.ready, 1) },
					       { .id = tqi_id_make(s.task[0], 1),
						 .kind = TQ_AFTER_ANY } };
	uint32_t dependant = tqi_id_index(
		submit(&s.f, (struct tq_task_spec){ .after = after, .after_count = 2 }));

	assert_int_equal(task_of(&s.f, dependant)->state, TQ_BLOCKED);
	assert_false(wait_for(&s, 0, &dependant, 1, FINAL));
	assert_true(wait_for(&s, 1, &dependant, 1, FINAL));
	assert_false(wait_for_one(&s, 0, 1));
	begin(&s.f);
	assert_int_equal(tqi_steer_cancel(&s.f.tx, tqi_id_make(dependant, 1)), 0);
	commit(&s.f);
	assert_true(wait_for_one(&s, 0, 1));
	close_scene(&s);
}

/* A member after the completion task of its own group, be it by way of others. */
static void test_d3_a_member_after_its_completion(void **state)
{
	struct scene s;
	uint64_t c, other_c;

	(void)state;
	open_scene(&s);
	uint64_t g = make_group(&s, &c), other = make_group(&s, &other_c);
	uint64_t x = submit_after(&s, 0, c);

	assert_int_not_equal(x, 0);
	assert_int_equal(submit_after(&s, g, c), 0);
	assert_int_equal(submit_after(&s, g, x), 0);
	uint64_t m = submit_after(&s, g, 0), y = submit_after(&s, 0, 0);

	assert_int_equal(add_after(&s, m, c), TQ_ECYCLE);
	assert_int_equal(add_after(&s, m, x), TQ_ECYCLE);
	assert_int_equal(task_of(&s.f, m)->state, TQ_READY);
	assert_int_not_equal(submit_after(&s, g, y), 0);
	assert_int_equal(add_after(&s, y, c), TQ_ECYCLE); /* no member, but one waits for it */
	assert_int_not_equal(submit_after(&s, other, c), 0);
	assert_int_equal(submit_after(&s, g, other_c), 0); /* crosswise */
	assert_int_not_equal(submit_after(&s, other, x), 0);
	close_scene(&s);
}

/* The group is so large that not all of it is looked at: its own member is known all the same. */
static void test_d3_a_member_of_many(void **state)
{
	struct scene s;
	uint64_t c;

	(void)state;
	open_scene(&s);
	uint64_t g = make_group(&s, &c);

	for (int i = 0; i < 200; i++)
		assert_int_not_equal(submit_after(&s, g, 0), 0);
	assert_int_equal(submit_after(&s, g, c), 0);
	close_scene(&s);
}

/* What was counted is no member that the completion waits for. */
static void test_d3_ended_members_do_not_count(void **state)
{
	struct scene s;
	uint64_t c;

	(void)state;
	open_scene(&s);
	uint64_t g = make_group(&s, &c);

	run_member(&s, 0, g);
	assert_false(wait_for(&s, 0, &(uint32_t){ tqi_id_index(c) }, 1, FINAL));
	uint64_t m = submit_after(&s, g, 0);

	begin(&s.f);
	assert_int_equal(tqi_steer_cancel(&s.f.tx, m), 0);
	assert_int_equal(tqi_steer_retry(&s.f.tx, m), 0);
	commit(&s.f);
	assert_int_equal(add_after(&s, m, c), 0);
	close_scene(&s);
}

/* A member's wait for its group's end, and the circles over two groups. */
static void test_e9_for_its_group(void **state)
{
	struct scene s;
	uint64_t c, other_c;

	(void)state;
	open_scene(&s);
	uint64_t g = make_group(&s, &c), other = make_group(&s, &other_c);
	const uint32_t completion = tqi_id_index(c);

	run_member(&s, 0, g);
	run_member(&s, 1, other);
	assert_false(wait_for(&s, 0, &completion, 1, FINAL));
	assert_false(wait_for_group(&s, 0, g, TQI_GROUP_LAST));
	assert_true(wait_for_group(&s, 2, g, TQI_GROUP_LAST));
	assert_true(wait_for(&s, 1, &completion, 1, FINAL));
	assert_false(wait_for_group(&s, 0, other, TQI_GROUP_LAST));
	assert_false(wait_for_one(&s, 0, 2)); /* which waits for the group */
	assert_int_equal(submit_after(&s, g, tqi_id_make(s.task[2], 1)), 0);
	close_scene(&s);
}

/* The next end: certain not to come only when no more members do. */
static void test_e9_for_the_next_end(void **state)
{
	struct scene s;
	uint64_t c;

	(void)state;
	open_scene(&s);
	uint64_t g = make_group(&s, &c), two = make_group(&s, &c);

	run_member(&s, 0, g);
	assert_true(wait_for_group(&s, 0, g, 0));
	run_member(&s, 1, two);
	run_member(&s, 2, two);
	seal_group(&s, two);
	assert_true(wait_for_group(&s, 1, two, 0));
	assert_false(wait_for_group(&s, 2, two, 0));
	close_scene(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_e9_for_itself_and_for_each_other),
		cmocka_unit_test(test_e9_a_ring_within_bounds),
		cmocka_unit_test(test_e9_for_all),
		cmocka_unit_test(test_e9_for_any),
		cmocka_unit_test(test_e9_several_waits_of_one_attempt),
		cmocka_unit_test(test_e9_not_for_its_end),
		cmocka_unit_test(test_e9_for_its_successor),
		cmocka_unit_test(test_e9_for_its_dependant),
		cmocka_unit_test(test_d3_a_member_after_its_completion),
		cmocka_unit_test(test_d3_a_member_of_many),
		cmocka_unit_test(test_d3_ended_members_do_not_count),
		cmocka_unit_test(test_e9_for_its_group),
		cmocka_unit_test(test_e9_for_the_next_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
