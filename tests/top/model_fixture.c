/* SPDX-License-Identifier: MIT */
/* A model that is the same in every run. */
#include <stdio.h>
#include <string.h>

#include "model_fixture.h"

#define S 1000000000ull
#define NOW (100000 * S)
#define UNIX_NOW (1767268800ull * S) /* 2026-01-01 12:00:00 UTC */

static struct queue_row queues[4];
static struct worker_row workers[6];
static struct tq_limit_info limits[3];
static struct task_row tasks[9];
static struct pick picks[9];
static struct tq_group_info groups[4];
static struct tq_trace_entry entries[7];
static uint32_t shown[7];

static void add_queue(unsigned i, const char *name, uint32_t ready, uint32_t running, uint64_t done,
		      uint64_t failed)
{
	struct queue_row *row = &queues[i];

	*row = (struct queue_row){ .submitted = 12.4 * i,
				   .started = 11 * i,
				   .done = 10.6 * i,
				   .failed = i == 2 ? 0.4 : 0 };
	snprintf(row->info.name, sizeof(row->info.name), "%s", name);
	row->info.workers = i == 3 ? 0 : 4;
	row->info.counters.submitted = done + failed + ready + running;
	row->info.counters.started = done + failed + running;
	row->info.counters.done = done;
	row->info.counters.failed = failed;
	row->info.counters.depth[TQ_READY] = ready;
	row->info.counters.depth[TQ_RUNNING] = running;
	row->info.counters.depth[TQ_DONE] = (uint32_t)done;
	row->info.counters.oldest_ready_ns = ready ? (i + 1) * 31 * S : 0;
}

static void add_worker(unsigned i, uint32_t flags, char process, uint32_t claims)
{
	struct worker_row *row = &workers[i];

	*row = (struct worker_row){ .process = process, .starts = claims ? 3.5 : 0 };
	row->info = (struct tq_worker_info){ .number = i + 1,
					     .flags = flags,
					     .pid = 4000 + i,
					     .claims = claims,
					     .tasks = 1234 * i,
					     .registered_ns = NOW - 3700 * S,
					     .lease_ns = 30 * S,
					     .lease_deadline_ns = NOW + (i == 4 ? 1 : 28) * S,
					     .task = claims ? (1ull << 24 | (i + 16)) : 0,
					     .master = i ? 1 : 0 };
	snprintf(row->info.name, sizeof(row->info.name), "shop.%u", 4000 + i);
	snprintf(row->info.queues, sizeof(row->info.queues), "mail,images");
}

static void add_task(unsigned i, uint32_t state, uint32_t flags, const char *label, char *command)
{
	struct task_row *row = &tasks[i];
	struct tq_task_info *info = &row->info;

	memset(row, 0, sizeof(*row));
	row->command = command;
	info->id = 1ull << 24 | (i + 17);
	info->sequence = i + 1;
	info->state = state;
	info->flags = flags;
	info->priority = i == 1 ? 1000 : 0;
	info->attempt = state == TQ_FAILED ? 3 : state >= TQ_RUNNING ? 1 : 0;
	info->submitted_ns = NOW - (200 + i) * S;
	info->ready_ns = NOW - (100 + i) * S;
	info->started_ns = state >= TQ_RUNNING ? NOW - (50 + i) * S : 0;
	info->ended_ns = state >= TQ_DONE ? NOW - 3 * S : 0;
	info->due_ns = state == TQ_DELAYED ? NOW + 3600 * S : 0;
	info->worker_pid = state >= TQ_RUNNING ? 4001 + i : 0;
	info->cause = state == TQ_FAILED ? TQ_CAUSE_SIGNAL : 0;
	info->cause_arg = 11;
	info->cpu_ns = state == TQ_DONE ? 1500000000 : 0;
	info->max_rss_bytes = state == TQ_DONE ? 12 << 20 : 0;
	info->progress_percent = i == 0 ? 42 : 0;
	snprintf(info->queue, sizeof(info->queue), "%s", i % 2 ? "mail" : "images");
	snprintf(info->kind, sizeof(info->kind), "exec");
	snprintf(info->label, sizeof(info->label), "%s", label);
	picks[i] = (struct pick){ .sequence = i + 1, .id = info->id };
}

static void add_group(unsigned i, uint32_t state, const uint32_t states[TQ_STATE_COUNT],
		      const char *label)
{
	struct tq_group_info *info = &groups[i];

	*info = (struct tq_group_info){ .id = 1ull << 24 | (i + 1),
					.created_ns = NOW - (i + 1) * 100 * S,
					.ended_ns = state == TQ_GROUP_COMPLETE ? NOW - 50 * S : 0,
					.state = state };
	memcpy(info->states, states, sizeof(info->states));
	for (uint32_t s = TQ_BLOCKED; s < TQ_STATE_COUNT; s++) {
		info->members += states[s];
		info->unfinished += s < TQ_DONE ? states[s] : 0;
	}
	snprintf(info->label, sizeof(info->label), "%s", label);
}

static void add_groups(void)
{
	add_group(0, TQ_GROUP_OPEN, (uint32_t[TQ_STATE_COUNT]){ [TQ_READY] = 2 }, "uploads");
	add_group(
		1, TQ_GROUP_SEALED,
		(uint32_t[TQ_STATE_COUNT]){
			[TQ_BLOCKED] = 7000, [TQ_READY] = 812, [TQ_RUNNING] = 8, [TQ_DONE] = 4000 },
		"nightly Größe 写真");
	add_group(2, TQ_GROUP_SEALED,
		  (uint32_t[TQ_STATE_COUNT]){ [TQ_RUNNING] = 1, [TQ_CANCELLED] = 3 }, "");
	add_group(3, TQ_GROUP_COMPLETE,
		  (uint32_t[TQ_STATE_COUNT]){ [TQ_DONE] = 90, [TQ_FAILED] = 2 }, "evil \x1b[2J");
	groups[1].completion = 1ull << 24 | 77;
	groups[1].condition = TQ_GROUP_OK;
	groups[2].flags = TQ_GROUP_INFO_CANCELLED;
	groups[3].completion = 1ull << 24 | 78;
	groups[3].condition = TQ_GROUP_FAIL;
	groups[3].culprit = 1ull << 24 | 17;
}

static void add_entries(void)
{
	static const struct tq_trace_entry some[] = {
		{ .event = TQ_TRACE_MOVE, .to = TQ_READY, .pid = 3999 },
		{ .event = TQ_TRACE_STEAL, .worker = 3, .argument = 2, .pid = 4002 },
		{ .event = TQ_TRACE_MOVE,
		  .from = TQ_READY,
		  .to = TQ_RUNNING,
		  .argument = 1,
		  .pid = 4002,
		  .worker = 3 },
		{ .number = 1234 }, /* passed over */
		{ .event = TQ_TRACE_SIGNAL,
		  .cause = TQ_CAUSE_TIMEOUT,
		  .argument = 15,
		  .pid = 4001,
		  .worker = 2 },
		{ .event = TQ_TRACE_RECLAIM,
		  .cause = TQ_CAUSE_WORKER_DIED,
		  .pid = 4003,
		  .worker = 2 },
		{ .event = TQ_TRACE_MOVE,
		  .from = TQ_RUNNING,
		  .to = TQ_DONE,
		  .cause = TQ_CAUSE_EXIT,
		  .pid = 4002 },
	};

	for (unsigned i = 0; i < 7; i++) {
		entries[i] = some[i];
		entries[i].task = some[i].event ? 1ull << 24 | (i + 17) : 0;
		entries[i].time_ns = NOW - (7 - i) * 1234567;
		shown[i] = i;
	}
}

static void add_latencies(struct model *model)
{
	for (uint64_t kind = 0; kind < LATENCY_KINDS; kind++)
		for (uint64_t i = 0; i < PERCENTILE_COUNT; i++) {
			model->latencies.all.ns[kind][i] = (kind + 1) * (i + 1) * 123456789;
			for (unsigned q = 0; q < 3; q++)
				queues[q].latency.ns[kind][i] = (kind + 1) * (i + q + 1) * 4321000;
		}
}

static void add_rows(void)
{
	static char sleep[] = "sleep 60", mail[] = "mail -s 'your order' a@example.org";

	add_queue(0, "images", 812, 3, 99000, 12);
	add_queue(1, "mail", 81234, 2, 1234567, 0);
	add_queue(2, "payments", 7, 1, 4200, 420);
	add_queue(3, "reports", 12, 0, 0, 0);
	queues[2].info.counters.throttled = 5;
	queues[1].info.counters.held = 4;
	queues[3].info.flags = TQ_QUEUE_PAUSED;
	add_worker(0, TQ_WORKER_IS_MASTER, 'S', 0);
	add_worker(1, 0, 'S', 1);
	add_worker(2, 0, 'R', 2);
	add_worker(3, TQ_WORKER_IS_ASLEEP, 'S', 0);
	add_worker(4, 0, 'T', 1);
	add_worker(5, TQ_WORKER_IS_DYING, 0, 1);
	limits[0] = (struct tq_limit_info){
		.slots = 3, .used = 3, .waiting = 5, .tasks = 8, .key = "payment-api"
	};
	limits[1] = (struct tq_limit_info){ .slots = TQ_OFF,
					    .used = 1,
					    .tasks = 40,
					    .rate = 10,
					    .burst = 20,
					    .interval_ns = S,
					    .tokens = 7,
					    .key = "mail-server" };
	limits[2] = (struct tq_limit_info){ .slots = 8, .used = 2, .tasks = 2, .key = "render" };
	add_groups();
	add_entries();
	add_task(0, TQ_RUNNING, 0, "resize photo-1.jpg", sleep);
	add_task(1, TQ_RUNNING, TQ_INFO_STOPPING, "order 1", mail);
	add_task(2, TQ_READY, 0, "Größe für Łódź 写真", sleep);
	add_task(3, TQ_READY, TQ_INFO_THROTTLED, "", mail);
	add_task(4, TQ_READY, TQ_INFO_UNSERVED, "evil \x1b[2J label", sleep);
	add_task(5, TQ_DELAYED, 0, "nightly", sleep);
	add_task(6, TQ_READY, TQ_INFO_HELD, "held back", sleep);
	add_task(7, TQ_FAILED, 0, "bounce", mail);
	add_task(8, TQ_DONE, 0, "done with it", sleep);
}

static void add_history(struct model *model)
{
	for (unsigned i = 0; i < 90; i++) {
		model->series[SERIES_SUBMITTED][i] = (i * 7) % 60;
		model->series[SERIES_STARTED][i] = 20 + (i * 5) % 11;
		model->series[SERIES_DONE][i] = 20 + (i * 3) % 13;
		model->series[SERIES_FAILED][i] = i % 17 == 0 ? 2 : 0;
		model->series[SERIES_READY][i] = i * 900;
	}
	model->history = 90;
}

static void add_sums(struct model *model)
{
	for (unsigned i = 0; i < 4; i++) {
		const struct tq_counters *k = &queues[i].info.counters;

		model->total.done += k->done;
		model->total.failed += k->failed;
		model->total.started += k->started;
		model->total.throttled += k->throttled;
		model->total.held += k->held;
		model->total.depth[TQ_READY] += k->depth[TQ_READY];
		model->total.depth[TQ_RUNNING] += k->depth[TQ_RUNNING];
	}
	model->total.oldest_ready_ns = 124 * S;
	snprintf(model->oldest_queue, sizeof(model->oldest_queue), "reports");
	model->busy = 2;
	model->idle = model->stopped = model->dead = model->masters = 1;
	model->transactions = 1234;
}

void fixture_model(struct model *model)
{
	memset(model, 0, sizeof(*model));
	add_rows();
	model->segment = "shop";
	model->delay_ns = S;
	model->has_rates = true;
	model->now.clocks = (struct clocks){ .now_ns = NOW, .unix_now_ns = UNIX_NOW };
	model->now.segment.created_unix_ns = UNIX_NOW - 11045 * S;
	model->now.segment.max_bytes = 1ull << 30;
	model->now.segment.used_bytes = 312ull << 20;
	model->now.segment.tasks_max = 4194304;
	model->now.segment.tasks_count = 1000000;
	model->now.segment.rollbacks = 2;
	model->now.queues = queues;
	model->now.queue_count = 4;
	model->now.workers = workers;
	model->now.worker_count = 6;
	model->now.limits = limits;
	model->now.limit_count = 3;
	model->tasks = tasks;
	model->task_count = 9;
	model->pass = (struct pass){
		.picks = picks, .pick_count = 9, .matches = 1000000, .is_complete = true
	};
	model->now.groups = groups;
	model->now.group_count = 4;
	model->now.segment.traced = 5678;
	model->recorder = (struct recorder){ .entries = entries,
					     .shown = shown,
					     .count = 7,
					     .shown_count = 7,
					     .cursor = 5667,
					     .clocks = model->now.clocks };
	add_latencies(model);
	add_history(model);
	add_sums(model);
	trouble_find(model, &model->now);
}

void fixture_update(struct ui *ui, struct model *model)
{
	table_update(views[ui->view]->table, &ui->tables[ui->view], model);
}
