/* SPDX-License-Identifier: MIT */
/* Entry: global options, the verb table, and the last look at standard output. */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "errors.h"
#include "signals.h"
#include "standard.h"
#include "tools/taskq/options/help.h"
#include "tools/taskq/options/options.h"
#include "tools/taskq/options/similar.h"
#include "tools/taskq/options/verbs.h"

static const struct verb verbs[] = {
#define VERB_ROW(name, run, globals, args, summary, text, examples)                                \
	{ #name, run, globals, args, summary, text, examples },
	VERB_MAP(VERB_ROW)
#undef VERB_ROW
};

const struct verb *verb_at(unsigned index)
{
	return index < sizeof(verbs) / sizeof(verbs[0]) ? &verbs[index] : NULL;
}

const struct verb *verb_find(const char *name)
{
	for (unsigned i = 0; verb_at(i); i++)
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

static int refuse_verb(const char *word)
{
	struct similar similar = similar_to(word);

	for (unsigned i = 0; verb_at(i); i++)
		similar_try(&similar, verbs[i].name);
	if (similar.found)
		complain("no verb \"%s\": did you mean \"%s\"?\n`taskq help` lists them", word,
			 similar.found);
	else
		complain("no verb \"%s\"\n`taskq help` lists them", word);
	return CLI_USAGE;
}

static int run_verb(struct cli *cli, int argc, char **argv)
{
	static char status[] = "status";
	static char *bare[] = { status, NULL };

	if (argc == 0)
		return run_verb(cli, 1, bare);
	cli->verb = verb_find(argv[0]);
	if (!cli->verb)
		return refuse_verb(argv[0]);
	return cli->verb->run(cli, argc, argv);
}

int main(int argc, char **argv)
{
	struct cli cli = { 0 };
	int code = CLI_USAGE;

	standard_fill();
	setlocale(LC_CTYPE, "");
	signals_setup();
	cli.segment = environment_or("TASKQ_SEGMENT", "default");
	cli.queue = environment_or("TASKQ_QUEUE", "default");
	if (options_parse(&cli, global_options, NULL, NULL, argc, argv))
		code = run_verb(&cli, cli.operand_count, cli.operands);
	else
		code = cli.exit_code;
	detach(&cli);
	return standard_close(&cli, code);
}
