/* SPDX-License-Identifier: MIT */
/* Submitters asleep for room (scheduler/wake/room.h): who is woken, and that nobody else is met. */
#include "tests/unit/fixture.h"

#include "scheduler/record/queue_set.h"
#include "scheduler/wake/room.h"

#define NOWHERE 0x7fffffffu /* a slot that nobody could look at */
#define MANY 40

static struct tqi_root *root_of(struct fixture *f)
{
	return tqi_segment_root(&f->box.seg);
}

static uint32_t queue_of(struct fixture *f, const char *name)
{
	begin(f);
	uint32_t q = tqi_queue_find(&f->tx, name);

	commit(f);
	return q;
}

static void set_depth(struct fixture *f, uint32_t q, uint64_t depth_max)
{
	const struct tqi_queue_settings settings = { .depth_max = depth_max };

	begin(f);
	assert_int_equal(tqi_queue_set(&f->tx, q, &settings), 0);
	commit(f);
}

/* A queue with place for one task, and that task in it. */
static uint32_t full_queue(struct fixture *f, const char *name, uint64_t *ret_id)
{
	*ret_id = submit(f, (struct tq_task_spec){ .queue = name });
	uint32_t q = queue_of(f, name);

	set_depth(f, q, 1);
	return q;
}

static uint32_t sleeper(struct fixture *f, uint32_t q)
{
	return fall_asleep(f, 1, TQI_INTEREST_ROOM, q);
}

static bool is_popped(struct fixture *f, uint32_t w)
{
	return sleeper_of(f, w)->state == TQI_WAITER_TRANSIT;
}

static void wake_room(struct fixture *f)
{
	begin(f);
	tqi_wake_room(&f->tx);
	commit(f);
}

static void cancel(struct fixture *f, uint64_t id)
{
	assert_int_equal(steer_task(f, tqi_steer_cancel, id), 0);
}

/* RO-2: whose queue is full cost a look at their queue once; their list leads nowhere here. */
static void test_others_are_not_met(void **state)
{
	struct fixture f;
	uint64_t id, other;
	uint32_t of_full[MANY];

	(void)state;
	open_fixture(&f, 100);
	uint32_t full = full_queue(&f, "full", &other), q = full_queue(&f, "q", &id);

	for (uint32_t i = 0; i < MANY; i++)
		of_full[i] = sleeper(&f, full);
	uint32_t w = sleeper(&f, q);

	assert_sound(&f);
	for (uint32_t i = 0; i < MANY; i++)
		sleeper_of(&f, of_full[i])->peer_newer = NOWHERE;
	cancel(&f, id);
	assert_true(is_popped(&f, w));
	assert_false(tqi_queue_set_has(&root_of(&f)->room.queues, full));
	wake_room(&f);
	assert_false(is_popped(&f, of_full[0]));
	for (uint32_t i = 0; i < MANY; i++)
		sleeper_of(&f, of_full[i])->peer_newer = i + 1 < MANY ? of_full[i + 1] : 0;
	assert_sound(&f);
	cancel(&f, other);
	assert_true(is_popped(&f, of_full[0]));
	assert_false(is_popped(&f, of_full[MANY - 1])); /* an end wakes a few, not all */
	assert_sound(&f);
	close_fixture(&f);
}

/* Queues take turns; who waits for none is served by age. */
static void test_turns(void **state)
{
	struct fixture f;
	uint64_t id[2];
	uint32_t w[5];

	(void)state;
	open_fixture(&f, 100);
	uint32_t a = full_queue(&f, "a", &id[0]), b = full_queue(&f, "b", &id[1]);

	w[0] = sleeper(&f, a);
	w[1] = sleeper(&f, a);
	w[2] = sleeper(&f, 0);
	w[3] = sleeper(&f, b);
	w[4] = sleeper(&f, b);
	wake_room(&f);
	assert_true(is_popped(&f, w[2])); /* nobody else has place */
	set_depth(&f, a, 10);
	assert_true(is_popped(&f, w[0]));
	set_depth(&f, b, 10);
	assert_true(is_popped(&f, w[3]));
	assert_sound(&f);
	wake_room(&f);
	assert_true(is_popped(&f, w[1]));
	w[2] = sleeper(&f, 0);
	wake_room(&f);
	assert_true(is_popped(&f, w[4])); /* the older one */
	wake_room(&f);
	assert_true(is_popped(&f, w[2]));
	assert_sound(&f);
	close_fixture(&f);
}

/* Whoever comes back to a full queue leaves what it was popped for to others. */
static void test_passed_on(void **state)
{
	struct fixture f;
	uint64_t id;

	(void)state;
	open_fixture(&f, 100);
	uint32_t q = full_queue(&f, "q", &id), w = sleeper(&f, q), other;

	cancel(&f, id);
	assert_true(is_popped(&f, w));
	submit(&f, (struct tq_task_spec){ .queue = "q" });
	other = sleeper(&f, 0);
	begin(&f);
	tqi_sleep_again(&f.tx, w, UINT64_MAX);
	commit(&f);
	assert_false(is_popped(&f, w));
	assert_true(is_popped(&f, other));
	assert_sound(&f);
	close_fixture(&f);
}

/* RO-3: the dead are passed over a few at a time, and buried by whoever looks. */
static void test_dead_ones(void **state)
{
	struct tqi_look look = { .again = true };
	struct fixture f;
	uint32_t looks = 0;

	(void)state;
	open_fixture(&f, 100);
	for (uint32_t i = 0; i < MANY; i++)
		tqt_mutex_die(&sleeper_of(&f, sleeper(&f, 0))->mutex);
	uint32_t w = sleeper(&f, 0);

	wake_room(&f);
	assert_false(is_popped(&f, w));
	assert_int_equal(root_of(&f)->room.again, 1);
	assert_sound(&f);
	begin(&f);
	assert_true(tqi_keeper_until(&f.tx, 0) <= f.tx.now_ns);
	commit(&f);
	for (; look.again; looks++) {
		begin(&f);
		tqi_look(&f.tx, &look);
		commit(&f);
		assert_in_range(looks, 0, MANY);
	}
	assert_true(is_popped(&f, w));
	assert_int_equal(root_of(&f)->room.again, 0);
	assert_sound(&f);
	close_fixture(&f);
}

/* A purge makes place at once, and whoever ends what is purged finds those who wait. */
static void test_purge(void **state)
{
	struct fixture f;
	uint64_t id;

	(void)state;
	open_fixture(&f, 100);
	uint32_t q = full_queue(&f, "q", &id), w = sleeper(&f, q);

	wake_room(&f); /* finds it full */
	begin(&f);
	assert_int_equal(tqi_queue_purge(&f.tx, q), 1);
	commit(&f);
	assert_sound(&f);
	begin(&f);
	tqi_tend(&f.tx);
	commit(&f);
	assert_true(is_popped(&f, w));
	close_fixture(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_others_are_not_met),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_passed_on),
		cmocka_unit_test(test_dead_ones),
		cmocka_unit_test(test_purge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
