/* SPDX-License-Identifier: MIT */
/* taskq dump: a queue as lines that `taskq load` reads elsewhere. */
#include <errno.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

#include "errors.h"
#include "json.h"
#include "tools/taskq/dump/dump.h"
#include "tools/taskq/options/options.h"
#include "tools/taskq/options/verbs.h"

enum {
	NAME_BYTES = 16, /* of a dump: nobody makes the same one */
};

/* By which `load` knows a dump that it has seen. */
static int put_head(struct dump *dump)
{
	unsigned char name[NAME_BYTES];
	char text[2 * NAME_BYTES + 1], taken[FORMAT_MAX];

	if (getrandom(name, sizeof(name), 0) != (ssize_t)sizeof(name))
		return -errno;
	for (unsigned i = 0; i < sizeof(name); i++)
		snprintf(text + 2 * (size_t)i, 3, "%02x", name[i]);
	dump_line(dump,
		  json_pack("{s:s, s:i, s:s, s:s, s:o}", "record", "dump", "format", DUMP_FORMAT,
			    "dump", text, "taken", format_utc(dump->clocks.unix_now_ns, taken),
			    "segment", json_text(dump->cli->segment)));
	return 0;
}

static int put_end(struct dump *dump)
{
	const uint64_t lines = dump->lines + 1;

	dump_line(dump, json_pack("{s:s, s:o, s:o}", "record", "end", "tasks",
				  json_u64(dump->count), "lines", json_u64(lines)));
	return 0;
}

/* What stays behind, or is not as before. */
static void warn(const struct dump *dump)
{
	const struct {
		uint64_t count;
		const char *one, *many;
	} notes[] = {
		{ dump->running, "task is running here, and waits in the dump",
		  "tasks are running here, and wait in the dump" },
		{ dump->begun, "task has begun that runs at most once: it is held in the dump",
		  "tasks have begun that run at most once: they are held in the dump" },
		{ dump->saved, "task begins anew, without its checkpoint",
		  "tasks begin anew, without their checkpoints" },
		{ dump->followed, "task is left to the `run` or `map` that waits for it",
		  "tasks are left to the `run` or `map` that waits for them" },
		{ dump->lost, "dependency is left out, as what it names is not in the dump",
		  "dependencies are left out, as what they name is not in the dump" },
	};

	for (unsigned i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
		if (notes[i].count)
			complain("dump: %llu %s", (unsigned long long)notes[i].count,
				 format_plural(notes[i].count, notes[i].one, notes[i].many));
}

static int put_all(struct dump *dump)
{
	static int (*const parts[])(struct dump * dump) = { put_head,	 dump_queues,	 dump_kinds,
							    dump_limits, dump_schedules, dump_tasks,
							    put_end };
	int r = 0;

	for (unsigned i = 0; r == 0 && i < sizeof(parts) / sizeof(parts[0]) && !ferror(stdout); i++)
		r = parts[i](dump);
	return r;
}

int verb_dump(struct cli *cli, int argc, char **argv)
{
	struct dump dump = { .cli = cli };
	int r;

	if (!options_parse(cli, options_none, NULL, NULL, argc, argv) ||
	    !operands_ok(cli, 0, 0, NULL) || !attach(cli, TQ_OPEN_READONLY))
		return cli->exit_code;
	dump.clocks = clocks_read();
	r = put_all(&dump);
	id_map_free(&dump.tasks);
	id_map_free(&dump.groups);
	if (r < 0)
		return fail(cli, r, ABOUT_CONTENT, "dump");
	warn(&dump);
	return dump.lost ? CLI_NOTHING : CLI_OK;
}
