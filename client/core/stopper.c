/* SPDX-License-Identifier: MIT */
/* Stop steps, and opening and closing a command's group to them. */
#include "client/core/stopper.h"

#include <errno.h>

#include "scheduler/task/look.h"
#include "scheduler/worker/stop.h"
#include "shm/ident.h"

/* When its next step is due; the request itself was due at once. */
static uint64_t due_at(struct tqi_tx *tx, uint32_t a)
{
	const struct tqi_attempt *attempt = tqi_attempt_at(tx, a);

	return attempt->phase == TQI_PHASE_ASKED ? attempt->phase_ns : tqi_stop_next(tx, a);
}

static uint64_t later(uint64_t when, uint64_t by)
{
	return when + by < when ? UINT64_MAX : when + by;
}

/* All steps of one attempt that are due; when the next will be. */
static uint64_t run_attempt(struct tqi_tx *tx, uint32_t a, uint64_t patience_ns,
			    tqi_stop_send *send, void *arg)
{
	for (;;) {
		uint64_t due = later(due_at(tx, a), patience_ns);

		if (due > tx->now_ns || tx->corrupt)
			return due;
		int signal = tqi_stop_step(tx, a);

		tqi_step(tx); /* committed first, sent after: at most one SIGTERM */
		if (!signal || tx->corrupt)
			return due;
		send(arg, tqi_attempt_at(tx, a), signal);
	}
}

uint64_t tqi_stopper_run(struct tqi_tx *tx, uint32_t w, uint64_t patience_ns, tqi_stop_send *send,
			 void *arg)
{
	const struct tqi_worker *worker = tqi_worker_at(tx, w);
	uint64_t next = UINT64_MAX;

	if (worker->kill != TQ_KILL_PROCESS)
		return next;
	uint32_t steps = 0;

	for (uint32_t a = worker->attempts; a && tqi_table_walks(tx, TQI_ATTEMPTS, &steps);
	     a = tqi_attempt_at(tx, a)->next) {
		uint64_t due = run_attempt(tx, a, patience_ns, send, arg);

		if (due < next)
			next = due;
	}
	return next;
}

int tqi_group_signal(pid_t leader, int signal)
{
	int r = kill(-leader, signal);

	/* Until it has called setsid() it is alone, and there is no group of that number. */
	if (r < 0 && errno == ESRCH)
		r = kill(leader, signal);
	if (r < 0)
		return -errno;
	if (signal == SIGTERM)
		kill(-leader, SIGCONT);
	return 0;
}

int tqi_group_open(struct tq_worker *worker, const struct tq_claim *claim, pid_t leader)
{
	const uint32_t pgid = (uint32_t)leader;
	uint64_t start = 0;
	char state;
	struct tqi_tx tx;

	(void)tqi_pid_start(pgid, &start, &state); /* 0 = unknown: judged by its absence alone */
	int r = tqi_hold_begin(worker->tq, &tx);

	if (r < 0)
		return r;
	struct tqi_attempt *attempt = tqi_claim_record(worker, claim);

	if (!attempt) {
		r = TQ_ELEASE;
	} else if (attempt->phase != TQI_PHASE_NONE) {
		r = -ECANCELED;
	} else {
		tqi_store_relaxed64(&attempt->pgid_start, start);
		tqi_store_release32(&attempt->pgid, pgid);
		tqi_heartbeat_set_group(worker->heartbeat, pgid);
	}
	return tqi_hold_commit(worker->tq, &tx, r);
}

void tqi_group_close(struct tq_worker *worker)
{
	struct tqi_tx tx;
	int r;

	do /* the lock's holder may be stopped: ST-2 is worth the wait */
		r = tqi_hold_begin(worker->tq, &tx);
	while (r == TQ_ELOCKED);
	/* On any other error nobody can take a hold: the heartbeat's guard is enough. */
	tqi_heartbeat_set_group(worker->heartbeat, 0);
	if (r == 0)
		(void)tqi_hold_end(worker->tq, &tx, 0);
}
