/* SPDX-License-Identifier: MIT */
/* Looks become rates, sums and history. */
#include <string.h>

#include "model.h"
#include "process.h"

#define SECOND_NS 1e9

static double rate(uint64_t now, uint64_t before, double seconds)
{
	return now > before ? (double)(now - before) / seconds : 0;
}

static const struct queue_row *queue_before(const struct sample *before, uint32_t hint,
					    const char *name)
{
	/* Mostly in the same place; not when a queue in front of it has been given back. */
	if (hint < before->queue_count && !strcmp(before->queues[hint].info.name, name))
		return &before->queues[hint];
	for (uint32_t i = 0; i < before->queue_count; i++)
		if (!strcmp(before->queues[i].info.name, name))
			return &before->queues[i];
	return NULL;
}

static void set_queue_rates(struct sample *now, const struct sample *before, double seconds)
{
	for (uint32_t i = 0; i < now->queue_count; i++) {
		struct queue_row *row = &now->queues[i];
		const struct queue_row *old = queue_before(before, i, row->info.name);
		const struct tq_counters none = { 0 }, *n = &row->info.counters;
		const struct tq_counters *o = old ? &old->info.counters : &none;

		row->submitted = rate(n->submitted, o->submitted, seconds);
		row->started = rate(n->started, o->started, seconds);
		row->done = rate(n->done, o->done, seconds);
		row->failed = rate(n->failed, o->failed, seconds);
	}
}

static void set_worker_rates(struct sample *now, const struct sample *before, double seconds)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < now->worker_count; i++) {
		struct worker_row *row = &now->workers[i];

		while (at < before->worker_count &&
		       before->workers[at].info.number < row->info.number)
			at++; /* both are in the order of their numbers */
		if (at < before->worker_count &&
		    before->workers[at].info.number == row->info.number &&
		    before->workers[at].info.registered_ns == row->info.registered_ns)
			row->starts =
				rate(row->info.tasks, before->workers[at].info.tasks, seconds);
	}
}

static void add_counters(struct tq_counters *to, const struct tq_counters *from)
{
	to->submitted += from->submitted;
	to->started += from->started;
	to->done += from->done;
	to->failed += from->failed;
	to->cancelled += from->cancelled;
	to->expired += from->expired;
	to->retried += from->retried;
	to->crashed += from->crashed;
	to->reclaimed += from->reclaimed;
	to->stolen += from->stolen;
	to->throttled += from->throttled;
	to->held += from->held;
	to->throttled_total += from->throttled_total;
	to->moved += from->moved;
	for (uint32_t state = 0; state < TQ_STATE_COUNT; state++)
		to->depth[state] += from->depth[state];
}

static void sum_queues(struct model *model)
{
	model->total = (struct tq_counters){ 0 };
	model->oldest_queue[0] = '\0';
	for (uint32_t i = 0; i < model->now.queue_count; i++) {
		const struct tq_queue_info *info = &model->now.queues[i].info;

		add_counters(&model->total, &info->counters);
		if (info->counters.oldest_ready_ns <= model->total.oldest_ready_ns)
			continue;
		model->total.oldest_ready_ns = info->counters.oldest_ready_ns;
		memcpy(model->oldest_queue, info->name, sizeof(model->oldest_queue));
	}
}

static void sum_workers(struct model *model)
{
	model->busy = model->idle = model->stopped = model->dead = model->masters = 0;
	for (uint32_t i = 0; i < model->now.worker_count; i++) {
		const struct worker_row *row = &model->now.workers[i];

		if (row->info.flags & TQ_WORKER_IS_DYING)
			model->dead++;
		else if (process_is_stopped(row->process))
			model->stopped++;
		else if (row->info.flags & TQ_WORKER_IS_MASTER)
			model->masters++;
		else if (row->info.claims)
			model->busy++;
		else
			model->idle++;
	}
}

static void remember(struct model *model)
{
	double values[SERIES_COUNT] = { [SERIES_READY] = model->total.depth[TQ_READY] };

	for (uint32_t i = 0; i < model->now.queue_count; i++) {
		const struct queue_row *row = &model->now.queues[i];

		values[SERIES_SUBMITTED] += row->submitted;
		values[SERIES_STARTED] += row->started;
		values[SERIES_DONE] += row->done;
		values[SERIES_FAILED] += row->failed;
	}
	const bool is_full = model->history == HISTORY_MAX;

	for (unsigned s = 0; s < SERIES_COUNT; s++) {
		if (is_full)
			memmove(model->series[s], model->series[s] + 1,
				(HISTORY_MAX - 1) * sizeof(model->series[s][0]));
		model->series[s][model->history - is_full] = values[s];
	}
	model->history += !is_full;
}

/* A look that failed tells nothing of rates, nor does the first one of another segment. */
static double seconds_since(const struct sample *now, const struct sample *before)
{
	if (now->error || before->error || !before->clocks.now_ns ||
	    now->segment.created_unix_ns != before->segment.created_unix_ns)
		return 0;
	return (double)(now->clocks.now_ns - before->clocks.now_ns) / SECOND_NS;
}

/*
 * A key asks for a look at once: what has happened since the look before says nothing of
 * a second.  The rates stay as they were, and the graphs as they are.
 */
static void keep_rates(struct sample *now, const struct sample *before)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < now->queue_count; i++) {
		struct queue_row *row = &now->queues[i];
		const struct queue_row *old = queue_before(before, i, row->info.name);

		row->submitted = old ? old->submitted : 0;
		row->started = old ? old->started : 0;
		row->done = old ? old->done : 0;
		row->failed = old ? old->failed : 0;
	}
	for (uint32_t i = 0; i < now->worker_count; i++) {
		struct worker_row *row = &now->workers[i];

		while (at < before->worker_count &&
		       before->workers[at].info.number < row->info.number)
			at++;
		if (at < before->worker_count &&
		    before->workers[at].info.number == row->info.number &&
		    before->workers[at].info.registered_ns == row->info.registered_ns)
			row->starts = before->workers[at].starts;
	}
}

/* An early look changes no rate; the next one counts from the look that counted last. */
static void keep_counted(struct model *model, struct sample *before)
{
	if (model->has_counted) {
		sample_free(before);
		return;
	}
	model->counted = *before;
	model->has_counted = true;
}

static void set_rates(struct model *model, const struct sample *counted, double seconds)
{
	model->transactions = 0;
	model->has_rates = seconds > 0;
	if (!model->has_rates)
		return;
	set_queue_rates(&model->now, counted, seconds);
	set_worker_rates(&model->now, counted, seconds);
	model->transactions =
		rate(model->now.segment.transactions, counted->segment.transactions, seconds);
}

static void end_counted(struct model *model, struct sample *before)
{
	sample_free(before);
	if (model->has_counted)
		sample_free(&model->counted);
	model->has_counted = false;
}

void model_update(struct model *model, struct sample *sample)
{
	struct sample before = model->now;
	const struct sample *counted = model->has_counted ? &model->counted : &before;
	const double seconds = seconds_since(sample, counted);
	const bool is_early = seconds > 0 && seconds * SECOND_NS < (double)model->delay_ns / 2;

	model->now = *sample;
	*sample = (struct sample){ 0 };
	if (is_early)
		keep_rates(&model->now, &before);
	else
		set_rates(model, counted, seconds);
	sum_queues(model);
	sum_workers(model);
	if (model->has_rates && !is_early)
		remember(model);
	else if (!model->has_rates && !model->now.error)
		model->history = 0;
	trouble_find(model, &before);
	if (is_early)
		keep_counted(model, &before);
	else
		end_counted(model, &before);
}

void model_forget(struct model *model)
{
	pass_forget(&model->pass);
	latencies_forget(&model->latencies);
	recorder_forget(&model->recorder);
}

void model_free(struct model *model)
{
	end_counted(model, &model->now);
	model_forget(model);
	pass_free(&model->pass);
	tasks_forget(model);
}
