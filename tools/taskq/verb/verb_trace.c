/* SPDX-License-Identifier: MIT */
/* taskq trace: what the flight recorder holds. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "errors.h"
#include "json.h"
#include "parse.h"
#include "signals.h"
#include "tools/taskq/options/options.h"
#include "tools/taskq/options/verbs.h"
#include "tools/taskq/trace/trace.h"

enum {
	CHUNK = 256,	/* entries in memory at a time */
	LOOKS_A_GLANCE = 20, /* looks between two glances at whether the segment is there still */
};

#define LOOK_NS 50000000l /* 50 ms: a reader wakes nobody, and nobody wakes it */

enum key {
	KEY_TASK = OPTION_OWN,
	KEY_CHROME,
};

static const struct option_row rows[] = {
	{ 'f', "follow", NULL, "go on with what comes" },
	{ KEY_TASK, "task", "ID", "only of this task" },
	{ 'n', "count", "N", "only the last N of them; with --follow: before what comes" },
	{ KEY_CHROME, "chrome", "FILE", "write a file for ui.perfetto.dev; - is standard output" },
	{ 0, NULL, NULL, NULL },
};

struct trace {
	uint64_t task;	  /* 0 all */
	uint64_t skip;	  /* entries that match and are not shown: there are more than -n */
	uint64_t count;	  /* of -n; 0 all */
	uint64_t cursor;  /* of the next one to read */
	uint64_t shown;
	bool follow;
	const char *file; /* of --chrome */
	struct trace_chrome *chrome;
	bool chrome_began; /* what was lost before the first entry was never there for us */
	struct clocks clocks;
};

static bool take_option(struct cli *cli, void *ctx, int key, const char *arg)
{
	struct trace *trace = ctx;

	switch (key) {
	case 'f':
		trace->follow = true;
		return true;
	case 'n':
		return option_count(cli, "--count", arg, 1, UINT32_MAX, &trace->count);
	case KEY_CHROME:
		trace->file = arg;
		return true;
	case KEY_TASK:
		return tq_task_id_parse(arg, &trace->task) == 0 ||
		       refuse(cli, "--task", arg, "not an id", FORM_ID);
	default:
		return option_global(cli, NULL, key, arg);
	}
}

static void print_lost(const struct cli *cli, uint64_t lost)
{
	if (!lost)
		return;
	if (cli->json)
		json_line(json_pack("{s:o}", "lost", json_u64(lost)));
	else
		printf("(%llu %s written over before being read)\n", (unsigned long long)lost,
		       format_plural(lost, "entry was", "entries were"));
}

typedef bool entry_fn(struct cli *cli, struct trace *trace, const struct tq_trace_entry *entry);

static bool show(struct cli *cli, struct trace *trace, const struct tq_trace_entry *entry)
{
	if (trace->skip) {
		trace->skip--;
		return true;
	}
	trace->shown++;
	if (trace->chrome)
		return trace_chrome_add(trace->chrome, entry);
	trace_print(cli, entry, &trace->clocks);
	return true;
}

static bool count(struct cli *cli, struct trace *trace, const struct tq_trace_entry *entry)
{
	(void)cli;
	(void)entry;
	trace->skip++;
	return true;
}

/* Hands on what there is from the cursor on.  1 when there was something, 0, or an error. */
static int read_entries(struct cli *cli, struct trace *trace, entry_fn *hand_on)
{
	static struct tq_trace_entry entries[CHUNK];
	uint64_t lost;
	int n, some = 0;

	do {
		entries[0].size = sizeof(entries[0]);
		n = tq_trace_read(cli->tq, &trace->cursor, entries, CHUNK, &lost);
		if (n >= 0 && hand_on == show && !trace->chrome)
			print_lost(cli, lost);
		if (n >= 0 && hand_on == show && trace->chrome && trace->chrome_began)
			trace_chrome_lose(trace->chrome, lost);
		trace->chrome_began = hand_on == show;
		for (int i = 0; i < n; i++)
			if ((!trace->task || entries[i].task == trace->task) &&
			    !hand_on(cli, trace, &entries[i]))
				return -ENOMEM;
		some |= n > 0;
	} while (n == CHUNK);
	return n < 0 ? n : some;
}

/* How many of those that match are too old for -n. */
static int skip_older(struct cli *cli, struct trace *trace)
{
	const int r = trace->count ? read_entries(cli, trace, count) : 0;

	trace->skip -= trace->skip < trace->count ? trace->skip : trace->count;
	trace->cursor = 0;
	return r;
}

static bool is_removed(struct cli *cli)
{
	struct tq_segment_info info = { .size = sizeof(info) };

	return tq_segment_info(cli->tq, &info) == 0 && !info.path[0];
}

static int follow(struct cli *cli, struct trace *trace)
{
	const struct timespec pause = { .tv_nsec = LOOK_NS };
	int r = 0;

	for (unsigned look = 1; r >= 0; look++) {
		fflush(stdout);
		signals_point();
		nanosleep(&pause, NULL);
		trace->clocks = clocks_read();
		r = read_entries(cli, trace, show);
		if (r == 0 && look % LOOKS_A_GLANCE == 0 && is_removed(cli)) {
			complain("segment \"%s\" was removed", cli->segment);
			return CLI_ABSENT;
		}
	}
	return fail(cli, r, ABOUT_CONTENT, "trace");
}

static int print(struct cli *cli, struct trace *trace)
{
	int r = skip_older(cli, trace);

	if (r >= 0)
		r = read_entries(cli, trace, show);
	if (r == -ENODATA) {
		complain("segment \"%s\" has no recorder\nit was made with --trace off",
			 cli->segment);
		return CLI_NOTHING;
	}
	if (r < 0)
		return fail(cli, r, ABOUT_CONTENT, "trace");
	return trace->follow ? follow(cli, trace) : trace->shown ? CLI_OK : CLI_NOTHING;
}

static int export_to(struct cli *cli, struct trace *trace, FILE *to)
{
	int code;

	trace->chrome = trace_chrome_begin(to, cli->segment, cli->tq);
	if (!trace->chrome)
		return fail(cli, -ENOMEM, ABOUT_CONTENT, "trace");
	code = print(cli, trace);
	trace->clocks = clocks_read();
	trace_chrome_end(trace->chrome, &trace->clocks);
	return code;
}

static int export(struct cli *cli, struct trace *trace)
{
	FILE *to = strcmp(trace->file, "-") ? fopen(trace->file, "we") : stdout;
	int code;

	if (!to) {
		complain("cannot write \"%s\": %s", trace->file, strerror(errno));
		return CLI_NOTHING;
	}
	code = export_to(cli, trace, to);
	if (to == stdout || (!ferror(to) && fclose(to) == 0))
		return code;
	complain("cannot write \"%s\": %s", trace->file, strerror(errno));
	return CLI_NOTHING;
}

int verb_trace(struct cli *cli, int argc, char **argv)
{
	struct trace trace = { 0 };

	if (!options_parse(cli, rows, take_option, &trace, argc, argv) ||
	    !operands_ok(cli, 0, 0, NULL))
		return cli->exit_code;
	if (trace.file && (trace.follow || cli->json))
		return usage(cli, "--chrome writes what there is: without --follow and --json");
	if (!attach(cli, TQ_OPEN_READONLY))
		return cli->exit_code;
	trace.clocks = clocks_read();
	return trace.file ? export(cli, &trace) : print(cli, &trace);
}
