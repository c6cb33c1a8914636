/* SPDX-License-Identifier: MIT */
/* What a program does before it begins and before it ends. */
#ifndef TASKQ_TOOL_STANDARD_H
#define TASKQ_TOOL_STANDARD_H

#include "cli.h"

/* Opens those of the descriptors 0 to 2 that are closed. */
void standard_fill(void);

/* A variable of the environment; @otherwise when it is missing or empty. */
const char *environment_or(const char *name, const char *otherwise);

/* Closes standard output: the exit code, @code unless what was printed got lost. */
int standard_close(const struct cli *cli, int code);

#endif
