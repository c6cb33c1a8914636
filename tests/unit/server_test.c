/* SPDX-License-Identifier: MIT */
/* G1: servers of a queue: which one is given, what gives slots back, whom a free slot wakes. */
#include "tests/unit/fixture.h"

#include <errno.h>
#include <stdio.h>

#include "scheduler/order/assign.h"
#include "scheduler/limit/limit.h"
#include "scheduler/limit/server.h"

static const struct tqi_ident self = { .pid = 7, .tid = 7, .start = 7 };

#define PLAIN ((struct tq_task_spec){ .attempts_max = 10, .crashes_max = 10, .losses_max = 10 })

static uint32_t queue_of(struct fixture *f)
{
	bool full;

	return tqi_queue_make(&f->tx, "default", &full);
}

static int add_server(struct fixture *f, const char *name)
{
	begin(f);
	return conclude(f, tqi_server_add(&f->tx, queue_of(f), name));
}

static int remove_server(struct fixture *f, const char *name)
{
	begin(f);
	return conclude(f, tqi_server_remove(&f->tx, queue_of(f), name));
}

static int remove_all(struct fixture *f)
{
	begin(f);
	return conclude(f, tqi_server_remove_all(&f->tx, queue_of(f)));
}

static int set_limit(struct fixture *f, const char *pattern, uint32_t size)
{
	begin(f);
	return conclude(f, tqi_pool_set(&f->tx, queue_of(f), pattern, size));
}

/* Its record; NULL it is not there. */
static const struct tqi_server *server_of(struct fixture *f, const char *name)
{
	begin(f);
	uint32_t s = tqi_server_find(&f->tx, queue_of(f), name, (uint32_t)strlen(name));

	commit(f);
	return s ? tqi_table_peek(&f->box.seg, TQI_SERVERS, s) : NULL;
}

static uint32_t used_of(struct fixture *f, const char *name)
{
	return server_of(f, name)->used;
}

/* The server of what was claimed; "" nothing was, "-" it has none. */
static const char *claim_at(struct one_worker *s)
{
	if (!claim(&s->f, s->worker, &s->c))
		return "";
	const struct tqi_attempt *a = tqi_table_peek(&s->f.box.seg, TQI_ATTEMPTS, s->c.attempt);
	const struct tqi_server *server = tqi_table_peek(&s->f.box.seg, TQI_SERVERS, a->server);

	return a->server ? server->name : "-";
}

static void submit_some(struct one_worker *s, uint32_t count)
{
	while (count-- > 0)
		submit(&s->f, PLAIN);
}

static void test_g1_the_least_loaded_then_the_longest_idle(void **state)
{
	struct tqi_claimed first;
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	add_server(&s.f, "a");
	add_server(&s.f, "b");
	add_server(&s.f, "c");
	submit_some(&s, 7);
	assert_string_equal(claim_at(&s), "a"); /* as they came */
	first = s.c;
	assert_string_equal(claim_at(&s), "b");
	assert_string_equal(claim_at(&s), "c");
	end(&s.f, s.worker, &first, DONE);
	assert_string_equal(claim_at(&s), "a"); /* none under way there */
	assert_string_equal(claim_at(&s), "b"); /* given none for longest */
	assert_string_equal(claim_at(&s), "c");
	assert_sound(&s.f);
	close_fixture(&s.f);
}

static void test_g1_no_room_then_a_slot(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	set_limit(&s.f, "a", 1);
	add_server(&s.f, "a");
	submit_some(&s, 2);
	assert_string_equal(claim_at(&s), "a");
	struct tqi_claimed held = s.c;

	assert_string_equal(claim_at(&s), "");
	end(&s.f, s.worker, &held, DONE);
	assert_string_equal(claim_at(&s), "a");
	assert_sound(&s.f);
	close_fixture(&s.f);
}

/* Starts of the one stream that were put off. */
static uint64_t throttled(struct one_worker *s)
{
	begin(&s->f);
	uint64_t n = tqi_stream_of(&s->f.tx, task_of(&s->f, s->c.id))->throttled;

	commit(&s->f);
	return n;
}

static void pass_second(struct one_worker *s)
{
	s->f.box.system.now_ns += SECOND;
}

/* The next task starts, at a second of its own, after the one before has ended. */
static void start_next(struct one_worker *s)
{
	pass_second(s);
	end(&s->f, s->worker, &s->c, DONE);
	assert_string_equal(claim_at(s), "a");
}

/* What full servers have put off counts when it starts, once; what met a free one does not. */
static void test_t10_throttled_starts_are_counted(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	submit_some(&s, 1);
	pass_second(&s);
	set_limit(&s.f, "a", 1); /* and a queue that gets its first server was never full */
	add_server(&s.f, "a");
	assert_string_equal(claim_at(&s), "a");
	assert_int_equal(throttled(&s), 0);
	submit_some(&s, 2);
	start_next(&s);
	assert_int_equal(throttled(&s), 1);
	start_next(&s);
	assert_int_equal(throttled(&s), 2);
	end(&s.f, s.worker, &s.c, DONE);
	pass_second(&s);
	submit_some(&s, 3);
	assert_string_equal(claim_at(&s), "a");
	assert_int_equal(throttled(&s), 2);
	pass_second(&s);
	set_limit(&s.f, "a", 2); /* room comes for both by this */
	assert_string_equal(claim_at(&s), "a");
	assert_int_equal(throttled(&s), 3);
	close_fixture(&s.f);
}

/* A limit that carries servers within one hold puts off nothing where there was room. */
static void test_t10_no_room_for_a_moment_throttles_nothing(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	add_server(&s.f, "a");
	submit_some(&s, 2);
	pass_second(&s);
	set_limit(&s.f, "a", 2);
	set_limit(&s.f, "*", 2);
	set_limit(&s.f, "a", TQI_POOL_NONE);
	assert_string_equal(claim_at(&s), "a");
	assert_int_equal(throttled(&s), 0);
	close_fixture(&s.f);
}

/* The longest prefix counts, alone; a name beats all prefixes. */
static void test_g1_longest_prefix(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	set_limit(&s.f, "http://*", 1);
	set_limit(&s.f, "http://a*", 2);
	set_limit(&s.f, "http://a/2", 3);
	set_limit(&s.f, "*", 1);
	add_server(&s.f, "http://a/1");
	add_server(&s.f, "http://a/2");
	add_server(&s.f, "http://b");
	add_server(&s.f, "other");
	submit_some(&s, 9);
	uint32_t given = 0;

	while (*claim_at(&s))
		given++;
	assert_int_equal(given, 2 + 3 + 1 + 1);
	assert_int_equal(used_of(&s.f, "http://a/1"), 2);
	assert_int_equal(used_of(&s.f, "http://a/2"), 3);
	assert_int_equal(used_of(&s.f, "http://b"), 1);
	assert_int_equal(used_of(&s.f, "other"), 1);
	assert_sound(&s.f);
	close_fixture(&s.f);
}

static void test_g1_servers_share_the_slots_of_a_prefix(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	set_limit(&s.f, "http://*", 3);
	add_server(&s.f, "http://a");
	add_server(&s.f, "http://b");
	submit_some(&s, 5);
	assert_string_equal(claim_at(&s), "http://a");
	assert_string_equal(claim_at(&s), "http://b");
	assert_string_equal(claim_at(&s), "http://a");
	assert_string_equal(claim_at(&s), "");
	set_limit(&s.f, "http://*", 4);
	assert_string_equal(claim_at(&s), "http://b");
	close_fixture(&s.f);
}

/* What runs counts at once where its server comes to count; nobody is evicted. */
static void test_g1_limits_come_and_go_under_what_runs(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	add_server(&s.f, "http://a");
	add_server(&s.f, "http://b");
	submit_some(&s, 9);
	for (int i = 0; i < 4; i++)
		assert_string_not_equal(claim_at(&s), "");
	assert_int_equal(set_limit(&s.f, "http://*", 3), 0);
	assert_string_equal(claim_at(&s), ""); /* 4 of 3 */
	assert_int_equal(set_limit(&s.f, "http://a*", 3), 0);
	assert_string_equal(claim_at(&s), "http://a"); /* 2 of 3, as at b */
	assert_string_equal(claim_at(&s), "http://b");
	assert_string_equal(claim_at(&s), "");
	assert_int_equal(set_limit(&s.f, "http://*", TQI_POOL_NONE), 0);
	assert_string_equal(claim_at(&s), "http://b");
	assert_int_equal(set_limit(&s.f, "http://*", TQI_POOL_NONE), -ENOENT);
	assert_int_equal(set_limit(&s.f, "http://b", 1), 0);
	assert_string_equal(claim_at(&s), "");
	assert_int_equal(set_limit(&s.f, "http://b", TQI_POOL_NONE), 0);
	assert_string_equal(claim_at(&s), "http://b");
	assert_sound(&s.f);
	close_fixture(&s.f);
}

/* Whatever ends an attempt gives its slot back, and the task's record says where it was. */
static void test_g1_every_end_gives_the_slot_back(void **state)
{
	static const uint32_t kinds[] = { TQ_VERDICT_DONE, TQ_VERDICT_FAIL, TQ_VERDICT_FATAL,
					  TQ_VERDICT_RELEASE };
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	set_limit(&s.f, "a", 1);
	add_server(&s.f, "a");
	for (uint32_t i = 0; i < 6; i++) {
		submit_some(&s, 1);
		assert_string_equal(claim_at(&s), "a");
		const struct tqi_task *task = task_of(&s.f, s.c.id);
		struct tqi_verdict v = { .cause = TQ_CAUSE_ERROR };

		assert_int_equal(used_of(&s.f, "a"), 1);
		if (i < 4) {
			v.kind = kinds[i];
			end(&s.f, s.worker, &s.c, v);
		} else if (i == 4) {
			die_at_work(&s);
		} else {
			leave_work(&s);
		}
		assert_int_equal(used_of(&s.f, "a"), 0);
		assert_int_equal(!!(task->flags & TQI_TASK_SERVED), task->state != TQ_READY);
		if (task->state != TQ_READY)
			assert_int_equal(tqi_tag_index((uint64_t)task->key), 1);
		s.f.box.system.now_ns += 600 * SECOND;
		assert_sound(&s.f);
	}
	close_fixture(&s.f);
}

static void test_g1_removed_with_an_attempt_under_way(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	set_limit(&s.f, "*", 2);
	add_server(&s.f, "a");
	add_server(&s.f, "b");
	submit_some(&s, 4);
	assert_string_equal(claim_at(&s), "a");
	struct tqi_claimed at_a = s.c;

	assert_int_equal(remove_server(&s.f, "a"), 0);
	assert_int_equal(remove_server(&s.f, "a"), -ENOENT);
	assert_true(server_of(&s.f, "a")->leaving);
	assert_string_equal(claim_at(&s), "b");
	assert_string_equal(claim_at(&s), ""); /* it counts still */
	end(&s.f, s.worker, &at_a, DONE);
	assert_null(server_of(&s.f, "a"));
	assert_string_equal(claim_at(&s), "b");
	assert_sound(&s.f);
	close_fixture(&s.f);
}

static void test_g1_a_removed_one_comes_back(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	add_server(&s.f, "a");
	submit_some(&s, 3);
	assert_string_equal(claim_at(&s), "a");
	remove_server(&s.f, "a");
	assert_string_equal(claim_at(&s), "");
	assert_int_equal(add_server(&s.f, "a"), 0);
	assert_int_equal(add_server(&s.f, "a"), 0);
	assert_int_equal(used_of(&s.f, "a"), 1);
	assert_string_equal(claim_at(&s), "a");
	assert_sound(&s.f);
	close_fixture(&s.f);
}

static void test_g1_without_servers_nothing_starts_until_cleared(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	assert_int_equal(remove_all(&s.f), -ENOENT);
	add_server(&s.f, "a");
	submit_some(&s, 3);
	assert_string_equal(claim_at(&s), "a");
	remove_server(&s.f, "a");
	assert_string_equal(claim_at(&s), "");
	begin(&s.f);
	assert_false(tqi_worker_is_idle(&s.f.tx, tqi_worker_at(&s.f.tx, s.worker)));
	commit(&s.f);
	end(&s.f, s.worker, &s.c, DONE);
	begin(&s.f); /* nobody can make it start but an operator */
	assert_true(tqi_worker_is_idle(&s.f.tx, tqi_worker_at(&s.f.tx, s.worker)));
	commit(&s.f);
	assert_int_equal(remove_all(&s.f), 0);
	assert_string_equal(claim_at(&s), "-");
	assert_sound(&s.f);
	close_fixture(&s.f);
}

/* G2 with G1: a slot of the key and one of a server, or neither. */
static void test_g1_both_limits_or_none(void **state)
{
	static const char *const keys[] = { "key" };
	const struct tqi_limit_change one = { .size = 1 };
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	begin(&s.f);
	assert_int_equal(tqi_limit_set(&s.f.tx, "key", &one), 0);
	commit(&s.f);
	set_limit(&s.f, "a", 2);
	add_server(&s.f, "a");
	for (int i = 0; i < 2; i++)
		submit(&s.f,
		       (struct tq_task_spec){ .priority = 9, .limits = keys, .limit_count = 1 });
	submit_some(&s, 2);
	assert_string_equal(claim_at(&s), "a");
	struct tqi_claimed keyed = s.c;

	assert_string_equal(claim_at(&s), "a"); /* the plain one: the key is full */
	assert_string_equal(claim_at(&s), "");
	end(&s.f, s.worker, &s.c, DONE);
	assert_string_equal(claim_at(&s), "a");
	end(&s.f, s.worker, &keyed, DONE);
	assert_string_equal(claim_at(&s), "a"); /* the second one with the key */
	assert_int_equal(used_of(&s.f, "a"), 2);
	assert_sound(&s.f);
	close_fixture(&s.f);
}

/* A sleeper for work of a worker of its own. */
static void add_sleeper(struct one_worker *s)
{
	bool full;
	uint32_t worker = add_worker(&s->f, "default", 0);

	begin(&s->f);
	assert_int_not_equal(tqi_sleep_enter(&s->f.tx, &self, TQI_INTEREST_WORK, worker, &full), 0);
	commit(&s->f);
}

static void test_g1_no_room_wakes_nobody_a_slot_wakes_one(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	set_limit(&s.f, "a", 1);
	add_server(&s.f, "a");
	submit_some(&s, 1);
	assert_string_equal(claim_at(&s), "a");
	for (int i = 0; i < 3; i++)
		add_sleeper(&s);
	submit_some(&s, 3);
	assert_int_equal(count_woken(&s), 0);
	end(&s.f, s.worker, &s.c, DONE);
	assert_int_equal(count_woken(&s), 1);
	close_fixture(&s.f);
}

/* Raised, a new server, a shorter limit: each makes room. */
static void test_g1_whoever_makes_room_wakes_one(void **state)
{
	struct one_worker s;

	(void)state;
	for (int how = 0; how < 4; how++) {
		open_one_worker(&s);
		set_limit(&s.f, "a*", 1);
		add_server(&s.f, "a");
		submit_some(&s, 3);
		assert_string_equal(claim_at(&s), "a");
		add_sleeper(&s);
		if (how == 0)
			set_limit(&s.f, "a*", 2);
		else if (how == 1)
			add_server(&s.f, "b");
		else if (how == 2)
			set_limit(&s.f, "a*", TQI_POOL_NONE);
		else
			remove_all(&s.f);
		assert_int_equal(count_woken(&s), 1);
		assert_sound(&s.f);
		close_fixture(&s.f);
	}
}

/* F6: what a worker has taken goes back when its queue gets servers. */
static void test_g1_assigned_tasks_go_back(void **state)
{
	const struct tqi_queue_settings settings = { .batch = 4 };
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	begin(&s.f);
	assert_int_equal(tqi_queue_set(&s.f.tx, queue_of(&s.f), &settings), 0);
	commit(&s.f);
	submit_some(&s, 5);
	assert_string_equal(claim_at(&s), "-");
	assert_int_equal(((struct tqi_root *)tqi_segment_root(&s.f.box.seg))->assigned, 3);
	add_server(&s.f, "a");
	begin(&s.f);
	while (tqi_sweep_slice(&s.f.tx))
		tqi_step(&s.f.tx);
	commit(&s.f);
	assert_int_equal(((struct tqi_root *)tqi_segment_root(&s.f.box.seg))->assigned, 0);
	assert_string_equal(claim_at(&s), "a");
	assert_int_equal(((struct tqi_root *)tqi_segment_root(&s.f.box.seg))->assigned, 0);
	assert_sound(&s.f);
	close_fixture(&s.f);
}

#define MANY 3000

/* V5: in slices, each sound; nothing starts, and nothing else is changed, meanwhile. */
static void test_g1_many_servers_are_carried_in_slices(void **state)
{
	struct one_worker s;
	uint32_t slices = 0;

	(void)state;
	open_one_worker(&s);
	for (int i = 0; i < MANY; i++) {
		char name[32];

		snprintf(name, sizeof(name), "http://%d", i);
		assert_int_equal(add_server(&s.f, name), 0);
	}
	submit_some(&s, 4);
	assert_string_equal(claim_at(&s), "http://0");
	assert_int_equal(set_limit(&s.f, "http://*", 2), 0);
	assert_string_equal(claim_at(&s), "");
	assert_int_equal(set_limit(&s.f, "x", 2), -EBUSY);
	assert_int_equal(add_server(&s.f, "x"), -EBUSY);
	assert_int_equal(remove_all(&s.f), -EBUSY);
	assert_int_equal(remove_server(&s.f, "http://7"), 0);
	assert_int_equal(remove_server(&s.f, "http://2999"), 0);
	assert_sound(&s.f);
	for (bool more = true; more; slices++) {
		begin(&s.f);
		more = tqi_sweep_slice(&s.f.tx);
		assert_true(s.f.tx.undo_count < TQI_JOURNAL_MAX / 2);
		commit(&s.f);
		if (slices % 100 == 0)
			assert_sound(&s.f);
	}
	assert_true(slices > MANY / 8);
	assert_string_equal(claim_at(&s), "http://1");
	assert_string_equal(claim_at(&s), ""); /* two of two */
	assert_int_equal(remove_all(&s.f), 0);
	assert_string_equal(claim_at(&s), "-");
	begin(&s.f);
	while (tqi_sweep_slice(&s.f.tx))
		tqi_step(&s.f.tx);
	commit(&s.f);
	assert_null(server_of(&s.f, "http://9"));
	assert_true(server_of(&s.f, "http://0")->leaving);
	assert_sound(&s.f);
	close_fixture(&s.f);
}

/* A claim among many costs a few levels of two heaps. */
static void test_g1_a_claim_among_many_is_cheap(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	assert_true(tqt_box_grow(&s.f.box, 4)); /* beside what submits leave (shm/span.h) */
	for (int i = 0; i < MANY; i++) {
		char name[32];

		snprintf(name, sizeof(name), "http://%d/", i);
		add_server(&s.f, name);
		if (i % 3 == 0)
			set_limit(&s.f, name, 5);
	}
	submit_some(&s, 60);
	for (int i = 0; i < 50; i++) {
		begin(&s.f);
		assert_int_equal(tqi_claim(&s.f.tx, s.worker, &s.c), 0);
		assert_true(s.f.tx.undo_count < 100);
		commit(&s.f);
	}
	assert_sound(&s.f);
	close_fixture(&s.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_g1_the_least_loaded_then_the_longest_idle),
		cmocka_unit_test(test_g1_no_room_then_a_slot),
		{ "fault.T10: what full servers have put off is counted",
		  test_t10_throttled_starts_are_counted, NULL, NULL, NULL },
		{ "fault.T10: no room within a hold is none",
		  test_t10_no_room_for_a_moment_throttles_nothing, NULL, NULL, NULL },
		cmocka_unit_test(test_g1_longest_prefix),
		cmocka_unit_test(test_g1_servers_share_the_slots_of_a_prefix),
		cmocka_unit_test(test_g1_limits_come_and_go_under_what_runs),
		cmocka_unit_test(test_g1_every_end_gives_the_slot_back),
		cmocka_unit_test(test_g1_removed_with_an_attempt_under_way),
		cmocka_unit_test(test_g1_a_removed_one_comes_back),
		cmocka_unit_test(test_g1_without_servers_nothing_starts_until_cleared),
		cmocka_unit_test(test_g1_both_limits_or_none),
		cmocka_unit_test(test_g1_no_room_wakes_nobody_a_slot_wakes_one),
		cmocka_unit_test(test_g1_whoever_makes_room_wakes_one),
		cmocka_unit_test(test_g1_assigned_tasks_go_back),
		cmocka_unit_test(test_g1_many_servers_are_carried_in_slices),
		cmocka_unit_test(test_g1_a_claim_among_many_is_cheap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
