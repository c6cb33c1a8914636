/* SPDX-License-Identifier: MIT */
/* Metrics of a segment: the families, and what their samples are. */
#include <stddef.h>

#include "metrics_data.h"

void metrics_put_up(const struct metrics_to *to, bool is_up)
{
	static const struct metric up = { "taskq_up", METRIC_GAUGE, NULL,
					  "Whether the segment can be read: 1, or 0" };
	static const struct metric build = { "taskq_build", METRIC_INFO, NULL,
					     "Version of the program and of its library" };
	const struct metric_label labels[] = { { "version", TQ_VERSION_STRING },
					       { "library", tq_version() },
					       { NULL, NULL } };

	metric_only(to, &up, is_up);
	metric_begin(to, &build);
	metric_value(to, &build, labels, 1);
}

/* A number of struct tq_segment_info. */
struct segment_metric {
	struct metric metric;
	size_t offset;
	bool is_short; /* of 32 bits */
};

#define LONG(field) offsetof(struct tq_segment_info, field), false
#define SHORT(field) offsetof(struct tq_segment_info, field), true

static const struct segment_metric segment_metrics[] = {
	{ { "taskq_memory_limit_bytes", METRIC_GAUGE, "bytes", "What the segment may grow to" },
	  LONG(max_bytes) },
	{ { "taskq_memory_reserved_bytes", METRIC_GAUGE, "bytes",
	    "Memory that the segment has taken from its file system" },
	  LONG(reserved_bytes) },
	{ { "taskq_memory_used_bytes", METRIC_GAUGE, "bytes", "Reserved memory that is in use" },
	  LONG(used_bytes) },
	{ { "taskq_task_records", METRIC_GAUGE, NULL,
	    "Records of tasks in use, those of ended tasks included" },
	  LONG(tasks_count) },
	{ { "taskq_task_records_limit", METRIC_GAUGE, NULL, "Records of tasks at most" },
	  LONG(tasks_max) },
	{ { "taskq_tasks_unfinished", METRIC_GAUGE, NULL, "Tasks that have not ended" },
	  LONG(tasks_unfinished) },
	{ { "taskq_transactions", METRIC_COUNTER, NULL,
	    "Changes of the segment that were committed" },
	  LONG(transactions) },
	{ { "taskq_rollbacks", METRIC_COUNTER, NULL,
	    "Changes of the segment that were undone, as their process died in them" },
	  LONG(rollbacks) },
	{ { "taskq_trace_entries", METRIC_COUNTER, NULL,
	    "Transitions that the flight recorder has taken" },
	  LONG(traced) },
	{ { "taskq_sleepers", METRIC_GAUGE, NULL, "Processes and threads that wait for something" },
	  SHORT(sleepers) },
	{ { "taskq_commands_open", METRIC_GAUGE, NULL,
	    "Commands to workers that somebody has not answered" },
	  SHORT(commands_open) },
	{ { "taskq_schedules", METRIC_GAUGE, NULL, "Schedules, paused ones included" },
	  SHORT(schedules) },
	{ { "taskq_shutting_down", METRIC_GAUGE, NULL,
	    "Whether the segment takes no more tasks: 1, or 0" },
	  SHORT(shutting_down) },
};

static void put_segment(const struct metrics_to *to, const struct tq_segment_info *info)
{
	static const struct metric created = { "taskq_segment_created_timestamp_seconds",
					       METRIC_GAUGE, "seconds",
					       "When the segment was made, since 1970" };

	metric_begin(to, &created);
	metric_ns(to, &created, NULL, info->created_unix_ns);
	for (unsigned i = 0; i < sizeof(segment_metrics) / sizeof(segment_metrics[0]); i++) {
		const struct segment_metric *row = &segment_metrics[i];
		const char *at = (const char *)info + row->offset;

		metric_only(to, &row->metric,
			    row->is_short ? *(const uint32_t *)at : *(const uint64_t *)at);
	}
}

static void put_lock(const struct metrics_to *to, const struct tq_lock_holder *lock)
{
	static const struct metric held = { "taskq_lock_held_seconds", METRIC_GAUGE, "seconds",
					    "For how long its holder has had the lock, as far as "
					    "was seen; 0 it is free" };
	static const struct metric stopped = { "taskq_lock_holder_stopped", METRIC_GAUGE, NULL,
					       "Whether the lock is held by a stopped process: 1, "
					       "or 0" };

	metric_begin(to, &held);
	metric_ns(to, &held, NULL, lock->tid ? lock->held_ns : 0);
	metric_only(to, &stopped, lock->tid && (lock->state == 'T' || lock->state == 't'));
}

/* One sample for each of some names. */
static void put_by_name(const struct metrics_to *to, const struct metric *metric, const char *label,
			const char *const *names, const uint64_t *values, unsigned count)
{
	metric_begin(to, metric);
	for (unsigned i = 0; i < count; i++) {
		const struct metric_label labels[] = { { label, names[i] }, { NULL, NULL } };

		metric_value(to, metric, labels, values[i]);
	}
}

static void put_workers(const struct metrics_to *to, const struct metrics_data *data)
{
	static const struct metric workers = { "taskq_workers", METRIC_GAUGE, NULL,
					       "Workers, and masters of farms, by what they do" };

	put_by_name(to, &workers, "state", metric_worker_states, data->workers,
		    METRIC_WORKER_STATES);
}

static void put_groups(const struct metrics_to *to, const struct metrics_data *data)
{
	static const struct metric groups = { "taskq_groups", METRIC_GAUGE, NULL,
					      "Groups of tasks by state" };
	const char *names[METRIC_GROUP_STATES];

	for (uint32_t i = 0; i < METRIC_GROUP_STATES; i++)
		names[i] = tq_group_state_name(TQ_GROUP_OPEN + i);
	put_by_name(to, &groups, "state", names, data->groups, METRIC_GROUP_STATES);
}

/* A sum over the limit keys of each class. */
static const struct {
	struct metric metric;
	size_t offset;
} limit_metrics[] = {
	{ { "taskq_limit_keys", METRIC_GAUGE, NULL,
	    "Limit keys by what is set of them; of more than 65536 keys so many are looked at" },
	  offsetof(struct metric_limit_sum, keys) },
	{ { "taskq_limit_keys_full", METRIC_GAUGE, NULL,
	    "Limit keys without a free slot or a token" },
	  offsetof(struct metric_limit_sum, full) },
	{ { "taskq_limit_slots", METRIC_GAUGE, NULL, "Slots of all limit keys" },
	  offsetof(struct metric_limit_sum, slots) },
	{ { "taskq_limit_attempts", METRIC_GAUGE, NULL,
	    "Places of limit keys that attempts under way have" },
	  offsetof(struct metric_limit_sum, used) },
	{ { "taskq_limit_waiting", METRIC_GAUGE, NULL,
	    "Tasks that are ready, for each of their limit keys" },
	  offsetof(struct metric_limit_sum, waiting) },
};

static void put_limits(const struct metrics_to *to, const struct metrics_data *data)
{
	static const char *const names[] = { "slots", "rate", "slots and rate", "none" };
	uint64_t values[METRIC_LIMITS_CLASSES];

	for (unsigned m = 0; m < sizeof(limit_metrics) / sizeof(limit_metrics[0]); m++) {
		for (unsigned i = 0; i < METRIC_LIMITS_CLASSES; i++)
			values[i] = *(const uint64_t *)((const char *)&data->limits[i] +
							limit_metrics[m].offset);
		put_by_name(to, &limit_metrics[m].metric, "limited_by", names, values,
			    METRIC_LIMITS_CLASSES);
	}
}

/* Labels of a queue, or of a kind in it, with room for one more. */
struct row_labels {
	struct metric_label list[4];
};

static struct row_labels labels_of(const struct metrics_data *data, const struct metric_row *row,
				   const char *name, const char *value)
{
	struct row_labels labels = { { { "queue", row->info.name } } };
	unsigned count = 1;

	if (data->by_kind)
		labels.list[count++] = (struct metric_label){ "kind", row->info.kind };
	if (name)
		labels.list[count] = (struct metric_label){ name, value };
	return labels;
}

static const struct {
	struct metric metric;
	size_t offset;
} counter_metrics[] = {
	{ { "taskq_tasks_submitted", METRIC_COUNTER, NULL,
	    "Tasks that came in: submitted, moved from another queue, or retried after their end" },
	  offsetof(struct tq_counters, submitted) },
	{ { "taskq_attempts_started", METRIC_COUNTER, NULL, "Attempts that began" },
	  offsetof(struct tq_counters, started) },
	{ { "taskq_attempts_retried", METRIC_COUNTER, NULL,
	    "Attempts that ended and were followed by another" },
	  offsetof(struct tq_counters, retried) },
	{ { "taskq_attempts_crashed", METRIC_COUNTER, NULL,
	    "Attempts that ended as their worker died" },
	  offsetof(struct tq_counters, crashed) },
	{ { "taskq_attempts_reclaimed", METRIC_COUNTER, NULL,
	    "Attempts that ended as their lease was lost" },
	  offsetof(struct tq_counters, reclaimed) },
	{ { "taskq_attempts_throttled", METRIC_COUNTER, NULL,
	    "Attempts that a full limit had held back before they began" },
	  offsetof(struct tq_counters, throttled_total) },
	{ { "taskq_tasks_stolen", METRIC_COUNTER, NULL,
	    "Tasks that a worker took from what another one had taken" },
	  offsetof(struct tq_counters, stolen) },
	{ { "taskq_tasks_moved", METRIC_COUNTER, NULL,
	    "Unfinished tasks that went to another queue" },
	  offsetof(struct tq_counters, moved) },
};

static void put_counters(const struct metrics_to *to, const struct metrics_data *data)
{
	for (unsigned m = 0; m < sizeof(counter_metrics) / sizeof(counter_metrics[0]); m++) {
		metric_begin(to, &counter_metrics[m].metric);
		for (uint32_t i = 0; i < data->row_count; i++) {
			const struct row_labels labels =
				labels_of(data, &data->rows[i], NULL, NULL);
			const char *at = (const char *)&data->rows[i].info.counters;

			metric_value(to, &counter_metrics[m].metric, labels.list,
				     *(const uint64_t *)(at + counter_metrics[m].offset));
		}
	}
}

static uint64_t ends_in(const struct tq_counters *counters, uint32_t state)
{
	switch (state) {
	case TQ_DONE:
		return counters->done;
	case TQ_FAILED:
		return counters->failed;
	case TQ_CANCELLED:
		return counters->cancelled;
	default:
		return counters->expired;
	}
}

static void put_ends(const struct metrics_to *to, const struct metrics_data *data)
{
	static const struct metric ended = { "taskq_tasks_ended", METRIC_COUNTER, NULL,
					     "Tasks that ended, by final state" };

	metric_begin(to, &ended);
	for (uint32_t i = 0; i < data->row_count; i++)
		for (uint32_t state = TQ_DONE; state < TQ_STATE_COUNT; state++) {
			const struct row_labels labels =
				labels_of(data, &data->rows[i], "state", tq_task_state_name(state));

			metric_value(to, &ended, labels.list,
				     ends_in(&data->rows[i].info.counters, state));
		}
}

static void put_depths(const struct metrics_to *to, const struct metrics_data *data)
{
	static const struct metric depth = { "taskq_tasks", METRIC_GAUGE, NULL,
					     "Records of tasks by state; ready ones that are "
					     "held are held" };

	metric_begin(to, &depth);
	for (uint32_t i = 0; i < data->row_count; i++)
		for (uint32_t state = TQ_BLOCKED; state < TQ_STATE_COUNT; state++) {
			const struct row_labels labels =
				labels_of(data, &data->rows[i], "state", tq_task_state_name(state));

			metric_value(to, &depth, labels.list,
				     data->rows[i].info.counters.depth[state]);
		}
	for (uint32_t i = 0; i < data->row_count; i++) {
		const struct row_labels labels = labels_of(data, &data->rows[i], "state", "held");

		metric_value(to, &depth, labels.list, data->rows[i].info.counters.held);
	}
}

static void put_waits(const struct metrics_to *to, const struct metrics_data *data)
{
	static const struct metric throttled = { "taskq_tasks_throttled", METRIC_GAUGE, NULL,
						 "Ready tasks behind a full limit, or without a "
						 "server that has room" };
	static const struct metric oldest = { "taskq_oldest_ready_seconds", METRIC_GAUGE, "seconds",
					      "For how long the task that has been ready longest "
					      "has been so; 0 there is none" };

	metric_begin(to, &throttled);
	for (uint32_t i = 0; i < data->row_count; i++) {
		const struct row_labels labels = labels_of(data, &data->rows[i], NULL, NULL);

		metric_value(to, &throttled, labels.list, data->rows[i].info.counters.throttled);
	}
	metric_begin(to, &oldest);
	for (uint32_t i = 0; i < data->row_count; i++) {
		const struct row_labels labels = labels_of(data, &data->rows[i], NULL, NULL);

		metric_ns(to, &oldest, labels.list, data->rows[i].info.counters.oldest_ready_ns);
	}
}

static void put_times(const struct metrics_to *to, const struct metrics_data *data)
{
	static const struct {
		struct metric metric;
		size_t offset;
	} families[] = {
		{ { "taskq_task_wait_seconds", METRIC_HISTOGRAM, "seconds",
		    "How long tasks had been ready when an attempt began" },
		  offsetof(struct metric_row, wait) },
		{ { "taskq_task_run_seconds", METRIC_HISTOGRAM, "seconds",
		    "How long attempts ran, whatever ended them" },
		  offsetof(struct metric_row, run) },
		{ { "taskq_task_life_seconds", METRIC_HISTOGRAM, "seconds",
		    "From submission to the end, of tasks that are done or failed" },
		  offsetof(struct metric_row, life) },
	};

	for (unsigned f = 0; f < sizeof(families) / sizeof(families[0]); f++) {
		metric_begin(to, &families[f].metric);
		for (uint32_t i = 0; i < data->row_count; i++) {
			const struct row_labels labels =
				labels_of(data, &data->rows[i], NULL, NULL);
			const char *at = (const char *)&data->rows[i] + families[f].offset;

			/* Many series: none for queues that nothing ever started in. */
			if (!data->rows[i].info.counters.started)
				continue;
			metric_histogram(to, &families[f].metric, labels.list,
					 (const struct metric_histogram *)at);
		}
	}
}

/* What a queue has, and a kind has not. */
static uint64_t workers_of(const struct tq_queue_info *info)
{
	return info->workers;
}

static uint64_t paused(const struct tq_queue_info *info)
{
	return (info->flags & TQ_QUEUE_PAUSED) != 0;
}

static uint64_t draining(const struct tq_queue_info *info)
{
	return (info->flags & TQ_QUEUE_DRAINING) != 0;
}

static uint64_t servers_of(const struct tq_queue_info *info)
{
	return info->servers;
}

static void put_queues(const struct metrics_to *to, const struct metrics_data *data)
{
	static const struct {
		struct metric metric;
		uint64_t (*value)(const struct tq_queue_info *info);
	} families[] = {
		{ { "taskq_queue_workers", METRIC_GAUGE, NULL, "Live workers that serve a queue" },
		  workers_of },
		{ { "taskq_queue_servers", METRIC_GAUGE, NULL, "Servers that a queue has" },
		  servers_of },
		{ { "taskq_queue_paused", METRIC_GAUGE, NULL,
		    "Whether a queue is paused: 1, or 0" },
		  paused },
		{ { "taskq_queue_draining", METRIC_GAUGE, NULL,
		    "Whether a queue takes no new tasks: 1, or 0" },
		  draining },
	};

	for (unsigned f = 0; f < sizeof(families) / sizeof(families[0]); f++) {
		metric_begin(to, &families[f].metric);
		for (uint32_t i = 0; i < data->queue_count; i++) {
			const struct metric_label labels[] = { { "queue", data->queues[i].name },
							       { NULL, NULL } };

			metric_value(to, &families[f].metric, labels,
				     families[f].value(&data->queues[i]));
		}
	}
}

static void put_unserved(const struct metrics_to *to, const struct metrics_data *data)
{
	static const struct metric unserved = { "taskq_tasks_unserved", METRIC_GAUGE, NULL,
						"Ready tasks of kinds that no live worker of "
						"their queue runs" };

	metric_begin(to, &unserved);
	for (uint32_t i = 0; i < data->queue_count; i++) {
		const struct metric_label labels[] = { { "queue", data->queues[i].name },
						       { NULL, NULL } };

		metric_value(to, &unserved, labels, data->unserved[i]);
	}
}

void metrics_put(const struct metrics_to *to, const struct metrics_data *data)
{
	put_segment(to, &data->segment);
	put_lock(to, &data->lock);
	put_workers(to, data);
	put_groups(to, data);
	put_limits(to, data);
	put_queues(to, data);
	put_unserved(to, data);
	put_depths(to, data);
	put_waits(to, data);
	put_counters(to, data);
	put_ends(to, data);
	put_times(to, data);
}
