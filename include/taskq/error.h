/* SPDX-License-Identifier: MIT */
/*
 * Error codes of taskq's own.  Everything else that a function returns below
 * zero is -errno, verbatim.
 */
#ifndef TASKQ_ERROR_H
#define TASKQ_ERROR_H

#include <taskq/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The one table of own codes: name, value, text.  Values never change. */
#define TQ_ERROR_MAP(X)                                                                            \
	X(TQ_ECORRUPT, -10001, "the segment is damaged (run `taskq check`)")                       \
	X(TQ_ELAYOUT, -10002, "not a taskq segment of this version, build or boot")                \
	X(TQ_ELEASE, -10003, "the claim is no longer yours: a later attempt has started")          \
	X(TQ_ESTATE, -10004, "the task's state does not allow this")                               \
	X(TQ_EGONE, -10005, "no such task any more: its record has been freed")                    \
	X(TQ_EFULL, -10006, "no room")                                                             \
	X(TQ_EDRAINING, -10007, "the queue is draining and takes no new tasks")                    \
	X(TQ_ESHUTDOWN, -10008, "the segment is shutting down")                                    \
	X(TQ_ECYCLE, -10009, "the dependency would close a cycle")                                 \
	X(TQ_ELOCKED, -10010, "the lock could not be had in time: its holder is stopped or stuck") \
	X(TQ_ENAMESPACE, -10011, "the segment belongs to another PID or time namespace") \
	X(TQ_ECOMMAND, -10012, "a command waits: take it first")                         \
	X(TQ_EQUEUES, -10013,                                                                      \
	  "all 1023 queues are in use, or all but the last 8, which are not for submits")          \
	X(TQ_EKINDS, -10014, "all 255 kinds are in use")                                \
	X(TQ_EREMOVED, -10015, "the segment's file has been removed")

enum tq_error {
#define TQ_ERROR_ENUM(name, value, text) name = (value),
	TQ_ERROR_MAP(TQ_ERROR_ENUM)
#undef TQ_ERROR_ENUM
};

/**
 * tq_strerror() - text of an error, own code or -errno.
 *
 * Threads:	safe.
 * Since: 0.1.0
 *
 * Return: a static string, never NULL.
 */
TQ_API const char *tq_strerror(int error);

/**
 * tq_error_name() - symbol of an error, "TQ_EGONE" or "EINVAL".
 *
 * Return: a static string, never NULL ("?" when unknown).
 * Since: 0.1.0
 */
TQ_API const char *tq_error_name(int error);

#ifdef __cplusplus
}
#endif
#endif
