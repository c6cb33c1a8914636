/* SPDX-License-Identifier: MIT */
/* Limits by key: how many attempts of the tasks that name a key may run at a time, or begin in
 * a time. */
#ifndef TASKQ_LIMIT_H
#define TASKQ_LIMIT_H

#include <taskq/queue.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A task names up to TQ_LIMITS_MAX keys when it is submitted (struct tq_task_spec), of
 * any bytes but NUL; they mean the same in all queues of the segment.  It starts only
 * while each of its keys has a slot free, takes one of each, all or none, and its
 * attempt's end gives them back, whatever that end is: a verdict, a release, or the
 * proof that its worker died.  Until then it stays `ready`, flagged throttled: that
 * costs no attempt, no retry and no wake-up, and holds up no other task.  A slot that
 * becomes free starts one waiter, the best by its queue's order.
 *
 * A task that waits for another keeps its slots meanwhile: two of one key must not wait
 * for each other.
 *
 * A key that has not been set is unlimited, but its attempts are counted: a limit that
 * is set later holds from then on.  Lowering a limit ends nobody; no more start until
 * enough have ended.
 *
 * A key may have a rate, beside or instead of slots: a bucket gets `rate` tokens an
 * interval, evenly spread, and holds at most `burst` of them; it is full when the rate is set.
 * Each attempt that begins takes a token, and gives none back.
 */

/* Settings of a limit; a zero field leaves the setting as it is. */
struct tq_limit_opts {
	uint64_t size;	    /* sizeof this struct in the caller's build */
	uint32_t slots;	    /* attempts at a time, from 1; TQ_OFF = any number */
	uint32_t rate;	    /* tokens an interval, from 1; TQ_OFF = no bucket */
	uint64_t interval_ns; /* with rate only, from 1: (rate + burst) x interval_ns < 2^63 */
	uint32_t burst;	    /* with rate only: tokens that it holds; default rate */
	uint32_t reserved0; /* must be 0 */
};

/**
 * tq_limit_set() - set or change a limit; it holds from the next start on.
 *
 * @key:	1 to TQ_KEY_MAX bytes.
 *
 * Threads:	safe.
 * Fork:	safe.
 * Blocks:	for the lock at most the handle's lock time-out.
 * Errors:	-EINVAL bad key, or nothing set (no slots at all is not a limit: pause
 *		the queue), or a rate without an interval; -ERANGE more tokens in more
 *		time than can be counted; TQ_EFULL the table of limits is full;
 *		-ENOSPC; -EROFS; lock errors as tq_submit().
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_limit_set(struct tq *tq, const char *key,
				     const struct tq_limit_opts *opts);

/**
 * tq_limit_remove() - take the settings of a key away: it is unlimited again.
 *
 * Errors:	-ENOENT it is not set; -EINVAL; -EROFS; lock errors.
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_limit_remove(struct tq *tq, const char *key);

/* Snapshot of a limit key. */
struct tq_limit_info {
	uint64_t size;	  /* in: room; out: bytes filled */
	uint32_t slots;	  /* places; TQ_OFF any number */
	uint32_t used;	  /* that attempts under way have, each as many as its weight: more than
			     slots after these were lowered, or by one that takes more */
	uint32_t waiting; /* tasks that are ready, and not held */
	uint32_t tasks;	  /* records of tasks that name it, finished ones too */
	uint32_t rate;	  /* tokens an interval; 0 no bucket */
	uint32_t burst;	  /* tokens that it holds at most */
	uint64_t interval_ns;
	uint32_t tokens;  /* that it holds now */
	uint32_t needed;  /* places that must be free before the next start: somebody who takes
			     as many waits; 0 one is enough */
	uint64_t next_ns; /* CLOCK_MONOTONIC: when the next token comes; 0 there are some */
	char key[TQ_KEY_MAX + 1];
};

/**
 * tq_limit_info() - read one limit key that is set, or that some task's record names.
 * Takes no lock.
 *
 * @ret_info:	.size set before the call.
 *
 * Errors:	-ENOENT; -EINVAL bad .size or key.
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_limit_info(struct tq *tq, const char *key,
				      struct tq_limit_info *ret_info);

/**
 * tq_limit_list() - read the limit keys, in no order that means anything.  Takes no lock.
 *
 * @cursor:	in: 0 to begin; out: where to go on.
 * @infos:	room for @count snapshots, .size set in the first.
 *
 * Since: 0.1.0
 * Return: how many were filled, 0 at the end; -EINVAL.
 */
TQ_API TQ_NODISCARD int tq_limit_list(struct tq *tq, uint64_t *cursor, struct tq_limit_info *infos,
				      uint32_t count);

#ifdef __cplusplus
}
#endif
#endif
