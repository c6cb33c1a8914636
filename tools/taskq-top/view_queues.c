/* SPDX-License-Identifier: MIT */
/* Queues: what waits, what runs, how fast it goes. */
#include "draw.h"
#include "field.h"
#include "view.h"

#define BAD_SHARE 20 /* more than one failure to so many successes is worth a colour */
#define LONG_WAIT_NS 60000000000ull /* a task that is ready for a minute is worth a colour */

static const struct queue_row *row_of(const void *row)
{
	return row;
}

static const struct tq_queue_info *info_of(const void *row)
{
	return &row_of(row)->info;
}

static const uint32_t *depth_of(const void *row)
{
	return info_of(row)->counters.depth;
}

static bool is_unserved(const struct tq_queue_info *info)
{
	return !info->workers && info->counters.depth[TQ_READY];
}

static const char *state_of(const struct tq_queue_info *info)
{
	if (info->flags & TQ_QUEUE_PAUSED)
		return "paused";
	if (info->flags & TQ_QUEUE_PURGING)
		return "purging";
	if (info->flags & TQ_QUEUE_DRAINING)
		return "draining";
	return is_unserved(info) ? "no worker" : "open";
}

static void put_name(const struct model *model, const void *row, struct field *field)
{
	(void)model;
	field_text(field, ROLE_STRONG, info_of(row)->name);
}

TEXT_RANK(name, info_of(row)->name)

static void put_state(const struct model *model, const void *row, struct field *field)
{
	const struct tq_queue_info *info = info_of(row);
	const uint32_t odd = TQ_QUEUE_PAUSED | TQ_QUEUE_PURGING | TQ_QUEUE_DRAINING;

	(void)model;
	field_text(field,
		   info->flags & odd   ? ROLE_WARN
		   : is_unserved(info) ? ROLE_BAD
				       : ROLE_DIM,
		   state_of(info));
}

TEXT_RANK(state, state_of(info_of(row)))

static void put_oldest(const struct model *model, const void *row, struct field *field)
{
	const uint64_t ns = info_of(row)->counters.oldest_ready_ns;

	(void)model;
	field_duration(field, ns >= LONG_WAIT_NS ? ROLE_WARN : ROLE_TEXT, ns);
}

static void put_success(const struct model *model, const void *row, struct field *field)
{
	const struct tq_counters *k = &info_of(row)->counters;
	char share[FORMAT_MAX];

	(void)model;
	field_text(field,
		   k->failed > k->done / BAD_SHARE ? ROLE_WARN
		   : k->done			   ? ROLE_TEXT
						   : ROLE_DIM,
		   format_success(k->done, k->failed, share));
}

static struct rank rank_success(const struct model *model, const void *row)
{
	const struct tq_counters *counters = &info_of(row)->counters;
	const uint64_t ended = counters->done + counters->failed;

	(void)model;
	return rank_of_real(ended ? 100.0 * (double)counters->done / (double)ended : 0);
}

/* How long so many of a hundred took at most. */
#define LATENCY_COLUMN(name, kind, which)                                                          \
	RANK_COLUMN(name, row_of(row)->latency.ns[kind][which])                                    \
	static void put_##name(const struct model *model, const void *row, struct field *field)    \
	{                                                                                          \
		(void)model;                                                                       \
		field_duration(field, ROLE_TEXT, row_of(row)->latency.ns[kind][which]);            \
	}

LATENCY_COLUMN(wait_50, LATENCY_WAIT, PERCENTILE_50)
LATENCY_COLUMN(wait_99, LATENCY_WAIT, PERCENTILE_99)
LATENCY_COLUMN(run_50, LATENCY_RUN, PERCENTILE_50)
LATENCY_COLUMN(run_99, LATENCY_RUN, PERCENTILE_99)
NUMBER_COLUMN(workers, ROLE_TEXT, info_of(row)->workers)
NUMBER_COLUMN(ready, ROLE_STRONG, depth_of(row)[TQ_READY])
NUMBER_COLUMN(running, ROLE_BUSY, depth_of(row)[TQ_RUNNING])
NUMBER_COLUMN(delayed, ROLE_TEXT, depth_of(row)[TQ_DELAYED])
NUMBER_COLUMN(blocked, ROLE_TEXT, depth_of(row)[TQ_BLOCKED])
NUMBER_COLUMN(held, ROLE_WARN, info_of(row)->counters.held)
NUMBER_COLUMN(throttled, ROLE_WARN, info_of(row)->counters.throttled)
NUMBER_COLUMN(all_done, ROLE_TEXT, info_of(row)->counters.done)
NUMBER_COLUMN(all_failed, ROLE_BAD, info_of(row)->counters.failed)
NUMBER_COLUMN(retried, ROLE_TEXT, info_of(row)->counters.retried)
NUMBER_COLUMN(crashed, ROLE_BAD, info_of(row)->counters.crashed)
RANK_COLUMN(oldest, info_of(row)->counters.oldest_ready_ns)
RATE_COLUMN(submitted, ROLE_TEXT, row_of(row)->submitted)
RATE_COLUMN(done, ROLE_GOOD, row_of(row)->done)
RATE_COLUMN(failed, ROLE_BAD, row_of(row)->failed)

static const struct column columns[] = {
	{ "QUEUE", 0, 0, false, false, put_name, rank_name },
	{ "STATE", 9, 0, false, false, put_state, rank_state },
	{ "WRK", 4, 0, true, true, put_workers, rank_workers },
	{ "READY", 6, 0, true, true, put_ready, rank_ready },
	{ "RUN", 5, 0, true, true, put_running, rank_running },
	{ "DELAY", 6, 0, true, true, put_delayed, rank_delayed },
	{ "OLDEST", 7, 0, true, true, put_oldest, rank_oldest },
	{ "IN/S", 5, 0, true, true, put_submitted, rank_submitted },
	{ "DONE/S", 6, 0, true, true, put_done, rank_done },
	{ "FAIL/S", 6, 0, true, true, put_failed, rank_failed },
	{ "BLOCK", 6, 90, true, true, put_blocked, rank_blocked },
	{ "THROT", 6, 90, true, true, put_throttled, rank_throttled },
	{ "WAIT50", 6, 118, true, true, put_wait_50, rank_wait_50 },
	{ "WAIT99", 6, 118, true, true, put_wait_99, rank_wait_99 },
	{ "RUN50", 6, 118, true, true, put_run_50, rank_run_50 },
	{ "RUN99", 6, 118, true, true, put_run_99, rank_run_99 },
	{ "DONE", 6, 138, true, true, put_all_done, rank_all_done },
	{ "FAILED", 6, 138, true, true, put_all_failed, rank_all_failed },
	{ "OK%", 5, 138, true, false, put_success, rank_success },
	{ "RETRY", 6, 152, true, true, put_retried, rank_retried },
	{ "CRASH", 6, 152, true, true, put_crashed, rank_crashed },
	{ "HELD", 6, 159, true, true, put_held, rank_held },
};

static uint32_t count(const struct model *model)
{
	return model->now.queue_count;
}

static const void *row_at(const struct model *model, uint32_t index)
{
	return &model->now.queues[index];
}

static uint64_t identity(const struct model *model, uint32_t index)
{
	(void)model;
	return (uint64_t)index + 1; /* queues never go, and keep their order */
}

static bool matches(const void *row, const char *filter)
{
	const char *const texts[] = { info_of(row)->name, state_of(info_of(row)) };

	return words_match(filter, texts, 2);
}

const struct table_kind queues_table = {
	.columns = columns,
	.column_count = sizeof(columns) / sizeof(columns[0]),
	.first_sort = 3,
	.count = count,
	.row = row_at,
	.identity = identity,
	.matches = matches,
	.nothing = "there is no queue yet: submitting to one makes it",
};

const struct view view_queues = { "Queues", SUBJECT_QUEUE, &queues_table, NULL };
