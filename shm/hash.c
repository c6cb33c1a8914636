/* SPDX-License-Identifier: MIT */
/* Linear hashing: one split an addition. */
#include "shm/hash.h"

#include <errno.h>
#include <string.h>

#include "shm/pool.h"
#include "shm/table.h"

#define FIRST_BUCKETS 16u /* the array's first chunk: 64 bytes */

static uint64_t mix(uint64_t x)
{
	x ^= x >> 32; /* a permutation: each bit of x moves about half of the result's */
	x *= 0xd6e8feb86659fd93ull;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	return x ^ x >> 32;
}

uint64_t tqi_hash_bytes(uint64_t key, const void *bytes, uint32_t count)
{
	uint64_t hash = mix(key ^ count);

	for (uint32_t at = 0; at < count; at += 8) {
		uint32_t n = count - at < 8 ? count - at : 8;
		uint64_t word = 0;

		memcpy(&word, (const unsigned char *)bytes + at, n);
		hash = mix(hash ^ word) + key;
	}
	return mix(hash);
}

static uint32_t *bucket_at(struct tqi_tx *tx, const struct tqi_hash_index *index, uint32_t bucket)
{
	return tqi_array_at(tx, &index->heads, TQI_HASH_SHIFT,
			    bucket + tqi_array_first(TQI_HASH_SHIFT), sizeof(uint32_t));
}

/* The bits of a hash that an index of so many buckets may look at. */
static uint32_t mask_of(uint32_t buckets)
{
	return buckets > 1 ? UINT32_MAX >> __builtin_clz(buckets - 1) : 0;
}

uint32_t tqi_hash_bucket(const struct tqi_hash_index *index, uint64_t hash)
{
	uint32_t mask = mask_of(index->buckets), bucket = (uint32_t)hash & mask;

	return bucket < index->buckets ? bucket : bucket & mask >> 1;
}

uint32_t tqi_hash_head(struct tqi_tx *tx, const struct tqi_hash_index *index, uint32_t bucket)
{
	return *bucket_at(tx, index, bucket);
}

/* From `record` on; a chain longer than the index is damage. */
static uint32_t seek(struct tqi_tx *tx, const struct tqi_hash_index *index, uint32_t table,
		     uint64_t hash, uint32_t record)
{
	uint32_t steps = 0;

	while (record && !tx->corrupt) {
		const struct tqi_hash_node *node = tqi_table_at(tx, table, record);

		if (node->hash == hash)
			return record;
		if (++steps > index->count)
			tx->corrupt = true;
		record = node->next;
	}
	return 0;
}

uint32_t tqi_hash_first(struct tqi_tx *tx, const struct tqi_hash_index *index, uint32_t table,
			uint64_t hash)
{
	if (!index->count)
		return 0;
	return seek(tx, index, table, hash, tqi_hash_head(tx, index, tqi_hash_bucket(index, hash)));
}

uint32_t tqi_hash_next(struct tqi_tx *tx, const struct tqi_hash_index *index, uint32_t table,
		       uint32_t record)
{
	const struct tqi_hash_node *node = tqi_table_at(tx, table, record);
	const uint32_t next = seek(tx, index, table, node->hash, node->next);

	if (next == record && next) /* the chain leads back to it */
		tx->corrupt = true;
	return tx->corrupt ? 0 : next;
}

/* Memory for one bucket more; false: there is none. */
static bool reserve(struct tqi_tx *tx, struct tqi_hash_index *index)
{
	const uint32_t end = tqi_hash_end(index);

	return tqi_array_has(TQI_HASH_SHIFT, end) ||
	       tqi_array_grow(tx, &index->heads, TQI_HASH_SHIFT, end);
}

/* Both chains keep their order; only links that change are written. */
static void split(struct tqi_tx *tx, struct tqi_hash_index *index, uint32_t table, uint32_t bucket)
{
	uint32_t mask = mask_of(bucket + 1), steps = 0;
	uint32_t *stay = bucket_at(tx, index, bucket & mask >> 1);
	uint32_t *move = bucket_at(tx, index, bucket), next = *stay;

	TQI_SET(tx, *move, 0u);
	for (uint32_t record = next; record && !tx->corrupt; record = next) {
		struct tqi_hash_node *node = tqi_table_at(tx, table, record);
		uint32_t **end = ((uint32_t)node->hash & mask) == bucket ? &move : &stay;

		next = node->next;
		if (**end != record)
			TQI_SET(tx, **end, record);
		*end = &node->next;
		if (++steps > index->count)
			tx->corrupt = true;
	}
	if (*stay)
		TQI_SET(tx, *stay, 0u);
	if (*move)
		TQI_SET(tx, *move, 0u);
}

static int grow(struct tqi_tx *tx, struct tqi_hash_index *index, uint32_t table)
{
	uint32_t buckets = index->buckets;

	if (!reserve(tx, index))
		return -ENOMEM;
	if (buckets) {
		split(tx, index, table, buckets);
		TQI_SET(tx, index->buckets, buckets + 1);
		return 0;
	}
	for (uint32_t i = 0; i < FIRST_BUCKETS; i++)
		TQI_SET(tx, *bucket_at(tx, index, i), 0u);
	TQI_SET(tx, index->buckets, FIRST_BUCKETS);
	return 0;
}

int tqi_hash_add(struct tqi_tx *tx, struct tqi_hash_index *index, uint32_t table, uint32_t record,
		 uint64_t hash)
{
	if (index->count >= index->buckets && grow(tx, index, table) < 0)
		return -ENOMEM;
	struct tqi_hash_node *node = tqi_table_at(tx, table, record);
	uint32_t *head = bucket_at(tx, index, tqi_hash_bucket(index, hash));

	TQI_SET(tx, node->hash, hash);
	TQI_SET(tx, node->next, *head);
	TQI_SET(tx, *head, record);
	TQI_ADD(tx, index->count, 1);
	return 0;
}

void tqi_hash_remove(struct tqi_tx *tx, struct tqi_hash_index *index, uint32_t table,
		     uint32_t record)
{
	const struct tqi_hash_node *node = tqi_table_at(tx, table, record);
	uint32_t next = node->next, steps = 0;
	uint32_t *link = bucket_at(tx, index, tqi_hash_bucket(index, node->hash));

	while (*link != record && !tx->corrupt) {
		if (!*link || ++steps > index->count)
			tx->corrupt = true;
		else
			link = &((struct tqi_hash_node *)tqi_table_at(tx, table, *link))->next;
	}
	TQI_SET(tx, *link, next);
	TQI_ADD(tx, index->count, -1);
}
