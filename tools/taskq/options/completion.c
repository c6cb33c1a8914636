/* SPDX-License-Identifier: MIT */
/* taskq completion: what the verbs say of their options, for a shell's completion. */
#include <stdio.h>
#include <string.h>

#include "tools/taskq/options/options.h"
#include "tools/taskq/options/verbs.h"

static void put_option(const struct option_row *row)
{
	if (row->key == OPTION_COMMAND)
		return;
	if (row->key < 256)
		printf(" -%c%s%s", row->key, row->arg ? "=" : "", row->arg ? row->arg : "");
	printf(" --%s%s%s", row->name, row->arg ? "=" : "", row->arg ? row->arg : "");
}

/* Of a synopsis what can be completed: words that are to be said, and what operands are. */
static void put_operands(const char *args)
{
	fputs("-", stdout); /* a column is never empty: shells would not see it */
	while (*args) {
		const size_t bytes = strspn(args, "abcdefghijklmnopqrstuvwxyz"
						  "ABCDEFGHIJKLMNOPQRSTUVWXYZ-");

		if (bytes > 0 && *args != '-' && strncmp(args, "OPTION", bytes) != 0)
			printf(" %.*s", (int)bytes, args);
		args += bytes ? bytes : 1;
	}
}

static void put_verb(const struct verb *verb, const struct option_row *rows)
{
	printf("%s\t", verb->name);
	put_operands(verb->args);
	putchar('\t');
	for (const struct option_row *row = rows; row->key; row++)
		put_option(row);
	for (const struct option_row *row = global_options; row->key; row++)
		if (option_is_common(verb, rows, row))
			put_option(row);
	putchar('\n');
}

/* Lines of no verb: what may stand before one, and what S stands for. */
static void put_globals(void)
{
	printf("-\t VERB\t");
	for (const struct option_row *row = global_options; row->key; row++)
		put_option(row);
	printf("\n-state\t");
	for (uint32_t state = TQ_BLOCKED; state < TQ_STATE_COUNT; state++)
		printf(" %s", tq_task_state_name(state));
	puts(" unfinished finished\t");
}

int verb_completion(struct cli *cli, int argc, char **argv)
{
	char *none[] = { NULL };

	if (!options_parse(cli, options_none, NULL, NULL, argc, argv) ||
	    !operands_ok(cli, 0, 0, NULL))
		return cli->exit_code;
	put_globals();
	cli->describe = put_verb;
	for (unsigned i = 0; (cli->verb = verb_at(i)); i++)
		cli->verb->run(cli, 0, none);
	return CLI_OK;
}
