/* SPDX-License-Identifier: MIT */
/* C1: schedules: when their runs are made, and what becomes of those that cannot be. */
#include "tests/unit/fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "client/submit/tzif.h"
#include "scheduler/check/check.h"
#include "scheduler/rebuild/rebuild.h"
#include "scheduler/time/schedule.h"
#include "taskq/error.h"

#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

static uint64_t wall_of(const struct fixture *f)
{
	return f->box.system.now_ns + f->box.system.wall_offset_ns;
}

struct options {
	uint64_t every_ns;
	const char *cron;
	const char *zone;
	uint32_t overlap;
	uint32_t catch_up;
	const char *name;
	bool replaces;
	struct tq_task_spec spec;
};

static uint64_t make(struct fixture *f, struct options o)
{
	char name[TQI_ZONE_NAME_MAX + 1] = "", error[256];
	struct tqi_zone *zone = NULL;
	struct tqi_cron cron;
	struct tqi_schedule_request r = {
		.spec = &o.spec,
		.name = o.name,
		.every_ns = o.every_ns,
		.cron_text = o.cron,
		.zone_name = name,
		.overlap = o.overlap ? o.overlap : TQ_OVERLAP_SKIP,
		.catch_up = o.catch_up ? o.catch_up : 1,
	};
	uint64_t id;

	o.spec.queue = o.spec.queue ? o.spec.queue : "default";
	o.spec.kind = "exec";
	if (o.cron) {
		assert_true(tqi_cron_parse(o.cron, &cron, error, sizeof(error)));
		assert_int_equal(tqi_tzif_load(o.zone ? o.zone : "UTC",
					       (int64_t)(wall_of(f) / SECOND), &zone, name),
				 0);
		r.cron = &cron;
		r.zone = zone;
	}
	begin(f);
	assert_int_equal(tqi_schedule_make(&f->tx, &r, &id), o.replaces);
	commit(f);
	free(zone);
	return id;
}

static const struct tqi_schedule *schedule_of(struct fixture *f, uint64_t id)
{
	return tqi_table_peek(&f->box.seg, TQI_SCHEDULES, tqi_id_index(id));
}

static bool is_due(struct fixture *f)
{
	begin(f);
	bool due = tqi_schedule_is_due(&f->tx);

	commit(f);
	return due;
}

static void tend(struct fixture *f)
{
	do {
		begin(f);
		tqi_tend(&f->tx);
		commit(f);
	} while (is_due(f));
}

static void elapse(struct fixture *f, uint64_t ns)
{
	f->box.system.now_ns += ns;
	tend(f);
}

/* What the next hold does, at its own times: for so long. */
static void let_run(struct fixture *f, uint64_t ns)
{
	uint64_t end = f->box.system.now_ns + ns;

	while (f->box.system.now_ns < end) {
		const struct tqi_root *root = tqi_segment_root(&f->box.seg);
		uint64_t next = tqi_schedule_next(root), now = f->box.system.now_ns;
		uint64_t wall = tqi_schedule_next_by_wall(root);

		if (wall != UINT64_MAX && wall - f->box.system.wall_offset_ns < next)
			next = wall - f->box.system.wall_offset_ns;
		f->box.system.now_ns = next > end ? end : next > now ? next : now;
		tend(f);
	}
}

static uint64_t run_of(struct fixture *f, uint64_t id)
{
	return schedule_of(f, id)->last_run;
}

static uint64_t runs_of(struct fixture *f, uint64_t id)
{
	return schedule_of(f, id)->runs;
}

static void finish_all(struct one_worker *s)
{
	while (claim(&s->f, s->worker, &s->c))
		end(&s->f, s->worker, &s->c, DONE);
}

static void test_c1_every(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t start = s.f.box.system.now_ns;
	uint64_t id = make(
		&s.f,
		(struct options){ .every_ns = 10 * SECOND,
				  .spec = { .label = "l", .payload = "abc", .payload_bytes = 3 } });

	tend(&s.f);
	assert_int_equal(runs_of(&s.f, id), 0);
	for (uint64_t n = 1; n <= 20; n++) {
		elapse(&s.f, start + n * 10 * SECOND - s.f.box.system.now_ns + n % 7);
		assert_int_equal(runs_of(&s.f, id), n); /* in the grid, however late it was seen */
		const struct tqi_task *t = task_of(&s.f, run_of(&s.f, id));
		const char *block =
			(const void *)(s.f.box.seg.base + ((uint64_t)t->payload << TQI_UNIT_SHIFT));

		assert_memory_equal(block, "abcl", 4);
		begin(&s.f);
		assert_int_equal(tqi_task_extra(&s.f.tx, t)->schedule, id);
		commit(&s.f);
		finish_all(&s);
		assert_sound(&s.f);
	}
	assert_int_equal(schedule_of(&s.f, id)->skipped, 0);
	close_fixture(&s.f);
}

/* While the last run has not ended, times are left out ... */
static void test_c1_overlap_skip(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t id = make(&s.f, (struct options){ .every_ns = SECOND });

	elapse(&s.f, SECOND);
	for (int i = 0; i < 5; i++)
		elapse(&s.f, SECOND);
	assert_int_equal(runs_of(&s.f, id), 1);
	assert_int_equal(schedule_of(&s.f, id)->skipped, 5);
	finish_all(&s);
	tend(&s.f);
	assert_int_equal(runs_of(&s.f, id), 1);
	elapse(&s.f, SECOND);
	assert_int_equal(runs_of(&s.f, id), 2);
	close_fixture(&s.f);
}

/* ... or one of them waits for its end. */
static void test_c1_overlap_queue(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t id =
		make(&s.f, (struct options){ .every_ns = SECOND, .overlap = TQ_OVERLAP_QUEUE });

	elapse(&s.f, SECOND);
	assert_true(claim(&s.f, s.worker, &s.c));
	for (int i = 0; i < 5; i++)
		elapse(&s.f, SECOND);
	assert_int_equal(runs_of(&s.f, id), 1);
	assert_int_equal(schedule_of(&s.f, id)->owed, 1);
	assert_int_equal(schedule_of(&s.f, id)->skipped, 4);
	assert_false(is_due(&s.f));
	end(&s.f, s.worker, &s.c, DONE);
	assert_true(is_due(&s.f)); /* without waiting for the next time */
	assert_sound(&s.f);
	tend(&s.f);
	assert_int_equal(runs_of(&s.f, id), 2);
	assert_int_equal(schedule_of(&s.f, id)->owed, 0);
	close_fixture(&s.f);
}

/* Nobody kept time for long: so many runs are made, one after the other. */
static void test_c1_catch_up(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t one = make(&s.f, (struct options){ .every_ns = SECOND });
	uint64_t three = make(&s.f, (struct options){ .cron = "* * * * *", .catch_up = 3 });

	elapse(&s.f, HOUR + SECOND / 2);
	assert_int_equal(runs_of(&s.f, one), 1);
	assert_int_equal(runs_of(&s.f, three), 1);
	assert_int_equal(schedule_of(&s.f, three)->owed, 2);
	for (int i = 0; i < 10; i++) {
		finish_all(&s);
		tend(&s.f);
	}
	assert_int_equal(runs_of(&s.f, one), 1);
	assert_int_equal(runs_of(&s.f, three), 3);
	assert_sound(&s.f);
	elapse(&s.f, SECOND / 2);
	assert_int_equal(runs_of(&s.f, one), 2); /* the grid is where it was */
	close_fixture(&s.f);
}

/* Without room the run stays due, and nothing else of the hold is lost. */
static void test_c1_full(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	struct tqi_queue_settings one = { .depth_max = 1 };

	submit(&s.f, (struct tq_task_spec){ 0 });
	begin(&s.f);
	assert_int_equal(tqi_queue_set(&s.f.tx, 1, &one), 0);
	commit(&s.f);
	uint64_t id = make(&s.f, (struct options){ .every_ns = HOUR });

	elapse(&s.f, HOUR);
	assert_int_equal(runs_of(&s.f, id), 0);
	assert_int_equal(schedule_of(&s.f, id)->owed, 1);
	assert_int_equal(schedule_of(&s.f, id)->last_error, TQ_EFULL);
	assert_sound(&s.f);
	finish_all(&s);
	elapse(&s.f, SECOND);
	assert_int_equal(runs_of(&s.f, id), 1);
	assert_int_equal(schedule_of(&s.f, id)->last_error, 0);
	assert_sound(&s.f);
	close_fixture(&s.f);
}

/* What is refused, not put off, is skipped. */
static void test_c1_draining(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t id = make(&s.f, (struct options){ .every_ns = HOUR });

	begin(&s.f);
	tqi_queue_flag(&s.f.tx, 1, TQ_QUEUE_DRAINING, true);
	commit(&s.f);
	elapse(&s.f, HOUR);
	assert_int_equal(schedule_of(&s.f, id)->skipped, 1);
	assert_int_equal(schedule_of(&s.f, id)->last_error, TQ_EDRAINING);
	assert_int_equal(schedule_of(&s.f, id)->owed, 0);
	begin(&s.f);
	tqi_queue_flag(&s.f.tx, 1, TQ_QUEUE_DRAINING, false);
	commit(&s.f);
	elapse(&s.f, HOUR);
	assert_int_equal(runs_of(&s.f, id), 1);
	close_fixture(&s.f);
}

static void steer(struct fixture *f, uint64_t id, bool pause, int expected)
{
	begin(f);
	assert_int_equal(tqi_schedule_pause(&f->tx, id, pause), expected);
	commit(f);
}

static void test_c1_pause(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t every = make(&s.f, (struct options){ .every_ns = 10 * SECOND });
	uint64_t cron = make(&s.f, (struct options){ .cron = "@hourly" });

	steer(&s.f, every, true, 0);
	steer(&s.f, cron, true, 0);
	steer(&s.f, cron, true, 0);
	elapse(&s.f, 5 * HOUR + 3 * SECOND);
	assert_int_equal(runs_of(&s.f, every) + runs_of(&s.f, cron), 0);
	assert_sound(&s.f);
	steer(&s.f, every, false, 0);
	steer(&s.f, cron, false, 0);
	tend(&s.f);
	assert_int_equal(runs_of(&s.f, every) + runs_of(&s.f, cron), 0);
	elapse(&s.f, 7 * SECOND);
	assert_int_equal(runs_of(&s.f, every), 1);
	elapse(&s.f, HOUR);
	assert_int_equal(runs_of(&s.f, cron), 1);
	close_fixture(&s.f);
}

static void test_c1_remove(void **state)
{
	struct one_worker s;
	uint32_t index;

	(void)state;
	open_one_worker(&s);
	uint64_t id = make(&s.f, (struct options){ .every_ns = SECOND });

	elapse(&s.f, SECOND);
	uint64_t run = run_of(&s.f, id);

	begin(&s.f);
	assert_int_equal(tqi_schedule_remove(&s.f.tx, id), 0);
	commit(&s.f);
	elapse(&s.f, HOUR);
	assert_int_equal(claim(&s.f, s.worker, &s.c), run); /* what is made stays */
	end(&s.f, s.worker, &s.c, DONE);
	begin(&s.f);
	assert_int_equal(tqi_schedule_find(&s.f.tx, id, &index), TQ_EGONE);
	assert_int_equal(tqi_schedule_find(&s.f.tx, 999, &index), -ENOENT);
	commit(&s.f);
	assert_sound(&s.f);
	close_fixture(&s.f);
}

/* A run that its own key's holder stands for is none. */
static void test_c1_unique(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	submit(&s.f, (struct tq_task_spec){ .unique_key = "k" });
	uint64_t id =
		make(&s.f, (struct options){ .every_ns = SECOND, .spec = { .unique_key = "k" } });

	elapse(&s.f, SECOND);
	assert_int_equal(runs_of(&s.f, id), 0);
	assert_int_equal(schedule_of(&s.f, id)->skipped, 1);
	finish_all(&s);
	elapse(&s.f, SECOND);
	assert_int_equal(runs_of(&s.f, id), 1);
	close_fixture(&s.f);
}

/* A step of the wall clock moves cron, and nothing else. */
static void test_c1_step(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t every = make(&s.f, (struct options){ .every_ns = HOUR });
	uint64_t cron = make(&s.f, (struct options){ .cron = "@daily" });
	uint64_t next = schedule_of(&s.f, cron)->next_ns;

	s.f.box.system.wall_offset_ns += next - wall_of(&s.f);
	tend(&s.f);
	assert_int_equal(runs_of(&s.f, cron), 1);
	assert_int_equal(runs_of(&s.f, every), 0);
	finish_all(&s);
	s.f.box.system.wall_offset_ns -= 3 * HOUR; /* the same midnight again: it has been */
	elapse(&s.f, 3 * HOUR);
	assert_int_equal(runs_of(&s.f, cron), 1);
	close_fixture(&s.f);
}

/* A clock that was wrong by years is set right: no schedule waits for that year. */
static void test_c1_set_back(void **state)
{
	struct one_worker s;
	uint64_t ids[20];

	(void)state;
	open_one_worker(&s);
	s.f.box.system.wall_offset_ns += 3000 * DAY;
	for (uint32_t i = 0; i < 20; i++)
		ids[i] = make(&s.f, (struct options){ .cron = "@hourly" });
	steer(&s.f, ids[7], true, 0);
	tend(&s.f);
	s.f.box.system.wall_offset_ns -= 3000 * DAY;
	for (uint32_t i = 0; i < 5; i++)
		tend(&s.f); /* a slice in each hold */
	assert_sound(&s.f);
	elapse(&s.f, HOUR);
	for (uint32_t i = 0; i < 20; i++)
		assert_int_equal(runs_of(&s.f, ids[i]), i != 7);
	close_fixture(&s.f);
}

/* Years of cron: how many runs, and at which local times. */
static void test_c1_years(void **state)
{
	struct one_worker s;
	uint64_t before;

	(void)state;
	open_one_worker(&s);
	uint64_t daily =
		make(&s.f, (struct options){ .cron = "30 2 * * *", .zone = "Europe/Berlin" });
	uint64_t leap = make(&s.f, (struct options){ .cron = "0 0 29 2 *" });

	for (uint64_t days = 0; days < 3653; days++) {
		before = runs_of(&s.f, daily);
		let_run(&s.f, DAY);
		finish_all(&s);
		assert_in_range(runs_of(&s.f, daily) - before, 1, 1); /* clocks are set or not */
	}
	assert_int_equal(schedule_of(&s.f, daily)->skipped, 0);
	assert_int_equal(runs_of(&s.f, leap), 3); /* 2028, 2032, 2036 */
	assert_sound(&s.f);
	close_fixture(&s.f);
}

/* What a repair finds in the records is all there is. */
static void test_h6_repair(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t every = make(&s.f, (struct options){ .every_ns = SECOND, .name = "every" });
	uint64_t cron =
		make(&s.f, (struct options){ .cron = "@hourly", .zone = "America/New_York" });
	uint64_t lost = make(&s.f, (struct options){ .cron = "@hourly" });
	struct tqi_root *root = tqi_segment_root(&s.f.box.seg);
	struct tqi_schedule *damaged =
		tqi_table_peek(&s.f.box.seg, TQI_SCHEDULES, tqi_id_index(lost));
	void *scratch = calloc(1, tqi_check_scratch_bytes(&s.f.box.seg.geometry));

	memset(&root->time.every, 0xff, sizeof(root->time.every));
	root->time.cron.length = 77;
	root->time.crons = 9;
	root->time.schedules = 0;
	root->named.schedules.count = 0;
	damaged->block = 12345678;
	tqi_tx_view(&s.f.tx, &s.f.box.seg);
	assert_true(tqi_check(&s.f.tx, scratch, NULL, NULL) > 5); /* each of these is found */
	memset(scratch, 0, tqi_check_scratch_bytes(&s.f.box.seg.geometry));
	begin(&s.f);
	assert_int_equal(tqi_rebuild(&s.f.tx, scratch), 0);
	commit(&s.f);
	free(scratch);
	assert_sound(&s.f);
	elapse(&s.f, HOUR);
	assert_int_equal(runs_of(&s.f, every), 1);
	assert_int_equal(runs_of(&s.f, cron), 1);
	assert_int_equal(root->time.schedules, 2);
	assert_int_equal(
		make(&s.f,
		     (struct options){ .every_ns = SECOND, .name = "every", .replaces = true }),
		every);
	close_fixture(&s.f);
}

/* SC-5: what is kept, and what is not. */
static void a_name_is_of_one_schedule(void **state)
{
	struct one_worker s;
	struct options o = { .every_ns = 2 * SECOND, .name = "name" };

	(void)state;
	open_one_worker(&s);
	const struct tqi_root *root = tqi_segment_root(&s.f.box.seg);
	uint64_t id = make(&s.f, o), other = make(&s.f, (struct options){ .every_ns = SECOND });
	uint64_t next = schedule_of(&s.f, id)->next_ns;

	elapse(&s.f, SECOND);
	o.replaces = true;
	o.spec.label = "another";
	assert_int_equal(make(&s.f, o), id);
	assert_int_not_equal(id, other);
	assert_int_equal(schedule_of(&s.f, id)->next_ns, next);
	assert_sound(&s.f);
	elapse(&s.f, SECOND);
	assert_int_equal(runs_of(&s.f, id), 1);
	o.every_ns = 0;
	o.cron = "@hourly";
	assert_int_equal(make(&s.f, o), id);
	assert_int_equal(runs_of(&s.f, id), 1);
	assert_int_equal(root->time.crons, 1);
	assert_sound(&s.f);
	begin(&s.f);
	assert_int_equal(tqi_schedule_pause(&s.f.tx, id, true), 0);
	commit(&s.f);
	o.cron = NULL;
	o.every_ns = SECOND;
	assert_int_equal(make(&s.f, o), id);
	assert_true(schedule_of(&s.f, id)->flags & TQI_SCHEDULE_PAUSED);
	assert_int_equal(root->time.crons, 0);
	assert_sound(&s.f);
	begin(&s.f);
	assert_int_equal(tqi_schedule_remove(&s.f.tx, id), 0);
	commit(&s.f);
	assert_sound(&s.f);
	o.replaces = false;
	assert_int_not_equal(make(&s.f, o), id);
	assert_sound(&s.f);
	close_fixture(&s.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "fault.T7: a name is of one schedule", a_name_is_of_one_schedule, NULL, NULL,
		  NULL },
		cmocka_unit_test(test_c1_every),
		cmocka_unit_test(test_c1_overlap_skip),
		cmocka_unit_test(test_c1_overlap_queue),
		cmocka_unit_test(test_c1_catch_up),
		cmocka_unit_test(test_c1_full),
		cmocka_unit_test(test_c1_draining),
		cmocka_unit_test(test_c1_pause),
		cmocka_unit_test(test_c1_remove),
		cmocka_unit_test(test_c1_unique),
		cmocka_unit_test(test_c1_step),
		cmocka_unit_test(test_c1_set_back),
		cmocka_unit_test(test_c1_years),
		cmocka_unit_test(test_h6_repair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
