/* SPDX-License-Identifier: MIT */
/* Options of a verb as a table, from which both parsing and help are made. */
#ifndef TASKQ_TOOL_OPTIONS_H
#define TASKQ_TOOL_OPTIONS_H

#include "cli.h"

/* Keys of options without a letter. */
enum option_key {
	OPTION_JSON = 256,
	OPTION_FOREIGN,
	OPTION_VERSION,
	OPTION_AFTER, /* the rows of after_options.h */
	OPTION_AFTER_ANY,
	OPTION_AFTER_FAIL,
	OPTION_GROUP_OF, /* of filter_options.h */
	OPTION_COMMAND, /* not an option: the rest of the line is a command */
	OPTION_OWN,	/* first key that a verb may use */
};

struct option_row {
	int key;	  /* letter or number; 0 ends the table */
	const char *name; /* long name */
	const char *arg;  /* name of its argument in the help; NULL takes none */
	const char *help;
};

/* Row that makes the parser stop at the first operand. */
#define OPTION_ROW_COMMAND                                                                         \
	{                                                                                          \
		OPTION_COMMAND, "", NULL, NULL                                                     \
	}

/* Handles one option; false when it has reported a bad value. */
typedef bool option_fn(struct cli *cli, void *ctx, int key, const char *arg);

extern const struct option_row global_options[];
extern const struct option_row options_none[]; /* of a verb without options of its own */

/* Reads options and leaves the operands in @cli.  @take gets the verb's own options
 * and passes what it does not know to option_global().  False: the verb is to return
 * cli->exit_code at once (bad usage, all of it reported; or --help). */
bool options_parse(struct cli *cli, const struct option_row *rows, option_fn *take, void *ctx,
		   int argc, char **argv);

option_fn option_global;

/* Prints the help of @rows and of the global options, of which NULL has all and a verb those
 * that it has a use for. */
void options_help(const struct verb *verb, const struct option_row *rows);

/* Whether @verb has a use for the global option, and no row of its own for that. */
bool option_is_common(const struct verb *verb, const struct option_row *rows,
		      const struct option_row *global);

/* Whether there are @least to @most operands; reports it when not. */
bool operands_ok(struct cli *cli, int least, int most, const char *what);

#endif
