/* SPDX-License-Identifier: MIT */
/* Whom a submit wakes, and who notices what: FAULTS S1, S3, S5. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "review_help.h"

#define IDLE 100  /* workers asleep */
#define ROUNDS 30 /* submits, each waited for */
/*
 * Of all workers together: the one that is popped, and once more when its client goes from
 * before it in the chain; now and then the lock is busy.
 */
#define WAKES_PER_ROUND 3
#define LOOKS_PER_SECOND 5 /* three keepers while anything is under way */
#define FEW 8
#define SAME_ROUNDS 9
#define THREADS 4	   /* workers of the process that is stopped, and as many later */

static int work(struct farm_box *box, void *arg)
{
	struct tq_worker *worker = open_worker(box->tq, "q");
	struct tq_claim claim = { .size = sizeof(claim) };

	(void)arg;
	while (worker && tq_claim(worker, TQ_FOREVER_NS, &claim) == 0)
		if (tq_complete(worker, &claim, NULL, 0) < 0)
			break;
	return 1;
}

static uint64_t switches_of(pid_t pid)
{
	unsigned long long n = 0;
	char path[64], line[128];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "voluntary_ctxt_switches: %llu", &n) == 1)
			break;
	fclose(file);
	return n;
}

static uint64_t switches(const pid_t *pids)
{
	uint64_t sum = 0;

	for (int i = 0; i < IDLE; i++)
		sum += switches_of(pids[i]);
	return sum;
}

static void submit_and_wait(struct farm_box *box)
{
	uint64_t id = submit_to(box, "q", 0);

	assert_int_equal(tq_wait(box->tq, &id, 1, PATIENCE_NS, NULL, NULL), 0);
}

static void use_one_processor(cpu_set_t *ret_before)
{
	cpu_set_t one;
	unsigned int cpu = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(*ret_before), ret_before), 0);
	while (!CPU_ISSET(cpu, ret_before))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
}

/* S1: a client that submits and waits wakes no herd of idle workers. */
static void submit_and_wait_beside_idle_workers(void **state)
{
	struct farm_box *box = *state;
	pid_t pids[IDLE];
	cpu_set_t before;

	use_one_processor(&before); /* where the client has gone to sleep before the worker runs */
	for (int i = 0; i < IDLE; i++)
		pids[i] = start_child(box, work, NULL);
	wait_asleep(box, TQI_INTEREST_WORK, IDLE);
	submit_and_wait(box);
	wait_asleep(box, TQI_INTEREST_WORK, IDLE);
	uint64_t since = now_ns(), first = switches(pids);

	for (int i = 0; i < ROUNDS; i++)
		submit_and_wait(box);
	wait_asleep(box, TQI_INTEREST_WORK, IDLE);
	uint64_t seconds = (now_ns() - since) / S + 1, wakes = switches(pids) - first;

	if (wakes > ROUNDS * WAKES_PER_ROUND + seconds * LOOKS_PER_SECOND)
		fail_msg("%d submits woke idle workers %llu times in %llu s", ROUNDS,
			 (unsigned long long)wakes, (unsigned long long)seconds);
	for (int i = 0; i < IDLE; i++)
		kill_child(pids[i]);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

/* Wakes that have been sent, to whomever: wake words only grow (WT-3). */
static uint32_t wakes_sent(struct farm_box *box)
{
	const uint32_t count = tqi_segment_core(&box->tq->seg)->tables[TQI_WAITERS].count;
	uint32_t sum = 0;

	for (uint32_t w = 1; w < count; w++) {
		const struct tqi_waiter *s = tqi_table_peek(&box->tq->seg, TQI_WAITERS, w);

		sum += tqi_load_acquire32(&s->word);
	}
	return sum;
}

typedef void round_fn(struct farm_box *box);

/*
 * The wakes of a round, the least of some: where the machine is busy, a keeper may look
 * before the popped one has come, and pop another.  A herd is woken in each of them.
 */
static uint32_t wakes_of(struct farm_box *box, uint32_t workers, round_fn *round)
{
	uint32_t least = UINT32_MAX;

	for (uint32_t i = 0; i < SAME_ROUNDS; i++) {
		uint32_t before = wakes_sent(box), sent;

		round(box);
		wait_asleep(box, TQI_INTEREST_WORK, workers);
		sent = wakes_sent(box) - before;
		least = sent < least ? sent : least;
	}
	return least;
}

static void submit_only(struct farm_box *box)
{
	wait_state(box, submit_to(box, "q", 0), TQ_DONE);
}

/* Somebody who waits for nothing of theirs is asleep among them meanwhile. */
static void submit_beside_a_client(struct farm_box *box)
{
	uint64_t held = submit_to(box, "other", 0);

	submit_only(box);
	assert_int_equal(tq_wait(box->tq, &held, 1, MS, NULL, NULL), -ETIMEDOUT);
	submit_only(box);
	assert_int_equal(tq_task_steer(box->tq, held, TQ_TASK_ACTION_CANCEL), 0);
}

/* All keepers sleep without a limit. */
static void wait_idle(struct farm_box *box)
{
	const uint32_t *keepers = tqi_segment_core(&box->tq->seg)->waiter_keepers;

	for (int i = 0; i < TQI_KEEPERS; i++) {
		uint64_t until = now_ns() + PATIENCE_NS;

		while (((struct tqi_waiter *)tqi_table_peek(&box->tq->seg, TQI_WAITERS, keepers[i]))
			       ->until_ns != UINT64_MAX) {
			assert_true(now_ns() < until);
			pause_ms();
		}
	}
}

static void submit_when_idle(struct farm_box *box)
{
	wait_idle(box);
	submit_only(box);
}

static void submit_and_wait_when_idle(struct farm_box *box)
{
	wait_idle(box);
	submit_and_wait(box);
}

/* A submit wakes one worker, and its departure at most one behind it. */
static void wakes_of_a_submit_are_bounded(void **state)
{
	struct farm_box *box = *state;
	pid_t pids[FEW];

	for (int i = 0; i < FEW; i++)
		pids[i] = start_child(box, work, NULL);
	wait_asleep(box, TQI_INTEREST_WORK, FEW);
	submit_only(box);
	assert_in_range(wakes_of(box, FEW, submit_only), 1, 2);
	/* Its client's own two: the worker before it left, and the task has ended. */
	assert_in_range(wakes_of(box, FEW, submit_and_wait), 1, 2 + 2);
	assert_in_range(wakes_of(box, FEW, submit_beside_a_client), 2, 2 * 2 + 1);
	assert_in_range(wakes_of(box, FEW, submit_when_idle), 1, 2 + TQI_KEEPERS);
	assert_in_range(wakes_of(box, FEW, submit_and_wait_when_idle), 1, 2 + 2 + TQI_KEEPERS);
	for (int i = 0; i < FEW; i++)
		kill_child(pids[i]);
}

/* Workers whose time stands still: no keeper's look comes, and nobody is late. */
struct stage {
	uint64_t now_ns;
	struct tqi_word32 sleeps[TQI_KEEPERS];
	struct tqi_word32 go; /* the one that is popped comes no earlier */
};
static struct stage *stage;
static struct tqi_word32 *my_sleeps; /* NULL: it waits for `go` */

static uint64_t stage_now(void *ctx)
{
	(void)ctx;
	return stage->now_ns;
}

static int stage_wait(void *ctx, const struct tqi_futex *words, uint32_t count, uint64_t until_ns)
{
	(void)until_ns;
	if (my_sleeps)
		tqi_add_release32(my_sleeps, 1);
	int r = tqi_ops_linux.futex_wait(ctx, words, count, UINT64_MAX);

	if (!my_sleeps)
		wait_set(&stage->go);
	return r;
}

static int work_on_stage(struct farm_box *box, void *arg)
{
	struct tqi_ops ops = tqi_ops_linux;

	my_sleeps = arg;
	ops.now = stage_now;
	ops.futex_wait = stage_wait;
	box->tq->seg.ops = &ops;
	return work(box, NULL);
}

static void wait_sleeps(const struct tqi_word32 *sleeps, uint32_t count)
{
	uint64_t until = now_ns() + PATIENCE_NS;

	while (tqi_load_acquire32(sleeps) < count) {
		assert_true(now_ns() < until);
		pause_ms();
	}
}

/* Keepers that are told of a task leave it to the one that was popped for it (WT-7). */
static void keepers_leave_the_task_to_the_popped(void **state)
{
	struct farm_box *box = *state;
	pid_t keepers[TQI_KEEPERS], popped;

	stage = share(sizeof(*stage));
	stage->now_ns = now_ns();
	for (int i = 0; i < TQI_KEEPERS; i++) {
		keepers[i] = start_child(box, work_on_stage, &stage->sleeps[i]);
		wait_sleeps(&stage->sleeps[i], 1);
	}
	popped = start_child(box, work_on_stage, NULL);
	wait_asleep(box, TQI_INTEREST_WORK, TQI_KEEPERS + 1);
	uint64_t id = submit_to(box, "q", 0);

	for (int i = 0; i < TQI_KEEPERS; i++)
		wait_sleeps(&stage->sleeps[i], 2);
	assert_int_equal(state_of(box, id), TQ_READY);
	tqi_store_release32(&stage->go, 1);
	wait_state(box, id, TQ_DONE);
	kill_child(popped);
	for (int i = 0; i < TQI_KEEPERS; i++)
		kill_child(keepers[i]);
	give_up(stage, sizeof(*stage));
}

static void pause_for_good(void)
{
	for (;;)
		pause();
}

static int hold_a_task(struct farm_box *box, void *arg)
{
	struct tqi_word32 *holds = arg;
	struct tq_worker *worker = open_worker(box->tq, "q");

	claim_now(worker);
	tqi_store_release32(holds, 1);
	pause_for_good();
	return 0;
}

/* Sleeps that only time would have ended; what is waited for a proof is shorter. */
static int long_sleeps;

static int count_long_sleeps(void *ctx, const struct tqi_futex *words, uint32_t count,
			     uint64_t until_ns)
{
	if (until_ns > now_ns() + S / 2)
		long_sleeps++;
	return tqi_ops_linux.futex_wait(ctx, words, count, until_ns);
}

/* S5: its worker died while nobody slept; who comes then finds the proof, and waits for no look. */
static void death_before_anybody_slept(void **state)
{
	struct tqi_word32 *holds = share(sizeof(*holds));
	struct farm_box *box = *state;
	struct tqi_ops ops = tqi_ops_linux;
	const struct tqi_ops *before = box->tq->seg.ops;
	struct tq_claim claim = { .size = sizeof(claim) };
	struct tq_worker *worker = open_worker(box->tq, "q");

	submit_to(box, "q", 0);
	pid_t pid = start_child(box, hold_a_task, holds);

	wait_set(holds);
	kill_child(pid);
	ops.futex_wait = count_long_sleeps;
	long_sleeps = 0;
	box->tq->seg.ops = &ops;
	assert_int_equal(tq_claim(worker, PATIENCE_NS, &claim), 0);
	box->tq->seg.ops = before;
	assert_int_equal(long_sleeps, 0);
	assert_int_equal(tq_complete(worker, &claim, NULL, 0), 0);
	tq_worker_close(worker);
	give_up(holds, sizeof(*holds));
}

static void *work_in_thread(void *arg)
{
	work(arg, NULL);
	return NULL;
}

static void start_threads(struct farm_box *box)
{
	pthread_t thread;

	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread, NULL, work_in_thread, box), 0);
}

/* Workers of the library, without heartbeats: some, and as many again when it is told. */
static int work_as_crowd(struct farm_box *box, void *arg)
{
	start_threads(box);
	wait_set(arg);
	start_threads(box);
	pause_for_good();
	return 0;
}

/*
 * S3: the oldest sleepers and the newest, whom a submit pops, are of one process that is
 * stopped as a whole.  The worker of another one takes the task, though nobody else comes.
 */
static void older_process_is_stopped_as_a_whole(void **state)
{
	struct tqi_word32 *more = share(sizeof(*more));
	struct farm_box *box = *state;
	pid_t crowd = start_child(box, work_as_crowd, more);

	wait_asleep(box, TQI_INTEREST_WORK, THREADS);
	pid_t live = start_child(box, work, NULL);

	wait_asleep(box, TQI_INTEREST_WORK, THREADS + 1);
	tqi_store_release32(more, 1);
	wait_asleep(box, TQI_INTEREST_WORK, 2 * THREADS + 1);
	stop_child(crowd);
	uint64_t id = submit_to(box, "q", 0);

	wait_state(box, id, TQ_DONE);
	kill_child(live);
	kill_child(crowd);
	give_up(more, sizeof(*more));
}

int main(void)
{
#define TEST(name, f)                                                                              \
	{                                                                                          \
		name, f, farm_box_setup, farm_box_teardown, NULL                                   \
	}
	const struct CMUnitTest tests[] = {
		TEST("fault.S1: a submit that is waited for wakes no herd",
		     submit_and_wait_beside_idle_workers),
		TEST("fault.S1: wakes of a submit are bounded", wakes_of_a_submit_are_bounded),
		TEST("fault.S1: keepers leave the task to the popped",
		     keepers_leave_the_task_to_the_popped),
		TEST("fault.S3: the older process is stopped as a whole",
		     older_process_is_stopped_as_a_whole),
		TEST("fault.S5: a death before anybody slept is proved at once",
		     death_before_anybody_slept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
