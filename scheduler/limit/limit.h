/* SPDX-License-Identifier: MIT */
/*
 * Limits by key: how many places attempts of tasks that name a key may have at a time.
 *
 * LM-1  A task takes one place of a limit, or as many as its weight says.  A limit is full
 *     while all its places are taken, or more (it was lowered: that evicts nobody).  A task
 *     starts only while each of its limits has as many free as it takes, or, where it takes
 *     more than there are, all; its start takes them, in one transaction; the end of the
 *     attempt, whatever it is, gives them back.
 * LM-2  A key that is not set has no size: its places are counted all the same, so a
 *     size that is set later holds from then on.
 * LM-9  `full_ns` is until when it was full: set when a slot makes room, and, as far ahead as
 *     its next token, when the last token goes; of one that is full by its slots it is an
 *     earlier time.  A start counts as throttled when a limit of the task was full at
 *     some time since it became ready.
 * LM-10  Where the task that a claim would start finds a limit that is not full, but has too
 *     few places for it, the limit counts as full until as many are free: `needed`.  So who
 *     takes many does not wait for ever behind who takes few, and nobody waits for longer than
 *     attempts that are under way: then all of them compete again, in the order of their
 *     queue.  A change of its size does that, too.
 *
 * A limit may have a rate, too: scheduler/limit/bucket.h.  Then it is full as long as it has no
 * token.  How tasks wait for a limit: scheduler/order/lane.h.
 */
#ifndef TQI_SCHEDULER_LIMIT_LIMIT_H
#define TQI_SCHEDULER_LIMIT_LIMIT_H

#include "scheduler/limit/bucket.h"
#include "scheduler/record/records.h"
#include "shm/list.h"
#include "shm/table.h"

#define TQI_LIMIT_NONE UINT32_MAX /* as a size: any number */

static inline bool tqi_limit_has_free(const struct tqi_limit *limit, uint32_t places)
{
	return (uint64_t)limit->used + places <= limit->size;
}

/* Whether it is full by nothing but its tokens, if at all. */
static inline bool tqi_limit_has_places(const struct tqi_limit *limit)
{
	return tqi_limit_has_free(limit, limit->needed ? limit->needed : 1);
}

static inline bool tqi_limit_is_full(const struct tqi_limit *limit, uint64_t now_ns)
{
	return !tqi_limit_has_places(limit) || now_ns < limit->next_ns;
}

/* How many places a start of this weight waits for: no more than there are. */
static inline uint32_t tqi_limit_places(const struct tqi_limit *limit, uint32_t weight)
{
	return weight < limit->size ? weight : limit->size;
}

/* Whether one of this weight cannot start. */
static inline bool tqi_limit_holds_back(const struct tqi_limit *limit, uint32_t weight,
					uint64_t now_ns)
{
	return tqi_limit_is_full(limit, now_ns) ||
	       !tqi_limit_has_free(limit, tqi_limit_places(limit, weight));
}

/* Whether it has a setting: then it stays though nothing names it. */
static inline bool tqi_limit_is_set(const struct tqi_limit *limit)
{
	return limit->size != TQI_LIMIT_NONE || limit->rate;
}

/* The first full one of a task's or a lane's; 0 none. */
uint32_t tqi_limits_full(struct tqi_tx *tx, const uint32_t limits[TQ_LIMITS_MAX]);
/* The word of the first one that holds a task back, full or not; 0 none. */
uint32_t tqi_limits_holding(struct tqi_tx *tx, const uint32_t limits[TQ_LIMITS_MAX]);
/* LM-10: the places that the best task lacks are gathered; false: it lacks none. */
bool tqi_limits_gather(struct tqi_tx *tx, const uint32_t limits[TQ_LIMITS_MAX]);

/* The limits of a task; NULL when it has none. */
const uint32_t *tqi_limits_of(struct tqi_tx *tx, const struct tqi_task *task);

/*
 * A task's record will name them: the limits of these keys, made where missing, ascending
 * and each once, with the largest of its weights (NULL: all are 1).  TQ_EFULL; -ENOMEM: then
 * the transaction must be aborted.
 */
int tqi_limits_join(struct tqi_tx *tx, const char *const *keys, const uint32_t *weights,
		    uint32_t count, uint32_t ret_limits[TQ_LIMITS_MAX]);
/* It names them no more. */
void tqi_limits_leave(struct tqi_tx *tx, const uint32_t limits[TQ_LIMITS_MAX]);

/* Whether one of them was full after this time (LM-9); none of them is now. */
bool tqi_limits_were_full(struct tqi_tx *tx, const uint32_t limits[TQ_LIMITS_MAX],
			  uint64_t since_ns);
/* An attempt begins; it ends. */
void tqi_slots_take(struct tqi_tx *tx, const uint32_t limits[TQ_LIMITS_MAX]);
void tqi_slots_give(struct tqi_tx *tx, const uint32_t limits[TQ_LIMITS_MAX]);
/* A task comes into its lane's heap (1), or leaves it (-1). */
void tqi_limits_wait(struct tqi_tx *tx, const uint32_t limits[TQ_LIMITS_MAX], int change);

TQI_LINKS(tqi_limit_links, tqi_limit_at, tqi_limit, prev, next)

/* Limits with room whose closed parkings are to be opened (LM-5). */
static inline struct tqi_list tqi_loosened_list(struct tqi_root *root)
{
	return (struct tqi_list){ tqi_limit_links, &root->limit.loosened, NULL };
}

/* A limit by name; 0 none. */
uint32_t tqi_limit_find(struct tqi_tx *tx, const char *name, uint32_t bytes);
/* Settings to change. */
struct tqi_limit_change {
	uint32_t size;	     /* 0 leave; TQI_LIMIT_NONE none */
	bool has_rate;	     /* set rate, or (rate 0) take it away */
	struct tqi_rate rate;
};
/* 0; -ENOENT nothing to take away; TQ_EFULL; -ENOMEM. */
int tqi_limit_set(struct tqi_tx *tx, const char *name, const struct tqi_limit_change *change);

/* Tokens have come that tasks wait for; false: it goes on in the next transaction. */
bool tqi_limits_refill(struct tqi_tx *tx);
/* Before a task becomes ready that wakes somebody: for nobody else has a token come. */
void tqi_limits_freshen(struct tqi_tx *tx, const uint32_t limits[TQ_LIMITS_MAX]);

#endif
