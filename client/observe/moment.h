/* SPDX-License-Identifier: MIT */
/*
 * What a sequence of copies means that an observer makes while others write: a record, then
 * what it refers to.  It holds only if no transaction that touches them has ended between
 * the first copy and the last; tests/model/reader.pml is the model of it.
 *
 * RD-1  A copy is of one of two moments.  As things are: no transaction under way has
 *     changed it.  Or from before the transaction of one version, which is under way (its
 *     writer may be stopped, or dead): then every byte that is copied for the same purpose,
 *     a record's and a block's alike, is put back by that transaction's journal.
 * RD-2  Such a journal may be used when, before and after, it is the same transaction's, and
 *     either was not closed (it only gets longer, and each entry is older than its store) or
 *     was closed with as many entries (a commit drops all, a rollback one after its store).
 *     Closed and empty: memory is what this transaction leaves behind.
 * RD-3  What is copied once that is so is no copy from before it, although the version has
 *     not ended: then both are made again.
 * RD-4  A copy of things as they are holds as long as its owner is not touched.  A task's
 *     stamp says so: stored before the first change, never rolled back.  Other records are
 *     copied a second time, and are the same if no rollback has begun since the first.
 */
#ifndef TQI_CLIENT_OBSERVE_MOMENT_H
#define TQI_CLIENT_OBSERVE_MOMENT_H

#include "client/core/handle.h"

#define TQI_MOMENT_MIXED UINT64_MAX /* others were too quick: a copy may be of several moments */

struct tqi_moment {
	uint64_t inside; /* 0 as things are; else: from before this version's transaction */
	uint64_t undone; /* rollbacks begun before the copy */
	/* Version that the last transaction left which the copy has: of all with the same one RD-1
	 * holds together.  TQI_MOMENT_MIXED likewise. */
	uint64_t state;
};

/* Copy bytes of the segment; TQ_ECORRUPT when they are not there. */
int tqi_peek(const struct tqi_segment *seg, uint64_t offset, void *buf, uint64_t bytes);
/* The segment's version: odd while a transaction is under way. */
int tqi_peek_version(const struct tqi_segment *seg, uint64_t *ret_version);
/* Copy, and say of which moment it is. */
int tqi_peek_moment(const struct tqi_segment *seg, uint64_t offset, void *buf, uint64_t bytes,
		    struct tqi_moment *ret_moment);
/* Copy more, of the same moment; -EAGAIN it is over. */
int tqi_peek_again(const struct tqi_segment *seg, const struct tqi_moment *moment, uint64_t offset,
		   void *buf, uint64_t bytes);
/*
 * Whether what was copied since `first` holds: a record was copied again, with `last`, and
 * is the same.
 */
bool tqi_moment_holds(const struct tqi_segment *seg, const struct tqi_moment *first,
		      const struct tqi_moment *last);

#endif
