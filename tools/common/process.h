/* SPDX-License-Identifier: MIT */
/* What /proc says of a process. */
#ifndef TASKQ_TOOL_PROCESS_H
#define TASKQ_TOOL_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

struct process {
	char state;	   /* letter: 'T' stopped, 'R', 'S', 'D', 'Z' */
	uint64_t began_ns; /* CLOCK_BOOTTIME, to a hundredth of a second */
};

/* False: there is none that can be seen. */
bool process_read(uint32_t pid, struct process *ret_process);

/* Whether a state is that of a process which is stopped, or held by a debugger. */
static inline bool process_is_stopped(char state)
{
	return state == 'T' || state == 't';
}

#endif
