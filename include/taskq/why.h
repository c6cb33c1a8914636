/* SPDX-License-Identifier: MIT */
/* Why a task is not running. */
#ifndef TASKQ_WHY_H
#define TASKQ_WHY_H

#include <taskq/task.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The one table of reasons, in the order in which they are looked for. */
#define TQ_WHY_MAP(X)                                                                              \
	X(TQ_WHY_ENDED, 1, "ended")	     /* it has reached a final state */                    \
	X(TQ_WHY_DYING, 2, "dying")	     /* worker and pid are dead; not yet proved */         \
	X(TQ_WHY_STOPPING, 3, "stopping")    /* its attempt is being ended since since_ns */       \
	X(TQ_WHY_RUNNING, 4, "running")	     /* on worker, pid, since since_ns */                  \
	X(TQ_WHY_WAITING, 20, "waiting")    /* running likewise, and waits for holder */            \
	X(TQ_WHY_BLOCKED, 5, "blocked")	     /* waits for other tasks */                           \
	X(TQ_WHY_CANCELLED, 6, "cancelled")  /* a purge or shutdown has cancelled it; the */       \
	/* sweep has not reached it yet */                                                         \
	X(TQ_WHY_EXPIRED, 7, "expired")	     /* its deadline has passed, until_ns; nobody has */   \
	/* looked since */                                                                         \
	X(TQ_WHY_HELD, 8, "held")                                                                  \
	X(TQ_WHY_BACKOFF, 9, "back-off") /* after one that failed, until until_ns */               \
	X(TQ_WHY_DELAYED, 10, "delayed") /* not due until until_ns, or until_wall_ns; when that */ \
	/* has passed, one of the reasons below */                                                 \
	X(TQ_WHY_PAUSED, 11, "paused")	     /* its queue is */                                    \
	X(TQ_WHY_NO_WORKER, 12, "no-worker") /* no live worker serves its queue */                 \
	X(TQ_WHY_RESTARTING, 22, "restarting") /* likewise, but a farm, whose master is worker */  \
	/* and pid, starts one */                                                                  \
	X(TQ_WHY_NO_KIND, 13, "no-kind")     /* none of those that do serves its kind */           \
	X(TQ_WHY_ASSIGNED, 18, "assigned")   /* a worker has taken it, on pid, and runs others */  \
	X(TQ_WHY_SERVERS, 19, "servers")     /* none of its queue's has room; holder has run */   \
	/* longest, since since_ns, on pid; or there is none */                                    \
	X(TQ_WHY_THROTTLED, 17, "throttled") /* limit is full; holder has a slot, on pid; or */   \
	/* it has slots, and no token until until_ns */                                            \
	X(TQ_WHY_STOPPED, 14, "stopped")     /* those not busy are stopped (SIGSTOP), as pid is, */ \
	/* or all are */                                                                           \
	X(TQ_WHY_SUBSTITUTES, 21, "substitutes") /* all that serve it are busy, and in a farm */   \
	/* more attempts wait, others, than it may have substitutes; its master: worker, pid */    \
	X(TQ_WHY_BUSY, 15, "busy")	     /* all that serve it are */                           \
	X(TQ_WHY_NEXT, 16, "next")	     /* it may start any moment */

enum tq_why_reason {
#define TQ_WHY_ENUM(name, value, text) name = (value),
	TQ_WHY_MAP(TQ_WHY_ENUM)
#undef TQ_WHY_ENUM
};

#define TQ_WHY_BEFORE_MAX 1000 /* tasks counted before it, at most */

/* The answer. */
struct tq_why {
	uint64_t size;	       /* in: room; out: bytes filled */
	uint32_t reason;       /* enum tq_why_reason */
	uint32_t before;       /* startable tasks of its queue, of any fair key, that start
				  before it if none comes, for the workers that serve it */
	uint64_t until_ns;     /* CLOCK_MONOTONIC; 0 unknown */
	uint64_t since_ns;     /* CLOCK_MONOTONIC; 0 unknown */
	uint32_t worker;       /* its number, from 1; 0 none */
	uint32_t pid;	       /* the process that is in the way; 0 none */
	uint32_t pgid;	       /* process group of the command that runs; 0 none */
	uint32_t stop_cause;   /* STOPPING: enum tq_cause */
	uint32_t signal;       /* STOPPING: last signal sent; 0 only asked */
	uint32_t workers;      /* live workers that serve its queue and kind */
	uint32_t busy;	       /* of them with a task */
	uint32_t queue_workers; /* live workers that serve its queue, of any kind */
	uint32_t limit_slots;	/* THROTTLED: of the full limit */
	uint32_t limit_used;	/* THROTTLED: places that are taken; more than slots when lowered */
	uint32_t is_fair; /* 1: its queue is fair: keys with less run time go first */
	uint64_t until_wall_ns; /* CLOCK_REALTIME, of a task with at_ns; 0 none */
	uint64_t holder;	/* THROTTLED, SERVERS: a task that has a slot; WAITING: one that it
				   waits for; BLOCKED: likewise, on pid if that runs; 0
				   unknown, or its group: struct tq_task_info .completes */
	char limit[TQ_KEY_MAX + 1]; /* THROTTLED: its key */
	uint32_t servers;  /* SERVERS: how many there are */
	uint32_t
		is_successor; /* BLOCKED: 1: holder has its coalesced key, and it starts after that */
	uint32_t holder_state;	    /* BLOCKED, WAITING: enum tq_state of holder */
	uint32_t others;	    /* BLOCKED, WAITING: how many more it waits for;
				       SUBSTITUTES: attempts of the farm that wait */
	uint32_t stopped; /* of workers, with a task or without: stopped by a signal */
	uint32_t stopped_pid; /* of a running task: its worker, or what leads its command's
				 group, when that is stopped by a signal; else 0 */
	uint32_t holder_held; /* BLOCKED, WAITING: 1: holder waits, and is held */
	uint32_t foreign_pid; /* STOPPING, DYING: of the command's group, one that its farm may
				 not signal; 0 none seen */
	uint32_t foreign_uid; /* the user that it runs as */
	uint32_t before_more; /* 1: `before` is where counting ended: there may be more */
	uint32_t is_torn; /* 1: the segment changed too fast: `before` is of several moments */
	uint32_t is_last; /* DYING: 1: no attempt follows: a budget is used up, or it may not */
	uint32_t is_open; /* BLOCKED: 1: the group that it completes may get more members, and
			     has others that are not at their ends */
	uint32_t limit_weight; /* THROTTLED: places that it takes of the limit */
	uint32_t limit_needed; /* THROTTLED: as in struct tq_limit_info */
	uint32_t reserved0;
};

/**
 * tq_task_why() - why a task is not running: the first reason that holds.  All of it is what
 * was true a moment ago.  Takes no lock, unless others change the segment so fast that no
 * moment of it can be caught: then for 50 us, without changing anything.
 *
 * @ret_why:	.size set before the call.
 *
 * Cost:	the workers are looked through, and up to TQ_WHY_BEFORE_MAX tasks that are
 *		before it: some microseconds each.
 * Errors:	TQ_EGONE freed; -ENOENT never was; -EINVAL bad .size.
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_task_why(struct tq *tq, uint64_t id, struct tq_why *ret_why);

/** tq_why_name() - text of a reason, "back-off"; "?" when unknown. Since: 0.1.0 */
TQ_API const char *tq_why_name(uint32_t reason);

#ifdef __cplusplus
}
#endif

#endif
