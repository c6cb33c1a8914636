/* SPDX-License-Identifier: MIT */
/* `taskq help`, `taskq VERB --help`, `taskq version`. */
#include <stdio.h>
#include <string.h>

#include "errors.h"
#include "tools/taskq/options/help.h"
#include "tools/taskq/options/options.h"
#include "tools/taskq/options/verbs.h"

enum {
	WIDTH = 80 /* columns, also on a wider terminal */
};

void help_all(void)
{
	const struct verb *verb;

	puts("Usage: taskq [OPTION]... VERB [ARG]...\n"
	     "A crash-proof task queue in shared memory.\n\nVerbs:");
	for (unsigned i = 0; (verb = verb_at(i)); i++)
		printf("  %-9s %s\n", verb->name, verb->summary);
	options_help(NULL, global_options);
	puts("\nDurations: 500ms 10s 5m 2h 1d, a bare number is seconds.  Sizes: 64K 1M 2G.\n"
	     "Exit codes: 0 ok, 1 nothing found or not done, 2 bad usage, 4 full, 5 no such\n"
	     "segment, queue or task, 6 a segment not for this program, 7 damaged; wait, run\n"
	     "and submit --wait: the task's own.  `taskq help VERB` says more.");
}

/* A line end in the text is a blank, or the two that follow a sentence. */
static unsigned gap_at(const char *blanks, char before)
{
	if (*blanks == '\n')
		return before == '.' ? 2 : 1;
	return blanks[1] == ' ' ? 2 : 1;
}

void help_fill(const char *text, unsigned at, unsigned indent)
{
	unsigned gap = 0; /* blanks before the next word */

	while (*text) {
		const unsigned bytes = (unsigned)strcspn(text, " \n");

		if (gap && at + gap + bytes > WIDTH) {
			putchar('\n');
			at = 0;
			gap = indent;
		}
		at += (unsigned)printf("%*s%.*s", (int)gap, "", (int)bytes, text);
		text += bytes;
		if (*text)
			gap = gap_at(text, text[-1]);
		text += strspn(text, " \n");
	}
	putchar('\n');
}

static void put_examples(const char *lines)
{
	puts("\nExamples:");
	while (*lines) {
		const size_t bytes = strcspn(lines, "\n");

		printf("  %.*s\n", (int)bytes, lines);
		lines += bytes + (lines[bytes] == '\n');
	}
}

void help_verb(const struct verb *verb, const struct option_row *rows)
{
	const int width = printf("Usage: taskq %s%s", verb->name, *verb->args ? " " : "");

	help_fill(verb->args, (unsigned)width, (unsigned)width);
	printf("%c%s.\n", verb->summary[0] - 'a' + 'A', verb->summary + 1);
	if (*verb->text) {
		putchar('\n');
		help_fill(verb->text, 0, 0);
	}
	options_help(verb, rows);
	if (*verb->examples)
		put_examples(verb->examples);
}

void help_version(const struct cli *cli)
{
	if (cli->json)
		printf("{\"program\":\"%s\",\"library\":\"%s\"}\n", TQ_VERSION_STRING,
		       tq_version());
	else if (!strcmp(tq_version(), TQ_VERSION_STRING))
		printf("taskq %s\n", TQ_VERSION_STRING);
	else
		printf("taskq %s (library %s)\n", TQ_VERSION_STRING, tq_version());
}

int verb_version(struct cli *cli, int argc, char **argv)
{
	if (!options_parse(cli, options_none, NULL, NULL, argc, argv) ||
	    !operands_ok(cli, 0, 0, NULL))
		return cli->exit_code;
	help_version(cli);
	return CLI_OK;
}

/* Each verb knows its own options, so it is the verb that prints its help. */
int verb_help(struct cli *cli, int argc, char **argv)
{
	static char help[] = "--help";
	char *asked[] = { NULL, help, NULL };

	if (!options_parse(cli, options_none, NULL, NULL, argc, argv) ||
	    !operands_ok(cli, 0, 1, NULL))
		return cli->exit_code;
	if (cli->operand_count == 0) {
		help_all();
		return CLI_OK;
	}
	asked[0] = cli->operands[0];
	cli->verb = verb_find(asked[0]);
	if (!cli->verb) {
		complain("no verb \"%s\"\n`taskq help` lists them", asked[0]);
		return CLI_USAGE;
	}
	return cli->verb->run(cli, 2, asked);
}
