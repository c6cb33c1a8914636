/* SPDX-License-Identifier: MIT */
/* D1, D3, D4, D6, A4, E10: dependencies. */
#include "tests/unit/fixture.h"

#include <errno.h>

#include "scheduler/graph/after.h"
#include "scheduler/task/depend.h"
#include "taskq/error.h"

static int try_after(struct one_worker *s, const struct tq_dependency *after, uint32_t count,
		     uint32_t flags, uint64_t *ret_id)
{
	return try_submit(
		&s->f,
		(struct tq_task_spec){ .after = after, .after_count = count, .flags = flags },
		ret_id);
}

static uint64_t after(struct one_worker *s, uint64_t on, uint32_t kind)
{
	const struct tq_dependency d = { .id = on, .kind = kind };
	uint64_t id;

	assert_int_equal(try_after(s, &d, 1, 0, &id), 0);
	return id;
}

static int add(struct one_worker *s, uint64_t id, uint64_t on, uint32_t kind)
{
	begin(&s->f);
	return conclude(&s->f, tqi_after_add(&s->f.tx, id, on, kind));
}

/* All that is being told, a slice a hold; returns how many holds. */
static uint32_t tell_all(struct one_worker *s)
{
	bool pending = true;
	uint32_t holds = 0;

	for (; pending; holds++) {
		begin(&s->f);
		pending = tqi_sweep_slice(&s->f.tx);
		assert_in_range(s->f.tx.undo_count, 0, TQI_JOURNAL_MAX * 2 / 3);
		commit(&s->f);
	}
	return holds;
}

static uint32_t state_of(struct one_worker *s, uint64_t id)
{
	return task_of(&s->f, id)->state;
}

static uint64_t culprit_of(struct one_worker *s, uint64_t id)
{
	const struct tqi_task *t = task_of(&s->f, id);

	assert_int_equal(t->state, TQ_CANCELLED);
	assert_int_equal(t->cause, TQ_CAUSE_DEPENDENCY);
	begin(&s->f);
	uint64_t culprit = tqi_task_extra(&s->f.tx, t)->culprit;

	commit(&s->f);
	return culprit;
}

static void start(struct one_worker *s, uint64_t id)
{
	assert_int_equal(claim(&s->f, s->worker, &s->c), id);
}

/* The ways in which a task can end. */

static void be_done(struct one_worker *s, uint64_t id)
{
	start(s, id);
	end(&s->f, s->worker, &s->c, DONE);
}

static void be_failed(struct one_worker *s, uint64_t id)
{
	start(s, id);
	end(&s->f, s->worker, &s->c, FATAL);
}

static void be_cancelled(struct one_worker *s, uint64_t id)
{
	assert_int_equal(steer_task(&s->f, tqi_steer_cancel, id), 0);
}

static void be_cancelled_running(struct one_worker *s, uint64_t id)
{
	start(s, id);
	assert_int_equal(steer_task(&s->f, tqi_steer_cancel, id), 1);
	end(&s->f, s->worker, &s->c, FAIL);
}

static void win_against_cancel(struct one_worker *s, uint64_t id)
{
	start(s, id);
	assert_int_equal(steer_task(&s->f, tqi_steer_cancel, id), 1);
	end(&s->f, s->worker, &s->c, DONE);
}

static void expire(struct one_worker *s, uint64_t id)
{
	(void)id;
	s->f.box.system.now_ns += 100 * SECOND;
	begin(&s->f);
	tqi_due_run(&s->f.tx, 8);
	commit(&s->f);
}

static void crash(struct one_worker *s, uint64_t id)
{
	const struct tqi_death death = { .cause = TQ_CAUSE_SIGNAL, .cause_arg = 11 };

	for (int i = 0; i < 3; i++) {
		start(s, id);
		begin(&s->f);
		tqi_end_by_death(&s->f.tx, s->c.attempt, &death);
		commit(&s->f);
	}
}

static void be_purged(struct one_worker *s, uint64_t id)
{
	(void)id;
	begin(&s->f);
	tqi_queue_purge(&s->f.tx, tqi_queue_find(&s->f.tx, "parents"));
	commit(&s->f);
}

static void be_doomed(struct one_worker *s, uint64_t id)
{
	assert_int_equal(steer_task(&s->f, tqi_steer_cancel_dependants, id), 0);
}

static void be_doomed_running(struct one_worker *s, uint64_t id)
{
	start(s, id);
	assert_int_equal(steer_task(&s->f, tqi_steer_cancel_dependants, id), 1);
	end(&s->f, s->worker, &s->c, DONE);
}

static const struct ending {
	const char *name;
	void (*end)(struct one_worker *s, uint64_t id);
	bool ok, any, fail; /* whether a dependant of this kind starts */
	uint32_t state;
} endings[] = {
	{ "done", be_done, true, true, false, TQ_DONE },
	{ "failed", be_failed, false, true, true, TQ_FAILED },
	{ "cancelled while it waited", be_cancelled, false, true, true, TQ_CANCELLED },
	{ "cancelled while it ran", be_cancelled_running, false, true, true, TQ_CANCELLED },
	{ "done in spite of a cancel", win_against_cancel, true, true, false, TQ_DONE },
	{ "expired", expire, false, true, true, TQ_EXPIRED },
	{ "crashed", crash, false, true, true, TQ_FAILED },
	{ "purged", be_purged, false, true, true, TQ_CANCELLED },
	{ "cancelled with its dependants", be_doomed, false, false, false, TQ_CANCELLED },
	{ "done, doomed with its dependants", be_doomed_running, false, false, false, TQ_DONE },
};

static bool starts(const struct ending *e, uint32_t kind)
{
	return kind == TQ_AFTER_OK ? e->ok : kind == TQ_AFTER_ANY ? e->any : e->fail;
}

static void assert_decided(struct one_worker *s, uint64_t id, uint64_t on, bool starts)
{
	if (starts)
		assert_int_equal(state_of(s, id), TQ_READY);
	else
		assert_int_equal(culprit_of(s, id), on);
}

/*
 * One that ends so, with a dependant of each kind, and one that depends on these; each
 * with a record that is kept, and one that is forgotten at its end.
 */
static void try_ending(const struct ending *e, uint32_t flags, bool late)
{
	uint64_t ids[TQ_AFTER_FAIL + 1], chained;
	struct one_worker s;

	open_fixture(&s.f, 100);
	s.worker = add_worker(&s.f, "parents", 0);
	uint64_t on = submit(&s.f, (struct tq_task_spec){ .queue = "parents",
							  .flags = flags,
							  .deadline_ns = 100 * SECOND });

	if (!late) {
		for (uint32_t kind = TQ_AFTER_OK; kind <= TQ_AFTER_FAIL; kind++)
			ids[kind] = after(&s, on, kind);
		assert_int_equal(state_of(&s, ids[TQ_AFTER_OK]), TQ_BLOCKED);
		chained = after(&s, ids[TQ_AFTER_OK], TQ_AFTER_OK);
		assert_sound(&s.f);
	}
	e->end(&s, on);
	tell_all(&s);
	assert_int_equal(state_of(&s, on), e->state);
	if (late) {
		for (uint32_t kind = TQ_AFTER_OK; kind <= TQ_AFTER_FAIL; kind++)
			ids[kind] = after(&s, on, kind);
		chained = after(&s, ids[TQ_AFTER_OK], TQ_AFTER_OK);
	}
	assert_sound(&s.f);
	for (uint32_t kind = TQ_AFTER_OK; kind <= TQ_AFTER_FAIL; kind++) {
		/* Being doomed is for those that wait then. */
		bool doomed = task_of(&s.f, on)->flags & TQI_TASK_DOOMS;
		bool met = doomed && late ? tqi_after_is_met(kind, e->state) : starts(e, kind);

		assert_decided(&s, ids[kind], on, met);
	}
	if (state_of(&s, ids[TQ_AFTER_OK]) == TQ_READY)
		assert_int_equal(state_of(&s, chained), TQ_BLOCKED);
	else
		assert_int_equal(culprit_of(&s, chained), ids[TQ_AFTER_OK]);
	close_fixture(&s.f);
}

static void test_each_ending_decides(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		print_message("%s\n", endings[i].name);
		try_ending(&endings[i], 0, false);
		try_ending(&endings[i], 0, true);
		try_ending(&endings[i], TQ_TASK_FORGET, false);
		try_ending(&endings[i], TQ_TASK_KEEP, false);
	}
}

static void test_freed_and_unknown(void **state)
{
	struct tq_dependency d = { .kind = TQ_AFTER_ANY };
	struct one_worker s;
	uint64_t id;

	(void)state;
	open_one_worker(&s);
	d.id = submit(&s.f, (struct tq_task_spec){ .flags = TQ_TASK_FORGET });
	be_done(&s, d.id);
	assert_int_equal(try_after(&s, &d, 1, 0, &id), 0);
	assert_int_equal(state_of(&s, id), TQ_READY);
	d.kind = TQ_AFTER_OK;
	assert_int_equal(try_after(&s, &d, 1, 0, &id), TQ_EGONE);
	d.kind = TQ_AFTER_FAIL;
	assert_int_equal(try_after(&s, &d, 1, 0, &id), TQ_EGONE);
	d.id = tqi_id_make(77, 1);
	assert_int_equal(try_after(&s, &d, 1, 0, &id), -ENOENT);
	d.kind = TQ_AFTER_ANY;
	assert_int_equal(try_after(&s, &d, 1, 0, &id), -ENOENT);
	assert_sound(&s.f);
	close_fixture(&s.f);
}

/* All must be met; one named twice counts once; of two kinds both must be. */
static void test_many(void **state)
{
	struct tq_dependency d[TQ_AFTER_MAX + 1];
	struct one_worker s;
	uint64_t id, both;

	(void)state;
	open_one_worker(&s);
	for (uint32_t i = 0; i < TQ_AFTER_MAX; i++)
		d[i] = (struct tq_dependency){ .id = submit(&s.f, (struct tq_task_spec){ 0 }) };
	assert_int_equal(try_after(&s, d, TQ_AFTER_MAX, 0, &id), 0);
	d[1] = d[0];
	d[2] = (struct tq_dependency){ .id = d[0].id, .kind = TQ_AFTER_ANY };
	assert_int_equal(try_after(&s, d, 3, 0, &both), 0);
	assert_sound(&s.f);
	for (uint32_t i = 0; i < TQ_AFTER_MAX; i++) {
		assert_int_equal(state_of(&s, id), TQ_BLOCKED);
		claim(&s.f, s.worker, &s.c);
		end(&s.f, s.worker, &s.c, DONE);
		if (i == 0)
			assert_int_equal(state_of(&s, both), TQ_READY);
		if (i == 0)
			be_cancelled(&s, both);
	}
	tell_all(&s);
	assert_int_equal(state_of(&s, id), TQ_READY);
	be_done(&s, id);
	tell_all(&s); /* gives up its dependencies */
	for (uint32_t i = 3; i < TQ_AFTER_MAX; i++)
		assert_int_equal(task_of(&s.f, d[i].id)->pins, 0);
	assert_sound(&s.f);
	close_fixture(&s.f);
}

/* A4: a record that is waited for stays, whatever is asked. */
static void test_pins(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t on = submit(&s.f, (struct tq_task_spec){ .flags = TQ_TASK_FORGET });
	uint64_t id = after(&s, on, TQ_AFTER_OK);

	be_done(&s, on);
	assert_int_equal(state_of(&s, on), TQ_DONE);
	begin(&s.f);
	assert_int_equal(tqi_task_evict(&s.f.tx, 10), 0);
	commit(&s.f);
	be_done(&s, id);
	tell_all(&s);
	assert_int_equal(state_of(&s, on), TQ_FREE);
	begin(&s.f);
	assert_int_equal(tqi_task_evict(&s.f.tx, 10), 1);
	commit(&s.f);
	assert_sound(&s.f);
	close_fixture(&s.f);
}

/* Forgotten ones go with their cascade; evicting a refused one lets go of its culprit. */
static void test_refused_records_go(void **state)
{
	struct tq_dependency d = { 0 };
	struct one_worker s;
	uint64_t first, second;

	(void)state;
	open_one_worker(&s);
	uint64_t on = submit(&s.f, (struct tq_task_spec){ .flags = TQ_TASK_FORGET });

	d.id = on;
	assert_int_equal(try_after(&s, &d, 1, TQ_TASK_FORGET, &first), 0);
	d.id = first;
	assert_int_equal(try_after(&s, &d, 1, 0, &second), 0);
	be_failed(&s, on);
	tell_all(&s);
	assert_int_equal(culprit_of(&s, second), first);
	assert_sound(&s.f);
	begin(&s.f);
	assert_int_equal(tqi_task_evict(&s.f.tx, 10), 1);
	commit(&s.f);
	tell_all(&s);
	assert_int_equal(state_of(&s, on), TQ_FREE);
	assert_int_equal(state_of(&s, first), TQ_FREE);
	assert_sound(&s.f);
	close_fixture(&s.f);
}

/* D3 */
static void test_later_edges(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t first = submit(&s.f, (struct tq_task_spec){ .priority = -1 });
	uint64_t second = submit(&s.f, (struct tq_task_spec){ .payload = "x", .payload_bytes = 1 });
	uint64_t third = submit(&s.f, (struct tq_task_spec){ .delay_ns = SECOND });
	uint64_t fourth = submit(&s.f, (struct tq_task_spec){ 0 });

	assert_int_equal(add(&s, first, second, TQ_AFTER_OK), TQ_ECYCLE);
	assert_int_equal(add(&s, first, first, TQ_AFTER_OK), TQ_ECYCLE);
	assert_int_equal(add(&s, first, tqi_id_make(99, 1), TQ_AFTER_OK), -ENOENT);
	assert_int_equal(add(&s, second, first, TQ_AFTER_OK), 0);
	assert_int_equal(add(&s, second, first, TQ_AFTER_OK), 0); /* once is enough */
	assert_int_equal(add(&s, third, first, TQ_AFTER_ANY), 0);
	assert_int_equal(add(&s, fourth, second, TQ_AFTER_FAIL), 0);
	assert_int_equal(state_of(&s, second), TQ_BLOCKED);
	assert_int_equal(state_of(&s, third), TQ_BLOCKED);
	assert_sound(&s.f);
	start(&s, first);
	assert_int_equal(add(&s, first, tqi_id_make(99, 1), TQ_AFTER_OK), TQ_ESTATE);
	end(&s.f, s.worker, &s.c, RELEASE);
	assert_int_equal(add(&s, first, tqi_id_make(99, 1), TQ_AFTER_OK), TQ_ESTATE); /* began */
	be_done(&s, first);
	assert_int_equal(state_of(&s, third), TQ_DELAYED);
	be_done(&s, second);
	assert_int_equal(culprit_of(&s, fourth), second);
	assert_int_equal(add(&s, third, first, TQ_AFTER_FAIL), 0); /* decided at once */
	assert_int_equal(culprit_of(&s, third), first);
	assert_int_equal(add(&s, third, first, TQ_AFTER_OK), TQ_ESTATE);
	assert_sound(&s.f);
	close_fixture(&s.f);
}

/* D6: the first one's waiters see its end at once; the rest goes on in bounded holds. */
static void test_long_chain(void **state)
{
	enum {
		LENGTH = 3000
	};
	static uint64_t ids[LENGTH];
	struct one_worker s;

	(void)state;
	open_fixture(&s.f, LENGTH + 10);
	s.worker = add_worker(&s.f, "default", 0);
	ids[0] = submit(&s.f, (struct tq_task_spec){ 0 });
	for (uint32_t i = 1; i < LENGTH; i++)
		ids[i] = after(&s, ids[i - 1], TQ_AFTER_OK);
	be_failed(&s, ids[0]);
	assert_int_equal(state_of(&s, ids[0]), TQ_FAILED);
	assert_int_equal(state_of(&s, ids[LENGTH - 1]), TQ_BLOCKED);
	assert_true(tell_all(&s) > LENGTH / 64);
	assert_int_equal(culprit_of(&s, ids[LENGTH - 1]), ids[LENGTH - 2]);
	assert_sound(&s.f);
	assert_int_equal(steer_task(&s.f, tqi_steer_revive, ids[0]), 0);
	assert_int_equal(state_of(&s, ids[0]), TQ_BLOCKED);
	assert_sound(&s.f);
	assert_true(tell_all(&s) > LENGTH / 64);
	assert_sound(&s.f);
	for (uint32_t i = 0; i < LENGTH; i++)
		be_done(&s, ids[i]);
	assert_sound(&s.f);
	close_fixture(&s.f);
}

static void test_many_dependants(void **state)
{
	enum {
		COUNT = 1000
	};
	static uint64_t ids[COUNT];
	struct one_worker s;

	(void)state;
	open_fixture(&s.f, COUNT + 10);
	s.worker = add_worker(&s.f, "default", 0);
	uint64_t on = submit(&s.f, (struct tq_task_spec){ 0 });

	for (uint32_t i = 0; i < COUNT; i++)
		ids[i] = after(&s, on, i % 2 ? TQ_AFTER_OK : TQ_AFTER_FAIL);
	be_done(&s, on);
	assert_sound(&s.f);
	assert_true(tell_all(&s) > 5);
	for (uint32_t i = 0; i < COUNT; i++)
		assert_decided(&s, ids[i], on, i % 2);
	assert_sound(&s.f);
	close_fixture(&s.f);
}

/* E10: decided edges stay decided, open ones are waited for. */
static void test_retry_alone(void **state)
{
	struct tq_dependency d[2] = { { 0 } };
	struct one_worker s;
	uint64_t id;

	(void)state;
	open_one_worker(&s);
	d[0].id = submit(&s.f, (struct tq_task_spec){ 0 });
	d[1].id = submit(&s.f, (struct tq_task_spec){ .flags = TQ_TASK_HOLD });
	assert_int_equal(try_after(&s, d, 2, 0, &id), 0);
	be_failed(&s, d[0].id);
	assert_int_equal(culprit_of(&s, id), d[0].id);
	assert_int_equal(steer_task(&s.f, tqi_steer_retry, d[0].id), 0);
	assert_int_equal(state_of(&s, id), TQ_CANCELLED);
	assert_sound(&s.f);
	be_failed(&s, d[0].id);
	assert_int_equal(steer_task(&s.f, tqi_steer_retry, id), 0);
	assert_int_equal(state_of(&s, id), TQ_BLOCKED);
	assert_sound(&s.f);
	begin(&s.f);
	assert_int_equal(tqi_steer_hold(&s.f.tx, d[1].id, false), 0);
	commit(&s.f);
	be_done(&s, d[1].id);
	be_done(&s, id);
	assert_sound(&s.f);
	close_fixture(&s.f);
}

/*
 * DP-4: who is retried past the one that refused it waits for another one that was revived
 * meanwhile, whichever of the two stood first in the list of whom both came after.
 */
static void check_retry_after_revive(bool between_first)
{
	struct tq_dependency d[3] = { { 0 } };
	struct one_worker s;
	uint64_t id;

	open_one_worker(&s);
	uint64_t first = submit(&s.f, (struct tq_task_spec){ 0 });
	uint64_t other = submit(&s.f, (struct tq_task_spec){ 0 });
	uint64_t between = between_first ? after(&s, first, TQ_AFTER_OK)
					 : submit(&s.f, (struct tq_task_spec){ 0 });

	d[0].id = first;
	d[1].id = other;
	d[2].id = between;
	assert_int_equal(try_after(&s, d, 3, 0, &id), 0);
	if (!between_first)
		assert_int_equal(add(&s, between, first, TQ_AFTER_OK), 0);
	be_failed(&s, first);
	tell_all(&s);
	be_failed(&s, other);
	tell_all(&s);
	assert_int_equal(culprit_of(&s, between), first);
	assert_int_equal(culprit_of(&s, id), first);
	assert_int_equal(steer_task(&s.f, tqi_steer_revive, first), 0);
	tell_all(&s);
	assert_int_equal(state_of(&s, between), TQ_BLOCKED);
	assert_int_equal(culprit_of(&s, id), other);
	assert_int_equal(steer_task(&s.f, tqi_steer_retry, id), 0);
	be_done(&s, first);
	tell_all(&s);
	assert_int_equal(state_of(&s, id), TQ_BLOCKED);
	assert_sound(&s.f);
	be_done(&s, between);
	tell_all(&s);
	be_done(&s, id);
	assert_sound(&s.f);
	close_fixture(&s.f);
}

static void test_retry_after_revive(void **state)
{
	(void)state;
	check_retry_after_revive(true);
	check_retry_after_revive(false);
}

/* DP-4: past its culprit, whatever it has on that, though it lives again. */
static void test_retry_past_culprit(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t first = submit(&s.f, (struct tq_task_spec){ 0 });
	uint64_t id = after(&s, first, TQ_AFTER_OK);

	assert_int_equal(add(&s, id, first, TQ_AFTER_ANY), 0);
	be_doomed(&s, first);
	tell_all(&s);
	assert_int_equal(culprit_of(&s, id), first);
	assert_int_equal(steer_task(&s.f, tqi_steer_retry, first), 0);
	assert_int_equal(steer_task(&s.f, tqi_steer_retry, id), 0);
	assert_int_equal(state_of(&s, id), TQ_READY);
	assert_sound(&s.f);
	close_fixture(&s.f);
}

/* DP-4: more of them than one step of the journal has room for. */
static void test_retry_reopens_many(void **state)
{
	enum {
		COUNT = 300
	};
	uint64_t ids[COUNT];
	struct one_worker s;

	(void)state;
	open_fixture(&s.f, COUNT + 10);
	s.worker = add_worker(&s.f, "default", 0);
	for (uint32_t i = 0; i < COUNT; i++)
		ids[i] = submit(&s.f, (struct tq_task_spec){ 0 });
	uint64_t id = after(&s, ids[0], TQ_AFTER_OK);

	for (uint32_t i = 1; i < COUNT; i++)
		assert_int_equal(add(&s, id, ids[i], TQ_AFTER_OK), 0);
	for (uint32_t i = 0; i < COUNT; i++)
		be_failed(&s, ids[i]);
	tell_all(&s);
	assert_int_equal(culprit_of(&s, id), ids[0]);
	for (uint32_t i = 1; i < COUNT; i++)
		assert_int_equal(steer_task(&s.f, tqi_steer_retry, ids[i]), 0);
	assert_int_equal(steer_task(&s.f, tqi_steer_retry, id), 0);
	assert_sound(&s.f);
	for (uint32_t i = 1; i < COUNT; i++) {
		assert_int_equal(state_of(&s, id), TQ_BLOCKED);
		be_done(&s, ids[i]);
	}
	be_done(&s, id);
	assert_sound(&s.f);
	close_fixture(&s.f);
}

/* E10: those that this failure has cancelled, and those that this has, and no others. */
static void test_retry_with_dependants(void **state)
{
	struct tq_dependency d[2] = { { 0 } };
	struct one_worker s;
	uint64_t both;

	(void)state;
	open_one_worker(&s);
	uint64_t first = submit(&s.f, (struct tq_task_spec){ 0 });
	uint64_t other = submit(&s.f, (struct tq_task_spec){ 0 });
	uint64_t next = after(&s, first, TQ_AFTER_OK), last = after(&s, next, TQ_AFTER_OK);
	uint64_t gone = after(&s, first, TQ_AFTER_OK), alarm = after(&s, first, TQ_AFTER_FAIL);

	d[0].id = first;
	d[1].id = other;
	assert_int_equal(try_after(&s, d, 2, 0, &both), 0);
	be_cancelled(&s, gone);
	be_failed(&s, first);
	tell_all(&s);
	assert_int_equal(culprit_of(&s, last), next);
	assert_int_equal(culprit_of(&s, both), first);
	be_failed(&s, other); /* as well */
	tell_all(&s);
	be_done(&s, alarm);
	assert_int_equal(steer_task(&s.f, tqi_steer_revive, first), 0);
	tell_all(&s);
	assert_sound(&s.f);
	assert_int_equal(state_of(&s, first), TQ_READY);
	assert_int_equal(state_of(&s, next), TQ_BLOCKED);
	assert_int_equal(state_of(&s, last), TQ_BLOCKED);
	assert_int_equal(state_of(&s, gone), TQ_CANCELLED);
	assert_int_equal(state_of(&s, alarm), TQ_DONE);
	assert_int_equal(culprit_of(&s, both), other); /* has failed meanwhile */
	assert_int_equal(steer_task(&s.f, tqi_steer_revive, other), 0);
	tell_all(&s);
	assert_int_equal(state_of(&s, both), TQ_BLOCKED);
	assert_sound(&s.f);
	be_done(&s, first);
	be_done(&s, other);
	tell_all(&s);
	assert_int_equal(state_of(&s, both), TQ_READY);
	be_done(&s, next);
	be_done(&s, last);
	be_done(&s, both);
	tell_all(&s);
	assert_sound(&s.f);
	close_fixture(&s.f);
}

/* Cancelled while its dependants are being revived: they are told that, all of them. */
static void test_cancelled_while_reviving(void **state)
{
	enum {
		COUNT = 100
	};
	uint64_t ids[COUNT];
	struct one_worker s;

	(void)state;
	open_fixture(&s.f, COUNT + 10);
	s.worker = add_worker(&s.f, "default", 0);
	uint64_t on = submit(&s.f, (struct tq_task_spec){ 0 });

	for (uint32_t i = 0; i < COUNT; i++)
		ids[i] = after(&s, on, TQ_AFTER_OK);
	be_failed(&s, on);
	tell_all(&s);
	assert_int_equal(steer_task(&s.f, tqi_steer_revive, on), 0);
	begin(&s.f);
	assert_true(tqi_sweep_slice(&s.f.tx));
	commit(&s.f);
	assert_sound(&s.f);
	be_cancelled(&s, on);
	assert_sound(&s.f);
	tell_all(&s);
	assert_int_equal(state_of(&s, on), TQ_CANCELLED);
	for (uint32_t i = 0; i < COUNT; i++)
		assert_int_equal(culprit_of(&s, ids[i]), on);
	assert_sound(&s.f);
	close_fixture(&s.f);
}

/* D4 */
static void test_cancel_with_dependants(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t on = submit(&s.f, (struct tq_task_spec){ 0 });
	uint64_t any = after(&s, on, TQ_AFTER_ANY), fails = after(&s, any, TQ_AFTER_FAIL);

	assert_int_equal(steer_task(&s.f, tqi_steer_cancel_dependants, on), 0);
	tell_all(&s);
	assert_int_equal(culprit_of(&s, any), on);
	assert_int_equal(culprit_of(&s, fails), any);
	assert_int_equal(steer_task(&s.f, tqi_steer_cancel_dependants, on), TQ_ESTATE);
	assert_int_equal(steer_task(&s.f, tqi_steer_revive, on), 0);
	tell_all(&s);
	assert_int_equal(state_of(&s, any), TQ_BLOCKED);
	be_cancelled(&s, on); /* alone, this time */
	tell_all(&s);
	assert_int_equal(state_of(&s, any), TQ_READY);
	assert_sound(&s.f);
	close_fixture(&s.f);
}

/* A refused submit is no error. */
static void test_refused_at_once(void **state)
{
	struct tq_dependency d = { 0 };
	struct one_worker s;
	uint64_t id;

	(void)state;
	open_one_worker(&s);
	d.id = submit(&s.f, (struct tq_task_spec){ 0 });
	be_failed(&s, d.id);
	assert_int_equal(try_after(&s, &d, 1, TQ_TASK_FORGET, &id), 0);
	tell_all(&s);
	assert_int_equal(state_of(&s, id), TQ_FREE);
	assert_int_equal(try_after(&s, &d, 1, 0, &id), 0);
	assert_int_equal(culprit_of(&s, id), d.id);
	assert_int_equal(steer_task(&s.f, tqi_steer_forget, d.id), 0); /* goes with its dependant */
	assert_int_equal(state_of(&s, d.id), TQ_FAILED);
	assert_int_equal(steer_task(&s.f, tqi_steer_forget, id), 0);
	tell_all(&s);
	assert_int_equal(state_of(&s, d.id), TQ_FREE);
	assert_int_equal(state_of(&s, id), TQ_FREE);
	assert_sound(&s.f);
	close_fixture(&s.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_ending_decides),
		cmocka_unit_test(test_freed_and_unknown),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_pins),
		cmocka_unit_test(test_refused_records_go),
		cmocka_unit_test(test_later_edges),
		cmocka_unit_test(test_long_chain),
		cmocka_unit_test(test_many_dependants),
		cmocka_unit_test(test_retry_alone),
		cmocka_unit_test(test_retry_after_revive),
		cmocka_unit_test(test_retry_past_culprit),
		cmocka_unit_test(test_retry_reopens_many),
		cmocka_unit_test(test_retry_with_dependants),
		cmocka_unit_test(test_cancelled_while_reviving),
		cmocka_unit_test(test_cancel_with_dependants),
		cmocka_unit_test(test_refused_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
