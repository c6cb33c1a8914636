/* SPDX-License-Identifier: MIT */
/* Commands: an order to workers or farms, served before any task, and answered. */
#ifndef TASKQ_COMMAND_H
#define TASKQ_COMMAND_H

#include <taskq/worker.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A command belongs to a queue, has a name and perhaps an argument, and goes to those
 * who serve the queue and said TQ_WORKER_COMMANDS: who gets it is decided when it is
 * sent.  Each worker gets its commands before any task and in the order in which they
 * were sent, also while the queue is paused; one at a time, and never in the middle of a
 * task.  Each recipient answers, or is answered for as "gone" when it dies or leaves.
 * What stops, pauses or drains a queue as such needs no command: tq_queue_steer().
 *
 * The workers of tq_farm_run() know "stop" and "reload", its master these and "resize",
 * whose argument is the number of workers; other names are for the host's handler
 * (struct tq_farm_opts), or are refused.
 */
#define TQ_COMMAND_ARGUMENT_MAX 4096 /* bytes */
#define TQ_COMMAND_TEXT_MAX 95	     /* bytes of an answer, without the final NUL */
#define TQ_COMMANDS_OPEN_MAX 256     /* commands of a segment that are not answered yet */
#define TQ_COMMANDS_KEPT 64	     /* answered ones that stay listed; then the oldest goes */

/* To whom. */
enum tq_command_to {
	TQ_COMMAND_TO_WORKER = 1, /* this one, a worker or a farm's master */
	TQ_COMMAND_TO_ANY = 2,	  /* the first worker that comes for it, also of later ones; when
				     it dies before it answers, another one, at most 3 times */
	TQ_COMMAND_TO_ALL = 3,	  /* every worker that is registered now; masters are not workers */
	TQ_COMMAND_TO_FARMS = 4,  /* every farm's master, and every worker of no farm */
};

/* What is to be sent. */
struct tq_command_spec {
	uint64_t size;	     /* sizeof this struct in the caller's build */
	const char *name;    /* 1 to TQ_NAME_MAX of [A-Za-z0-9._-] */
	const char *queue;   /* default "default"; of one worker, its first */
	const void *argument; /* copied; may be NULL */
	uint64_t argument_bytes;
	uint32_t to;	 /* enum tq_command_to */
	uint32_t worker; /* TO_WORKER: its number (struct tq_worker_info); else 0 */
};

/**
 * tq_command_send() - send a command.
 *
 * @ret_id:	may be NULL.
 *
 * Threads:	safe.
 * Fork:	works in a child.
 * Errors:	-EINVAL; -E2BIG the argument is too long; -ENOENT no such queue; -ESRCH nobody there to take it;
 *		-EOPNOTSUPP that worker takes no commands; -EXDEV it does not serve
 *		that queue; TQ_EFULL TQ_COMMANDS_OPEN_MAX are not answered yet, or no
 *		memory; -EROFS; lock errors.
 * Since: 0.1.0
 *
 * Return: how many will get it (of any: 1), or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_command_send(struct tq *tq, const struct tq_command_spec *spec,
					uint64_t *ret_id);

/**
 * tq_command_cancel() - take a command back from all who have not taken it yet.
 *
 * They never get it, and count as TQ_ANSWER_CANCELLED.  Who has taken it goes on, and
 * answers; should it die, nobody else gets it.  A command that nobody has taken ends
 * with this.
 *
 * Threads:	safe.
 * Fork:	works in a child.
 * Errors:	TQ_ESTATE all have answered; TQ_EGONE; -ENOENT; -EROFS; lock errors.
 * Since: 0.1.0
 *
 * Return: from how many it was taken back, 0 when all have it; or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_command_cancel(struct tq *tq, uint64_t id);

/* What has become of a command with one of its recipients. */
enum tq_answer_state {
	TQ_ANSWER_WAITING = 0, /* not taken yet */
	TQ_ANSWER_TAKEN = 1,
	TQ_ANSWER_DONE = 2,
	TQ_ANSWER_REFUSED = 3,
	TQ_ANSWER_GONE = 4, /* it died or left without an answer */
	TQ_ANSWER_CANCELLED = 5, /* it had not taken it when the command was cancelled */
};
#define TQ_ANSWER_COUNT 6

/* Snapshot of a command. */
struct tq_command_info {
	uint64_t size; /* in: room; out: bytes filled */
	uint64_t id;   /* printed as a task's: tq_task_id_format() */
	uint64_t sent_ns;
	uint64_t ended_ns; /* 0: some have not answered yet */
	uint64_t argument_bytes;
	uint32_t to;	     /* enum tq_command_to */
	uint32_t recipients; /* the sum of all states */
	uint32_t answers[TQ_ANSWER_COUNT]; /* how many are in each enum tq_answer_state */
	uint32_t sender_pid;
	char name[TQ_NAME_MAX + 1];
	char queue[TQ_NAME_MAX + 1];
	char argument[TQ_COMMAND_TEXT_MAX + 3]; /* text of its begin, NUL-terminated */
};

/**
 * tq_command_wait() - wait until all have answered, or are gone.
 *
 * @timeout_ns:	relative; 0 = only look, TQ_FOREVER_NS = no limit.
 * @ret_info:	may be NULL; filled also with -ETIMEDOUT.
 *
 * Threads:	safe.
 * Fork:	works in a child.
 * Signals:	-EINTR when a handler ran while it slept.
 * Blocks:	up to @timeout_ns; sleeps.
 * Errors:	-ETIMEDOUT not yet; -ENOENT; TQ_EGONE
 *		it was answered, and has been freed; TQ_ESHUTDOWN; lock errors.
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_command_wait(struct tq *tq, uint64_t id, uint64_t timeout_ns,
					struct tq_command_info *ret_info);

/** tq_command_list() - read commands, open and kept; as tq_queue_list(). Since: 0.1.0 */
TQ_API TQ_NODISCARD int tq_command_list(struct tq *tq, uint64_t *cursor,
					struct tq_command_info *infos, uint32_t count);

/* Snapshot of one recipient's answer. */
struct tq_command_answer {
	uint64_t size;	     /* in: room; out: bytes filled */
	uint64_t changed_ns; /* when it came to be so */
	uint32_t state;	     /* enum tq_answer_state */
	uint32_t worker;     /* its number then; 0 nobody yet */
	uint32_t pid;	     /* 0 nobody yet */
	uint32_t takes;	     /* how often it was taken */
	char text[TQ_COMMAND_TEXT_MAX + 1];
};

/**
 * tq_command_answers() - read the answers to a command; as tq_queue_list().
 *
 * Errors:	-EINVAL; -ENOENT; TQ_EGONE.
 * Blocks:	never; takes no lock.
 * Since: 0.1.0
 *
 * Return: how many were filled, 0 at the end, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_command_answers(struct tq *tq, uint64_t id, uint64_t *cursor,
					   struct tq_command_answer *answers, uint32_t count);

/** tq_answer_name() - "waiting", "taken", "done", "refused", "gone", "cancelled"; "?". Since: 0.1.0 */
TQ_API const char *tq_answer_name(uint32_t state);

/* A command as its recipient gets it. */
struct tq_command {
	uint64_t size; /* set before the call */
	uint64_t id;
	const void *argument; /* in the segment, valid until it is acknowledged */
	uint64_t argument_bytes;
	uint64_t sent_ns;
	uint32_t to; /* enum tq_command_to */
	uint32_t sender_pid;
	char name[TQ_NAME_MAX + 1];
	char queue[TQ_NAME_MAX + 1];
	char reserved0[6];
};

/**
 * tq_command_take() - the next command for this worker; the one that it has, if it has
 * not acknowledged it.
 *
 * To be called when a claim answers TQ_ECOMMAND, as all claims do until the command has
 * been acknowledged; or at any time.
 *
 * @ret_command: filled on success, untouched otherwise; set .size before the call.
 *
 * Threads:	one thread at a time per worker.
 * Fork:	-ECHILD in a child of the process that opened @worker.
 * Errors:	-EAGAIN there is none; -EINVAL; lock errors.
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_command_take(struct tq_worker *worker, struct tq_command *ret_command);

/**
 * tq_command_ack() - answer the command that the worker has taken.
 *
 * @state:	TQ_ANSWER_DONE or TQ_ANSWER_REFUSED.
 * @text:	for who sent it, cut at TQ_COMMAND_TEXT_MAX; may be NULL.
 *
 * Threads:	one thread at a time per worker.
 * Fork:	-ECHILD in a child of the process that opened @worker.
 * Errors:	-EINVAL; TQ_ESTATE @worker has not taken it, or has answered; lock
 *		errors.
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_command_ack(struct tq_worker *worker, uint64_t id, uint32_t state,
				       const char *text);

#ifdef __cplusplus
}
#endif
#endif
