/* SPDX-License-Identifier: MIT */
/* The columns of a queue, or of a kind in it, for `taskq stats`. */
#include "tools/taskq/print/queue_columns.h"

#include <stdio.h>

#include "policy_text.h"

/* Of the whole queue only. */
static void put_workers(const struct column_row *row)
{
	const struct queue_row *queue = row->of;

	if (queue->info.kind[0])
		column_none(row);
	else
		column_count(row, queue->info.workers);
}

static void put_order(const struct column_row *row)
{
	const struct queue_row *queue = row->of;
	char text[FORMAT_MAX] = "";

	if (!queue->info.kind[0])
		policy_text_short(&queue->info, text, sizeof(text));
	column_text(row, text);
}

static void put_flags(const struct column_row *row)
{
	static const struct {
		uint32_t bit;
		const char *name;
	} names[] = {
		{ TQ_QUEUE_PAUSED, "paused" },	 { TQ_QUEUE_DRAINING, "draining" },
		{ TQ_QUEUE_PURGING, "purging" }, { TQ_QUEUE_REORDERING, "reordering" },
		{ TQ_QUEUE_NO_ROOM, "no-room" },
	};
	const struct queue_row *queue = row->of;
	char words[COLUMN_WORDS_MAX] = "";

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (queue->info.flags & names[i].bit)
			column_add_word(words, names[i].name);
	column_text(row, words);
}

static void put_max_depth(const struct column_row *row)
{
	const uint64_t most = *(const uint64_t *)column_field(row);

	if (most && most != TQ_UNLIMITED)
		column_count(row, most);
	else
		column_none(row);
}

/* Records of tasks that have ended. */
static void put_kept(const struct column_row *row)
{
	const struct queue_row *queue = row->of;
	uint64_t kept = 0;

	for (uint32_t state = TQ_DONE; state < TQ_STATE_COUNT; state++)
		kept += queue->info.counters.depth[state];
	column_count(row, kept);
}

double queue_success(const struct tq_counters *counters)
{
	const double exact =
		100.0 * (double)counters->done / (double)(counters->done + counters->failed);

	if (counters->failed && exact > 99.9)
		return 99.9;
	return counters->done && exact < 0.1 ? 0.1 : exact;
}

static void put_success(const struct column_row *row)
{
	const struct tq_counters *counters = column_field(row);

	if (counters->done || counters->failed)
		table_cell(row->table, row->exact ? "%.1f" : "%.1f%%", queue_success(counters));
	else
		column_none(row);
}

static void put_percentile(const struct column_row *row)
{
	const struct tq_histogram *histogram = column_field(row);

	if (histogram->count)
		column_duration(row, tq_histogram_at(histogram, row->column->argument));
	else
		column_none(row);
}

#define FIELD(name, header, form, field, meaning)                                                  \
	{                                                                                          \
		name, header, meaning, form, offsetof(struct queue_row, field), NULL, 0            \
	}
#define TOTAL(name, header, field, meaning)                                                        \
	FIELD(name, header, COLUMN_COUNT, info.counters.field, meaning)
#define DEPTH(name, header, state, meaning)                                                        \
	FIELD(name, header, COLUMN_COUNT32, info.counters.depth[state], meaning)
#define FIGURES(name, header, field, put, meaning)                                                 \
	{                                                                                          \
		name, header, meaning, COLUMN_FIGURES, offsetof(struct queue_row, field), put, 0   \
	}
#define WORDS(name, header, put, meaning)                                                          \
	{                                                                                          \
		name, header, meaning, COLUMN_WORDS, 0, put, 0                                     \
	}
#define PERCENTILE(name, header, field, permille, meaning)                                         \
	{                                                                                          \
		name, header, meaning, COLUMN_FIGURES, offsetof(struct queue_row, times.field),    \
			put_percentile, permille                                                   \
	}
/* clang-format off */
#define PERCENTILES(name, header, field, what)                                                     \
	PERCENTILE(name "-p50", header "-P50", field, 500, "median of " what),                     \
	PERCENTILE(name "-p90", header "-P90", field, 900, "90th percentile of " what),            \
	PERCENTILE(name "-p99", header "-P99", field, 990, "99th percentile of " what),            \
	PERCENTILE(name "-max", header "-MAX", field, 1000, "the longest of " what)
/* clang-format on */

const struct column queue_columns[] = {
	FIELD("queue", "QUEUE", COLUMN_TEXT, info.name, "its name"),
	FIELD("kind", "KIND", COLUMN_TEXT, info.kind, "the kind, with --by-kind"),
	WORDS("order", "ORDER", put_order, "what orders its tasks"),
	WORDS("flags", "FLAGS", put_flags, "paused, draining, purging ..."),
	FIGURES("workers", "WORKERS", info.workers, put_workers, "live workers that serve it"),
	FIGURES("max-depth", "MAX-DEPTH", info.depth_max, put_max_depth, "waiting tasks at most"),
	DEPTH("blocked", "BLOCKED", TQ_BLOCKED, "tasks that wait for others"),
	DEPTH("delayed", "DELAYED", TQ_DELAYED, "tasks not due yet, or backing off"),
	DEPTH("ready", "READY", TQ_READY, "tasks that may start"),
	FIELD("throttled", "THROTTLED", COLUMN_COUNT32, info.counters.throttled,
	      "of those, behind a full limit or without a server"),
	FIELD("held", "HELD", COLUMN_COUNT32, info.counters.held,
	      "tasks that may start but for a hold"),
	DEPTH("running", "RUNNING", TQ_RUNNING, "tasks that run"),
	FIGURES("kept", "KEPT", info, put_kept, "records of tasks that have ended"),
	FIELD("oldest", "OLDEST", COLUMN_DURATION, info.counters.oldest_ready_ns,
	      "how long the oldest has been ready"),
	TOTAL("submitted", "SUBMITTED", submitted, "tasks that came in, also by retry or move"),
	TOTAL("moved", "MOVED", moved, "of them, gone to another queue"),
	TOTAL("started", "STARTED", started, "attempts begun so far"),
	TOTAL("done", "DONE", done, "tasks that ended so"),
	TOTAL("failed", "FAILED", failed, "tasks that ended so"),
	TOTAL("cancelled", "CANCELLED", cancelled, "tasks that ended so"),
	TOTAL("expired", "EXPIRED", expired, "tasks that ended so"),
	TOTAL("retried", "RETRIED", retried, "attempts followed by another"),
	TOTAL("crashed", "CRASHED", crashed, "attempts that died with their worker"),
	TOTAL("reclaimed", "RECLAIMED", reclaimed, "attempts that lost their lease"),
	TOTAL("stolen", "STOLEN", stolen, "tasks that a worker took from another"),
	TOTAL("throttled-total", "THROTTLED-TOTAL", throttled_total,
	      "attempts that began late for a limit"),
	FIGURES("success", "SUCCESS", info.counters, put_success, "of done and failed, done"),
	PERCENTILES("wait", "WAIT", wait, "the waits from ready to start"),
	PERCENTILES("run", "RUN", run, "the runs of attempts"),
	PERCENTILES("life", "LIFE", life, "whole lives, of done and failed"),
	{ .name = NULL },
};
