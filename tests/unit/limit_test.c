/* SPDX-License-Identifier: MIT */
/* G2: limits by key: who may start, what gives slots back, whom a free slot wakes. */
#include "tests/unit/limit_fixture.h"

#include <errno.h>
#include <stdio.h>

#include "scheduler/order/lane.h"
#include "scheduler/worker/stop.h"

/* NULL it is not there. */
static const struct tqi_limit *limit_of(struct one_worker *s, const char *name)
{
	begin(&s->f);
	uint32_t x = tqi_limit_find(&s->f.tx, name, (uint32_t)strlen(name));

	commit(&s->f);
	return x ? tqi_table_peek(&s->f.box.seg, TQI_LIMITS, x) : NULL;
}

static void test_g2_all_or_none(void **state)
{
	struct tqi_claimed first, second;
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	set_limit(&s, "a", 1);
	set_limit(&s, "b", 1);
	uint64_t a = keyed(&s, KEYS("a"), PLAIN);
	uint64_t both = keyed(&s, KEYS("b", "a"), PLAIN);
	uint64_t b = keyed(&s, KEYS("b"), PLAIN);

	assert_int_equal(claim(&s.f, s.worker, &first), a);
	assert_int_equal(claim(&s.f, s.worker, &second), b);
	assert_int_equal(claim(&s.f, s.worker, &s.c), 0);
	end(&s.f, s.worker, &second, DONE);
	assert_int_equal(claim(&s.f, s.worker, &s.c), 0); /* b alone is not enough, nor taken */
	assert_int_equal(limit_of(&s, "b")->used, 0);
	end(&s.f, s.worker, &first, DONE);
	assert_int_equal(claim(&s.f, s.worker, &s.c), both);
	assert_int_equal(limit_of(&s, "a")->used, 1);
	assert_int_equal(limit_of(&s, "b")->used, 1);
	close_fixture(&s.f);
}

static void test_g2_a_key_given_twice_counts_once(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	set_limit(&s, "a", 1);
	keyed(&s, KEYS("a", "a", "b", "a"), PLAIN);
	assert_int_equal(limit_of(&s, "a")->tasks, 1);
	assert_int_not_equal(claim(&s.f, s.worker, &s.c), 0);
	assert_int_equal(limit_of(&s, "a")->used, 1);
	close_fixture(&s.f);
}

static void cancel(struct one_worker *s)
{
	begin(&s->f);
	assert_int_equal(tqi_steer_cancel(&s->f.tx, s->c.id), 1);
	commit(&s->f);
	end_by(s, FAIL);
}

static void time_out(struct one_worker *s)
{
	begin(&s->f);
	tqi_stop_ask(&s->f.tx, s->c.attempt, TQ_CAUSE_TIMEOUT);
	commit(&s->f);
	die_at_work(s);
}

static void end_in_some_way(struct one_worker *s, int way)
{
	switch (way) {
	case 0:
		end_by(s, DONE);
		break;
	case 1:
		end_by(s, FAIL);
		break;
	case 2:
		end_by(s, FATAL);
		break;
	case 3:
		end_by(s, RELEASE);
		break;
	case 4:
		die_at_work(s);
		break;
	case 5:
		leave_work(s);
		break;
	case 6:
		cancel(s);
		break;
	default:
		time_out(s);
		break;
	}
}

static void test_g2_every_end_gives_the_slot_back(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	set_limit(&s, "a", 1);
	for (int way = 0; way < 8; way++) {
		keyed(&s, KEYS("a", "b"), PLAIN);
		assert_int_not_equal(claim(&s.f, s.worker, &s.c), 0);
		assert_int_equal(limit_of(&s, "a")->used, 1);
		end_in_some_way(&s, way);
		assert_int_equal(limit_of(&s, "a")->used, 0);
		assert_int_equal(limit_of(&s, "b")->used, 0);
	}
	close_fixture(&s.f);
}

static void test_g2_a_limit_set_later_holds_from_then_on(void **state)
{
	struct tqi_claimed first, second;
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	for (int i = 0; i < 4; i++)
		keyed(&s, KEYS("a"), PLAIN);
	assert_int_not_equal(claim(&s.f, s.worker, &first), 0);
	assert_int_not_equal(claim(&s.f, s.worker, &second), 0);
	set_limit(&s, "a", 1); /* evicts nobody */
	assert_int_equal(limit_of(&s, "a")->used, 2);
	assert_int_equal(claim(&s.f, s.worker, &s.c), 0);
	end(&s.f, s.worker, &first, DONE);
	assert_int_equal(claim(&s.f, s.worker, &s.c), 0);
	end(&s.f, s.worker, &second, DONE);
	assert_int_not_equal(claim(&s.f, s.worker, &s.c), 0);
	assert_int_equal(claim(&s.f, s.worker, &second), 0);
	assert_int_equal(set_limit(&s, "a", 0), 0);
	assert_int_not_equal(claim(&s.f, s.worker, &second), 0);
	assert_int_equal(set_limit(&s, "a", 0), -ENOENT);
	close_fixture(&s.f);
}

/* Priority first, over all lanes that a free slot lets go on; then as they came. */
static void test_g2_the_best_waiter_starts(void **state)
{
	static const int32_t priorities[] = { 0, 5, -5, 5, 50 };
	static const int order[] = { 4, 1, 3, 0, 2 };
	uint64_t ids[5];
	struct tqi_claimed next;
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	set_limit(&s, "a", 1);
	keyed(&s, KEYS("a"), PLAIN);
	assert_int_not_equal(claim(&s.f, s.worker, &s.c), 0);
	for (int i = 0; i < 5; i++)
		ids[i] = i % 2 ? keyed(&s, KEYS("a", "b"),
				       (struct tq_task_spec){ .priority = priorities[i] })
			       : keyed(&s, KEYS("a"),
				       (struct tq_task_spec){ .priority = priorities[i] });
	for (int i = 0; i < 5; i++) {
		assert_int_equal(claim(&s.f, s.worker, &next), 0);
		end(&s.f, s.worker, &s.c, DONE);
		assert_int_equal(claim(&s.f, s.worker, &s.c), ids[order[i]]);
	}
	close_fixture(&s.f);
}

static void test_g2_waiting_wakes_nobody_and_a_free_slot_one(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	set_limit(&s, "a", 1);
	keyed(&s, KEYS("a"), PLAIN);
	assert_int_not_equal(claim(&s.f, s.worker, &s.c), 0);
	for (int i = 0; i < 5; i++)
		sleep_as(&s, add_worker(&s.f, "default", 0));
	for (int i = 0; i < 20; i++)
		keyed(&s, i % 2 ? KEYS("a") : KEYS("a", "b"), PLAIN);
	assert_int_equal(count_woken(&s), 0);
	end(&s.f, s.worker, &s.c, DONE);
	assert_int_equal(count_woken(&s), 1);
	close_fixture(&s.f);
}

/* Who ends one and takes the next in one transaction needs nobody else. */
static void test_g2_a_slot_that_is_taken_at_once_wakes_nobody(void **state)
{
	const struct tqi_verdict done = DONE;
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	set_limit(&s, "a", 1);
	keyed(&s, KEYS("a"), PLAIN);
	assert_int_not_equal(claim(&s.f, s.worker, &s.c), 0);
	sleep_as(&s, add_worker(&s.f, "default", 0));
	keyed(&s, KEYS("a"), PLAIN);
	begin(&s.f);
	assert_int_equal(tqi_end(&s.f.tx, s.worker, s.c.attempt, s.c.id, 1, &done), 0);
	assert_int_equal(tqi_claim(&s.f.tx, s.worker, &s.c), 0);
	commit(&s.f);
	assert_int_equal(count_woken(&s), 0);
	close_fixture(&s.f);
}

/* A retry and a move to another queue keep the keys. */
static void test_g2_keys_stay_with_the_task(void **state)
{
	const struct tq_task_update update = { .fields = TQ_UPDATE_QUEUE, .queue = "other" };
	struct one_worker s;
	uint32_t other;

	(void)state;
	open_one_worker(&s);
	other = add_worker(&s.f, "other", 0);
	set_limit(&s, "a", 1);
	uint64_t id = keyed(&s, KEYS("a", "b"), (struct tq_task_spec){ .attempts_max = 1 });

	assert_int_equal(claim(&s.f, s.worker, &s.c), id);
	end_by(&s, FAIL);
	begin(&s.f);
	assert_int_equal(tqi_steer_retry(&s.f.tx, id), 0);
	commit(&s.f);
	begin(&s.f);
	assert_int_equal(tqi_steer_update(&s.f.tx, id, &update), 0);
	commit(&s.f);
	assert_int_equal(claim(&s.f, s.worker, &s.c), 0);
	assert_int_equal(claim(&s.f, other, &s.c), id);
	assert_int_equal(limit_of(&s, "a")->used, 1);
	close_fixture(&s.f);
}

static int other_limits(struct one_worker *s, uint64_t id, const char *const *keys)
{
	struct tq_task_update u = { .fields = TQ_UPDATE_LIMITS, .limits = keys };

	while (keys[u.limit_count])
		u.limit_count++;
	begin(&s->f);
	return conclude(&s->f, tqi_steer_update(&s->f.tx, id, &u));
}

/* It leaves a full key for one with room, at once, and takes its slot there. */
static void test_l11_other_limits_of_a_parked_task(void **state)
{
	struct tqi_claimed first;
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	set_limit(&s, "a", 1);
	set_limit(&s, "b", 1);
	uint64_t runs = keyed(&s, KEYS("a"), PLAIN), parked = keyed(&s, KEYS("a"), PLAIN);

	assert_int_equal(claim(&s.f, s.worker, &first), runs);
	assert_int_equal(claim(&s.f, s.worker, &s.c), 0);
	assert_int_equal(other_limits(&s, runs, KEYS("b")), TQ_ESTATE);
	assert_int_equal(other_limits(&s, parked, KEYS("b", "new", "b")), 0);
	assert_int_equal(limit_of(&s, "a")->tasks, 1);
	assert_int_equal(limit_of(&s, "a")->waiting, 0);
	assert_int_equal(limit_of(&s, "b")->waiting, 1);
	assert_int_equal(claim(&s.f, s.worker, &s.c), parked);
	assert_int_equal(limit_of(&s, "a")->used, 1);
	assert_int_equal(limit_of(&s, "b")->used, 1);
	assert_int_equal(limit_of(&s, "new")->used, 1);
	end_by(&s, DONE);
	assert_int_equal(limit_of(&s, "b")->used, 0);
	assert_sound(&s.f);
	close_fixture(&s.f);
}

/* What nothing names any more goes, and what has no keys any more waits for none. */
static void test_l11_no_limits(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	set_limit(&s, "a", 1);
	keyed(&s, KEYS("a"), PLAIN);
	uint64_t id = keyed(&s, KEYS("a", "unset"), PLAIN);

	assert_int_not_equal(claim(&s.f, s.worker, &s.c), 0);
	assert_int_equal(claim(&s.f, s.worker, &s.c), 0);
	assert_int_equal(other_limits(&s, id, KEYS("a")), 0);
	assert_null(limit_of(&s, "unset"));
	assert_int_equal(claim(&s.f, s.worker, &s.c), 0);
	assert_int_equal(other_limits(&s, id, KEYS(NULL)), 0);
	assert_int_equal(claim(&s.f, s.worker, &s.c), id);
	assert_int_equal(limit_of(&s, "a")->used, 1);
	close_fixture(&s.f);
}

/* A task that had nothing rare gets it; it waits on as before, and then for its key. */
static void test_l11_limits_of_what_is_held_or_delayed(void **state)
{
	const struct tq_task_spec held = { .flags = TQ_TASK_HOLD }, delayed = { .delay_ns = 1 };
	struct tqi_claimed next;
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	set_limit(&s, "a", 1);
	uint64_t runs = keyed(&s, KEYS("a"), PLAIN);
	const uint64_t ids[] = { submit(&s.f, held), submit(&s.f, delayed) };

	assert_int_equal(claim(&s.f, s.worker, &s.c), runs);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(other_limits(&s, ids[i], KEYS("a")), 0);
	assert_int_equal(limit_of(&s, "a")->tasks, 3);
	assert_int_equal(limit_of(&s, "a")->waiting, 0);
	assert_sound(&s.f);
	begin(&s.f);
	assert_int_equal(conclude(&s.f, tqi_steer_hold(&s.f.tx, ids[0], false)), 0);
	s.f.box.system.now_ns += 1;
	begin(&s.f);
	tqi_due_run(&s.f.tx, 8);
	commit(&s.f);
	assert_int_equal(limit_of(&s, "a")->waiting, 2);
	assert_int_equal(claim(&s.f, s.worker, &next), 0);
	end_by(&s, DONE);
	assert_int_equal(claim(&s.f, s.worker, &s.c), ids[0]);
	assert_int_equal(claim(&s.f, s.worker, &next), 0);
	assert_sound(&s.f);
	close_fixture(&s.f);
}

/* A task with key "a", of this weight. */
static uint64_t weighty(struct one_worker *s, uint32_t weight)
{
	return submit(&s->f, (struct tq_task_spec){ .limits = KEYS("a"),
						    .limit_weights = &weight,
						    .limit_count = 1 });
}

/* What a worker comes to start, in as many holds as it takes; 0 nothing. */
static uint64_t start(struct one_worker *s, struct tqi_claimed *ret_claimed)
{
	int r;

	do {
		begin(&s->f);
		r = tqi_claim(&s->f.tx, s->worker, ret_claimed);
		commit(&s->f);
	} while (r == -EINPROGRESS || r == -EALREADY);
	return r == 0 ? ret_claimed->id : 0;
}

static void test_l17_a_heavy_task_takes_its_weight(void **state)
{
	struct tqi_claimed heavy, light[2];
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	set_limit(&s, "a", 4);
	uint64_t three = weighty(&s, 3), one = weighty(&s, 1);

	weighty(&s, 1);
	assert_int_equal(start(&s, &heavy), three);
	assert_int_equal(limit_of(&s, "a")->used, 3);
	assert_int_equal(start(&s, &light[0]), one);
	assert_int_equal(start(&s, &light[1]), 0);
	assert_sound(&s.f);
	end(&s.f, s.worker, &heavy, DONE);
	assert_int_equal(limit_of(&s, "a")->used, 1);
	assert_int_not_equal(start(&s, &light[1]), 0);
	close_fixture(&s.f);
}

/* Light ones that come later do not take each place that is freed; others go by. */
static void test_l17_light_tasks_do_not_starve_a_heavy_one(void **state)
{
	struct tqi_claimed light[3], c;
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	set_limit(&s, "a", 3);
	for (int i = 0; i < 3; i++) {
		weighty(&s, 1);
		assert_int_not_equal(start(&s, &light[i]), 0);
	}
	uint64_t heavy = weighty(&s, 3), later = weighty(&s, 1);
	uint64_t plain = submit(&s.f, PLAIN);

	for (int i = 0; i < 3; i++) {
		assert_int_equal(start(&s, &c), i == 0 ? plain : 0);
		end(&s.f, s.worker, &light[i], DONE);
		assert_sound(&s.f);
	}
	assert_int_equal(limit_of(&s, "a")->needed, 0); /* they have come together */
	assert_int_equal(start(&s, &c), heavy);
	assert_int_equal(start(&s, &light[0]), 0);
	end(&s.f, s.worker, &c, DONE);
	assert_int_equal(start(&s, &c), later);
	close_fixture(&s.f);
}

/* Whoever needs more than there are starts alone, and nothing is stuck when he has gone. */
static void test_l17_more_than_there_are(void **state)
{
	struct tqi_claimed light, c;
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	set_limit(&s, "a", 2);
	weighty(&s, 1);
	assert_int_not_equal(start(&s, &light), 0);
	uint64_t heavy = weighty(&s, TQ_WEIGHT_MAX), next = weighty(&s, 1);

	assert_int_equal(start(&s, &c), 0);
	assert_int_equal(limit_of(&s, "a")->needed, 2);
	end(&s.f, s.worker, &light, DONE);
	assert_int_equal(start(&s, &c), heavy);
	assert_int_equal(limit_of(&s, "a")->used, TQ_WEIGHT_MAX);
	assert_int_equal(start(&s, &light), 0);
	end(&s.f, s.worker, &c, DONE);
	assert_int_equal(start(&s, &light), next);
	heavy = weighty(&s, 2);
	next = weighty(&s, 1);
	assert_int_equal(start(&s, &c), 0);
	assert_int_equal(limit_of(&s, "a")->needed, 2);
	begin(&s.f);
	assert_int_equal(conclude(&s.f, tqi_steer_cancel(&s.f.tx, heavy)), 0);
	end(&s.f, s.worker, &light, DONE); /* they come together for nobody */
	assert_int_equal(start(&s, &c), next);
	assert_sound(&s.f);
	close_fixture(&s.f);
}

/* A change of the limit lets all compete again. */
static void test_l17_a_change_of_size_ends_the_gathering(void **state)
{
	struct tqi_claimed light, c;
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	set_limit(&s, "a", 2);
	weighty(&s, 1);
	assert_int_not_equal(start(&s, &light), 0);
	uint64_t heavy = weighty(&s, 2);

	assert_int_equal(start(&s, &c), 0);
	set_limit(&s, "a", 3);
	assert_int_equal(limit_of(&s, "a")->needed, 0);
	assert_int_equal(start(&s, &c), heavy);
	assert_sound(&s.f);
	close_fixture(&s.f);
}

/* Tens of thousands behind one full key, and as many other keys: a claim moves few. */
static void test_g2_a_full_key_does_not_slow_the_others(void **state)
{
	enum {
		BEHIND = 50000,
		OTHERS = 10000,
		CLAIMS = 5000,
		ENTRIES = 100
	};
	struct tqt_box_options o = { .max_bytes = 256ull << 20, .tasks_max = 100000 };
	struct one_worker s;
	uint32_t most = 0;
	char name[16];

	(void)state;
	tqt_box_open(&s.f.box, &o);
	assert_true(tqt_box_grow(&s.f.box, 200));
	s.worker = add_worker(&s.f, "default", 0);
	set_limit(&s, "full", 1);
	for (int i = 0; i < BEHIND; i++)
		keyed(&s, KEYS("full"), (struct tq_task_spec){ .priority = 9 });
	assert_int_not_equal(claim(&s.f, s.worker, &s.c), 0);
	for (int i = 0; i < OTHERS; i++) {
		snprintf(name, sizeof(name), "key %d", i);
		assert_int_equal(set_limit(&s, name, 1), 0);
		keyed(&s, KEYS(name), PLAIN);
	}
	for (int i = 0; i < CLAIMS; i++) {
		begin(&s.f);
		assert_int_equal(tqi_claim(&s.f.tx, s.worker, &s.c), 0);
		most = s.f.tx.undo_count > most ? s.f.tx.undo_count : most;
		commit(&s.f);
		end_by(&s, DONE);
	}
	/* It was 65, in heaps of this size. */
	assert_in_range(most, 1, ENTRIES);
	close_fixture(&s.f);
}

static uint32_t live(struct one_worker *s, uint32_t table)
{
	return tqi_segment_core(&s->f.box.seg)->tables[table].live;
}

/* Keys may be as many and as short-lived as tenants: their records go with the last task. */
static void test_g2_nothing_is_left_of_a_key_that_nobody_names(void **state)
{
	struct one_worker s;
	char name[24];

	(void)state;
	open_one_worker(&s);
	set_limit(&s, "set", 3);
	uint32_t lanes = 0, limits = live(&s, TQI_LIMITS);

	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "tenant %d", i);
		uint64_t id = keyed(&s, KEYS("set", name),
				    (struct tq_task_spec){ .flags = TQ_TASK_FORGET });

		assert_int_equal(claim(&s.f, s.worker, &s.c), id);
		end_by(&s, DONE);
		if (i == 0)
			lanes = live(&s, TQI_LANES);
		assert_int_equal(live(&s, TQI_LANES), lanes);
		assert_int_equal(live(&s, TQI_LIMITS), limits);
	}
	assert_int_equal(set_limit(&s, "set", 0), 0);
	assert_int_equal(live(&s, TQI_LIMITS), 0);
	close_fixture(&s.f);
}

/* What a lane's heap took when many waited goes back as they leave. */
static void test_g2_memory_follows_a_lane_down(void **state)
{
	struct tqt_box_options o = { .max_bytes = 64ull << 20, .tasks_max = 30000 };
	struct one_worker s;

	(void)state;
	tqt_box_open(&s.f.box, &o);
	assert_true(tqt_box_grow(&s.f.box, 40));
	s.worker = add_worker(&s.f, "default", 0);
	for (int i = 0; i < 20000; i++)
		keyed(&s, KEYS("a"), (struct tq_task_spec){ .flags = TQ_TASK_FORGET });
	const struct tqi_lane *lane = NULL;

	for (uint32_t l = 1; !lane || lane->is_parking || !lane->limits[0]; l++)
		lane = tqi_table_peek(&s.f.box.seg, TQI_LANES, l);
	for (int left = 20000; left > 0; left--) {
		assert_int_not_equal(claim(&s.f, s.worker, &s.c), 0);
		end_by(&s, DONE);
		if (left > 1)
			assert_in_range(lane->tasks.capacity, left - 1, 3 * left + 10000);
	}
	assert_int_equal(live(&s, TQI_LIMITS), 0);
	assert_int_equal(lane->tasks.capacity, 0);
	close_fixture(&s.f);
}

/* A release keeps its place, and its slot is not lost between. */
static void test_g2_a_released_task_is_the_first_again(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	set_limit(&s, "a", 1);
	uint64_t first = keyed(&s, KEYS("a"), PLAIN);

	keyed(&s, KEYS("a"), PLAIN);
	assert_int_equal(claim(&s.f, s.worker, &s.c), first);
	end_by(&s, RELEASE);
	assert_int_equal(claim(&s.f, s.worker, &s.c), first);
	close_fixture(&s.f);
}

static uint32_t parked(struct one_worker *s)
{
	uint32_t n = 0;

	for (uint32_t c = 1; c < tqi_segment_core(&s->f.box.seg)->tables[TQI_CLASSES].count; c++)
		n += ((struct tqi_class *)tqi_table_peek(&s->f.box.seg, TQI_CLASSES, c))->parked;
	return n;
}

/* Lanes that can start no more since a limit was set: they are moved by and by. */
static void test_g2_a_hold_moves_few_lanes(void **state)
{
	enum {
		LANES = 500,
		MOVES = 64
	};
	struct tqt_box_options o = { .max_bytes = 64ull << 20, .tasks_max = 2000 };
	struct one_worker s;
	uint32_t before = 0, holds = 0;
	char name[24];
	int r;

	(void)state;
	tqt_box_open(&s.f.box, &o);
	assert_true(tqt_box_grow(&s.f.box, 8));
	s.worker = add_worker(&s.f, "default", 0);
	for (int i = 0; i <= LANES; i++) {
		snprintf(name, sizeof(name), "own %d", i);
		keyed(&s, KEYS("shared", name), PLAIN);
	}
	uint64_t plain = submit(&s.f, PLAIN);

	assert_int_not_equal(claim(&s.f, s.worker, &s.c), 0);
	set_limit(&s, "shared", 1);
	do {
		begin(&s.f);
		r = tqi_claim(&s.f.tx, s.worker, &s.c);
		commit(&s.f);
		assert_in_range(parked(&s) - before, r == 0 ? 0 : 1, MOVES);
		before = parked(&s);
		holds++;
	} while (r == -EALREADY);
	assert_int_equal(r, 0);
	assert_int_equal(s.c.id, plain); /* behind all of them */
	assert_int_equal(before, LANES);
	assert_in_range(holds, LANES / MOVES, LANES);
	close_fixture(&s.f);
}

/* Somebody waits for a task. */
static void wait_for(struct one_worker *s, uint64_t id)
{
	bool full;

	begin(&s->f);
	uint32_t w = tqi_sleep_enter(&s->f.tx, &self, TQI_INTEREST_TASKS, 0, &full);

	assert_true(tqi_edge_add(&s->f.tx, w, tqi_id_index(id)));
	commit(&s->f);
}

/* A worker that leaves when nothing is left, asleep. */
static void sleep_until_empty(struct one_worker *s)
{
	const char *queue = "default";
	struct tqi_worker_request request = { .owner = &self,
					      .name = "",
					      .queues = &queue,
					      .queue_count = 1,
					      .flags = TQI_WORKER_EMPTY };
	uint32_t worker;

	begin(&s->f);
	assert_int_equal(tqi_worker_register(&s->f.tx, &request, &worker), 0);
	commit(&s->f);
	sleep_as(s, worker);
}

/*
 * The largest step: the death of a worker ends a task with four limits, all full, the
 * last of its lane, beside thousands of lanes; many wait for it, and many workers go home.
 * What is left of a journal that is filling must do (tqi_tx_is_filling()).
 */
static void largest_step(int lanes)
{
	enum {
		WAITERS = 32,
		WORKERS = 16
	};
	static const struct tqi_death death = { .cause = TQ_CAUSE_SIGNAL, .cause_arg = 9 };
	const char *const four[] = { "1", "2", "3", "4", NULL };
	struct tqt_box_options o = { .max_bytes = 128ull << 20, .tasks_max = 30000 };
	struct one_worker s;
	char name[24];

	tqt_box_open(&s.f.box, &o);
	assert_true(tqt_box_grow(&s.f.box, 100));
	s.worker = add_worker(&s.f, "default", 0);
	for (int i = 0; i < 4; i++)
		set_limit(&s, four[i], 1);
	uint64_t id = keyed(&s, four, (struct tq_task_spec){ .flags = TQ_TASK_AT_MOST_ONCE });

	assert_int_equal(claim(&s.f, s.worker, &s.c), id);
	for (int i = 0; i < lanes; i++) {
		snprintf(name, sizeof(name), "own %d", i);
		keyed(&s, KEYS(four[i % 4], name), (struct tq_task_spec){ .priority = -i });
	}
	for (int i = 0; i < WAITERS; i++)
		wait_for(&s, id);
	for (int i = 0; i < WORKERS; i++)
		sleep_until_empty(&s);
	begin(&s.f);
	tqi_end_by_death(&s.f.tx, s.c.attempt, &death);
	tqi_wake_keepers(&s.f.tx);
	uint32_t step = s.f.tx.undo_count + 8 * s.f.tx.give_count;

	assert_in_range(step, 1, TQI_JOURNAL_MAX - TQI_JOURNAL_MAX / 3);
	commit(&s.f);
	assert_int_equal(task_of(&s.f, id)->state, TQ_FAILED);
	close_fixture(&s.f);
}

static void test_g2_the_largest_step_has_room(void **state)
{
	(void)state;
	largest_step(5000);
	largest_step(0); /* then all go home */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_g2_all_or_none),
		cmocka_unit_test(test_g2_a_key_given_twice_counts_once),
		cmocka_unit_test(test_g2_every_end_gives_the_slot_back),
		cmocka_unit_test(test_g2_a_limit_set_later_holds_from_then_on),
		cmocka_unit_test(test_g2_the_best_waiter_starts),
		cmocka_unit_test(test_g2_waiting_wakes_nobody_and_a_free_slot_one),
		cmocka_unit_test(test_g2_a_slot_that_is_taken_at_once_wakes_nobody),
		cmocka_unit_test(test_g2_keys_stay_with_the_task),
		cmocka_unit_test(test_l11_other_limits_of_a_parked_task),
		cmocka_unit_test(test_l11_no_limits),
		cmocka_unit_test(test_l11_limits_of_what_is_held_or_delayed),
		cmocka_unit_test(test_l17_a_heavy_task_takes_its_weight),
		cmocka_unit_test(test_l17_light_tasks_do_not_starve_a_heavy_one),
		cmocka_unit_test(test_l17_more_than_there_are),
		cmocka_unit_test(test_l17_a_change_of_size_ends_the_gathering),
		cmocka_unit_test(test_g2_a_full_key_does_not_slow_the_others),
		cmocka_unit_test(test_g2_nothing_is_left_of_a_key_that_nobody_names),
		cmocka_unit_test(test_g2_memory_follows_a_lane_down),
		cmocka_unit_test(test_g2_a_released_task_is_the_first_again),
		cmocka_unit_test(test_g2_a_hold_moves_few_lanes),
		cmocka_unit_test(test_g2_the_largest_step_has_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
