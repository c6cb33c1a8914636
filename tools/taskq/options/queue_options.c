/* SPDX-License-Identifier: MIT */
/* Settings of a queue as option values. */
#include "tools/taskq/options/queue_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "parse.h"
#include "policy_text.h"

enum key {
	KEY_MAX_DEPTH = OPTION_OWN,
	KEY_TIMEOUT,
	KEY_RETRIES,
	KEY_BACKOFF,
	KEY_AGEING,
	KEY_BANDS,
	KEY_HYBRID,
	KEY_EDF,
	KEY_MAX_WAIT,
	KEY_FAIR,
	KEY_STRICT,
	KEY_BATCH,
};

#define FORM_AGEING                                                                                \
	"points a second from 0 to 10000, such as 2 or 0.5, on or off; for all bands, or as in "  \
	"low=2,normal=0.5 for some of low, normal, high, critical"
#define FORM_BANDS                                                                                 \
	"three whole numbers that ascend, from -2147483648 to 2147483647: where normal, high "     \
	"and critical begin"

const struct option_row queue_rows[] = {
	{ KEY_AGEING, "ageing", "R|BAND=R,...",
	  "points a second that waiting tasks gain; on: 0.1" },
	{ KEY_BANDS, "bands", "N,N,N", "where normal, high, critical begin; default 0,100,1000" },
	{ KEY_HYBRID, "hybrid", "N|on|off",
	  "after N starts (on: 5) one of the least urgent band that has work" },
	{ KEY_EDF, "edf", "on|off", "earliest deadline first inside a band" },
	{ KEY_MAX_WAIT, "max-wait", "D|off",
	  "ready for so long is overdue: every second start is of those" },
	{ KEY_FAIR, "fair", "on|off", "fair keys (submit --fair) share it by run time" },
	{ KEY_STRICT, "strict", NULL, "priority alone decides: nothing of the above" },
	{ KEY_BATCH, "batch", "N|off", "tasks that a worker takes at a time; idle ones steal" },
	{ KEY_MAX_DEPTH, "max-depth", "N|off", "waiting tasks at most; more are refused" },
	{ KEY_TIMEOUT, "timeout", "D|off", "default time of an attempt" },
	{ KEY_RETRIES, "retries", "N", "default of further attempts after a failure" },
	{ KEY_BACKOFF, "backoff", "D[:CAP]", "default wait before a retry, doubled up to CAP" },
	{ 0, NULL, NULL, NULL },
};

static bool is_off(const char *arg)
{
	return strcmp(arg, "off") == 0;
}

static bool is_on(const char *arg)
{
	return strcmp(arg, "on") == 0;
}

/* Points a second with up to three decimals, in thousandths; 0 is none. */
static int parse_rate(const char *text, uint32_t *ret_rate)
{
	char *end;
	const unsigned long whole = strtoul(text, &end, 10);
	uint32_t rate = 0, weight = 100;

	if (is_off(text) || is_on(text)) {
		*ret_rate = is_on(text) ? TQ_AGEING_DEFAULT : TQ_OFF;
		return 0;
	}
	if (*text < '0' || *text > '9')
		return -EINVAL;
	if (whole > TQ_AGEING_MAX / 1000)
		return -ERANGE;
	if (*end == '.' && end[1] == '\0')
		return -EINVAL;
	for (end += *end == '.'; *end >= '0' && *end <= '9' && weight; end++, weight /= 10)
		rate += (uint32_t)(*end - '0') * weight;
	if (*end)
		return -EINVAL;
	rate += (uint32_t)whole * 1000;
	*ret_rate = rate ? rate : TQ_OFF;
	return rate <= TQ_AGEING_MAX ? 0 : -ERANGE;
}

static int band_of(const char *name, size_t bytes)
{
	for (int b = 0; b < TQ_BANDS; b++)
		if (strlen(band_names[b]) == bytes && !strncmp(band_names[b], name, bytes))
			return b;
	return -1;
}

/* One "BAND=R". */
static int take_band(struct tq_queue_opts *opts, const char *text)
{
	const char *equals = strchr(text, '=');
	const int band = equals ? band_of(text, (size_t)(equals - text)) : -1;

	if (band >= 0 && opts->ageing[band])
		return -EINVAL; /* twice */
	return band < 0 ? -EINVAL : parse_rate(equals + 1, &opts->ageing[band]);
}

static bool take_ageing(struct cli *cli, struct tq_queue_opts *opts, const char *arg)
{
	char *copy = strdup(arg), *save = NULL;
	int r = copy && *copy ? 0 : -EINVAL;

	if (r == 0 && !strchr(arg, '=')) {
		r = parse_rate(arg, &opts->ageing[0]);
		for (int b = 1; b < TQ_BANDS; b++)
			opts->ageing[b] = opts->ageing[0];
	} else if (r == 0) {
		for (char *part = strtok_r(copy, ",", &save); part && r == 0;
		     part = strtok_r(NULL, ",", &save))
			r = take_band(opts, part);
	}
	free(copy);
	return r == 0 || refuse(cli, "--ageing", arg,
				r == -ERANGE ? "out of range" : "not rates of ageing", FORM_AGEING);
}

static bool take_bands(struct cli *cli, struct tq_queue_opts *opts, const char *arg)
{
	char *copy = strdup(arg), *save = NULL;
	int n = 0, r = copy ? 0 : -EINVAL;

	for (char *part = copy ? strtok_r(copy, ",", &save) : NULL; part && r == 0;
	     part = strtok_r(NULL, ",", &save))
		r = n < TQ_BANDS - 1 ? tq_priority_parse(part, &opts->band_from[n++]) : -EINVAL;
	free(copy);
	if (r == 0 && n < TQ_BANDS - 1)
		r = -EINVAL;
	for (int b = 1; b < n && r == 0; b++)
		if (opts->band_from[b] <= opts->band_from[b - 1])
			r = -EINVAL;
	return r == 0 || refuse(cli, "--bands", arg,
				r == -ERANGE ? "out of range" : "not bounds of bands", FORM_BANDS);
}

static bool take_hybrid(struct cli *cli, struct tq_queue_opts *opts, const char *arg)
{
	uint64_t count = TQ_HYBRID_DEFAULT;

	if (is_off(arg))
		count = TQ_OFF;
	else if (strcmp(arg, "on") != 0 && !option_count_or(cli, "--hybrid", arg, 1, TQ_HYBRID_MAX,
							    ", or on, or off", &count))
		return false;
	opts->hybrid = (uint32_t)count;
	return true;
}

static bool take_switch(struct cli *cli, const char *option, const char *arg, uint32_t *ret_switch)
{
	if (!is_off(arg) && strcmp(arg, "on") != 0)
		return refuse(cli, option, arg, "not a switch", "on or off");
	*ret_switch = is_off(arg) ? TQ_OFF : 1;
	return true;
}

bool option_time_or_off(struct cli *cli, const char *option, const char *arg, uint64_t *ret_ns)
{
	if (!is_off(arg))
		return option_duration_from(cli, option, arg, 1, ", or off", ret_ns);
	*ret_ns = TQ_UNLIMITED;
	return true;
}

static bool take_batch(struct cli *cli, struct tq_queue_opts *opts, const char *arg)
{
	uint64_t count = TQ_OFF;

	if (!is_off(arg) &&
	    !option_count_or(cli, "--batch", arg, 2, TQ_BATCH_MAX, ", or off", &count))
		return false;
	opts->batch = (uint32_t)count;
	return true;
}

static bool take_max_depth(struct cli *cli, struct tq_queue_opts *opts, const char *arg)
{
	if (!is_off(arg))
		return option_count_or(cli, "--max-depth", arg, 1, UINT32_MAX, ", or off",
				       &opts->depth_max);
	opts->depth_max = TQ_UNLIMITED;
	return true;
}

bool option_attempts(struct cli *cli, const char *arg, uint32_t *ret_attempts)
{
	uint64_t retries;

	if (!option_count(cli, "--retries", arg, 0, TQ_ATTEMPTS_MAX - 1, &retries))
		return false;
	*ret_attempts = (uint32_t)retries + 1;
	return true;
}

static bool take_option(struct cli *cli, struct queue_options *options, int key, const char *arg)
{
	struct tq_queue_opts *opts = &options->opts;

	switch (key) {
	case KEY_AGEING:
		options->ordered = true;
		return take_ageing(cli, opts, arg);
	case KEY_BANDS:
		return take_bands(cli, opts, arg);
	case KEY_HYBRID:
		options->ordered = true;
		return take_hybrid(cli, opts, arg);
	case KEY_EDF:
		options->ordered = true;
		return take_switch(cli, "--edf", arg, &opts->edf);
	case KEY_FAIR:
		options->ordered = true;
		return take_switch(cli, "--fair", arg, &opts->fair);
	case KEY_MAX_WAIT:
		options->ordered = true;
		return option_time_or_off(cli, "--max-wait", arg, &opts->max_wait_ns);
	case KEY_STRICT:
		options->strict = true;
		return true;
	case KEY_BATCH:
		return take_batch(cli, opts, arg);
	case KEY_MAX_DEPTH:
		return take_max_depth(cli, opts, arg);
	case KEY_TIMEOUT:
		return option_time_or_off(cli, "--timeout", arg, &opts->timeout_ns);
	case KEY_RETRIES:
		return option_attempts(cli, arg, &opts->attempts_max);
	default:
		return option_backoff(cli, arg, &opts->backoff_ns, &opts->backoff_cap_ns);
	}
}

bool queue_option(struct cli *cli, void *ctx, int key, const char *arg)
{
	struct queue_options *options = ctx;

	if (key < KEY_MAX_DEPTH || key > KEY_BATCH)
		return option_global(cli, NULL, key, arg);
	options->given = true;
	if (!take_option(cli, options, key, arg))
		return false;
	if (options->strict && !options->ordered) {
		for (int b = 0; b < TQ_BANDS; b++)
			options->opts.ageing[b] = TQ_OFF;
		options->opts.hybrid = options->opts.edf = options->opts.fair = TQ_OFF;
		options->opts.max_wait_ns = TQ_UNLIMITED;
	}
	return true;
}

bool queue_options_ok(struct cli *cli, const struct queue_options *options)
{
	if (!options->given)
		cli->exit_code = usage(cli, "nothing to change: give a setting");
	else if (options->strict && options->ordered)
		cli->exit_code = usage(cli, "--strict is without what else orders: leave one out");
	else
		return true;
	return false;
}
