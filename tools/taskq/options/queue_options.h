/* SPDX-License-Identifier: MIT */
/* The options with which `taskq queue set` describes a queue. */
#ifndef TASKQ_TOOL_QUEUE_OPTIONS_H
#define TASKQ_TOOL_QUEUE_OPTIONS_H

#include "tools/taskq/options/options.h"

struct queue_options {
	struct tq_queue_opts opts;
	bool given; /* any of them */
	bool strict, ordered; /* --strict; what it excludes */
};

extern const struct option_row queue_rows[];

/* An option_fn; @ctx is a struct queue_options, its opts.size set. */
bool queue_option(struct cli *cli, void *ctx, int key, const char *arg);

/* A time, or off: TQ_UNLIMITED.  --retries N: attempts. */
bool option_time_or_off(struct cli *cli, const char *option, const char *arg, uint64_t *ret_ns);
bool option_attempts(struct cli *cli, const char *arg, uint32_t *ret_attempts);

/* What cannot go together; reported, and false with cli->exit_code. */
bool queue_options_ok(struct cli *cli, const struct queue_options *options);

#endif
