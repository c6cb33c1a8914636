/* SPDX-License-Identifier: MIT */
/* What an entry of the flight recorder tells. */
#ifndef TASKQ_TOOL_TRACE_TEXT_H
#define TASKQ_TOOL_TRACE_TEXT_H

#include <taskq/taskq.h>

#include "format.h"

enum {
	TRACE_TEXT_MAX = 128
};

/* What happened, in a few words. */
char *trace_text(const struct tq_trace_entry *entry, char buf[TRACE_TEXT_MAX]);

/* When, to the microsecond, by the local clock: date, "T", time. */
char *trace_moment(const struct tq_trace_entry *entry, const struct clocks *clocks,
		   char buf[FORMAT_MAX]);

#endif
