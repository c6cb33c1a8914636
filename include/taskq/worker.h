/* SPDX-License-Identifier: MIT */
/* Workers: register, claim, report. */
#ifndef TASKQ_WORKER_H
#define TASKQ_WORKER_H

#include <taskq/segment.h>
#include <taskq/task.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A registered worker of this process. */
struct tq_worker;

/* What may be killed to end an attempt of this worker. */
enum tq_kill_policy {
	TQ_KILL_NOTHING = 0, /* the next attempt waits until the process has ended */
	TQ_KILL_PROCESS = 1, /* the worker's process: by its parent, or by itself from its
				heartbeat thread */
};

/* flags of struct tq_worker_opts */
#define TQ_WORKER_HEARTBEAT                                                                        \
	(1u << 0) /* start a thread that renews the lease and watches for stops */
#define TQ_WORKER_COMMANDS                                                                         \
	(1u << 1) /* it takes commands: claims answer TQ_ECOMMAND (<taskq/command.h>) */

/*
 * Work stealing, in queues with a batch (struct tq_queue_opts): what a worker that has
 * nothing to do takes of the tasks that others have taken and not started.
 */
struct tq_stealing {
	uint32_t max_count;    /* tasks at a time, up to TQ_BATCH_MAX; default 2; TQ_OFF none */
	uint32_t min_capacity; /* thousandths of its batch that must be free, up to 1000;
				  default 300; TQ_OFF: however few */
	uint64_t interval_ns;  /* least time from one to the next; default none */
};
#define TQ_STEAL_COUNT_DEFAULT 2
#define TQ_STEAL_CAPACITY_DEFAULT 300

/* Options of tq_worker_open(). */
struct tq_worker_opts {
	uint64_t size;		   /* sizeof this struct in the caller's build */
	const char *const *queues; /* served in strict order; default "default" alone */
	const char *const *kinds;  /* kinds it can run; NULL = any */
	uint32_t queue_count;	   /* 0 to TQ_WORKER_QUEUES_MAX */
	uint32_t kind_count;	   /* 0 = any */
	uint64_t lease_ns;	   /* a claim not renewed for this long is lost; default none: the
				      claim lasts as long as the process, or until the task's time-out */
	uint64_t grace_ns;	   /* from the request to stop to the kill; default 5 s */
	uint32_t kill;		   /* enum tq_kill_policy; default nothing */
	uint32_t flags;		   /* TQ_WORKER_* */
	const char *name;	   /* for people; default none */
	struct tq_stealing stealing;
};

/**
 * tq_worker_open() - register the calling thread's process as a worker.
 *
 * The calling thread should last as long as the worker: its end is a hint that
 * the worker may have died (verified before anything is done).
 *
 * Ownership:	close with tq_worker_close() before tq_close().
 * Threads:	one thread at a time per worker; different workers are
 *		independent.
 * Fork:	every call on it is -ECHILD in a child.
 * Errors:	-EINVAL; TQ_EFULL no worker slot; TQ_EQUEUES, TQ_EKINDS; TQ_ESHUTDOWN; -EROFS; lock errors.
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_worker_open(struct tq *tq, const struct tq_worker_opts *opts,
				       struct tq_worker **ret_worker);

/**
 * tq_worker_close() - unregister; tasks still claimed go back without fault.
 *
 * Return: NULL.
 * Since: 0.1.0
 */
TQ_API struct tq_worker *tq_worker_close(struct tq_worker *worker);

/* One claimed task.  Keep the struct as it is until the verdict. */
struct tq_claim {
	uint64_t size; /* set before the call */
	uint64_t id;
	uint64_t epoch;		    /* of this attempt, in the segment */
	const void *payload;	    /* in the segment: read only */
	uint64_t payload_bytes;
	const void *checkpoint;	    /* what an earlier attempt saved; NULL none */
	uint64_t checkpoint_bytes;
	const char *progress_text;  /* of the last report of an earlier attempt; NULL none */
	const char *server;	    /* where it is to run (<taskq/server.h>); NULL its queue has none */
	uint64_t timeout_at_ns;	    /* CLOCK_MONOTONIC; 0 none */
	uint32_t attempt;	    /* number of this attempt, from 1 */
	uint32_t slot;		    /* the library's */
	uint32_t progress_percent;  /* of that report, 0 to 100 */
	uint32_t reserved1;
	char kind[TQ_NAME_MAX + 1];
	char queue[TQ_NAME_MAX + 1];
	char reserved0[6];
};

/**
 * tq_claim() - take the next task: queues in the worker's order, then by priority,
 * then by submission.
 *
 * @timeout_ns:	longest wait for a task, relative; 0 = do not wait, TQ_FOREVER_NS =
 *		no limit.
 * @ret_claim:	filled on success, untouched otherwise; set .size before the call.
 *
 * Ownership:	@ret_claim->payload, ->checkpoint, ->progress_text and ->server point into
 *		the segment and are valid until the verdict, even when the lease is lost
 *		meanwhile.
 * Threads:	one thread at a time per worker.
 * Fork:	-ECHILD in a child of the process that opened @worker.
 * Signals:	-EINTR when a handler ran while it slept.
 * Blocks:	up to @timeout_ns.
 * Errors:	-ETIMEDOUT nothing startable in time; TQ_ECOMMAND a command comes first, until it is acknowledged:
 *		tq_command_take() (only with TQ_WORKER_COMMANDS); TQ_ESHUTDOWN; TQ_EFULL it holds
 *		TQ_CLAIMS_MAX claims; lock errors.
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_claim(struct tq_worker *worker, uint64_t timeout_ns,
				 struct tq_claim *ret_claim);

/**
 * tq_claim_many() - take up to @count tasks; waits only for the first.
 *
 * Since: 0.1.0
 * Return: how many were claimed, or an error of tq_claim().
 */
TQ_API TQ_NODISCARD int tq_claim_many(struct tq_worker *worker, uint64_t timeout_ns,
				      struct tq_claim *ret_claims, uint32_t count);

/* How an attempt ended.  No value is a state's or a handler's result: these are refused. */
enum tq_verdict_kind {
	TQ_VERDICT_DONE = 201,
	TQ_VERDICT_FAIL = 202,	  /* retried while attempts_max allows */
	TQ_VERDICT_FATAL = 203,	  /* failed for good */
	TQ_VERDICT_RELEASE = 204, /* given back without fault; keeps its place */
};

/* A worker's verdict on its claim. */
struct tq_verdict {
	uint64_t size;
	uint32_t kind;		/* enum tq_verdict_kind */
	uint32_t cause;		/* enum tq_cause; default by kind: exit:0 or error */
	int32_t cause_arg;
	uint32_t reserved0;	/* must be 0 */
	const void *result;	/* copied; kept with the finished record */
	uint64_t result_bytes;	/* at most TQ_PAYLOAD_MAX; when memory is short, less of its tail
				   is kept (TQ_INFO_CUT) */
	uint64_t output_bytes;	/* all that was written, when result is the tail of it */
	uint64_t max_rss_bytes; /* 0 unknown */
	uint64_t cpu_ns;	/* 0 unknown */
	uint64_t delay_ns;	/* RELEASE: start again not before, from now */
	const char *text;	/* error text, cut at TQ_TEXT_MAX; may be NULL */
};

/**
 * tq_end() - report how an attempt ended.
 *
 * Errors:	TQ_ELEASE a later attempt has started: nothing was changed, the
 *		claim is gone; -EINVAL; lock errors (the claim stays).
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_end(struct tq_worker *worker, const struct tq_claim *claim,
			       const struct tq_verdict *verdict);

/**
 * tq_end_many() - report how several attempts ended, up to 64 in one visit of the lock.
 *
 * In the order given, each as tq_end() does it; what was made stands, whatever becomes
 * of the later ones.
 *
 * @claims:	@count of them, each once.
 * @verdicts:	one for each claim, each with its .size.
 * @ret_results: of each one that was made 0 or TQ_ELEASE; may be NULL.
 *
 * Threads: one thread at a time per worker.
 * Fork: -ECHILD in a child of the process that opened @worker.
 * Errors: those of tq_end() but TQ_ELEASE.
 * Since: 0.1.0
 *
 * Return: how many were made, from the first on; or, when that is none, why.
 */
TQ_API TQ_NODISCARD int tq_end_many(struct tq_worker *worker, const struct tq_claim *claims,
				    const struct tq_verdict *verdicts, uint32_t count,
				    int *ret_results);

/** tq_complete() - tq_end() with DONE and a result. Since: 0.1.0 */
TQ_API TQ_NODISCARD int tq_complete(struct tq_worker *worker, const struct tq_claim *claim,
				    const void *result, uint64_t result_bytes);

/** tq_fail() - tq_end() with FAIL (or FATAL when @fatal is not 0) and a text, which may be NULL.
 * Since: 0.1.0 */
TQ_API TQ_NODISCARD int tq_fail(struct tq_worker *worker, const struct tq_claim *claim, int fatal,
				const char *text);

/** tq_release() - tq_end() with RELEASE. Since: 0.1.0 */
TQ_API TQ_NODISCARD int tq_release(struct tq_worker *worker, const struct tq_claim *claim,
				   uint64_t delay_ns);

/**
 * tq_next() - verdict and next claim in one transaction.
 *
 * Both or, on an error of the verdict, neither.  When no task is startable the
 * verdict stands and the call waits as tq_claim() does.
 *
 * @ret_claim:	may be @claim.
 * @ret_verdict: result of the verdict: 0 or TQ_ELEASE; may be NULL.
 *
 * Since: 0.1.0
 * Return: 0, or an error of tq_claim() (the verdict stands) or tq_end().
 */
TQ_API TQ_NODISCARD int tq_next(struct tq_worker *worker, const struct tq_claim *claim,
				const struct tq_verdict *verdict, uint64_t timeout_ns,
				struct tq_claim *ret_claim, int *ret_verdict);

/**
 * tq_renew() - extend the lease of all claims of the worker by its lease time.
 *
 * Errors:	TQ_ELEASE one of them was already taken away.
 * Blocks:	never; takes no lock.
 * Since: 0.1.0
 *
 * Return: 0, or the error above.
 */
TQ_API TQ_NODISCARD int tq_renew(struct tq_worker *worker);

/**
 * tq_claim_stopping() - whether the attempt has been asked to stop.
 *
 * Blocks:	never; takes no lock.  Any thread.
 * Since: 0.1.0
 *
 * Return: 0 go on; else the enum tq_cause why (cancelled, timeout, lease-lost).
 */
TQ_API int tq_claim_stopping(struct tq_worker *worker, const struct tq_claim *claim);

/**
 * tq_claim_wait_stop() - sleep until the attempt is asked to stop, or @timeout_ns.
 *
 * Since: 0.1.0
 * Return: as tq_claim_stopping(); -EINTR a signal was handled.
 */
TQ_API int tq_claim_wait_stop(struct tq_worker *worker, const struct tq_claim *claim,
			      uint64_t timeout_ns);

/**
 * tq_claim_progress() - report progress; survives SIGKILL, and feeds
 * progress_timeout_ns.
 *
 * The last report stays in the task's record when the attempt has ended, and is handed to
 * the next one.
 *
 * @percent:	0 to 100.
 * @text:	cut at TQ_PROGRESS_TEXT_MAX; NULL = none.
 *
 * Blocks:	never; takes no lock.
 * Since: 0.1.0
 *
 * Return: 0; -EINVAL; TQ_ELEASE the claim has ended.
 */
TQ_API TQ_NODISCARD int tq_claim_progress(struct tq_worker *worker, const struct tq_claim *claim,
					  uint32_t percent, const char *text);

/**
 * tq_claim_adopt() - the calling thread works on this claim from now on.
 *
 * What a thread waits for (tq_wait() and its kin, tq_output_read()) counts as waited for by the
 * task that it works on: see tq_wait().  tq_claim() and tq_next() say so for the thread
 * that calls them, when they give it one claim; this is for hosts that hand claims over to
 * other threads, and for threads of a handler.
 *
 * @claim:	held by @worker; NULL: the thread works on none.
 *
 * Threads:	speaks of the calling thread only, and of this handle.
 * Fork:	-ECHILD in a child of the process that opened @worker; a child works
 *		on no claim.
 * Blocks:	never.
 * Since: 0.1.0
 *
 * Return: 0, or -ECHILD.
 */
TQ_API int tq_claim_adopt(struct tq_worker *worker, const struct tq_claim *claim);

#define TQ_CHECKPOINT_MAX 4096 /* bytes */

/**
 * tq_claim_checkpoint() - save a few bytes for the next attempt; all or, when
 * killed inside, the ones saved before.
 *
 * @data:	at most TQ_CHECKPOINT_MAX bytes.
 *
 * Errors:	-E2BIG; TQ_EFULL no memory (the old one stays); TQ_ELEASE; lock
 *		errors at the first call of an attempt (it reserves the memory).
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_claim_checkpoint(struct tq_worker *worker, const struct tq_claim *claim,
					    const void *data, uint64_t bytes);

/**
 * tq_attempt_progress() - as tq_claim_progress(), of the attempt that the caller works for:
 * the one that its thread has claimed, or, in a process of a task's command, the command's.
 *
 * The environment of the command says which (TASKQ_ID, TASKQ_ATTEMPT, TASKQ_SEGMENT).
 *
 * @percent:	0 to 100.
 * @text:	cut at TQ_PROGRESS_TEXT_MAX; NULL = none.
 *
 * Since: 0.1.0
 *
 * Return: 0; -EINVAL; -ESRCH it works for none; lock errors.
 */
TQ_API TQ_NODISCARD int tq_attempt_progress(struct tq *tq, uint32_t percent, const char *text);

/**
 * tq_attempt_checkpoint() - as tq_claim_checkpoint(), of the attempt that the caller works
 * for.
 *
 * @data:	at most TQ_CHECKPOINT_MAX bytes.
 *
 * Errors:	-ESRCH it works for none; -E2BIG; TQ_EFULL no memory (the old one stays);
 *		lock errors.
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_attempt_checkpoint(struct tq *tq, const void *data, uint64_t bytes);

/**
 * tq_attempt_restore() - copy what was saved last, by this attempt or by an earlier one.
 *
 * @buf:	TQ_CHECKPOINT_MAX bytes.
 * @ret_bytes:	how many there are.
 *
 * Errors:	-ESRCH it works for none; -ENODATA nothing was saved; lock errors.
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_attempt_restore(struct tq *tq, void *buf, uint64_t *ret_bytes);

/* flags of struct tq_worker_info */
#define TQ_WORKER_IS_MASTER (1u << 0)
#define TQ_WORKER_IS_SUSPECT (1u << 1) /* its lease has run out; being judged */
#define TQ_WORKER_IS_DYING (1u << 2)   /* gone; its tasks are about to be given back */
#define TQ_WORKER_IS_STOPPING (1u << 3)
#define TQ_WORKER_IS_ASLEEP (1u << 4) /* waits for a task */
#define TQ_WORKER_TAKES_COMMANDS (1u << 5)
#define TQ_WORKER_IS_WAITING (1u << 6) /* what it runs waits for other tasks, all of it */

/* Snapshot of a worker, or of a farm's master. */
struct tq_worker_info {
	uint64_t size; /* in: room; out: bytes filled */
	uint32_t number; /* from 1 */
	uint32_t flags;	 /* TQ_WORKER_IS_* */
	uint32_t pid;
	uint32_t master; /* number of its farm's master; 0 none */
	uint32_t claims; /* tasks it holds now */
	uint32_t queue_count;
	uint64_t tasks;	 /* attempts it has begun */
	uint64_t registered_ns;
	uint64_t lease_ns;	    /* 0 none */
	uint64_t lease_deadline_ns; /* 0 none */
	uint64_t task;		    /* a task that it runs; 0 none */
	char name[TQ_NAME_MAX + 1];
	char queues[127]; /* served queues, comma separated, cut with "..." */
	uint32_t assigned; /* ready tasks that it has taken and not started */
	uint32_t reserved0;
	uint64_t stolen; /* tasks that it has stolen */
};

/** tq_worker_list() - read workers and masters; as tq_queue_list(). Since: 0.1.0 */
TQ_API TQ_NODISCARD int tq_worker_list(struct tq *tq, uint64_t *cursor,
				       struct tq_worker_info *infos, uint32_t count);

#ifdef __cplusplus
}
#endif
#endif
