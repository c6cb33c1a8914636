/* SPDX-License-Identifier: MIT */
/*
 * Begin, commit and rollback.
 *
 * Entries of plain fields hold offset and width.  Two sorts belong to heaps,
 * whose position array is derived and not journalled: restoring them rewrites the
 * positions (shm/heap.h).
 */
#include "shm/tx.h"

#include <string.h>

#include "shm/heap.h"
#include "shm/pool.h"
#include "shm/table.h"
#include "shm/wait.h"
#include "taskq/error.h"

void tqi_seen_clear(struct tqi_seen *seen)
{
	for (uint32_t t = 0; t < TQI_TABLES_MAX; t++)
		seen->of[t].index = UINT64_MAX;
}

void tqi_tx_view(struct tqi_tx *tx, const struct tqi_segment *seg)
{
	tqi_seen_clear(&tx->own);
	tx->own.mended = tqi_segment_core(seg)->mended;
	tqi_tx_attach(tx, seg, &tx->own);
}

void tqi_tx_begin(struct tqi_tx *tx, uint64_t now_ns)
{
	tqi_tx_begin_first(tx, now_ns);
}

/* From here on the journal of this version only becomes shorter (RD-2). */
static void close_journal(struct tqi_core *core)
{
	tqi_store_release64(&core->closed, tqi_load_relaxed64(&core->version));
	tqi_compiler_barrier();
}

static void end(struct tqi_core *core)
{
	uint64_t version = tqi_load_relaxed64(&core->version);

	tqi_store_release64(&core->version, (version | 1) + 1);
}

static void free_now(struct tqi_tx *tx, const struct tqi_give *give)
{
	if (give->table == TQI_GIVE_BLOCK)
		tqi_block_free(tx, give->what);
	else
		tqi_table_free(tx, give->table, give->what, give->record);
}

/* TX-6. */
static void settle_gives(struct tqi_tx *tx)
{
	for (uint32_t i = 0; i < tx->give_count; i++)
		free_now(tx, &tx->gives[i]);
	tx->give_count = 0;
}

/* A word that strangers sleep on; it only grows, and says no more than "look". */
static void nudge(struct tqi_tx *tx)
{
	tqi_add_release32(tx->nudge, 1);
	tx->seg->ops->futex_wake(tx->seg->ops->ctx, tx->nudge, INT32_MAX);
	tx->nudge = NULL;
}

/* What is counted and shown only once it is so (shm/histogram.h, shm/ring.h). */
static void account(struct tqi_tx *tx)
{
	for (uint32_t i = 0; i < tx->sample_count; i++)
		tqi_histogram_add(tx->samples[i].into, tx->samples[i].ns);
	tx->sample_count = 0;
	if (tx->ring_count)
		tqi_store_release64(&tx->core->ring_shown, tx->core->ring_head);
	tx->ring_count = 0;
}

void tqi_tx_commit(struct tqi_tx *tx)
{
	if (TQI_PLANTED(early_commit))
		*(volatile uint64_t *)&tx->core->undo = 0;
	if (tx->give_count)
		settle_gives(tx);
	if (__builtin_expect(tx->corrupt, 0)) {
		tqi_tx_abort(tx);
		return;
	}
	/*
	 * Wake before the commit: so a commit implies its wakes.  A waker killed
	 * in between is rolled back and costs a spurious wake (docs/protocol.md).
	 */
	for (uint32_t i = 0; i < tx->wake_count && !TQI_PLANTED(late_wake); i++)
		tqi_waiter_wake_now(tx, tx->wakes[i]);
	if (tx->nudge)
		nudge(tx);
	close_journal(tx->core);
	*(volatile uint64_t *)&tx->core->undo = 0;
	tqi_compiler_barrier();
	for (uint32_t i = 0; i < tx->wake_count && TQI_PLANTED(late_wake); i++)
		tqi_waiter_wake_now(tx, tx->wakes[i]);
	tx->undo = 0;
	tx->wake_count = 0;
	account(tx);
	end(tx->core);
	if (tx->release)
		pthread_mutex_unlock(tx->release);
	tx->release = NULL;
	tx->taken = NULL;
}

/* The entry below a tag's holds the key, and with it the place of both. */
static void undo_tag(const struct tqi_segment *seg, const struct tqi_undo *u, uint32_t family)
{
	uint64_t offset = (u[-1].where >> 8) + sizeof(uint64_t);

	*(volatile uint64_t *)(seg->base + offset) = u->old;
	if (!TQI_PLANTED(no_place))
		tqi_heap_position_store(seg, family, (uint32_t)(u->old & TQI_INDEX_MASK),
					(uint32_t)(u->where >> 8));
}

static void undo_one(const struct tqi_segment *seg, const struct tqi_undo *u)
{
	uint32_t code = u->where & 0xff;
	void *p = seg->base + (u->where >> 8);

	if (code >= TQI_UNDO_LENGTH) {
		*(volatile uint32_t *)p = (uint32_t)u->old;
		tqi_heap_position_last(seg, code - TQI_UNDO_LENGTH, p);
	} else if (code >= TQI_UNDO_TAG) {
		undo_tag(seg, u, code - TQI_UNDO_TAG);
	} else if (code == TQI_UNDO_64) {
		*(volatile uint64_t *)p = u->old;
	} else if (code == TQI_UNDO_32) {
		*(volatile uint32_t *)p = (uint32_t)u->old;
	} else if (code == TQI_UNDO_16) {
		*(volatile uint16_t *)p = (uint16_t)u->old;
	} else {
		*(volatile uint8_t *)p = (uint8_t)u->old;
	}
}

/* The journal is sound. */
static void undo_all(const struct tqi_segment *seg)
{
	struct tqi_core *core = tqi_segment_core(seg);
	uint64_t undo = core->undo;

	tqi_store_relaxed64(&core->undone, tqi_load_relaxed64(&core->undone) + 1);
	close_journal(core);
	if (TQI_PLANTED(early_forget))
		*(volatile uint64_t *)&core->undo = 0;
	for (uint32_t n = core->undo_count; n > 0; n--) {
		undo_one(seg, &tqi_segment_journal(seg)[n - 1]);
		tqi_compiler_barrier();
		undo = n == 1 || TQI_PLANTED(early_forget) ? 0 : undo - TQI_UNDO_ONE;
		*(volatile uint64_t *)&core->undo = undo;
		tqi_compiler_barrier();
	}
	end(core);
}

int tqi_tx_rollback(const struct tqi_segment *seg)
{
	if (!tqi_undo_is_valid(seg))
		return TQ_ECORRUPT;
	undo_all(seg);
	return 0;
}

void tqi_tx_forget(const struct tqi_segment *seg)
{
	struct tqi_core *core = tqi_segment_core(seg);

	*(volatile uint64_t *)&core->undo = 0;
	tqi_compiler_barrier();
	end(core);
}

void tqi_tx_abort(struct tqi_tx *tx)
{
	undo_all(tx->seg);
	tqi_seen_clear(tx->seen);
	tx->undo = 0;
	tx->wake_count = 0;
	tx->give_count = 0;
	tx->sample_count = 0;
	tx->ring_count = 0;
	if (tx->taken)
		pthread_mutex_unlock(tx->taken);
	tx->taken = NULL;
	tx->release = NULL;
}

/*
 * All that it notes is full, so what it is about to note comes here, or is left out: nobody
 * else pays for the question.
 */
void tqi_tx_plain_begin(struct tqi_tx *tx)
{
	tx->undo = TQI_UNDO_OFF;
	*(volatile uint64_t *)&tx->core->undo = TQI_UNDO_OFF;
	tqi_compiler_barrier();
	memset(tx->wakes, 0, sizeof(tx->wakes));
	tx->wake_count = TQI_WAKES_MAX;
	tx->give_count = TQI_GIVES_MAX;
	tx->sample_count = TQI_SAMPLES_MAX;
}

void tqi_tx_plain_end(struct tqi_tx *tx)
{
	tx->undo = tqi_undo_mark(tqi_load_relaxed64(&tx->core->version));
	tx->wake_count = tx->give_count = tx->sample_count = 0;
	tqi_compiler_barrier();
	*(volatile uint64_t *)&tx->core->undo = 0;
	tqi_compiler_barrier();
}

struct tqi_undo *tqi_undo_none(struct tqi_tx *tx, uint32_t n)
{
	if (!tqi_tx_is_plain(tx)) {
		tx->corrupt = true;
		return NULL;
	}
	tx->undo = TQI_UNDO_OFF - (uint64_t)n * TQI_UNDO_ONE; /* and counted it is off again */
	return tx->journal;
}

void tqi_tx_give_now(struct tqi_tx *tx)
{
	settle_gives(tx);
}

void tqi_tx_give_full(struct tqi_tx *tx, const struct tqi_give *give)
{
	if (tqi_tx_is_plain(tx))
		free_now(tx, give);
	else
		tx->corrupt = true; /* an operation over its declared maximum */
}

void tqi_tx_wake(struct tqi_tx *tx, uint32_t waiter)
{
	for (uint32_t i = 0; i < tx->wake_count; i++)
		if (tx->wakes[i] == waiter)
			return;
	if (tx->wake_count == TQI_WAKES_MAX) {
		tx->corrupt |= !tqi_tx_is_plain(tx); /* it is over its declared maximum */
		return;
	}
	tx->wakes[tx->wake_count++] = waiter;
}

void *tqi_tx_scratch(struct tqi_tx *tx)
{
	tx->corrupt = true;
	return tx->base + tx->seg->geometry.scratch;
}
