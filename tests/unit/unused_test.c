/* SPDX-License-Identifier: MIT */
/* Queues and kinds that nobody needs give their places back, and no others do (UN-1 to UN-4). */
#include "scheduler/order/unused.h"

#include <errno.h>
#include <stdio.h>

#include "client/core/handle.h"
#include "scheduler/time/schedule.h"
#include "tests/unit/fixture.h"

#define HOLDS 10000 /* searches of more would not end */

/* The whole search: the place that was found (0 none), with a check of each hold. */
static uint32_t search(struct fixture *f, bool of_queues, bool *ret_rests)
{
	struct tqi_unused u = { .at = 0 };

	for (int i = 0; i < HOLDS; i++) {
		begin(f);
		const enum tqi_unused_step step = of_queues ? tqi_queue_unused(&f->tx, &u)
							    : tqi_kind_unused(&f->tx, &u);

		commit(f);
		if (i < 4)
			assert_sound(f);
		if (ret_rests)
			*ret_rests = u.rests;
		if (step != TQI_UNUSED_MORE)
			return step == TQI_UNUSED_GIVEN ? u.at : 0;
	}
	fail_msg("a search without end");
	return 0;
}

static uint32_t unused_queue(struct fixture *f)
{
	return search(f, true, NULL);
}

static uint32_t unused_kind(struct fixture *f)
{
	return search(f, false, NULL);
}

static const char *name_of(const char *prefix, uint32_t i)
{
	static char name[TQ_NAME_MAX + 1];

	snprintf(name, sizeof(name), "%s%u", prefix, i);
	return name;
}

/* A task of a queue and kind that has come and gone, record and all. */
static void pass_through(struct fixture *f, const char *queue, const char *kind)
{
	const uint64_t id = submit(
		f, (struct tq_task_spec){ .queue = queue, .kind = kind, .flags = TQ_TASK_FORGET });

	assert_int_equal(steer_task(f, tqi_steer_cancel, id), 0);
	tqt_box_grow(&f->box, 1);
}

static uint32_t find_queue(struct fixture *f, const char *name)
{
	begin(f);
	const uint32_t q = tqi_queue_find(&f->tx, name);

	commit(f);
	return q;
}

static const struct tqi_queue *queue_at(struct fixture *f, uint32_t q)
{
	return tqi_table_peek(&f->box.seg, TQI_QUEUES, q);
}

static void test_an_unused_queue_makes_place(void **state)
{
	struct fixture f;
	uint64_t id;

	(void)state;
	open_fixture(&f, 0);
	for (uint32_t i = 1;
	     try_submit(&f,
			(struct tq_task_spec){ .queue = name_of("q", i), .flags = TQ_TASK_FORGET },
			&id) == 0;
	     i++) {
		assert_int_equal(steer_task(&f, tqi_steer_cancel, id), 0);
		tqt_box_grow(&f.box, 1);
	}
	const uint32_t live = tqi_segment_core(&f.box.seg)->tables[TQI_QUEUES].live;

	assert_in_range(live, TQI_QUEUES_MAX - 16, TQI_QUEUES_MAX - 1);
	assert_int_equal(try_submit(&f, (struct tq_task_spec){ .queue = "another" }, &id),
			 TQ_EQUEUES);
	assert_int_equal(unused_queue(&f), 1);
	assert_int_equal(find_queue(&f, "q1"), 0);
	assert_int_equal(queue_at(&f, 1)->name[0], '\0');
	submit(&f, (struct tq_task_spec){ .queue = "another" });
	assert_int_equal(find_queue(&f, "another"), 1);
	assert_int_equal(unused_queue(&f), 2); /* where the last one left off */
	assert_sound(&f);
	close_fixture(&f);
}

/* The last places are for those who bring workers, and for the default. */
static void test_submits_leave_some_places(void **state)
{
	struct fixture f;
	uint64_t id;
	bool full;
	uint32_t i = 1;

	(void)state;
	open_fixture(&f, 0);
	while (try_submit(&f, (struct tq_task_spec){ .queue = name_of("q", i), .kind = "k" },
			  &id) == 0) {
		tqt_box_grow(&f.box, 1);
		i++;
	}
	assert_int_equal(try_submit(&f, (struct tq_task_spec){ .queue = "q1", .kind = "k" }, &id),
			 0);
	assert_int_equal(unused_queue(&f), 0);
	begin(&f);
	for (uint32_t n = 0; n < 8; n++)
		assert_int_not_equal(tqi_queue_make(&f.tx, name_of("p", n), &full), 0);
	assert_int_equal(tqi_queue_make(&f.tx, "more", &full), 0);
	assert_true(full);
	commit(&f);
	submit(&f, (struct tq_task_spec){ .queue = "default", .kind = "k" });
	assert_sound(&f);
	close_fixture(&f);
}

static void set_queue(struct fixture *f, const char *name, bool pause)
{
	const struct tqi_queue_settings none = { .depth_max = 0 };
	bool full;

	begin(f);
	const uint32_t q = tqi_queue_make(&f->tx, name, &full);

	if (pause)
		tqi_queue_flag(&f->tx, q, TQI_QUEUE_PAUSED, true);
	else
		assert_int_equal(tqi_queue_set(&f->tx, q, &none), 0);
	commit(f);
}

static uint64_t add_schedule(struct fixture *f, const char *queue, const char *kind)
{
	const struct tq_task_spec spec = { .queue = queue, .kind = kind };
	const struct tqi_schedule_request request = { .spec = &spec,
						      .name = "it",
						      .every_ns = SECOND,
						      .overlap = TQ_OVERLAP_SKIP,
						      .catch_up = 1 };
	uint64_t id;

	begin(f);
	assert_in_range(conclude(f, tqi_schedule_make(&f->tx, &request, &id)), 0, 1);
	return id;
}

static void test_a_queue_that_is_needed_stays(void **state)
{
	struct fixture f;
	bool rests;

	(void)state;
	open_fixture(&f, 0);
	set_queue(&f, "set", false);
	set_queue(&f, "paused", true);
	const uint64_t waits = submit(&f, (struct tq_task_spec){ .queue = "waits" });
	const uint64_t held =
		submit(&f, (struct tq_task_spec){ .queue = "held", .flags = TQ_TASK_HOLD });
	const uint32_t worker = add_worker(&f, "served", 0);
	const uint64_t schedule = add_schedule(&f, "timed", "exec");

	assert_int_equal(search(&f, true, &rests), 0);
	assert_false(rests);
	assert_int_equal(steer_task(&f, tqi_steer_cancel, waits), 0); /* its record stays */
	assert_int_equal(steer_task(&f, tqi_steer_cancel, held), 0);
	assert_int_equal(search(&f, true, &rests), 0);
	assert_true(rests);
	assert_int_equal(steer_task(&f, tqi_steer_forget, waits), 0);
	assert_int_equal(unused_queue(&f), 3);
	begin(&f);
	assert_true(tqi_worker_unregister(&f.tx, worker));
	commit(&f);
	assert_int_equal(unused_queue(&f), 5);
	add_schedule(&f, "held", "exec"); /* in the place of the one before */
	assert_int_equal(unused_queue(&f), 6);
	begin(&f);
	conclude(&f, tqi_schedule_remove(&f.tx, schedule));
	assert_int_equal(unused_queue(&f), 0);
	assert_int_equal(steer_task(&f, tqi_steer_forget, held), 0);
	assert_int_equal(unused_queue(&f), 4);
	assert_int_equal(unused_queue(&f), 0);
	set_queue(&f, "paused", true);
	assert_int_equal(find_queue(&f, "set"), 1);
	assert_int_equal(find_queue(&f, "paused"), 2);
	assert_sound(&f);
	close_fixture(&f);
}

/* With more kinds than one hold frees, and classes of which a tournament is held. */
static void test_a_large_queue_goes_in_slices(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, 0);
	for (uint32_t k = 1; k <= 200; k++)
		pass_through(&f, "q", name_of("k", k));
	assert_int_equal(tqi_segment_core(&f.box.seg)->tables[TQI_STREAMS].live, 200);
	assert_int_equal(unused_queue(&f), 1);
	assert_int_equal(tqi_segment_core(&f.box.seg)->tables[TQI_STREAMS].live, 0);
	assert_int_equal(tqi_segment_core(&f.box.seg)->tables[TQI_TIMES].live, 0);
	assert_int_equal(tqi_segment_core(&f.box.seg)->tables[TQI_CLASSES].live, 0);
	assert_int_equal(tqi_segment_core(&f.box.seg)->tables[TQI_LANES].live, 0);
	pass_through(&f, "other", "k7"); /* it begins anew */
	assert_int_equal(queue_at(&f, 1)->era, 0);
	assert_sound(&f);
	close_fixture(&f);
}

/* Someone comes in the middle: it is used again, whatever is gone by then. */
static void test_a_queue_is_used_again_half_way(void **state)
{
	struct tqi_unused u = { .at = 0 };
	struct fixture f;

	(void)state;
	open_fixture(&f, 0);
	for (uint32_t k = 1; k <= 200; k++)
		pass_through(&f, "q", name_of("k", k));
	do {
		begin(&f);
		assert_int_equal(tqi_queue_unused(&f.tx, &u), TQI_UNUSED_MORE);
		commit(&f);
	} while (tqi_segment_core(&f.box.seg)->tables[TQI_STREAMS].live > 150);
	submit(&f, (struct tq_task_spec){ .queue = "q", .kind = "k3" });
	begin(&f);
	assert_int_equal(tqi_queue_unused(&f.tx, &u), TQI_UNUSED_NONE);
	commit(&f);
	assert_int_equal(find_queue(&f, "q"), 1);
	assert_sound(&f);
	close_fixture(&f);
}

static void test_an_unused_kind_makes_place(void **state)
{
	struct fixture f;
	bool rests;

	(void)state;
	open_fixture(&f, 0);
	for (uint32_t q = 1; q <= 200; q++)
		pass_through(&f, name_of("q", q), "gone");
	const uint64_t id = submit(&f, (struct tq_task_spec){ .queue = "q9", .kind = "waits" });

	for (uint32_t k = 1; k <= 6; k++) /* so many that a tournament is held */
		pass_through(&f, "q9", name_of("k", k));
	assert_int_equal(unused_kind(&f), 1);
	assert_int_equal(unused_kind(&f), 3);
	pass_through(&f, "q9", "anew");
	for (uint32_t k = 2; k <= 6; k++)
		assert_int_equal(unused_kind(&f), 2 + k);
	assert_int_equal(unused_kind(&f), 3);
	assert_int_equal(steer_task(&f, tqi_steer_cancel, id), 0);
	assert_int_equal(search(&f, false, &rests), 0);
	assert_true(rests);
	assert_int_equal(steer_task(&f, tqi_steer_forget, id), 0);
	assert_int_equal(unused_kind(&f), 2);
	assert_int_equal(tqi_segment_core(&f.box.seg)->tables[TQI_STREAMS].live, 0);
	assert_int_equal(tqi_segment_core(&f.box.seg)->tables[TQI_KINDS].live, 0);
	assert_sound(&f);
	close_fixture(&f);
}

static void register_for(struct fixture *f, const char *const *kinds, uint32_t count,
			 uint32_t *ret_worker)
{
	static const struct tqi_ident owner = { .pid = 7, .tid = 7, .start = 7 };
	const char *queue = "q";
	const struct tqi_worker_request request = { .owner = &owner,
						    .name = "",
						    .queues = &queue,
						    .queue_count = 1,
						    .kinds = kinds,
						    .kind_count = count };

	begin(f);
	assert_int_equal(conclude(f, tqi_worker_register(&f->tx, &request, ret_worker)), 0);
}

static void test_a_kind_that_is_needed_stays(void **state)
{
	const char *kinds[] = { "a", "b" };
	struct fixture f;
	uint32_t worker, all;

	(void)state;
	open_fixture(&f, 0);
	register_for(&f, kinds, 2, &worker);
	register_for(&f, NULL, 0, &all); /* of any kind: it names none */
	add_schedule(&f, "q", "c");
	pass_through(&f, "q", "a");
	assert_int_equal(unused_kind(&f), 0);
	begin(&f);
	assert_int_equal(tqi_worker_set_kinds(&f.tx, worker, kinds + 1, 1), 0);
	commit(&f);
	assert_int_equal(unused_kind(&f), 1);
	assert_int_equal(unused_kind(&f), 0);
	begin(&f);
	assert_true(tqi_worker_unregister(&f.tx, worker));
	commit(&f);
	assert_int_equal(unused_kind(&f), 2);
	assert_int_equal(unused_kind(&f), 0);
	register_for(&f, NULL, 0, &worker); /* its slot is used again */
	register_for(&f, kinds, 1, &worker);
	assert_int_equal(unused_kind(&f), 0);
	assert_sound(&f);
	close_fixture(&f);
}

/* UN-4: what was remembered leads to nothing, and what is taken and undone has no name. */
static void test_a_remembered_place_is_a_hint(void **state)
{
	struct tq_task_spec spec = { .queue = "old", .kind = "exec" };
	struct tqi_submit s = { .spec = &spec, .queue_hint = 1 };
	struct fixture f;
	uint64_t id;
	bool full;

	(void)state;
	open_fixture(&f, 0);
	pass_through(&f, "old", "exec");
	assert_int_equal(unused_queue(&f), 1);
	begin(&f);
	assert_int_equal(tqi_queue_make(&f.tx, "undone", &full), 1);
	conclude(&f, -ECANCELED);
	begin(&f);
	assert_false(tqi_name_is_of(&f.tx, TQI_QUEUES, 1, "old"));
	assert_false(tqi_name_is_of(&f.tx, TQI_QUEUES, 1, "undone"));
	assert_int_equal(tqi_queue_make(&f.tx, "new", &full), 1);
	commit(&f);
	begin(&f);
	assert_int_equal(conclude(&f, tqi_submit(&f.tx, &s, &id)), 0);
	assert_int_equal(s.queue, 2);
	assert_int_equal(find_queue(&f, "old"), 2);
	assert_sound(&f);
	close_fixture(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_unused_queue_makes_place),
		cmocka_unit_test(test_submits_leave_some_places),
		cmocka_unit_test(test_a_queue_that_is_needed_stays),
		cmocka_unit_test(test_a_large_queue_goes_in_slices),
		cmocka_unit_test(test_a_queue_is_used_again_half_way),
		cmocka_unit_test(test_an_unused_kind_makes_place),
		cmocka_unit_test(test_a_kind_that_is_needed_stays),
		cmocka_unit_test(test_a_remembered_place_is_a_hint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
