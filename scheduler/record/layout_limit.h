/* SPDX-License-Identifier: MIT */
/* Records of limits, and of servers in their pools (scheduler/record/records.h has the rules). */
#ifndef TQI_SCHEDULER_RECORD_LAYOUT_LIMIT_H
#define TQI_SCHEDULER_RECORD_LAYOUT_LIMIT_H

#include "scheduler/record/tables.h"
#include "shm/hash.h"

/*
 * A limit that a task or a lane names, and how many of its places an attempt takes, are one
 * word: a weight of 1 is the limit's index itself.  So tasks with other weights are in other
 * lanes, and a parking's word is that of its limit.
 */
#define TQI_NEED_BITS 20 /* of the limit's index */
_Static_assert(TQI_LIMITS_RECORDS_MAX <= 1u << TQI_NEED_BITS, "each limit has a word");
_Static_assert(TQ_WEIGHT_MAX <= 1u << (32 - TQI_NEED_BITS), "and each weight");

static inline uint32_t tqi_need(uint32_t limit, uint32_t weight)
{
	return limit | (weight - 1) << TQI_NEED_BITS;
}

static inline uint32_t tqi_need_limit(uint32_t need)
{
	return need & ((1u << TQI_NEED_BITS) - 1);
}

static inline uint32_t tqi_need_weight(uint32_t need)
{
	return (need >> TQI_NEED_BITS) + 1;
}

/*
 * A limit key, as long as a task's record names it or it has a setting.
 */
struct tqi_limit {
	struct tqi_hash_node node; /* in the root's index of limits, by name */
	uint32_t size;	  /* places; UINT32_MAX any number */
	uint32_t used;	  /* that attempts under way of tasks with this key have */
	uint32_t tasks;	  /* records that name it */
	uint32_t waiting; /* of them in a lane's heap: ready, and not held */
	uint32_t closed;  /* chain of its closed parkings */
	uint32_t prev;	  /* the root's list of loosened limits */
	uint32_t next;
	uint8_t loosened; /* 1: it is on that list */
	uint8_t bytes;	  /* of the name */
	uint8_t booked;	  /* 1: it is in the heap of refills */
	uint8_t reserved0;
	uint64_t
		next_ns; /* no start before; 0 there are tokens, or no rate (scheduler/limit/bucket.h) */
	uint64_t interval_ns;
	uint64_t filled_ns;
	uint64_t part;
	uint32_t rate; /* tokens an interval; 0 no bucket */
	uint32_t burst;
	uint32_t tokens;
	uint32_t owed;	  /* tokens that starts have taken in advance (LM-7) */
	uint64_t full_ns; /* LM-9; 0 it never was full */
	uint32_t needed;  /* places that come together before the next start (LM-10); 0 one */
	uint32_t reserved1;
	uint64_t reserved2[2];
	char name[TQ_KEY_MAX + 1];
};
_Static_assert(sizeof(struct tqi_limit) == 256, "four cache lines");

/*
 * A server of a queue (scheduler/limit/server.h).  A free record has queue 0.
 */
struct tqi_server {
	struct tqi_hash_node node; /* in the root's index of servers, by queue and name */
	uint32_t pool;
	uint32_t used; /* attempts under way at it */
	uint64_t turn; /* the queue's, when it was given a task last, or came */
	uint64_t sequence; /* the root's, when it came: no other server ever has it */
	uint16_t queue;
	uint8_t bytes;	 /* of the name */
	uint8_t leaving; /* 1: removed; the record goes with its last attempt */
	uint32_t reserved0;
	uint64_t reserved1[2];
	char name[TQ_SERVER_MAX + 1];
};
_Static_assert(sizeof(struct tqi_server) == 320, "five cache lines");

/*
 * Servers of a queue that share slots: those of one limit, or (the queue's home) those
 * of none.  A free record has queue 0.
 */
struct tqi_pool {
	struct tqi_hash_node node; /* in the root's index of pools, by queue and pattern */
	uint32_t size;	  /* attempts at a time; UINT32_MAX any number: it is not set */
	uint32_t used;	  /* attempts under way at its servers */
	uint32_t servers; /* records that are in it, leaving ones too: `load` has room for all */
	uint16_t queue;
	uint8_t bytes;	   /* of the pattern */
	uint8_t is_prefix; /* 1: of all names that begin with it; the home's is "" */
	struct tqi_heap load;  /* those not leaving, by attempts under way, then by turn */
	struct tqi_heap rooms; /* of a home: pools with room, by their first server */
	uint32_t pools;	  /* of a home: the queue's pools, for all of which `rooms` has room */
	uint8_t has_room; /* 1: it is in its home's heap */
	uint8_t reserved0[3];
	uint64_t full_ns; /* of a home: SV-9; 0 its queue never was without room */
	char pattern[TQ_SERVER_MAX + 1];
};
_Static_assert(sizeof(struct tqi_pool) == 448, "seven cache lines");

#endif
