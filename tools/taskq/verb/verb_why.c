/* SPDX-License-Identifier: MIT */
/* taskq why: what keeps a task from running. */
#include <stdio.h>

#include "errors.h"
#include "json.h"
#include "text.h"
#include "tools/taskq/options/options.h"
#include "tools/taskq/options/verbs.h"
#include "tools/taskq/verb/each.h"
#include "why.h"

static int why_one(struct cli *cli, void *ctx, uint64_t id, bool first)
{
	const struct clocks clocks = clocks_read();
	struct tq_task_info info = { .size = sizeof(info) };
	struct tq_why why = { .size = sizeof(why) };
	char text[WHY_MAX], name[TQ_ID_TEXT_MAX];
	int r = tq_task_why(cli->tq, id, &why);

	(void)ctx;
	(void)first;
	if (r == 0)
		r = tq_task_info(cli->tq, id, &info);
	if (r < 0)
		return fail_task(cli, r, id);
	if (cli->json) {
		json_line(json_of_why(cli->tq, &info, &why, &clocks));
		return CLI_OK;
	}
	printf("%s: ", tq_task_id_format(id, name));
	text_put_safe(stdout, why_format(cli->tq, &info, &why, &clocks, text));
	putchar('\n');
	return CLI_OK;
}

int verb_why(struct cli *cli, int argc, char **argv)
{
	if (!options_parse(cli, options_none, NULL, NULL, argc, argv))
		return cli->exit_code;
	return look_at_each(cli, why_one, NULL);
}
