/* SPDX-License-Identifier: MIT */
/*
 * Who ends attempts, and what the heartbeat thread of a worker offers.
 *
 * ST-1  A stop step is taken by whoever is first, the worker's own heartbeat thread
 *     or, a little later, its farm's master: phase and time are committed, then, in
 *     the same hold, the signal is sent.  In a hold no attempt can end, so the
 *     signal cannot hit the next one.
 * ST-2  A command's group is signalled by its worker only between tqi_group_open()
 *     and tqi_group_close(): in that time its leader is not reaped, so its number
 *     cannot change hands.  Both are holds, too.  Where the segment is lost there
 *     are none: then only the worker itself signals, under the heartbeat's guard.
 * ST-3  Nothing else is ever signalled but the process itself, or a child.  A command
 *     is given a session of its own by its worker's child, which is alone before that.
 */
#ifndef TQI_CLIENT_CORE_STOPPER_H
#define TQI_CLIENT_CORE_STOPPER_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "client/worker/worker_api.h"

/* Sends the signal of a step that has just been committed; in a hold. */
typedef void tqi_stop_send(void *arg, struct tqi_attempt *attempt, int signal);

/*
 * Take the stop steps of a worker's attempts that have been due for `patience_ns`.
 * Returns when the next one will be; UINT64_MAX none.
 */
uint64_t tqi_stopper_run(struct tqi_tx *tx, uint32_t worker, uint64_t patience_ns,
			 tqi_stop_send *send, void *arg);

/*
 * The command of a claim, waiting for its start, is the leader of a group.  0;
 * -ECANCELED the attempt has been asked to stop: do not start it; TQ_ELEASE; lock
 * errors.
 */
int tqi_group_open(struct tq_worker *worker, const struct tq_claim *claim, pid_t leader);
/* No more signals to the group: its leader is about to be reaped. */
void tqi_group_close(struct tq_worker *worker);

/*
 * After a claim: an idle heartbeat must beat again.  Costs the load of a private
 * word, and a wake only when the thread has slept without limit, which it does
 * not before a whole beat without a claim has passed.
 */
void tqi_heartbeat_busy(struct tqi_heartbeat *heartbeat);

/*
 * The worker's process has been told to end: claims end at once; when its parent
 * is gone, its attempts are given back after the grace time.  Async-signal-safe.
 */
void tqi_heartbeat_tell(struct tqi_heartbeat *heartbeat);

/*
 * Signal a command's session, whose leader is not reaped yet; SIGTERM also to what is
 * stopped, which goes on with it.  0 or -errno.
 */
int tqi_group_signal(pid_t leader, int signal);

/*
 * Whether it has been told, or is so within `patience_ns`: a signal for all processes of a
 * farm reaches one after the other.
 */
bool tqi_heartbeat_is_told(struct tqi_heartbeat *heartbeat, uint64_t patience_ns);

/* The group that the heartbeat may signal (heartbeat.c); in a hold. */
void tqi_heartbeat_set_group(struct tqi_heartbeat *heartbeat, uint32_t pgid);

#endif
