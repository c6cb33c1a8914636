/* SPDX-License-Identifier: MIT */
/* Segments for tests. */
#include "tests/support/box.h"

#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shm/extent.h"
#include "shm/lock.h"
#include "taskq/error.h"

#define BYTES (64ull << 20)
#define START_NS 1000000000ull
#define RETENTION_NS 3600000000000ull /* 1 h */

static void init_root(struct tqi_segment *seg, void *arg)
{
	const struct tqt_box_options *o = arg;
	struct tqi_root *root = tqi_segment_root(seg);

	root->sequence = o->sequence ? o->sequence : 1;
	root->retention_ns = o->retention_ns ? o->retention_ns : RETENTION_NS;
	root->seed = 42;
}

static _Noreturn void give_up(const char *what, int r)
{
	fprintf(stderr, "%s: %s\n", what, strerror(-r));
	exit(1);
}

void tqt_box_open(struct tqt_box *box, const struct tqt_box_options *options)
{
	static unsigned number; /* several boxes in one program */
	struct tqt_box_options o = options ? *options : (struct tqt_box_options){ 0 };
	struct tqi_segment_config config = { .max_bytes = o.max_bytes ? o.max_bytes : BYTES,
					     .tasks_max = o.tasks_max,
					     .ring_entries = o.ring_entries ? o.ring_entries
									    : TQI_RING_LEAST,
					     .init = init_root,
					     .init_arg = &o };
	char path[TQI_PATH_MAX];

	snprintf(path, sizeof(path), "/dev/shm/taskq-box.%d.%u", (int)getpid(), number++);
	int r = tqi_segment_create(path, &tqi_schema, &config);

	if (r < 0)
		give_up(path, r);
	memset(box, 0, sizeof(*box));
	r = tqi_segment_attach(path, &tqi_schema, false, false, &box->seg);
	unlink(path);
	if (r < 0)
		give_up(path, r);
	tqt_system_init(&box->system, START_NS);
	box->seg.ops = &box->system.ops;
}

static void unlock_if_mine(pthread_mutex_t *mutex)
{
	if (tqi_mutex_owner(mutex) == (uint32_t)gettid())
		pthread_mutex_unlock(mutex);
}

/* This thread's robust list must not lead into memory that is gone. */
static void unlock_all(struct tqt_box *box)
{
	const struct tqi_table *tables = tqi_segment_core(&box->seg)->tables;

	for (uint32_t w = 1; w < tables[TQI_WAITERS].count; w++)
		unlock_if_mine(
			&((struct tqi_waiter *)tqi_table_peek(&box->seg, TQI_WAITERS, w))->mutex);
	for (uint32_t w = 1; w < tables[TQI_WORKERS].count; w++)
		unlock_if_mine(
			&((struct tqi_worker *)tqi_table_peek(&box->seg, TQI_WORKERS, w))->life);
}

void tqt_box_close(struct tqt_box *box)
{
	unlock_all(box);
	tqi_segment_detach(&box->seg);
}

void tqt_box_begin(struct tqt_box *box, struct tqi_tx *tx)
{
	tqi_tx_view(tx, &box->seg);
	tqi_tx_begin(tx, box->system.now_ns);
	tx->wall_ns = box->system.now_ns + box->system.wall_offset_ns;
}

static const struct tqi_ident self = { .pid = 1, .tid = 1, .start = 1 };

bool tqt_box_grow(struct tqt_box *box, uint32_t extents)
{
	struct tqi_tx tx;
	uint32_t first;

	tqt_box_begin(box, &tx);
	uint64_t token = tqi_extent_grow_begin(&tx, extents, &self, &first);

	if (!token) {
		tqi_tx_abort(&tx);
		return false;
	}
	tqi_tx_commit(&tx);
	int r = tqi_extent_reserve(&box->seg, first, extents);

	tqt_box_begin(box, &tx);
	tqi_extent_grow_end(&tx, token, r == 0);
	tqi_tx_commit(&tx);
	return r == 0;
}

bool tqt_box_punch(struct tqt_box *box)
{
	struct tqi_tx tx;
	uint32_t extent;

	tqt_box_begin(box, &tx);
	uint64_t token = tqi_extent_punch_begin(&tx, &self, &extent);

	tqi_tx_commit(&tx);
	if (!token)
		return false;
	if (tqi_extent_punch(&box->seg, extent) < 0)
		return false;
	tqt_box_begin(box, &tx);
	tqi_extent_punch_end(&tx, token);
	tqi_tx_commit(&tx);
	return true;
}

/*
 * Unlocking takes it off this thread's robust list; then the word gets what the
 * kernel would have written.
 */
void tqt_mutex_die(pthread_mutex_t *mutex)
{
	pthread_mutex_unlock(mutex);
	*(volatile uint32_t *)(void *)mutex = FUTEX_OWNER_DIED;
}

uint64_t tqt_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15ull; /* splitmix64 */

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

uint32_t tqt_below(uint64_t *state, uint32_t n)
{
	return (uint32_t)(((tqt_random(state) >> 32) * n) >> 32);
}
