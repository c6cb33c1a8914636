/* SPDX-License-Identifier: MIT */
/* taskq stats: counters and times of the queues, and the segment's memory; or rates. */
#include <stdio.h>
#include <string.h>

#include "errors.h"
#include "format.h"
#include "json.h"
#include "metrics.h"
#include "parse.h"
#include "percentiles.h"
#include "times.h"
#include "tools/taskq/options/options.h"
#include "tools/taskq/options/verbs.h"
#include "tools/taskq/print/queue_columns.h"
#include "tools/taskq/print/rates.h"

enum {
	CHUNK = 16
}; /* queues in memory at a time */

enum key {
	KEY_BY_KIND = OPTION_OWN,
	KEY_INTERVAL,
	KEY_PROMETHEUS,
};

static const struct option_row rows[] = {
	{ KEY_BY_KIND, "by-kind", NULL, "count each kind of a queue apart" },
	{ KEY_INTERVAL, "interval", "D", "print what has changed, again and again after so long" },
	{ 'n', "count", "N", "with --interval: so many times; default without end" },
	{ KEY_PROMETHEUS, "prometheus", NULL, "print all as metrics for Prometheus" },
	COLUMNS_OPTION_ROWS,
	{ 0, NULL, NULL, NULL },
};

struct stats {
	struct rates rates;
	struct columns columns;
	bool prometheus;
};

static bool take_option(struct cli *cli, void *ctx, int key, const char *arg)
{
	struct stats *stats = ctx;
	struct rates *rates = &stats->rates;

	switch (key) {
	case KEY_BY_KIND:
		rates->list_flags |= TQ_QUEUE_BY_KIND;
		return true;
	case KEY_INTERVAL:
		return option_time_limit(cli, "--interval", arg, &rates->interval_ns);
	case 'n':
		return option_count(cli, "--count", arg, 1, UINT32_MAX, &rates->count);
	case KEY_PROMETHEUS:
		stats->prometheus = true;
		return true;
	default:
		return columns_option(cli, &stats->columns, key, arg);
	}
}

static void print_success(const struct tq_counters *counters)
{
	const uint64_t ended = counters->done + counters->failed;

	if (ended)
		printf("  success   %.1f %% of %llu\n", queue_success(counters),
		       (unsigned long long)ended);
}

static void print_counters(const struct tq_counters *counters)
{
	char age[FORMAT_MAX];

	printf("  total    ");
	printf(" submitted %llu  started %llu  done %llu  failed %llu  cancelled %llu  expired "
	       "%llu",
	       (unsigned long long)counters->submitted, (unsigned long long)counters->started,
	       (unsigned long long)counters->done, (unsigned long long)counters->failed,
	       (unsigned long long)counters->cancelled, (unsigned long long)counters->expired);
	if (counters->moved)
		printf("  moved %llu", (unsigned long long)counters->moved);
	putchar('\n');
	printf("  attempts  retried %llu  crashed %llu  reclaimed %llu  stolen %llu  throttled "
	       "%llu\n",
	       (unsigned long long)counters->retried, (unsigned long long)counters->crashed,
	       (unsigned long long)counters->reclaimed, (unsigned long long)counters->stolen,
	       (unsigned long long)counters->throttled_total);
	printf("  now     ");
	for (uint32_t state = TQ_BLOCKED; state < TQ_STATE_COUNT; state++)
		if (counters->depth[state] || state == TQ_READY || state == TQ_RUNNING)
			printf("  %s %u", tq_task_state_name(state), counters->depth[state]);
	if (counters->held)
		printf("  held %u", counters->held);
	if (counters->throttled)
		printf("  throttled %u", counters->throttled);
	if (counters->oldest_ready_ns)
		printf("  oldest ready %s", format_duration(counters->oldest_ready_ns, age));
	putchar('\n');
	print_success(counters);
}

static void print_paragraph(const struct queue_row *row)
{
	const struct tq_queue_info *info = &row->info;

	printf("queue %s", info->name);
	if (info->kind[0])
		printf(", kind %s", info->kind);
	else
		printf(": %u %s", info->workers, format_plural(info->workers, "worker", "workers"));
	printf("%s%s%s\n", info->flags & TQ_QUEUE_PAUSED ? ", paused" : "",
	       info->flags & TQ_QUEUE_DRAINING ? ", draining" : "",
	       info->flags & TQ_QUEUE_PURGING ? ", being purged" : "");
	print_counters(&info->counters);
	times_print(&row->times);
}

static void print_json(const struct queue_row *row)
{
	json_t *object = json_of_queue(&row->info);

	json_add_times(object, &row->times);
	json_line(object);
}

static void print_queue(struct cli *cli, struct stats *stats, const struct tq_queue_info *info)
{
	struct queue_row row = { .info = *info };

	times_read(cli->tq, info, &row.times);
	if (cli->json)
		print_json(&row);
	else if (stats->columns.count)
		columns_row(&stats->columns, cli->tq, NULL, &row);
	else
		print_paragraph(&row);
}

/* The queues that were asked for.  0 or an error. */
static int print_queues(struct cli *cli, struct stats *stats)
{
	struct tq_queue_info infos[CHUNK];
	uint64_t cursor = 0;
	int n;

	do {
		infos[0].size = sizeof(infos[0]);
		n = tq_queue_list(cli->tq, stats->rates.list_flags, &cursor, infos, CHUNK);
		for (int i = 0; i < n; i++)
			if (!cli->queue_given || !strcmp(infos[i].name, cli->queue))
				print_queue(cli, stats, &infos[i]);
	} while (n > 0);
	table_end(&stats->columns.table, stdout);
	return n;
}

static void print_memory(const struct tq_segment_info *info)
{
	char a[FORMAT_MAX], b[FORMAT_MAX], c[FORMAT_MAX];

	printf("memory %s used of %s reserved, may grow to %s; %llu task %s of at most %llu\n",
	       format_size(info->used_bytes, a), format_size(info->reserved_bytes, b),
	       format_size(info->max_bytes, c), (unsigned long long)info->tasks_count,
	       format_plural(info->tasks_count, "record", "records"),
	       (unsigned long long)info->tasks_max);
}

/* What a queue's counters do not hold. */
static int print_segment(struct cli *cli)
{
	struct tq_segment_info info = { .size = sizeof(info) };
	const int r = tq_segment_info(cli->tq, &info);

	if (r == 0 && cli->json)
		json_line(json_pack("{s:o}", "segment", json_of_segment(&info)));
	else if (r == 0)
		print_memory(&info);
	return r;
}

/* Of a segment that is not there, that it is not: a collector's file must not go on
 * saying what was. */
static int print_metrics(struct cli *cli, bool by_kind)
{
	struct tq *tq = attach(cli, TQ_OPEN_READONLY);

	metrics_write(stdout, tq, METRICS_TEXT, by_kind);
	return tq ? CLI_OK : cli->exit_code;
}

static bool options_agree(struct cli *cli, const struct stats *stats)
{
	const struct rates *rates = &stats->rates;

	if (rates->count && !rates->interval_ns)
		cli->exit_code = usage(cli, "-n counts intervals: give --interval, too");
	else if (stats->columns.count && rates->interval_ns)
		cli->exit_code =
			usage(cli, "--interval has columns of its own: leave -o and -H out");
	else if (stats->prometheus &&
		 (rates->interval_ns || stats->columns.count || cli->queue_given || cli->json))
		cli->exit_code = usage(cli, "--prometheus prints all there is, once: give it "
					    "without --interval, --queue, --json, -o and -H");
	else
		return true;
	return false;
}

int verb_stats(struct cli *cli, int argc, char **argv)
{
	struct stats stats = { .columns.all = queue_columns };
	int r;

	if (!options_parse(cli, rows, take_option, &stats, argc, argv) ||
	    !columns_ready(cli, &stats.columns) || !operands_ok(cli, 0, 0, NULL) ||
	    !options_agree(cli, &stats))
		return cli->exit_code;
	if (stats.prometheus)
		return print_metrics(cli, stats.rates.list_flags & TQ_QUEUE_BY_KIND);
	if (!attach(cli, TQ_OPEN_READONLY) || (cli->queue_given && !require_queue(cli, cli->queue)))
		return cli->exit_code;
	if (stats.rates.interval_ns)
		return rates_print(cli, &stats.rates);
	r = print_queues(cli, &stats);
	if (r >= 0 && stats.columns.count == 0)
		r = print_segment(cli);
	return r < 0 ? fail(cli, r, ABOUT_CONTENT, "stats") : CLI_OK;
}
