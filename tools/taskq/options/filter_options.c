/* SPDX-License-Identifier: MIT */
/* The options by which list shows tasks, and other verbs take them in place of ids. */
#include "tools/taskq/options/filter_options.h"

#include "errors.h"
#include "parse.h"
#include "states.h"

bool filter_option(struct cli *cli, struct filter_options *f, int key, const char *arg)
{
	f->given |= key == 'S' || key == 'K' || key == 'L' || key == OPTION_GROUP_OF;
	switch (key) {
	case 'S':
		return option_states(cli, arg, &f->filter.states);
	case 'K':
		return option_name(cli, "--kind", arg, &f->filter.kind);
	case 'L':
		f->filter.label = arg;
		return true;
	case OPTION_GROUP_OF:
		return tq_group_id_parse(arg, &f->group) == 0 ||
		       refuse(cli, "--group", arg, "not a group's id", FORM_GROUP);
	default:
		return option_global(cli, NULL, key, arg);
	}
}

bool filter_in_place_of_ids(struct cli *cli, struct filter_options *f)
{
	f->given |= cli->queue_given;
	cli->exit_code = CLI_OK;
	if (f->given && cli->operand_count > 0)
		cli->exit_code =
			usage(cli, "give either ids or --queue, --state, --kind, --label, --group");
	else if (!f->given && cli->operand_count == 0)
		cli->exit_code = usage(cli, "the id is missing");
	return f->given;
}

bool filter_begin(struct cli *cli, struct filter_options *f)
{
	struct tq_group_info group = { .size = sizeof(group) };
	char text[TQ_ID_TEXT_MAX];
	int r = 0;

	f->filter.size = sizeof(f->filter);
	f->filter.queue = cli->queue_given ? cli->queue : NULL;
	if (cli->queue_given && !require_queue(cli, cli->queue))
		return false;
	if (f->group)
		r = tq_group_info(cli->tq, f->group, &group);
	if (r < 0)
		cli->exit_code =
			fail(cli, r, ABOUT_GROUP, "%s", tq_group_id_format(f->group, text));
	return r == 0;
}

int filter_list(struct cli *cli, const struct filter_options *f, uint64_t *cursor,
		struct tq_task_info *infos, uint32_t count, bool *ret_end)
{
	int n, kept = 0;

	infos[0].size = sizeof(infos[0]);
	n = tq_task_list(cli->tq, &f->filter, cursor, infos, count);
	*ret_end = n <= 0;
	for (int i = 0; i < n; i++)
		if (!f->group || infos[i].group == f->group)
			infos[kept++] = infos[i];
	return n < 0 ? n : kept;
}
