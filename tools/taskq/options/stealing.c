/* SPDX-License-Identifier: MIT */
/* WORK_STEALING_ENABLED, _MAX_COUNT, _MIN_CAPACITY and _INTERVAL. */
#include "tools/taskq/options/stealing.h"

#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "parse.h"

static const char *const yes[] = { "true", "1", "yes", "on" };
static const char *const no[] = { "false", "0", "no", "off" };

static bool is_one_of(const char *text, const char *const *words)
{
	for (unsigned i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		if (strcmp(text, words[i]) == 0)
			return true;
	return false;
}

static bool take_enabled(struct cli *cli, const char *name, const char *text,
			 struct tq_stealing *stealing)
{
	if (is_one_of(text, no))
		stealing->max_count = TQ_OFF;
	else if (!is_one_of(text, yes))
		return refuse(cli, name, text, "not a switch", "true or false");
	return true;
}

static bool take_count(struct cli *cli, const char *name, const char *text,
		       struct tq_stealing *stealing)
{
	uint64_t count;

	if (!option_count(cli, name, text, 1, TQ_BATCH_MAX, &count))
		return false;
	if (stealing->max_count != TQ_OFF)
		stealing->max_count = (uint32_t)count;
	return true;
}

/* A part of the whole with up to three decimals, in thousandths. */
static bool take_capacity(struct cli *cli, const char *name, const char *text,
			  struct tq_stealing *stealing)
{
	char *end;
	const double part = strtod(text, &end);
	uint32_t thousandths;

	if (end == text || *end || !(part >= 0 && part <= 1))
		return refuse(cli, name, text, "not a part of the whole", "0 to 1, such as 0.3");
	thousandths = (uint32_t)(part * 1000 + 0.5);
	stealing->min_capacity = thousandths ? thousandths : TQ_OFF;
	return true;
}

static bool take_interval(struct cli *cli, const char *name, const char *text,
			  struct tq_stealing *stealing)
{
	if (strcmp(text, "0") == 0)
		return true;
	return option_time_limit(cli, name, text, &stealing->interval_ns);
}

bool stealing_from_env(struct cli *cli, struct tq_stealing *ret_stealing)
{
	static const struct {
		const char *name;
		bool (*take)(struct cli *, const char *, const char *, struct tq_stealing *);
	} variables[] = {
		{ "WORK_STEALING_ENABLED", take_enabled },
		{ "WORK_STEALING_MAX_COUNT", take_count },
		{ "WORK_STEALING_MIN_CAPACITY", take_capacity },
		{ "WORK_STEALING_INTERVAL", take_interval },
	};

	for (unsigned i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		const char *text = getenv(variables[i].name);

		if (text && *text &&
		    !variables[i].take(cli, variables[i].name, text, ret_stealing)) {
			cli->exit_code = CLI_USAGE;
			return false;
		}
	}
	return true;
}
