/* SPDX-License-Identifier: MIT */
/*
 * The exhaustive harness: a process that really dies by SIGKILL after k instructions
 * of an operation, the kernel's own walk of its robust list, a real rescuer; with a
 * waiter queued on the lock and a third process that barges in.
 *
 *   kill_test [--every N] [--seed S] [submit | claim | complete | rescue | lost_wake]
 *
 * --every N takes each N-th k, beginning at a place that depends on the seed.
 */
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client/core/sleeper.h"
#include "scheduler/check/check.h"
#include "tests/crash/step.h"
#include "tests/crash/world.h"

#define TASKS 5
#define PATIENCE_NS 60000000000ull /* a waiter that needs longer for a free lock is lost */
#define NEAR_RELEASE 40		  /* instructions around the release of the lock */

/* What processes of a scene tell each other. */
struct signs {
	_Atomic uint64_t steps;	   /* of the victim so far */
	_Atomic uint64_t held_at;  /* step at which it had the lock; 0 not yet */
	_Atomic uint64_t freed_at; /* step at which the word was 0 again */
	_Atomic int queue;	   /* 1: the waiter is to queue up now */
	_Atomic int barge;	   /* 1: asked to, 2: has the lock */
	_Atomic int served;	   /* the waiter had the lock */
};

struct scene {
	struct tqi_ops linux_ops; /* the parent's */
	struct tqi_segment seg;
	struct tqt_system system;
	struct tq *tq;
	struct tq *parent; /* real clock, real proofs */
	unsigned char *image;
	unsigned char *scratch;
	uint64_t scratch_bytes;
	struct signs *signs;
	struct tq_claim claim;
	struct tq_worker *worker;
	void (*prepare)(struct scene *s); /* in the victim, not stepped */
	void (*run)(struct scene *s);
	bool waiter, barger;
	uint64_t kill_at;
	uint64_t kills, faults, slowest_ns;
};

static uint64_t now_ns(void)
{
	return tqi_ops_linux.now(NULL);
}

static uint32_t lock_word(const struct scene *s)
{
	return tqi_load_acquire32(tqi_mutex_word(&tqi_segment_core(&s->seg)->lock));
}

static void pause_briefly(void)
{
	const struct timespec ts = { .tv_nsec = 50000 };

	nanosleep(&ts, NULL);
}

static void complain(struct scene *s, const char *operation, const char *text)
{
	if (s->faults++ < 5)
		printf("%s killed after %llu instructions: %s\n", operation,
		       (unsigned long long)s->kill_at, text);
}

/* Operations. */

static void prepare_nothing(struct scene *s)
{
	tqi_self(s->tq);
}

static void prepare_worker(struct scene *s)
{
	tqt_must(tq_worker_open(s->tq, NULL, &s->worker), "worker");
	s->claim.size = sizeof(s->claim);
}

static void prepare_claim(struct scene *s)
{
	prepare_worker(s);
	tqt_must(tq_claim(s->worker, 0, &s->claim), "claim");
}

static void run_submit(struct scene *s)
{
	const struct tq_task_spec spec = {
		.size = sizeof(spec), .kind = "k", .payload = "x", .payload_bytes = 1
	};

	tqt_must(tq_submit(s->tq, &spec, NULL), "submit");
}

static void run_claim(struct scene *s)
{
	tqt_must(tq_claim(s->worker, 0, &s->claim), "claim");
}

static void run_complete(struct scene *s)
{
	tqt_must(tq_complete(s->worker, &s->claim, "result", 6), "complete");
}

static void run_rescue(struct scene *s)
{
	struct tqi_tx tx;

	tqt_must(tqi_hold_begin(s->tq, &tx), "rescue");
	tqt_must(tqi_hold_end(s->tq, &tx, 0), "rescue");
}

/* The victim, after each of its instructions. */

static void await_waiter(struct scene *s)
{
	s->signs->queue = 1;
	/* Asleep is who has set the bit and been given the time to call the kernel. */
	while (!(lock_word(s) & FUTEX_WAITERS) && !s->signs->served)
		sched_yield();
	pause_briefly();
	pause_briefly();
}

static void await_barger(struct scene *s)
{
	s->signs->barge = 1;
	while (s->signs->barge == 1)
		sched_yield();
}

static bool look(struct tqt_stepper *stepper)
{
	struct scene *s = stepper->arg;
	bool mine = (lock_word(s) & FUTEX_TID_MASK) == (uint32_t)getpid();

	s->signs->steps = stepper->steps;
	if (mine && !s->signs->held_at) {
		s->signs->held_at = stepper->steps;
		if (s->waiter)
			await_waiter(s);
	} else if (!mine && s->signs->held_at && !s->signs->freed_at) {
		s->signs->freed_at = stepper->steps;
	}
	if (stepper->steps != s->kill_at)
		return true;
	if (s->barger && s->signs->freed_at)
		await_barger(s);
	kill(getpid(), SIGKILL);
	return true;
}

static _Noreturn void victim(struct scene *s)
{
	struct tqt_stepper stepper = { .look = look, .arg = s };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	tqt_step_thread();
	s->prepare(s);
	tqt_step_begin(&stepper);
	s->run(s);
	tqt_step_end();
	_exit(0);
}

static _Noreturn void waiter(struct scene *s)
{
	struct tqi_tx tx;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	tqi_self(s->parent);
	while (!s->signs->queue)
		sched_yield();
	int r = tqi_hold_begin(s->parent, &tx);

	if (r == 0)
		r = tqi_hold_end(s->parent, &tx, 0);
	s->signs->served = r == 0 ? 1 : r;
	_exit(0);
}

static pid_t spawn(struct scene *s, void (*part)(struct scene *))
{
	fflush(stdout);
	pid_t pid = fork();

	if (pid == 0)
		part(s);
	if (pid < 0) {
		perror("fork");
		exit(1);
	}
	return pid;
}

/* Take the lock in the moment between its release and the victim's death. */
static void barge(struct scene *s)
{
	pthread_mutex_t *lock = &tqi_segment_core(&s->seg)->lock;

	if (s->signs->barge != 1)
		return;
	if (pthread_mutex_trylock(lock) != 0)
		s->barger = false; /* the waiter was faster */
	s->signs->barge = 2;
}

static void end_victim(struct scene *s, pid_t pid)
{
	bool asked = s->barger;
	int status;

	while (waitpid(pid, &status, asked ? WNOHANG : 0) == 0) {
		barge(s);
		sched_yield();
	}
	if (asked && s->barger && s->signs->barge == 2)
		pthread_mutex_unlock(&tqi_segment_core(&s->seg)->lock);
	s->barger = asked;
}

/* It queued before the death, so the lock must come to it. */
static void end_waiter(struct scene *s, const char *operation, pid_t pid)
{
	uint64_t since = now_ns();

	if (!s->signs->queue) {
		kill(pid, SIGKILL);
	} else {
		while (!s->signs->served && now_ns() - since < PATIENCE_NS)
			pause_briefly();
		if (s->signs->served != 1) {
			complain(s, operation,
				 s->signs->served ? tq_error_name(s->signs->served)
						  : "the queued waiter is lost");
			kill(pid, SIGKILL);
		}
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (now_ns() - since > s->slowest_ns)
		s->slowest_ns = now_ns() - since;
}

static void report(void *arg, const char *text)
{
	struct scene *s = arg;

	complain(s, "check", text);
}

/* By the records: how many wait, run, are done; each combination is one of few. */
static bool is_whole(struct scene *s)
{
	const struct tqi_root *root = tqi_segment_root(&s->seg);
	uint32_t live = tqi_segment_core(&s->seg)->tables[TQI_TASKS].live;

	if (live != TASKS && live != TASKS + 1)
		return false;
	return root->ready + root->running + root->finished.count == live && root->running <= 1 &&
	       root->finished.count <= 1 && root->unfinished == root->ready + root->running;
}

static void verify(struct scene *s, const char *operation)
{
	struct tqi_tx tx;
	int r = tqi_hold_begin(s->parent, &tx);

	if (r < 0) {
		complain(s, operation, tq_error_name(r));
		return;
	}
	if (!is_whole(s))
		complain(s, operation, "neither before nor after");
	tqi_hold_end(s->parent, &tx, 0);
	tqi_keep(s->parent);
	tqi_tx_view(&tx, &s->seg);
	tqi_tx_begin(&tx, 0);
	tqi_tx_commit(&tx);
	tqi_check(&tx, s->scratch, report, s);
	madvise(s->scratch, s->scratch_bytes, MADV_DONTNEED);
	if (tqi_segment_core(&s->seg)->tables[TQI_WORKERS].live)
		complain(s, operation, "the dead worker is still there");
}

/* One death.  False when the operation ended before. */
static bool kill_once(struct scene *s, const char *operation)
{
	memcpy(s->seg.base, s->image, s->seg.geometry.max_bytes);
	memset(s->signs, 0, sizeof(*s->signs));
	pid_t w = s->waiter ? spawn(s, waiter) : 0, v = spawn(s, victim);

	end_victim(s, v);
	if (w)
		end_waiter(s, operation, w);
	s->kills++;
	verify(s, operation);
	return s->signs->steps >= s->kill_at;
}

/* How many instructions it has; where the lock is freed. */
static void calibrate(struct scene *s, uint64_t *ret_steps, uint64_t *ret_freed)
{
	s->kill_at = UINT64_MAX;
	kill_once(s, "calibration");
	*ret_steps = s->signs->steps;
	*ret_freed = s->signs->freed_at;
	s->kills = 0;
}

static void exhaust(struct scene *s, const char *operation, uint64_t every, uint64_t seed)
{
	uint64_t steps, freed, from = seed % every + 1;

	s->waiter = s->barger = false;
	calibrate(s, &steps, &freed);
	printf("%s: %llu instructions, the lock is free again after %llu\n", operation,
	       (unsigned long long)steps, (unsigned long long)freed);
	for (uint64_t k = from; k <= steps; k += every) {
		s->kill_at = k;
		kill_once(s, operation);
	}
	s->waiter = true;
	for (uint64_t k = from; k <= steps; k += every * 5) {
		s->kill_at = k;
		kill_once(s, operation);
	}
}

/* PF-1: killed between the exchange that frees the lock and the wake. */
static void lose_wakes(struct scene *s, const char *operation)
{
	uint64_t steps, freed;

	s->waiter = s->barger = false;
	calibrate(s, &steps, &freed);
	s->waiter = s->barger = true;
	for (uint64_t k = freed - 5; k <= steps && k < freed + NEAR_RELEASE; k++) {
		s->kill_at = k;
		kill_once(s, operation);
	}
}

/* The scene's file has no name, and nobody has removed it. */
static bool is_unlinked(void *ctx, int fd)
{
	(void)ctx;
	(void)fd;
	return false;
}

/* Start image: a few tasks, all locks free. */
static void open_scene(struct scene *s, struct tqt_world *world)
{
	const struct tqt_world_options options = { 0 };

	tqt_world_open(world, &options);
	for (int i = 0; i < TASKS; i++) {
		const struct tq_task_spec spec = { .size = sizeof(spec), .kind = "k" };

		tqt_must(tq_submit(world->tq, &spec, NULL), "submit");
	}
	s->seg = world->seg;
	tqt_system_init(&s->system, world->system.now_ns);
	s->tq = tqt_handle_new(&s->seg, &s->system, 0); /* 0: the pid of whoever uses it */
	s->parent = tqt_handle_new(&s->seg, &s->system, 0);
	s->linux_ops = tqi_ops_linux;
	s->linux_ops.is_unlinked = is_unlinked;
	s->parent->seg.ops = &s->linux_ops;
	s->parent->lock_timeout_ns = 2 * PATIENCE_NS;
	s->image = malloc(s->seg.geometry.max_bytes);
	s->scratch_bytes = tqi_check_scratch_bytes(&s->seg.geometry);
	s->scratch = mmap(NULL, s->scratch_bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	s->signs = mmap(NULL, sizeof(*s->signs), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	if (!s->image || s->scratch == MAP_FAILED || s->signs == MAP_FAILED)
		exit(1);
	memcpy(s->image, s->seg.base, s->seg.geometry.max_bytes);
}

/* The state that a rescuer finds: a submit's journal, nearly complete. */
static void break_image(struct scene *s)
{
	uint64_t steps, freed;

	s->waiter = s->barger = false;
	s->prepare = prepare_nothing;
	s->run = run_submit;
	calibrate(s, &steps, &freed);
	memcpy(s->seg.base, s->image, s->seg.geometry.max_bytes);
	memset(s->signs, 0, sizeof(*s->signs));
	s->kill_at = freed - NEAR_RELEASE * 3;
	end_victim(s, spawn(s, victim));
	memcpy(s->image, s->seg.base, s->seg.geometry.max_bytes);
	printf("rescue: %u entries to roll back\n", tqi_segment_core(&s->seg)->undo_count);
}

static const struct {
	const char *name;
	void (*prepare)(struct scene *s);
	void (*run)(struct scene *s);
} operations[] = {
	{ "submit", prepare_nothing, run_submit },   { "claim", prepare_worker, run_claim },
	{ "complete", prepare_claim, run_complete }, { "lost_wake", prepare_nothing, run_submit },
	{ "rescue", prepare_nothing, run_rescue }, /* last: it breaks the image */
};

static void run_operation(struct scene *s, uint32_t i, uint64_t every, uint64_t seed)
{
	const char *name = operations[i].name;

	if (strcmp(name, "rescue") == 0)
		break_image(s);
	s->prepare = operations[i].prepare;
	s->run = operations[i].run;
	if (strcmp(name, "lost_wake") == 0)
		lose_wakes(s, name);
	else
		exhaust(s, name, every, seed);
}

int main(int argc, char **argv)
{
	static struct tqt_world world;
	static struct scene scene;
	uint64_t every = 1, seed = 0, kills = 0, start = now_ns();
	const char *only = NULL;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--every") == 0 && i + 1 < argc)
			every = strtoull(argv[++i], NULL, 0);
		else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
			seed = strtoull(argv[++i], NULL, 0);
		else
			only = argv[i];
	}
	tqt_step_install();
	open_scene(&scene, &world);
	for (uint32_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		if (only && strcmp(only, operations[i].name) != 0)
			continue;
		run_operation(&scene, i, every ? every : 1, seed);
		kills += scene.kills;
	}
	tqt_world_close(&world);
	printf("kill: %llu deaths by SIGKILL, %llu faults, slowest waiter %.1f ms, %.1f s\n",
	       (unsigned long long)kills, (unsigned long long)scene.faults,
	       (double)scene.slowest_ns / 1e6, (double)(now_ns() - start) / 1e9);
	return scene.faults || !kills;
}
