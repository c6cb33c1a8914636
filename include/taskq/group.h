/* SPDX-License-Identifier: MIT */
/*
 * Groups: tasks that are counted together, and whole graphs of tasks.
 *
 * Tasks become members of a group when they are submitted (struct tq_task_spec .group),
 * until it is sealed.  A sealed group is complete when all its members have ended; one
 * task, its completion task, may wait for that.  Whatever dies in between, it starts once,
 * after the last end.  What counts is a member's first end: a retry of it afterwards is a
 * new life, which the group does not wait for.  Until the group is complete, the records
 * of its members stay, also those of tasks with TQ_TASK_FORGET.
 */
#ifndef TASKQ_GROUP_H
#define TASKQ_GROUP_H

#include <taskq/task.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The one table of states: name, value, text. */
#define TQ_GROUP_STATE_MAP(X)                                                                      \
	X(TQ_GROUP_OPEN, 1, "open")	    /* it takes members */                                 \
	X(TQ_GROUP_SEALED, 2, "sealed")	    /* it takes none any more, and some are unfinished */  \
	X(TQ_GROUP_COMPLETE, 3, "complete") /* all have ended; kept as long as finished tasks */

enum tq_group_state {
#define TQ_GROUP_STATE_ENUM(name, value, text) name = (value),
	TQ_GROUP_STATE_MAP(TQ_GROUP_STATE_ENUM)
#undef TQ_GROUP_STATE_ENUM
};

/*
 * The one table of conditions of a completion task: name, value, text.  When it is not
 * met, the task is cancelled, with cause dependency and the member that is against it.
 */
#define TQ_GROUP_CONDITION_MAP(X)                                                                  \
	X(TQ_GROUP_ANY, 1, "any")   /* however they ended */                                       \
	X(TQ_GROUP_OK, 2, "ok")	    /* all are done; so also without any members */                \
	X(TQ_GROUP_FAIL, 3, "fail") /* at least one is not */

enum tq_group_condition {
#define TQ_GROUP_CONDITION_ENUM(name, value, text) name = (value),
	TQ_GROUP_CONDITION_MAP(TQ_GROUP_CONDITION_ENUM)
#undef TQ_GROUP_CONDITION_ENUM
};

/* flags of struct tq_group_opts */
#define TQ_GROUP_DETACHED                                                                          \
	(1u << 0) /* it outlives the calling process; else it is cancelled when
				       that dies before it has sealed it */

/* A group, or a graph, to make. */
struct tq_group_opts {
	uint64_t size;			       /* sizeof this struct in the caller's build */
	const char *label;		       /* for people; default none */
	const struct tq_task_spec *completion; /* default none.  It is no member; without
						  full_timeout_ns.  When it ends before the group
						  is complete, as by a cancel, that was it */
	uint32_t condition;		       /* enum tq_group_condition; default TQ_GROUP_ANY */
	uint32_t flags;			       /* TQ_GROUP_DETACHED; not of a graph */
};

/**
 * tq_group_new() - make a group, open for members.
 *
 * @opts:	or NULL.
 *
 * The segment has 65,535 groups; a new one takes the place of the oldest that is
 * complete.
 *
 * Threads:	safe.
 * Fork:	works in a child; the owner is the process that calls.
 * Errors:	-EINVAL; TQ_EFULL; TQ_ESHUTDOWN; for the completion task as tq_submit(),
 *		but -EEXIST its unique key is another task's; -EROFS; lock errors.
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above; nothing was made then.
 */
TQ_API TQ_NODISCARD int tq_group_new(struct tq *tq, const struct tq_group_opts *opts,
				     uint64_t *ret_id);

/**
 * tq_group_seal() - no more members.  An empty group is complete at once.
 *
 * Errors:	TQ_ESTATE it is complete; TQ_EGONE; -ENOENT; -EROFS; lock errors.
 * Since: 0.1.0
 *
 * Return: 0, also when it was sealed before, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_group_seal(struct tq *tq, uint64_t id);

/**
 * tq_group_cancel() - seal a group, and cancel all its members that have not ended.
 *
 * Decided at once: none of them starts from then on.  They end in slices, whoever works in
 * the segment; running ones as tq_task_steer() says.  The completion task goes by its
 * condition: with TQ_GROUP_ANY it starts.
 *
 * Errors:	as tq_group_seal().
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_group_cancel(struct tq *tq, uint64_t id);

/* flags of struct tq_group_info */
#define TQ_GROUP_INFO_CANCELLED (1u << 0)
#define TQ_GROUP_INFO_DETACHED (1u << 1) /* nobody's death cancels it */

/* Snapshot of a group. */
struct tq_group_info {
	uint64_t size; /* in: room; out: bytes filled */
	uint64_t id;
	uint64_t created_ns;
	uint64_t ended_ns;   /* complete since; 0 not yet */
	uint64_t completion; /* id of its completion task; 0 none */
	uint64_t culprit;    /* id of the member that is against the condition; 0 none */
	uint32_t state;	     /* enum tq_group_state */
	uint32_t condition;  /* enum tq_group_condition */
	uint32_t flags;	     /* TQ_GROUP_INFO_* */
	uint32_t owner_pid;  /* of the process that made it; 0 detached */
	uint32_t members;
	uint32_t unfinished;		  /* of them */
	uint32_t states[TQ_STATE_COUNT];  /* members by enum tq_state: as they ended first, or are */
	char label[TQ_LABEL_MAX + 1];
	uint32_t reserved0;
};

/**
 * tq_group_info() - read one group.  Takes no lock.
 *
 * Errors:	TQ_EGONE freed; -ENOENT never was; -EINVAL bad .size.
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_group_info(struct tq *tq, uint64_t id, struct tq_group_info *ret_info);

/** tq_group_list() - read groups; as tq_queue_list(). Since: 0.1.0 */
TQ_API TQ_NODISCARD int tq_group_list(struct tq *tq, uint64_t *cursor, struct tq_group_info *infos,
				      uint32_t count);

/**
 * tq_group_members() - read the members of a group: those that have ended in the order
 * of their ends, then the others, in the order in which they came.  Takes no lock.
 *
 * @cursor:	in: 0 to begin; out: where to go on.
 * @infos:	room for @count snapshots, .size set in the first.
 *
 * While members end, one may be seen twice, or not at all.  Those whose record has been
 * freed, or that never were for want of it, are left out.
 *
 * Errors:	-EINVAL; TQ_EGONE, also when the member at the cursor has been freed
 *		meanwhile; -ENOENT; -EAGAIN they are being moved by one who has stopped, and
 *		in which order they are cannot be said; TQ_ECORRUPT.
 * Since: 0.1.0
 *
 * Return: how many were filled, 0 at the end, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_group_members(struct tq *tq, uint64_t id, uint64_t *cursor,
					 struct tq_task_info *infos, uint32_t count);

/**
 * tq_group_wait() - wait until a group is complete.
 *
 * @timeout_ns:	relative; 0 = only look, TQ_FOREVER_NS = no limit.
 * @ret_info:	the group (.size set before the call); may be NULL.
 *
 * Inside a task it is the task's wait, as tq_wait() says.
 *
 * Fork:	safe.
 * Blocks:	up to @timeout_ns; sleeps.
 * Errors:	-ETIMEDOUT not complete yet, or the lock,
 *		which a stopped process may hold, was not to be had by then; -EDEADLK
 *		the caller's own task is an unfinished member, or one waits for it;
 *		-EINTR a signal was handled (not in a handler of a farm); TQ_EGONE; -ENOENT; TQ_ESHUTDOWN the segment was
 *		destroyed; TQ_EFULL no wait slot; -EROFS; lock errors.
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_group_wait(struct tq *tq, uint64_t id, uint64_t timeout_ns,
				      struct tq_group_info *ret_info);

/* Where a reader of ends is; all zero at the beginning. */
struct tq_group_cursor {
	uint64_t number; /* ends read so far, and passed over */
	uint64_t last;	 /* id of the last member read */
};

/**
 * tq_group_next() - the next end of a member, in the order of their ends.
 *
 * @cursor:	belongs to the caller: each reader has its own.  Moved on by success.
 * @timeout_ns:	wait this long for the next one; 0 = only look.
 * @ret_info:	the member as it is now (.size set before the call); may be NULL.
 *
 * Each member comes once, also when it has been retried since.  A record that has been
 * freed, which happens only to members of complete groups, is passed over: .number then
 * grows by more than one.  Inside a task it is refused (-EDEADLK) only when the group is
 * sealed, and no other member gets on without the caller's task.
 *
 * Fork:	safe.
 * Errors:	-ENODATA the group is complete, and all have been read; else as
 *		tq_group_wait().
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_group_next(struct tq *tq, uint64_t id, struct tq_group_cursor *cursor,
				      uint64_t timeout_ns, struct tq_task_info *ret_info);

/** tq_group_state_name() - "open", "sealed", "complete"; "?". Since: 0.1.0 */
TQ_API const char *tq_group_state_name(uint32_t state);

/** tq_group_condition_name() - "any", "ok", "fail"; "?". Since: 0.1.0 */
TQ_API const char *tq_group_condition_name(uint32_t condition);

/** tq_group_id_format() - print a group's id, "g17-3"; as tq_task_id_format(). Since: 0.1.0 */
TQ_API char *tq_group_id_format(uint64_t id, char *buf);

/** tq_group_id_parse() - read one; as tq_task_id_parse(). Since: 0.1.0 */
TQ_API TQ_NODISCARD int tq_group_id_parse(const char *text, uint64_t *ret_id);

#ifdef __cplusplus
}
#endif
#endif
