/* SPDX-License-Identifier: MIT */
/* Entries of the flight recorder, printed, and for trace viewers. */
#ifndef TASKQ_TOOL_TRACE_H
#define TASKQ_TOOL_TRACE_H

#include <stdio.h>

#include "cli.h"
#include "format.h"

/* One line of text, or one object. */
void trace_print(const struct cli *cli, const struct tq_trace_entry *entry,
		 const struct clocks *clocks);

/*
 * Writes the trace event format of Chrome and Perfetto.  Entries are added oldest first;
 * the end closes the attempts that run still.  NULL: no memory.
 */
struct trace_chrome;

/* @tq is asked for the labels of tasks whose records are still there. */
struct trace_chrome *trace_chrome_begin(FILE *to, const char *segment, struct tq *tq);
void trace_chrome_lose(struct trace_chrome *chrome, uint64_t lost);
bool trace_chrome_add(struct trace_chrome *chrome, const struct tq_trace_entry *entry);
void trace_chrome_end(struct trace_chrome *chrome, const struct clocks *clocks);

#endif
