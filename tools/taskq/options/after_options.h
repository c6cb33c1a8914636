/* SPDX-License-Identifier: MIT */
/* The options --after, --after-any and --after-fail. */
#ifndef TASKQ_TOOL_AFTER_OPTIONS_H
#define TASKQ_TOOL_AFTER_OPTIONS_H

#include "cli.h"
#include "tools/taskq/options/options.h"

/* Rows for tables of options. */
#define AFTER_OPTION_ROWS                                                                          \
	{ OPTION_AFTER, "after", "ID[,ID]",                                                        \
	  "start when these are done; cancelled when one is not" },                                \
		{ OPTION_AFTER_ANY, "after-any", "ID[,ID]",                                        \
		  "start when these have ended, in any way" },                                     \
	{                                                                                          \
		OPTION_AFTER_FAIL, "after-fail", "ID[,ID]",                                        \
			"start when these have ended, and are not done"                            \
	}

struct after_options {
	struct tq_dependency list[TQ_AFTER_MAX];
	uint32_t count;
};

/* Adds the ids of one of these options; false when one was refused with a message. */
bool after_option(struct cli *cli, struct after_options *after, int key, const char *arg);

/* One id more; false when there is no room. */
bool after_add(struct after_options *after, uint64_t id, uint32_t kind);

/*
 * Reports that a submit with dependencies failed because of one of them, and names it;
 * false: the failure is about something else.
 */
bool after_blame(struct cli *cli, int r, const struct tq_task_spec *spec);

/* The same without a report: that one's id, or 0. */
uint64_t after_culprit(struct tq *tq, int r, const struct tq_task_spec *spec);

#endif
