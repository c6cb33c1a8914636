/* SPDX-License-Identifier: MIT */
/* Rates between samples. */
#include "tools/taskq/print/rates.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "errors.h"
#include "format.h"
#include "json.h"
#include "percentiles.h"
#include "signals.h"
#include "times.h"
#include "tools/taskq/print/queue_columns.h"

#define SECOND_NS 1000000000ull

enum {
	HEADER_EVERY = 20 /* rows: the columns' names stay on a screen */
};

struct sample {
	uint64_t at_ns;
	struct queue_row *rows;
	size_t count;
};

static bool add_row(struct cli *cli, struct sample *sample, const struct tq_queue_info *info)
{
	struct queue_row *rows = reallocarray(sample->rows, sample->count + 1, sizeof(*rows));

	if (!rows)
		return false;
	sample->rows = rows;
	rows[sample->count].info = *info;
	times_read(cli->tq, info, &rows[sample->count].times);
	sample->count++;
	return true;
}

static int take_sample(struct cli *cli, uint32_t flags, struct sample *ret_sample)
{
	struct tq_queue_info info;
	uint64_t cursor = 0;
	int n;

	*ret_sample = (struct sample){ .at_ns = clocks_read().now_ns };
	do {
		info.size = sizeof(info);
		n = tq_queue_list(cli->tq, flags, &cursor, &info, 1);
		if (n > 0 && (!cli->queue_given || !strcmp(info.name, cli->queue)) &&
		    !add_row(cli, ret_sample, &info))
			return -ENOMEM;
	} while (n > 0);
	return n;
}

/* The same row of the sample before; NULL: it is new. */
static const struct queue_row *row_before(const struct sample *before, const struct queue_row *row)
{
	for (size_t i = 0; i < before->count; i++)
		if (!strcmp(before->rows[i].info.name, row->info.name) &&
		    !strcmp(before->rows[i].info.kind, row->info.kind))
			return &before->rows[i];
	return NULL;
}

/* Of a row now, what has come since. */
struct change {
	double submitted, started, done, failed, retried, crashed; /* a second */
	struct tq_times times;
};

static struct change change_of(const struct queue_row *row, const struct queue_row *before,
			       double seconds)
{
	static const struct queue_row none;
	const struct tq_counters *now = &row->info.counters;
	const struct tq_counters *was = before ? &before->info.counters : &none.info.counters;
	struct change c = { .times = row->times };

	c.submitted = (double)(now->submitted - was->submitted) / seconds;
	c.started = (double)(now->started - was->started) / seconds;
	c.done = (double)(now->done - was->done) / seconds;
	c.failed = (double)(now->failed - was->failed) / seconds;
	c.retried = (double)(now->retried - was->retried) / seconds;
	c.crashed = (double)(now->crashed - was->crashed) / seconds;
	if (before) {
		tq_histogram_since(&c.times.wait, &before->times.wait);
		tq_histogram_since(&c.times.run, &before->times.run);
		tq_histogram_since(&c.times.life, &before->times.life);
	}
	return c;
}

static void print_header(void)
{
	printf("%-16s %8s %8s %9s %9s %9s %9s %9s %9s %9s %9s %9s\n", "QUEUE", "READY", "RUNNING",
	       "SUBMIT/s", "START/s", "DONE/s", "FAIL/s", "RETRY/s", "WAIT-P50", "WAIT-P99",
	       "RUN-P50", "RUN-P99");
}

static void print_at(const struct tq_histogram *histogram, uint32_t permille)
{
	char text[FORMAT_MAX];

	printf(" %9s", histogram->count
			       ? format_duration(tq_histogram_at(histogram, permille), text)
			       : "-");
}

static void print_change(const struct queue_row *row, const struct change *c)
{
	char name[2 * TQ_NAME_MAX + 2];

	snprintf(name, sizeof(name), "%s%s%s", row->info.name, row->info.kind[0] ? "/" : "",
		 row->info.kind);
	printf("%-16s %8u %8u %9.1f %9.1f %9.1f %9.1f %9.1f", name,
	       row->info.counters.depth[TQ_READY], row->info.counters.depth[TQ_RUNNING],
	       c->submitted, c->started, c->done, c->failed, c->retried);
	print_at(&c->times.wait, 500);
	print_at(&c->times.wait, 990);
	print_at(&c->times.run, 500);
	print_at(&c->times.run, 990);
	putchar('\n');
}

static void print_json(const struct queue_row *row, const struct change *c, uint64_t interval_ns)
{
	json_t *object = json_object();

	json_object_set_new(object, "queue", json_text(row->info.name));
	if (row->info.kind[0])
		json_object_set_new(object, "kind", json_text(row->info.kind));
	json_object_set_new(object, "interval_ns", json_u64(interval_ns));
	json_object_set_new(object, "ready", json_integer(row->info.counters.depth[TQ_READY]));
	json_object_set_new(object, "running", json_integer(row->info.counters.depth[TQ_RUNNING]));
	json_object_set_new(object, "submitted_per_s", json_real(c->submitted));
	json_object_set_new(object, "started_per_s", json_real(c->started));
	json_object_set_new(object, "done_per_s", json_real(c->done));
	json_object_set_new(object, "failed_per_s", json_real(c->failed));
	json_object_set_new(object, "retried_per_s", json_real(c->retried));
	json_object_set_new(object, "crashed_per_s", json_real(c->crashed));
	json_add_times(object, &c->times);
	json_line(object);
}

/* Returns how many lines the columns' names are above. */
static unsigned print_sample(const struct cli *cli, const struct sample *sample,
			     const struct sample *before, unsigned lines)
{
	const uint64_t interval_ns = sample->at_ns - before->at_ns;
	const double seconds = (double)(interval_ns ? interval_ns : 1) / (double)SECOND_NS;

	for (size_t i = 0; i < sample->count; i++) {
		const struct queue_row *row = &sample->rows[i];
		const struct change c = change_of(row, row_before(before, row), seconds);

		if (cli->json) {
			print_json(row, &c, interval_ns);
			continue;
		}
		if (lines++ % HEADER_EVERY == 0)
			print_header();
		print_change(row, &c);
	}
	fflush(stdout);
	return lines;
}

/* Ends of intervals are counted from the begin: looking takes time, too. */
static void sleep_until(uint64_t at_ns)
{
	const struct timespec at = { .tv_sec = (time_t)(at_ns / SECOND_NS),
				     .tv_nsec = (long)(at_ns % SECOND_NS) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		signals_point();
}

/* Its figures would be the last ones for ever, those of another of its name not seen. */
static bool is_removed(struct cli *cli)
{
	struct tq_segment_info info = { .size = sizeof(info) };

	return tq_segment_info(cli->tq, &info) == 0 && !info.path[0];
}

int rates_print(struct cli *cli, const struct rates *rates)
{
	struct sample before, now;
	unsigned lines = 0;
	int r = take_sample(cli, rates->list_flags, &before);
	uint64_t next_ns = before.at_ns;

	for (uint64_t i = 0; r == 0 && !ferror(stdout) && (!rates->count || i < rates->count);
	     i++) {
		next_ns += rates->interval_ns;
		sleep_until(next_ns);
		if (is_removed(cli)) {
			free(before.rows);
			complain("segment \"%s\" was removed", cli->segment);
			return CLI_ABSENT;
		}
		r = take_sample(cli, rates->list_flags, &now);
		if (r == 0)
			lines = print_sample(cli, &now, &before, lines);
		free(before.rows);
		before = now;
	}
	free(before.rows);
	return r < 0 ? fail(cli, r, ABOUT_CONTENT, "stats") : CLI_OK;
}
