/* SPDX-License-Identifier: MIT */
/* The command line of a program without verbs. */
#ifndef TASKQ_TOOL_LONG_OPTIONS_H
#define TASKQ_TOOL_LONG_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>

/* Handles one option; false when the program is to end, with a bad value reported. */
typedef bool long_option_fn(void *ctx, int key, const char *arg);

/*
 * Reads options by getopt_long(), whose @shorts begins with "+:"; there are no operands.
 * False: @take said so, or the command line is wrong, which is reported.
 */
bool long_options_read(const struct option *longs, const char *shorts, long_option_fn *take,
		       void *ctx, int argc, char **argv);

#endif
