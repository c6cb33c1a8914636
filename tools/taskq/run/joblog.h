/* SPDX-License-Identifier: MIT */
/* `map --joblog`: a line for each task that has ended, by which --resume knows what is done. */
#ifndef TASKQ_TOOL_JOBLOG_H
#define TASKQ_TOOL_JOBLOG_H

#include <stdio.h>

#include "cli.h"

struct joblog {
	FILE *file;	/* NULL none is written */
	char **done;	/* text, as it stands in the file, of each line of the input that is done */
	uint64_t count; /* of ->done, by the number of the line */
};

/* Reads what is done if @resume, and then appends; else begins anew.  @writes: false only
 * reads.  False: reported, with cli->exit_code. */
bool joblog_open(struct cli *cli, struct joblog *log, const char *path, bool resume, bool writes);

/* Whether the line of this number was done, with the same text. */
bool joblog_has(const struct joblog *log, uint64_t number, const char *line);

/* One whole line in the file, or an error; 0 or -errno. */
int joblog_add(struct joblog *log, uint64_t number, const char *line,
	       const struct tq_task_info *info);

#endif
