/* SPDX-License-Identifier: MIT */
/* Identity of process and threads; name cache. */
#include "client/core/handle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "client/core/wipe.h"

static void read_thread(uint32_t pid, struct tqi_thread *thread)
{
	char path[64], state;

	thread->pid = pid;
	thread->tid = (uint32_t)syscall(SYS_gettid);
	snprintf(path, sizeof(path), "/proc/self/task/%u/stat", thread->tid);
	if (tqi_proc_stat(path, &thread->start, &state) < 0)
		thread->start = 0;
}

/* In a child what the parent's threads knew is stale. */
struct tqi_self *tqi_self(struct tq *tq)
{
	uint32_t pid = tqi_pid_self(tq);
	struct tqi_self *self = pthread_getspecific(tq->thread_key);

	if (__builtin_expect(self != NULL && self->thread.pid == pid, 1))
		return self;
	if (!self) {
		self = calloc(1, sizeof(*self));
		if (!self || pthread_setspecific(tq->thread_key, self)) {
			free(self);
			return NULL;
		}
	}
	read_thread(pid, &self->thread);
	self->orphan = 0; /* a parent's slot is the parent's, and so are its claims */
	self->work.id = 0;
	return self;
}

uint32_t tqi_pid_self(struct tq *tq)
{
	return tqi_wipe_pid(tq->wipe);
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

bool tqi_name_is_valid(const char *name)
{
	size_t n =
		strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-");

	return n >= 1 && n <= TQ_NAME_MAX && name[n] == '\0';
}

uint32_t tqi_names_find(struct tqi_names *names, const char *name)
{
	uint32_t count = tqi_load_acquire32(&names->count);

	for (uint32_t i = 0; i < count; i++)
		if (strcmp(names->entries[i].name, name) == 0)
			return names->entries[i].index;
	return 0;
}

void tqi_names_add(struct tqi_names *names, const char *name, uint32_t index)
{
	if (pthread_mutex_trylock(&names->mutex)) /* a cache: never worth waiting for */
		return;
	uint32_t count = tqi_load_relaxed32(&names->count);

	if (count < TQI_NAMES_CACHED && !tqi_names_find(names, name)) {
		snprintf(names->entries[count].name, sizeof(names->entries[count].name), "%s",
			 name);
		names->entries[count].index = index;
		tqi_store_release32(&names->count, count + 1);
	}
	pthread_mutex_unlock(&names->mutex);
}
