/* SPDX-License-Identifier: MIT */
/* taskq stats: counters and times of the queues, and the segment's memory; or rates. */
#include <stdio.h>
#include <string.h>

#include "errors.h"
#include "format.h"
#include "json.h"
#include "metrics.h"
#include "options.h"
#include "parse.h"
#include "percentiles.h"
#include "rates.h"
#include "times.h"
#include "verbs.h"

enum {
	CHUNK = 16
}; /* queues in memory at a time */

enum key {
	KEY_BY_KIND = OPTION_OWN,
	KEY_INTERVAL,
	KEY_PROMETHEUS,
};

struct stats_options {
	struct rates rates;
	bool prometheus;
};

static const struct option_row rows[] = {
	{ KEY_BY_KIND, "by-kind", NULL, "count each kind of a queue apart" },
	{ KEY_INTERVAL, "interval", "D", "print what has changed, again and again after so long" },
	{ 'n', "count", "N", "with --interval: so many times; default without end" },
	{ KEY_PROMETHEUS, "prometheus", NULL, "print all as metrics for Prometheus" },
	{ 0, NULL, NULL, NULL },
};

static bool take_option(struct cli *cli, void *ctx, int key, const char *arg)
{
	struct stats_options *options = ctx;
	struct rates *rates = &options->rates;

	switch (key) {
	case KEY_BY_KIND:
		rates->list_flags |= TQ_QUEUE_BY_KIND;
		return true;
	case KEY_INTERVAL:
		return option_time_limit(cli, "--interval", arg, &rates->interval_ns);
	case 'n':
		return option_count(cli, "--count", arg, 1, UINT32_MAX, &rates->count);
	case KEY_PROMETHEUS:
		options->prometheus = true;
		return true;
	default:
		return option_global(cli, NULL, key, arg);
	}
}

/* Rounded, but all or none only when it is. */
static double percent(uint64_t part, uint64_t whole)
{
	const double exact = 100.0 * (double)part / (double)whole;

	if (part < whole && exact > 99.9)
		return 99.9;
	return part && exact < 0.1 ? 0.1 : exact;
}

static void print_success(const struct tq_counters *counters)
{
	const uint64_t ended = counters->done + counters->failed;

	if (ended)
		printf("  success   %.1f %% of %llu\n", percent(counters->done, ended),
		       (unsigned long long)ended);
}

static void print_counters(const struct tq_counters *counters)
{
	char age[FORMAT_MAX];

	printf("  total    ");
	printf(" submitted %llu  started %llu  done %llu  failed %llu  cancelled %llu  expired "
	       "%llu\n",
	       (unsigned long long)counters->submitted, (unsigned long long)counters->started,
	       (unsigned long long)counters->done, (unsigned long long)counters->failed,
	       (unsigned long long)counters->cancelled, (unsigned long long)counters->expired);
	printf("  attempts  retried %llu  crashed %llu  reclaimed %llu  stolen %llu  throttled "
	       "%llu\n",
	       (unsigned long long)counters->retried, (unsigned long long)counters->crashed,
	       (unsigned long long)counters->reclaimed, (unsigned long long)counters->stolen,
	       (unsigned long long)counters->throttled_total);
	printf("  now     ");
	for (uint32_t state = TQ_BLOCKED; state < TQ_STATE_COUNT; state++)
		if (counters->depth[state] || state == TQ_READY || state == TQ_RUNNING)
			printf("  %s %u", tq_state_name(state), counters->depth[state]);
	if (counters->throttled)
		printf("  throttled %u", counters->throttled);
	if (counters->oldest_ready_ns)
		printf("  oldest ready %s", format_duration(counters->oldest_ready_ns, age));
	putchar('\n');
	print_success(counters);
}

static void print_queue(struct cli *cli, const struct tq_queue_info *info)
{
	struct tq_times times;

	times_read(cli->tq, info, &times);
	if (cli->json) {
		json_t *object = json_of_queue(info);

		json_add_times(object, &times);
		json_line(object);
		return;
	}
	printf("queue %s", info->name);
	if (info->kind[0])
		printf(", kind %s", info->kind);
	else
		printf(": %u workers", info->workers);
	printf("%s%s%s\n", info->flags & TQ_QUEUE_PAUSED ? ", paused" : "",
	       info->flags & TQ_QUEUE_DRAINING ? ", draining" : "",
	       info->flags & TQ_QUEUE_PURGING ? ", being purged" : "");
	print_counters(&info->counters);
	times_print(&times);
}

/* The queues that were asked for.  0 or an error. */
static int print_queues(struct cli *cli, uint32_t flags)
{
	struct tq_queue_info infos[CHUNK];
	uint64_t cursor = 0;
	int n;

	do {
		infos[0].size = sizeof(infos[0]);
		n = tq_queue_list(cli->tq, flags, &cursor, infos, CHUNK);
		for (int i = 0; i < n; i++)
			if (!cli->queue_given || !strcmp(infos[i].name, cli->queue))
				print_queue(cli, &infos[i]);
	} while (n > 0);
	return n;
}

static void print_memory(const struct tq_segment_info *info)
{
	char a[FORMAT_MAX], b[FORMAT_MAX], c[FORMAT_MAX];

	printf("memory %s used of %s reserved, may grow to %s; %llu task records of at most %llu\n",
	       format_size(info->used_bytes, a), format_size(info->reserved_bytes, b),
	       format_size(info->max_bytes, c), (unsigned long long)info->tasks_count,
	       (unsigned long long)info->tasks_max);
}

/* Of a segment that is not there, that it is not: a collector's file must not go on
 * saying what was. */
static int print_metrics(struct cli *cli, bool by_kind)
{
	struct tq *tq = attach(cli, TQ_OPEN_READONLY);

	metrics_write(stdout, tq, METRICS_TEXT, by_kind);
	return tq ? CLI_OK : cli->exit_code;
}

static int print_stats(struct cli *cli, uint32_t list_flags)
{
	struct tq_segment_info info = { .size = sizeof(info) };
	int r = print_queues(cli, list_flags);

	if (r >= 0)
		r = tq_segment_info(cli->tq, &info);
	if (r < 0)
		return fail(cli, r, ABOUT_CONTENT, "stats");
	if (cli->json)
		json_line(json_pack("{s:o}", "segment", json_of_segment(&info)));
	else
		print_memory(&info);
	return CLI_OK;
}

int verb_stats(struct cli *cli, int argc, char **argv)
{
	struct stats_options options = { 0 };
	const struct rates *rates = &options.rates;

	if (!options_parse(cli, rows, take_option, &options, argc, argv) ||
	    !operands_ok(cli, 0, 0, NULL))
		return cli->exit_code;
	if (rates->count && !rates->interval_ns)
		return usage(cli, "-n counts intervals: give --interval, too");
	if (options.prometheus && (rates->interval_ns || cli->queue_given || cli->json))
		return usage(cli, "--prometheus prints all there is, once: give it without "
				  "--interval, --queue and --json");
	if (options.prometheus)
		return print_metrics(cli, rates->list_flags & TQ_QUEUE_BY_KIND);
	if (!attach(cli, TQ_OPEN_READONLY) || (cli->queue_given && !require_queue(cli, cli->queue)))
		return cli->exit_code;
	return rates->interval_ns ? rates_print(cli, rates) : print_stats(cli, rates->list_flags);
}
