/* SPDX-License-Identifier: MIT */
/* Queues: create, steer, inspect. */
#ifndef TASKQ_QUEUE_H
#define TASKQ_QUEUE_H

#include <taskq/segment.h>
#include <taskq/task.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Order inside a queue.  A task's band is the one with the highest lower bound that is
 * not above its priority; by default they begin at the named priorities: below 0 low,
 * from 0 normal, from 100 high, from 1000 critical.  Each band has a rate of ageing, by
 * default none: strict priority.  What starts is what has the highest effective
 * priority, its priority + rate x the time since it became ready, and among equals
 * what was submitted first.  Time in a paused queue counts; time blocked, held,
 * delayed or backing off does not; a release keeps what was gained, a retry begins
 * anew.  Hybrid turns see to it that the least urgent band is never left without
 * starts, whatever the others have.
 *
 * With edf (earliest deadline first) the band decides, and inside it the deadline;
 * tasks without one come after all that have one, as submitted.  It cannot be combined
 * with ageing.  With a max-wait a task that has been ready for so long is overdue, and
 * at most every second start is the one of the overdue that has been ready longest,
 * whatever its band: with N overdue ones that are older it starts within 2 x (N + 1)
 * starts, and the others keep their order.
 *
 * With a batch a claim takes more tasks than the one that it starts: those that would
 * start next are assigned to the worker, which saves looking for them, and start there
 * with its next claims, even when something more urgent has come meanwhile.  They stay
 * ready, and go back when the worker ends.  A task with limit keys is never assigned, nor is any in a fair queue.  A
 * worker that has nothing to do steals some of what is assigned to others (struct
 * tq_worker_opts), so none waits behind a long task while somebody is idle.
 *
 * A fair queue is shared by fair keys, tq_task_spec.fair_key, say one for each customer,
 * by run time: what starts is of the key that has had the least among those that have
 * something that can start, and all of the above orders only the tasks of one key.  (It
 * is start-time fair queueing: a start is charged the mean run time of its kind, what it
 * really took when it ends.)  Of two keys with work neither takes more than twice the
 * time that it would take alone, plus the longest task that runs, of N keys N times;
 * however many tasks the others have.  A key that was idle has saved up nothing; what it
 * has had is remembered as long as a record of its tasks is there.  It cannot be combined
 * with hybrid turns.
 */
#define TQ_BANDS 4
#define TQ_AGEING_DEFAULT 100u	/* 0.1 points a second: where ageing is just asked for */
#define TQ_AGEING_MAX 10000000u /* 10,000 points a second */
#define TQ_HYBRID_DEFAULT 5
#define TQ_HYBRID_MAX 1000000u
#define TQ_BATCH_MAX 16

/* Settings of a queue; a zero field leaves the setting as it is (at creation: the default). */
struct tq_queue_opts {
	uint64_t size;		/* sizeof this struct in the caller's build */
	uint64_t depth_max;	/* waiting tasks at most, TQ_UNLIMITED = no limit; default none */
	uint64_t timeout_ns;	/* default per attempt for its tasks, TQ_UNLIMITED = none */
	uint64_t backoff_ns;	/* default for its tasks; default 1 s */
	uint64_t backoff_cap_ns; /* default for its tasks; default 5 min; at least backoff_ns */
	uint32_t attempts_max;	/* default for its tasks, 1 to 256; default 1 */
	uint32_t reserved0;	/* must be 0 */
	/* Of each band, lowest first: thousandths of a point a second, 1 to TQ_AGEING_MAX;
	 * TQ_OFF = none, the default. */
	uint32_t ageing[TQ_BANDS];
	/* Where all bands but the lowest begin, ascending; all 0 leaves them. */
	int32_t band_from[TQ_BANDS - 1];
	/* After so many starts of other bands one of the least urgent band that has work,
	 * 1 to TQ_HYBRID_MAX; TQ_OFF = never, the default. */
	uint32_t hybrid;
	uint64_t
		max_wait_ns; /* a task is overdue after so long; TQ_UNLIMITED = never, the default */
	uint32_t edf;	      /* 1: earliest deadline first inside a band; TQ_OFF = no, the default */
	/* Tasks that a worker takes at a time, 2 to TQ_BATCH_MAX, see below; TQ_OFF = one, the
	 * default. */
	uint32_t batch;
	uint32_t fair; /* 1: fair keys share it by run time; TQ_OFF = no, the default */
};

/**
 * tq_queue_set() - make a queue, or change its settings.
 *
 * Submitting and serving make a missing queue too.  All of @opts is done, or nothing.
 * Another order (ageing, bands, hybrid, edf, max-wait, fair) holds at once for what comes; what waits already is
 * taken over by this call, as many holds of the lock as that takes, and by others
 * should it be killed.  Until then claims compare old and new by their effective
 * priorities; from or to a fair queue, what has been given to its key goes first.
 *
 * Errors:	-EINVAL bad name or value, bands that do not ascend; -ENOTSUP edf and
 *		ageing, or fair and hybrid, which cannot be combined; -EBUSY there is no memory
 *		to take tasks over into the last one first; TQ_EQUEUES there are
 *		no more; TQ_EFULL; -EROFS; lock errors as tq_submit().
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_queue_set(struct tq *tq, const char *queue,
				     const struct tq_queue_opts *opts);

/* What tq_queue_steer() does. */
enum tq_queue_action {
	TQ_QUEUE_PAUSE = 1, /* claims pass it over; nothing moves */
	TQ_QUEUE_RESUME,
	TQ_QUEUE_DRAIN,	 /* refuse new submits but of its running tasks, finish the rest */
	TQ_QUEUE_UNDRAIN,
	TQ_QUEUE_PURGE,	 /* cancel everything that waits now */
};

/**
 * tq_queue_steer() - pause, resume, drain, undrain or purge a queue.
 *
 * Errors:	-ENOENT no such queue; -EINVAL; -EROFS; lock errors.
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above; PURGE: how many tasks waited.
 */
TQ_API TQ_NODISCARD int tq_queue_steer(struct tq *tq, const char *queue,
				       enum tq_queue_action action);

/*
 * Counters of a queue, or of one kind in it.  Totals count since creation, and never go
 * down.  A life that began has ended, was moved, or goes on: submitted is the sum of done,
 * failed, cancelled, expired and moved, and of the unfinished ones in .depth and .held.
 */
struct tq_counters {
	uint64_t submitted; /* lives begun here: by a submit, by a retry of a task that had
			       ended, and by a move from another queue */
	uint64_t started;   /* attempts begun */
	uint64_t done;	    /* by final state from here ... */
	uint64_t failed;
	uint64_t cancelled;
	uint64_t expired;   /* ... to here */
	uint64_t retried;   /* attempts that ended and were followed by another */
	uint64_t crashed;   /* attempts ended by the death of their worker */
	uint64_t reclaimed; /* attempts ended by a lost lease */
	uint64_t stolen;    /* tasks that a worker took from what another had taken, see batch */
	/* Attempts begun of tasks of which a limit key, or their queue's servers, were full at
	 * some time between their ready_ns and that start: each attempt counts once at most,
	 * however often and by however many it was held back; one that never starts does not
	 * count. */
	uint64_t throttled_total;
	uint64_t moved; /* unfinished tasks that went to another queue */
	uint32_t depth[TQ_STATE_COUNT]; /* records in each state now, by enum tq_state; of
					   TQ_READY those that are not held */
	uint32_t throttled; /* of those ready, behind a full limit now, or without a server */
	uint32_t held;	    /* that would be ready but for a hold: none of them can start */
	uint32_t reserved0;
	uint64_t oldest_ready_ns; /* age of the task that has been ready longest; 0 none */
};

/* flags of struct tq_queue_info */
#define TQ_QUEUE_PAUSED (1u << 0)
#define TQ_QUEUE_DRAINING (1u << 1)
#define TQ_QUEUE_PURGING (1u << 2) /* a purge has been decided and is being swept */
#define TQ_QUEUE_REORDERING (1u << 3) /* tasks are being taken over into another order */
#define TQ_QUEUE_SERVED (1u << 4)  /* its tasks run at servers: <taskq/server.h> */
#define TQ_QUEUE_NO_ROOM (1u << 5) /* and none of them has room now */
#define TQ_QUEUE_PARTIAL (1u << 6) /* see TQ_QUEUE_QUICK */

/* Snapshot of a queue. */
struct tq_queue_info {
	uint64_t size;	 /* in: room; out: bytes filled */
	uint32_t flags;	 /* TQ_QUEUE_PAUSED, ... */
	uint32_t workers; /* live workers that serve it, and run its kind if it has one */
	uint64_t depth_max;
	uint64_t timeout_ns;
	uint64_t backoff_ns;
	uint64_t backoff_cap_ns;
	uint32_t attempts_max;
	uint32_t reserved0;
	struct tq_counters counters;
	char name[TQ_NAME_MAX + 1];
	char kind[TQ_NAME_MAX + 1]; /* "" for the whole queue, see tq_queue_list() */
	char reserved1[6];
	uint32_t ageing[TQ_BANDS];	 /* thousandths of a point a second; 0 none */
	int32_t band_from[TQ_BANDS - 1]; /* where all bands but the lowest begin */
	uint32_t hybrid; /* starts of other bands before one of the least urgent; 0 off */
	uint64_t max_wait_ns; /* a ready task is overdue after so long; 0 never */
	uint32_t edf;	      /* 1: earliest deadline first inside a band */
	uint32_t batch;	      /* tasks that a worker takes at a time; 0 one */
	uint32_t fair;	      /* 1: fair keys share it by run time */
	uint32_t servers;     /* that may be given tasks */
};

/**
 * tq_queue_info() - read one queue: what is counted of it, as it was at one moment; workers,
 * throttled and oldest_ready_ns about then.  Takes no lock, unless others change the segment
 * so fast that no moment can be caught: then for 50 us, without changing anything; a
 * read-only handle counts as things change.
 *
 * Errors:	-ENOENT; -EINVAL bad .size.
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_queue_info(struct tq *tq, const char *queue,
				      struct tq_queue_info *ret_info);

/* flags of tq_queue_list() */
#define TQ_QUEUE_BY_KIND (1u << 0) /* one row per queue and kind */
/* For who looks many times a second: with more than 4,096 sets of limit keys and fair
 * keys they are not looked at one by one; what then is missing in throttled and in
 * oldest_ready_ns is flagged TQ_QUEUE_PARTIAL. */
#define TQ_QUEUE_QUICK (1u << 1)

/**
 * tq_queue_list() - read the queues in order of creation.  Takes no lock.
 *
 * @cursor:	in: 0 to begin; out: where to go on.
 * @infos:	room for @count snapshots, .size set in the first.
 *
 * Since: 0.1.0
 * Return: how many were filled, 0 at the end; -EINVAL; -ENOMEM, with TQ_QUEUE_BY_KIND.
 */
TQ_API TQ_NODISCARD int tq_queue_list(struct tq *tq, uint32_t flags, uint64_t *cursor,
				      struct tq_queue_info *infos, uint32_t count);

#ifdef __cplusplus
}
#endif
#endif
