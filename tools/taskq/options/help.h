/* SPDX-License-Identifier: MIT */
/* Texts for people who ask. */
#ifndef TASKQ_TOOL_HELP_H
#define TASKQ_TOOL_HELP_H

#include "cli.h"
#include "tools/taskq/options/options.h"

void help_all(void);
void help_verb(const struct verb *verb, const struct option_row *rows);
void help_version(const struct cli *cli);

/* Prints a text in lines of at most 80 columns, from column @at on; those that follow
 * begin in column @indent. */
void help_fill(const char *text, unsigned at, unsigned indent);

#endif
