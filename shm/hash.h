/* SPDX-License-Identifier: MIT */
/*
 * Hash indexes in the segment: from a 64-bit hash to the records of one table that
 * have it.  Linear hashing: an addition that finds as many records as buckets makes
 * one bucket more and moves what belongs there from one other, so no hold is long,
 * whatever the number of records.  Buckets are chains through the records; their
 * heads lie in an array (shm/array.h), the first one at its first place.  An index
 * never shrinks.
 *
 * The hash must be keyed with something that users cannot guess: who could choose
 * keys of one hash could make a chain long.
 */
#ifndef TQI_SHM_HASH_H
#define TQI_SHM_HASH_H

#include "shm/array.h"

#define TQI_HASH_SHIFT 2u /* 4 bytes a head */

/* What a record begins with that can stand in an index.  Journalled. */
struct tqi_hash_node {
	uint32_t link; /* the table's */
	uint32_t next; /* record in the same bucket; 0 the last */
	uint64_t hash;
};

/* Journalled. */
struct tqi_hash_index {
	uint32_t count;	    /* records in it */
	uint32_t buckets;   /* 0 none made yet */
	struct tqi_array heads;
};

/* Where the array ends. */
static inline uint32_t tqi_hash_end(const struct tqi_hash_index *index)
{
	return tqi_array_first(TQI_HASH_SHIFT) + index->buckets;
}

/* Hash of bytes, keyed. */
uint64_t tqi_hash_bytes(uint64_t key, const void *bytes, uint32_t count);

/* First record with this hash, and the next one after `record`; 0 none. */
uint32_t tqi_hash_first(struct tqi_tx *tx, const struct tqi_hash_index *index, uint32_t table,
			uint64_t hash);
uint32_t tqi_hash_next(struct tqi_tx *tx, const struct tqi_hash_index *index, uint32_t table,
		       uint32_t record);

/*
 * Enter a record.  -ENOMEM: nothing lost, call again after growth; never after a
 * removal in the same transaction.
 */
int tqi_hash_add(struct tqi_tx *tx, struct tqi_hash_index *index, uint32_t table, uint32_t record,
		 uint64_t hash);
/* Take a record out, which must be there. */
void tqi_hash_remove(struct tqi_tx *tx, struct tqi_hash_index *index, uint32_t table,
		     uint32_t record);

/* For checks: where a hash belongs, and a bucket's first record. */
uint32_t tqi_hash_bucket(const struct tqi_hash_index *index, uint64_t hash);
uint32_t tqi_hash_head(struct tqi_tx *tx, const struct tqi_hash_index *index, uint32_t bucket);

#endif
