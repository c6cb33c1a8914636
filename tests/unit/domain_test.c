/* SPDX-License-Identifier: MIT */
/* shm/domain.c: keepers of several stop domains, who is passed over, and cover (WT-6, WT-7). */
#include "tests/unit/fixture.h"

#include "scheduler/worker/keepers.h"
#include "shm/domain.h"
#include "shm/lock.h"

static struct tqi_core *core_of(struct fixture *f)
{
	return tqi_segment_core(&f->box.seg);
}

/* A client of a process. */
static uint32_t client(struct fixture *f, uint32_t pid)
{
	return fall_asleep(f, pid, TQI_INTEREST_TASKS, 0);
}

/* A worker of a process, without a farm. */
static uint32_t sleeper(struct fixture *f, uint32_t pid)
{
	return fall_asleep(f, pid, TQI_INTEREST_WORK, add_worker(f, "default", 0));
}

static void leave(struct fixture *f, uint32_t w)
{
	begin(f);
	tqi_sleep_leave(&f->tx, w);
	commit(f);
}

/* A popped one that found nothing; true when it popped another. */
static bool come_back(struct fixture *f, uint32_t w)
{
	begin(f);
	tqi_sleep_again(&f->tx, w, UINT64_MAX);
	bool woken = tqi_wake_next(&f->tx);

	commit(f);
	return woken;
}

static void expect_keepers(struct fixture *f, uint32_t a, uint32_t b, uint32_t c)
{
	assert_int_equal(core_of(f)->waiter_keepers[0], a);
	assert_int_equal(core_of(f)->waiter_keepers[1], b);
	assert_int_equal(core_of(f)->waiter_keepers[2], c);
}

static bool is_popped(struct fixture *f, uint32_t w)
{
	return sleeper_of(f, w)->state == TQI_WAITER_TRANSIT;
}

/* Whoever is of a domain without a keeper takes the place of one whose domain has two. */
static void test_other_domains_come_first(void **state)
{
	uint32_t a[4], b, c, d;
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	for (int i = 0; i < 4; i++)
		a[i] = client(&f, 10);
	expect_keepers(&f, a[0], a[1], a[2]);
	b = client(&f, 20);
	expect_keepers(&f, a[0], a[1], b);
	c = client(&f, 30);
	expect_keepers(&f, a[0], c, b);
	d = client(&f, 40);
	client(&f, 20);
	expect_keepers(&f, a[0], c, b);
	leave(&f, c); /* d is of a domain that has none */
	expect_keepers(&f, a[0], d, b);
	leave(&f, d);
	expect_keepers(&f, a[0], a[1], b);
	leave(&f, a[0]); /* there is nobody but of those two */
	assert_int_equal(core_of(&f)->waiter_keepers[1], a[1]);
	assert_int_equal(core_of(&f)->waiter_keepers[2], b);
	close_fixture(&f);
}

/* Another process whose sleepers are on the same list. */
static uint32_t pid_beside(uint32_t pid)
{
	uint32_t other = pid + 1;

	while (tqi_domain_list(other) != tqi_domain_list(pid))
		other++;
	return other;
}

static void test_domains_that_share_a_list(void **state)
{
	uint32_t a[5], other = pid_beside(10);
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	for (int i = 0; i < 3; i++)
		a[i] = client(&f, 10);
	uint32_t b = client(&f, other);

	expect_keepers(&f, a[0], a[1], b);
	a[3] = client(&f, 10);
	uint32_t c = client(&f, other);

	leave(&f, b);
	expect_keepers(&f, a[0], a[1], c);
	leave(&f, c);
	expect_keepers(&f, a[0], a[1], a[2]);
	for (int i = 0; i < 4; i++)
		leave(&f, a[i]);
	expect_keepers(&f, 0, 0, 0);
	close_fixture(&f);
}

/* A farm's master, workers and their heartbeats are one domain. */
static void test_farm_is_one_domain(void **state)
{
	static const struct tqi_ident master_ident = { .pid = 50, .tid = 50, .start = 1 };
	static const struct tqi_ident worker_ident = { .pid = 51, .tid = 51, .start = 1 };
	const char *queue = "default";
	struct tqi_worker_request request = { .owner = &master_ident,
					      .name = "farm",
					      .queues = &queue,
					      .queue_count = 1,
					      .flags = TQI_WORKER_MASTER };
	uint32_t master, worker;
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	begin(&f);
	assert_int_equal(tqi_worker_register(&f.tx, &request, &master), 0);
	request.owner = &worker_ident;
	request.flags = 0;
	request.master = master;
	assert_int_equal(tqi_worker_register(&f.tx, &request, &worker), 0);
	commit(&f);
	uint32_t m = fall_asleep(&f, 50, TQI_INTEREST_MASTER, master);
	uint32_t w = fall_asleep(&f, 51, TQI_INTEREST_WORK, worker);
	uint32_t h = fall_asleep(&f, 51, TQI_INTEREST_STOPS, worker);

	assert_int_equal(sleeper_of(&f, m)->domain, 50);
	assert_int_equal(sleeper_of(&f, w)->domain, 50);
	assert_int_equal(sleeper_of(&f, h)->domain, 50);
	assert_int_equal(sleeper_of(&f, client(&f, 51))->domain, 51);
	close_fixture(&f);
}

/* Who takes a keeper's place sleeps without limit until something is under way. */
static void test_new_keeper_is_told(void **state)
{
	uint32_t w[TQI_KEEPERS + 1];
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	for (int i = 0; i <= TQI_KEEPERS; i++)
		w[i] = client(&f, 10);
	submit(&f, (struct tq_task_spec){ .priority = 0 });
	uint64_t now = f.box.system.now_ns;

	assert_true(sleeper_of(&f, w[0])->until_ns == now + SECOND / 2);
	assert_true(sleeper_of(&f, w[1])->until_ns == now + SECOND / 10 * 7);
	assert_true(sleeper_of(&f, w[2])->until_ns == now + SECOND / 10 * 9);
	assert_true(sleeper_of(&f, w[3])->until_ns == UINT64_MAX);
	uint32_t word = tqi_load_relaxed32(&sleeper_of(&f, w[3])->word);

	begin(&f);
	tqi_sleep_leave(&f.tx, w[0]);
	tqi_wake_keepers(&f.tx);
	commit(&f);
	assert_true(sleeper_of(&f, w[3])->until_ns == now + SECOND / 2);
	assert_int_not_equal(tqi_load_relaxed32(&sleeper_of(&f, w[3])->word), word);
	close_fixture(&f);
}

/* A note that a keeper was given stays until its time has come: submits that follow wake nobody. */
static void test_note_stays_until_its_time(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t w = client(&f, 10);
	uint64_t id = submit(&f, (struct tq_task_spec){ .priority = 0 });
	uint64_t until = f.box.system.now_ns + SECOND / 2;

	assert_true(sleeper_of(&f, w)->until_ns == until);
	begin(&f);
	assert_int_equal(tqi_steer_cancel(&f.tx, id), 0);
	commit(&f);
	f.box.system.now_ns += SECOND / 4;
	begin(&f);
	assert_true(tqi_sleep_again(&f.tx, w, UINT64_MAX) == until);
	commit(&f);
	uint32_t word = tqi_load_relaxed32(&sleeper_of(&f, w)->word);

	id = submit(&f, (struct tq_task_spec){ .priority = 0 });
	assert_int_equal(tqi_load_relaxed32(&sleeper_of(&f, w)->word), word);
	begin(&f);
	assert_int_equal(tqi_steer_cancel(&f.tx, id), 0);
	commit(&f);
	f.box.system.now_ns += SECOND / 4;
	begin(&f);
	assert_true(tqi_sleep_again(&f.tx, w, UINT64_MAX) > until);
	commit(&f);
	close_fixture(&f);
}

/* What has been in transit for long names a domain that may be stopped: others come first. */
static void test_stalled_domain_is_passed_over(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t b = sleeper(&f, 20), a[3];

	for (int i = 0; i < 3; i++)
		a[i] = sleeper(&f, 10);
	submit(&f, (struct tq_task_spec){ .priority = 0 });
	assert_true(is_popped(&f, a[2]));
	f.box.system.now_ns += TQI_STALL_NS; /* not yet */
	submit(&f, (struct tq_task_spec){ .priority = 0 });
	assert_true(is_popped(&f, a[1]));
	f.box.system.now_ns += 1;
	submit(&f, (struct tq_task_spec){ .priority = 0 });
	assert_false(is_popped(&f, a[0]));
	assert_true(is_popped(&f, b));
	submit(&f, (struct tq_task_spec){ .priority = 0 }); /* nobody else is left */
	assert_true(is_popped(&f, a[0]));
	close_fixture(&f);
}

static void test_look_passes_over_a_stalled_domain(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t b = sleeper(&f, 20), a = sleeper(&f, 10), popped = sleeper(&f, 10);

	submit(&f, (struct tq_task_spec){ .priority = 0 });
	assert_true(is_popped(&f, popped));
	f.box.system.now_ns += SECOND / 2;
	begin(&f);
	assert_true(tqi_wake_any(&f.tx));
	commit(&f);
	assert_false(is_popped(&f, a));
	assert_true(is_popped(&f, b));
	come_back(&f, b);
	come_back(&f, popped); /* it goes on: its domain is no worse than others */
	begin(&f);
	assert_true(tqi_wake_any(&f.tx));
	commit(&f);
	assert_true(is_popped(&f, popped)); /* the newest */
	close_fixture(&f);
}

/* Who is on the way covers what is startable, for who comes back, not for looks. */
static void test_cover(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t a = sleeper(&f, 10), b = sleeper(&f, 10), c = sleeper(&f, 10);

	submit(&f, (struct tq_task_spec){ .priority = 0 });
	submit(&f, (struct tq_task_spec){ .priority = 0 });
	assert_true(is_popped(&f, b) && is_popped(&f, c));
	assert_int_equal(core_of(&f)->waiter_coming, 2);
	assert_true(come_back(&f, c)); /* two tasks, one on the way */
	assert_true(is_popped(&f, c));
	begin(&f);
	assert_int_equal(tqi_waiter_cover(&f.tx), 2);
	f.tx.now_ns += TQI_STALL_NS + 1;
	assert_int_equal(tqi_waiter_cover(&f.tx), 0);
	tqi_tx_abort(&f.tx);
	submit(&f, (struct tq_task_spec){ .delay_ns = SECOND });
	assert_false(is_popped(&f, a));
	struct tqi_claimed claimed;

	claim(&f, sleeper_of(&f, b)->subject, &claimed);
	assert_false(come_back(&f, b)); /* one task, one on the way */
	begin(&f);
	assert_true(tqi_wake_any(&f.tx)); /* a look does not believe in it */
	commit(&f);
	close_fixture(&f);
}

/* More than are looked at have been on their way for long: nobody is believed in. */
static void test_many_that_stall_are_no_cover(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	for (int i = 0; i < 18; i++)
		sleeper(&f, 10);
	for (int i = 0; i < 17; i++)
		submit(&f, (struct tq_task_spec){ .priority = 0 });
	begin(&f);
	assert_int_equal(tqi_waiter_cover(&f.tx), 17);
	f.tx.now_ns += TQI_STALL_NS + 1;
	assert_int_equal(tqi_waiter_cover(&f.tx), 0);
	tqi_tx_abort(&f.tx);
	f.box.system.now_ns += SECOND;
	submit(&f, (struct tq_task_spec){ .priority = 0 });
	begin(&f);
	assert_int_equal(tqi_waiter_cover(&f.tx), 0); /* one is fresh, but behind 17 others */
	tqi_tx_abort(&f.tx);
	close_fixture(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_other_domains_come_first),
		cmocka_unit_test(test_domains_that_share_a_list),
		cmocka_unit_test(test_farm_is_one_domain),
		cmocka_unit_test(test_new_keeper_is_told),
		cmocka_unit_test(test_note_stays_until_its_time),
		cmocka_unit_test(test_stalled_domain_is_passed_over),
		cmocka_unit_test(test_look_passes_over_a_stalled_domain),
		cmocka_unit_test(test_cover),
		cmocka_unit_test(test_many_that_stall_are_no_cover),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
