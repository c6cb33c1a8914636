/* SPDX-License-Identifier: MIT */
/* States of tasks as the value of an option. */
#ifndef TASKQ_TOOL_STATES_H
#define TASKQ_TOOL_STATES_H

#include "cli.h"

/* "ready,running", "unfinished", "finished": adds them to the bits of a filter; false when
 * one was refused with a message. */
bool option_states(const struct cli *cli, const char *arg, uint32_t *states);

#endif
