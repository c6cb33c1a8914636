/* SPDX-License-Identifier: MIT */
/* Payloads: commands into them, and whole ones out of the segment. */
#ifndef TASKQ_TOOL_PAYLOAD_H
#define TASKQ_TOOL_PAYLOAD_H

#include <stdint.h>

#include <taskq/taskq.h>

/* Copies a task's payload; one NUL more is behind it.  Freed by free().
 * 0, or an error of tq_task_payload(). */
int payload_read(struct tq *tq, uint64_t id, void **ret_payload, uint64_t *ret_bytes);

/* tq_exec_encode() into memory of its own, freed by free(). 0 or -errno. */
int command_encode(const struct tq_exec *exec, void **ret_payload, uint64_t *ret_bytes);

#endif
