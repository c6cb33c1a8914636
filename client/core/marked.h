/* SPDX-License-Identifier: MIT */
/*
 * Processes that a command has left behind, outside of its group or after the death of
 * those who would have ended it.
 *
 * MK-1  The mark is what the worker put into the command's environment: TASKQ_ID and
 *     TASKQ_SEGMENT, which all that it starts inherits.  Only a process that bears the mark
 *     of an attempt whose worker is gone, and is no older than its leader, is ended; one
 *     that has cleared its environment is let alone.  Where a task allows leftovers, which
 *     stands beside the mark, only what is still in its group is ended.
 * MK-2  It is looked at and ended through a descriptor that was opened before its start time
 *     was read: no signal goes to a number that has changed hands.
 */
#ifndef TQI_CLIENT_CORE_MARKED_H
#define TQI_CLIENT_CORE_MARKED_H

#include <stdint.h>

#define TQI_MARK_LEFTOVERS "TASKQ_LEFTOVERS=allow"

struct tqi_mark {
	uint64_t id;	/* of the task */
	uint64_t start; /* of the group's leader, as struct tqi_ident has it; 0 unknown */
	uint32_t pgid;	/* of that group; 0 none is left */
};

/*
 * End the processes that bear one of `count` marks of the segment at `path`, by SIGKILL:
 * how many were there and could be signalled.  They need not be gone yet, and may have
 * started others meanwhile: come again until there is none.
 */
uint32_t tqi_marked_end(const char *path, const struct tqi_mark *marks, uint32_t count);

#endif
