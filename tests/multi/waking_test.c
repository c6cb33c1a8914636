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

	assert_int_equal(tq_wait(box->tq, id, PATIENCE_NS, NULL), 0);
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
static void s1_submit_and_wait_beside_idle_workers(void **state)
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
static void s5_death_before_anybody_slept(void **state)
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
static void s3_older_process_is_stopped_as_a_whole(void **state)
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
#define TEST(name) cmocka_unit_test_setup_teardown(name, farm_box_setup, farm_box_teardown)
	const struct CMUnitTest tests[] = {
		TEST(s1_submit_and_wait_beside_idle_workers),
		TEST(s3_older_process_is_stopped_as_a_whole),
		TEST(s5_death_before_anybody_slept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
