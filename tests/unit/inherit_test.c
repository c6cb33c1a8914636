/* SPDX-License-Identifier: MIT */
/* scheduler/graph/inherit.c: what is waited for is as urgent as who waits for it. */
#include "scheduler/graph/inherit.h"

#include "scheduler/graph/after.h"
#include "scheduler/graph/behalf.h"
#include "scheduler/record/extra.h"
#include "scheduler/rebuild/rebuild.h"
#include "scheduler/task/depend.h"
#include "tests/unit/fixture.h"

#define CHAIN 1000
#define MANY 10000

static const struct tqi_ident self = { .pid = 7, .tid = 7, .start = 7 };

static int open_scene(void **state)
{
	struct one_worker *s = calloc(1, sizeof(*s));

	*state = s;
	open_fixture(&s->f, 2 * MANY);
	assert_true(tqt_box_grow(&s->f.box, 8));
	s->worker = add_worker(&s->f, "default", 0);
	return 0;
}

static int close_scene(void **state)
{
	struct one_worker *s = *state;

	assert_sound(&s->f);
	close_fixture(&s->f);
	free(s);
	return 0;
}

/* A wait for a task: of a client that names its priority, or on an attempt's behalf. */
static uint32_t wait_for(struct fixture *f, uint64_t id, int32_t priority, uint32_t attempt)
{
	bool full;

	begin(f);
	uint32_t w = tqi_sleep_enter(&f->tx, &self, TQI_INTEREST_TASKS, 0, &full);

	assert_int_not_equal(w, 0);
	if (attempt)
		tqi_behalf_enter(&f->tx, w, attempt);
	else
		tqi_inherit_lend(&f->tx, w, &(struct tqi_worth){ UINT64_MAX, priority, 0, 0 });
	assert_true(tqi_edge_add(&f->tx, w, tqi_id_index(id)));
	tqi_sleep_again(&f->tx, w, UINT64_MAX);
	commit(f);
	return w;
}

static void wait_too(struct fixture *f, uint32_t waiter, uint64_t id)
{
	begin(f);
	assert_true(tqi_edge_add(&f->tx, waiter, tqi_id_index(id)));
	commit(f);
}

static void leave(struct fixture *f, uint32_t waiter)
{
	begin(f);
	while (!tqi_edge_drop(&f->tx, waiter, 8))
		tqi_step(&f->tx);
	tqi_sleep_leave(&f->tx, waiter);
	commit(f);
}

/* One slice; false: there is nothing left to do. */
static bool slice(struct fixture *f)
{
	begin(f);
	bool pending = tqi_inherit_pending(&f->tx);

	if (pending)
		tqi_inherit_slice(&f->tx);
	commit(f);
	return pending;
}

static uint32_t settle(struct fixture *f)
{
	uint32_t n = 0;

	while (slice(f))
		assert_true(n++ < 100000); /* a ring forgets in some thousands */
	assert_sound(f);
	return n;
}

static struct tqi_worth worth_of(struct fixture *f, uint64_t id)
{
	tqi_tx_view(&f->tx, &f->box.seg);
	return tqi_worth_of(&f->tx, task_of(f, id));
}

static int32_t priority_of(struct fixture *f, uint64_t id)
{
	return worth_of(f, id).priority;
}

static void update(struct fixture *f, uint64_t id, int32_t priority)
{
	const struct tq_task_update u = { .fields = TQ_UPDATE_PRIORITY, .priority = priority };

	begin(f);
	assert_int_equal(tqi_steer_update(&f->tx, id, &u), 0);
	commit(f);
}

static void set_policy(struct fixture *f, struct tqi_policy policy)
{
	const struct tqi_queue_settings settings = { .policy = policy };

	begin(f);
	uint32_t queue = tqi_queue_find(&f->tx, "default");

	assert_int_equal(tqi_queue_set(&f->tx, queue, &settings), 0);
	commit(f);
	while (begin(f), tqi_sweep_slice(&f->tx))
		commit(f);
	commit(f);
}

static uint64_t task(struct one_worker *s, int32_t priority)
{
	return submit(&s->f, (struct tq_task_spec){ .priority = priority });
}

static void assert_next(struct one_worker *s, uint64_t id)
{
	assert_int_equal(claim(&s->f, s->worker, &s->c), id);
	end(&s->f, s->worker, &s->c, DONE);
}

/* B7: a client names its priority, and what it waits for starts before others. */
static void test_client(void **state)
{
	struct one_worker *s = *state;
	uint64_t a = task(s, 0), b = task(s, 50), c = task(s, 0);

	wait_for(&s->f, c, 100, 0);
	settle(&s->f);
	assert_int_equal(priority_of(&s->f, c), 100);
	assert_int_equal(task_of(&s->f, c)->priority, 0);
	assert_next(s, c);
	assert_next(s, b);
	assert_next(s, a);
}

/* Who names none, or less than the task's own, changes nothing, and costs no memory. */
static void test_nothing(void **state)
{
	struct one_worker *s = *state;
	uint64_t a = task(s, 10);

	wait_for(&s->f, a, INT32_MIN, 0);
	wait_for(&s->f, a, 10, 0);
	assert_false(slice(&s->f));
	assert_false(task_of(&s->f, a)->flags & TQI_TASK_EXTRA);
	assert_int_equal(priority_of(&s->f, a), 10);
}

/* B7: undone when the donor leaves before the heir starts; what others lend stays. */
static void test_leave(void **state)
{
	struct one_worker *s = *state;
	uint64_t a = task(s, 0), b = task(s, 0);
	uint32_t high = wait_for(&s->f, b, 100, 0), low = wait_for(&s->f, b, 50, 0);
	uint32_t same = wait_for(&s->f, b, 100, 0);

	settle(&s->f);
	leave(&s->f, same);
	settle(&s->f);
	assert_int_equal(priority_of(&s->f, b), 100);
	leave(&s->f, high);
	settle(&s->f);
	assert_int_equal(priority_of(&s->f, b), 50);
	leave(&s->f, low);
	settle(&s->f);
	assert_int_equal(priority_of(&s->f, b), 0);
	assert_next(s, a);
	assert_next(s, b);
}

/* Its own priority counts where it is higher. */
static void test_own(void **state)
{
	struct one_worker *s = *state;
	uint64_t a = task(s, 0);

	wait_for(&s->f, a, 100, 0);
	settle(&s->f);
	update(&s->f, a, 200);
	settle(&s->f);
	assert_int_equal(priority_of(&s->f, a), 200);
	wait_for(&s->f, a, 150, 0);
	settle(&s->f);
	update(&s->f, a, -5);
	settle(&s->f);
	assert_int_equal(priority_of(&s->f, a), 150);
	assert_int_equal(task_of(&s->f, a)->priority, -5);
}

/* A task without rare settings that is lowered below what had been too little before. */
static void test_lowered(void **state)
{
	struct one_worker *s = *state;
	uint64_t a = task(s, 100), b = task(s, 50);

	wait_for(&s->f, a, 70, 0);
	update(&s->f, a, 0);
	settle(&s->f);
	assert_int_equal(priority_of(&s->f, a), 70);
	assert_next(s, a);
	assert_next(s, b);
}

/* Where bands are kept apart it goes to its band, and comes back; ages as if it had always been. */
static void test_bands(void **state)
{
	struct one_worker *s = *state;
	uint64_t a = task(s, 0), b = task(s, 100), c = task(s, 0);

	set_policy(&s->f, (struct tqi_policy){ .ageing = { 10, 20, 30, 40 } });
	uint32_t w = wait_for(&s->f, a, 1000, 0);

	wait_for(&s->f, c, 100, 0);
	settle(&s->f);
	tqi_tx_view(&s->f.tx, &s->f.box.seg);
	assert_int_equal(tqi_class_of(&s->f.tx, task_of(&s->f, a))->band, 3);
	assert_int_equal(task_of(&s->f, a)->key,
			 tqi_policy_key(40, task_of(&s->f, a)->ready_ns, 1000));
	leave(&s->f, w);
	settle(&s->f);
	tqi_tx_view(&s->f.tx, &s->f.box.seg);
	assert_int_equal(tqi_class_of(&s->f.tx, task_of(&s->f, a))->band, 1);
	assert_next(s, b);
	assert_next(s, c);
	assert_next(s, a);
}

/* Only stored while it is delayed or held; it lifts neither. */
static void test_hold(void **state)
{
	struct one_worker *s = *state;
	uint64_t held = submit(&s->f, (struct tq_task_spec){ .flags = TQ_TASK_HOLD });
	uint64_t late = submit(&s->f, (struct tq_task_spec){ .delay_ns = SECOND });
	uint64_t other = task(s, 5);

	wait_for(&s->f, held, 100, 0);
	wait_for(&s->f, late, 50, 0);
	settle(&s->f);
	assert_next(s, other);
	assert_int_equal(claim(&s->f, s->worker, &s->c), 0);
	task(s, 70);
	s->f.box.system.now_ns += 2 * SECOND;
	begin(&s->f);
	tqi_due_run(&s->f.tx, 8);
	assert_int_equal(tqi_steer_hold(&s->f.tx, held, false), 0);
	commit(&s->f);
	assert_next(s, held);
	assert_int_not_equal(claim(&s->f, s->worker, &s->c), late);
	assert_next(s, late);
}

static uint64_t submit_after(struct fixture *f, int32_t priority, uint64_t on, uint64_t other)
{
	const struct tq_dependency after[] = { { .id = on }, { .id = other } };

	return submit(f, (struct tq_task_spec){ .priority = priority,
						.after = after,
						.after_count = other ? 2 : 1 });
}

static int cancel(struct fixture *f, uint64_t id)
{
	begin(f);
	int r = tqi_steer_cancel(&f->tx, id);

	commit(f);
	return r;
}

/* So many that run, each waiting for the next one; the first and the last of them. */
static void run_chain(struct one_worker *s, uint32_t length, uint64_t *ret_first,
		      uint64_t *ret_last)
{
	uint32_t worker = s->worker;

	for (uint32_t i = 0; i < length; i++) {
		uint64_t id = task(s, 0);

		if (i > 0)
			wait_for(&s->f, id, 0, s->c.attempt);
		else
			*ret_first = id;
		if (i % 50 == 49)
			worker = add_worker(&s->f, "default", 0);
		assert_int_equal(claim(&s->f, worker, &s->c), id);
	}
	*ret_last = s->c.id;
}

/* B7: transitively, through handlers blocked in wait; what they run and are given stays. */
static void test_behalf(void **state)
{
	struct one_worker *s = *state;
	uint64_t first =
		submit(&s->f, (struct tq_task_spec){ .payload = "abc", .payload_bytes = 3 });
	struct tqi_claimed c;
	uint64_t second = task(s, 0), third = task(s, -7);

	assert_int_equal(claim(&s->f, s->worker, &c), first);
	uint32_t block = task_of(&s->f, first)->payload;
	uint32_t w = wait_for(&s->f, second, 33, c.attempt);

	assert_int_equal(claim(&s->f, s->worker, &s->c), second);
	wait_for(&s->f, third, 33, s->c.attempt);
	settle(&s->f);
	assert_int_equal(priority_of(&s->f, third), 0);
	uint32_t client = wait_for(&s->f, first, 100, 0);

	settle(&s->f);
	assert_int_equal(priority_of(&s->f, first), 100);
	assert_int_equal(priority_of(&s->f, second), 100);
	assert_int_equal(priority_of(&s->f, third), 100);
	assert_int_equal(worth_of(&s->f, third).hops, 3);
	assert_int_not_equal(task_of(&s->f, first)->payload, block);
	begin(&s->f);
	assert_memory_equal(tqi_unit(&s->f.tx, block), "abc", 3); /* its owner reads it still */
	commit(&s->f);
	leave(&s->f, client);
	settle(&s->f);
	assert_int_equal(priority_of(&s->f, third), 0);
	leave(&s->f, w);
	end(&s->f, s->worker, &c, DONE);
}

/* B7: a task inherits of what depends on it, over a diamond; undone as donors leave. */
static void test_diamond(void **state)
{
	struct one_worker *s = *state;
	struct fixture *f = &s->f;
	uint64_t top = task(s, 0), left = submit_after(f, 0, top, 0);
	uint64_t right = submit_after(f, 20, top, 0), other = task(s, 50);
	uint64_t bottom = submit_after(f, 100, left, right);

	settle(f);
	assert_int_equal(priority_of(f, top), 100);
	assert_int_equal(priority_of(f, left), 100);
	assert_int_equal(priority_of(f, right), 100);
	update(f, bottom, 30);
	settle(f);
	assert_int_equal(priority_of(f, top), 30);
	assert_int_equal(cancel(f, bottom), 0);
	settle(f);
	assert_int_equal(priority_of(f, top), 20);
	assert_int_equal(priority_of(f, left), 0);
	assert_int_equal(cancel(f, right), 0);
	settle(f);
	assert_int_equal(priority_of(f, top), 0);
	assert_next(s, other);
	assert_next(s, top);
	assert_next(s, left);
}

/* What is lower, held or delayed lends as well, and a lower one has no effect. */
static void test_donors(void **state)
{
	struct one_worker *s = *state;
	struct fixture *f = &s->f;
	uint64_t a = task(s, 0), b = task(s, 10);
	const struct tq_dependency after = { .id = a };

	submit_after(f, -5, a, 0);
	assert_false(slice(f));
	submit(f, (struct tq_task_spec){ .priority = 30,
					 .flags = TQ_TASK_HOLD,
					 .delay_ns = SECOND,
					 .after = &after,
					 .after_count = 1 });
	settle(f);
	assert_int_equal(priority_of(f, a), 30);
	assert_next(s, a);
	assert_next(s, b);
}

/* D3: an edge that is added later lends, too, and a task that it makes wait lends on. */
static void test_later_edge(void **state)
{
	struct one_worker *s = *state;
	struct fixture *f = &s->f;
	uint64_t a = task(s, 0), b = task(s, 0), c = submit_after(f, 70, b, 0);

	settle(f);
	begin(f);
	assert_int_equal(tqi_after_add(&f->tx, b, a, TQ_AFTER_OK), 0);
	commit(f);
	settle(f);
	assert_int_equal(priority_of(f, a), 70);
	assert_int_equal(worth_of(f, a).hops, 2);
	assert_next(s, a);
	assert_next(s, b);
	assert_next(s, c);
}

/* A dependant that another dependency has cancelled keeps its edges, but lends nothing. */
static void test_refused(void **state)
{
	struct one_worker *s = *state;
	struct fixture *f = &s->f;
	uint64_t bad = task(s, 200), good = task(s, 0), both = submit_after(f, 100, good, bad);

	settle(f);
	assert_int_equal(claim(f, s->worker, &s->c), bad);
	end(f, s->worker, &s->c, FATAL);
	begin(f);
	tqi_sweep_slice(&f->tx);
	commit(f);
	settle(f);
	assert_int_equal(task_of(f, both)->state, TQ_CANCELLED);
	assert_int_equal(priority_of(f, good), 0);
	begin(f); /* it waits again */
	assert_int_equal(tqi_steer_revive(&f->tx, bad), 0);
	commit(f);
	for (int i = 0; i < 3; i++) {
		begin(f);
		tqi_sweep_slice(&f->tx);
		commit(f);
	}
	settle(f);
	assert_int_equal(task_of(f, both)->state, TQ_BLOCKED);
	assert_int_equal(priority_of(f, good), 100);
	assert_int_equal(priority_of(f, bad), 200);
}

/* A chain of 1,000 dependants: every one of them, in slices. */
static void test_dependants(void **state)
{
	struct one_worker *s = *state;
	struct fixture *f = &s->f;
	static uint64_t ids[CHAIN];

	ids[0] = task(s, 0);
	for (uint32_t i = 1; i < CHAIN; i++)
		ids[i] = submit_after(f, i == CHAIN - 1 ? 100 : 0, ids[i - 1], 0);
	uint32_t slices = settle(f);

	print_message("a chain of %u took %u slices\n", CHAIN, slices);
	assert_true(slices > 20);
	for (uint32_t i = 0; i < CHAIN; i++)
		assert_int_equal(priority_of(f, ids[i]), 100);
	assert_int_equal(cancel(f, ids[CHAIN - 1]), 0);
	settle(f);
	for (uint32_t i = 0; i + 1 < CHAIN; i++)
		assert_int_equal(priority_of(f, ids[i]), 0);
}

/* 10,000 wait for one; they leave one by one. */
static void test_crowd(void **state)
{
	struct one_worker *s = *state;
	struct fixture *f = &s->f;
	static uint64_t ids[MANY];
	uint64_t a = task(s, 0);

	for (uint32_t i = 0; i < MANY; i++)
		ids[i] = submit_after(f, 100, a, 0);
	settle(f);
	for (uint32_t i = MANY; i-- > 1;) {
		assert_int_equal(cancel(f, ids[i]), 0);
		slice(f);
		assert_int_equal(priority_of(f, a), 100);
	}
	settle(f);
	cancel(f, ids[0]);
	settle(f);
	assert_int_equal(priority_of(f, a), 0);
}

/* The attempt has ended; its wait has not noticed yet, and lends what it did. */
static void test_left_behind(void **state)
{
	struct one_worker *s = *state;
	uint64_t first = task(s, 40), second = task(s, 0);
	uint32_t w;

	assert_int_equal(claim(&s->f, s->worker, &s->c), first);
	w = wait_for(&s->f, second, 0, s->c.attempt);
	end(&s->f, s->worker, &s->c, DONE);
	settle(&s->f);
	assert_int_equal(priority_of(&s->f, second), 40);
	leave(&s->f, w);
	settle(&s->f);
	assert_int_equal(priority_of(&s->f, second), 0);
}

/* B7: the earliest deadline, where deadlines order. */
static void test_deadline(void **state)
{
	struct one_worker *s = *state;
	uint64_t first = submit(&s->f, (struct tq_task_spec){ .deadline_ns = 10 * SECOND });

	set_policy(&s->f, (struct tqi_policy){ .edf = 1 });
	assert_int_equal(claim(&s->f, s->worker, &s->c), first);
	uint64_t second = submit(&s->f, (struct tq_task_spec){ .deadline_ns = 20 * SECOND });
	uint64_t third = task(s, 0);
	struct tqi_claimed c = s->c;
	uint32_t w = wait_for(&s->f, third, 0, c.attempt);

	settle(&s->f);
	assert_int_equal(worth_of(&s->f, third).deadline_ns, worth_of(&s->f, first).deadline_ns);
	s->f.box.system.now_ns += 12 * SECOND; /* an inherited one ends no task */
	begin(&s->f);
	tqi_due_run(&s->f.tx, 8);
	commit(&s->f);
	assert_int_equal(task_of(&s->f, third)->state, TQ_READY);
	assert_next(s, third);
	assert_next(s, second);
	leave(&s->f, w);
	end(&s->f, s->worker, &c, DONE);
}

/* What waits is worth less in one respect, and more in the other. */
static void test_both_at_once(void **state)
{
	struct one_worker *s = *state;
	uint64_t a = submit(&s->f, (struct tq_task_spec){ 0 });
	const struct tq_dependency on = { .id = a };
	uint64_t b = submit(
		&s->f, (struct tq_task_spec){ .after = &on, .after_count = 1, .priority = 100 });
	const struct tq_task_update u = { .fields = TQ_UPDATE_PRIORITY | TQ_UPDATE_DEADLINE,
					  .priority = 90,
					  .deadline_ns = SECOND };

	settle(&s->f);
	assert_int_equal(priority_of(&s->f, a), 100);
	begin(&s->f);
	assert_int_equal(tqi_steer_update(&s->f.tx, b, &u), 0);
	commit(&s->f);
	settle(&s->f);
	assert_int_equal(priority_of(&s->f, a), 90);
	assert_int_equal(worth_of(&s->f, a).deadline_ns, worth_of(&s->f, b).deadline_ns);
}

/* IN-3: nothing crosses fair keys, but among a key's tasks, and from clients. */
static void test_fair_keys(void **state)
{
	struct one_worker *s = *state;
	uint64_t first = submit(&s->f, (struct tq_task_spec){ .priority = 100, .fair_key = "a" });

	assert_int_equal(claim(&s->f, s->worker, &s->c), first);
	uint64_t same = submit(&s->f, (struct tq_task_spec){ .fair_key = "a" });
	uint64_t other = submit(&s->f, (struct tq_task_spec){ .fair_key = "b" });
	uint64_t none = task(s, 0);
	uint32_t w = wait_for(&s->f, same, 0, s->c.attempt);

	wait_too(&s->f, w, other);
	wait_too(&s->f, w, none);
	settle(&s->f);
	assert_int_equal(priority_of(&s->f, same), 100);
	assert_int_equal(priority_of(&s->f, other), 0);
	assert_int_equal(priority_of(&s->f, none), 0);
	wait_for(&s->f, other, 70, 0);
	settle(&s->f);
	assert_int_equal(priority_of(&s->f, other), 70);
	leave(&s->f, w);
	settle(&s->f);
	assert_int_equal(priority_of(&s->f, same), 0);
	assert_int_equal(priority_of(&s->f, other), 70);
}

/* IN-6: a ring of waits keeps nothing of what has left it. */
static void test_ring(void **state)
{
	struct one_worker *s = *state;
	struct tqi_claimed c[3];
	uint64_t ids[3];

	for (uint32_t i = 0; i < 3; i++) {
		ids[i] = task(s, (int32_t)i);
		assert_int_equal(claim(&s->f, s->worker, &c[i]), ids[i]);
	}
	for (uint32_t i = 0; i < 3; i++)
		wait_for(&s->f, ids[(i + 1) % 3], 0, c[i].attempt);
	settle(&s->f);
	uint32_t client = wait_for(&s->f, ids[0], 100, 0);

	slice(&s->f);
	leave(&s->f, client);
	uint32_t slices = settle(&s->f);

	print_message("a ring forgets in %u slices\n", slices);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(priority_of(&s->f, ids[i]), 2);
}

/* A chain of 1,000 waits: the end is reached in slices, each of bounded journal. */
static void test_chain(void **state)
{
	struct one_worker *s = *state;
	uint64_t first, last;

	run_chain(s, CHAIN, &first, &last);
	uint32_t client = wait_for(&s->f, first, 100, 0);
	uint32_t slices = settle(&s->f);

	assert_int_equal(priority_of(&s->f, last), 100);
	assert_true(slices > 5);
	leave(&s->f, client);
	settle(&s->f);
	assert_int_equal(priority_of(&s->f, last), 0);
}

/* Donors leave one by one, the best first: each hold looks at a slice of the others. */
static void test_many(void **state)
{
	struct one_worker *s = *state;
	uint64_t a = task(s, 0);
	static uint32_t waiters[4000];
	uint32_t n = sizeof(waiters) / sizeof(waiters[0]), most = 0;

	for (uint32_t i = 0; i < n; i++)
		waiters[i] = wait_for(&s->f, a, 1 + (int32_t)i, 0);
	settle(&s->f);
	assert_int_equal(priority_of(&s->f, a), n);
	for (uint32_t i = n; i-- > 1;) {
		leave(&s->f, waiters[i]);
		begin(&s->f);
		tqi_inherit_slice(&s->f.tx);
		most = s->f.tx.undo_count > most ? s->f.tx.undo_count : most;
		commit(&s->f);
		assert_true(priority_of(&s->f, a) >= (int32_t)i);
		if (i % 1000 == 0) {
			settle(&s->f);
			assert_int_equal(priority_of(&s->f, a), i);
		}
	}
	print_message("%u journal entries a slice at most\n", most);
	assert_true(most < 100);
	leave(&s->f, waiters[0]);
	settle(&s->f);
	assert_int_equal(priority_of(&s->f, a), 0);
}

/* Another donor comes, or the best leaves, while a count is under way. */
static void test_count_interrupted(void **state)
{
	struct one_worker *s = *state;
	uint64_t a = task(s, 0);
	static uint32_t waiters[1000];

	for (uint32_t i = 0; i < 1000; i++)
		waiters[i] = wait_for(&s->f, a, 1 + (int32_t)i, 0);
	settle(&s->f);
	leave(&s->f, waiters[999]);
	slice(&s->f);
	leave(&s->f, waiters[998]); /* the best that it has met */
	settle(&s->f);
	assert_int_equal(priority_of(&s->f, a), 998);
	leave(&s->f, waiters[997]);
	slice(&s->f);
	wait_for(&s->f, a, 5000, 0);
	settle(&s->f);
	assert_int_equal(priority_of(&s->f, a), 5000);
	update(&s->f, a, 6000);
	settle(&s->f);
	update(&s->f, a, 3);
	slice(&s->f);
	leave(&s->f, waiters[900]);
	begin(&s->f);
	const struct tqi_root *root = tqi_root(&s->f.tx);
	const struct tqi_edge *at = tqi_edge_at(&s->f.tx, root->stale.cursor);
	uint32_t here = at->waiter;

	commit(&s->f);
	leave(&s->f, here); /* the one that it would look at next */
	assert_sound(&s->f);
	settle(&s->f);
	assert_int_equal(priority_of(&s->f, a), 5000);
}

/* A handler that waits for many gives up, while these are being told what it is worth. */
static void test_push_interrupted(void **state)
{
	struct one_worker *s = *state;
	uint64_t first = task(s, 0), ids[100];

	assert_int_equal(claim(&s->f, s->worker, &s->c), first);
	ids[0] = task(s, 0);
	uint32_t w = wait_for(&s->f, ids[0], 0, s->c.attempt);

	for (uint32_t i = 1; i < 100; i++)
		wait_too(&s->f, w, ids[i] = task(s, 0));
	uint32_t client = wait_for(&s->f, first, 100, 0);

	slice(&s->f);
	begin(&s->f);
	assert_int_not_equal(tqi_root(&s->f.tx)->stale.cursor, 0);
	commit(&s->f);
	leave(&s->f, w);
	assert_sound(&s->f);
	settle(&s->f);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(priority_of(&s->f, ids[i]), 0);
	leave(&s->f, client);
	settle(&s->f);
	end(&s->f, s->worker, &s->c, DONE);
}

/* A task that a worker has taken beforehand competes anew. */
static void test_assigned(void **state)
{
	struct one_worker *s = *state;
	const struct tqi_queue_settings batch = { .batch = 8 };
	uint64_t ids[4];

	for (uint32_t i = 0; i < 4; i++)
		ids[i] = task(s, 0);
	begin(&s->f);
	assert_int_equal(tqi_queue_set(&s->f.tx, tqi_queue_find(&s->f.tx, "default"), &batch), 0);
	commit(&s->f);
	uint32_t other = add_worker(&s->f, "default", 0);

	assert_int_equal(claim(&s->f, s->worker, &s->c), ids[0]);
	assert_true(task_of(&s->f, ids[3])->flags & TQI_TASK_ASSIGNED);
	wait_for(&s->f, ids[3], 10, 0);
	settle(&s->f);
	assert_false(task_of(&s->f, ids[3])->flags & TQI_TASK_ASSIGNED);
	assert_int_equal(claim(&s->f, other, &s->c), ids[3]);
}

/* A retry is a new life: nobody waits for it any more. */
static void test_retry(void **state)
{
	struct one_worker *s = *state;
	uint64_t a = task(s, 0);

	wait_for(&s->f, a, 100, 0);
	begin(&s->f);
	assert_int_equal(tqi_steer_cancel(&s->f.tx, a), 0); /* stale */
	commit(&s->f);
	assert_false(slice(&s->f));
	begin(&s->f);
	assert_int_equal(tqi_steer_retry(&s->f.tx, a), 0);
	commit(&s->f);
	settle(&s->f);
	assert_int_equal(priority_of(&s->f, a), 0);
}

static void count_finding(void *arg, const char *text)
{
	(void)text;
	++*(uint32_t *)arg;
}

static uint32_t faults(struct fixture *f)
{
	void *scratch = calloc(1, tqi_check_scratch_bytes(&f->box.seg.geometry));
	uint32_t n = 0;
	struct tqi_tx tx;

	tqi_tx_view(&tx, &f->box.seg);
	tqi_check(&tx, scratch, count_finding, &n);
	free(scratch);
	return n;
}

static void repair(struct fixture *f)
{
	void *scratch = calloc(1, tqi_check_scratch_bytes(&f->box.seg.geometry));

	begin(f);
	assert_int_equal(tqi_rebuild(&f->tx, scratch), 0);
	commit(f);
	free(scratch);
	settle(f);
}

/* H6: each damage is found, and repaired. */
static void test_damage(void **state)
{
	struct one_worker *s = *state;
	struct fixture *f = &s->f;
	uint64_t a = task(s, 0), b = task(s, 0);
	struct tqi_claimed c;

	assert_int_equal(claim(f, s->worker, &c), a);
	wait_for(f, a, 100, 0);
	uint32_t w = wait_for(f, b, 0, c.attempt);

	settle(f);
	for (uint32_t damage = 0; damage < 8; damage++) {
		begin(f);
		struct tqi_extra *extra = tqi_task_extra(&f->tx, task_of(f, b));
		struct tqi_root *root = tqi_root(&f->tx);
		uint32_t *const words[] = { &root->stale.first, &root->stale.last,
					    &root->stale.stage, (uint32_t *)&extra->inherited };

		if (damage < 4)
			*words[damage] = damage + 1;
		else if (damage == 4)
			extra->inherited_hops = 9;
		else if (damage == 5)
			extra->inherited_deadline_hops = 1;
		else if (damage == 6)
			extra->stale = TQI_STALE_LISTED | TQI_STALE_COUNT;
		else
			tqi_edge_at(&f->tx, task_of(f, b)->edges)->quiet = 7;
		commit(f);
		assert_true(faults(f) > 0);
		repair(f);
		if (damage == 7) { /* believed to be quiet */
			leave(f, w);
			break;
		}
		assert_int_equal(priority_of(f, a), 100);
		assert_int_equal(priority_of(f, b), 100);
		assert_int_equal(worth_of(f, b).hops, 2);
	}
}

/* A repair gives places back, too, and forgets what nobody lends. */
static void test_repair_of_sound(void **state)
{
	struct one_worker *s = *state;
	uint64_t a = task(s, 0), b = task(s, 60), c = task(s, 0);

	set_policy(&s->f, (struct tqi_policy){ .hybrid = 3 });
	wait_for(&s->f, c, 100, 0);
	wait_for(&s->f, a, 30, 0);
	repair(&s->f);
	assert_int_equal(priority_of(&s->f, c), 100);
	assert_next(s, c);
	assert_next(s, b);
	assert_next(s, a);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_scene, close_scene)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_client),
		TEST(test_nothing),
		TEST(test_leave),
		TEST(test_own),
		TEST(test_lowered),
		TEST(test_bands),
		TEST(test_hold),
		TEST(test_behalf),
		TEST(test_left_behind),
		TEST(test_deadline),
		TEST(test_both_at_once),
		TEST(test_fair_keys),
		TEST(test_ring),
		TEST(test_chain),
		TEST(test_many),
		TEST(test_count_interrupted),
		TEST(test_assigned),
		TEST(test_push_interrupted),
		TEST(test_diamond),
		TEST(test_donors),
		TEST(test_later_edge),
		TEST(test_refused),
		TEST(test_dependants),
		TEST(test_crowd),
		TEST(test_retry),
		TEST(test_damage),
		TEST(test_repair_of_sound),
	};

	return cmocka_run_group_tests_name("inherit", tests, NULL, NULL);
}
