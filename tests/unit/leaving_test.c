/* SPDX-License-Identifier: MIT */
/* Workers that leave when nothing is left (LV-1): looked at in slices, and only with reason. */
#include "tests/unit/fixture.h"

#define NOWHERE 0x7fffffffu /* a slot that nobody could look at */
#define MANY 100
#define LOOKS 32 /* in one hold; scheduler/wake/leaving.c */
#define POPS 16

struct many {
	struct fixture f;
	uint64_t delayed; /* keeps all from leaving */
	uint32_t w[MANY]; /* their slots, oldest first */
};

static struct tqi_root *root_of(struct many *m)
{
	return tqi_segment_root(&m->f.box.seg);
}

static uint32_t add(struct many *m, uint32_t flags)
{
	static const struct tqi_ident owner = { .pid = 7, .tid = 7, .start = 7 };
	const char *queue = "default";
	struct tqi_worker_request request = {
		.owner = &owner, .name = "", .queues = &queue, .queue_count = 1, .flags = flags
	};
	uint32_t worker;

	begin(&m->f);
	assert_int_equal(tqi_worker_register(&m->f.tx, &request, &worker), 0);
	commit(&m->f);
	return worker;
}

static void open_many(struct many *m, uint32_t flags)
{
	open_fixture(&m->f, 1000);
	m->delayed = submit(&m->f, (struct tq_task_spec){ .delay_ns = 1000 * SECOND });
	for (uint32_t i = 0; i < MANY; i++)
		m->w[i] = fall_asleep(&m->f, 1, TQI_INTEREST_WORK, add(m, flags));
	assert_sound(&m->f);
}

static uint32_t popped(struct many *m)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < MANY; i++)
		n += sleeper_of(&m->f, m->w[i])->state == TQI_WAITER_TRANSIT;
	return n;
}

static void wake_empty(struct many *m)
{
	begin(&m->f);
	tqi_wake_empty(&m->f.tx);
	commit(&m->f);
}

/* Looks until there is no more; how many it took. */
static uint32_t look_around(struct many *m)
{
	struct tqi_look look = { .again = true };
	uint32_t n = 0;

	for (; look.again; n++) {
		begin(&m->f);
		tqi_look(&m->f.tx, &look);
		commit(&m->f);
		assert_in_range(n, 0, MANY);
	}
	return n;
}

/* A round takes as many holds as there are slices, and the keeper is told to do the rest. */
static void test_rounds(void **state)
{
	struct many m;

	(void)state;
	open_many(&m, TQI_WORKER_EMPTY);
	wake_empty(&m);
	assert_int_equal(root_of(&m)->leaving_at, m.w[MANY - LOOKS - 1]);
	assert_sound(&m.f);
	begin(&m.f);
	assert_true(tqi_keeper_until(&m.f.tx, 0) <= m.f.tx.now_ns);
	commit(&m.f);
	assert_int_equal(look_around(&m), (MANY - 1) / LOOKS);
	assert_int_equal(root_of(&m)->leaving_at, 0);
	assert_int_equal(popped(&m), 0);

	/* What comes in the midst of a round has all looked at once more. */
	wake_empty(&m);
	wake_empty(&m);
	assert_int_equal(root_of(&m)->leaving_again, 1);
	assert_sound(&m.f);
	assert_int_equal(look_around(&m), (2 * MANY - 1) / LOOKS - 1);
	assert_int_equal(popped(&m), 0);
	close_fixture(&m.f);
}

static void test_all_go(void **state)
{
	struct many m;

	(void)state;
	open_many(&m, TQI_WORKER_EMPTY);
	assert_int_equal(steer_task(&m.f, tqi_steer_cancel, m.delayed), 0);
	assert_int_equal(popped(&m), POPS);
	assert_sound(&m.f);
	look_around(&m);
	assert_int_equal(popped(&m), MANY);
	assert_sound(&m.f);
	close_fixture(&m.f);
}

/* As the segment shuts down all go, those last that would have stayed. */
static void test_shutdown(void **state)
{
	struct many m;

	(void)state;
	open_many(&m, 0);
	uint32_t first = fall_asleep(&m.f, 1, TQI_INTEREST_WORK, add(&m, TQI_WORKER_EMPTY));

	fall_asleep(&m.f, 1, TQI_INTEREST_WORK, add(&m, 0));
	begin(&m.f);
	tqi_steer_shutdown(&m.f.tx, TQ_SHUTDOWN_CANCEL);
	commit(&m.f);
	look_around(&m);
	assert_int_equal(sleeper_of(&m.f, first)->state, TQI_WAITER_TRANSIT);
	assert_int_equal(popped(&m), MANY);
	close_fixture(&m.f);
}

/* The one that is next in the round may go for another reason. */
static void test_next_one_goes(void **state)
{
	struct many m;

	(void)state;
	open_many(&m, TQI_WORKER_EMPTY);
	wake_empty(&m);
	begin(&m.f);
	tqi_sleep_leave(&m.f.tx, m.w[MANY - LOOKS - 1]);
	commit(&m.f);
	assert_int_equal(root_of(&m)->leaving_at, m.w[MANY - LOOKS - 2]);
	begin(&m.f);
	tqi_sleep_pop(&m.f.tx, m.w[MANY - LOOKS - 2]);
	commit(&m.f);
	assert_int_equal(root_of(&m)->leaving_at, m.w[MANY - LOOKS - 3]);
	assert_sound(&m.f);
	look_around(&m);
	close_fixture(&m.f);
}

/* The end of one of several that run meets nobody: here their list leads nowhere. */
static void test_end_beside_others_meets_nobody(void **state)
{
	struct tqi_claimed c[2];
	struct many m;

	(void)state;
	open_many(&m, TQI_WORKER_EMPTY);
	struct tqi_waiter_list *list =
		&tqi_segment_core(&m.f.box.seg)->waiter_lists[TQI_SLEEPERS_EMPTY];
	uint32_t worker = add(&m, 0), newest = list->newest;

	for (int i = 0; i < 2; i++) {
		submit(&m.f, (struct tq_task_spec){ 0 });
		claim(&m.f, worker, &c[i]);
	}
	newest = list->newest;
	list->newest = NOWHERE;
	assert_int_equal(end(&m.f, worker, &c[0], DONE), 0);
	list->newest = newest;
	assert_int_equal(end(&m.f, worker, &c[1], DONE), 0);
	assert_int_not_equal(root_of(&m)->leaving_at, 0);
	close_fixture(&m.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rounds),
		cmocka_unit_test(test_all_go),
		cmocka_unit_test(test_shutdown),
		cmocka_unit_test(test_next_one_goes),
		cmocka_unit_test(test_end_beside_others_meets_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
