/* SPDX-License-Identifier: MIT */
/* Failures: exit codes, and messages that say what was wrong and what to do. */
#ifndef TASKQ_TOOL_ERRORS_H
#define TASKQ_TOOL_ERRORS_H

#include "cli.h"

#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))

/* Prints "PROGRAM: ..." on standard error.  A line feed in @format separates what was
 * wrong from what to do; control characters in arguments are made harmless. */
void complain(const char *format, ...) PRINTF_LIKE(1, 2);

/* Adds lines to what complain() has just said. */
void complain_more(const char *format, ...) PRINTF_LIKE(1, 2);

/* Reports bad usage and names the help; returns the exit code. */
int usage(const struct cli *cli, const char *format, ...) PRINTF_LIKE(2, 3);

/* Reports that the value @arg of @option is @wrong, and the accepted form; false. */
bool refuse(const struct cli *cli, const char *option, const char *arg, const char *wrong,
	    const char *form);

/* What the call that failed was about: the same code means different things. */
enum about {
	ABOUT_SEGMENT, /* which is being opened */
	ABOUT_REMOVAL, /* of a segment */
	ABOUT_CONTENT, /* of an open segment */
	ABOUT_QUEUE,   /* or a farm on it */
	ABOUT_LIMIT,
	ABOUT_SERVER,
	ABOUT_TASK,
	ABOUT_SCHEDULE,
	ABOUT_COMMAND,
	ABOUT_GROUP
};

/* The library's error in words. */
const char *error_text(int r, enum about about);

/* Reports the library's error @r and gives the exit code for it. */
int fail(const struct cli *cli, int r, enum about about, const char *format, ...) PRINTF_LIKE(4, 5);
/* Whether the lock was not to be had, and that has been said: who has more to do would only
 * wait as long again for each of it. */
bool failed_at_lock(void);

/* fail() about a task, "VERB 17-3: ...". */
int fail_task(const struct cli *cli, int r, uint64_t id);

/* The worse of two exit codes: the bigger, as CLI_NOTHING is the mildest. */
int worse(int a, int b);

#endif
