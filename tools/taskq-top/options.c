/* SPDX-License-Identifier: MIT */
/* The command line. */
#include <string.h>
#include <strings.h>

#include "long_options.h"
#include "parse.h"
#include "standard.h"
#include "top.h"

#define DELAY_NS 1000000000ull
#define DELAY_LEAST_NS 10000000ull /* more than a hundred looks a second are of no use */

enum {
	KEY_JSON = 256,
	KEY_VIEW,
	KEY_FILTER,
	KEY_FOREIGN,
	KEY_VERSION
};

static const struct option longs[] = {
	{ "segment", required_argument, NULL, 's' },
	{ "delay", required_argument, NULL, 'd' },
	{ "iterations", required_argument, NULL, 'n' },
	{ "batch", no_argument, NULL, 'b' },
	{ "json", no_argument, NULL, KEY_JSON },
	{ "view", required_argument, NULL, KEY_VIEW },
	{ "filter", required_argument, NULL, KEY_FILTER },
	{ "read-only", no_argument, NULL, 'r' },
	{ "foreign", no_argument, NULL, KEY_FOREIGN },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, KEY_VERSION },
	{ NULL, 0, NULL, 0 },
};

static void help(void)
{
	puts("Usage: taskq-top [OPTION]...\n"
	     "Watch a segment of taskq: queues, tasks, workers, limits, groups, the trace.\n\n"
	     "Options:\n"
	     "  -s, --segment NAME|PATH  the segment; TASKQ_SEGMENT, else \"default\"\n"
	     "  -d, --delay D            between two looks; default 1s\n"
	     "  -r, --read-only          offer nothing that changes anything\n"
	     "      --view VIEW          begin with overview, queues, tasks, workers, limits,\n"
	     "                           groups or trace\n"
	     "      --filter WORDS       begin with this filter\n"
	     "  -b, --batch              print the view instead of showing it\n"
	     "  -n, --iterations N       end after N looks\n"
	     "      --json               print each look as a JSON object, a line each\n"
	     "      --foreign            accept a segment of another user, or open to others\n"
	     "  -h, --help               print this help\n"
	     "      --version            print the version\n"
	     "\nKeys: `?` shows them.  Durations: 500ms 10s 5m, a bare number is seconds.");
}

static bool take_view(struct top *top, const char *arg)
{
	for (unsigned i = 0; i < VIEW_COUNT; i++) {
		if (strcasecmp(arg, views[i]->name) != 0)
			continue;
		top->ui.view = i;
		return true;
	}
	return refuse(&top->cli, "--view", arg, "no such view",
		      "overview, queues, tasks, workers, limits, groups or trace");
}

static bool take_filter(struct top *top, const char *arg)
{
	if (strlen(arg) >= FILTER_MAX)
		return refuse(&top->cli, "--filter", arg, "too long", "at most 127 bytes");
	for (unsigned i = 0; i < VIEW_COUNT; i++)
		memcpy(top->ui.tables[i].filter, arg, strlen(arg) + 1);
	return true;
}

static bool take_segment(struct top *top, const char *arg)
{
	top->source.name = arg;
	return segment_name_ok(arg) ||
	       refuse(&top->cli, "--segment", arg, "not a segment", FORM_SEGMENT);
}

static bool take(void *ctx, int key, const char *arg)
{
	struct top *top = ctx;

	switch (key) {
	case 's':
		return take_segment(top, arg);
	case 'd':
		return option_duration_from(&top->cli, "--delay", arg, DELAY_LEAST_NS, "",
					    &top->model.delay_ns);
	case 'n':
		return option_count(&top->cli, "--iterations", arg, 1, INT64_MAX, &top->looks);
	case 'r':
		top->ui.read_only = true;
		return true;
	case KEY_JSON:
		top->cli.json = true;
		top->batch = true;
		return true;
	case 'b':
		top->batch = true;
		return true;
	case KEY_VIEW:
		return take_view(top, arg);
	case KEY_FILTER:
		return take_filter(top, arg);
	case KEY_FOREIGN:
		top->source.foreign = true;
		return true;
	case 'h':
		help();
		top->cli.exit_code = CLI_OK;
		return false;
	case KEY_VERSION:
		printf("taskq-top %s\n", TQ_VERSION_STRING);
		top->cli.exit_code = CLI_OK;
		return false;
	default:
		return false;
	}
}

bool options_read(struct top *top, int argc, char **argv)
{
	top->cli.exit_code = CLI_USAGE;
	top->source.name = environment_or("TASKQ_SEGMENT", "default");
	top->model.delay_ns = DELAY_NS;
	return long_options_read(longs, "+:s:d:n:brh", take, top, argc, argv) &&
	       take_segment(top, top->source.name);
}
