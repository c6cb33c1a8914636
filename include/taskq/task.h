/* SPDX-License-Identifier: MIT */
/* Tasks: submit, wait, read, steer. */
#ifndef TASKQ_TASK_H
#define TASKQ_TASK_H

#include <taskq/segment.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The one table of states: name, value, text.  DONE and above are final. */
#define TQ_STATE_MAP(X)                                                                            \
	X(TQ_FREE, 0, "free")		/* no task: never seen by users */                         \
	X(TQ_BLOCKED, 1, "blocked")	/* waits for other tasks */                                \
	X(TQ_DELAYED, 2, "delayed")	/* not due yet, or backing off */                          \
	X(TQ_READY, 3, "ready")		/* may start */                                            \
	X(TQ_RUNNING, 4, "running")	/* an attempt is under way, or its end not yet proved */   \
	X(TQ_DONE, 5, "done")                                                                      \
	X(TQ_FAILED, 6, "failed")                                                                  \
	X(TQ_CANCELLED, 7, "cancelled")                                                            \
	X(TQ_EXPIRED, 8, "expired")

enum tq_state {
#define TQ_STATE_ENUM(name, value, text) name = (value),
	TQ_STATE_MAP(TQ_STATE_ENUM)
#undef TQ_STATE_ENUM
};
#define TQ_STATE_COUNT 9

/* The one table of causes, kept with every final state and every ended attempt. */
#define TQ_CAUSE_MAP(X)                                                                            \
	X(TQ_CAUSE_NONE, 0, "none")                                                                \
	X(TQ_CAUSE_EXIT, 1, "exit")	    /* argument: exit code */                              \
	X(TQ_CAUSE_SIGNAL, 2, "signal")	    /* argument: signal number */                          \
	X(TQ_CAUSE_OOM, 3, "oom")	    /* killed by the kernel for want of memory */          \
	X(TQ_CAUSE_TIMEOUT, 4, "timeout")                                                          \
	X(TQ_CAUSE_LEASE_LOST, 5, "lease-lost")                                                    \
	X(TQ_CAUSE_WORKER_DIED, 6, "worker-died")                                                  \
	X(TQ_CAUSE_DEPENDENCY, 7, "dependency") /* argument: see info.cause_id */                  \
	X(TQ_CAUSE_CANCELLED, 8, "cancelled")                                                      \
	X(TQ_CAUSE_DEADLINE, 9, "deadline")                                                        \
	X(TQ_CAUSE_ERROR, 10, "error")	    /* with a text; argument: what the handler returned */ \
	X(TQ_CAUSE_RELEASED, 11, "released") /* an attempt given back without fault */

enum tq_cause {
#define TQ_CAUSE_ENUM(name, value, text) name = (value),
	TQ_CAUSE_MAP(TQ_CAUSE_ENUM)
#undef TQ_CAUSE_ENUM
};

/* flags of struct tq_task_spec */
#define TQ_TASK_HOLD (1u << 0)	       /* start only after tq_task_steer(TQ_TASK_UNHOLD) */
#define TQ_TASK_FORGET (1u << 1)       /* free the record as soon as it ends */
#define TQ_TASK_KEEP (1u << 2)	       /* never evict it until forgotten */
#define TQ_TASK_AT_MOST_ONCE (1u << 3) /* the first start is the only one */
/*
 * It may take room that is kept for those who drain a full segment, up to half of it: for a
 * program that sees to it that the task is run, as `taskq run` does.
 */
#define TQ_TASK_RESERVE (1u << 4)

/*
 * The one table of scopes of a unique key: name, value, text.  How long another task
 * with the same key and queue is not made.
 */
#define TQ_UNIQUE_MAP(X)                                                                           \
	X(TQ_UNIQUE_QUEUED, 1, "queued")     /* until it starts for the first time */              \
	X(TQ_UNIQUE_ACTIVE, 2, "active")     /* until it is final */                               \
	X(TQ_UNIQUE_KEPT, 3, "kept")	     /* until its record goes */                           \
	X(TQ_UNIQUE_COALESCE, 4,                                                                   \
	  "coalesce") /* while it waits, it takes the newest payload; while \
						it runs, one more waits, blocked, for its end */

enum tq_unique_scope {
#define TQ_UNIQUE_ENUM(name, value, text) name = (value),
	TQ_UNIQUE_MAP(TQ_UNIQUE_ENUM)
#undef TQ_UNIQUE_ENUM
};

/*
 * The one table of kinds of dependencies: name, value, text.  What the end of a task must
 * be like for its dependant to start.
 */
#define TQ_AFTER_MAP(X)                                                                            \
	X(TQ_AFTER_OK, 1, "after-ok")	  /* done */                                               \
	X(TQ_AFTER_ANY, 2, "after-any")	  /* any end */                                            \
	X(TQ_AFTER_FAIL, 3, "after-fail") /* any end but done */

enum tq_after {
#define TQ_AFTER_ENUM(name, value, text) name = (value),
	TQ_AFTER_MAP(TQ_AFTER_ENUM)
#undef TQ_AFTER_ENUM
};

/* A task that another one is to wait for. */
struct tq_dependency {
	uint64_t id;
	uint32_t kind;	    /* enum tq_after; default TQ_AFTER_OK */
	uint32_t reserved0; /* must be 0 */
};

/* A task to submit. */
struct tq_task_spec {
	uint64_t size;		      /* sizeof this struct in the caller's build */
	const char *queue;	      /* default "default" */
	const char *kind;	      /* default "exec": the payload is a command, as made by
					 tq_exec_encode() of <taskq/farm.h>, and nothing else */
	const char *label;	      /* for people; default none */
	const void *payload;	      /* copied once */
	uint64_t payload_bytes;	      /* at most TQ_PAYLOAD_MAX */
	uint64_t delay_ns;	      /* earliest start, from now; default 0.  Not with at_ns */
	uint64_t timeout_ns;	      /* time one attempt may take; default the queue's */
	uint64_t timeout_total_ns;    /* time from first start to the end of the last attempt, also
				     while it waits for that; default none */
	uint64_t progress_timeout_ns; /* longest time between two progress reports; default none */
	uint64_t backoff_ns;	      /* wait before a retry, doubled each time, times 1..2 at random;
					 default the queue's, 1 s */
	uint64_t backoff_cap_ns;      /* longest such wait; default the queue's, 5 min; it is
					 at least backoff_ns */
	uint64_t full_timeout_ns;     /* wait this long for room; default fail at once */
	int32_t priority;	      /* bigger is more urgent; default 0 */
	uint32_t attempts_max;	      /* failed attempts allowed, 1 to 256; default the queue's, 1 */
	uint32_t crashes_max;	      /* attempts that may die with their worker; default 3 */
	uint32_t losses_max;	      /* leases that may be lost; default 3 */
	uint32_t flags;		      /* TQ_TASK_*; unknown bits: -EINVAL */
	uint32_t reserved0;	      /* must be 0 */
	uint64_t deadline_ns;	      /* finish by, from now; default none.  Not started by then:
					 `expired`; running then: it goes on, flagged late; no
					 attempt starts afterwards */
	const char *unique_key;	      /* 1 to TQ_KEY_MAX bytes; default none, any number of tasks */
	uint32_t unique_scope;	      /* enum tq_unique_scope; default TQ_UNIQUE_ACTIVE */
	uint32_t limit_count;	      /* of limits, up to TQ_LIMITS_MAX; default none */
	const char *const *limits;    /* limit keys, <taskq/limit.h>, each 1 to TQ_KEY_MAX bytes;
					 one that is given twice counts once */
	uint64_t at_ns;		      /* earliest start by the wall clock: CLOCK_REALTIME, since
					 1970; default none.  A time that has passed is no
					 hindrance.  When the clock is set, this start moves with it */
	const char *fair_key;	      /* 1 to TQ_KEY_MAX bytes: whose share of a fair queue its
					 run time comes from, <taskq/queue.h>; default none: it
					 shares with the others that have none */
	const struct tq_dependency *after; /* tasks whose ends it waits for, `blocked`; copied;
					 one that is given twice counts once */
	uint32_t after_count;	      /* of after, up to TQ_AFTER_MAX; default none */
	uint32_t reserved1;	      /* must be 0 */
	uint64_t group;		      /* id of an open group that it becomes a member of,
					 <taskq/group.h>; default none.  A task that is there
					 already under unique_key does not */
	const uint32_t *limit_weights; /* places that it takes of each of limits, 1 to
					 TQ_WEIGHT_MAX; default 1 each */
};

/**
 * tq_submit() - hand in a task.  All that reaching a final state will need is
 * reserved here: finishing never fails for want of memory.
 *
 * @spec:	copied before the call returns.
 * @ret_id:	the task's id; may be NULL.
 *
 * Threads:	safe.
 * Fork:	safe.
 * Blocks:	for the lock at most the handle's lock time-out; for room up to
 *		spec->full_timeout_ns.
 * Errors:	-EINVAL, -ERANGE bad field; -EINVAL no @spec, or a payload of kind "exec"
 *		that is no command; -E2BIG payload over TQ_PAYLOAD_MAX, or more
 *		dependencies than TQ_AFTER_MAX: hold the task, and add them by
 *		tq_task_after(); -ENOENT, TQ_EGONE a dependency on a task that
 *		never was, or has been freed;
 *		TQ_EFULL no room for it (a limit of the queue or the segment);
 *		TQ_EQUEUES, TQ_EKINDS its queue or kind is new, and none of those that
 *		there are can make place for it: at once, however long it would wait;
 *		TQ_ESTATE spec->group takes no members; TQ_EGONE, -ENOENT no such
 *		group; TQ_ECYCLE what the new member is to come after waits for the end
 *		of that group, as its completion task does, be it by way of others (found
 *		within some hundred steps); -ENOSPC the tmpfs is full; TQ_EDRAINING; TQ_ESHUTDOWN; -EROFS;
 *		-EEXIST the task to coalesce with is of another kind;
 *		TQ_ELOCKED, -EDEADLK (from a signal handler inside taskq),
 *		TQ_ECORRUPT.
 * Since: 0.1.0
 *
 * A key is free again by what ends the task's activity, also a SIGKILL.  Whoever has
 * it decides how long: the scope of a later submit counts for its own task only.  When
 * both say TQ_UNIQUE_COALESCE, payload and label of the waiting task become those of
 * the later submit; all else of it stays.
 *
 * What it is to come after, spec->after, is decided when each of these has ended, at once
 * where it has: when one cannot be met any more, the new task is `cancelled`, cause
 * dependency, which is not an error.  One whose record has been freed has ended: it meets
 * TQ_AFTER_ANY; for the other kinds that is TQ_EGONE.  Until the new task has ended, the
 * records of those are kept, also when they are to be forgotten; as long as its own is
 * there, when it is a member of a group.  A delay runs meanwhile.
 *
 * Return: 0; 1 a task with spec->unique_key was there already, and @ret_id is its id;
 * or one of the errors above; nothing was changed then.
 */
TQ_API TQ_NODISCARD int tq_submit(struct tq *tq, const struct tq_task_spec *spec, uint64_t *ret_id);

/**
 * tq_submit_many() - hand in many tasks, at most 64 a lock hold, each atomically.
 *
 * @specs:	array of @count, .size set in each.
 * @ret_ids:	array of @count, or NULL.
 *
 * A task that is there already under its unique key counts as submitted, and its id
 * is returned; who must know hands it in by tq_submit().
 *
 * Errors:	as tq_submit(), when the first one failed.
 * Since: 0.1.0
 *
 * Return: how many were submitted, in order, or the first one's error.
 */
TQ_API TQ_NODISCARD int tq_submit_many(struct tq *tq, const struct tq_task_spec *specs,
				       uint32_t count, uint64_t *ret_ids);

/* flags of struct tq_task_info */
#define TQ_INFO_HELD (1u << 0)
#define TQ_INFO_STOPPING (1u << 1) /* cancel, time-out or lost lease: its attempt is being ended */
#define TQ_INFO_STALLED (1u << 2)  /* no progress report within progress_timeout_ns */
#define TQ_INFO_CANCEL (1u << 3)   /* a cancel has been asked for */
#define TQ_INFO_PINNED (1u << 4)   /* its record is not evictable */
#define TQ_INFO_CUT (1u << 5)	   /* the result is the tail of a longer output */
#define TQ_INFO_UNSERVED (1u << 6) /* no live worker serves its queue and kind */
#define TQ_INFO_AT_MOST_ONCE (1u << 7)
#define TQ_INFO_FORGET (1u << 8)
#define TQ_INFO_PAUSED (1u << 9) /* its queue is paused */
#define TQ_INFO_KEEP (1u << 10)
#define TQ_INFO_LATE (1u << 11) /* it ran when its deadline passed */
#define TQ_INFO_THROTTLED                                                                          \
	(1u << 12)		    /* it is ready, and one of its limits is full, or no server has
					room */
#define TQ_INFO_ASSIGNED (1u << 13)  /* it is ready, and a worker has taken it: see batch */
#define TQ_INFO_WAITING                                                                            \
	(1u << 14) /* it is running, and waits for another task: see tq_task_why() */

/* Snapshot of a task. */
struct tq_task_info {
	uint64_t size; /* in: room; out: bytes filled */
	uint64_t id;
	uint64_t sequence; /* order of submission */
	uint32_t state;	   /* enum tq_state */
	uint32_t flags;	   /* TQ_INFO_* */
	int32_t priority;
	uint32_t attempt; /* attempts begun */
	uint32_t attempts_max;
	uint32_t failures; /* of attempts_max */
	uint32_t crashes;  /* of crashes_max */
	uint32_t losses;   /* of losses_max */
	uint32_t crashes_max;
	uint32_t losses_max;
	uint32_t cause; /* enum tq_cause of the final state or the last ended attempt */
	int32_t cause_arg;
	uint64_t submitted_ns;
	uint64_t ready_ns;   /* last time it became ready; 0 never */
	uint64_t started_ns; /* last start; 0 never */
	uint64_t ended_ns;   /* reached its final state; 0 not yet */
	uint64_t due_ns;     /* not before; 0 none, or at_ns says when */
	uint64_t deadline_ns; /* finish by; 0 none, or passed before a retry */
	uint64_t timeout_ns; /* per attempt; 0 none */
	uint64_t timeout_total_ns; /* 0 none */
	uint64_t progress_timeout_ns; /* 0 none */
	uint64_t backoff_ns;
	uint64_t backoff_cap_ns;
	uint64_t payload_bytes;
	uint64_t result_bytes;
	uint64_t output_bytes; /* all that the command wrote, kept or not */
	uint64_t max_rss_bytes; /* of the last ended attempt; 0 unknown */
	uint64_t cpu_ns;	/* of the last ended attempt; 0 unknown */
	uint32_t worker;	/* number of the worker that runs it, from 1; 0 none */
	uint32_t worker_pid;
	uint32_t progress_percent; /* of the last report, of whichever attempt; 0 to 100 */
	uint32_t checkpoint_bytes; /* saved last, by whichever attempt: tq_task_checkpoint() */
	char queue[TQ_NAME_MAX + 1];
	char kind[TQ_NAME_MAX + 1];
	char label[TQ_LABEL_MAX + 1];
	char error_text[TQ_TEXT_MAX + 1];
	char progress_text[TQ_PROGRESS_TEXT_MAX + 1];
	char unique_key[TQ_KEY_MAX + 1]; /* "" none */
	char reserved1[2];
	uint32_t unique_scope; /* enum tq_unique_scope; 0 none */
	uint64_t at_ns; /* not before, by the wall clock (CLOCK_REALTIME); 0 none */
	uint64_t schedule; /* id of the schedule that made it; 0 none */
	uint32_t limit_count;  /* of limits */
	uint32_t reserved2;
	char limits[TQ_LIMITS_MAX][TQ_KEY_MAX + 1]; /* its limit keys, in any order */
	char fair_key[TQ_KEY_MAX + 1];		    /* "" none */
	char server[TQ_SERVER_MAX + 1]; /* of the attempt under way, or, until it is ready again,
					   of the last one; "" none, or removed since */
	uint64_t cause_id;    /* of TQ_CAUSE_DEPENDENCY: the task whose end it was; else 0 */
	uint32_t after_count; /* dependencies: tq_task_dependencies() */
	uint32_t unmet;	      /* things that it waits for while blocked, dependencies among them */
	int32_t effective_priority; /* .inherited_priority, and while it is ready what it has
				       gained by ageing until now; rounded down */
	int32_t inherited_priority; /* its own, or a higher one of what waits for it */
	uint64_t inherited_from; /* id of such a task; 0 none, a client's, or not found soon */
	uint64_t inherited_deadline_ns; /* an earlier one of what waits for it: for the order
					   in its queue only; 0 none */
	uint64_t group;	    /* id of the group that it is a member of; 0 none */
	uint64_t completes; /* id of the group whose end it waits for; 0 none */
	uint64_t run_ns;    /* from start to end of the last attempt that has ended; 0 unknown */
	uint32_t limit_weights[TQ_LIMITS_MAX]; /* places that it takes of each of limits */
};

/**
 * tq_task_info() - read one task: all of it as it was at one moment.  Takes no lock, unless
 * others change the segment so fast that none can be caught: then for 50 us, without changing
 * anything; a read-only handle reads the task as it was at one moment, and what is around it
 * as it was about then.
 *
 * Errors:	TQ_EGONE freed; -ENOENT never was; -EINVAL bad .size.
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_task_info(struct tq *tq, uint64_t id, struct tq_task_info *ret_info);

/* What tq_task_list() shows; a zero field does not filter. */
struct tq_task_filter {
	uint64_t size;
	uint32_t states;    /* bit (1 << enum tq_state) of each wanted state */
	uint32_t reserved0;
	const char *queue;
	const char *kind;
	const char *label; /* the whole label */
	uint64_t after;	   /* id of a task: those behind it in the list; it may be gone */
};

/**
 * tq_task_list() - read tasks in order of their slots.  Takes no lock.
 *
 * The slot is the first number of an id.  A task keeps its slot as long as it is there, so
 * one that is there from the first call to the last is read exactly once, whatever comes
 * and goes meanwhile; and where a list has ended, another one goes on with .after.
 *
 * Slots are used again, so that this is not the order of submission: that is .sequence.  Who
 * wants the newest N looks at all, best with tq_task_scan(), and keeps the N of them with the
 * highest .sequence: a tenth of a second for a million tasks, nobody held up, and memory for N.
 *
 * @filter:	or NULL.
 * @cursor:	in: 0 to begin; out: where to go on.  What is submitted after the beginning is
 *		left out.
 * @infos:	room for @count snapshots, .size set in the first.
 *
 * Since: 0.1.0
 * Return: how many were filled, 0 at the end; -EINVAL.
 */
TQ_API TQ_NODISCARD int tq_task_list(struct tq *tq, const struct tq_task_filter *filter,
				     uint64_t *cursor, struct tq_task_info *infos, uint32_t count);

/* What a task's record holds, for who reads very many. */
struct tq_task_brief {
	uint64_t size;
	uint64_t id;
	uint64_t sequence; /* these as in struct tq_task_info */
	uint32_t state;
	uint32_t flags; /* without UNSERVED, PAUSED, THROTTLED, STOPPING */
	int32_t priority;
	uint32_t attempt;
	uint32_t worker_pid;
	uint32_t reserved0;
	uint64_t submitted_ns;
	uint64_t ready_ns;
	uint64_t started_ns;
	uint64_t ended_ns;
	uint64_t due_ns;
	uint64_t cpu_ns;
	uint64_t max_rss_bytes;
	char queue[TQ_NAME_MAX + 1];
	char kind[TQ_NAME_MAX + 1];
	char label[TQ_LABEL_MAX + 1]; /* "" without TQ_SCAN_LABELS */
	char reserved1[6];
};

/* flags of tq_task_scan() */
#define TQ_SCAN_LABELS (1u << 0) /* fill label, too: one read more for each task that has one */

/**
 * tq_task_scan() - read tasks in order of their slots, about a tenth of a microsecond
 * each.  Takes no lock.  A task that changes meanwhile may be of two moments;
 * tq_task_info() is exact.
 *
 * @flags:	TQ_SCAN_*.
 * @cursor:	in: 0 to begin; out: where to go on.
 * @ret_left:	slots that have not been looked at; 0 at the end.
 * @briefs:	room for @count, .size set in the first; so many slots are looked at.
 *
 * Threads:	safe.
 * Fork:	safe.
 * Errors:	-EINVAL; TQ_ECORRUPT the segment's file is cut off.
 * Since: 0.1.0
 *
 * Return: how many were filled, also 0 when all those slots were free; or one of the
 * errors above.
 */
TQ_API TQ_NODISCARD int tq_task_scan(struct tq *tq, uint32_t flags, uint64_t *cursor,
				     uint64_t *ret_left, struct tq_task_brief *briefs,
				     uint32_t count);

/**
 * tq_task_result() - copy a finished task's result.  Does not consume it.
 *
 * @ret_bytes:	the result's size, also when @room is smaller; may be NULL.
 *
 * Errors:	TQ_ESTATE not finished; TQ_EGONE; -ENOENT.
 * Since: 0.1.0
 *
 * Return: 0 (at most @room bytes were copied), or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_task_result(struct tq *tq, uint64_t id, void *buf, uint64_t room,
				       uint64_t *ret_bytes);

/** tq_task_payload() - copy a task's payload; as tq_task_result(), in any state. Since: 0.1.0 */
TQ_API TQ_NODISCARD int tq_task_payload(struct tq *tq, uint64_t id, void *buf, uint64_t room,
					uint64_t *ret_bytes);

/**
 * tq_task_checkpoint() - copy what a task's attempts have saved last (<taskq/worker.h>).
 *
 * @buf:	TQ_CHECKPOINT_MAX bytes.
 * @ret_bytes:	how many there are.
 *
 * Errors:	-ENODATA nothing is saved; TQ_EGONE; -ENOENT; -EAGAIN it is saved too fast.
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_task_checkpoint(struct tq *tq, uint64_t id, void *buf,
					   uint64_t *ret_bytes);

/**
 * tq_output_read() - read what a task's command has written, while it runs or after.
 *
 * @offset:	position in all that the last attempt has written; bytes no longer
 *		kept are skipped.
 * @timeout_ns:	wait this long for more when there is none yet; 0 do not wait.
 * @ret_offset:	position of the first byte copied.
 * @attempt:	in: the attempt that @offset belongs to, 0 = whichever; out: the one
 *		that wrote what was copied.  When a later one has begun, reading
 *		starts over at its first byte.
 *
 * A finished handler's result is its output.  Who works on a task waits on its behalf, as
 * in tq_wait(), and so takes the lock; others take none.
 *
 * Errors:	-ENODATA finished and nothing after @offset; -ETIMEDOUT nothing
 *		new in time; -EINTR a signal was handled; TQ_EGONE; -ENOENT; -EDEADLK
 *		as tq_wait().
 * Since: 0.1.0
 *
 * Return: bytes copied (above 0), or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_output_read(struct tq *tq, uint64_t id, uint64_t offset, void *buf,
				       uint32_t room, uint64_t timeout_ns, uint64_t *ret_offset,
				       uint32_t *attempt);

/**
 * tq_output_follow() - the same, and nothing is overwritten before this process has read it.
 *
 * All before @offset counts as read.  From the first call that finds the task running on,
 * its command is held back as by a pipe, until a later call says that more has been read,
 * tq_output_leave(), or the end of this process; while it is stopped, for 5 s at most.  A
 * command that was submitted with a `reader` (struct tq_exec) is held back from its first
 * byte on.  A time-out or a cancel of the task ends it all the same.
 *
 * Two processes can follow a task at a time; others read as by tq_output_read().  Threads of one
 * process that follow the same task count as one.  What was lost all the same shows in
 * @ret_offset: it is above @offset; or at the end, in what tq_task_info() says has been written.
 *
 * Errors:	those of tq_output_read(); -EROFS.
 * Since: 0.1.0
 *
 * Return: bytes copied (above 0), or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_output_follow(struct tq *tq, uint64_t id, uint64_t offset, void *buf,
					 uint32_t room, uint64_t timeout_ns, uint64_t *ret_offset,
					 uint32_t *attempt);

/**
 * tq_output_leave() - hold its command back no longer.
 *
 * Errors:	TQ_EGONE; -ENOENT; -EROFS.
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_output_leave(struct tq *tq, uint64_t id);

/** tq_output_reader() - the name of this process for struct tq_exec. Since: 0.1.0 */
TQ_API uint64_t tq_output_reader(struct tq *tq);

/**
 * tq_output_read_attempt() - read what an attempt that has ended has written, if it is kept.
 *
 * Of the attempt that ended last, that is all that tq_output_read() has; of earlier ones, of
 * the last TQ_HISTORY_MAX, the newest are kept that have 64 KiB together.  Takes no lock,
 * and never waits.
 *
 * @attempt:	its number, from 1.
 * @offset:	position in all that it has written; bytes no longer kept are skipped.
 * @ret_offset:	position of the first byte copied.
 *
 * Errors:	-ENODATA nothing after @offset; -ESTALE none of it is kept; TQ_ESTATE it has not
 *		ended; TQ_EGONE; -ENOENT; -EAGAIN the task changes too fast; -EINVAL.
 * Since: 0.1.0
 *
 * Return: bytes copied (above 0), or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_output_read_attempt(struct tq *tq, uint64_t id, uint32_t attempt,
					       uint64_t offset, void *buf, uint32_t room,
					       uint64_t *ret_offset);

/* One ended attempt. */
struct tq_attempt_info {
	uint64_t started_ns;
	uint64_t ended_ns;
	uint32_t number; /* from 1 */
	uint32_t worker; /* its number, from 1; 0 not known any more: a retry kept the pid */
	uint32_t worker_pid;
	uint32_t cause; /* enum tq_cause */
	int32_t cause_arg;
	uint32_t reserved0;
};

/**
 * tq_task_history() - read a task's last ended attempts, oldest first.
 *
 * @attempts:	room for TQ_HISTORY_MAX.
 *
 * Errors:	TQ_EGONE; -ENOENT.
 * Since: 0.1.0
 *
 * Return: how many were filled, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_task_history(struct tq *tq, uint64_t id,
					struct tq_attempt_info *attempts);

/* flags of struct tq_wait_opts */
#define TQ_WAIT_ANY (1u << 0)	   /* until any of them is; default all */
#define TQ_WAIT_PRIORITY (1u << 1) /* .priority counts */

/* How to wait for tasks. */
struct tq_wait_opts {
	uint64_t size;
	uint32_t flags;	    /* TQ_WAIT_*; unknown bits: -EINVAL */
	uint32_t states;    /* of one task: bit (1 << enum tq_state) of each that will do; default
			       the final ones.  One that is passed through between two looks may
			       be missed, a final one is not */
	int32_t priority;   /* while this waits, none of the tasks, and nothing that these wait for
			       in their turn, counts as less urgent than that; bigger is more
			       urgent.  Inside a handler, or a command that taskq runs, a wait
			       always has the priority of the task that waits instead */
	uint32_t reserved0; /* must be 0 */
};

/**
 * tq_wait() - wait until tasks are final: one, all, or any of them, as they are now.
 *
 * @ids:	@count ids, 1 to 65,536.
 * @timeout_ns:	longest wait, relative; 0 = only look, TQ_FOREVER_NS = no limit.
 * @opts:	NULL for all defaults.
 * @ret_info:	the task that the return value names (.size set before the call); may be
 *		NULL, and is where all of several are waited for.
 *
 * No record can be evicted while somebody waits on it.
 *
 * A task waits when the thread that has claimed it does (tq_claim(), tq_claim_adopt()), a
 * handler among them, or a process inside its command (TASKQ_ID, TASKQ_ATTEMPT and
 * TASKQ_SEGMENT say so).  One that runs in a farm does not count as running meanwhile:
 * see tq_farm_run().  Its wait is refused when it would never end, because what it waits
 * for waits for it or depends on it, be it by way of others; whatever @timeout_ns, unless
 * that is 0.  Only what is certain is refused: not a wait for any of several as long as one
 * of them gets on, nor what takes more than some hundred steps to find.
 *
 * Threads:	safe.
 * Fork:	safe; a child of who has claimed a task does not work on it.
 * Errors:	-ETIMEDOUT not so yet, or the lock, which a stopped process may hold, was
 *		not to be had by then; TQ_ESTATE it ended in a state that is not wanted;
 *		-EDEADLK the caller's own task would have to end first; -EINTR a signal was
 *		handled (not in a handler of a farm: the signal is its worker's);
 *		-EINVAL no ids, a bad option, .states for several; TQ_EGONE; -ENOENT;
 *		TQ_ESHUTDOWN the segment was destroyed; TQ_EFULL no wait slot, or no memory
 *		to note the priority; lock errors.
 * Since: 0.1.0
 *
 * Return: the index in @ids of the one that it ended with, 0 for all; or one of the errors
 * above.
 */
TQ_API TQ_NODISCARD int tq_wait(struct tq *tq, const uint64_t *ids, uint32_t count,
				uint64_t timeout_ns, const struct tq_wait_opts *opts,
				struct tq_task_info *ret_info);

/**
 * tq_task_after() - make a task that has not started depend on one more.
 *
 * @id:		the dependant; blocked, delayed or ready, and never started.
 * @on:		a task that was submitted before it, and does not wait for it.
 * @kind:	enum tq_after.
 *
 * Decided at once when @on has ended, as at a submission: @id may be cancelled by it.  A
 * dependency that is there already counts once.
 *
 * Errors:	TQ_ECYCLE @on was not submitted before @id, or waits for it, as the
 *		completion task of its group does, be it by way of others (found within
 *		some hundred steps); TQ_ESTATE @id has started or ended, or a purge has cancelled it; -ENOENT, TQ_EGONE one of them never
 *		was, or has been freed (@on: but for TQ_AFTER_ANY); -E2BIG @id has
 *		TQ_DEPENDENCIES_MAX; -EINVAL; TQ_EFULL; -EROFS; lock errors.
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_task_after(struct tq *tq, uint64_t id, uint64_t on, uint32_t kind);

/* The other side of a dependency. */
struct tq_dependency_info {
	uint64_t id;	  /* of the other task */
	uint32_t kind;	  /* enum tq_after */
	uint32_t state;	  /* enum tq_state of the other task; TQ_FREE it is going */
	uint32_t decided; /* 1: the dependant waits for it no more */
	uint32_t reserved0;
};

/**
 * tq_task_dependencies() - which tasks a task is to come after.  Takes no lock.
 *
 * A task that has ended has given up its dependencies, unless one of them cancelled it, or
 * it was a member of a group then.
 *
 * @infos:	room for @count; NULL when that is 0.
 *
 * Errors:	TQ_EGONE; -ENOENT.
 * Since: 0.1.0
 *
 * Return: how many were filled, newest first, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_task_dependencies(struct tq *tq, uint64_t id,
					     struct tq_dependency_info *infos, uint32_t count);

/** tq_task_dependants() - which tasks wait for a task, and which its end has cancelled; as
 * tq_task_dependencies(), in no order. Since: 0.1.0 */
TQ_API TQ_NODISCARD int tq_task_dependants(struct tq *tq, uint64_t id,
					   struct tq_dependency_info *infos, uint32_t count);

/** tq_after_name() - text of a kind of dependency, "after-ok"; "?" unknown. Since: 0.1.0 */
TQ_API const char *tq_after_name(uint32_t kind);

/* What tq_task_steer() does. */
enum tq_task_action {
	TQ_TASK_ACTION_HOLD = 1, /* do not start it (it may be waiting in any state) */
	TQ_TASK_ACTION_UNHOLD,
	TQ_TASK_ACTION_RETRY,  /* from a final state: a new life, zeroed budgets, without a
				  deadline that has passed; what was done without its checkpoint */
	TQ_TASK_ACTION_FORGET, /* free a finished record */
	TQ_TASK_ACTION_RETRY_DEPENDANTS, /* retry, and with it, as if each were retried, the tasks
				  that its end has cancelled, and those that theirs have; they
				  wait for it as before */
	TQ_TASK_ACTION_CANCEL,
	TQ_TASK_ACTION_CANCEL_DEPENDANTS, /* with all that depends on it, and on these, whatever
				  the kinds of their dependencies */
};

/**
 * tq_task_steer() - hold, unhold, cancel, retry or forget a task.
 *
 * One that waits is `cancelled` at once.  A running one is asked to stop, then stopped as
 * far as its worker allows; its own verdict wins if it comes first, but no retry follows.
 * The request outlives workers and masters.  What depends on it is cancelled when it has
 * ended, also by a verdict that came first, cause dependency; that goes on by itself,
 * whoever dies.
 *
 * A retry by itself waits for the dependencies that are not decided yet, and, after-ok, for
 * those that have a new life themselves; what refused it, and all others, stay decided.
 * What came after a task that was done, and is done again, is not done again, and nobody is
 * revived with it: its end has cancelled only what came after its failure.
 * With its dependants a task is blocked itself until all of them are revived, which goes on
 * by itself, whoever dies; one stays cancelled for which there is no room, whose unique key
 * is taken, or that another dependency keeps from starting, which then is its cause.
 *
 * Errors:	TQ_ESTATE its state does not allow it (cancel: it is final), or its end is still being told to
 *		its dependants; TQ_EGONE; -ENOENT; -EROFS;
 *		TQ_EFULL no room for a retry; TQ_ESHUTDOWN; -EEXIST (retry)
 *		another task has its unique key; lock errors.
 * Since: 0.1.0
 *
 * Return: 0; 1 cancel, and it is being stopped; or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_task_steer(struct tq *tq, uint64_t id, enum tq_task_action action);

/* fields of struct tq_task_update */
#define TQ_UPDATE_PRIORITY (1u << 0)
#define TQ_UPDATE_QUEUE (1u << 1)
#define TQ_UPDATE_DELAY (1u << 2) /* also in place of at_ns */
#define TQ_UPDATE_AT (1u << 3) /* also in place of a delay or back-off; not with DELAY */
#define TQ_UPDATE_DEADLINE (1u << 4)
#define TQ_UPDATE_LABEL (1u << 5)
#define TQ_UPDATE_ATTEMPTS (1u << 6) /* those that have failed count */
#define TQ_UPDATE_TIMEOUT (1u << 7)
#define TQ_UPDATE_TIMEOUT_TOTAL (1u << 8)
#define TQ_UPDATE_LIMITS (1u << 9) /* these, in place of all that it had */

/* Changes to a task that waits. */
struct tq_task_update {
	uint64_t size;
	uint64_t delay_ns; /* from now */
	const char *queue;
	uint32_t fields; /* TQ_UPDATE_*: which of these to change */
	int32_t priority;
	uint64_t at_ns; /* CLOCK_REALTIME, since 1970, not 0; one that has passed: at once */
	uint64_t deadline_ns; /* from now, not 0; TQ_UNLIMITED = none */
	const char *label;    /* at most TQ_LABEL_MAX bytes; NULL or "" = none */
	uint64_t timeout_ns;  /* per attempt, not 0; TQ_UNLIMITED = none */
	uint64_t timeout_total_ns; /* for all attempts, not 0; TQ_UNLIMITED = none */
	uint32_t attempts_max;	   /* 1 to TQ_ATTEMPTS_MAX */
	uint32_t limit_count;	   /* up to TQ_LIMITS_MAX; 0: it has no limits any more */
	const char *const *limits; /* as in a spec; NULL only when limit_count is 0 */
	const uint32_t *limit_weights; /* as in a spec */
};

/**
 * tq_task_update() - change what has been said of a waiting task.
 *
 * A task that is ready and stays so keeps what ageing has given it, unless its priority
 * is changed.  With other limits it waits for those from then on, in the place among their
 * tasks that it has by the policy of its queue.
 *
 * Errors:	TQ_ESTATE running or final, or (queue) it shares a coalesced key with
 *		another task; -EEXIST another task has its unique key there;
 *		TQ_EGONE; -ENOENT; -EINVAL, -ERANGE bad field, or AT with DELAY;
 *		-E2BIG another label for a task with a payload above 4096 bytes;
 *		TQ_EFULL of its queue, or of limit keys; -ENOSPC; -EROFS; lock errors.
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above; all changes or none.
 */
TQ_API TQ_NODISCARD int tq_task_update(struct tq *tq, uint64_t id,
				       const struct tq_task_update *update);

/** tq_task_state_name() - text of a state, "ready"; "?" when unknown. Since: 0.1.0 */
TQ_API const char *tq_task_state_name(uint32_t state);

/** tq_cause_name() - text of a cause without its argument, "exit". Since: 0.1.0 */
TQ_API const char *tq_cause_name(uint32_t cause);

/**
 * tq_cause_format() - text of a cause, "exit:3", "signal:KILL", "timeout", "error:77".
 *
 * @buf:	at least 32 bytes.
 *
 * Since: 0.1.0
 * Return: @buf.
 */
TQ_API char *tq_cause_format(uint32_t cause, int32_t arg, char *buf);

#ifdef __cplusplus
}
#endif
#endif
