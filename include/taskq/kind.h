/* SPDX-License-Identifier: MIT */
/* Kinds of tasks: their defaults. */
#ifndef TASKQ_KIND_H
#define TASKQ_KIND_H

#include <taskq/segment.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What a task's spec says counts; what it leaves open is as its kind says; what that leaves
 * open, too, as its queue (tq_queue_set()), and else the default of the library.  A task
 * takes them over when it is submitted, each run of a schedule at its time: a later change
 * is for later tasks.
 *
 * Defaults of a kind; a zero field leaves the setting as it is (at first: as the queue says).
 */
struct tq_kind_opts {
	uint64_t size;		   /* sizeof this struct in the caller's build */
	uint64_t timeout_ns;	   /* of an attempt, TQ_UNLIMITED = none */
	uint64_t timeout_total_ns; /* of all attempts, TQ_UNLIMITED = none */
	uint64_t backoff_ns;
	uint64_t backoff_cap_ns; /* at least backoff_ns */
	uint32_t attempts_max;	 /* 1 to 256 */
	uint32_t reserved0;	 /* must be 0 */
};

/**
 * tq_kind_set() - give a kind defaults, or change them.
 *
 * A kind that no task had yet is made, and stays while it has defaults.
 *
 * Threads:	any.
 * Fork:	as tq_open().
 * Errors:	-EINVAL bad name or value, or nothing to change; TQ_EKINDS there are no more;
 *		TQ_EFULL; -EROFS; lock errors as tq_submit().
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_kind_set(struct tq *tq, const char *kind,
				    const struct tq_kind_opts *opts);

/**
 * tq_kind_clear() - take all defaults of a kind away: its tasks are as their queues say.
 *
 * Errors:	-ENOENT it has none; -EINVAL; -EROFS; lock errors.
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_kind_clear(struct tq *tq, const char *kind);

/* Snapshot of a kind that has defaults; 0 in a field: as the queue says. */
struct tq_kind_info {
	uint64_t size;
	uint64_t timeout_ns;
	uint64_t timeout_total_ns;
	uint64_t backoff_ns;
	uint64_t backoff_cap_ns;
	uint32_t attempts_max;
	uint32_t reserved0;
	char name[TQ_NAME_MAX + 1];
};

/**
 * tq_kind_list() - read the kinds that have defaults, in no order that means anything.
 * Takes no lock.
 *
 * @cursor:	in: 0 to begin; out: where to go on.
 * @infos:	room for @count snapshots, .size set in the first.
 *
 * Since: 0.1.0
 * Return: how many were filled, 0 at the end; -EINVAL.
 */
TQ_API TQ_NODISCARD int tq_kind_list(struct tq *tq, uint64_t *cursor, struct tq_kind_info *infos,
				     uint32_t count);

#ifdef __cplusplus
}
#endif
#endif
