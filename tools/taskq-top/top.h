/* SPDX-License-Identifier: MIT */
/* One run of taskq-top: what was asked for, and all that it works with. */
#ifndef TASKQ_TOP_TOP_H
#define TASKQ_TOP_TOP_H

#include "ui.h"

struct top {
	struct cli cli; /* for messages and exit codes */
	struct source source;
	struct model model;
	struct ui ui;
	struct cells cells;
	bool batch;
	uint64_t looks; /* to take; 0 no end */
};

/* options.c: false, all of it reported, with cli.exit_code; or --help. */
bool options_read(struct top *top, int argc, char **argv);

/* look.c: a look at the segment into the model; the pass over the tasks for about this
 * long where they are shown. */
void top_look(struct top *top, uint64_t pass_ns);
/* Draws it into the cells. */
void top_draw(struct top *top);
void top_free(struct top *top);

/* The two ways to run it; the exit code. */
int batch_run(struct top *top);
int live_run(struct top *top);

/* json_top.c: a look in one line of standard output. */
void top_json(struct top *top);

#endif
