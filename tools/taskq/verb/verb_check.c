/* SPDX-License-Identifier: MIT */
/* taskq check: verify a segment, and mend it. */
#include <stdio.h>

#include "errors.h"
#include "json.h"
#include "tools/taskq/options/options.h"
#include "tools/taskq/options/verbs.h"

enum key {
	KEY_EXACT = OPTION_OWN,
	KEY_REPAIR
};

static const struct option_row rows[] = {
	{ KEY_EXACT, "exact", NULL, "take the lock: nothing is in motion then" },
	{ KEY_REPAIR, "repair", NULL, "rebuild what can be rebuilt from the task records" },
	{ 0, NULL, NULL, NULL },
};

static bool take_option(struct cli *cli, void *ctx, int key, const char *arg)
{
	uint32_t *flags = ctx;

	switch (key) {
	case KEY_EXACT:
		*flags |= TQ_CHECK_EXACT;
		return true;
	case KEY_REPAIR:
		*flags |= TQ_CHECK_REPAIR;
		return true;
	default:
		return option_global(cli, NULL, key, arg);
	}
}

static void print_finding(void *arg, const char *text)
{
	const struct cli *cli = arg;

	if (cli->json)
		json_line(json_pack("{s:o}", "finding", json_text(text)));
	else
		puts(text);
}

/* What a repair could not mend. */
static void print_left(void *arg, const char *text)
{
	const struct cli *cli = arg;

	if (cli->json)
		json_line(json_pack("{s:o, s:b}", "finding", json_text(text), "left", 1));
	else
		printf("left: %s\n", text);
}

/* The segment's state after @found faults were found, and perhaps mended. */
static int verdict(struct cli *cli, int found, uint32_t flags)
{
	if (found == 0) {
		if (!cli->json)
			puts("sound");
		return CLI_OK;
	}
	if (!(flags & TQ_CHECK_REPAIR)) {
		complain("%d %s\n`taskq check --repair` mends what can be mended", found,
			 format_plural((uint64_t)found, "fault", "faults"));
		return CLI_DAMAGED;
	}

	const int left = tq_check(cli->tq, 0, print_left, cli);

	if (left == 0) {
		complain("%d %s, repaired", found,
			 format_plural((uint64_t)found, "fault", "faults"));
		return CLI_NOTHING;
	}
	complain("%d of %d %s left\nsave what `taskq list --json` still shows, then "
		 "`taskq destroy --force`",
		 left, found, format_plural((uint64_t)found, "fault", "faults"));
	return CLI_DAMAGED;
}

int verb_check(struct cli *cli, int argc, char **argv)
{
	uint32_t flags = 0;
	int found;

	if (!options_parse(cli, rows, take_option, &flags, argc, argv) ||
	    !operands_ok(cli, 0, 0, NULL) || !attach(cli, flags ? 0 : TQ_OPEN_READONLY))
		return cli->exit_code;
	found = tq_check(cli->tq, flags, print_finding, cli);
	if (found < 0)
		return fail(cli, found, ABOUT_CONTENT, "check");
	return verdict(cli, found, flags);
}
