/* SPDX-License-Identifier: MIT */
/* Commands: who gets one, who answers, and what becomes of those who cannot. */
#ifndef TQI_SCHEDULER_WORKER_COMMAND_H
#define TQI_SCHEDULER_WORKER_COMMAND_H

#include "scheduler/record/records.h"

#define TQI_COMMAND_TAKES_MAX 3 /* by anybody: one that ends every worker must end, too */

#define TQI_COMMAND_POPS 16 /* sleepers popped in one hold: each that comes pops another */

/*
 * Send: who gets it is decided here.  How many; -ENOENT; -ESRCH nobody; -EOPNOTSUPP,
 * -EXDEV not that worker; TQ_EFULL; -ENOMEM.
 */
int tqi_command_send(struct tqi_tx *tx, const struct tq_command_spec *spec, uint32_t sender_pid,
		     uint64_t *ret_id);

/* The record of an id: 0, TQ_EGONE freed, -ENOENT never was. */
int tqi_command_find(struct tqi_tx *tx, uint64_t id, uint32_t *ret_index);

/* Its deliveries; scratch memory, and the transaction corrupt, when they cannot be. */
struct tqi_delivery *tqi_command_deliveries(struct tqi_tx *tx, const struct tqi_command *command);
const void *tqi_command_argument(struct tqi_tx *tx, const struct tqi_command *command);
/* The one of this registration; NULL none. */
struct tqi_delivery *tqi_command_delivery(struct tqi_tx *tx, const struct tqi_command *command,
					  uint32_t worker, uint64_t generation);

/* Whether there is anything to look for: all that a claim without commands pays. */
static inline bool tqi_command_may_wait(const struct tqi_root *root,
					const struct tqi_worker *worker)
{
	return (worker->flags & TQI_WORKER_COMMANDS) &&
	       (worker->command || worker->command_seen != root->command.change);
}
/* The oldest that waits for this worker, or for anybody; 0 none. */
uint32_t tqi_command_next(struct tqi_tx *tx, uint32_t worker);
/* Whether a command waits that this worker could take now. */
bool tqi_command_waits(struct tqi_tx *tx, uint32_t worker);
/* Whether it has one now: it has taken one before, or takes the next. */
bool tqi_command_take(struct tqi_tx *tx, uint32_t worker);
/* Answer the one that was taken: TQ_ESTATE it is not this one. */
int tqi_command_ack(struct tqi_tx *tx, uint32_t worker, uint64_t id, uint32_t state,
		    const char *text);
/*
 * What waits is taken back: from how many, 0 all have it.  TQ_ESTATE all have answered;
 * TQ_EGONE; -ENOENT.
 */
int tqi_command_cancel(struct tqi_tx *tx, uint64_t id);
/*
 * A worker leaves, or has died: what it was to do it will not do.  A slice; true when
 * nothing is left.
 */
bool tqi_command_leave(struct tqi_tx *tx, uint32_t worker);

/* To the end of the list of this state, which it gets. */
void tqi_command_append(struct tqi_tx *tx, uint32_t command, uint32_t state);

/* Pop up to `count` sleepers whom commands or answers wait for; true when one was. */
bool tqi_command_wake(struct tqi_tx *tx, uint32_t count);

#endif
