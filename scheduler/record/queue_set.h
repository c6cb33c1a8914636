/* SPDX-License-Identifier: MIT */
/* Sets of queues that somebody must look at: which these are, whatever the number of others. */
#ifndef TQI_SCHEDULER_RECORD_QUEUE_SET_H
#define TQI_SCHEDULER_RECORD_QUEUE_SET_H

#include "scheduler/record/records.h"

static inline bool tqi_queue_set_has(const struct tqi_queue_set *set, uint32_t q)
{
	return q <= TQI_QUEUES_MAX && (set->bits[q / 64] >> q % 64 & 1);
}

/* One that is not in it comes in, one that is goes out. */
static inline void tqi_queue_set_flip(struct tqi_tx *tx, struct tqi_queue_set *set, uint32_t q)
{
	uint64_t *bits = &set->bits[q / 64 % (sizeof(set->bits) / sizeof(set->bits[0]))];

	TQI_SET(tx, *bits, *bits ^ 1ull << q % 64);
}

/* The first one from `q` on that is in both; 0 none. */
static inline uint32_t tqi_queue_set_next_of(const struct tqi_queue_set *a,
					     const struct tqi_queue_set *b, uint32_t q)
{
	uint64_t from = UINT64_MAX << q % 64;

	for (uint32_t i = q / 64; i < sizeof(a->bits) / sizeof(a->bits[0]); i++) {
		const uint64_t both = a->bits[i] & b->bits[i] & from;

		if (both)
			return i * 64 + (uint32_t)__builtin_ctzll(both);
		from = UINT64_MAX;
	}
	return 0;
}

/* The first one from `q` on; 0 none. */
static inline uint32_t tqi_queue_set_next(const struct tqi_queue_set *set, uint32_t q)
{
	return tqi_queue_set_next_of(set, set, q);
}

#endif
