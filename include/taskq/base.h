/* SPDX-License-Identifier: MIT */
/* What every other public header needs: attributes, limits, version, ids. */
#ifndef TASKQ_BASE_H
#define TASKQ_BASE_H

#include <stddef.h>
#include <stdint.h>

#include <taskq/version.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TQ_API __attribute__((visibility("default")))
#define TQ_NODISCARD __attribute__((warn_unused_result))
#else
#define TQ_API
#define TQ_NODISCARD
#endif

#define TQ_FOREVER_NS UINT64_MAX /* as a time-out: no limit */
#define TQ_UNLIMITED UINT64_MAX	 /* where zero means a default: no limit */

#define TQ_OFF UINT32_MAX /* where zero means a default, or leaves a setting: none */

#define TQ_NAME_MAX 64	 /* bytes of a segment, queue, kind or farm name, [A-Za-z0-9._-] */
#define TQ_LABEL_MAX 127 /* bytes of a task's label, without the final NUL */
#define TQ_KEY_MAX 127   /* bytes of a unique, limit or fair key, without the final NUL */
#define TQ_SERVER_MAX 255 /* bytes of a server's name, without the final NUL */
#define TQ_AFTER_MAX 64	 /* dependencies that may be given at a submission; more come later */
#define TQ_DEPENDENCIES_MAX 1024 /* of a task in all */
#define TQ_WEIGHT_MAX 1000 /* places of a limit that a task may take */
#define TQ_LIMITS_MAX 4	 /* limit keys that a task may have, each of 1 to TQ_KEY_MAX bytes */
#define TQ_TEXT_MAX 255	 /* bytes of an error text, without the final NUL */
#define TQ_PROGRESS_TEXT_MAX 63	   /* bytes of a progress text, without the final NUL */
#define TQ_PAYLOAD_MAX (16u << 20) /* bytes of a payload or a result */
#define TQ_ATTEMPTS_MAX 256	   /* attempts that a task may be allowed */
#define TQ_CLAIMS_MAX 64	   /* claims that one worker may hold at a time */
#define TQ_WORKER_QUEUES_MAX 16	   /* queues that one worker may serve */
#define TQ_HISTORY_MAX 8	   /* ended attempts that a task remembers */
#define TQ_ID_TEXT_MAX 24	   /* bytes of a printed id with its final NUL */

/* Priorities: int32_t, bigger is more urgent. */
#define TQ_PRIORITY_LOW (-100)
#define TQ_PRIORITY_NORMAL 0
#define TQ_PRIORITY_HIGH 100
#define TQ_PRIORITY_CRITICAL 1000

/**
 * tq_version() - version of the library at run time, "MAJOR.MINOR.PATCH".
 *
 * Return: a static string; compare with TQ_VERSION_STRING of the build.
 * Since: 0.1.0
 */
TQ_API const char *tq_version(void);

/**
 * tq_version_at_least() - whether the library at run time is this or newer.
 *
 * Return: 1 when it is, else 0.
 * Since: 0.1.0
 */
TQ_API int tq_version_at_least(unsigned major, unsigned minor, unsigned patch);

/**
 * tq_task_id_format() - print a task id as people read it, "17-3" (slot, generation).
 *
 * @id:		task id.
 * @buf:	at least TQ_ID_TEXT_MAX bytes.
 *
 * Return: @buf.
 * Since: 0.1.0
 */
TQ_API char *tq_task_id_format(uint64_t id, char *buf);

/**
 * tq_task_id_parse() - read an id printed by tq_task_id_format(); "17.3" is accepted too.
 *
 * Errors:	-EINVAL not an id.
 * Since: 0.1.0
 *
 * Return: 0 or the error above.
 */
TQ_API TQ_NODISCARD int tq_task_id_parse(const char *text, uint64_t *ret_id);

/**
 * tq_priority_parse() - read a priority: a number, or low, normal, high, critical.
 *
 * Errors:	-EINVAL not a number nor a name; -ERANGE outside int32_t.
 * Since: 0.1.0
 *
 * Return: 0 or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_priority_parse(const char *text, int32_t *ret_priority);

#ifdef __cplusplus
}
#endif
#endif
