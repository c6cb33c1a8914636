/* SPDX-License-Identifier: MIT */
/* FAULTS T13: what `why` says in each situation, as reason and as sentence. */
#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "review_help.h"

#include "client/worker/worker_api.h"
#include "scheduler/record/records.h"
#include "why.h"

#define SOON_NS (5 * MS)
#define HOUR_NS (3600 * S)
#define HELPERS 4

/* The situation that is being built: one task of it is asked about. */
static struct farm_box *box;
static struct tq_worker *workers[HELPERS];
static uint32_t worker_count;
static pid_t children[HELPERS];
static uint32_t child_count;

struct row {
	const char *name;
	uint64_t (*build)(void);
	uint32_t reason;
	const char *text; /* with * for whatever stands there */
};

/* Parts of situations. */

#define TASK(...) put((struct tq_task_spec){ .size = sizeof(struct tq_task_spec), __VA_ARGS__ })

static uint64_t put(struct tq_task_spec spec)
{
	uint64_t id;

	if (!spec.kind)
		spec.kind = "k";
	assert_int_equal(tq_submit(box->tq, &spec, &id), 0);
	return id;
}

static struct tq_worker *open_for(struct tq *tq, const char *queue, const char *kind)
{
	const struct tq_worker_opts opts = { .size = sizeof(opts),
					     .queues = &queue,
					     .queue_count = 1,
					     .kinds = &kind,
					     .kind_count = kind != NULL };
	struct tq_worker *worker = NULL;

	return tq_worker_open(tq, &opts, &worker) < 0 ? NULL : worker;
}

static struct tq_worker *work(const char *queue, const char *kind)
{
	assert_true(worker_count < HELPERS);
	workers[worker_count] = open_for(box->tq, queue, kind);
	assert_non_null(workers[worker_count]);
	return workers[worker_count++];
}

static struct tq_claim run_one(void)
{
	return claim_now(work("default", "k"));
}

/* A task that runs, and the worker that runs it. */
static uint64_t running(struct tq_worker **ret_worker, struct tq_claim *ret_claim)
{
	*ret_worker = work("default", "k");
	*ret_claim = claim_now(*ret_worker);
	return ret_claim->id;
}

static void steer(uint64_t id, enum tq_task_action action)
{
	assert_int_equal(tq_task_steer(box->tq, id, action), 0);
}

static void pause_queue(void)
{
	assert_int_equal(tq_queue_steer(box->tq, "default", TQ_QUEUE_PAUSE), 0);
}

static void limit(const char *key, uint32_t slots)
{
	const struct tq_limit_opts opts = { .size = sizeof(opts), .slots = slots };

	assert_int_equal(tq_limit_set(box->tq, key, &opts), 0);
}

static struct tq_why ask(uint64_t id)
{
	struct tq_why why = { .size = sizeof(why) };

	assert_int_equal(tq_task_why(box->tq, id, &why), 0);
	return why;
}

/* Until its time has come. */
static uint64_t when_no_longer(uint64_t id, uint32_t reason)
{
	while (ask(id).reason == reason)
		pause_ms();
	return id;
}

static uint64_t when(uint64_t id, uint32_t reason)
{
	while (ask(id).reason != reason)
		pause_ms();
	return id;
}

static uint64_t in_an_hour(void)
{
	return clocks_read().unix_now_ns + HOUR_NS;
}

static void update(uint64_t id, struct tq_task_update change)
{
	change.size = sizeof(change);
	assert_int_equal(tq_task_update(box->tq, id, &change), 0);
}

/* Children. */

static pid_t child(child_main *run)
{
	assert_true(child_count < HELPERS);
	return children[child_count++] = start_child(box, run, NULL);
}

static int hold_a_task(struct farm_box *b, void *arg)
{
	struct tq_worker *worker = open_for(b->tq, "default", "k");
	struct tq_claim claim = { .size = sizeof(claim) };

	(void)arg;
	if (!worker || tq_claim(worker, TQ_FOREVER_NS, &claim) < 0)
		return 1;
	for (;;)
		pause();
}

static int be_idle(struct farm_box *b, void *arg)
{
	(void)arg;
	if (!open_for(b->tq, "default", "k"))
		return 1;
	for (;;)
		pause();
}

/* On behalf of its attempt it waits for the task that was submitted first. */
static int wait_inside(struct farm_box *b, void *arg)
{
	struct tq_worker *worker = open_for(b->tq, "default", "k");
	struct tq_claim claim = { .size = sizeof(claim) };
	struct tq_task_info info = { .size = sizeof(info) };

	(void)arg;
	if (!worker || tq_claim(worker, TQ_FOREVER_NS, &claim) < 0 ||
	    tq_claim_adopt(worker, &claim) < 0)
		return 1;
	return tq_wait(b->tq, &(uint64_t){ tqi_id_make(1, 1) }, 1, TQ_FOREVER_NS, NULL, &info);
}

/* A task whose worker is dead, which nobody has looked at yet. */
static uint64_t dying(struct tq_task_spec spec)
{
	const uint64_t id = put(spec);
	const pid_t pid = child(hold_a_task);

	when(id, TQ_WHY_RUNNING);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	children[--child_count] = 0;
	return id;
}

static struct tq_task_spec plain(void)
{
	return (struct tq_task_spec){ .size = sizeof(struct tq_task_spec) };
}

/* It has ended. */

static uint64_t ended_done(void)
{
	struct tq_worker *w;
	struct tq_claim c;

	TASK(0);
	const uint64_t id = running(&w, &c);

	assert_int_equal(tq_complete(w, &c, NULL, 0), 0);
	return id;
}

static uint64_t ended_failed(void)
{
	struct tq_worker *w;
	struct tq_claim c;

	TASK(.attempts_max = 3);
	const uint64_t id = running(&w, &c);

	assert_int_equal(tq_fail(w, &c, 1, "no use"), 0);
	return id;
}

static uint64_t ended_cancelled(void)
{
	const uint64_t id = TASK(0);

	assert_int_equal(tq_task_steer(box->tq, id, TQ_TASK_ACTION_CANCEL), 0);
	return id;
}

static uint64_t ended_expired(void)
{
	const uint64_t id = TASK(.deadline_ns = 1);
	struct tq_claim c = { .size = sizeof(c) };

	when(id, TQ_WHY_EXPIRED);
	assert_true(tq_claim(work("default", "k"), 0, &c) < 0);
	return id;
}

static uint64_t after(uint64_t first, uint64_t second, uint32_t kind)
{
	const struct tq_dependency on[] = { { .id = first, .kind = kind }, { .id = second } };

	return TASK(.after = on, .after_count = second ? 2 : 1);
}

static uint64_t ended_with_another(void)
{
	const uint64_t first = TASK(0), id = after(first, 0, TQ_AFTER_OK);

	assert_int_equal(tq_task_steer(box->tq, first, TQ_TASK_ACTION_CANCEL), 0);
	return id;
}

/* It runs. */

static uint64_t runs(void)
{
	TASK(0);
	return run_one().id;
}

static uint64_t runs_again(void)
{
	struct tq_worker *w;
	struct tq_claim c;

	TASK(0);
	running(&w, &c);
	assert_int_equal(tq_release(w, &c, 0), 0);
	return claim_now(w).id;
}

static uint64_t runs_stopped(void)
{
	const uint64_t id = TASK(0);
	const pid_t pid = child(hold_a_task);

	when(id, TQ_WHY_RUNNING);
	stop_child(pid);
	return id;
}

static uint64_t is_asked_to_end(void)
{
	const uint64_t id = runs();

	assert_true(tq_task_steer(box->tq, id, TQ_TASK_ACTION_CANCEL) >= 0);
	return id;
}

static uint64_t waits_inside(void)
{
	TASK(.kind = "other");
	const uint64_t id = TASK(0);

	child(wait_inside);
	return when(id, TQ_WHY_WAITING);
}

static uint64_t is_dying(void)
{
	return dying(plain());
}

static uint64_t is_dying_for_the_last_time(void)
{
	struct tq_task_spec spec = plain();

	spec.crashes_max = 1;
	return dying(spec);
}

static uint64_t is_dying_and_runs_once(void)
{
	struct tq_task_spec spec = plain();

	spec.flags = TQ_TASK_AT_MOST_ONCE;
	return dying(spec);
}

/* It is blocked. */

static uint64_t after_ready(void)
{
	return after(TASK(0), 0, TQ_AFTER_OK);
}

static uint64_t after_held(void)
{
	return after(TASK(.flags = TQ_TASK_HOLD), 0, TQ_AFTER_OK);
}

static uint64_t after_delayed(void)
{
	return after(TASK(.delay_ns = HOUR_NS), 0, TQ_AFTER_ANY);
}

static uint64_t after_blocked(void)
{
	return after(after(TASK(0), 0, TQ_AFTER_OK), 0, TQ_AFTER_FAIL);
}

static uint64_t after_running(void)
{
	return after(runs(), 0, TQ_AFTER_OK);
}

static uint64_t after_two(void)
{
	const uint64_t first = TASK(0);

	return after(first, TASK(0), TQ_AFTER_OK);
}

static uint64_t after_two_of_which_one_runs(void)
{
	const uint64_t first = runs();

	return after(TASK(0), first, TQ_AFTER_OK);
}

static uint64_t after_one_of_its_key(void)
{
	TASK(.unique_key = "u", .unique_scope = TQ_UNIQUE_COALESCE);
	run_one();
	return TASK(.unique_key = "u", .unique_scope = TQ_UNIQUE_COALESCE);
}

/* The completion task of a group with so many members. */
static uint64_t completion(int members, bool seal)
{
	const struct tq_task_spec last = { .size = sizeof(last), .kind = "k" };
	const struct tq_group_opts opts = { .size = sizeof(opts), .completion = &last };
	struct tq_group_info info = { .size = sizeof(info) };
	uint64_t group;

	assert_int_equal(tq_group_new(box->tq, &opts, &group), 0);
	for (int i = 0; i < members; i++)
		TASK(.group = group);
	assert_int_equal(tq_group_info(box->tq, group, &info), 0);
	if (seal)
		assert_int_equal(tq_group_seal(box->tq, group), 0);
	return info.completion;
}

static uint64_t after_an_open_group(void)
{
	return completion(0, false);
}

static uint64_t after_an_open_group_with_members(void)
{
	return completion(2, false);
}

static uint64_t after_a_sealed_group(void)
{
	return completion(1, true);
}

/* It is held, or not due. */

static uint64_t held(void)
{
	return TASK(.flags = TQ_TASK_HOLD);
}

static uint64_t held_and_delayed(void)
{
	return TASK(.flags = TQ_TASK_HOLD, .delay_ns = HOUR_NS);
}

static uint64_t held_in_a_paused_queue(void)
{
	const uint64_t id = held();

	pause_queue();
	return id;
}

static uint64_t delayed(void)
{
	return TASK(.delay_ns = HOUR_NS);
}

static uint64_t delayed_in_a_paused_queue(void)
{
	const uint64_t id = delayed();

	pause_queue();
	return id;
}

static uint64_t at_a_time(void)
{
	return TASK(.at_ns = in_an_hour());
}

static uint64_t failed_once(uint64_t backoff_ns)
{
	struct tq_worker *w;
	struct tq_claim c;

	TASK(.attempts_max = 3, .backoff_ns = backoff_ns, .backoff_cap_ns = backoff_ns);
	running(&w, &c);
	assert_int_equal(tq_fail(w, &c, 0, "not yet"), 0);
	tq_worker_close(w);
	worker_count--;
	return c.id;
}

static uint64_t backs_off(void)
{
	return failed_once(HOUR_NS);
}

static uint64_t backs_off_until_a_time(void)
{
	const uint64_t id = backs_off();

	update(id, (struct tq_task_update){ .fields = TQ_UPDATE_AT, .at_ns = in_an_hour() });
	return id;
}

static uint64_t given_back(void)
{
	struct tq_worker *w;
	struct tq_claim c;

	TASK(0);
	running(&w, &c);
	assert_int_equal(tq_release(w, &c, HOUR_NS), 0);
	return c.id;
}

static uint64_t given_back_after_a_failure(void)
{
	const uint64_t id = failed_once(1);
	struct tq_worker *w = work("default", "k");
	struct tq_claim c = { .size = sizeof(c) };

	assert_int_equal(tq_claim(w, TQ_FOREVER_NS, &c), 0);
	assert_int_equal(tq_release(w, &c, HOUR_NS), 0);
	return id;
}

static uint64_t lives_again_until_a_time(void)
{
	const uint64_t id = ended_failed();

	steer(id, TQ_TASK_ACTION_RETRY);
	update(id, (struct tq_task_update){ .fields = TQ_UPDATE_AT, .at_ns = in_an_hour() });
	return id;
}

static uint64_t lives_again_after_a_delay(void)
{
	const uint64_t id = ended_failed();

	steer(id, TQ_TASK_ACTION_RETRY);
	update(id, (struct tq_task_update){ .fields = TQ_UPDATE_DELAY, .delay_ns = HOUR_NS });
	return id;
}

/* Its time has come, and nobody has looked. */

static uint64_t due(void)
{
	return when_no_longer(TASK(.delay_ns = SOON_NS), TQ_WHY_DELAYED);
}

static uint64_t due_by_the_wall_clock(void)
{
	return when_no_longer(TASK(.at_ns = clocks_read().unix_now_ns + SOON_NS), TQ_WHY_DELAYED);
}

static uint64_t due_for_others(void)
{
	const uint64_t id = due();

	work("default", "other");
	return id;
}

static uint64_t due_for_a_worker(void)
{
	const uint64_t id = due();

	work("default", "k");
	return id;
}

static uint64_t due_in_a_paused_queue(void)
{
	const uint64_t id = due();

	pause_queue();
	return id;
}

static uint64_t due_again(void)
{
	return when_no_longer(failed_once(SOON_NS), TQ_WHY_BACKOFF);
}

static uint64_t past_its_deadline(void)
{
	return when(TASK(.deadline_ns = 1), TQ_WHY_EXPIRED);
}

static uint64_t delayed_past_its_deadline(void)
{
	return when(TASK(.deadline_ns = SOON_NS, .delay_ns = SOON_NS), TQ_WHY_EXPIRED);
}

/* Nobody is there for it. */

static uint64_t ready_without_workers(void)
{
	return TASK(0);
}

static uint64_t ready_in_another_queue(void)
{
	work("other", "k");
	return TASK(0);
}

static uint64_t ready_of_a_farm_that_starts(void)
{
	static const struct tqi_worker_extra master = { .flags = TQI_WORKER_MASTER };
	const struct tq_worker_opts opts = { .size = sizeof(opts) };

	assert_int_equal(tqi_worker_open(box->tq, &opts, &master, &workers[worker_count++]), 0);
	return TASK(0);
}

static uint64_t ready_of_another_kind(void)
{
	work("default", "other");
	return TASK(0);
}

static uint64_t ready_of_another_kind_than_two(void)
{
	work("default", "other");
	work("default", "third");
	return TASK(0);
}

static uint64_t paused(void)
{
	const uint64_t id = TASK(0);

	pause_queue();
	return id;
}

static uint64_t paused_with_a_worker(void)
{
	work("default", "k");
	return paused();
}

/* It waits for its turn. */

static uint64_t next_of_one(void)
{
	work("default", "k");
	return TASK(0);
}

static uint64_t next_of_two(void)
{
	runs();
	return next_of_one();
}

static uint64_t second(void)
{
	TASK(0);
	return next_of_one();
}

static uint64_t third(void)
{
	TASK(0);
	return second();
}

static uint64_t more_urgent(void)
{
	TASK(0);
	work("default", "k");
	return TASK(.priority = 100);
}

static uint64_t behind_other_kinds(void)
{
	TASK(.kind = "other");
	return next_of_one();
}

static uint64_t behind_kinds_of_its_worker(void)
{
	work("default", NULL);
	TASK(.kind = "other");
	return TASK(0);
}

static void be_fair(void)
{
	const struct tq_queue_opts fair = { .size = sizeof(fair), .fair = 1 };

	assert_int_equal(tq_queue_set(box->tq, "default", &fair), 0);
}

static uint64_t fair_of_a_new_key(void)
{
	be_fair();
	work("default", "k");
	for (int i = 0; i < 4; i++)
		TASK(.fair_key = "a");
	return TASK(.fair_key = "b");
}

static uint64_t fair_of_the_same_key(void)
{
	fair_of_a_new_key();
	return TASK(.fair_key = "a");
}

static uint64_t busy(void)
{
	runs();
	return TASK(0);
}

static uint64_t busy_behind_another(void)
{
	busy();
	return TASK(0);
}

static uint64_t busy_twice(void)
{
	TASK(0);
	TASK(0);
	run_one();
	run_one();
	return TASK(0);
}

static uint64_t idle_but_stopped(void)
{
	const pid_t pid = child(be_idle);
	const uint64_t id = TASK(0);

	when(id, TQ_WHY_NEXT);
	stop_child(pid);
	return id;
}

static uint64_t busy_or_stopped(void)
{
	runs();
	return idle_but_stopped();
}

static uint64_t taken_by_a_worker(void)
{
	const struct tq_queue_opts batch = { .size = sizeof(batch), .batch = 4 };

	assert_int_equal(tq_queue_set(box->tq, "default", &batch), 0);
	TASK(0);
	const uint64_t id = TASK(0);

	TASK(0);
	run_one();
	return id;
}

/* Limits, and servers. */

static const char *const l[] = { "l", "m" };

static uint64_t full_by_slots(void)
{
	limit("l", 1);
	TASK(.limits = l, .limit_count = 1);
	run_one();
	return TASK(.limits = l, .limit_count = 1);
}

static uint64_t full_and_behind_another(void)
{
	full_by_slots();
	return TASK(.limits = l, .limit_count = 1);
}

static uint64_t full_since_it_was_lowered(void)
{
	limit("l", 2);
	for (int i = 0; i < 2; i++) {
		TASK(.limits = l, .limit_count = 1);
		run_one();
	}
	limit("l", 1);
	return TASK(.limits = l, .limit_count = 1);
}

static uint64_t full_by_the_second_key(void)
{
	limit("l", 2);
	limit("m", 1);
	TASK(.limits = &l[1], .limit_count = 1);
	run_one();
	return TASK(.limits = l, .limit_count = 2);
}

static uint64_t full_by_rate(void)
{
	const struct tq_limit_opts rate = {
		.size = sizeof(rate), .rate = 1, .interval_ns = HOUR_NS, .burst = 1
	};

	assert_int_equal(tq_limit_set(box->tq, "l", &rate), 0);
	TASK(.limits = l, .limit_count = 1);
	run_one();
	return TASK(.limits = l, .limit_count = 1);
}

static void serve(const char *server)
{
	const struct tq_queue_opts queue = { .size = sizeof(queue) };

	assert_int_equal(tq_queue_set(box->tq, "default", &queue), 0);
	assert_int_equal(tq_server_add(box->tq, "default", server), 0);
	assert_int_equal(tq_server_limit_set(box->tq, "default", server, 1), 0);
}

static uint64_t one_server_full(void)
{
	serve("http://a");
	return busy();
}

static uint64_t two_servers_full(void)
{
	serve("http://a");
	serve("http://b");
	return busy_twice();
}

static uint64_t no_server_left(void)
{
	serve("http://a");
	assert_int_equal(tq_server_remove(box->tq, "default", "http://a"), 0);
	return next_of_one();
}

static const struct row rows[] = {
	{ "done", ended_done, TQ_WHY_ENDED, "it has ended: done, exit:0" },
	{ "failed for good", ended_failed, TQ_WHY_ENDED, "it has ended: failed, error*" },
	{ "cancelled", ended_cancelled, TQ_WHY_ENDED, "it has ended: cancelled" },
	{ "expired", ended_expired, TQ_WHY_ENDED, "it has ended: expired, deadline" },
	{ "its dependency was cancelled", ended_with_another, TQ_WHY_ENDED,
	  "it has ended: cancelled, dependency*" },

	{ "it runs", runs, TQ_WHY_RUNNING, "it is running: attempt 1, on worker 1 (pid *), for *" },
	{ "it runs again", runs_again, TQ_WHY_RUNNING, "it is running: attempt 2, on worker 1 *" },
	{ "its worker is stopped", runs_stopped, TQ_WHY_RUNNING,
	  "it is running: attempt 1, *, and pid * is stopped; `kill -CONT *` lets it go on" },
	{ "it was asked to end", is_asked_to_end, TQ_WHY_STOPPING,
	  "attempt 1 is being ended (cancelled): worker 1 (pid *) was asked * ago and has not "
	  "given it back" },
	{ "it waits for another task", waits_inside, TQ_WHY_WAITING,
	  "it waits for 1-1 (ready): attempt 1, on worker 1 (pid *), for *" },
	{ "its worker is dead", is_dying, TQ_WHY_DYING,
	  "attempt 1 is not proved over: its worker 1 (pid *) has died, and the next starts when "
	  "no process of it is left" },
	{ "its last crash", is_dying_for_the_last_time, TQ_WHY_DYING,
	  "attempt 1 is not proved over: *, and the task ends, as it may have no other, when no "
	  "process of it is left" },
	{ "at most once, and its worker is dead", is_dying_and_runs_once, TQ_WHY_DYING,
	  "*the task ends, as it may have no other, when*" },

	{ "after one that is ready", after_ready, TQ_WHY_BLOCKED, "it waits for 1-1 (ready)" },
	{ "after one that is held", after_held, TQ_WHY_BLOCKED, "it waits for 1-1 (ready, held)" },
	{ "after one that is delayed", after_delayed, TQ_WHY_BLOCKED,
	  "it waits for 1-1 (delayed)" },
	{ "after one that is blocked", after_blocked, TQ_WHY_BLOCKED,
	  "it waits for 2-1 (blocked)" },
	{ "after one that runs", after_running, TQ_WHY_BLOCKED,
	  "it waits for 1-1 (running, pid *)" },
	{ "after two", after_two, TQ_WHY_BLOCKED, "it waits for * (ready) and 1 other" },
	{ "after two of which one runs", after_two_of_which_one_runs, TQ_WHY_BLOCKED,
	  "it waits for 1-1 (running, pid *) and 1 other" },
	{ "after the task of its key", after_one_of_its_key, TQ_WHY_BLOCKED,
	  "it waits for 1-1 (running, pid *), the task that has its key" },
	{ "after an open group", after_an_open_group, TQ_WHY_BLOCKED,
	  "group g* is open: `taskq group seal g*` says that no more members come" },
	{ "after an open group with members", after_an_open_group_with_members, TQ_WHY_BLOCKED,
	  "it waits for 2 members of group g*, which is open: `taskq group seal g*` says that no "
	  "more come" },
	{ "after a sealed group", after_a_sealed_group, TQ_WHY_BLOCKED,
	  "it waits for the last end in group g*: 1 member is still to end" },

	{ "held", held, TQ_WHY_HELD, "it is held; `taskq unhold 1-1` lets it start" },
	{ "held and delayed", held_and_delayed, TQ_WHY_HELD, "it is held; *" },
	{ "held in a paused queue", held_in_a_paused_queue, TQ_WHY_HELD, "it is held; *" },
	{ "delayed", delayed, TQ_WHY_DELAYED, "it is not due: in 59m*, at *" },
	{ "delayed in a paused queue", delayed_in_a_paused_queue, TQ_WHY_DELAYED,
	  "it is not due: in 59m*" },
	{ "at a time", at_a_time, TQ_WHY_DELAYED, "it waits for the wall clock: in 59m*, at *" },
	{ "backing off", backs_off, TQ_WHY_BACKOFF,
	  "it backs off for * more before attempt 2; attempt 1 ended with error*" },
	{ "backing off, then given a time", backs_off_until_a_time, TQ_WHY_DELAYED,
	  "it waits for the wall clock: in 59m*" },
	{ "given back with a delay", given_back, TQ_WHY_DELAYED,
	  "it is not due: in 59m*; attempt 1 was given back" },
	{ "given back with a delay after a failure", given_back_after_a_failure, TQ_WHY_DELAYED,
	  "it is not due: in 59m*; attempt 2 was given back*" },
	{ "living again, then given a time", lives_again_until_a_time, TQ_WHY_DELAYED,
	  "it waits for the wall clock: in 59m*" },
	{ "living again, then delayed", lives_again_after_a_delay, TQ_WHY_DELAYED,
	  "it is not due: in 59m*" },

	{ "due, and nobody works", due, TQ_WHY_NO_WORKER,
	  "no live worker serves queue default: *" },
	{ "due by the wall clock, and nobody works", due_by_the_wall_clock, TQ_WHY_NO_WORKER,
	  "no live worker serves queue default: *" },
	{ "due, and nobody serves its kind", due_for_others, TQ_WHY_NO_KIND, "*kind k*" },
	{ "due, and a worker is free", due_for_a_worker, TQ_WHY_NEXT,
	  "it may start any moment: the one worker that serves it is free" },
	{ "due in a paused queue", due_in_a_paused_queue, TQ_WHY_PAUSED,
	  "queue default is paused*" },
	{ "due after its back-off, and nobody works", due_again, TQ_WHY_NO_WORKER,
	  "no live worker serves queue default: *" },
	{ "past its deadline", past_its_deadline, TQ_WHY_EXPIRED,
	  "its deadline has passed: it expires as soon as anybody looks" },
	{ "delayed past its deadline", delayed_past_its_deadline, TQ_WHY_EXPIRED,
	  "its deadline has passed: *" },

	{ "nobody works", ready_without_workers, TQ_WHY_NO_WORKER,
	  "no live worker serves queue default: start one with `taskq work -q default`" },
	{ "nobody serves its queue", ready_in_another_queue, TQ_WHY_NO_WORKER,
	  "no live worker serves queue default: *" },
	{ "its farm starts a worker", ready_of_a_farm_that_starts, TQ_WHY_RESTARTING,
	  "no worker serves queue default now: the farm of pid * starts one, after a pause when "
	  "they end early; its log says why" },
	{ "the one worker serves another kind", ready_of_another_kind, TQ_WHY_NO_KIND,
	  "the one live worker of queue default does not serve kind k: *" },
	{ "two workers serve other kinds", ready_of_another_kind_than_two, TQ_WHY_NO_KIND,
	  "none of the 2 live workers of queue default serves kind k: *" },
	{ "paused", paused, TQ_WHY_PAUSED,
	  "queue default is paused; `taskq resume default` lets it go on" },
	{ "paused with a worker", paused_with_a_worker, TQ_WHY_PAUSED, "queue default is paused*" },

	{ "next", next_of_one, TQ_WHY_NEXT,
	  "it may start any moment: the one worker that serves it is free" },
	{ "next of two workers", next_of_two, TQ_WHY_NEXT,
	  "it may start any moment: 1 of the 2 workers that serve it is free" },
	{ "second", second, TQ_WHY_NEXT, "*is free, and about 1 task is before it" },
	{ "third", third, TQ_WHY_NEXT, "*is free, and about 2 tasks are before it" },
	{ "more urgent", more_urgent, TQ_WHY_NEXT, "*is free" },
	{ "behind kinds that its worker does not serve", behind_other_kinds, TQ_WHY_NEXT,
	  "*is free" },
	{ "behind kinds that its worker serves", behind_kinds_of_its_worker, TQ_WHY_NEXT,
	  "*is free, and about 1 task is before it" },
	{ "in a fair queue, of a new key", fair_of_a_new_key, TQ_WHY_NEXT,
	  "*is free, and about 1 task is before it" },
	{ "in a fair queue, of the same key", fair_of_the_same_key, TQ_WHY_NEXT,
	  "*is free, and about 5 tasks are before it" },
	{ "busy", busy, TQ_WHY_BUSY, "the one worker that serves it is busy" },
	{ "busy, and behind another", busy_behind_another, TQ_WHY_BUSY,
	  "the one worker that serves it is busy, and about 1 task is before it" },
	{ "two are busy", busy_twice, TQ_WHY_BUSY, "all 2 workers that serve it are busy" },
	{ "the one worker is stopped", idle_but_stopped, TQ_WHY_STOPPED,
	  "the one worker that serves it is stopped, as pid * is; `kill -CONT *` lets it go on" },
	{ "one is busy and one stopped", busy_or_stopped, TQ_WHY_STOPPED,
	  "1 of the 2 workers that serve it is stopped, as pid * is, and the others are busy; "
	  "`kill -CONT *` lets it go on" },
	{ "taken by a worker", taken_by_a_worker, TQ_WHY_ASSIGNED,
	  "worker 1 (pid *) has taken it, and runs others first" },

	{ "its limit is full", full_by_slots, TQ_WHY_THROTTLED,
	  "limit l is full (1 of 1): held by task 1-1 of worker 1 (pid *)" },
	{ "its limit is full, and one waits before it", full_and_behind_another, TQ_WHY_THROTTLED,
	  "limit l is full (1 of 1): *, and about 1 task is before it" },
	{ "its limit was lowered", full_since_it_was_lowered, TQ_WHY_THROTTLED,
	  "limit l is full (2 of 1): *" },
	{ "its second limit is full", full_by_the_second_key, TQ_WHY_THROTTLED,
	  "limit m is full (1 of 1): *" },
	{ "its limit has no token", full_by_rate, TQ_WHY_THROTTLED,
	  "limit l has used up its rate: the next token comes in 59m*" },
	{ "the one server is full", one_server_full, TQ_WHY_SERVERS,
	  "the one server of queue default is full: http://a*" },
	{ "two servers are full", two_servers_full, TQ_WHY_SERVERS,
	  "all 2 servers of queue default are full: http://*" },
	{ "no server is left", no_server_left, TQ_WHY_SERVERS,
	  "queue default has no server left; *" },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static const struct row *row;

static int begin(void **state)
{
	row = *state;
	farm_box_setup(state);
	box = *state;
	return 0;
}

static int end(void **state)
{
	while (child_count > 0) {
		kill(children[--child_count], SIGKILL);
		waitpid(children[child_count], NULL, 0);
	}
	while (worker_count > 0)
		tq_worker_close(workers[--worker_count]);
	return farm_box_teardown(state);
}

static void test_row(void **state)
{
	const uint64_t id = row->build();
	struct tq_task_info info = { .size = sizeof(info) };
	const struct clocks clocks = clocks_read();
	const struct tq_why why = ask(id);
	char text[WHY_MAX];

	(void)state;
	assert_int_equal(tq_task_info(box->tq, id, &info), 0);
	why_format(box->tq, &info, &why, &clocks, text);
	if (why.reason != row->reason || fnmatch(row->text, text, 0) != 0)
		fail_msg("%s, not %s: %s\nnot %s", tq_why_name(why.reason),
			 tq_why_name(row->reason), text, row->text);
	assert_false(why.is_torn);
}

int main(void)
{
	struct CMUnitTest tests[ROWS];
	char names[ROWS][80];

	for (size_t i = 0; i < ROWS; i++) {
		snprintf(names[i], sizeof(names[i]), "fault.T13: %s", rows[i].name);
		tests[i] = (struct CMUnitTest){ names[i], test_row, begin, end,
						(void *)(uintptr_t)&rows[i] };
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
