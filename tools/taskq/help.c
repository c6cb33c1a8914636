/* SPDX-License-Identifier: MIT */
/* `taskq help`, `taskq VERB --help`, `taskq version`. */
#include <stdio.h>
#include <string.h>

#include "errors.h"
#include "help.h"
#include "options.h"
#include "verbs.h"

void help_all(void)
{
	const struct verb *verb;

	puts("Usage: taskq [OPTION]... VERB [ARG]...\n"
	     "A crash-proof task queue in shared memory.\n\nVerbs:");
	for (unsigned i = 0; (verb = verb_at(i)); i++)
		printf("  %-9s %s\n", verb->name, verb->summary);
	options_help(global_options);
	puts("\nDurations: 500ms 10s 5m 2h 1d, a bare number is seconds.  Sizes: 64K 1M 2G.\n"
	     "Exit codes: 0 ok, 1 nothing found or not done, 2 bad usage, 4 full, 5 no such\n"
	     "segment, queue or task, 6 a segment not for this program, 7 damaged; wait, run and\n"
	     "submit --wait: the task's own.  `taskq help VERB` says more.");
}

void help_verb(const struct verb *verb, const struct option_row *rows)
{
	printf("Usage: taskq %s%s%s\n%c%s.\n", verb->name, *verb->args ? " " : "", verb->args,
	       verb->summary[0] - 'a' + 'A', verb->summary + 1);
	if (*verb->text)
		printf("\n%s", verb->text);
	options_help(rows);
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
