/* SPDX-License-Identifier: MIT */
/* scheduler/wake/asleep.c, lists of sleepers: who is found, and that nobody else is met. */
#include <stdio.h>

#include "tests/unit/fixture.h"

#include "scheduler/wake/asleep.h"
#include "shm/lock.h"

static struct tqi_worker *worker_of(struct fixture *f, uint32_t w)
{
	return tqi_table_peek(&f->box.seg, TQI_WORKERS, w);
}

static uint32_t add(struct fixture *f, const char *const *queues, uint32_t queue_count,
		    const char *kind)
{
	static const struct tqi_ident owner = { .pid = 7, .tid = 7, .start = 7 };
	struct tqi_worker_request request = { .owner = &owner,
					      .name = "",
					      .queues = queues,
					      .queue_count = queue_count,
					      .kinds = kind ? &kind : NULL,
					      .kind_count = kind != NULL };
	uint32_t worker;

	begin(f);
	assert_int_equal(tqi_worker_register(&f->tx, &request, &worker), 0);
	commit(f);
	return worker;
}

/* A worker of one queue and one kind (NULL any) asleep; its slot. */
static uint32_t sleeper(struct fixture *f, const char *queue, const char *kind)
{
	return fall_asleep(f, 1, TQI_INTEREST_WORK, add(f, &queue, 1, kind));
}

static bool is_popped(struct fixture *f, uint32_t w)
{
	return sleeper_of(f, w)->state == TQI_WAITER_TRANSIT;
}

static void submit_to(struct fixture *f, const char *queue, const char *kind)
{
	submit(f, (struct tq_task_spec){ .queue = queue, .kind = kind });
}

/* Of those that serve the queue and the kind the newest, whatever their sets of kinds. */
static void test_newest_that_serves(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t any = sleeper(&f, "a", NULL), x1 = sleeper(&f, "a", "x");
	uint32_t y = sleeper(&f, "a", "y"), x2 = sleeper(&f, "a", "x");
	uint32_t other = sleeper(&f, "b", NULL);

	submit_to(&f, "a", "y");
	assert_true(is_popped(&f, y));
	submit_to(&f, "a", "x");
	assert_true(is_popped(&f, x2));
	assert_sound(&f);
	submit_to(&f, "a", "y");
	assert_true(is_popped(&f, any));
	submit_to(&f, "a", "x");
	assert_true(is_popped(&f, x1));
	submit_to(&f, "a", "x");
	assert_false(is_popped(&f, other));
	assert_sound(&f);
	close_fixture(&f);
}

/* A slot may leave a stack from its middle, and come back on top. */
static void test_middle_of_a_stack(void **state)
{
	struct fixture f;
	uint32_t w[4];

	(void)state;
	open_fixture(&f, 100);
	for (int i = 0; i < 4; i++)
		w[i] = sleeper(&f, "a", NULL);
	begin(&f);
	tqi_sleep_pop(&f.tx, w[1]);
	commit(&f);
	assert_sound(&f);
	begin(&f);
	tqi_sleep_again(&f.tx, w[1], UINT64_MAX);
	tqi_sleep_leave(&f.tx, w[2]);
	commit(&f);
	assert_sound(&f);
	const uint32_t order[] = { w[1], w[3], w[0] };

	for (int i = 0; i < 3; i++) {
		submit_to(&f, "a", "x");
		assert_true(is_popped(&f, order[i]));
	}
	assert_sound(&f);
	close_fixture(&f);
}

/* In as many stacks as it has queues, each once. */
static void test_many_queues(void **state)
{
	const char *queues[TQ_WORKER_QUEUES_MAX];
	char names[TQ_WORKER_QUEUES_MAX][16];
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	for (int i = 0; i < TQ_WORKER_QUEUES_MAX; i++) {
		snprintf(names[i], sizeof(names[i]), "q%d", i);
		queues[i] = names[i];
	}
	queues[3] = queues[1]; /* one is named twice */
	uint32_t w =
		fall_asleep(&f, 1, TQI_INTEREST_WORK, add(&f, queues, TQ_WORKER_QUEUES_MAX, NULL));

	assert_sound(&f);
	submit_to(&f, "q1", "x");
	assert_true(is_popped(&f, w));
	assert_sound(&f);
	close_fixture(&f);
}

/* SL-3: kinds that change while it sleeps. */
static void test_kinds_change(void **state)
{
	const char *queue = "a", *kind = "y";
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t worker = add(&f, &queue, 1, "x"),
		 w = fall_asleep(&f, 1, TQI_INTEREST_WORK, worker);

	begin(&f);
	assert_int_equal(tqi_worker_set_kinds(&f.tx, worker, &kind, 1), 0);
	commit(&f);
	assert_sound(&f);
	submit_to(&f, "a", "x");
	assert_false(is_popped(&f, w));
	submit_to(&f, "a", "y");
	assert_true(is_popped(&f, w));
	close_fixture(&f);
}

/* SL-1: a record is used again while the slot of its dead owner is still listed. */
static void test_dead_owner_of_a_record(void **state)
{
	static const struct tqi_death death = { .cause = TQ_CAUSE_SIGNAL, .cause_arg = 9 };
	const char *queue = "a";
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t worker = add(&f, &queue, 1, NULL),
		 old = fall_asleep(&f, 1, TQI_INTEREST_WORK, worker);

	tqt_mutex_die(&sleeper_of(&f, old)->mutex);
	tqt_mutex_die(&worker_of(&f, worker)->life);
	begin(&f);
	assert_true(tqi_worker_dead(&f.tx, worker, worker_of(&f, worker)->generation, &death));
	commit(&f);
	assert_sound(&f);
	assert_int_equal(add(&f, &queue, 1, NULL), worker);
	uint32_t w = fall_asleep(&f, 1, TQI_INTEREST_WORK, worker);

	assert_sound(&f);
	submit_to(&f, "a", "x");
	assert_true(is_popped(&f, w));
	begin(&f);
	assert_true(tqi_sleep_bury(&f.tx));
	commit(&f);
	assert_sound(&f);
	close_fixture(&f);
}

/*
 * WT-8: lists that a submit has no use for may be as long as they like: here they lead
 * round in circles, and it does not notice.
 */
static void test_others_are_not_met(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t client = fall_asleep(&f, 1, TQI_INTEREST_TASKS, 0),
		 room = fall_asleep(&f, 1, TQI_INTEREST_ROOM, 0);
	uint32_t other = sleeper(&f, "b", NULL), w = sleeper(&f, "a", NULL);
	struct tqi_worker *of_other = worker_of(&f, sleeper_of(&f, other)->subject);

	sleeper_of(&f, client)->list_older = sleeper_of(&f, client)->list_newer = client;
	sleeper_of(&f, room)->list_older = sleeper_of(&f, room)->list_newer = room;
	of_other->ranks[0].next = of_other->ranks[0].below =
		tqi_rank_ref(sleeper_of(&f, other)->subject, 0);
	submit_to(&f, "a", "x");
	assert_true(is_popped(&f, w));
	submit_to(&f, "a", "x");
	close_fixture(&f);
}

static uint32_t asked;

static bool ask(struct tqi_tx *tx, const struct tqi_worker *worker)
{
	(void)tx;
	(void)worker;
	asked++;
	return false;
}

/* How many sleepers are asked whether they could start something. */
static uint32_t count_asked(struct fixture *f)
{
	asked = 0;
	begin(f);
	assert_int_equal(tqi_asleep_startable(&f->tx, ask), 0);
	commit(f);
	return asked;
}

/* Where nothing is unfinished, nobody is asked; nor, from then on, where nothing is any more. */
static void test_idle_queues_are_not_asked(void **state)
{
	struct fixture f;
	char queue[16];

	(void)state;
	open_fixture(&f, 400);
	for (int i = 0; i < 50; i++) {
		snprintf(queue, sizeof(queue), "q%d", i);
		sleeper(&f, queue, "x");
	}
	assert_int_equal(count_asked(&f), 0);
	uint64_t ids[10];

	for (int i = 0; i < 10; i++) {
		snprintf(queue, sizeof(queue), "q%d", 5 * i);
		ids[i] = submit(&f, (struct tq_task_spec){ .queue = queue, .kind = "y" });
	}
	assert_int_equal(count_asked(&f), 10);
	for (int i = 1; i < 10; i++)
		assert_int_equal(steer_task(&f, tqi_steer_cancel, ids[i]), 0);
	assert_int_equal(count_asked(&f), 10);
	assert_int_equal(count_asked(&f), 1);
	assert_sound(&f);
	close_fixture(&f);
}

/* A list that leads round in a circle is damage, and no loop under the lock. */
static void test_circles_are_damage(void **state)
{
	struct tq_task_spec spec = { .queue = "a", .kind = "x" };
	const char *queue = "a";
	struct fixture f;
	uint64_t id;

	(void)state;
	open_fixture(&f, 100);
	uint32_t worker = add(&f, &queue, 1, "y");
	struct tqi_submit s = { .spec = &spec };

	fall_asleep(&f, 1, TQI_INTEREST_WORK, worker);
	worker_of(&f, worker)->ranks[0].next = tqi_rank_ref(worker, 0);
	begin(&f);
	tqi_submit(&f.tx, &s, &id);
	assert_true(f.tx.corrupt);
	tqi_tx_abort(&f.tx);
	close_fixture(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_newest_that_serves),
		cmocka_unit_test(test_middle_of_a_stack),
		cmocka_unit_test(test_many_queues),
		cmocka_unit_test(test_kinds_change),
		cmocka_unit_test(test_dead_owner_of_a_record),
		cmocka_unit_test(test_others_are_not_met),
		cmocka_unit_test(test_idle_queues_are_not_asked),
		cmocka_unit_test(test_circles_are_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
