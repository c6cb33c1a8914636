/* SPDX-License-Identifier: MIT */
/* G3: commands: who gets one, in which order, and who answers for the dead. */
#include "tests/unit/fixture.h"

#include <errno.h>
#include <stdlib.h>

#include "scheduler/check/check.h"
#include "scheduler/worker/command.h"
#include "scheduler/rebuild/rebuild.h"
#include "taskq/error.h"

#define WORKERS 40

static uint32_t add(struct fixture *f, const char *queue, uint32_t flags, uint32_t master)
{
	static const struct tqi_ident owner = { .pid = 7, .tid = 7, .start = 7 };
	static char name[8] = "m";
	struct tqi_worker_request request = { .owner = &owner,
					      .name = name,
					      .queues = &queue,
					      .queue_count = 1,
					      .flags = flags,
					      .master = master };
	uint32_t worker;

	name[1] = (char)(name[1] < 'a' || name[1] == 'z' ? 'a' : name[1] + 1);
	begin(f);
	assert_int_equal(tqi_worker_register(&f->tx, &request, &worker), 0);
	commit(f);
	return worker;
}

static uint32_t add_commanded(struct fixture *f)
{
	return add(f, "default", TQI_WORKER_COMMANDS, 0);
}

static int send(struct fixture *f, struct tq_command_spec spec, uint64_t *ret_id)
{
	spec.name = spec.name ? spec.name : "reload";
	begin(f);
	return conclude(f, tqi_command_send(&f->tx, &spec, 1, ret_id));
}

static uint64_t send_to(struct fixture *f, uint32_t to, uint32_t worker)
{
	uint64_t id;
	const struct tq_command_spec spec = { .to = to, .worker = worker };

	assert_true(send(f, spec, &id) > 0);
	return id;
}

/* The command that a claim of this worker meets; 0 none. */
static uint64_t taken(struct fixture *f, uint32_t w)
{
	struct tqi_claimed c;

	begin(f);
	int r = tqi_claim(&f->tx, w, &c);
	uint32_t command = tqi_worker_at(&f->tx, w)->command;
	uint64_t id = command ? tqi_id_make(command, tqi_command_at(&f->tx, command)->generation)
			      : 0;

	assert_int_equal(r == TQ_ECOMMAND, id != 0);
	if (r == 0) { /* a task instead: it goes back */
		struct tqi_verdict v = RELEASE;

		assert_int_equal(
			tqi_end(&f->tx, w, c.attempt, c.id, tqi_task_at(&f->tx, c.task)->epoch, &v),
			0);
	}
	commit(f);
	return id;
}

static int ack(struct fixture *f, uint32_t w, uint64_t id, uint32_t state, const char *text)
{
	begin(f);
	int r = tqi_command_ack(&f->tx, w, id, state, text);

	commit(f);
	return r;
}

static void die(struct fixture *f, uint32_t w)
{
	static const struct tqi_death death = { .cause = TQ_CAUSE_WORKER_DIED };
	struct tqi_worker *worker = tqi_table_peek(&f->box.seg, TQI_WORKERS, w);

	tqt_mutex_die(&worker->life);
	for (bool done = false; !done;) {
		begin(f);
		done = tqi_worker_dead(&f->tx, w, worker->generation, &death);
		commit(f);
	}
}

static struct tqi_command *record(struct fixture *f, uint64_t id)
{
	return tqi_table_peek(&f->box.seg, TQI_COMMANDS, tqi_id_index(id));
}

static struct tqi_delivery *delivery(struct fixture *f, uint64_t id, uint32_t i)
{
	return (struct tqi_delivery *)(void *)(f->box.seg.base +
					       ((uint64_t)record(f, id)->block << TQI_UNIT_SHIFT)) +
	       i;
}

static void close_sound(struct fixture *f)
{
	assert_sound(f);
	close_fixture(f);
}

static void test_g3_before_tasks_and_in_order(void **state)
{
	struct tqi_claimed c;
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t w = add_commanded(&f);

	submit(&f, (struct tq_task_spec){ .priority = 1000 });
	uint64_t first = send_to(&f, TQ_COMMAND_TO_ALL, 0);
	uint64_t second = send_to(&f, TQ_COMMAND_TO_WORKER, w);
	uint64_t third = send_to(&f, TQ_COMMAND_TO_ANY, 0);

	assert_int_equal(taken(&f, w), first);
	assert_int_equal(taken(&f, w), first); /* until it is acknowledged */
	assert_int_equal(ack(&f, w, second, TQ_ANSWER_DONE, NULL), TQ_ESTATE);
	assert_int_equal(ack(&f, w, first, TQ_ANSWER_DONE, "as you say"), 0);
	assert_int_equal(ack(&f, w, first, TQ_ANSWER_DONE, NULL), TQ_ESTATE);
	assert_string_equal((char *)delivery(&f, first, 0)->text, "as you say");
	assert_int_equal(taken(&f, w), second);
	assert_int_equal(ack(&f, w, second, TQ_ANSWER_REFUSED, NULL), 0);
	assert_int_equal(taken(&f, w), third);
	assert_sound(&f);
	assert_int_equal(ack(&f, w, third, TQ_ANSWER_DONE, NULL), 0);
	assert_int_not_equal(claim(&f, w, &c), 0);
	assert_int_equal(record(&f, second)->state, TQI_COMMAND_ENDED);
	assert_int_equal(delivery(&f, second, 0)->state, TQ_ANSWER_REFUSED);
	close_sound(&f);
}

static void test_g3_paused_queue_delivers(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t w = add_commanded(&f);

	begin(&f);
	tqi_queue_flag(&f.tx, 1, TQI_QUEUE_PAUSED, true);
	commit(&f);
	uint64_t id = send_to(&f, TQ_COMMAND_TO_ANY, 0);

	assert_int_equal(taken(&f, w), id);
	close_sound(&f);
}

static void test_g3_refused(void **state)
{
	struct fixture f;
	uint64_t id;

	(void)state;
	open_fixture(&f, 100);
	uint32_t deaf = add_worker(&f, "default", 0), w = add_commanded(&f);

	add(&f, "other", 0, 0);
#define TRY(...) send(&f, (struct tq_command_spec){ __VA_ARGS__ }, &id)
	assert_int_equal(TRY(.to = TQ_COMMAND_TO_WORKER, .worker = deaf), -EOPNOTSUPP);
	assert_int_equal(TRY(.to = TQ_COMMAND_TO_WORKER, .worker = 99), -ESRCH);
	assert_int_equal(TRY(.to = TQ_COMMAND_TO_WORKER, .worker = w, .queue = "other"), -EXDEV);
	assert_int_equal(TRY(.to = TQ_COMMAND_TO_ALL, .queue = "none"), -ENOENT);
	assert_int_equal(TRY(.to = TQ_COMMAND_TO_ALL, .queue = "other"), -ESRCH);
	assert_int_equal(TRY(.to = TQ_COMMAND_TO_ANY, .queue = "other"), -ESRCH);
	assert_int_equal(TRY(.to = TQ_COMMAND_TO_ALL), 1); /* the deaf one is passed over */
#undef TRY
	assert_int_equal(taken(&f, deaf), 0);
	close_sound(&f);
}

/* All that are registered when it is sent, and nobody else. */
static void test_g3_all(void **state)
{
	uint32_t workers[WORKERS];
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	for (uint32_t i = 0; i < WORKERS; i++)
		workers[i] = add_commanded(&f);
	uint64_t id = send_to(&f, TQ_COMMAND_TO_ALL, 0);
	uint32_t late = add_commanded(&f);

	assert_int_equal(record(&f, id)->delivery_count, WORKERS);
	assert_int_equal(taken(&f, late), 0);
	for (uint32_t i = 0; i + 2 < WORKERS; i++) {
		assert_int_equal(taken(&f, workers[i]), id);
		assert_int_equal(ack(&f, workers[i], id, TQ_ANSWER_DONE, NULL), 0);
	}
	assert_int_equal(taken(&f, workers[WORKERS - 2]), id);
	assert_sound(&f);
	die(&f, workers[WORKERS - 2]);
	assert_int_equal(record(&f, id)->state, TQI_COMMAND_OPEN);
	begin(&f); /* the last one leaves of its own accord */
	assert_true(tqi_worker_unregister(&f.tx, workers[WORKERS - 1]));
	commit(&f);
	assert_int_equal(record(&f, id)->state, TQI_COMMAND_ENDED);
	for (uint32_t i = 0; i < WORKERS; i++)
		assert_int_equal(delivery(&f, id, i)->state,
				 i + 2 < WORKERS ? TQ_ANSWER_DONE : TQ_ANSWER_GONE);
	close_sound(&f);
}

/* A record that is used again is another worker's. */
static void test_g3_successor_in_the_record_gets_nothing(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t w = add_commanded(&f);

	add_commanded(&f);
	uint64_t id = send_to(&f, TQ_COMMAND_TO_ALL, 0);

	die(&f, w);
	assert_int_equal(add_commanded(&f), w);
	assert_int_equal(taken(&f, w), 0);
	assert_int_equal(delivery(&f, id, 0)->state, TQ_ANSWER_GONE);
	close_sound(&f);
}

static int cancel(struct fixture *f, uint64_t id)
{
	begin(f);
	int r = tqi_command_cancel(&f->tx, id);

	commit(f);
	return r;
}

static uint32_t answer(struct fixture *f, uint64_t id, uint32_t i)
{
	return tqi_delivery_answer(record(f, id), delivery(f, id, i));
}

/* However many it is for: nobody gets it any more, and it has ended. */
static void test_g3_cancel_before_anybody_took_it(void **state)
{
	uint32_t workers[WORKERS];
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	for (uint32_t i = 0; i < WORKERS; i++)
		workers[i] = add_commanded(&f);
	uint64_t id = send_to(&f, TQ_COMMAND_TO_ALL, 0);

	assert_int_equal(cancel(&f, id), WORKERS);
	assert_int_equal(record(&f, id)->state, TQI_COMMAND_ENDED);
	assert_int_equal(taken(&f, workers[0]), 0);
	assert_int_equal(answer(&f, id, 0), TQ_ANSWER_CANCELLED);
	assert_int_equal(cancel(&f, id), TQ_ESTATE);
	die(&f, workers[1]); /* it leaves no other answer */
	assert_int_equal(answer(&f, id, 1), TQ_ANSWER_CANCELLED);
	assert_int_equal(cancel(&f, id + (1ull << 30)), -ENOENT);
	close_sound(&f);
}

/* Who has it goes on, and answers; those behind it in the list are passed over. */
static void test_g3_cancel_the_rest(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t a = add_commanded(&f), b = add_commanded(&f), c = add_commanded(&f);
	uint64_t id = send_to(&f, TQ_COMMAND_TO_ALL, 0), next = send_to(&f, TQ_COMMAND_TO_ALL, 0);

	assert_int_equal(taken(&f, a), id);
	assert_int_equal(cancel(&f, id), 2);
	assert_int_equal(cancel(&f, id), 0);
	assert_int_equal(record(&f, id)->state, TQI_COMMAND_OPEN);
	assert_sound(&f);
	assert_int_equal(taken(&f, b), next);
	die(&f, c);
	assert_int_equal(answer(&f, id, 2), TQ_ANSWER_CANCELLED);
	assert_int_equal(answer(&f, next, 2), TQ_ANSWER_GONE);
	assert_sound(&f);
	assert_int_equal(ack(&f, a, id, TQ_ANSWER_DONE, NULL), 0);
	assert_int_equal(record(&f, id)->state, TQI_COMMAND_ENDED);
	assert_int_equal(answer(&f, id, 0), TQ_ANSWER_DONE);
	close_sound(&f);
}

/* Anybody's, whose taker dies after it: it is not given to another one. */
static void test_g3_cancel_anybodys(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t a = add_commanded(&f), b = add_commanded(&f);
	uint64_t id = send_to(&f, TQ_COMMAND_TO_ANY, 0);

	assert_int_equal(taken(&f, a), id);
	assert_int_equal(cancel(&f, id), 0);
	die(&f, a);
	assert_int_equal(answer(&f, id, 0), TQ_ANSWER_GONE);
	assert_int_equal(record(&f, id)->state, TQI_COMMAND_ENDED);
	assert_int_equal(taken(&f, b), 0);
	close_sound(&f);
}

/* Whose taker dies gets another one, before all that came later; three times. */
static void test_g3_any(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t w = add_commanded(&f);
	uint64_t id = send_to(&f, TQ_COMMAND_TO_ANY, 0);
	uint64_t later = send_to(&f, TQ_COMMAND_TO_ANY, 0);

	for (uint32_t i = 0; i < TQI_COMMAND_TAKES_MAX; i++) {
		assert_int_equal(taken(&f, w), id);
		assert_int_equal(delivery(&f, id, 0)->worker, w);
		assert_sound(&f);
		die(&f, w);
		assert_int_equal(delivery(&f, id, 0)->state, i + 1 < TQI_COMMAND_TAKES_MAX
								     ? TQ_ANSWER_WAITING
								     : TQ_ANSWER_GONE);
		w = add_commanded(&f);
	}
	assert_int_equal(record(&f, id)->state, TQI_COMMAND_ENDED);
	assert_int_equal(taken(&f, w), later);
	assert_int_equal(taken(&f, add_commanded(&f)), 0);
	close_sound(&f);
}

/* Masters, and workers that have none that would do it for them. */
static void test_g3_farms(void **state)
{
	struct fixture f;
	uint64_t id;

	(void)state;
	open_fixture(&f, 100);
	uint32_t master = add(&f, "default", TQI_WORKER_COMMANDS | TQI_WORKER_MASTER, 0);
	uint32_t deaf = add(&f, "default", TQI_WORKER_MASTER, 0);
	uint32_t child = add(&f, "default", TQI_WORKER_COMMANDS, master);
	uint32_t orphan = add(&f, "default", TQI_WORKER_COMMANDS, deaf);
	uint32_t alone = add_commanded(&f);
	const struct tq_command_spec spec = { .to = TQ_COMMAND_TO_FARMS };

	assert_int_equal(send(&f, spec, &id), 3);
	assert_int_equal(delivery(&f, id, 0)->worker, master);
	assert_int_equal(delivery(&f, id, 1)->worker, orphan);
	assert_int_equal(delivery(&f, id, 2)->worker, alone);
	assert_int_equal(taken(&f, child), 0);
	assert_int_equal(send(&f, (struct tq_command_spec){ .to = TQ_COMMAND_TO_ALL }, &id), 3);
	assert_int_equal(delivery(&f, id, 0)->worker, child);
	assert_int_equal(taken(&f, child), id);
	close_sound(&f);
}

static uint32_t sleep_as(struct fixture *f, enum tqi_interest interest, uint32_t subject)
{
	static const struct tqi_ident self = { .pid = 7, .tid = 7, .start = 7 };
	bool full;

	begin(f);
	uint32_t s = tqi_sleep_enter(&f->tx, &self, interest, subject, &full);

	tqi_sleep_again(&f->tx, s, UINT64_MAX);
	commit(f);
	return s;
}

static uint32_t state_of(struct fixture *f, uint32_t waiter)
{
	return ((struct tqi_waiter *)tqi_table_peek(&f->box.seg, TQI_WAITERS, waiter))->state;
}

static uint32_t in_transit(struct fixture *f, const uint32_t *waiters, uint32_t count)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < count; i++)
		n += state_of(f, waiters[i]) == TQI_WAITER_TRANSIT;
	return n;
}

/* Those who sleep are woken: of many, some at once, and the others by those. */
static void test_g3_sleepers_are_woken(void **state)
{
	uint32_t workers[WORKERS], waiters[WORKERS], deaf_sleeper;
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	deaf_sleeper = sleep_as(&f, TQI_INTEREST_WORK, add_worker(&f, "default", 0));
	for (uint32_t i = 0; i < WORKERS; i++) {
		workers[i] = add_commanded(&f);
		waiters[i] = sleep_as(&f, TQI_INTEREST_WORK, workers[i]);
	}
	uint64_t any = send_to(&f, TQ_COMMAND_TO_ANY, 0);

	assert_int_equal(in_transit(&f, waiters, WORKERS), 1);
	assert_int_equal(taken(&f, workers[WORKERS - 1]), any);
	assert_int_equal(ack(&f, workers[WORKERS - 1], any, TQ_ANSWER_DONE, NULL), 0);
	send_to(&f, TQ_COMMAND_TO_ALL, 0);
	assert_int_equal(in_transit(&f, waiters, WORKERS), 1 + TQI_WAKE_POPS);
	for (uint32_t i = 1 + TQI_WAKE_POPS; i < WORKERS; i++) {
		begin(&f);
		assert_true(tqi_wake_any(&f.tx));
		commit(&f);
		assert_int_equal(in_transit(&f, waiters, WORKERS), i + 1);
	}
	begin(&f);
	assert_false(tqi_wake_any(&f.tx));
	commit(&f);
	assert_int_equal(state_of(&f, deaf_sleeper), TQI_WAITER_LISTED);
	close_sound(&f);
}

/* CO-1: each recipient is called once, those that sleep, of the oldest command first. */
static void test_recipients_are_called_once(void **state)
{
	uint32_t workers[WORKERS], waiters[WORKERS];
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	for (uint32_t i = 0; i < WORKERS; i++)
		workers[i] = add_commanded(&f);
	for (uint32_t i = 1; i < WORKERS; i++)
		waiters[i] = sleep_as(&f, TQI_INTEREST_WORK, workers[i]);
	uint64_t all = send_to(&f, TQ_COMMAND_TO_ALL, 0);

	assert_int_equal(record(&f, all)->called, 1 + TQI_WAKE_POPS); /* the first is awake */
	assert_sound(&f);
	uint64_t one = send_to(&f, TQ_COMMAND_TO_WORKER, workers[WORKERS - 1]);

	assert_int_equal(state_of(&f, waiters[WORKERS - 1]), TQI_WAITER_TRANSIT); /* at once */
	assert_int_equal(record(&f, one)->called, 1);
	assert_int_equal(record(&f, all)->called, 1 + TQI_WAKE_POPS);
	for (uint32_t i = 2 + TQI_WAKE_POPS; i < WORKERS; i++) {
		begin(&f);
		assert_true(tqi_wake_any(&f.tx));
		commit(&f);
		assert_sound(&f);
	}
	begin(&f);
	assert_false(tqi_wake_any(&f.tx));
	commit(&f);
	assert_int_equal(in_transit(&f, waiters + 1, WORKERS - 1), WORKERS - 1);
	close_sound(&f);
}

/* CO-2: whoever was called to anybody's command and gives up leaves it to another one. */
static void test_anybody_else_is_called(void **state)
{
	uint32_t waiters[2];
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	for (uint32_t i = 0; i < 2; i++)
		waiters[i] = sleep_as(&f, TQI_INTEREST_WORK, add_commanded(&f));
	uint32_t deaf = sleep_as(&f, TQI_INTEREST_WORK, add_worker(&f, "default", 0));

	send_to(&f, TQ_COMMAND_TO_ANY, 0);
	assert_int_equal(state_of(&f, waiters[1]), TQI_WAITER_TRANSIT);
	assert_sound(&f);
	begin(&f);
	tqi_sleep_leave(&f.tx, waiters[1]);
	assert_true(tqi_wake_next(&f.tx));
	commit(&f);
	assert_int_equal(state_of(&f, waiters[0]), TQI_WAITER_TRANSIT);
	begin(&f);
	assert_false(tqi_wake_next(&f.tx));
	commit(&f);
	assert_int_equal(state_of(&f, deaf), TQI_WAITER_LISTED);
	close_sound(&f);
}

/* A master sleeps for other things, and is woken for its commands. */
static void test_g3_master_is_woken(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t master = add(&f, "default", TQI_WORKER_COMMANDS | TQI_WORKER_MASTER, 0);
	uint32_t waiter = sleep_as(&f, TQI_INTEREST_MASTER, master);
	uint64_t id;
	const struct tq_command_spec any = { .to = TQ_COMMAND_TO_ANY };

	assert_int_equal(send(&f, any, &id), -ESRCH); /* a master is no worker */
	id = send_to(&f, TQ_COMMAND_TO_FARMS, 0);
	assert_int_equal(state_of(&f, waiter), TQI_WAITER_TRANSIT);
	begin(&f);
	assert_true(tqi_command_take(&f.tx, master));
	commit(&f);
	assert_int_equal(ack(&f, master, id, TQ_ANSWER_DONE, NULL), 0);
	close_sound(&f);
}

/* A keeper comes back while somebody has not answered; with nothing open it need not. */
static void test_g3_keepers_look_while_one_is_open(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t w = add_commanded(&f);

	begin(&f);
	assert_true(tqi_keeper_until(&f.tx, 0) == UINT64_MAX);
	commit(&f);
	uint64_t id = send_to(&f, TQ_COMMAND_TO_ALL, 0);

	begin(&f);
	assert_true(tqi_keeper_until(&f.tx, 0) == f.tx.now_ns + SECOND / 2);
	commit(&f);
	assert_int_equal(taken(&f, w), id);
	assert_int_equal(ack(&f, w, id, TQ_ANSWER_DONE, NULL), 0);
	begin(&f);
	assert_true(tqi_keeper_until(&f.tx, 0) == UINT64_MAX);
	commit(&f);
	close_sound(&f);
}

/* Answered ones stay for a while; one that somebody waits for stays until it was read. */
static void test_g3_kept(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t w = add_commanded(&f), c;
	uint64_t first = send_to(&f, TQ_COMMAND_TO_WORKER, w);
	uint64_t second = send_to(&f, TQ_COMMAND_TO_WORKER, w), id = second;
	uint32_t waiter = sleep_as(&f, TQI_INTEREST_COMMAND, tqi_id_index(first));

	for (uint32_t i = 0; i < TQ_COMMANDS_KEPT + 2; i++) {
		assert_int_not_equal(taken(&f, w), 0);
		uint32_t index =
			((struct tqi_worker *)tqi_table_peek(&f.box.seg, TQI_WORKERS, w))->command;
		struct tqi_command *command = tqi_table_peek(&f.box.seg, TQI_COMMANDS, index);

		assert_int_equal(
			ack(&f, w, tqi_id_make(index, command->generation), TQ_ANSWER_DONE, NULL),
			0);
		id = send_to(&f, TQ_COMMAND_TO_WORKER, w);
	}
	assert_int_equal(state_of(&f, waiter), TQI_WAITER_TRANSIT);
	begin(&f);
	assert_int_equal(tqi_command_find(&f.tx, first, &c), 0);
	assert_int_equal(tqi_command_find(&f.tx, second, &c), TQ_EGONE);
	assert_int_equal(tqi_command_find(&f.tx, id, &c), 0);
	assert_int_equal(tqi_command_find(&f.tx, 0, &c), -ENOENT);
	assert_int_equal(tqi_command_find(&f.tx, id + (1ull << TQI_INDEX_BITS), &c), -ENOENT);
	assert_int_equal(tqi_root(&f.tx)->command.ended_count, TQ_COMMANDS_KEPT);
	commit(&f);
	close_sound(&f);
}

/* The most that can be open, all of one worker, which then leaves. */
static void test_g3_many_open_ones_are_gone(void **state)
{
	struct fixture f;
	uint64_t id;
	uint32_t holds = 0;

	(void)state;
	open_fixture(&f, 100);
	uint32_t w = add_commanded(&f);
	const struct tq_command_spec spec = { .to = TQ_COMMAND_TO_WORKER, .worker = w };

	for (uint32_t i = 0; i < TQ_COMMANDS_OPEN_MAX; i++)
		send_to(&f, TQ_COMMAND_TO_WORKER, w);
	assert_int_equal(send(&f, spec, &id), TQ_EFULL);
	assert_int_not_equal(taken(&f, w), 0);
	for (bool done = false; !done; holds++) {
		begin(&f);
		done = tqi_worker_unregister(&f.tx, w);
		commit(&f);
		assert_sound(&f);
	}
	assert_true(holds > 2);
	assert_int_equal(((struct tqi_root *)tqi_segment_root(&f.box.seg))->command.open, 0);
	close_sound(&f);
}

/* A repair keeps what was sent, taken and answered. */
static void test_g3_rebuild(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	uint32_t w = add_commanded(&f), v = add_commanded(&f);
	uint64_t first = send_to(&f, TQ_COMMAND_TO_ALL, 0);
	uint64_t second = send_to(&f, TQ_COMMAND_TO_ANY, 0);
	uint64_t third = send_to(&f, TQ_COMMAND_TO_WORKER, w);

	assert_int_equal(taken(&f, w), first);
	assert_int_equal(ack(&f, w, first, TQ_ANSWER_DONE, NULL), 0);
	assert_int_equal(taken(&f, w), second);
	void *scratch = calloc(1, tqi_check_scratch_bytes(&f.box.seg.geometry));

	begin(&f);
	assert_int_equal(tqi_rebuild(&f.tx, scratch), 0);
	commit(&f);
	free(scratch);
	assert_sound(&f);
	assert_int_equal(taken(&f, w), second);
	assert_int_equal(ack(&f, w, second, TQ_ANSWER_DONE, NULL), 0);
	assert_int_equal(taken(&f, w), third);
	assert_int_equal(taken(&f, v), first);
	close_sound(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_g3_before_tasks_and_in_order),
		cmocka_unit_test(test_g3_paused_queue_delivers),
		cmocka_unit_test(test_g3_refused),
		cmocka_unit_test(test_g3_all),
		cmocka_unit_test(test_g3_successor_in_the_record_gets_nothing),
		cmocka_unit_test(test_g3_any),
		cmocka_unit_test(test_g3_cancel_before_anybody_took_it),
		cmocka_unit_test(test_g3_cancel_the_rest),
		cmocka_unit_test(test_g3_cancel_anybodys),
		cmocka_unit_test(test_g3_farms),
		cmocka_unit_test(test_g3_sleepers_are_woken),
		cmocka_unit_test(test_recipients_are_called_once),
		cmocka_unit_test(test_anybody_else_is_called),
		cmocka_unit_test(test_g3_master_is_woken),
		cmocka_unit_test(test_g3_keepers_look_while_one_is_open),
		cmocka_unit_test(test_g3_kept),
		cmocka_unit_test(test_g3_many_open_ones_are_gone),
		cmocka_unit_test(test_g3_rebuild),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
