/* SPDX-License-Identifier: MIT */
/* taskq-top -b: looks that are printed. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "top.h"

enum {
	WIDTH_DEFAULT = 100, /* where nothing says how wide lines may be */
	WIDTH_MOST = 1000,
	LINES_BESIDE = 40 /* of a view, beside its table */
};

/* Too narrow for a view is as narrow as one can be: what is printed can be folded. */
static int width_of_output(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	int width = columns ? atoi(columns) : 0;

	if (width <= 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		width = size.ws_col;
	if (width <= 0)
		return WIDTH_DEFAULT;
	return width < WIDTH_LEAST ? WIDTH_LEAST : width > WIDTH_MOST ? WIDTH_MOST : width;
}

static int print(struct top *top)
{
	const struct table_state *table = &top->ui.tables[top->ui.view];

	if (top->cli.json) {
		top_json(top);
	} else {
		if (!cells_resize(&top->cells, width_of_output(), (int)table->count + LINES_BESIDE))
			return -ENOMEM;
		top_draw(top);
		cells_dump(&top->cells, stdout);
	}
	return fflush(stdout) == 0 && !ferror(stdout) ? 0 : -EIO;
}

/* Sleeps until the next look; false when nobody reads any more. */
static bool wait_for_next(uint64_t delay_ns)
{
	struct pollfd out = { .fd = STDOUT_FILENO, .events = 0 };
	const struct timespec delay = { (time_t)(delay_ns / 1000000000),
					(long)(delay_ns % 1000000000) };

	return ppoll(&out, 1, &delay, NULL) <= 0;
}

int batch_run(struct top *top)
{
	top->ui.is_plain = top->model.is_printed = true;
	for (uint64_t i = 0; top->looks == 0 || i < top->looks; i++) {
		if (i > 0 && !wait_for_next(top->model.delay_ns))
			return CLI_OK;
		top_look(top, TQ_FOREVER_NS);
		if (top->model.now.error)
			return fail(&top->cli, top->model.now.error, ABOUT_SEGMENT,
				    "segment \"%s\"", top->source.name);
		if (i > 0 && !top->cli.json)
			putchar('\n');
		if (print(top) < 0)
			return CLI_NOTHING;
		if (top->model.now.removed) {
			complain("segment \"%s\": it has been removed", top->source.name);
			return CLI_ABSENT;
		}
	}
	return CLI_OK;
}
