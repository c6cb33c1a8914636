/* SPDX-License-Identifier: MIT */
/*
 * Two processes, and what the second does between any two instructions of the first.
 * Who blocks is stepped; once, before the n-th instruction at which the lock is free,
 * another one does what it waits for, and no clock moves.  It must return, and by no
 * timer: a wake that only a keeper's look would mend is a wake that was lost.
 *
 *   between_test [--every N] [--seed S] [SCENE]
 */
#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shm/lock.h"
#include "tests/crash/step.h"
#include "tests/crash/world.h"

#define LONG_NS (10000 * 1000000000ull)

struct scene {
	const char *name;
	void (*prepare)(struct tqt_world *w);
	int (*block)(struct tqt_world *w);
	void (*other)(struct tqt_world *w);
};

/* One run of a scene: the other one acts before the n-th instruction without the lock. */
struct run {
	const struct scene *scene;
	struct tqt_world world;
	struct tqt_stepper stepper;
	uint64_t at, free_steps;
	sem_t go, done; /* the other one's turn, and the blocked one's */
	bool acted;
	bool slept; /* the last place: it sleeps already */
	bool failed;
};

static void prepare_worker(struct tqt_world *w)
{
	tqt_serve(w, 0);
}

static void prepare_claim(struct tqt_world *w)
{
	tqt_serve(w, 0);
	tqt_submit_plain(w);
	tqt_claim(w);
}

static int block_claim(struct tqt_world *w)
{
	struct tq_claim claim = { .size = sizeof(claim) };

	return tq_claim(w->worker, LONG_NS, &claim);
}

static int block_wait(struct tqt_world *w)
{
	tqt_must(tq_claim_adopt(w->worker, NULL), "adopt"); /* as a client */
	return tq_wait(w->tq, &w->ids[0], 1, LONG_NS, NULL, NULL);
}

static int block_stop(struct tqt_world *w)
{
	return tq_claim_wait_stop(w->worker, w->claims, LONG_NS) == TQ_CAUSE_CANCELLED ? 0 : -EIO;
}

static void submit(struct tqt_world *w)
{
	const struct tq_task_spec spec = { .size = sizeof(spec), .kind = "k" };

	tqt_must(tq_submit(w->other, &spec, NULL), "submit by another");
}

static void complete(struct tqt_world *w)
{
	tqt_must(tq_complete(w->worker, w->claims, NULL, 0), "complete by another");
}

static void cancel(struct tqt_world *w)
{
	tqt_must(tq_task_steer(w->other, w->ids[0], TQ_TASK_ACTION_CANCEL), "cancel by another");
}

static const struct scene scenes[] = {
	{ "claim", prepare_worker, block_claim, submit },
	{ "wait", prepare_claim, block_wait, complete },
	{ "stop", prepare_claim, block_stop, cancel },
};

/* A thread of its own: another TID, and nothing that the blocked one is in the middle of. */
static void *other(void *arg)
{
	struct run *run = arg;

	while (sem_wait(&run->go) < 0)
		;
	run->scene->other(&run->world);
	sem_post(&run->done);
	return NULL;
}

static void take_turns(struct run *run)
{
	run->acted = true;
	run->world.system.meanwhile = NULL;
	sem_post(&run->go);
	while (sem_wait(&run->done) < 0)
		;
}

static void act_in_sleep(void *arg)
{
	struct run *run = arg;

	tqt_step_pause(); /* no turn between the look and the turn */
	if (run->acted) /* inside the call that sleeps: as if the kernel had seen it */
		return;
	run->slept = true;
	take_turns(run);
}

static bool look(struct tqt_stepper *stepper)
{
	struct run *run = stepper->arg;

	if (run->acted)
		return false;
	if (tqi_mutex_owner(&tqi_segment_core(&run->world.seg)->lock))
		return true;
	if (run->free_steps++ != run->at)
		return true;
	take_turns(run);
	return false; /* the rest at full speed */
}

static void *one(void *arg)
{
	static const struct tqt_world_options options = { 0 };
	struct run *run = arg;
	struct tqt_world *w = &run->world;

	tqt_step_thread();
	tqt_world_open(w, &options);
	run->scene->prepare(w);
	const uint64_t before_ns = w->system.now_ns;

	w->system.meanwhile = act_in_sleep;
	w->system.arg = run;
	run->stepper = (struct tqt_stepper){ .look = look, .arg = run };
	tqt_step_begin(&run->stepper);
	int r = run->scene->block(w);

	tqt_step_end();
	if (!run->acted)
		take_turns(run); /* it did not block: r says why */
	run->failed = r < 0 || w->system.now_ns != before_ns;
	if (run->failed)
		printf("FAULT %s: another's part before free instruction %llu: %s, after %.1f s\n",
		       run->scene->name, (unsigned long long)run->at, tq_error_name(r),
		       (double)(w->system.now_ns - before_ns) / 1e9);
	return NULL;
}

/* Every n-th place from a first one on, and at last when the blocked one sleeps. */
static uint32_t sweep(const struct scene *scene, uint64_t first, uint64_t every, uint64_t *places)
{
	uint32_t faults = 0;
	bool slept = false;

	for (uint64_t at = first; !slept; at += every) {
		struct run run = { .scene = scene, .at = at };
		pthread_t thread, second;

		sem_init(&run.go, 0, 0);
		sem_init(&run.done, 0, 0);
		if (pthread_create(&thread, NULL, one, &run) ||
		    pthread_create(&second, NULL, other, &run))
			exit(1);
		pthread_join(thread, NULL);
		pthread_join(second, NULL);
		slept = run.slept;
		*places += 1;
		faults += run.failed;
		tqt_world_close(&run.world);
	}
	return faults;
}

int main(int argc, char **argv)
{
	uint64_t every = 1, seed = (uint64_t)time(NULL), places = 0;
	const char *only = NULL;
	uint32_t faults = 0;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--every") == 0 && i + 1 < argc)
			every = strtoull(argv[++i], NULL, 0);
		else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
			seed = strtoull(argv[++i], NULL, 0);
		else
			only = argv[i];
	}
	tqt_step_install();
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++)
		if (!only || strcmp(only, scenes[i].name) == 0)
			faults += sweep(&scenes[i], seed % every, every, &places);
	printf("between: --every %llu --seed %llu, %llu places, %u faults\n",
	       (unsigned long long)every, (unsigned long long)seed, (unsigned long long)places,
	       faults);
	return faults || !places;
}
