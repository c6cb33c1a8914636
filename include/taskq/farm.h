/* SPDX-License-Identifier: MIT */
/* Farms: handlers, commands, and a master that keeps workers alive. */
#ifndef TASKQ_FARM_H
#define TASKQ_FARM_H

#include <taskq/command.h>
#include <taskq/worker.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One attempt inside a handler. */
struct tq_run;

/*
 * Results of a handler.  Any other value is a retryable failure, and is kept as .cause_arg: a
 * negative one with the text of that error; a positive one, such as an exit code, as
 * "error:77".  So what belongs elsewhere, TQ_DONE or TQ_VERDICT_DONE, is never taken for done.
 */
enum tq_run_result {
	TQ_RUN_DONE = 0,
	TQ_RUN_FAIL = 301,  /* retry while attempts_max allows */
	TQ_RUN_FATAL = 302, /* failed for good */
};

/* Runs one attempt; may return, fail, crash or hang: only its process pays. */
typedef int tq_handler(struct tq_run *run, void *arg);

/**
 * tq_handler_set() - register the handler of a kind in this process, replace it,
 * or (@handler NULL) remove it.
 *
 * Takes effect for attempts that begin later, also while others run; when it
 * returns, no thread of this process will enter the old handler any more (one
 * that runs goes on).  Processes forked later inherit it.
 *
 * @kind:	any name but "exec", which runs commands.
 *
 * Threads:	safe, not from inside a handler of the same handle.
 * Errors:	-EINVAL; -ENOENT nothing to remove; -ENOMEM.
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_handler_set(struct tq *tq, const char *kind, tq_handler *handler,
				       void *arg);

/** tq_run_claim() - the attempt's claim: payload, id, checkpoint. Since: 0.1.0 */
TQ_API const struct tq_claim *tq_run_claim(const struct tq_run *run);

/** tq_run_worker() - the worker that runs it, for the tq_claim_*() functions. Since: 0.1.0 */
TQ_API struct tq_worker *tq_run_worker(const struct tq_run *run);

/**
 * tq_run_result() - set the result to report when the handler returns; copied.
 *
 * Since: 0.1.0
 * Return: 0; -E2BIG; -ENOMEM.
 */
TQ_API TQ_NODISCARD int tq_run_result(struct tq_run *run, const void *data, uint64_t bytes);

/** tq_run_progress() - as tq_claim_progress(), of this attempt. Since: 0.1.0 */
TQ_API TQ_NODISCARD int tq_run_progress(struct tq_run *run, uint32_t percent, const char *text);

/** tq_run_checkpoint() - as tq_claim_checkpoint(), of this attempt. Since: 0.1.0 */
TQ_API TQ_NODISCARD int tq_run_checkpoint(struct tq_run *run, const void *data, uint64_t bytes);

/** tq_run_stopping() - as tq_claim_stopping(), of this attempt. Since: 0.1.0 */
TQ_API int tq_run_stopping(struct tq_run *run);

/** tq_run_error() - set the error text to report on failure; copied and cut. Since: 0.1.0 */
TQ_API void tq_run_error(struct tq_run *run, const char *text);

/* flags of struct tq_exec */
#define TQ_EXEC_LEFTOVERS (1u << 0) /* what has left its process group may outlive the attempt */
#define TQ_EXEC_APPEND (1u << 1)    /* to output_path, instead of emptying it first */
#define TQ_EXEC_UMASK (1u << 2)	    /* .umask is that of the command, and of output_path */
#define TQ_EXEC_READER_FD (1u << 3) /* standard error goes to the reader's descriptor */
/*
 * Standard input is that of the reader's process, a pipe or a file, which goes on where that
 * process stands; an attempt for which it cannot be opened, as when that has ended, fails.
 * Without this it is /dev/null.
 */
#define TQ_EXEC_READER_INPUT (1u << 4)

/* A command, the payload of kind "exec". */
struct tq_exec {
	uint64_t size;		  /* sizeof this struct in the caller's build */
	const char *const *argv;  /* NULL-terminated, at least one */
	const char *const *env;	  /* NULL-terminated "NAME=value" added to the worker's; or NULL */
	const char *cwd;	  /* directory to run in; NULL = the worker's */
	const char *output_path;  /* both outputs go to this file, in whose name %i is the task's
				     id, %a the attempt and %% a percent sign,
				     tq_exec_output_path(); NULL = kept with the task */
	uint64_t reader; /* who will follow its output from the first byte on, as
			    tq_output_reader() names it: it is held back until that has read;
			    0 = nobody */
	uint32_t flags;	/* TQ_EXEC_* */
	uint32_t umask; /* with TQ_EXEC_UMASK, 0 to 0777; else the worker's */
	uint32_t reader_fd; /* with TQ_EXEC_READER_FD, one of a pipe in the process of .reader;
			       when it cannot be opened from the worker's, as for another user,
			       standard error goes where the output goes */
	uint32_t reserved0; /* must be 0 */
};

/**
 * tq_exec_encode() - make a payload from a command.
 *
 * @buf:	@room bytes; may be NULL to learn the size.
 * @ret_bytes:	the payload's size, also when @room is smaller or @buf is NULL
 *		(-ENOBUFS).
 *
 * Since: 0.1.0
 * Return: 0; -EINVAL; -E2BIG over TQ_PAYLOAD_MAX; -ENOBUFS.
 */
TQ_API TQ_NODISCARD int tq_exec_encode(const struct tq_exec *exec, void *buf, uint64_t room,
				       uint64_t *ret_bytes);

/**
 * tq_exec_decode() - read a payload back; every pointer goes into @payload or the
 * one allocation that free(@ret_exec) frees.
 *
 * Since: 0.1.0
 * Return: 0; -EINVAL not such a payload; -ENOMEM.
 */
TQ_API TQ_NODISCARD int tq_exec_decode(const void *payload, uint64_t bytes,
				       struct tq_exec **ret_exec);

/**
 * tq_exec_output_path() - the name of the file that an attempt of a command writes to.
 *
 * @ret_path:	exec->output_path with the task's id, the attempt's number and percent signs
 *		in the place of %i, %a and %%; relative to exec->cwd unless it begins with
 *		"/".  Freed by free().
 *
 * Since: 0.1.0
 * Return: 0; -ENODATA its output is kept with the task; -ENOMEM; -EINVAL.
 */
TQ_API TQ_NODISCARD int tq_exec_output_path(const struct tq_exec *exec, uint64_t id,
					    uint32_t attempt, char **ret_path);

/**
 * tq_submit_exec() - hand in a command: tq_exec_encode() and tq_submit() in one.
 *
 * @argv:	NULL-terminated, at least one; copied before the call returns.
 * @spec:	all else of the task, without a payload; its kind is "exec", or NULL.  NULL: all
 *		defaults.
 * @ret_id:	the task's id; may be NULL.
 *
 * What only struct tq_exec has, as a directory or an environment, wants the two calls.
 *
 * Threads:	safe.
 * Fork:	safe.
 * Blocks:	as tq_submit().
 * Errors:	-EINVAL no command, or @spec has a payload or another kind; -E2BIG the
 *		command is over TQ_PAYLOAD_MAX; -ENOMEM; those of tq_submit().
 * Since: 0.1.0
 *
 * Return: as tq_submit().
 */
TQ_API TQ_NODISCARD int tq_submit_exec(struct tq *tq, const char *const *argv,
				       const struct tq_task_spec *spec, uint64_t *ret_id);

/* flags of struct tq_farm_opts */
#define TQ_FARM_UNTIL_EMPTY (1u << 0) /* return when nothing that it serves can start any more */
#define TQ_FARM_NO_EXEC (1u << 1)     /* handlers only */
#define TQ_FARM_KEEP_SIGNALS                                                                       \
	(1u << 2) /* leave signal handlers alone: only tq_farm_stop() ends it */

#define TQ_FARM_REPORT_ATTEMPTS (1u << 3) /* .report also gets TQ_FARM_ATTEMPT */
/* Reap whatever ends, also children that are not the farm's: for a program that is nothing else. */
#define TQ_FARM_REAP_ALL (1u << 4)

/* Called by the master with one line of text about what happened. */
typedef void tq_farm_log(void *arg, const char *text);

enum tq_farm_event_type {
	TQ_FARM_SAYS = 1,    /* what .log gets */
	TQ_FARM_TROUBLE = 2, /* a worker cannot start commands, or can again */
	TQ_FARM_ATTEMPT = 3, /* the end of an attempt */
};

/* Something that happened in a farm. */
struct tq_farm_event {
	uint64_t size;	     /* sizeof this struct in the library's build */
	uint32_t type;	     /* enum tq_farm_event_type */
	uint32_t worker_pid; /* 0 the master's own */
	const char *text;    /* all of it in words, one line; valid during the call */
	uint64_t id;	     /* ATTEMPT: of the task; else 0, as all below */
	const char *label;   /* "" none */
	uint64_t run_ns;     /* how long it took */
	uint32_t attempt;    /* its number */
	uint32_t cause;	     /* enum tq_cause */
	int32_t cause_arg;
	uint32_t reserved0;
};

/*
 * Called with each event: by the master, and by a worker in its process (TROUBLE, and the
 * ATTEMPTs that it ends itself).
 */
typedef void tq_farm_report(void *arg, const struct tq_farm_event *event);

/*
 * Called with a command whose name taskq does not know, in a worker between two tasks, or
 * in the master: 0 done, below 0 refused (-ENOSYS: not known).  @text, of @room bytes, may
 * get what the sender is to read.
 */
typedef int tq_farm_command(void *arg, const struct tq_command *command, char *text, uint64_t room);

/* Called by the master before a "reload" replaces its workers: 0, or below 0 to refuse it. */
typedef int tq_farm_reload(void *arg);

/* Workers that a farm has at most beside those that it is to have, one for each attempt that
 * waits: a chain of waits that is deeper stands still (TQ_WHY_SUBSTITUTES). */
#define TQ_SUBSTITUTES_MAX 64

/* Options of tq_farm_run(). */
struct tq_farm_opts {
	uint64_t size;		   /* sizeof this struct in the caller's build */
	const char *const *queues; /* served in strict order; default "default" alone */
	const char *name;	   /* unique among live farms; default "farm.PID" */
	uint32_t queue_count;	   /* 0 to TQ_WORKER_QUEUES_MAX */
	uint32_t workers;	   /* worker processes; default: CPUs this process may use */
	uint64_t lease_ns;	   /* default 30 s */
	uint64_t grace_ns;	   /* default 5 s */
	uint64_t
		max_tasks; /* attempts per worker process before it is replaced; default no limit */
	uint64_t
		max_rss_bytes; /* private resident size at which it is replaced; default no limit */
	uint64_t output_tail_bytes; /* kept of a command's output; default 64 KiB, at most 1 MiB */
	uint32_t flags;		   /* TQ_FARM_* */
	uint32_t reserved0;	   /* must be 0 */
	tq_farm_log *log;	   /* or NULL */
	void *log_arg;
	struct tq_stealing stealing; /* of its workers */
	tq_farm_command *command; /* or NULL */
	void *command_arg;
	tq_farm_reload *reload; /* or NULL */
	void *reload_arg;
	tq_farm_report *report; /* or NULL */
	void *report_arg;
};

/**
 * tq_farm_run() - be the master of a farm: fork workers, restart the dead with
 * back-off, until told to stop.
 *
 * Workers run commands ("exec") and the handlers set on @tq.  SIGTERM or SIGINT:
 * stop claiming, finish within the grace time; a second one, or grace over:
 * running tasks go back to the queue; SIGQUIT: at once.  SIGTTIN, SIGTTOU: one
 * worker more, less.  SIGHUP: as the command "reload", or, when the controlling terminal has
 * gone, as SIGTERM; ignored where it was.  Commands (<taskq/command.h>): "stop" lets a worker leave after its
 * task without another in its place, the master stop when all have left, however long
 * they take; "reload" replaces a worker, or all of them, after its task; "resize" sets
 * the number of workers.
 *
 * An attempt that waits for another task (tq_wait(), also by `taskq wait` inside a
 * command) does not count as one that runs: for each of them the master starts one
 * worker more, a substitute, up to 64, so that a chain of waits comes to its end with
 * one worker.  When waits have ended as many workers leave again, the idle ones first,
 * the others after their task.
 *
 * The process becomes a subreaper meanwhile, and reaps what its workers and their commands
 * leave behind.  Children of its own, which were there before, or are in its process group,
 * are left to it, but for TQ_FARM_REAP_ALL.
 *
 * Threads:	call it from a process with one thread; one farm a process.
 * Errors:	-EINVAL; -EEXIST a live farm has that name; -EBUSY a farm runs in this
 *		process; -ENOMEM; TQ_EFULL; TQ_ESHUTDOWN the segment was destroyed;
 *		lock errors.
 * Since: 0.1.0
 *
 * Return: 0 stopped in order, above 0: how many running attempts were given
 * back, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_farm_run(struct tq *tq, const struct tq_farm_opts *opts);

/**
 * tq_farm_stop() - ask the farm of this process to stop, as SIGTERM does.
 *
 * Async-signal-safe.
 * Since: 0.1.0
 */
TQ_API void tq_farm_stop(void);

#ifdef __cplusplus
}
#endif
#endif
