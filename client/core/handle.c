/* SPDX-License-Identifier: MIT */
/* Identity of process and threads; name cache. */
#include "client/core/handle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "client/core/wipe.h"

_Static_assert(TQI_QUEUES_MAX <= UINT16_MAX && TQI_KINDS_MAX <= UINT16_MAX, "in a place of names");

static void read_thread(uint32_t pid, struct tqi_thread *thread)
{
	char path[64], state;

	thread->pid = pid;
	thread->tid = (uint32_t)syscall(SYS_gettid);
	snprintf(path, sizeof(path), "/proc/self/task/%u/stat", thread->tid);
	if (tqi_proc_stat(path, &thread->start, &state) < 0)
		thread->start = 0;
}

__thread struct tqi_last tqi_last;

void tqi_self_free(void *self)
{
	if (tqi_last.self == self)
		tqi_last = (struct tqi_last){ .tq = NULL };
	free(self);
}

static struct tqi_self *self_new(struct tq *tq)
{
	struct tqi_self *self = calloc(1, sizeof(*self));

	if (self && pthread_setspecific(tq->thread_key, self) == 0)
		return self;
	free(self);
	return NULL;
}

/* In a child what the parent's threads knew is stale. */
struct tqi_self *tqi_self_find(struct tq *tq)
{
	uint32_t pid = tqi_pid_self(tq);
	struct tqi_self *self = pthread_getspecific(tq->thread_key);

	if (!self)
		self = self_new(tq);
	if (!self)
		return NULL;
	if (self->thread.pid != pid) {
		read_thread(pid, &self->thread);
		self->orphan = 0; /* a parent's slot is the parent's, and so are its claims */
		self->work.id = 0;
	}
	tqi_last = (struct tqi_last){ tq, tq->opened_ns, self };
	return self;
}

struct tqi_ident tqi_ident_self(struct tq *tq)
{
	const struct tqi_self *self = tqi_self(tq);

	return (struct tqi_ident){ .pid = tqi_pid_self(tq),
				   .tid = self ? self->thread.tid : 0,
				   .start = tqi_wipe_start(tq->wipe) };
}

uint64_t tqi_now(const struct tq *tq)
{
	return tq->seg.ops->now(tq->seg.ops->ctx);
}

uint64_t tqi_wall(const struct tq *tq)
{
	return tq->seg.ops->wall(tq->seg.ops->ctx);
}

uint64_t tqi_deadline(const struct tq *tq, uint64_t timeout_ns)
{
	uint64_t now = tqi_now(tq);

	return now + timeout_ns < now ? UINT64_MAX : now + timeout_ns;
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 32) * 0x9e3779b97f4a7c15ull; /* a permutation */
	return x ^ x >> 32;
}

/* The last one to eight bytes, at the end of the others or alone. */
static uint64_t last_word(const char *name, size_t n)
{
	uint64_t word = 0;
	uint32_t first, last;

	if (n >= 8) {
		memcpy(&word, name + n - 8, sizeof(word));
	} else if (n >= 4) {
		memcpy(&first, name, sizeof(first));
		memcpy(&last, name + n - 4, sizeof(last));
		word = first | (uint64_t)last << 32;
	} else {
		for (size_t i = 0; i < n; i++)
			word = word << 8 | (unsigned char)name[i];
	}
	return word;
}

/* Its low bits choose the place, all but these tell names there apart. */
static uint64_t hash_of(uint32_t table, const char *name)
{
	size_t n = strlen(name);
	uint64_t hash = n << 8 | table, word;

	for (size_t at = 0; at + 8 < n; at += sizeof(word)) {
		memcpy(&word, name + at, sizeof(word));
		hash = mix(hash ^ word);
	}
	return mix(hash ^ last_word(name, n));
}

/* A text that has had another name is not believed any more. */
static void add_text(struct tqi_names *names, uint32_t table, const char *name, uint32_t index)
{
	uint64_t word;
	struct tqi_word64 *place = tqi_names_text(names, table, name, &word);
	const uint64_t record = tqi_load_relaxed64(place) ^ word;
	const bool is_other = record <= UINT16_MAX && record != index;

	tqi_store_relaxed64(place, is_other ? word : word | index);
}

uint32_t tqi_names_search(struct tqi_names *names, uint32_t table, const char *name)
{
	uint64_t hash = hash_of(table, name);
	uint64_t found = tqi_load_relaxed64(&names->places[hash % TQI_NAMES_CACHED]);

	if ((found ^ hash) > UINT16_MAX || !(uint16_t)found)
		return 0;
	add_text(names, table, name, (uint16_t)found);
	return (uint16_t)found;
}

void tqi_names_add(struct tqi_names *names, uint32_t table, const char *name, uint32_t index)
{
	uint64_t hash = hash_of(table, name);

	tqi_store_relaxed64(&names->places[hash % TQI_NAMES_CACHED],
			    (hash & ~(uint64_t)UINT16_MAX) | index);
	add_text(names, table, name, index);
}
