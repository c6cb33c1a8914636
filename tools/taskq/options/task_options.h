/* SPDX-License-Identifier: MIT */
/* The options with which submit, run and map describe a task. */
#ifndef TASKQ_TOOL_TASK_OPTIONS_H
#define TASKQ_TOOL_TASK_OPTIONS_H

#include "cli.h"
#include "tools/taskq/options/after_options.h"
#include "tools/taskq/options/options.h"

/* Keys of the options below that have no letter. */
enum task_option_key {
	TASK_OPTION_DELAY = OPTION_OWN,
	TASK_OPTION_TIMEOUT,
	TASK_OPTION_TIMEOUT_TOTAL,
	TASK_OPTION_DEADLINE,
	TASK_OPTION_PROGRESS_TIMEOUT,
	TASK_OPTION_RETRIES,
	TASK_OPTION_BACKOFF,
	TASK_OPTION_AT_MOST_ONCE,
	TASK_OPTION_CWD,
	TASK_OPTION_ENV,
	TASK_OPTION_KEEP,
	TASK_OPTION_FULL_TIMEOUT,
	TASK_OPTION_AT,
	TASK_OPTION_LIMIT,
	TASK_OPTION_FAIR,
	TASK_OPTION_GROUP,
	TASK_OPTION_LEFTOVERS,
	TASK_OPTION_APPEND,
	TASK_OPTION_END, /* first key that the verb itself may use */
};

/* Rows for the tables of submit, run and map. */
#define TASK_OPTION_ROWS                                                                           \
	{ 'p', "priority", "P", "bigger is more urgent; or low, normal, high, critical" },         \
		{ 'L', "label", "TEXT", "for people, and for list --label" },                      \
		{ TASK_OPTION_TIMEOUT, "timeout", "D", "time one attempt may take" },              \
		{ TASK_OPTION_TIMEOUT_TOTAL, "timeout-total", "D",                                 \
		  "time from the first start to the last end" },                                   \
		{ TASK_OPTION_DEADLINE, "deadline", "D",                                           \
		  "finish by, from now; not started by then it expires" },                         \
		{ TASK_OPTION_PROGRESS_TIMEOUT, "progress-timeout", "D",                           \
		  "longest time between two progress reports" },                                   \
		{ TASK_OPTION_RETRIES, "retries", "N", "attempts after a failed one, 0 to 255" },  \
		{ TASK_OPTION_BACKOFF, "backoff", "D[:CAP]",                                       \
		  "wait before a retry, doubled each time up to CAP" },                            \
		{ TASK_OPTION_AT_MOST_ONCE, "at-most-once", NULL,                                  \
		  "never start it again, whatever happens" },                                      \
		{ TASK_OPTION_LIMIT, "limit", "KEY[=N]",                                           \
		  "run only while `taskq limit` of KEY has room, for N; up to four" },             \
		{ TASK_OPTION_FAIR, "fair", "KEY",                                                 \
		  "in a fair queue, take its time from the share of KEY" },                        \
		AFTER_OPTION_ROWS,                                                                 \
		{ TASK_OPTION_CWD, "cwd", "DIR", "run it there instead of here" },                 \
		{ TASK_OPTION_ENV, "env", "NAME[=VALUE]",                                          \
		  "add to its environment; NAME alone: from this one" },                           \
		{ TASK_OPTION_LEFTOVERS, "allow-leftovers", NULL,                                  \
		  "daemons that it starts may outlive it" },                                       \
	{                                                                                          \
		TASK_OPTION_FULL_TIMEOUT, "full-timeout", "D",                                     \
			"when there is no room, wait this long for it"                             \
	}

/* Limit keys of a task, with their weights. */
struct limit_keys {
	char texts[TQ_LIMITS_MAX][TQ_KEY_MAX + 1];
	const char *keys[TQ_LIMITS_MAX];
	uint32_t weights[TQ_LIMITS_MAX];
	uint32_t count;
};

struct task_options {
	struct tq_task_spec spec;	   /* without payload */
	struct limit_keys limits;	   /* what spec.limits and spec.limit_weights point to */
	struct after_options after;	   /* what spec.after points to */
	char *cwd;			   /* absolute; NULL the current directory */
	char *output;			   /* absolute; NULL kept with the task */
	bool is_read;			   /* we follow its output */
	int errors_fd;			   /* of ours, for its errors; -1 none */
	uint32_t exec_flags;		   /* TQ_EXEC_* */
	uint32_t umask;			   /* this process's, or a batch line's */
	const char **env;		   /* NULL-terminated "NAME=value"; NULL none */
	unsigned env_count;
	char **env_copies; /* those of env that were made here */
	unsigned env_copy_count;
};

/* @path from the root on, as the worker has another working directory.  "" is the
 * working directory itself.  Freed by free(); NULL with errno. */
char *path_absolute(const char *path);

void task_options_init(struct task_options *options);
void task_options_free(struct task_options *options);

/* The command without its argv, and without what only its submitter knows. */
void task_options_exec(const struct task_options *options, struct tq_exec *ret_exec);

/* Takes one more of a task's limit keys, KEY or KEY=WEIGHT.  False after a message. */
bool task_option_limit(struct cli *cli, const char *arg, struct limit_keys *limits);

/* Takes one option of TASK_OPTION_ROWS, --delay, --at, --keep, --append or -o; others go to
 * option_global(). */
bool task_option(struct cli *cli, struct task_options *options, int key, const char *arg);

/* Call when all options are read: what the queue options say goes into the spec. */
void task_options_finish(const struct cli *cli, struct task_options *options);

/* Warns of a command that looks like a line of the shell. */
void task_options_hint(const struct cli *cli, const char *const *argv);

/* Makes the payload of the command @argv.  0, or -errno after a message. */
int task_options_command(const struct cli *cli, const struct task_options *options,
			 const char *const *argv, void **ret_payload, uint64_t *ret_bytes);

/* Hands @payload in as described; reports failure.  0, or an error of tq_submit(). */
int task_options_submit(struct cli *cli, const struct task_options *options, const void *payload,
			uint64_t bytes, uint64_t *ret_id);

#endif
