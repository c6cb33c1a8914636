/* SPDX-License-Identifier: MIT */
/* From the command line to one look at a time. */
#include "each.h"

#include <stdlib.h>

#include "errors.h"
#include "options.h"
#include "parse.h"

static const struct option_row no_rows[] = { { 0, NULL, NULL, NULL } };

int look_at_each(struct cli *cli, int argc, char **argv, look_fn *look)
{
	uint64_t *ids;
	int code = CLI_OK;

	if (!options_parse(cli, no_rows, NULL, NULL, argc, argv) ||
	    !operands_ok(cli, 1, INT32_MAX, "the id") || !operands_ids(cli, &ids))
		return cli->exit_code;
	if (!attach(cli, TQ_OPEN_READONLY))
		code = cli->exit_code;
	for (int i = 0; cli->tq && i < cli->operand_count; i++)
		code = worse(code, look(cli, ids[i], i == 0));
	free(ids);
	return code;
}
