/* SPDX-License-Identifier: MIT */
/* Queues and kinds: found by name, or made on first use; their settings. */
#ifndef TQI_SCHEDULER_ORDER_QUEUE_H
#define TQI_SCHEDULER_ORDER_QUEUE_H

#include "scheduler/order/class.h"
#include "scheduler/order/fair.h"
#include "scheduler/order/policy.h"
#include "scheduler/record/records.h"

/*
 * Record of a queue or kind by name; 0 = none.  With `make`, a missing one is
 * made: 0 then means no memory or, with *ret_full, that the table is full, and the
 * transaction must be aborted.
 */
uint32_t tqi_queue_find(struct tqi_tx *tx, const char *name);
uint32_t tqi_queue_make(struct tqi_tx *tx, const char *name, bool *ret_full);
uint32_t tqi_kind_make(struct tqi_tx *tx, const char *name, bool *ret_full);

/* Changes of settings; 0 = leave it. */
struct tqi_queue_settings {
	uint64_t depth_max;
	uint64_t timeout_ns;
	uint64_t backoff_ns;
	uint64_t backoff_cap_ns;
	uint32_t attempts_max;
	uint32_t batch; /* TQ_OFF none */
	struct tqi_policy policy;
};
/* 0, or as tqi_policy_set(): then the transaction must be aborted. */
int tqi_queue_set(struct tqi_tx *tx, uint32_t queue, const struct tqi_queue_settings *settings);

/* Pause, drain and their opposites. */
void tqi_queue_flag(struct tqi_tx *tx, uint32_t queue, uint32_t flag, bool on);
/* Condemn what waits now; returns how many.  Swept in slices, honoured at once. */
uint32_t tqi_queue_purge(struct tqi_tx *tx, uint32_t queue);

#endif
