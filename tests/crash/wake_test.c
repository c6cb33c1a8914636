/* SPDX-License-Identifier: MIT */
/*
 * No eligible sleeper stays asleep while a startable task waits: with wakers killed
 * at an instruction, sleepers stopped, sleepers killed between their wake and their
 * task, and the timekeeper killed together with its heir.  Real processes, real time;
 * only observed, never helped.
 *
 *   wake_test [--quick] [--seed S]
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client/core/handle.h"
#include "tests/crash/step.h"

#define SLEEPERS 4
#define PATIENCE_NS 60000000000ull /* the last keeper looks after 3 s, then proves a death */
#define DELAY_NS 50000000ull

struct shared {
	_Atomic uint64_t kill_at; /* instructions after its wake that a sleeper lives; 0 for ever */
	_Atomic pid_t doomed;	  /* who drew it */
	_Atomic uint64_t steps;	  /* of a victim */
};

static struct {
	struct tq *tq;
	struct shared *shared;
	pid_t sleepers[SLEEPERS]; /* oldest first */
	struct tqi_ops ops;
	struct tqt_stepper stepper;
	uint64_t kill_at;
	uint64_t cases, faults, slowest_ns;
	uint64_t seed;
	pid_t master;
	char path[64];
} scene;

static uint64_t now_ns(void)
{
	return tqi_ops_linux.now(NULL);
}

static void pause_briefly(void)
{
	const struct timespec ts = { .tv_nsec = 300000 };

	nanosleep(&ts, NULL);
}

static uint64_t below(uint64_t n)
{
	scene.seed = scene.seed * 6364136223846793005ull + 1442695040888963407ull;
	return (scene.seed >> 33) % n;
}

static void must(int r, const char *what)
{
	if (r >= 0)
		return;
	printf("%s: %s\n", what, tq_strerror(r));
	exit(1);
}

static bool step(struct tqt_stepper *stepper)
{
	scene.shared->steps = stepper->steps;
	if (stepper->steps >= scene.kill_at)
		kill(getpid(), SIGKILL);
	return true;
}

static void die_after(uint64_t instructions)
{
	scene.kill_at = instructions;
	scene.stepper = (struct tqt_stepper){ .look = step };
	tqt_step_begin(&scene.stepper);
}

/* The first to be woken has so many instructions to live. */
static int wait_and_die(void *ctx, const struct tqi_futex *words, uint32_t count, uint64_t until_ns)
{
	int r = tqi_ops_linux.futex_wait(ctx, words, count, until_ns);
	uint64_t k = atomic_exchange(&scene.shared->kill_at, 0);

	if (k) {
		scene.shared->doomed = getpid();
		die_after(k);
	}
	return r;
}

static _Noreturn void sleeper(void)
{
	struct tq_worker *worker;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	tqt_step_thread();
	scene.ops = tqi_ops_linux;
	scene.ops.futex_wait = wait_and_die;
	scene.tq->seg.ops = &scene.ops;
	must(tq_worker_open(scene.tq, NULL, &worker), "worker");
	for (;;) {
		struct tq_claim claim = { .size = sizeof(claim) };
		int r = tq_claim(worker, TQ_FOREVER_NS, &claim);

		if (r == -EINTR)
			continue;
		must(r, "claim");
		must(tq_complete(worker, &claim, NULL, 0), "complete");
	}
}

static _Noreturn void submitter(void)
{
	const struct tq_task_spec spec = { .size = sizeof(spec), .kind = "k" };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	tqt_step_thread();
	tqi_self(scene.tq);
	die_after(scene.kill_at);
	must(tq_submit(scene.tq, &spec, NULL), "submit");
	tqt_step_end();
	_exit(0);
}

static pid_t spawn(void (*part)(void))
{
	fflush(stdout);
	pid_t pid = fork();

	if (pid == 0)
		part();
	must(pid < 0 ? -errno : 0, "fork");
	return pid;
}

static struct tq_segment_info info(void)
{
	struct tq_segment_info i = { .size = sizeof(i) };

	must(tq_segment_info(scene.tq, &i), "info");
	return i;
}

/* A dead sleeper's slot may stay until somebody has a reason to look. */
static bool all_asleep(void)
{
	const struct tqi_core *core = tqi_segment_core(&scene.tq->seg);
	int asleep = 0;

	for (uint32_t w = 1; w < core->tables[TQI_WAITERS].count; w++) {
		const struct tqi_waiter *s = tqi_table_peek(&scene.tq->seg, TQI_WAITERS, w);

		for (int i = 0; s && i < SLEEPERS; i++)
			asleep += s->state == TQI_WAITER_LISTED &&
				  s->owner.pid == (uint32_t)scene.sleepers[i];
	}
	return asleep == SLEEPERS;
}

static bool all_done(void)
{
	return info().tasks_unfinished == 0;
}

/* True when it came true in time. */
static bool await(bool (*condition)(void))
{
	uint64_t since = now_ns();

	while (!condition()) {
		if (now_ns() - since > PATIENCE_NS)
			return false;
		pause_briefly();
	}
	return true;
}

static void expect_done(const char *what, uint64_t k)
{
	uint64_t since = now_ns();

	scene.cases++;
	if (!await(all_done)) {
		scene.faults++;
		printf("%s, %llu: a task waits, and all sleep\n", what, (unsigned long long)k);
		exit(1);
	}
	if (now_ns() - since > scene.slowest_ns)
		scene.slowest_ns = now_ns() - since;
}

static void submit(uint64_t delay_ns)
{
	const struct tq_task_spec spec = { .size = sizeof(spec),
					   .kind = "k",
					   .delay_ns = delay_ns };

	must(tq_submit(scene.tq, &spec, NULL), "submit");
}

static void end(pid_t pid, int number)
{
	kill(pid, number);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* The dead are replaced; in the order of the array they queue up. */
static void fill_up(void)
{
	for (int i = 0; i < SLEEPERS; i++)
		if (!scene.sleepers[i])
			scene.sleepers[i] = spawn(sleeper);
	if (!await(all_asleep)) {
		printf("sleepers: %u instead of %d\n", info().sleepers, SLEEPERS);
		exit(1);
	}
}

/* It may have done its task with less, and be asleep again. */
static void end_doomed(void)
{
	scene.shared->kill_at = 0;
	for (int i = 0; i < SLEEPERS; i++) {
		if (scene.sleepers[i] != scene.shared->doomed)
			continue;
		end(scene.sleepers[i], SIGKILL);
		scene.sleepers[i] = 0;
	}
}

/* PF-30: the waker is killed at an instruction of its submit. */
static void wakers_are_killed(uint64_t cases)
{
	scene.kill_at = UINT64_MAX;
	end(spawn(submitter), 0);
	uint64_t steps = scene.shared->steps;

	expect_done("a submit", steps);
	for (uint64_t i = 0; i < cases; i++) {
		scene.kill_at = below(steps) + 1;
		end(spawn(submitter), 0);
		/* Not committed: rolled back with the next hold, which a submit makes. */
		if (tqi_segment_core(&scene.tq->seg)->undo_count)
			submit(0);
		expect_done("the waker killed at instruction", scene.kill_at);
	}
}

static void sleepers_are_stopped(uint64_t cases)
{
	for (uint64_t i = 0; i < cases; i++) {
		pid_t pid = scene.sleepers[below(SLEEPERS)];

		kill(pid, SIGSTOP);
		submit(below(2) * DELAY_NS);
		expect_done("a sleeper stopped", i);
		kill(pid, SIGCONT);
		fill_up();
	}
}

static void woken_are_killed(uint64_t cases)
{
	for (uint64_t i = 0; i < cases; i++) {
		uint64_t k = i < 8 ? i + 1 : below(6000) + 1;

		scene.shared->kill_at = k;
		submit(0);
		expect_done("killed so many instructions after its wake", k);
		end_doomed();
		fill_up();
	}
}

static void keepers_are_killed(uint64_t cases)
{
	for (uint64_t i = 0; i < cases; i++) {
		uint64_t count = 1 + below(SLEEPERS - 1);

		submit(DELAY_NS);
		for (uint64_t n = 0; n < count; n++)
			kill(scene.sleepers[n], SIGKILL);
		for (uint64_t n = 0; n < count; n++) {
			end(scene.sleepers[n], 0);
			scene.sleepers[n] = 0;
		}
		expect_done("the oldest killed together", count);
		/* The survivors are the oldest now. */
		for (uint64_t n = 0; n < SLEEPERS; n++) {
			uint64_t from = (n + count) % SLEEPERS;

			if (n < SLEEPERS - count) {
				scene.sleepers[n] = scene.sleepers[from];
				scene.sleepers[from] = 0;
			}
		}
		fill_up();
	}
}

static void open_scene(void)
{
	const struct tq_open_opts opts = { .size = sizeof(opts),
					   .flags = TQ_OPEN_CREATE | TQ_OPEN_EXCLUSIVE,
					   .max_bytes = 4u << 20,
					   .retention_ns = 1 };

	snprintf(scene.path, sizeof(scene.path), "/dev/shm/taskq-wake.%d", (int)getpid());
	must(tq_open(scene.path, &opts, &scene.tq), scene.path);
	scene.shared = mmap(NULL, sizeof(*scene.shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(scene.shared == MAP_FAILED ? -errno : 0, "mmap");
}

static void clean_up(void)
{
	if (getpid() != scene.master)
		return;
	for (int i = 0; i < SLEEPERS; i++)
		if (scene.sleepers[i])
			end(scene.sleepers[i], SIGKILL);
	unlink(scene.path);
}

int main(int argc, char **argv)
{
	uint64_t scale = 4, start = now_ns();

	scene.master = getpid();
	scene.seed = (uint64_t)time(NULL);
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--quick") == 0)
			scale = 1;
		else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
			scene.seed = strtoull(argv[++i], NULL, 0);
		else
			return fprintf(stderr, "usage: wake_test [--quick] [--seed N]\n"), 2;
	}
	printf("wake: --seed %llu\n", (unsigned long long)scene.seed);
	tqt_step_install();
	open_scene();
	if (atexit(clean_up) != 0)
		return 1;
	fill_up();
	wakers_are_killed(60 * scale);
	woken_are_killed(12 * scale);
	sleepers_are_stopped(2 * scale);
	keepers_are_killed(4 * scale);
	printf("wake: %llu cases, %llu faults, slowest %.1f ms, %.1f s\n",
	       (unsigned long long)scene.cases, (unsigned long long)scene.faults,
	       (double)scene.slowest_ns / 1e6, (double)(now_ns() - start) / 1e9);
	return scene.faults != 0;
}
