/* SPDX-License-Identifier: MIT */
/* The options by which list shows tasks, and other verbs take them in place of ids. */
#ifndef TASKQ_TOOL_FILTER_OPTIONS_H
#define TASKQ_TOOL_FILTER_OPTIONS_H

#include "cli.h"
#include "tools/taskq/options/options.h"

/* -q is the common one. */
#define FILTER_OPTION_ROWS                                                                         \
	{ 'S', "state", "S[,S]", "those in these states; also \"unfinished\", \"finished\"" },     \
		{ 'K', "kind", "K", "those of this kind" },                                        \
		{ 'L', "label", "TEXT", "those with this label" },                                 \
	{                                                                                          \
		OPTION_GROUP_OF, "group", "GROUP", "members of this group"                         \
	}

struct filter_options {
	struct tq_task_filter filter;
	uint64_t group; /* id; 0 any task */
	bool given;	/* one of them was */
};

/* Takes one of the rows above, and passes others to option_global(). */
bool filter_option(struct cli *cli, struct filter_options *f, int key, const char *arg);

/* When all options are read: whether tasks are named by the filter, and not by ids.  Both, or
 * neither, is reported in cli->exit_code, which is otherwise 0. */
bool filter_in_place_of_ids(struct cli *cli, struct filter_options *f);

/* In an open segment: whether the queue and the group are there, which is reported; from then
 * on @f says which queue. */
bool filter_begin(struct cli *cli, struct filter_options *f);

/* As tq_task_list(), of members of the group only; the infos that are left out are skipped, so
 * that 0 may be returned before the end: that is where *ret_end is set. */
int filter_list(struct cli *cli, const struct filter_options *f, uint64_t *cursor,
		struct tq_task_info *infos, uint32_t count, bool *ret_end);

#endif
