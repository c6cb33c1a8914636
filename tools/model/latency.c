/* SPDX-License-Identifier: MIT */
/* Histograms of queues, read when they have changed; their sum. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "latency.h"
#include "sample.h"

static const struct tq_histogram *histogram_of(const struct tq_times *times, enum latency_kind kind)
{
	return kind == LATENCY_WAIT  ? &times->wait
	       : kind == LATENCY_RUN ? &times->run
				     : &times->life;
}

static void set_latency(struct latency *latency, const struct tq_times *times)
{
	for (unsigned kind = 0; kind < LATENCY_KINDS; kind++)
		for (unsigned i = 0; i < PERCENTILE_COUNT; i++)
			latency->ns[kind][i] =
				tq_histogram_at(histogram_of(times, kind), percentiles[i].permille);
}

static void add_histogram(struct tq_histogram *to, const struct tq_histogram *from)
{
	to->count += from->count;
	to->sum_ns += from->sum_ns;
	if (from->longest_ns > to->longest_ns)
		to->longest_ns = from->longest_ns;
	for (uint32_t i = 0; i < TQ_HISTOGRAM_BUCKETS; i++)
		to->buckets[i] += from->buckets[i];
}

static void sum_up(struct latencies *latencies)
{
	struct tq_times all = { .size = sizeof(all) };

	for (uint32_t i = 0; i < latencies->count; i++) {
		const struct tq_times *times = &latencies->queues[i].times;

		add_histogram(&all.wait, &times->wait);
		add_histogram(&all.run, &times->run);
		add_histogram(&all.life, &times->life);
	}
	set_latency(&latencies->all, &all);
}

/* Each start and each end of an attempt or a task is a sample, or at least moves this. */
static uint64_t events_of(const struct tq_counters *k)
{
	return k->started + k->done + k->failed + k->cancelled + k->expired + k->retried;
}

/* Whether its histograms may be others now: then they were read. */
static bool read_queue(struct queue_times *kept, struct tq *tq, const struct tq_queue_info *info)
{
	const uint64_t events = events_of(&info->counters);

	if (kept->events == events && kept->is_settled)
		return false;
	kept->is_settled = kept->events == events;
	kept->events = events;
	kept->times.size = sizeof(kept->times);
	if (tq_times_read(tq, info->name, NULL, &kept->times) == 0)
		set_latency(&kept->latency, &kept->times);
	return true;
}

/* A row for each; what was another queue's place is read anew. */
static void take_places(struct latencies *latencies, const struct sample *sample)
{
	for (uint32_t i = 0; i < sample->queue_count; i++) {
		struct queue_times *kept = &latencies->queues[i];
		const char *name = sample->queues[i].info.name;

		if (strcmp(kept->name, name) == 0)
			continue;
		*kept = (struct queue_times){ .events = 0 };
		snprintf(kept->name, sizeof(kept->name), "%s", name);
	}
}

static bool grow(struct latencies *latencies, uint32_t count)
{
	struct queue_times *queues;

	if (count <= latencies->count)
		return true;
	queues = reallocarray(latencies->queues, count, sizeof(*queues));
	if (!queues)
		return false;
	for (uint32_t i = latencies->count; i < count; i++)
		queues[i] = (struct queue_times){ .events = 0 };
	latencies->queues = queues;
	latencies->count = count;
	return true;
}

void latencies_update(struct latencies *latencies, struct tq *tq, struct sample *sample,
		      uint64_t every_ns)
{
	bool changed = false;

	if (!grow(latencies, sample->queue_count))
		return;
	take_places(latencies, sample);
	if (sample->clocks.now_ns >= latencies->next_ns) {
		for (uint32_t i = 0; i < sample->queue_count; i++)
			changed |= read_queue(&latencies->queues[i], tq, &sample->queues[i].info);
		latencies->next_ns = sample->clocks.now_ns + every_ns;
	}
	if (changed)
		sum_up(latencies);
	for (uint32_t i = 0; i < sample->queue_count; i++)
		sample->queues[i].latency = latencies->queues[i].latency;
}

void latencies_forget(struct latencies *latencies)
{
	free(latencies->queues);
	*latencies = (struct latencies){ 0 };
}
