/* SPDX-License-Identifier: MIT */
/* A make-believe operating system. */
#include "tests/support/system.h"

#include <errno.h>
#include <stddef.h>

static uint64_t fake_now(void *ctx)
{
	return ((struct tqt_system *)ctx)->now_ns;
}

/* Others do their part, or the time comes.  A sleep without end and without others is a signal's. */
static int fake_wait(void *ctx, const struct tqi_futex *words, uint32_t count, uint64_t until_ns)
{
	struct tqt_system *system = ctx;
	void (*meanwhile)(void *) = system->meanwhile;

	for (uint32_t i = 0; i < count; i++)
		if (tqi_load_acquire32(words[i].word) != words[i].value)
			return 0;
	if (meanwhile) {
		system->meanwhile = NULL; /* once */
		meanwhile(system->arg);
		return 0;
	}
	if (until_ns == UINT64_MAX)
		return -EINTR;
	if (until_ns > system->now_ns)
		system->now_ns = until_ns;
	return -ETIMEDOUT;
}

static uint64_t fake_wall(void *ctx)
{
	const struct tqt_system *system = ctx;

	return system->now_ns + system->wall_offset_ns;
}

/* Others may set the clock meanwhile; then the time comes by it as it is now. */
static int fake_wait_wall(void *ctx, const struct tqi_futex *words, uint32_t count,
			  uint64_t until_ns)
{
	struct tqt_system *system = ctx;
	uint64_t now = fake_wall(ctx);
	int r = fake_wait(ctx, words, count,
			  until_ns > now ? system->now_ns + (until_ns - now) : system->now_ns);

	system->wall_waits++;
	return r == 0 && fake_wall(ctx) >= until_ns ? -ETIMEDOUT : r;
}

static void fake_wake(void *ctx, struct tqi_word32 *word, uint32_t count)
{
	struct tqt_system *system = ctx;

	(void)count;
	if (system->woken_count < TQT_WOKEN_MAX)
		system->woken[system->woken_count++] = word;
}

static bool fake_process_gone(void *ctx, const struct tqi_ident *who)
{
	const struct tqt_system *system = ctx;

	if (who->pid == 0 || who->pid == TQT_PID_DEAD)
		return true;
	if (system->dead_from == 0)
		return false;
	return who->pid == TQT_PID_VICTIM ||
	       (who->pid >= TQT_PID_RESCUER && who->pid < TQT_PID_RESCUER + system->dead_from);
}

static bool fake_thread_gone(void *ctx, uint32_t tid, uint64_t tid_start)
{
	(void)ctx, (void)tid, (void)tid_start;
	return false;
}

/* One processor: whoever holds a lock does so until the test lets it go on. */
static uint32_t fake_pauses(void *ctx, uint64_t ns)
{
	(void)ctx, (void)ns;
	return 0;
}

static bool fake_group_empty(void *ctx, uint32_t pgid, uint64_t start)
{
	(void)ctx, (void)pgid, (void)start;
	return true;
}

static bool fake_is_unlinked(void *ctx, int fd)
{
	(void)fd;
	return ((const struct tqt_system *)ctx)->is_unlinked;
}

void tqt_system_init(struct tqt_system *system, uint64_t now_ns)
{
	*system = (struct tqt_system){ .now_ns = now_ns, .wall_offset_ns = TQT_WALL_NS };
	system->ops = (struct tqi_ops){ .now = fake_now,
					.futex_wait = fake_wait,
					.wall = fake_wall,
					.futex_wait_wall = fake_wait_wall,
					.futex_wake = fake_wake,
					.process_gone = fake_process_gone,
					.thread_gone = fake_thread_gone,
					.group_empty = fake_group_empty,
					.is_unlinked = fake_is_unlinked,
					.pauses = fake_pauses,
					.ctx = system };
}
