/* SPDX-License-Identifier: MIT */
/* Deaths with much to give back, deaths among false alarms, what outlives a death (E2 to E5). */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client/worker/worker_api.h"
#include "review_help.h"

/* Claims `MANY_TASKS` tasks of "q" and sleeps. */
static int hold_claims(struct farm_box *box, void *arg)
{
	struct tq_claim claims[MANY_TASKS] = { { .size = sizeof(claims[0]) } };
	struct tq_worker *worker = open_worker(box->tq, "q");
	struct tqi_word32 *ready = arg;

	for (int i = 0; i < MANY_TASKS; i++)
		claims[i].size = sizeof(claims[i]);
	if (!worker || tq_claim_many(worker, 0, claims, MANY_TASKS) != MANY_TASKS)
		return 1;
	tqi_store_release32(ready, 1);
	for (;;)
		pause();
}

/* One slice of a death has more to undo and to wake than the journal holds at a time. */
static void e5_death_with_many_claims_and_waiters(void **state)
{
	struct farm_box *box = *state;
	struct tqi_word32 *ready = share(sizeof(*ready));
	struct many many;

	many_submit(box, &many, TQ_TASK_AT_MOST_ONCE);
	pid_t pid = start_child(box, hold_claims, ready);

	wait_set(ready);
	many_wait(box, &many);
	kill_child(pid);
	many_end(box, &many, TQ_FAILED);
	give_up(ready, sizeof(*ready));
	assert_sound(box);
}

#define LOSERS 6
#define LOST (LOSERS * TQ_CLAIMS_MAX)
#define LEASE_NS (500 * MS)

/* Claims all that a worker may, under a lease that a heartbeat renews. */
static int hold_lease(struct farm_box *box, void *arg)
{
	static struct tq_claim claims[TQ_CLAIMS_MAX];
	const char *queue = "q";
	const struct tq_worker_opts opts = { .size = sizeof(opts),
					     .queues = &queue,
					     .queue_count = 1,
					     .lease_ns = LEASE_NS,
					     .flags = TQ_WORKER_HEARTBEAT };
	struct tqi_word32 *ready = arg;
	struct tq_worker *worker;

	for (int i = 0; i < TQ_CLAIMS_MAX; i++)
		claims[i].size = sizeof(claims[i]);
	if (tq_worker_open(box->tq, &opts, &worker) < 0 ||
	    tq_claim_many(worker, 0, claims, TQ_CLAIMS_MAX) != TQ_CLAIMS_MAX)
		return 1;
	tqi_store_release32(ready, 1);
	for (;;)
		pause();
}

static int count_stopping(struct farm_box *box, const uint64_t *ids)
{
	int count = 0;

	for (int i = 0; i < LOST; i++) {
		struct tq_task_info info = { .size = sizeof(info) };

		assert_int_equal(tq_task_info(box->tq, ids[i], &info), 0);
		count += (info.flags & TQ_INFO_STOPPING) != 0;
	}
	return count;
}

static void wait_stopping(struct farm_box *box, const uint64_t *ids)
{
	uint64_t until = now_ns() + PATIENCE_NS;
	int count;

	while ((count = count_stopping(box, ids)) != LOST) {
		if (now_ns() > until)
			fail_msg("%d of %d attempts were asked to stop", count, LOST);
		pause_ms();
	}
}

static void complete_all(struct farm_box *box, int count)
{
	struct tq_worker *worker = open_worker(box->tq, "q");

	for (int i = 0; i < count; i++) {
		struct tq_claim claim = { .size = sizeof(claim) };

		assert_int_equal(tq_claim(worker, PATIENCE_NS, &claim), 0);
		assert_int_equal(claim.attempt, 2);
		assert_int_equal(tq_complete(worker, &claim, NULL, 0), 0);
	}
	tq_worker_close(worker);
}

/* One look finds more leases lost than the journal holds at a time. */
static void e2_many_workers_lose_their_leases_at_once(void **state)
{
	const struct tq_task_spec spec = { .queue = "q", .backoff_ns = 1 };
	struct farm_box *box = *state;
	static uint64_t ids[LOST];
	struct tqi_word32 *ready = share(LOSERS * sizeof(*ready));
	pid_t pids[LOSERS], keeper = start_keeper(box);

	for (int i = 0; i < LOST; i++)
		ids[i] = submit_kind(box, "k", &spec);
	for (int i = 0; i < LOSERS; i++) {
		pids[i] = start_child(box, hold_lease, &ready[i]);
		wait_set(&ready[i]);
	}
	for (int i = 0; i < LOSERS; i++)
		stop_child(pids[i]);
	wait_stopping(box, ids);
	for (int i = 0; i < LOST; i++) /* no next attempt before the end of the first is proved */
		assert_int_equal(state_of(box, ids[i]), TQ_RUNNING);
	assert_sound(box);
	for (int i = 0; i < LOSERS; i++)
		kill_child(pids[i]);
	complete_all(box, LOST);
	kill_child(keeper);
	give_up(ready, LOSERS * sizeof(*ready));
	assert_sound(box);
}

#define POLLED 9 /* one more than the suspects of a look */

static void *open_and_end(void *arg)
{
	return open_worker(arg, "unused");
}

/* Claims the one task of "w"; if told so, loses its life lock without a notice. */
struct victim {
	struct tqi_word32 ready;
	bool silent;
};

static int hold_one(struct farm_box *box, void *arg)
{
	struct tq_claim claim = { .size = sizeof(claim) };
	struct tq_worker *worker = open_worker(box->tq, "w");
	struct victim *victim = arg;

	if (!worker || tq_claim(worker, 0, &claim) < 0)
		return 1;
	if (victim->silent)
		pthread_mutex_unlock(&tqi_worker_record(worker)->life);
	tqi_store_release32(&victim->ready, 1);
	for (;;)
		pause();
}

static uint64_t kill_a_holder(struct farm_box *box, bool silent)
{
	struct victim *victim = share(sizeof(*victim));
	uint64_t id = submit_to(box, "w", 0);

	victim->silent = silent;
	pid_t pid = start_child(box, hold_one, victim);

	wait_set(&victim->ready);
	kill_child(pid);
	give_up(victim, sizeof(*victim));
	return id;
}

/* Workers whose threads have ended are false alarms; they hide no death, and cost no time. */
static void e3_false_alarms_hide_no_death(void **state)
{
	struct farm_box *box = *state;
	struct tq_worker *polled[POLLED];
	struct tq_claim claim = { .size = sizeof(claim) };

	for (int i = 0; i < POLLED; i++) {
		pthread_t thread;
		void *worker = NULL;

		assert_int_equal(pthread_create(&thread, NULL, open_and_end, box->tq), 0);
		pthread_join(thread, &worker);
		assert_non_null(worker);
		polled[i] = worker;
	}
	uint64_t id = kill_a_holder(box, false), cpu = cpu_ns();
	struct tq_worker *next = open_worker(box->tq, "w");

	assert_int_equal(tq_claim(next, 2 * PROMPT_NS, &claim), 0);
	assert_int_equal(claim.id, id);
	assert_int_equal(claim.attempt, 2);
	assert_true(cpu_ns() - cpu < S / 2); /* it slept */
	assert_int_equal(tq_complete(next, &claim, NULL, 0), 0);
	tq_worker_close(next);
	for (int i = 0; i < POLLED; i++)
		tq_worker_close(polled[i]);
	assert_sound(box);
}

/* A death without any notice is found by probing, whoever is registered before it. */
static void e3_probe_comes_to_everybody(void **state)
{
	struct farm_box *box = *state;
	struct tq_worker *first = open_worker(box->tq, "q");
	struct tq_claim claim = { .size = sizeof(claim) };
	uint64_t id = kill_a_holder(box, true);
	struct tq_worker *next = open_worker(box->tq, "w");

	assert_int_equal(tq_claim(next, 3 * PROMPT_NS, &claim), 0);
	assert_int_equal(claim.id, id);
	assert_int_equal(tq_complete(next, &claim, NULL, 0), 0);
	tq_worker_close(next);
	tq_worker_close(first);
	assert_sound(box);
}

/* What a handler that forks shares with the test: its helper must end before attempt 2. */
struct forked {
	struct tqi_word32 attempts;
	struct tqi_word32 helper; /* its pid; it ends when told, or killed, or after PATIENCE_NS */
	struct tqi_word32 end;
	struct tqi_word32 overlaps;
};
static struct forked *forked;

static void help(void)
{
	uint64_t until = now_ns() + PATIENCE_NS;

	while (!tqi_load_acquire32(&forked->end) && now_ns() < until)
		pause_ms();
	_exit(0);
}

static int fork_a_helper(struct tq_run *run, void *arg)
{
	(void)arg;
	tqi_add_release32(&forked->attempts, 1);
	if (tq_run_claim(run)->attempt > 1) {
		if (process_is_there(tqi_load_acquire32(&forked->helper)))
			tqi_add_release32(&forked->overlaps, 1);
		return TQ_RUN_DONE;
	}
	pid_t pid = fork();

	if (pid < 0)
		return TQ_RUN_FATAL;
	if (pid == 0)
		help();
	tqi_store_release32(&forked->helper, (uint32_t)pid);
	for (;;)
		pause();
}

static void forking_handlers(struct tq *tq)
{
	if (tq_handler_set(tq, "forks", fork_a_helper, NULL) < 0)
		_exit(FARM_FAILED);
}

static struct tq_task_info start_forking(struct farm_box *box, uint64_t *ret_id)
{
	const struct tq_task_spec spec = { .attempts_max = 3, .backoff_ns = MS };

	forked = share(sizeof(*forked));
	box->handlers = forking_handlers;
	farm_start(box);
	*ret_id = submit_kind(box, "forks", &spec);
	wait_set(&forked->helper);
	return wait_running(box, *ret_id);
}

static void end_forking(struct farm_box *box, uint64_t id)
{
	struct tq_task_info info = wait_final(box, id);

	assert_int_equal(info.state, TQ_DONE);
	assert_int_equal(info.attempt, 2);
	assert_int_equal(tqi_load_acquire32(&forked->overlaps), 0);
	assert_false(process_is_there(tqi_load_acquire32(&forked->helper)));
	assert_int_equal(farm_stop(box), 0);
	give_up(forked, sizeof(*forked));
	assert_sound(box);
}

/* The master lives: it ends the helper, and then the next attempt starts. */
static void e4_helper_of_a_dead_worker_is_ended_first(void **state)
{
	struct farm_box *box = *state;
	uint64_t id;
	struct tq_task_info info = start_forking(box, &id);

	kill((pid_t)info.worker_pid, SIGKILL);
	end_forking(box, id);
}

/* Nobody is left who may end the helper: the next attempt waits for it. */
static void e4_helper_of_a_dead_farm_delays_the_next_attempt(void **state)
{
	struct farm_box *box = *state;
	uint64_t id;
	struct tq_task_info info = start_forking(box, &id);
	pid_t keeper = start_keeper(box);

	kill(box->farm, SIGKILL);
	kill((pid_t)info.worker_pid, SIGKILL);
	assert_int_equal(waitpid(box->farm, NULL, 0), box->farm);
	farm_start(box);
	wait_final(box, submit_script(box, "true", NULL)); /* the new farm works */
	wait_looks(box, 3);
	assert_int_equal(tqi_load_acquire32(&forked->attempts), 1);
	assert_true(process_is_there(tqi_load_acquire32(&forked->helper)));
	assert_int_equal(state_of(box, id), TQ_RUNNING);
	tqi_store_release32(&forked->end, 1);
	end_forking(box, id);
	kill_child(keeper);
}

/* A handler that runs until it is told. */
struct gate {
	struct tqi_word32 entered;
	struct tqi_word32 open;
};
static struct gate *gate;

static int wait_at_gate(struct tq_run *run, void *arg)
{
	uint64_t until = now_ns() + PATIENCE_NS;

	(void)run;
	(void)arg;
	tqi_store_release32(&gate->entered, 1);
	while (!tqi_load_acquire32(&gate->open) && now_ns() < until)
		pause_ms();
	return TQ_RUN_DONE;
}

static void nothing(int signal)
{
	(void)signal;
}

static void gate_handlers(struct tq *tq)
{
	signal(SIGUSR1, nothing);
	if (tq_handler_set(tq, "gated", wait_at_gate, NULL) < 0)
		_exit(FARM_FAILED);
}

/*
 * A master without SIGCHLD sleeps on its workers' life locks, and so does the
 * timekeeper; a lock that is let go wakes the one who slept on it first, only.  Here
 * that is the timekeeper, and the master is too young a sleeper to look by itself.
 */
static void f4_end_of_a_worker_is_not_swallowed_by_the_timekeeper(void **state)
{
	struct farm_box *box = *state;
	pid_t keepers[TQI_KEEPERS];

	for (int i = 0; i < TQI_KEEPERS; i++)
		keepers[i] = start_keeper(box);
	gate = share(sizeof(*gate));
	box->handlers = gate_handlers;
	box->opts.flags = TQ_FARM_UNTIL_EMPTY | TQ_FARM_NO_EXEC | TQ_FARM_KEEP_SIGNALS;
	submit_kind(box, "gated", NULL);
	farm_start(box);
	wait_set(&gate->entered);
	wait_looks(box, 1);
	wait_settled(keepers[0]);
	kill(box->farm, SIGUSR1); /* it sleeps anew: behind the timekeeper */
	wait_settled(box->farm);
	tqi_store_release32(&gate->open, 1);
	assert_int_equal(farm_join(box), 0);
	for (int i = 0; i < TQI_KEEPERS; i++)
		kill_child(keepers[i]);
	give_up(gate, sizeof(*gate));
	assert_sound(box);
}

/* The thread of a worker that is not its first one. */
static pid_t second_thread(pid_t worker)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)worker);
	DIR *tasks = opendir(path);
	const struct dirent *entry;
	pid_t thread = 0;

	assert_non_null(tasks);
	while (!thread && (entry = readdir(tasks)) != NULL)
		if (atoi(entry->d_name) != worker)
			thread = atoi(entry->d_name);
	closedir(tasks);
	assert_true(thread > 0);
	return thread;
}

/*
 * The master sleeps on several words when it has looked at all that died, and on one
 * while it waits for the proof of a death.
 */
static void wait_at_rest(pid_t master)
{
	uint64_t until = now_ns() + PROMPT_NS;
	char path[64];
	long call = 0;
	unsigned long words = 0;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)master);
	for (; call != SYS_futex_waitv || words < 2; pause_ms()) {
		FILE *file = fopen(path, "r");

		assert_non_null(file);
		if (fscanf(file, "%ld %*x %lx", &call, &words) < 2)
			call = 0;
		fclose(file);
		if (now_ns() > until)
			fail_msg("the master %d does not rest", (int)master);
	}
}

/*
 * A thread that a tracer has not let go keeps its process from being reaped, while the
 * process's orphans are the master's already, as for some microseconds in every death:
 * a command's leader among them is still needed, to end its group.
 */
static void f1_command_s_group_ends_with_a_worker_that_dies_slowly(void **state)
{
	struct farm_box *box = *state;
	int status;

	box->opts.workers = 1;
	farm_start(box);
	uint64_t id = submit_script(box,
				    "[ $TASKQ_ATTEMPT = 1 ] || exit 0\n"
				    "sleep 1000 & echo $! >child; echo $$ >leader; wait\n",
				    NULL);
	long leader = wait_number(box, "leader"), child = wait_number(box, "child");
	pid_t worker = (pid_t)wait_running(box, id).worker_pid, thread = second_thread(worker);

	if (ptrace(PTRACE_SEIZE, thread, NULL, NULL) < 0) {
		print_message("ptrace: %s\n", strerror(errno));
		assert_int_equal(tq_task_steer(box->tq, id, TQ_TASK_ACTION_CANCEL), 1);
		assert_int_equal(farm_stop(box), 0);
		skip();
	}
	kill(worker, SIGKILL);
	wait_gone(worker);
	wait_gone(leader);
	wait_at_rest(box->farm);
	assert_int_equal(waitpid(thread, &status, __WALL), thread);
	struct tq_task_info info = wait_final(box, id);

	assert_int_equal(info.state, TQ_DONE);
	assert_int_equal(info.attempt, 2);
	assert_false(process_is_there(child));
	assert_int_equal(farm_stop(box), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, farm_box_setup, farm_box_teardown)
	const struct CMUnitTest tests[] = {
		TEST(e5_death_with_many_claims_and_waiters),
		TEST(f1_command_s_group_ends_with_a_worker_that_dies_slowly),
		TEST(e2_many_workers_lose_their_leases_at_once),
		TEST(e3_false_alarms_hide_no_death),
		TEST(e3_probe_comes_to_everybody),
		TEST(e4_helper_of_a_dead_worker_is_ended_first),
		TEST(e4_helper_of_a_dead_farm_delays_the_next_attempt),
		TEST(f4_end_of_a_worker_is_not_swallowed_by_the_timekeeper),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
