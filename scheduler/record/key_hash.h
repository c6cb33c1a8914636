/* SPDX-License-Identifier: MIT */
/* The hash of a name that is one in its queue: of unique keys, tenants, servers, pools. */
#ifndef TQI_SCHEDULER_RECORD_KEY_HASH_H
#define TQI_SCHEDULER_RECORD_KEY_HASH_H

#include "scheduler/record/records.h"

/* An odd number: no two queues give one key. */
#define TQI_QUEUE_MULTIPLIER 0x9e3779b97f4a7c15ull

static inline uint64_t tqi_key_hash(const struct tqi_tx *tx, uint32_t queue, const char *name,
				    uint32_t bytes)
{
	return tqi_hash_bytes(tqi_root(tx)->seed ^ queue * TQI_QUEUE_MULTIPLIER, name, bytes);
}

#endif
