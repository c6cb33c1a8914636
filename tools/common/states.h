/* SPDX-License-Identifier: MIT */
/* States of tasks as the value of an option. */
#ifndef TASKQ_TOOL_STATES_H
#define TASKQ_TOOL_STATES_H

#include "cli.h"

#define FORM_STATES                                                                                \
	"blocked, delayed, ready, running, done, failed, cancelled, expired, unfinished or "       \
	"finished"

/* "ready,running", "unfinished", "finished": adds them to the bits of a filter; false when
 * one was refused with a message. */
bool option_states(const struct cli *cli, const char *arg, uint32_t *states);

/* The same without a message. */
bool parse_states(const char *list, uint32_t *states);

#endif
