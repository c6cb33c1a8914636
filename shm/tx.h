/* SPDX-License-Identifier: MIT */
/*
 * Transactions: every change of the segment, under the lock, with an undo journal.
 *
 * TQI_SET saves the old value in the journal, then stores; those of shm/batch.h save the old
 * values of several fields, then store to all of them.  Commit sets the journal's length to 0.
 * A process that dies in between leaves the journal; the next owner of the lock rolls it
 * back, newest first.
 *
 * TX-1  An entry is complete before it counts, and counts before its store.
 * TX-2  Rolling back is idempotent: a rescuer may die and be rescued.
 * TX-3  TQI_INIT stores without an entry, into memory that no committed state
 *     refers to: there is nothing to restore.
 * TX-4  Words of struct tqi_word32/64 are never journalled; TQI_SET does not
 *     compile on them.
 * TX-5  A reference read from the segment is used only through the checked
 *     resolvers below.  One that is out of range resolves to the scratch record
 *     and marks the transaction corrupt: it is then rolled back as a whole.
 * TX-6  Records and blocks that a transaction frees are noted, and become free at
 *     its commit: nobody writes over them (TX-3) while a rollback may need them.
 * TX-8  A repair is plain: what it stores stays, what it frees is free at once, and it
 *     notes no wake and no sample.  It would be over every maximum, and is not undone but
 *     begun again; the journal's length says so meanwhile (TQI_UNDO_OFF).
 * Which journals are believed: TX-7 in shm/undo.h.
 */
#ifndef TQI_SHM_TX_H
#define TQI_SHM_TX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "shm/histogram.h"
#include "shm/layout.h"
#include "shm/overlay.h"
#include "shm/plant.h"
#include "shm/segment.h"
#include "shm/undo.h"

#define TQI_WAKES_MAX 160 /* slots one hold may wake: 64 tasks, their waiters, keepers */
#define TQI_GIVES_MAX 256 /* records and blocks one transaction may free */
#define TQI_GIVE_BLOCK UINT32_MAX /* in place of a table */
#define TQI_SAMPLES_MAX 192 /* 64 tasks that start, end an attempt, and end; others are left out */

/* A record or block to be freed at the commit. */
struct tqi_give {
	uint32_t table;
	uint32_t what;
	void *record; /* that it has been resolved to; NULL a block */
};

/* A duration to be counted after the commit. */
struct tqi_sample {
	struct tqi_histogram *into;
	uint64_t ns;
};

/*
 * The record of each table that was resolved last.  Records never move, so this
 * outlives a transaction; one that is aborted may have taken back a directory entry,
 * and a repair may have mended one: then all is forgotten.  Private to a handle,
 * used under the lock.
 */
struct tqi_seen {
	uint64_t mended; /* core->mended when it was last looked at; 0 never */
	struct {
		uint64_t index; /* UINT64_MAX none */
		void *record;
	} of[TQI_TABLES_MAX];
};

struct tqi_tx {
	const struct tqi_segment *seg;
	unsigned char *base;
	struct tqi_core *core;
	struct tqi_undo *journal;
	uint64_t now_ns;     /* read under the lock, never before an earlier one's */
	uint64_t wall_ns; /* read likewise when anything waits for the wall clock; 0 not read */
	union {		  /* copy of core->undo; before the first entry only its mark */
		uint64_t undo;
		uint16_t undo_count;
	};
	void *root;		  /* the schema's */
	struct tqi_seen *seen;
	uint64_t ring_first; /* the ring's head when it was attached */
	/* All 0 as a transaction begins, ... */
	uint32_t wake_count;
	uint32_t give_count;
	uint32_t sample_count;
	uint32_t ring_count; /* entries that it has written (shm/ring.h), */
	uint32_t ring_slot;  /* and where the last one is */
	bool corrupt; /* see TX-5 */
	bool lacked;  /* a block could not be had: the caller did without, or gave up */
	bool pass_on; /* the scheduler's: what waited may have become startable */
	uint8_t spares;		  /* enum tqi_spares: what it leaves of the last memory (shm/span.h) */
	struct tqi_word32 *nudge; /* bumped and woken before the commit; NULL none */
	pthread_mutex_t *taken;	  /* locked in this transaction: unlocked if it is aborted */
	pthread_mutex_t *release; /* unlocked after the commit, before the lock; NULL none */
	/* ... up to here. */
	uint32_t wakes[TQI_WAKES_MAX]; /* wait slots to wake before the commit */
	struct tqi_give gives[TQI_GIVES_MAX];
	struct tqi_sample samples[TQI_SAMPLES_MAX];
	struct tqi_seen own; /* of a transaction that belongs to no handle */
};

#define TQI_TX_BEGUN offsetof(struct tqi_tx, wake_count)
#define TQI_TX_BEGUN_BYTES (offsetof(struct tqi_tx, wakes) - TQI_TX_BEGUN)

/*
 * A body that is compiled twice: an inline function with a parameter `rare` that is a
 * constant where it is called.  Where it is false, no question about rare things is left.
 */
#define TQI_TWICE static inline __attribute__((always_inline))

/* Forget all records. */
void tqi_seen_clear(struct tqi_seen *seen);

/* Transactions over this segment; `seen` belongs to the handle. */
static inline void tqi_tx_attach(struct tqi_tx *tx, const struct tqi_segment *seg,
				 struct tqi_seen *seen)
{
	tx->seg = seg;
	tx->base = seg->base;
	tx->core = tqi_segment_core(seg);
	tx->journal = tqi_segment_journal(seg);
	tx->root = tqi_segment_root(seg);
	tx->seen = seen;
	if (__builtin_expect(seen->mended != tx->core->mended, 0)) {
		tqi_seen_clear(seen);
		seen->mended = tx->core->mended;
	}
	tx->corrupt = false;
	tx->wall_ns = 0;
	tx->ring_first = tx->core->ring_head;
}
/* The same without a handle; as it is, to look at a segment that nobody changes meanwhile. */
void tqi_tx_view(struct tqi_tx *tx, const struct tqi_segment *seg);

/* Once attached, any number of times one after the other. */
void tqi_tx_begin(struct tqi_tx *tx, uint64_t now_ns);
/* The same, for a hold's first one. */
static inline void tqi_tx_begin_first(struct tqi_tx *tx, uint64_t now_ns)
{
	struct tqi_core *core = tx->core;

	memset((unsigned char *)tx + TQI_TX_BEGUN, 0, TQI_TX_BEGUN_BYTES);
	/*
	 * Odd: observers that see it, before or after copying, know that they may
	 * have copied a change half-way.
	 */
	const uint64_t version = tqi_load_relaxed64(&core->version) + 1;

	tqi_store_relaxed64(&core->version, version);
	tqi_publish_barrier();
	tx->undo = tqi_undo_mark(version);
	tx->now_ns = now_ns > core->last_now_ns ? now_ns : core->last_now_ns;
	if (tx->now_ns != core->last_now_ns)
		*(volatile uint64_t *)&core->last_now_ns =
			tx->now_ns; /* only grows: needs no undo */
}

/*
 * What was freed becomes free, wake words are bumped and woken, then the change
 * becomes real.  Should freeing meet damage, it is aborted, and tx->corrupt says so.
 */
void tqi_tx_commit(struct tqi_tx *tx);

/* Whether it is plain (TX-8): no journal is as long. */
static inline bool tqi_tx_is_plain(const struct tqi_tx *tx)
{
	return tx->undo_count == UINT16_MAX;
}
/* From here on it is; journalled again, with nothing noted. */
void tqi_tx_plain_begin(struct tqi_tx *tx);
void tqi_tx_plain_end(struct tqi_tx *tx);

/* Undo everything since the last commit. */
void tqi_tx_abort(struct tqi_tx *tx);

/* Undo what a dead owner left; part of taking the lock.  0, or TQ_ECORRUPT: the journal is
 * damaged, and nothing was undone (TX-7). */
int tqi_tx_rollback(const struct tqi_segment *seg);
/* Give up a journal that is damaged; only to make everything anew. */
void tqi_tx_forget(const struct tqi_segment *seg);

/* Note that a record (or TQI_GIVE_BLOCK: a block) is to be freed at the commit. */
void tqi_tx_give_full(struct tqi_tx *tx, const struct tqi_give *give);
void tqi_tx_give_now(struct tqi_tx *tx); /* a planted fault: before it */
static inline void tqi_tx_give(struct tqi_tx *tx, uint32_t table, uint32_t what, void *record)
{
	const struct tqi_give give = { table, what, record };

	if (__builtin_expect(tx->give_count == TQI_GIVES_MAX, 0)) {
		tqi_tx_give_full(tx, &give);
		return;
	}
	tx->gives[tx->give_count++] = give;
	if (TQI_PLANTED(early_give))
		tqi_tx_give_now(tx);
}

/* Note a sample for a histogram in a record that was resolved; it is added at the commit. */
static inline void tqi_tx_sample(struct tqi_tx *tx, struct tqi_histogram *into, uint64_t ns)
{
	if (tx->sample_count < TQI_SAMPLES_MAX)
		tx->samples[tx->sample_count++] = (struct tqi_sample){ into, ns };
}

/* Note that a wait slot is to be woken; duplicates are merged. */
void tqi_tx_wake(struct tqi_tx *tx, uint32_t waiter);

/* TX-1: so many more entries are complete, and count; the stores come after. */
static inline void tqi_undo_count(struct tqi_tx *tx, uint32_t more)
{
	tqi_compiler_barrier();
	tx->undo += more * TQI_UNDO_ONE;
	*(volatile uint64_t *)&tx->core->undo = tx->undo;
	tqi_compiler_barrier();
}

/*
 * False when there is no room: the operation is over its declared maximum, and the transaction
 * corrupt; or it is plain, and the store may be made nevertheless.
 */
static inline bool tqi_undo_push(struct tqi_tx *tx, uint64_t where, uint64_t old)
{
	uint32_t n = tx->undo_count;

	if (__builtin_expect(n >= TQI_JOURNAL_MAX, 0)) {
		if (!tqi_tx_is_plain(tx))
			tx->corrupt = true;
		return false;
	}
	volatile struct tqi_undo *u = &tx->journal[n];

	if (TQI_PLANTED(early_count))
		*(volatile uint64_t *)&tx->core->undo = tx->undo + TQI_UNDO_ONE;
	u->where = where;
	u->old = old;
	tqi_undo_count(tx, 1);
	return true;
}

static inline uint64_t tqi_offset(const struct tqi_tx *tx, const void *p)
{
	return (uint64_t)((const unsigned char *)p - tx->base);
}

static inline void tqi_set8(struct tqi_tx *tx, uint8_t *p, uint8_t v)
{
	if (tqi_undo_push(tx, tqi_offset(tx, p) << 8 | TQI_UNDO_8, *p))
		*(volatile uint8_t *)p = v;
	else if (tqi_tx_is_plain(tx))
		*p = v;
}

static inline void tqi_set16(struct tqi_tx *tx, uint16_t *p, uint16_t v)
{
	if (tqi_undo_push(tx, tqi_offset(tx, p) << 8 | TQI_UNDO_16, *p))
		*(volatile uint16_t *)p = v;
	else if (tqi_tx_is_plain(tx))
		*p = v;
}

static inline void tqi_set32(struct tqi_tx *tx, uint32_t *p, uint32_t v)
{
	const uint32_t old = *p;

	if (TQI_PLANTED(late_entry))
		*(volatile uint32_t *)p = v;
	if (!tqi_undo_push(tx, tqi_offset(tx, p) << 8 | TQI_UNDO_32, old)) {
		if (tqi_tx_is_plain(tx))
			*p = v;
	} else {
		*(volatile uint32_t *)p = v;
	}
}

static inline void tqi_set64(struct tqi_tx *tx, uint64_t *p, uint64_t v)
{
	if (tqi_undo_push(tx, tqi_offset(tx, p) << 8 | TQI_UNDO_64, *p))
		*(volatile uint64_t *)p = v;
	else if (tqi_tx_is_plain(tx))
		*p = v;
}

static inline void tqi_set_s32(struct tqi_tx *tx, int32_t *p, int32_t v)
{
	tqi_set32(tx, (uint32_t *)p, (uint32_t)v);
}

static inline void tqi_set_s64(struct tqi_tx *tx, int64_t *p, int64_t v)
{
	tqi_set64(tx, (uint64_t *)p, (uint64_t)v);
}

/* Journalled store; picks the width from the field. */
#define TQI_SET(tx, field, value)                                                                  \
	_Generic((field), uint8_t                                                                  \
		 : tqi_set8, uint16_t                                                              \
		 : tqi_set16, uint32_t                                                             \
		 : tqi_set32, uint64_t                                                             \
		 : tqi_set64, int32_t                                                              \
		 : tqi_set_s32, int64_t                                                            \
		 : tqi_set_s64)((tx), &(field), (value))

/* Journalled increment (or, with a negative amount, decrement). */
#define TQI_ADD(tx, field, amount)                                                                 \
	TQI_SET(tx, field, (__typeof__(field))((field) + (__typeof__(field))(amount)))

/* Plain store into memory that nothing committed refers to (TX-3). */
#define TQI_INIT(field, value) ((field) = (value))

/* Journal some words that are about to be overwritten; false: they must not be. */
static inline bool tqi_save64(struct tqi_tx *tx, const void *p, uint32_t count)
{
	const uint64_t *word = p;
	bool ok = true;

	for (uint32_t i = 0; i < count && ok; i++)
		ok = tqi_undo_push(tx, tqi_offset(tx, word + i) << 8 | TQI_UNDO_64, word[i]);
	return ok || tqi_tx_is_plain(tx);
}

/*
 * Whether a slice should stop here and go on after the next commit.  What is left
 * (two thirds of the journal, of the wakes, of the gives) is enough for any one step:
 * the largest, a death that ends a task with 32 waiters and sends 16 idle workers
 * home, takes about 550 entries and 90 wakes.  A give costs up to 8 at the commit.
 */
static inline bool tqi_tx_is_filling(const struct tqi_tx *tx)
{
	return tx->undo_count + 8 * tx->give_count >= TQI_JOURNAL_MAX / 3 ||
	       tx->wake_count >= TQI_WAKES_MAX / 3 || tx->give_count >= TQI_GIVES_MAX / 3;
}

/* The scratch record; marks the transaction corrupt. */
void *tqi_tx_scratch(struct tqi_tx *tx);

static inline bool tqi_unit_is_there(const struct tqi_tx *tx, uint64_t offset)
{
	return __builtin_expect(
		offset >= tx->seg->geometry.fixed_bytes && offset < tx->seg->geometry.max_bytes, 1);
}

/* A block by its reference (units of 64 bytes). */
static inline void *tqi_unit(struct tqi_tx *tx, uint32_t ref)
{
	uint64_t offset = (uint64_t)ref << TQI_UNIT_SHIFT;

	return tqi_unit_is_there(tx, offset) ? tx->base + offset
					     : tqi_overlay_block(tx, offset, 0, 0);
}

/* What lies in a block from `at` on, of which the caller looks at so many bytes. */
static inline void *tqi_unit_part(struct tqi_tx *tx, uint32_t ref, uint64_t at, uint64_t bytes)
{
	uint64_t offset = (uint64_t)ref << TQI_UNIT_SHIFT;

	return tqi_unit_is_there(tx, offset) ? tx->base + offset + at
					     : tqi_overlay_block(tx, offset, at, bytes);
}

#include "shm/batch.h"

#endif
