/* SPDX-License-Identifier: MIT */
/* Options: tables to getopt_long() and back, without its abbreviations. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "errors.h"
#include "parse.h"
#include "tools/taskq/options/help.h"
#include "tools/taskq/options/options.h"
#include "tools/taskq/options/similar.h"

enum {
	ROWS_MAX = 48
}; /* options of one verb with the global ones; submit has 30 */

const struct option_row global_options[] = {
	{ 's', "segment", "NAME|PATH", "the segment; TASKQ_SEGMENT, else \"default\"" },
	{ 'q', "queue", "QUEUE", "the queue; TASKQ_QUEUE, else \"default\"" },
	{ OPTION_JSON, "json", NULL, "print JSON; lists print one object a line" },
	{ OPTION_FOREIGN, "foreign", NULL, "accept a segment of another user, or open to others" },
	{ 'h', "help", NULL, "print this help" },
	{ OPTION_VERSION, "version", NULL, "print the version" },
	{ 0, NULL, NULL, NULL },
};

const struct option_row options_none[] = { { 0, NULL, NULL, NULL } };

enum {
	HELP_LEFT_MAX = 64, /* bytes of an option with its argument */
	HELP_AT = 28	    /* column in which its help begins */
};

/* The two forms of an option table that getopt_long() wants. */
struct table {
	struct option longs[ROWS_MAX + 1];
	char shorts[2 * ROWS_MAX + 3];
	unsigned count;
	char *end;
	int error; /* first bad usage */
};

static bool has_key(const struct option_row *rows, int key)
{
	for (; rows->key; rows++)
		if (rows->key == key)
			return true;
	return false;
}

static void table_row(struct table *table, const struct option_row *row)
{
	if (row->key == OPTION_COMMAND || table->count == ROWS_MAX)
		return;
	table->longs[table->count++] = (struct option){
		.name = row->name,
		.has_arg = row->arg ? required_argument : no_argument,
		.val = row->key,
	};
	if (row->key > 255)
		return;
	*table->end++ = (char)row->key;
	if (row->arg)
		*table->end++ = ':';
	*table->end = '\0';
}

static void table_fill(struct table *table, const struct cli *cli, const struct option_row *rows)
{
	memset(table, 0, sizeof(*table));
	table->end = table->shorts;
	/* Before the verb is known, the first operand is the verb. */
	if (!cli->verb || has_key(rows, OPTION_COMMAND))
		*table->end++ = '+';
	*table->end++ = ':';
	for (const struct option_row *row = rows; row->key; row++)
		table_row(table, row);
	if (rows == global_options)
		return;
	for (const struct option_row *row = global_options; row->key; row++)
		if (!has_key(rows, row->key))
			table_row(table, row);
}

/* The word of the command line that held the long option just read. */
static const char *option_word(char **argv)
{
	const bool apart = optarg && optarg == argv[optind - 1];

	return argv[optind - (apart ? 2 : 1)];
}

/* getopt_long() takes any unambiguous beginning: `--at` for --at-most-once.  A later
 * version may have an option of that very name, so only whole names count. */
static bool is_whole_name(const char *word, const char *name)
{
	const size_t bytes = strlen(name);

	return !strncmp(word, "--", 2) && !strncmp(word + 2, name, bytes) &&
	       (word[2 + bytes] == '\0' || word[2 + bytes] == '=');
}

/* One that is not to be had; perhaps the nearest of those that are was meant. */
static int unknown(const struct table *table, const struct cli *cli, const char *word)
{
	char name[TQ_NAME_MAX + 1];
	struct similar similar;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	similar = similar_to(name);
	for (const struct option *option = table->longs; option->name; option++)
		similar_try(&similar, option->name);
	return similar.found
		       ? usage(cli, "unknown option %s: did you mean --%s?", word, similar.found)
		       : usage(cli, "unknown option %s", word);
}

static void table_refuse(struct table *table, struct cli *cli, int key, char **argv)
{
	const char *word = argv[optind - 1];

	if (key == ':')
		table->error = usage(cli, "option %s needs an argument", word);
	else if (optopt && !strncmp(word, "--", 2) && strchr(word, '='))
		table->error = usage(cli, "option %s takes no argument", word);
	else if (optopt)
		table->error = usage(cli, "unknown option -%c", optopt);
	else
		table->error = unknown(table, cli, word);
}

static void table_read(struct table *table, struct cli *cli, option_fn *take, void *ctx, int argc,
		       char **argv)
{
	int key, row = -1;

	optind = 0; /* glibc: begin anew */
	opterr = 0;
	while ((key = getopt_long(argc, argv, table->shorts, table->longs, &row)) != -1) {
		if (key == '?' || key == ':')
			table_refuse(table, cli, key, argv);
		else if (row >= 0 && !is_whole_name(option_word(argv), table->longs[row].name))
			table->error = unknown(table, cli, option_word(argv));
		else if (!take(cli, ctx, key, optarg))
			table->error = CLI_USAGE;
		row = -1;
	}
}

bool options_parse(struct cli *cli, const struct option_row *rows, option_fn *take, void *ctx,
		   int argc, char **argv)
{
	struct table table;

	if (cli->describe) {
		cli->describe(cli->verb, rows);
		cli->exit_code = CLI_OK;
		return false;
	}
	cli->exit_code = -1;
	table_fill(&table, cli, rows);
	table_read(&table, cli, take ? take : option_global, ctx, argc, argv);
	if (cli->exit_code == CLI_OK) { /* --help or --version: wanted, and nothing else */
		if (cli->verb)
			help_verb(cli->verb, rows);
		return false;
	}
	if (table.error) {
		/* Only now is it known whether --wait was among the options. */
		cli->exit_code = cli->transparent ? CLI_SELF : CLI_USAGE;
		return false;
	}
	cli->operands = argv + optind;
	cli->operand_count = argc - optind;
	return true;
}

static bool take_segment(struct cli *cli, const char *arg)
{
	if (!segment_name_ok(arg))
		return refuse(cli, "--segment", arg, "not a segment", FORM_SEGMENT);
	cli->segment = arg;
	return true;
}

static bool take_queue(struct cli *cli, const char *arg)
{
	if (!name_ok(arg))
		return refuse(cli, "--queue", arg, "not a queue", FORM_NAME);
	cli->queue = arg;
	cli->queue_given = true;
	return true;
}

bool option_global(struct cli *cli, void *ctx, int key, const char *arg)
{
	(void)ctx;
	switch (key) {
	case 's':
		return take_segment(cli, arg);
	case 'q':
		return take_queue(cli, arg);
	case OPTION_JSON:
		cli->json = true;
		return true;
	case OPTION_FOREIGN:
		cli->foreign = true;
		return true;
	case 'h':
		if (!cli->verb)
			help_all();
		cli->exit_code = CLI_OK;
		return true;
	case OPTION_VERSION:
		cli->verb = NULL;
		help_version(cli);
		cli->exit_code = CLI_OK;
		return true;
	default:
		return false;
	}
}

static void row_help(const struct option_row *row)
{
	char left[HELP_LEFT_MAX];
	int width;

	if (row->key == OPTION_COMMAND)
		return;
	if (row->key < 256)
		width = snprintf(left, sizeof(left), "  -%c, --%s%s%s", row->key, row->name,
				 row->arg ? " " : "", row->arg ? row->arg : "");
	else
		width = snprintf(left, sizeof(left), "      --%s%s%s", row->name,
				 row->arg ? " " : "", row->arg ? row->arg : "");
	printf("%s%*s", left, width < HELP_AT ? HELP_AT - width : 1, "");
	help_fill(row->help, width < HELP_AT ? HELP_AT : (unsigned)width + 1, HELP_AT);
}

bool option_is_common(const struct verb *verb, const struct option_row *rows,
		      const struct option_row *global)
{
	if (!verb)
		return true;
	if (global->key == OPTION_VERSION || has_key(rows, global->key))
		return false;
	return global->key == 'h' || strchr(verb->globals, global->name[0]);
}

void options_help(const struct verb *verb, const struct option_row *rows)
{
	if (verb && rows->key && rows->key != OPTION_COMMAND) {
		puts("\nOptions:");
		for (const struct option_row *row = rows; row->key; row++)
			row_help(row);
	}
	puts(verb ? "\nCommon options:" : "\nGlobal options:");
	for (const struct option_row *row = global_options; row->key; row++)
		if (option_is_common(verb, rows, row))
			row_help(row);
}

bool operands_ok(struct cli *cli, int least, int most, const char *what)
{
	if (cli->operand_count < least)
		cli->exit_code = usage(cli, "%s is missing", what);
	else if (cli->operand_count > most)
		cli->exit_code = usage(cli, "\"%s\" is one operand too many", cli->operands[most]);
	else
		return true;
	return false;
}
