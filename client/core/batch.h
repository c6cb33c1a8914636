/* SPDX-License-Identifier: MIT */
/*
 * Operations of one sort in one hold, several under one transaction.
 *
 * BA-1  Up to TQI_BATCH_SHARED share a transaction, and fewer if it is filling
 *     (tqi_tx_is_filling()): what is left of it is enough for any one of them.  So a crash
 *     leaves the first so many of a batch, each whole, and nothing of the others.
 * BA-2  When one fails, those before it that are not committed are undone with it.  They are
 *     made again, each in a transaction of its own, and so are all that follow: the one that
 *     fails then has nothing to take along.
 * BA-3  An operation may commit on its way (tqi_step()), and so those before it.
 */
#ifndef TQI_CLIENT_CORE_BATCH_H
#define TQI_CLIENT_CORE_BATCH_H

#include "client/core/handle.h"
#include "scheduler/worker/step.h"

/*
 * Seven eighths of what there is to save, and what they note in the journal is 4 KiB at most,
 * whose cache lines go from processor to processor with the lock.
 */
#define TQI_BATCH_SHARED 8

/* One hold's; lives on its stack. */
struct tqi_batch {
	uint32_t kept;	  /* operations before this one are committed */
	bool alone;	  /* each in a transaction of its own (BA-2) */
	uint64_t version; /* of the transaction that holds those from `kept` on */
};

static inline uint64_t tqi_batch_version(const struct tqi_tx *tx)
{
	return tqi_load_relaxed64(&tx->core->version);
}

/* With nothing in the transaction that could not be committed. */
static inline struct tqi_batch tqi_batch_begin(const struct tqi_tx *tx)
{
	return (struct tqi_batch){ .version = tqi_batch_version(tx) };
}

/* Before operation `n`, which is to be alone, as all that follow. */
static inline void tqi_batch_part(struct tqi_batch *b, struct tqi_tx *tx, uint32_t n)
{
	if (!b->alone)
		tqi_step(tx);
	*b = (struct tqi_batch){ n, true, tqi_batch_version(tx) };
}

/* Operation `n` has been tried, whatever came of it (BA-3). */
static inline void tqi_batch_tried(struct tqi_batch *b, const struct tqi_tx *tx, uint32_t n)
{
	if (tqi_batch_version(tx) != b->version)
		*b = (struct tqi_batch){ n, b->alone, tqi_batch_version(tx) };
}

/* Operation `n` was made, and stays: returns the next one. */
static inline uint32_t tqi_batch_made(struct tqi_batch *b, struct tqi_tx *tx, uint32_t n)
{
	if (!b->alone && n + 1 - b->kept < TQI_BATCH_SHARED && !tqi_tx_is_filling(tx))
		return n + 1;
	tqi_step(tx);
	if (!tx->corrupt)
		*b = (struct tqi_batch){ n + 1, b->alone, tqi_batch_version(tx) };
	return n + 1;
}

/* One of several failed: returns with which to go on (BA-2). */
static inline uint32_t tqi_batch_again(struct tqi_batch *b, struct tqi_tx *tx)
{
	tqi_tx_abort(tx);
	tqi_tx_begin(tx, tx->now_ns);
	*b = (struct tqi_batch){ b->kept, true, tqi_batch_version(tx) };
	return b->kept;
}

#endif
