/* SPDX-License-Identifier: MIT */
/* The floor. */
#include "bench_sketch.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOURNAL_MAX 256 /* entries: a heap of a million has ten levels, three words each */
#define CHILDREN 4
#define PRIORITY_SHIFT 40 /* of a key; below it is the order of submission */

enum task_state {
	TASK_FREE,
	TASK_READY,
	TASK_RUNNING
};

/* Four cache lines, as a task of ours has. */
struct sketch_task {
	uint32_t state;
	uint32_t place; /* in the heap */
	uint32_t next;	/* free one; 0 none */
	uint32_t generation;
	uint32_t attempts;
	uint32_t owner;
	uint64_t submitted_ns, started_ns;
	uint64_t reserved0[11];
	char payload[BENCH_PAYLOAD_BYTES];
	uint64_t reserved1[8];
};
_Static_assert(sizeof(struct sketch_task) == 256, "four cache lines");

struct entry {
	uint64_t key;
	uint64_t task;
};

struct sketch {
	pthread_mutex_t lock;
	uint32_t journal_count;
	struct {
		uint64_t offset; /* with the width in its lowest bits */
		uint64_t old;
	} journal[JOURNAL_MAX];
	_Alignas(64) uint64_t now_ns;
	uint64_t sequence;
	uint32_t waiting;
	uint32_t free; /* first free task; 0 none */
	uint32_t used; /* tasks that were in use ever */
	uint32_t tasks_max;
	uint64_t bytes;
	struct entry *heap; /* mapped at one address in all processes: they are forked */
	struct sketch_task *tasks;
};

static void barrier(void)
{
	__asm__ volatile("" : : : "memory");
}

static void note(struct sketch *s, const void *where, uint64_t old, uint32_t width)
{
	const uint32_t n = s->journal_count;

	s->journal[n].offset = (uint64_t)((const char *)where - (const char *)s) << 8 | width;
	s->journal[n].old = old;
	barrier();
	s->journal_count = n + 1;
	barrier();
}

#define SET(s, field, value)                                                                       \
	do {                                                                                       \
		note((s), &(field), (uint64_t)(field), sizeof(field));                             \
		(field) = (value);                                                                 \
	} while (0)

struct sketch *sketch_open(uint32_t tasks_max)
{
	const uint64_t heap = tasks_max * sizeof(struct entry);
	const uint64_t tasks = (tasks_max + 1ull) * sizeof(struct sketch_task);
	const uint64_t bytes = sizeof(struct sketch) + tasks + heap;
	struct sketch *s = bench_share(bytes);
	pthread_mutexattr_t attr;

	s->bytes = bytes;
	s->tasks_max = tasks_max;
	s->tasks = (struct sketch_task *)(void *)(s + 1);
	s->heap = (struct entry *)(void *)(s->tasks + tasks_max + 1);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&s->lock, &attr);
	return s;
}

void sketch_close(struct sketch *s)
{
	bench_unshare(s, s->bytes);
}

static void begin(struct sketch *s)
{
	while (pthread_mutex_trylock(&s->lock))
		__builtin_ia32_pause();
	s->now_ns = bench_now();
}

static void end(struct sketch *s)
{
	barrier();
	s->journal_count = 0;
	barrier();
	pthread_mutex_unlock(&s->lock);
}

static void put(struct sketch *s, uint32_t place, struct entry e)
{
	SET(s, s->heap[place].key, e.key);
	SET(s, s->heap[place].task, e.task);
	s->tasks[e.task].place = place; /* can be told from the heap: no entry, as with us */
}

static void sift_up(struct sketch *s, uint32_t place, struct entry e)
{
	while (place > 0 && e.key < s->heap[(place - 1) / CHILDREN].key) {
		put(s, place, s->heap[(place - 1) / CHILDREN]);
		place = (place - 1) / CHILDREN;
	}
	put(s, place, e);
}

static void sift_down(struct sketch *s, uint32_t place, struct entry e)
{
	for (uint32_t child; (child = CHILDREN * place + 1) < s->waiting;) {
		uint32_t least = child;

		for (uint32_t c = child + 1; c < child + CHILDREN && c < s->waiting; c++)
			if (s->heap[c].key < s->heap[least].key)
				least = c;
		if (s->heap[least].key >= e.key)
			break;
		put(s, place, s->heap[least]);
		place = least;
	}
	put(s, place, e);
}

static uint32_t take_task(struct sketch *s)
{
	const uint32_t task = s->free ? s->free : s->used + 1;

	if (s->free)
		SET(s, s->free, s->tasks[task].next);
	else
		SET(s, s->used, task);
	return task;
}

static void fill(struct sketch *s, uint32_t task, const char *payload)
{
	struct sketch_task *t = &s->tasks[task];

	SET(s, t->state, TASK_READY);
	t->attempts = 0;
	t->submitted_ns = s->now_ns;
	memcpy(t->payload, payload, BENCH_PAYLOAD_BYTES);
}

bool sketch_submit(struct sketch *s, int32_t priority, const char payload[BENCH_PAYLOAD_BYTES])
{
	begin(s);
	const bool room = s->free || s->used < s->tasks_max;

	if (room) {
		const uint32_t task = take_task(s), place = s->waiting;

		fill(s, task, payload);
		SET(s, s->sequence, s->sequence + 1);
		SET(s, s->waiting, place + 1);
		sift_up(s, place,
			(struct entry){
				((uint64_t)(BENCH_PRIORITIES - priority) << PRIORITY_SHIFT) +
					s->sequence,
				task });
	}
	end(s);
	return room;
}

/* Under the lock. */
static bool start(struct sketch *s, uint32_t *ret_task, char *ret_payload)
{
	if (s->waiting == 0)
		return false;
	const uint32_t task = (uint32_t)s->heap[0].task;
	struct sketch_task *t = &s->tasks[task];

	SET(s, s->waiting, s->waiting - 1);
	if (s->waiting > 0)
		sift_down(s, 0, s->heap[s->waiting]);
	SET(s, t->state, TASK_RUNNING);
	SET(s, t->owner, 1);
	SET(s, t->attempts, t->attempts + 1);
	SET(s, t->started_ns, s->now_ns);
	memcpy(ret_payload, t->payload, BENCH_PAYLOAD_BYTES);
	*ret_task = task;
	return true;
}

static void finish(struct sketch *s, uint32_t task)
{
	struct sketch_task *t = &s->tasks[task];

	SET(s, t->state, TASK_FREE);
	SET(s, t->generation, t->generation + 1);
	SET(s, t->next, s->free);
	SET(s, s->free, task);
}

bool sketch_claim(struct sketch *s, uint32_t *ret_task, char ret_payload[BENCH_PAYLOAD_BYTES])
{
	begin(s);
	const bool started = start(s, ret_task, ret_payload);

	end(s);
	return started;
}

void sketch_complete(struct sketch *s, uint32_t task)
{
	begin(s);
	finish(s, task);
	end(s);
}

bool sketch_next(struct sketch *s, uint32_t *task, char ret_payload[BENCH_PAYLOAD_BYTES])
{
	begin(s);
	finish(s, *task);
	s->journal_count = 0; /* the verdict stands, whatever comes of the claim */
	const bool started = start(s, task, ret_payload);

	end(s);
	return started;
}
