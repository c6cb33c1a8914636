/* SPDX-License-Identifier: MIT */
/* Claiming tasks, and the verdict on them. */
#ifndef TQI_SCHEDULER_TASK_CLAIM_H
#define TQI_SCHEDULER_TASK_CLAIM_H

#include "scheduler/worker/worker.h"

/* What a claim gives its worker. */
struct tqi_claimed {
	uint32_t attempt; /* record */
	uint32_t task;
	uint64_t id;
	uint64_t timeout_at_ns; /* 0 none */
	const struct tqi_task *of; /* the records, as long as the hold lasts */
	const struct tqi_attempt *as;
};

#define TQI_CLAIM_OVER 8 /* purged and expired tasks that a claim clears away in one hold */

/*
 * Start the best task for a worker.  0; -EAGAIN nothing startable; -EINPROGRESS
 * this transaction has done its share of clearing away, call again; -EALREADY this
 * hold has moved its share of lanes (scheduler/order/lane.h), call again in the next one;
 * TQ_EFULL too many claims; -ENOMEM grow and try again; TQ_ECOMMAND it has a
 * command to do first.
 */
int tqi_claim(struct tqi_tx *tx, uint32_t worker, struct tqi_claimed *ret_claimed);

/* A verdict as the core takes it. */
struct tqi_verdict {
	uint32_t kind; /* enum tq_verdict_kind */
	uint32_t cause;
	int32_t cause_arg;
	uint32_t result_bytes;
	const void *result; /* copied here when the token is 0 */
	uint64_t result_token; /* in flight: a block with the result */
	uint64_t output_bytes;
	uint64_t max_rss_bytes;
	uint64_t cpu_ns;
	uint64_t delay_ns;
	const char *text;
};

/* The attempt of a claim if it is still the worker's; NULL: TQ_ELEASE. */
static inline struct tqi_attempt *tqi_attempt_find(struct tqi_tx *tx, uint32_t worker, uint32_t a,
						   uint64_t id, uint64_t epoch)
{
	if (a == 0 || a >= tx->core->tables[TQI_ATTEMPTS].count)
		return NULL;
	struct tqi_attempt *attempt = tqi_attempt_at(tx, a);

	if (attempt->worker != worker || attempt->id != id ||
	    (attempt->epoch != epoch && !TQI_PLANTED(no_epoch)))
		return NULL;
	const struct tqi_task *task = tqi_task_at(tx, attempt->task);

	/* The record of one that went with it still names it (tqi_task_leave()). */
	return task->attempt == a && task->state == TQ_RUNNING ? attempt : NULL;
}

/* The owner's verdict.  0 or TQ_ELEASE. */
int tqi_end(struct tqi_tx *tx, uint32_t worker, uint32_t attempt, uint64_t id, uint64_t epoch,
	    const struct tqi_verdict *verdict);

/* End an attempt whose worker has been proved dead. */
void tqi_end_by_death(struct tqi_tx *tx, uint32_t attempt, const struct tqi_death *death);

#endif
