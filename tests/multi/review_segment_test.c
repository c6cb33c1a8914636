/* SPDX-License-Identifier: MIT */
/* Segments over time: closing, sweeping, giving memory back, counting, odd files (A6, E1, I3). */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/worker/worker_api.h"
#include "review_help.h"
#include "scheduler/task/look.h"
#include "scheduler/order/queue.h"
#include "scheduler/task/sweep.h"
#include "shm/ops.h"

#define CLOSED 8
#define ROUNDS 20
#define RECORDS_MAX 32 /* worker records that all rounds may make: free ones are used again */

static void *close_workers(void *arg)
{
	struct tq_worker **workers = arg;

	for (int i = 0; i < CLOSED; i++)
		tq_worker_close(workers[i]);
	return NULL;
}

static uint32_t worker_records(struct farm_box *box)
{
	struct tqi_tx tx;

	assert_int_equal(tqi_hold_begin(box->tq, &tx), 0);
	uint32_t count = tx.core->tables[TQI_WORKERS].count;

	assert_int_equal(tqi_hold_end(box->tq, &tx, 0), 0);
	return count;
}

static void open_here_and_close_elsewhere(struct farm_box *box)
{
	struct tq_worker *workers[CLOSED];
	pthread_t thread;

	for (int i = 0; i < CLOSED; i++) {
		workers[i] = open_worker(box->tq, "q");
		assert_non_null(workers[i]);
	}
	assert_int_equal(pthread_create(&thread, NULL, close_workers, workers), 0);
	pthread_join(thread, NULL);
}

/* Opens a worker, and works: exits 0 when it is as quick as ever. */
static int open_and_work(struct farm_box *box, void *arg)
{
	uint64_t start = now_ns();
	struct tq_worker *worker = open_worker(box->tq, "q");
	struct tq_claim claim = { .size = sizeof(claim) };

	(void)arg;
	if (!worker || tq_claim(worker, 0, &claim) < 0 || tq_complete(worker, &claim, NULL, 0) < 0)
		return 1;
	tq_worker_close(worker);
	return now_ns() - start > S ? 2 : 0;
}

static void e1_worker_closed_by_another_thread_leaves_its_slot(void **state)
{
	struct farm_box *box = *state;
	struct tq_segment_info before = { .size = sizeof(before) },
			       after = { .size = sizeof(after) };

	open_here_and_close_elsewhere(box);
	assert_int_equal(tq_segment_info(box->tq, &before), 0);
	for (int i = 0; i < ROUNDS; i++)
		open_here_and_close_elsewhere(box);
	assert_int_equal(tq_segment_info(box->tq, &after), 0);
	assert_int_equal(after.workers, 0);
	assert_int_equal(after.reserved_bytes, before.reserved_bytes);
	assert_true(worker_records(box) <= RECORDS_MAX);
	submit_to(box, "q", 0);
	assert_int_equal(join_child(start_child(box, open_and_work, NULL), PROMPT_NS), 0);
	assert_sound(box);
}

static void *close_one(void *arg)
{
	return tq_worker_close(arg);
}

/* glibc keeps a list of the robust mutexes that a thread holds: it must not lead into nothing. */
static int lock_after_close(struct farm_box *box, void *arg)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t mutex;
	pthread_t thread;
	struct tq *tq;

	(void)arg;
	if (tq_open(box->name, NULL, &tq) < 0)
		return 1;
	struct tq_worker *worker = open_worker(tq, "q");

	if (!worker || pthread_create(&thread, NULL, close_one, worker))
		return 2;
	pthread_join(thread, NULL);
	tq_close(tq);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&mutex, &attr);
	return pthread_mutex_trylock(&mutex) || pthread_mutex_unlock(&mutex) ? 3 : 0;
}

static void e1_robust_mutexes_work_after_a_close_elsewhere(void **state)
{
	struct farm_box *box = *state;

	assert_int_equal(join_child(start_child(box, lock_after_close, NULL), PROMPT_NS), 0);
	assert_sound(box);
}

#define LOCK_TIMEOUT_NS (100 * MS)

/* Takes the lock and stops. */
static int stop_with_the_lock(struct farm_box *box, void *arg)
{
	struct tqi_tx tx;

	(void)arg;
	if (tqi_hold_begin(box->tq, &tx) < 0)
		return 1;
	raise(SIGSTOP);
	return tqi_hold_end(box->tq, &tx, 0) < 0;
}

/* A close while the holder of the lock is stopped outlasts a lock time-out or two. */
static void i7_close_sits_out_a_stopped_holder(void **state)
{
	const struct tq_task_spec spec = { .size = sizeof(spec), .kind = "k" };
	struct farm_box *box = *state;
	uint64_t id = submit_to(box, "q", 0);
	struct tq_worker *worker = open_worker(box->tq, "q");
	pthread_t thread;
	int status;

	claim_now(worker);
	box->tq->lock_timeout_ns = LOCK_TIMEOUT_NS;
	pid_t pid = start_child(box, stop_with_the_lock, NULL);

	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(tq_submit(box->tq, &spec, NULL), TQ_ELOCKED);
	uint64_t until = now_ns() + 3 * LOCK_TIMEOUT_NS;

	assert_int_equal(pthread_create(&thread, NULL, close_one, worker), 0);
	while (now_ns() < until)
		pause_ms();
	kill(pid, SIGCONT);
	join_thread(thread, PROMPT_NS);
	assert_int_equal(join_child(pid, PROMPT_NS), 0);
	assert_int_equal(state_of(box, id), TQ_READY);
	assert_sound(box);
}

#define PURGED 600
#define BATCH 64
#define BATCHES 40

static void add_others(struct farm_box *box)
{
	struct tq_task_spec specs[BATCH];

	for (int i = 0; i < BATCH; i++)
		specs[i] = (struct tq_task_spec){ .size = sizeof(specs[i]),
						  .kind = "k",
						  .queue = "new" };
	for (int i = 0; i < BATCHES; i++)
		assert_int_equal(tq_submit_many(box->tq, specs, BATCH, NULL), BATCH);
}

/* Purge as tq_queue_steer() does, if it is killed before it has swept (NULL: only sweep). */
static void decide(struct farm_box *box, const char *queue)
{
	struct tqi_tx tx;

	assert_int_equal(tqi_hold_begin(box->tq, &tx), 0);
	if (queue)
		tqi_queue_purge(&tx, tqi_queue_find(&tx, queue));
	else
		tqi_sweep_start(&tx);
	assert_int_equal(tqi_hold_end(box->tq, &tx, 0), 0);
}

/* A sweep that has begun, and a table that grows under it, skip no task. */
static void a6_purge_while_the_table_grows(void **state)
{
	struct farm_box *box = *state;
	static uint64_t ids[PURGED];

	for (int i = 0; i < PURGED; i++)
		ids[i] = submit_to(box, "old", TQ_TASK_HOLD);
	decide(box, NULL);
	add_others(box);
	decide(box, "old");
	add_others(box);
	tqi_sweep_out(box->tq);
	for (int i = 0; i < PURGED; i++)
		assert_int_equal(state_of(box, ids[i]), TQ_CANCELLED);
	assert_sound(box);
}

#define LARGE (1u << 20)
#define LARGE_COUNT 40

static uint64_t file_bytes(struct farm_box *box)
{
	struct tq_segment_info info = { .size = sizeof(info) };
	struct stat st;

	assert_int_equal(tq_segment_info(box->tq, &info), 0);
	assert_int_equal(stat(info.path, &st), 0);
	return (uint64_t)st.st_blocks * 512;
}

/* Submit much, and work it off: what was taken is free again. */
static void work_off_large(struct farm_box *box, struct tq_worker *worker, uint64_t before)
{
	static char large[LARGE];
	const struct tq_task_spec spec = { .queue = "q",
					   .payload = large,
					   .payload_bytes = sizeof(large),
					   .flags = TQ_TASK_FORGET };

	for (int i = 0; i < LARGE_COUNT; i++)
		submit_kind(box, "k", &spec);
	assert_true(file_bytes(box) > before + (uint64_t)LARGE * LARGE_COUNT / 2);
	for (int i = 0; i < LARGE_COUNT; i++) {
		struct tq_claim claim = claim_now(worker);

		assert_int_equal(tq_complete(worker, &claim, NULL, 0), 0);
	}
}

static void wait_given_back(struct farm_box *box, uint64_t before)
{
	uint64_t until = now_ns() + PROMPT_NS;

	while (file_bytes(box) > before + (uint64_t)LARGE * LARGE_COUNT / 4) {
		if (now_ns() > until)
			fail_msg("%llu bytes are kept, %llu at first",
				 (unsigned long long)file_bytes(box), (unsigned long long)before);
		pause_ms();
	}
}

/* Somebody slept before there was work, and sleeps on. */
static void i3_memory_is_given_back_by_a_sleeper(void **state)
{
	struct farm_box *box = *state;
	struct tq_worker *worker = open_worker(box->tq, "q");
	uint64_t before = file_bytes(box);
	pid_t keeper = start_keeper(box);

	work_off_large(box, worker, before);
	wait_given_back(box, before);
	kill_child(keeper);
	tq_worker_close(worker);
	assert_sound(box);
}

/* The only worker, with a time-out: when that is over, all has been given back. */
static void i3_memory_is_given_back_at_a_timeout(void **state)
{
	struct farm_box *box = *state;
	struct tq_claim claim = { .size = sizeof(claim) };
	struct tq_worker *worker = open_worker(box->tq, "q");
	uint64_t before = file_bytes(box);

	work_off_large(box, worker, before);
	assert_int_equal(tq_claim(worker, 2 * S, &claim), -ETIMEDOUT);
	wait_given_back(box, before);
	tq_worker_close(worker);
	assert_sound(box);
}

/* Whoever falls asleep when all work has been done gives it back, too. */
static void i3_memory_is_given_back_by_who_comes_after(void **state)
{
	struct farm_box *box = *state;
	struct tq_worker *worker = open_worker(box->tq, "q");
	uint64_t before = file_bytes(box);

	work_off_large(box, worker, before);
	pid_t keeper = start_keeper(box);

	wait_given_back(box, before);
	kill_child(keeper);
	tq_worker_close(worker);
	assert_sound(box);
}

struct until_empty {
	struct tq *tq;
	int r;
};

static void *work_until_empty(void *arg)
{
	const struct tqi_worker_extra extra = { .flags = TQI_WORKER_EMPTY };
	const char *queue = "q";
	const struct tq_worker_opts opts = { .size = sizeof(opts),
					     .queues = &queue,
					     .queue_count = 1 };
	struct tq_claim claim = { .size = sizeof(claim) };
	struct until_empty *u = arg;
	struct tq_worker *worker;

	u->r = tqi_worker_open(u->tq, &opts, &extra, &worker);
	if (u->r == 0) {
		u->r = tq_claim(worker, TQ_FOREVER_NS, &claim);
		tq_worker_close(worker);
	}
	return NULL;
}

static void f1_until_empty_ends_when_the_last_task_moves_away(void **state)
{
	const struct tq_task_spec spec = { .queue = "q", .delay_ns = 3600 * S };
	const struct tq_task_update move = { .size = sizeof(move),
					     .queue = "r",
					     .fields = TQ_UPDATE_QUEUE };
	struct farm_box *box = *state;
	struct until_empty u = { .tq = box->tq };
	pthread_t thread;

	submit_to(box, "r", TQ_TASK_HOLD);
	uint64_t id = submit_kind(box, "k", &spec);

	assert_int_equal(pthread_create(&thread, NULL, work_until_empty, &u), 0);
	wait_asleep(box, TQI_INTEREST_WORK, 1);
	assert_int_equal(tq_task_update(box->tq, id, &move), 0);
	join_thread(thread, PROMPT_NS);
	assert_int_equal(u.r, -ENODATA);
	assert_sound(box);
}

/* An observer of a file that was cut to nothing gets an error from everything. */
static int observe_truncated(struct farm_box *box, void *arg)
{
	const struct tq_open_opts make = { .size = sizeof(make), .flags = TQ_OPEN_CREATE };
	const struct tq_open_opts look = { .size = sizeof(look), .flags = TQ_OPEN_READONLY };
	struct tq_segment_info info = { .size = sizeof(info) };
	struct tq_lock_holder holder = { .size = sizeof(holder) };
	char name[TQ_NAME_MAX + 1];
	struct tq *tq, *observer;

	(void)box;
	(void)arg;
	snprintf(name, sizeof(name), "test-%d-cut", (int)getpid());
	if (tq_open(name, &make, &tq) < 0 || tq_segment_info(tq, &info) < 0)
		return 1;
	tq_close(tq);
	if (tq_open(name, &look, &observer) < 0 || tq_lock_blame(observer, &holder) < 0)
		return 2;
	int r = truncate(info.path, 0) < 0 || tq_lock_blame(observer, &holder) >= 0 ? 3 : 0;

	tq_close(observer);
	unlink(info.path);
	return r;
}

static void i4_blame_on_a_truncated_segment_is_an_error(void **state)
{
	struct farm_box *box = *state;

	assert_int_equal(join_child(start_child(box, observe_truncated, NULL), PROMPT_NS), 0);
}

struct thread_id {
	struct tqi_word32 tid;
	struct tqi_word32 end;
};

static void *say_tid(void *arg)
{
	struct thread_id *id = arg;

	tqi_store_release32(&id->tid, (uint32_t)gettid());
	while (!tqi_load_acquire32(&id->end))
		pause_ms();
	return NULL;
}

/* The number of a process that has gone may be that of somebody's thread. */
static void e3_number_of_a_thread_proves_that_its_process_has_gone(void **state)
{
	struct thread_id id = { .tid = { 0 } };
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, say_tid, &id), 0);
	wait_set(&id.tid);
	const struct tqi_ident who = { .pid = tqi_load_acquire32(&id.tid), .start = 1 };

	assert_true(tqi_ops_linux.process_gone(NULL, &who));
	tqi_store_release32(&id.end, 1);
	pthread_join(thread, NULL);
}

/* Every life of a task is counted in where it ends or waits, once. */
static void assert_adds_up(struct farm_box *box, const char *queue, uint64_t submitted)
{
	struct tq_queue_info info = { .size = sizeof(info) };
	const struct tq_counters *c = &info.counters;

	assert_int_equal(tq_queue_info(box->tq, queue, &info), 0);
	uint64_t ended = c->done + c->failed + c->cancelled + c->expired;
	uint64_t unfinished = (uint64_t)c->depth[TQ_BLOCKED] + c->depth[TQ_DELAYED] +
			      c->depth[TQ_READY] + c->depth[TQ_RUNNING];

	if (c->submitted != ended + c->moved + unfinished || c->submitted != submitted)
		fail_msg("%s: %llu submitted, should be %llu; %llu ended, %llu moved, %llu "
			 "unfinished",
			 queue, (unsigned long long)c->submitted, (unsigned long long)submitted,
			 (unsigned long long)ended, (unsigned long long)c->moved,
			 (unsigned long long)unfinished);
}

static void run_one(struct farm_box *box, const char *queue, bool well)
{
	struct tq_worker *worker = open_worker(box->tq, queue);
	struct tq_claim claim = claim_now(worker);

	int r = well ? tq_complete(worker, &claim, NULL, 0) : tq_fail(worker, &claim, 1, "no");

	assert_int_equal(r, 0);
	tq_worker_close(worker);
}

static void h1_counters_add_up_after_a_move(void **state)
{
	const struct tq_task_update move = { .size = sizeof(move),
					     .queue = "b",
					     .fields = TQ_UPDATE_QUEUE };
	struct farm_box *box = *state;
	const struct tq_queue_opts defaults = { .size = sizeof(defaults) };
	uint64_t id = submit_to(box, "a", 0);

	assert_int_equal(tq_queue_set(box->tq, "b", &defaults), 0);
	assert_adds_up(box, "a", 1);
	assert_int_equal(tq_task_update(box->tq, id, &move), 0);
	assert_adds_up(box, "a", 1); /* and moved: no counter goes down */
	assert_adds_up(box, "b", 1);
	run_one(box, "b", true);
	assert_adds_up(box, "a", 1);
	assert_adds_up(box, "b", 1);
	assert_sound(box);
}

static void h1_counters_add_up_after_a_retry(void **state)
{
	struct farm_box *box = *state;
	uint64_t id = submit_to(box, "a", 0);

	run_one(box, "a", false);
	assert_adds_up(box, "a", 1);
	assert_int_equal(tq_task_steer(box->tq, id, TQ_TASK_ACTION_RETRY), 0);
	assert_adds_up(box, "a", 2); /* a new life */
	run_one(box, "a", true);
	assert_adds_up(box, "a", 2);
	assert_int_equal(state_of(box, id), TQ_DONE);
	assert_sound(box);
}

/* As many records as the header promises, and one more. */
static void a1_most_tasks_are_accepted(void **state)
{
	struct tq_open_opts opts = { .size = sizeof(opts),
				     .flags = TQ_OPEN_CREATE | TQ_OPEN_EXCLUSIVE,
				     .max_bytes = 64u << 20,
				     .tasks_max = 1u << 24 };
	const struct tq_task_spec spec = { .size = sizeof(spec), .kind = "k" };
	struct tq_segment_info info = { .size = sizeof(info) };
	char name[TQ_NAME_MAX + 1];
	struct tq *tq;

	(void)state;
	snprintf(name, sizeof(name), "test-%d-most", (int)getpid());
	assert_int_equal(tq_open(name, &opts, &tq), -EINVAL);
	opts.tasks_max--;
	assert_int_equal(tq_open(name, &opts, &tq), 0);
	assert_int_equal(tq_segment_info(tq, &info), 0);
	assert_int_equal(info.tasks_max, (1u << 24) - 1);
	assert_int_equal(tq_submit(tq, &spec, NULL), 0);
	assert_int_equal(tq_check(tq, TQ_CHECK_EXACT, NULL, NULL), 0);
	tq_close(tq);
	assert_int_equal(tq_destroy(name, TQ_DESTROY_FORCE), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, farm_box_setup, farm_box_teardown)
	const struct CMUnitTest tests[] = {
		TEST(e1_worker_closed_by_another_thread_leaves_its_slot),
		TEST(e1_robust_mutexes_work_after_a_close_elsewhere),
		TEST(i7_close_sits_out_a_stopped_holder),
		TEST(a6_purge_while_the_table_grows),
		TEST(i3_memory_is_given_back_by_a_sleeper),
		TEST(i3_memory_is_given_back_at_a_timeout),
		TEST(i3_memory_is_given_back_by_who_comes_after),
		TEST(f1_until_empty_ends_when_the_last_task_moves_away),
		TEST(i4_blame_on_a_truncated_segment_is_an_error),
		cmocka_unit_test(e3_number_of_a_thread_proves_that_its_process_has_gone),
		TEST(h1_counters_add_up_after_a_move),
		TEST(h1_counters_add_up_after_a_retry),
		cmocka_unit_test(a1_most_tasks_are_accepted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
