/* SPDX-License-Identifier: MIT */
/*
 * Ctrl-Z and the segment (SPEC I7).  A process stopped inside the lock holds up
 * everybody, so between signals_hold() and signals_release() SIGTSTP is only noted,
 * and obeyed at the release.
 */
#ifndef TASKQ_TOOL_SIGNALS_H
#define TASKQ_TOOL_SIGNALS_H

#include <stdbool.h>

void signals_setup(void);

void signals_hold(void);
void signals_release(void);

/* A moment without operation: obeys a Ctrl-Z noted so far. */
void signals_point(void);

/* Around a call that may sleep long in the segment: a signal ends its sleep (-EINTR)
 * instead of being noted until it wakes by itself. */
void signals_sleep_begin(void);
void signals_sleep_end(void);

#endif
