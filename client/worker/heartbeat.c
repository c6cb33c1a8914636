/* SPDX-License-Identifier: MIT */
/*
 * The heartbeat thread of a worker: renews the lease and takes stop steps.
 *
 * It beats every third of a lease while the worker holds claims, and for one beat
 * more; then it sleeps without limit, with `idle` set in the hold that saw no
 * claim.  A later claim is made in a later hold, so it sees `idle` and nudges the
 * thread: claiming costs nothing else, and nothing without a lease.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "client/core/sleeper.h"
#include "client/core/stopper.h"
#include "scheduler/worker/stop.h"

#define BEATS_PER_LEASE 3
#define PAUSE_NS 1000000000ull /* without the lock or a wait slot: try again after this */

struct tqi_heartbeat {
	struct tq_worker *worker;
	pthread_t thread;
	pid_t parent;		  /* of the process that made it */
	struct tqi_word32 nudge;  /* slept on; +1 when one of the next three changes */
	struct tqi_word32 ending; /* the thread is to end */
	struct tqi_word32 told;	  /* the process is to end */
	struct tqi_word32 idle;	  /* the thread sleeps without limit */

	pthread_mutex_t guard;	  /* of `group`, innermost; a lost segment has no holds */
	uint32_t group;		  /* changed in holds */

	/* The thread's own. */
	uint32_t seen; /* the nudge that the present look has taken into account */
	uint64_t tasks;
	uint64_t busy_ns; /* when a claim, or the trace of one, was last seen */
	uint64_t told_ns; /* when it was seen that the process is to end; 0 not yet */
};

static void nudge(struct tqi_heartbeat *hb)
{
	const struct tqi_ops *ops = hb->worker->tq->seg.ops;

	tqi_add_release32(&hb->nudge, 1);
	ops->futex_wake(ops->ctx, &hb->nudge, 1);
}

void tqi_heartbeat_busy(struct tqi_heartbeat *hb)
{
	if (!hb || !tqi_load_acquire32(&hb->idle))
		return;
	tqi_store_relaxed32(&hb->idle, 0);
	nudge(hb);
}

void tqi_heartbeat_tell(struct tqi_heartbeat *hb)
{
	tqi_store_release32(&hb->told, 1);
	hb->worker->tq->seg.ops->futex_wake(hb->worker->tq->seg.ops->ctx, &hb->told, 1);
	nudge(hb);
}

bool tqi_heartbeat_is_told(struct tqi_heartbeat *hb, uint64_t patience_ns)
{
	struct tq *tq = hb->worker->tq;
	const uint64_t until = tqi_now(tq) + patience_ns;

	while (!tqi_load_acquire32(&hb->told) && tqi_now(tq) < until) {
		const struct tqi_futex word = { &hb->told, 0 };

		tq->seg.ops->futex_wait(tq->seg.ops->ctx, &word, 1, until);
	}
	return tqi_load_acquire32(&hb->told);
}

void tqi_heartbeat_set_group(struct tqi_heartbeat *hb, uint32_t pgid)
{
	if (!hb)
		return;
	pthread_mutex_lock(&hb->guard);
	hb->group = pgid;
	pthread_mutex_unlock(&hb->guard);
}

/* ST-1, ST-3.  A handler sees that it is asked; only SIGKILL ends it, with its process. */
static void send_own(void *arg, struct tqi_attempt *attempt, int signal)
{
	const struct tqi_heartbeat *hb = arg;
	uint32_t pgid = tqi_load_acquire32(&attempt->pgid);

	if (pgid && pgid == hb->group)
		(void)tqi_group_signal((pid_t)pgid, signal);
	else if (!pgid && signal == SIGKILL)
		kill(getpid(), SIGKILL);
}

/* The lease of what it holds; returns when to beat again. */
static uint64_t renew(struct tqi_heartbeat *hb, struct tqi_worker *worker, uint64_t now)
{
	if (!worker->lease_ns)
		return UINT64_MAX;
	const uint64_t interval = worker->lease_ns / BEATS_PER_LEASE;

	if (worker->attempts || worker->tasks != hb->tasks)
		hb->busy_ns = now;
	hb->tasks = worker->tasks;
	if (!worker->attempts && now - hb->busy_ns >= interval) {
		tqi_store_release32(&hb->idle, 1);
		return UINT64_MAX;
	}
	tqi_store_release64(&worker->lease_deadline_ns, now + worker->lease_ns);
	return now + interval;
}

/* Told to end: no new claims; without a parent, what runs is given back after the grace time. */
static uint64_t obey(struct tqi_tx *tx, struct tqi_heartbeat *hb, struct tqi_worker *worker)
{
	if (!tqi_load_acquire32(&hb->told))
		return UINT64_MAX;
	if (!hb->told_ns)
		hb->told_ns = tx->now_ns;
	tqi_worker_stop(tx, hb->worker->index);
	tqi_step(tx);
	if (getppid() == hb->parent)
		return UINT64_MAX; /* the master looks after the time */
	if (tx->now_ns < hb->told_ns + hb->worker->grace_ns)
		return hb->told_ns + hb->worker->grace_ns;
	uint32_t steps = 0;

	for (uint32_t a = worker->attempts; a && tqi_table_walks(tx, TQI_ATTEMPTS, &steps);
	     a = tqi_attempt_at(tx, a)->next)
		tqi_stop_ask(tx, a, TQ_CAUSE_RELEASED);
	tqi_step(tx);
	return UINT64_MAX;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* 0 ends the thread. */
static int beat(struct tqi_tx *tx, struct tqi_sleeper *s)
{
	struct tqi_heartbeat *hb = s->arg;
	struct tqi_worker *worker = tqi_worker_at(tx, hb->worker->index);

	hb->seen = tqi_load_acquire32(&hb->nudge);
	if (tqi_load_acquire32(&hb->ending) || worker->generation != hb->worker->generation ||
	    worker->state != TQI_WORKER_LIVE)
		return 0;
	s->wake_ns = renew(hb, worker, tx->now_ns);
	s->wake_ns = least(s->wake_ns, obey(tx, hb, worker));
	s->wake_ns = least(s->wake_ns, tqi_stopper_run(tx, hb->worker->index, 0, send_own, hb));
	return -EAGAIN;
}

/* A nudge between the look and the sleep differs from what was seen: no sleep then. */
static uint32_t watch_nudge(struct tqi_sleeper *s, struct tqi_futex *words, uint32_t room)
{
	const struct tqi_heartbeat *hb = s->arg;

	if (room == 0)
		return 0;
	words[0] = (struct tqi_futex){ &hb->nudge, hb->seen };
	return 1;
}

/* Neither lock nor slot could be had: the lease needs neither. */
static void beat_blindly(struct tqi_heartbeat *hb)
{
	struct tq *tq = hb->worker->tq;
	struct tqi_worker *worker = tqi_worker_record(hb->worker);
	uint64_t now = tqi_now(tq), lease = hb->worker->lease_ns;
	const struct tqi_futex word = { &hb->nudge, tqi_load_acquire32(&hb->nudge) };

	if (lease)
		tqi_store_release64(&worker->lease_deadline_ns, now + lease);
	if (tqi_load_acquire32(&hb->ending))
		return;
	tq->seg.ops->futex_wait(tq->seg.ops->ctx, &word, 1,
				now + least(PAUSE_NS, lease ? lease / BEATS_PER_LEASE : PAUSE_NS));
}

/* ST-2 for the one who has no holds: see outlive(). */
static void end_process(struct tqi_heartbeat *hb)
{
	pthread_mutex_lock(&hb->guard);
	if (hb->group)
		(void)tqi_group_signal((pid_t)hb->group, SIGKILL);
	kill(getpid(), SIGKILL);
	pthread_mutex_unlock(&hb->guard);
}

/*
 * The segment is lost, and with it who asks for stops.  What runs may still come to its
 * end; when the process has been told to end and has no parent that looks after the
 * time, it has as long as where it could be given back.
 */
static void outlive(struct tqi_heartbeat *hb)
{
	const struct tq *tq = hb->worker->tq;

	while (!tqi_load_acquire32(&hb->ending)) {
		const struct tqi_futex word = { &hb->nudge, tqi_load_acquire32(&hb->nudge) };
		uint64_t now = tqi_now(tq), until = UINT64_MAX;

		if (tqi_load_acquire32(&hb->told) && !hb->told_ns)
			hb->told_ns = now;
		if (hb->told_ns && getppid() != hb->parent)
			until = hb->told_ns + hb->worker->grace_ns;
		if (now >= until)
			end_process(hb);
		if (!tqi_load_acquire32(&hb->ending))
			tq->seg.ops->futex_wait(tq->seg.ops->ctx, &word, 1, until);
	}
}

static void *run(void *arg)
{
	struct tqi_heartbeat *hb = arg;

	prctl(PR_SET_NAME, "taskq-heartbeat");
	for (;;) {
		struct tqi_sleeper s = {
			.interest = TQI_INTEREST_STOPS,
			.subject = hb->worker->index,
			.deadline_ns = UINT64_MAX,
			.wake_ns = UINT64_MAX,
			.attempt = beat,
			.words = watch_nudge,
			.handle_intr = true,
			.arg = hb,
		};
		int r = tqi_block(hb->worker->tq, &s);

		if (r == TQ_ESHUTDOWN || r == TQ_EREMOVED || r == TQ_ECORRUPT)
			outlive(hb);
		if (r == 0 || tqi_load_acquire32(&hb->ending))
			return NULL;
		beat_blindly(hb);
	}
}

/* No signal of the process may ever be delivered to this thread. */
static int start_thread(struct tqi_heartbeat *hb)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int r = pthread_create(&hb->thread, NULL, run, hb);

	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -r;
}

int tqi_heartbeat_start(struct tq_worker *worker, struct tqi_heartbeat **ret_heartbeat)
{
	struct tqi_heartbeat *hb = calloc(1, sizeof(*hb));

	if (!hb)
		return -ENOMEM;
	hb->worker = worker;
	hb->parent = getppid();
	pthread_mutex_init(&hb->guard, NULL);
	hb->busy_ns = tqi_now(worker->tq);
	int r = start_thread(hb);

	if (r < 0) {
		free(hb);
		return r;
	}
	*ret_heartbeat = hb;
	return 0;
}

void tqi_heartbeat_stop(struct tqi_heartbeat *hb)
{
	if (!hb)
		return;
	tqi_store_release32(&hb->ending, 1);
	nudge(hb);
	pthread_join(hb->thread, NULL);
	free(hb);
}
