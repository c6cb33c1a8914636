/* SPDX-License-Identifier: MIT */
/* The options with which submit makes a schedule instead of a task. */
#ifndef TASKQ_TOOL_SCHEDULE_OPTIONS_H
#define TASKQ_TOOL_SCHEDULE_OPTIONS_H

#include "cli.h"
#include "tools/taskq/options/options.h"
#include "tools/taskq/options/task_options.h"

/* Their keys, beside those of the verb and of the task. */
enum schedule_option_key {
	KEY_EVERY = TASK_OPTION_END + 64,
	KEY_CRON,
	KEY_TZ,
	KEY_OVERLAP,
	KEY_CATCH_UP,
	KEY_NAME,
	KEY_SCHEDULE_END
};

/* Rows for the table of submit. */
#define SCHEDULE_OPTION_ROWS                                                                       \
	{ KEY_EVERY, "every", "D", "make a schedule: a run after each such time from now" },       \
		{ KEY_CRON, "cron", "EXPR",                                                        \
		  "make a schedule: \"MIN HOUR DAY MONTH WEEKDAY\", or @daily" },                  \
		{ KEY_TZ, "tz", "ZONE", "with --cron: the time zone, such as Europe/Berlin" },     \
		{ KEY_OVERLAP, "overlap", "skip|queue",                                            \
		  "what becomes of a time while the last run goes on" },                           \
		{ KEY_CATCH_UP, "catch-up", "N",                                                   \
		  "of the times that were missed make so many runs; default 1" },                  \
	{                                                                                          \
		KEY_NAME, "name", "NAME", "of the schedule: replaces the one that has it"          \
	}

struct schedule_options {
	struct tq_schedule_spec spec; /* without task */
};

/* Takes one of them. */
bool schedule_option(struct cli *cli, struct schedule_options *options, int key, const char *arg);
bool schedule_is_given(const struct schedule_options *options);
/* Combinations that cannot be meant, also with those of the task: reported, and false. */
bool schedule_options_agree(struct cli *cli, const struct schedule_options *options,
			    const struct tq_task_spec *task);
/* Makes it and prints its id; cli->exit_code says how that went. */
void schedule_create(struct cli *cli, const struct schedule_options *options,
		     const struct tq_task_spec *task, const void *payload, uint64_t bytes);

#endif
