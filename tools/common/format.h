/* SPDX-License-Identifier: MIT */
/* Quantities as people read them. */
#ifndef TASKQ_TOOL_FORMAT_H
#define TASKQ_TOOL_FORMAT_H

#include <stdint.h>

enum {
	FORMAT_MAX = 48
}; /* bytes that every function below may write */

/* The two clocks read together, so that one listing has one "now". */
struct clocks {
	uint64_t now_ns;      /* CLOCK_MONOTONIC */
	uint64_t unix_now_ns; /* CLOCK_REALTIME at the same moment */
};

struct clocks clocks_read(void);

/* CLOCK_REALTIME of a CLOCK_MONOTONIC time, as the wall clock stands now. */
uint64_t clocks_unix_ns(const struct clocks *clocks, uint64_t at_ns);

/* How long it was from one to the other, of one clock; 0 when @to_ns came first: what has
 * begun after the clock was read has no age yet, and the wall clock may be set back. */
uint64_t ns_between(uint64_t from_ns, uint64_t to_ns);

/* The word that goes with a number: format_plural(n, "task", "tasks"). */
const char *format_plural(uint64_t count, const char *one, const char *many);

/* Each fills @buf and returns it. */
char *format_duration(uint64_t ns, char buf[FORMAT_MAX]);   /* "350ms", "5.2s", "3m05s", "2d04h" */
char *format_bound(uint64_t ns, char buf[FORMAT_MAX]); /* likewise, but never less than @ns */
char *format_size(uint64_t bytes, char buf[FORMAT_MAX]);    /* "812", "3.2K", "1G" */
char *format_utc(uint64_t unix_ns, char buf[FORMAT_MAX]);   /* RFC 3339, milliseconds, Z */
char *format_local(uint64_t unix_ns, char buf[FORMAT_MAX]); /* RFC 3339 with the local offset */
/* A CLOCK_MONOTONIC time, so, and then " (in 5.2s)" or " (3m05s ago)". */
char *format_moment(const struct clocks *clocks, uint64_t at_ns, char buf[FORMAT_MAX]);

#endif
