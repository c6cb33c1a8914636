/* SPDX-License-Identifier: MIT */
/* From the command line to one look at a time. */
#include "tools/taskq/verb/each.h"

#include <stdlib.h>

#include "errors.h"
#include "parse.h"
#include "tools/taskq/options/options.h"

int look_at_each(struct cli *cli, look_fn *look, void *ctx)
{
	uint64_t *ids;
	int code = CLI_OK;

	if (!operands_ok(cli, 1, INT32_MAX, "the id") || !operands_ids(cli, &ids))
		return cli->exit_code;
	if (!attach(cli, TQ_OPEN_READONLY))
		code = cli->exit_code;
	for (int i = 0; cli->tq && i < cli->operand_count; i++)
		code = worse(code, look(cli, ctx, ids[i], i == 0));
	free(ids);
	return code;
}
