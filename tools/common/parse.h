/* SPDX-License-Identifier: MIT */
/* Values of the command line: durations, sizes, counts, names. */
#ifndef TASKQ_TOOL_PARSE_H
#define TASKQ_TOOL_PARSE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli.h"

/* Accepted forms, for messages that begin with "give ". */
#define FORM_NAME "1 to 64 of the characters A-Z a-z 0-9 . _ -"
#define FORM_SEGMENT FORM_NAME ", or an absolute path on a tmpfs"
#define FORM_PRIORITY                                                                              \
	"a whole number from -2147483648 to 2147483647, or low, normal, high, critical"
#define FORM_KEY "1 to 127 bytes"
#define FORM_SCOPE "queued, active, kept or coalesce"
#define FORM_AT "HH:MM[:SS], \"2027-03-01 08:00[:00]\" in local time, or 2027-03-01T08:00:00+01:00"
#define FORM_SCHEDULE                                                                              \
	"a schedule's id as `taskq schedule list` prints it, such as s2-1, or its name"
#define FORM_GROUP "a group's id as `taskq group new` prints it, such as g2-1"
#define FORM_OVERLAP "skip or queue"
#define FORM_ZONE                                                                                  \
	"a name such as Europe/Berlin, as in /usr/share/zoneinfo, or a rule such as "              \
	"CET-1CEST,M3.5.0,M10.5.0/3"
#define FORM_ID "an id as `taskq submit` prints it, such as 17-3"

/* The longest duration that options take: what the library takes, in whole days. */
#define DURATION_MOST_NS (53375 * 86400000000000ull)

/* Each is 0, -EINVAL (not such a value) or -ERANGE (too large). */
int parse_duration(const char *text, uint64_t *ret_ns);
/* A wall-clock time in one of the forms of FORM_AT, in ns since 1970.  HH:MM is the next
 * such time after @now_ns.  -ENOENT: clocks are set forward over it. */
int parse_at(const char *text, uint64_t now_ns, uint64_t *ret_ns);
int parse_count(const char *text, uint64_t *ret_count);

/* A scope of a unique key: 0 or -EINVAL. */
int parse_scope(const char *text, uint32_t *ret_scope);
/* Its name; "" none. */
const char *scope_name(uint32_t scope);

/* Calls @take for each word of a comma-separated list, for "" when there is none; false as
 * soon as it is. */
bool words_each(const char *list, bool (*take)(void *ctx, const char *word), void *ctx);

bool name_ok(const char *text);
bool key_ok(const char *text);
bool segment_name_ok(const char *text);

/* The same as option values: false when it was refused with a message, which has the range
 * that is accepted, and @other: ", or off" where such words were looked for before. */
bool option_duration(const struct cli *cli, const char *option, const char *arg, uint64_t *ret_ns);
bool option_at(const struct cli *cli, const char *arg, uint64_t *ret_ns); /* --at */
bool option_time_limit(const struct cli *cli, const char *option, const char *arg,
		       uint64_t *ret_ns); /* a duration above 0 */
bool option_duration_from(const struct cli *cli, const char *option, const char *arg,
			  uint64_t least_ns, const char *other, uint64_t *ret_ns);
bool option_backoff(const struct cli *cli, const char *arg, uint64_t *ret_ns,
		    uint64_t *ret_cap_ns); /* "D" or "D:CAP" */
bool option_size(const struct cli *cli, const char *option, const char *arg, uint64_t least,
		 uint64_t most, uint64_t *ret_bytes);
bool option_count(const struct cli *cli, const char *option, const char *arg, uint64_t least,
		  uint64_t most, uint64_t *ret_count);
bool option_count_or(const struct cli *cli, const char *option, const char *arg, uint64_t least,
		     uint64_t most, const char *other, uint64_t *ret_count);
bool option_priority(const struct cli *cli, const char *arg, int32_t *ret_priority);
bool option_name(const struct cli *cli, const char *option, const char *arg, const char **ret_name);

/* Operands that must be ids: all of them, or false and cli->exit_code.  Freed by free(). */
bool operands_ids(struct cli *cli, uint64_t **ret_ids);

#endif
