/* SPDX-License-Identifier: MIT */
/* B6: fair queues, shared by run time. */
#include "tests/unit/fixture.h"

#include <errno.h>
#include <stdio.h>

#include "scheduler/order/fair.h"
#include "scheduler/limit/limit.h"

#define MS 1000000ull

static const struct tqi_ident self = { .pid = 7, .tid = 7, .start = 7 };

static int set_policy(struct one_worker *s, struct tqi_policy policy)
{
	const struct tqi_queue_settings settings = { .policy = policy };
	bool full;

	begin(&s->f);
	uint32_t q = tqi_queue_make(&s->f.tx, "default", &full);

	return conclude(&s->f, tqi_queue_set(&s->f.tx, q, &settings));
}

static void sweep(struct one_worker *s)
{
	bool more = true;

	while (more) {
		begin(&s->f);
		more = tqi_sweep_slice(&s->f.tx);
		commit(&s->f);
	}
}

static void open_fair_of(struct one_worker *s, uint64_t tasks_max)
{
	open_fixture(&s->f, tasks_max);
	s->worker = add_worker(&s->f, "default", 0);
	assert_int_equal(set_policy(s, (struct tqi_policy){ .fair = 1 }), 0);
}

static void open_fair(struct one_worker *s)
{
	open_fair_of(s, 4096);
}

static uint64_t of(struct one_worker *s, const char *key)
{
	return submit(&s->f, (struct tq_task_spec){ .fair_key = key, .attempts_max = 9 });
}

static void many_of(struct one_worker *s, const char *key, uint32_t count)
{
	while (count--)
		of(s, key);
}

static const struct tqi_tenant *tenant_of(struct one_worker *s, const char *key)
{
	begin(&s->f);
	uint32_t t = tqi_tenant_find(&s->f.tx, 1, key, (uint32_t)strlen(key));

	commit(&s->f);
	return t ? tqi_table_peek(&s->f.box.seg, TQI_TENANTS, t) : NULL;
}

static const struct tqi_queue *queue_of(struct one_worker *s)
{
	return tqi_table_peek(&s->f.box.seg, TQI_QUEUES, 1);
}

/* The key of a task; 0 none. */
static char key_of(struct one_worker *s, uint64_t id)
{
	begin(&s->f);
	uint32_t t = tqi_tenant_of(&s->f.tx, task_of(&s->f, id));

	commit(&s->f);
	return t ? ((const struct tqi_tenant *)tqi_table_peek(&s->f.box.seg, TQI_TENANTS, t))
			       ->name[0]
		 : '-';
}

/* Whose task starts next; it runs for so long. */
static char run(struct one_worker *s, uint64_t ms)
{
	uint64_t id = claim(&s->f, s->worker, &s->c);

	if (!id)
		return 0;
	char key = key_of(s, id);

	s->f.box.system.now_ns += ms * MS;
	end(&s->f, s->worker, &s->c, DONE);
	return key;
}

/* A thousand tasks of one against ten of another: these are through after twice their own time. */
static void test_b6_few_tasks_take_twice_their_time_beside_many(void **state)
{
	uint32_t few = 10, starts = 0;
	struct one_worker s;

	(void)state;
	open_fair(&s);
	many_of(&s, "a", 1000);
	many_of(&s, "b", few);
	while (few > 0) {
		few -= run(&s, 10) == 'b';
		starts++;
	}
	assert_in_range(starts, 19, 21);
	close_fixture(&s.f);
}

/* Long tasks and short ones get the same time. */
static void test_b6_time_counts_and_not_tasks(void **state)
{
	uint64_t ran[2] = { 0, 0 };
	struct one_worker s;

	(void)state;
	open_fair(&s);
	many_of(&s, "a", 100);
	many_of(&s, "b", 1000);
	for (int i = 0; i < 300; i++) {
		uint64_t id = claim(&s.f, s.worker, &s.c);
		bool is_b = key_of(&s, id) == 'b';
		uint64_t ms = is_b ? 10 : 200;

		s.f.box.system.now_ns += ms * MS;
		end(&s.f, s.worker, &s.c, DONE);
		ran[is_b] += ms;
	}
	/* At most the longest task and a mean apart. */
	uint64_t apart = ran[0] > ran[1] ? ran[0] - ran[1] : ran[1] - ran[0];

	assert_in_range(apart, 0, 400);
	close_fixture(&s.f);
}

/* Several attempts run at a time, and what they take is known only at their end. */
static void test_b6_many_workers_share_by_time_too(void **state)
{
	struct {
		struct tqi_claimed c;
		uint64_t end_ns;
		bool is_b;
	} running[8];
	uint64_t ran[2] = { 0, 0 };
	struct one_worker s;

	(void)state;
	open_fair(&s);
	many_of(&s, "a", 300);
	many_of(&s, "b", 3000);
	for (int i = 0; i < 8; i++)
		running[i].end_ns = 0;
	for (int n = 0; n < 1500; n++) {
		int next = 0;

		for (int i = 1; i < 8; i++)
			if (running[i].end_ns < running[next].end_ns)
				next = i;
		if (running[next].end_ns) {
			s.f.box.system.now_ns = running[next].end_ns;
			end(&s.f, s.worker, &running[next].c, DONE);
		}
		uint64_t id = claim(&s.f, s.worker, &running[next].c);
		bool is_b = key_of(&s, id) == 'b';
		uint64_t ms = is_b ? 10 : 100;

		running[next].is_b = is_b;
		running[next].end_ns =
			s.f.box.system.now_ns + ms * MS + (uint32_t)n; /* no two alike */
		ran[is_b] += ms;
	}
	uint64_t apart = ran[0] > ran[1] ? ran[0] - ran[1] : ran[1] - ran[0];

	assert_in_range(apart, 0, 8 * 100 + 8 * 50);
	close_fixture(&s.f);
}

/* Who was away has saved up nothing. */
static void test_b6_an_idle_key_gets_no_credit(void **state)
{
	uint32_t b = 0;
	struct one_worker s;

	(void)state;
	open_fair(&s);
	many_of(&s, "a", 300);
	of(&s, "b");
	for (int i = 0; i < 100; i++)
		run(&s, 100);
	assert_non_null(tenant_of(&s, "b")); /* its record remembers */
	many_of(&s, "b", 100);
	for (int i = 0; i < 20; i++)
		b += run(&s, 100) == 'b';
	assert_in_range(b, 9, 11);
	close_fixture(&s.f);
}

/* What one has had too much of, it does not get again. */
static void test_b6_a_long_task_is_paid_for(void **state)
{
	struct one_worker s;

	(void)state;
	open_fair(&s);
	many_of(&s, "a", 3);
	many_of(&s, "b", 200);
	assert_int_equal(run(&s, 1000), 'a'); /* came first */
	uint32_t b = 0;

	/* The first start is charged the only mean that is known: once, the other goes before. */
	for (int i = 0; i < 100; i++)
		b += run(&s, 10) == 'b';
	assert_in_range(b, 98, 100);
	close_fixture(&s.f);
}

/* Tasks without a key are one tenant among the others. */
static void test_b6_tasks_without_a_key_share_as_one(void **state)
{
	uint32_t of_key[2] = { 0, 0 };
	struct one_worker s;

	(void)state;
	open_fair(&s);
	many_of(&s, NULL, 50);
	many_of(&s, "b", 50);
	for (int i = 0; i < 20; i++)
		of_key[run(&s, 10) == 'b']++;
	assert_in_range(of_key[0], 9, 11);
	close_fixture(&s.f);
}

/* B6: priority orders inside a key only. */
static void test_b6_priority_counts_inside_a_key_only(void **state)
{
	struct one_worker s;

	(void)state;
	open_fair(&s);
	many_of(&s, "a", 10);
	uint64_t low = of(&s, "b");
	uint64_t urgent = submit(&s.f, (struct tq_task_spec){ .fair_key = "b", .priority = 1000 });

	assert_int_equal(run(&s, 10), 'a'); /* equal so far: in the order in which they came */
	assert_int_equal(claim(&s.f, s.worker, &s.c), urgent);
	s.f.box.system.now_ns += 10 * MS;
	end(&s.f, s.worker, &s.c, DONE);
	assert_int_equal(run(&s, 10), 'a');
	assert_int_equal(claim(&s.f, s.worker, &s.c), low);
	close_fixture(&s.f);
}

/* What is overdue in one key is no concern of another; each has turns of its own. */
static void test_b6_max_wait_orders_inside_a_key_only(void **state)
{
	struct one_worker s;

	(void)state;
	open_fair(&s);
	assert_int_equal(set_policy(&s, (struct tqi_policy){ .max_wait_ns = 50 * MS }), 0);
	uint64_t old_a = of(&s, "a"), old_b = of(&s, "b");
	struct tq_task_spec urgent = { .fair_key = "a", .priority = 1000 };

	s.f.box.system.now_ns += 100 * MS;
	uint64_t a = submit(&s.f, urgent);

	urgent.fair_key = "b";
	uint64_t b = submit(&s.f, urgent);
	const uint64_t order[] = { old_a, old_b, a, b };

	for (int i = 0; i < 4; i++) {
		assert_int_equal(claim(&s.f, s.worker, &s.c), order[i]);
		s.f.box.system.now_ns += 10 * MS;
		end(&s.f, s.worker, &s.c, DONE);
	}
	close_fixture(&s.f);
}

/* B9: what cannot start is invisible: whose tasks wait for a limit is passed over. */
static void test_b6_a_throttled_key_is_passed_over(void **state)
{
	const char *const limits[] = { "one" };
	struct tq_task_spec spec = { .fair_key = "a", .limits = limits, .limit_count = 1 };
	struct one_worker s;
	struct tqi_claimed first;

	(void)state;
	open_fair(&s);
	begin(&s.f);
	assert_int_equal(tqi_limit_set(&s.f.tx, "one", &(struct tqi_limit_change){ .size = 1 }), 0);
	commit(&s.f);
	uint64_t holder = submit(&s.f, spec), waits = submit(&s.f, spec);

	many_of(&s, "b", 5);
	assert_int_equal(claim(&s.f, s.worker, &first), holder);
	for (int i = 0; i < 3; i++)
		assert_int_equal(run(&s, 500), 'b');
	s.f.box.system.now_ns += 200 * MS;
	end(&s.f, s.worker, &first, DONE);
	/* It has run, too; once it may start again, that is what counts. */
	assert_int_equal(run(&s, 500), 'b');
	assert_int_equal(claim(&s.f, s.worker, &s.c), waits);
	close_fixture(&s.f);
}

/* A worker of one kind is given the least served key that has such tasks. */
static void test_b6_kinds_that_a_worker_does_not_serve_are_passed_over(void **state)
{
	const char *queue = "default", *kind = "x";
	struct tqi_worker_request request = { .owner = &self,
					      .name = "",
					      .queues = &queue,
					      .queue_count = 1,
					      .kinds = &kind,
					      .kind_count = 1 };
	struct one_worker s;
	uint32_t x;

	(void)state;
	open_fair(&s);
	begin(&s.f);
	assert_int_equal(tqi_worker_register(&s.f.tx, &request, &x), 0);
	commit(&s.f);
	many_of(&s, "a", 3);
	uint64_t b = submit(&s.f, (struct tq_task_spec){ .fair_key = "b", .kind = "x" });
	uint64_t c = submit(&s.f, (struct tq_task_spec){ .fair_key = "c", .kind = "x" });

	assert_int_equal(claim(&s.f, x, &s.c), b);
	assert_int_equal(claim(&s.f, x, &s.c), c);
	assert_int_equal(claim(&s.f, x, &s.c), 0);
	close_fixture(&s.f);
}

/* FA-3: the first guess is wrong, the mean is learnt; the end puts it right. */
static void test_b6_what_is_charged_is_what_it_took(void **state)
{
	struct one_worker s;

	(void)state;
	open_fair(&s);
	many_of(&s, "a", 20);
	run(&s, 100);
	assert_in_range(tenant_of(&s, "a")->tag_us, 100000, 100002);
	for (int i = 0; i < 5; i++)
		run(&s, 20);
	const struct tqi_tenant *a = tenant_of(&s, "a");

	assert_in_range(a->tag_us - a->credit_us, 200000, 200010);
	claim(&s.f, s.worker, &s.c); /* released at once: it took next to nothing */
	end(&s.f, s.worker, &s.c, RELEASE);
	assert_in_range(a->tag_us - a->credit_us, 200000, 200020);
	close_fixture(&s.f);
}

/* A tenant's record goes with the last task that names it, its class with the last member. */
static void test_b6_nothing_is_left_of_a_key(void **state)
{
	const struct tqi_core *core;
	struct one_worker s;

	(void)state;
	open_fair(&s);
	core = tqi_segment_core(&s.f.box.seg);
	of(&s, NULL);
	run(&s, 1);
	uint32_t tenants = core->tables[TQI_TENANTS].live, lanes = core->tables[TQI_LANES].live;
	uint32_t classes = core->tables[TQI_CLASSES].live;

	for (int i = 0; i < 20; i++) {
		uint64_t ids[2] = { of(&s, "a"), of(&s, "b") };

		assert_int_equal(core->tables[TQI_CLASSES].live, classes + 2);
		for (int k = 0; k < 2; k++) {
			begin(&s.f);
			assert_int_equal(k ? tqi_steer_cancel(&s.f.tx, ids[k]) : 0, 0);
			commit(&s.f);
		}
		run(&s, 1);
		assert_int_equal(core->tables[TQI_CLASSES].live, classes);
		assert_int_equal(core->tables[TQI_TENANTS].live, tenants + 2);
		for (int k = 0; k < 2; k++) {
			begin(&s.f);
			assert_int_equal(tqi_steer_forget(&s.f.tx, ids[k]), 0);
			commit(&s.f);
		}
		assert_int_equal(core->tables[TQI_TENANTS].live, tenants);
	}
	assert_int_equal(core->tables[TQI_LANES].live, lanes);
	close_fixture(&s.f);
}

/* Between fair and not, with everything that waits; what runs is charged, then or never. */
static void test_b6_a_queue_becomes_fair_and_back(void **state)
{
	uint32_t of_key[2] = { 0, 0 };
	struct tqi_claimed before, during;
	struct one_worker s;

	(void)state;
	open_fixture(&s.f, 4096);
	s.worker = add_worker(&s.f, "default", 0);
	many_of(&s, "a", 300);
	many_of(&s, "b", 100);
	claim(&s.f, s.worker, &before);
	assert_int_equal(set_policy(&s, (struct tqi_policy){ .fair = 1 }), 0);
	assert_int_equal(set_policy(&s, (struct tqi_policy){ .fair = TQ_OFF }), -EBUSY);
	assert_true(queue_of(&s)->flags & TQI_QUEUE_SHARED);
	sweep(&s);
	assert_false(queue_of(&s)->flags & TQI_QUEUE_MOVING);
	end(&s.f, s.worker, &before, DONE);
	assert_int_equal(tenant_of(&s, "a")->tag_us, 0); /* it was no fair start */
	for (int i = 0; i < 20; i++)
		of_key[run(&s, 10) == 'b']++;
	assert_in_range(of_key[0], 9, 11);
	claim(&s.f, s.worker, &during);
	assert_int_equal(set_policy(&s, (struct tqi_policy){ .fair = TQ_OFF }), 0);
	sweep(&s);
	assert_false(queue_of(&s)->flags & TQI_QUEUE_SHARED);
	assert_int_equal(tenant_of(&s, "a")->chains[1].left, 0);
	end(&s.f, s.worker, &during, DONE);
	for (int i = 0; i < 200; i++)
		assert_int_equal(run(&s, 10), 'a'); /* as submitted */
	close_fixture(&s.f);
}

static void test_b6_fair_and_hybrid_are_refused(void **state)
{
	struct one_worker s;

	(void)state;
	open_fair(&s);
	assert_int_equal(set_policy(&s, (struct tqi_policy){ .hybrid = 5 }), -ENOTSUP);
	assert_int_equal(set_policy(&s, (struct tqi_policy){ .fair = TQ_OFF, .hybrid = 5 }), 0);
	assert_int_equal(set_policy(&s, (struct tqi_policy){ .fair = 1 }), -ENOTSUP);
	close_fixture(&s.f);
}

/* A waiting task goes to another queue: its key is another tenant there. */
static void test_b6_update_moves_the_key_along(void **state)
{
	struct tq_task_update u = { .fields = TQ_UPDATE_QUEUE, .queue = "other" };
	struct one_worker s;

	(void)state;
	open_fair(&s);
	submit(&s.f, (struct tq_task_spec){ .queue = "other" });
	uint64_t id = of(&s, "a");

	begin(&s.f);
	assert_int_equal(tqi_steer_update(&s.f.tx, id, &u), 0);
	commit(&s.f);
	assert_null(tenant_of(&s, "a"));
	assert_int_equal(key_of(&s, id), 'a');
	u.queue = "default";
	begin(&s.f);
	assert_int_equal(tqi_steer_update(&s.f.tx, id, &u), 0);
	commit(&s.f);
	assert_non_null(tenant_of(&s, "a"));
	assert_int_equal(claim(&s.f, s.worker, &s.c), id);
	close_fixture(&s.f);
}

/* At the end of time nothing overflows. */
static void test_b6_tags_do_not_overflow(void **state)
{
	struct one_worker s;

	(void)state;
	open_fair(&s);
	many_of(&s, "a", 3);
	many_of(&s, "b", 3);
	((struct tqi_tenant *)(uintptr_t)tenant_of(&s, "a"))->tag_us = INT64_MAX - 5;
	assert_int_equal(run(&s, 10), 'b');
	assert_int_equal(run(&s, 10), 'b');
	assert_int_equal(run(&s, 10), 'b');
	for (int i = 0; i < 3; i++)
		assert_int_equal(run(&s, 10), 'a');
	assert_int_equal(tenant_of(&s, "a")->tag_us, INT64_MAX);
	many_of(&s, "c", 1);
	assert_int_equal(run(&s, 10), 'c');
	close_fixture(&s.f);
}

/* Whoever leaves when nothing is left counts what waits in tenants' classes. */
static void test_b6_a_worker_that_empties_a_queue_waits_for_all_keys(void **state)
{
	struct one_worker s;

	(void)state;
	open_fair(&s);
	uint64_t id = submit(&s.f, (struct tq_task_spec){ .fair_key = "a", .delay_ns = SECOND });
	const struct tqi_worker *worker = tqi_table_peek(&s.f.box.seg, TQI_WORKERS, s.worker);

	begin(&s.f);
	assert_false(tqi_worker_is_idle(&s.f.tx, worker));
	tqi_steer_cancel(&s.f.tx, id);
	assert_true(tqi_worker_is_idle(&s.f.tx, worker));
	commit(&s.f);
	of(&s, "a");
	begin(&s.f);
	assert_false(tqi_worker_is_idle(&s.f.tx, worker));
	commit(&s.f);
	run(&s, 1);
	begin(&s.f);
	assert_true(tqi_worker_is_idle(&s.f.tx, worker));
	commit(&s.f);
	close_fixture(&s.f);
}

/* A claim's journal does not grow with the number of keys. */
static void test_b6_a_claim_among_a_thousand_keys_is_small(void **state)
{
	struct one_worker s;
	uint32_t most = 0;

	(void)state;
	open_fair(&s);
	for (uint32_t i = 0; i < 2000; i++) {
		char key[16];

		snprintf(key, sizeof(key), "key %u", i % 1000);
		of(&s, key);
	}
	for (int i = 0; i < 1500; i++) {
		begin(&s.f);
		assert_int_equal(tqi_claim(&s.f.tx, s.worker, &s.c), 0);
		most = s.f.tx.undo_count > most ? s.f.tx.undo_count : most;
		commit(&s.f);
		s.f.box.system.now_ns += 3 * MS;
		end(&s.f, s.worker, &s.c, DONE);
	}
	assert_in_range(most, 1, 60);
	close_fixture(&s.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_b6_few_tasks_take_twice_their_time_beside_many),
		cmocka_unit_test(test_b6_time_counts_and_not_tasks),
		cmocka_unit_test(test_b6_many_workers_share_by_time_too),
		cmocka_unit_test(test_b6_an_idle_key_gets_no_credit),
		cmocka_unit_test(test_b6_a_long_task_is_paid_for),
		cmocka_unit_test(test_b6_tasks_without_a_key_share_as_one),
		cmocka_unit_test(test_b6_priority_counts_inside_a_key_only),
		cmocka_unit_test(test_b6_max_wait_orders_inside_a_key_only),
		cmocka_unit_test(test_b6_a_throttled_key_is_passed_over),
		cmocka_unit_test(test_b6_kinds_that_a_worker_does_not_serve_are_passed_over),
		cmocka_unit_test(test_b6_what_is_charged_is_what_it_took),
		cmocka_unit_test(test_b6_nothing_is_left_of_a_key),
		cmocka_unit_test(test_b6_a_queue_becomes_fair_and_back),
		cmocka_unit_test(test_b6_fair_and_hybrid_are_refused),
		cmocka_unit_test(test_b6_update_moves_the_key_along),
		cmocka_unit_test(test_b6_tags_do_not_overflow),
		cmocka_unit_test(test_b6_a_worker_that_empties_a_queue_waits_for_all_keys),
		cmocka_unit_test(test_b6_a_claim_among_a_thousand_keys_is_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
