/* SPDX-License-Identifier: MIT */
/*
 * Commands: who gets one, who answers, and what becomes of those who cannot.
 *
 * CO-1  Each recipient of a command that is asleep when it is sent is *called*, popped, once,
 *     in the order of the deliveries and some in each hold; who is awake looks before it
 *     sleeps.  `called` of a command says how far that has come, `calling` of the root which
 *     open one goes on: those before it are through.  So no recipient that lives is listed
 *     while a delivery before `called` waits for it.
 * CO-2  One for anybody calls the newest worker asleep for its queue that takes commands, when
 *     it is sent and, while nobody has taken it, whenever wakes are passed on (WT-7); the root
 *     counts those that wait.
 */
#ifndef TQI_SCHEDULER_WORKER_COMMAND_H
#define TQI_SCHEDULER_WORKER_COMMAND_H

#include "scheduler/record/records.h"

#define TQI_COMMAND_TAKES_MAX 3 /* by anybody: one that ends every worker must end, too */

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

/* A sleeper for its answers counts. */
void tqi_command_waits_for(struct tqi_tx *tx, uint32_t command, uint32_t by);

/* The slot by which a worker, or a master, is called to take one; 0 it has none. */
static inline uint32_t tqi_command_slot(const struct tqi_worker *worker)
{
	return worker->asleep			   ? worker->asleep
	       : worker->flags & TQI_WORKER_MASTER ? worker->stopper
						   : 0;
}
/* It has just been sent: pop some of those who are to take it. */
void tqi_command_calls(struct tqi_tx *tx, uint32_t command);
/* Pop up to `count` sleepers that are to take commands; true when one was. */
bool tqi_command_call(struct tqi_tx *tx, uint32_t count);
/* It is about to leave the open ones: the next one calls in its place (CO-1). */
void tqi_command_passes(struct tqi_tx *tx, uint32_t command);

#endif
