/* SPDX-License-Identifier: MIT */
/*
 * taskq: a crash-proof task scheduler for one Linux host, in shared memory.
 *
 * This header brings in the whole public interface.  Caveats first:
 *
 * - One segment is one trust domain: whoever may write it can make a peer write
 *   anywhere in its memory.  Do not map one writable in a more privileged
 *   process.
 * - Functions return 0 or a count, or a negative error: -errno, or a TQ_E code
 *   of <taskq/error.h>.  There is no last-error state.
 * - Option structs start with .size = sizeof the struct; a zero field means the
 *   default given beside it, NULL means all defaults.
 * - A pointer may be NULL where its description says so, and where it is to an array or a
 *   buffer of no elements.  Any other NULL is refused before anything is looked at, and
 *   nothing is changed: -EINVAL of a function that returns int; one that returns a pointer, a
 *   number or nothing gives NULL, 0 or what stands for none.  What closes or frees takes NULL.
 * - Times are CLOCK_MONOTONIC nanoseconds unless a comment says otherwise.
 * - No function is async-signal-safe unless it says so.
 */
#ifndef TASKQ_TASKQ_H
#define TASKQ_TASKQ_H

#include <taskq/base.h>
#include <taskq/error.h>
#include <taskq/segment.h>
#include <taskq/task.h>
#include <taskq/graph.h>
#include <taskq/schedule.h>
#include <taskq/queue.h>
#include <taskq/times.h>
#include <taskq/trace.h>
#include <taskq/kind.h>
#include <taskq/limit.h>
#include <taskq/server.h>
#include <taskq/worker.h>
#include <taskq/command.h>
#include <taskq/farm.h>
#include <taskq/why.h>

#endif
