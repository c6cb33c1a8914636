/* SPDX-License-Identifier: MIT */
/* Operations on schedules: make, pause, remove, and the runs that they make. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/time/schedule.h"
#include "scheduler/task/schedule_run.h"
#include "scheduler/worker/keepers.h"
#include "tests/property/world.h"

#define MS 1000000ull
#define PAYLOAD_MAX 3000
#define NAMES 3 /* of schedules: few, so that they are replaced */

static const struct tqi_zone utc; /* no change, no offset */

struct making {
	struct model_schedule model;
	struct tqi_schedule_request core;
	struct tq_task_spec spec;
	struct tqi_cron cron;
	uint64_t id;
	unsigned char payload[PAYLOAD_MAX];
	char label[TQ_LABEL_MAX + 1];
	char expression[32];
	char name[16];
};

static void choose(struct world *w, struct making *m)
{
	static const uint32_t minutes[] = { 1, 2, 5, 20, 60 };
	struct model_submit *run = &m->model.run;

	memset(m, 0, sizeof(*m));
	m->model.every_ns = chance(w, 3)    ? 0
			    : chance(w, 40) ? (uint64_t)INT64_MAX / 2
					    : (20 + below(w, 6000)) * MS;
	m->model.minutes = minutes[below(w, 5)];
	m->model.name = chance(w, 3) ? 1 + below(w, NAMES) : 0;
	m->model.overlap = chance(w, 2) ? TQ_OVERLAP_SKIP : TQ_OVERLAP_QUEUE;
	m->model.catch_up = chance(w, 2) ? 1 : 1 + below(w, 5);
	run->queue = 1 + below(w, MODEL_STAYING_QUEUES);
	run->kind = 1 + below(w, MODEL_STAYING_KINDS);
	run->payload = pattern_make(w, PAYLOAD_MAX);
	run->label = pattern_make(w, TQ_LABEL_MAX);
	run->spec = (struct tq_task_spec){
		.size = sizeof(run->spec),
		.delay_ns = chance(w, 6) ? some_time(w) : 0,
		.deadline_ns = chance(w, 4) ? some_time(w) : 0,
		.timeout_ns = chance(w, 4) ? some_time(w) : 0,
		.attempts_max = chance(w, 2) ? 1 + below(w, 3) : 0,
		.priority = (int32_t)below(w, 5) * 50,
		.flags = chance(w, 4) ? TQ_TASK_FORGET : 0,
	};
}

static void point(struct making *m)
{
	const struct model_submit *run = &m->model.run;
	char error[256];

	pattern_fill(run->payload, m->payload);
	pattern_fill(run->label, m->label);
	m->spec = run->spec;
	m->spec.queue = queue_name(run->queue);
	m->spec.kind = kind_name(run->kind);
	m->spec.payload = m->payload;
	m->spec.payload_bytes = run->payload.bytes;
	m->spec.label = run->label.bytes ? m->label : NULL;
	snprintf(m->expression, sizeof(m->expression),
		 m->model.minutes == 60 ? "0 * * * *" : "*/%u * * * *", m->model.minutes);
	if (!tqi_cron_parse(m->expression, &m->cron, error, sizeof(error)))
		abort();
	snprintf(m->name, sizeof(m->name), "name%u", m->model.name);
	m->core = (struct tqi_schedule_request){ .spec = &m->spec,
						 .name = m->model.name ? m->name : NULL,
						 .every_ns = m->model.every_ns,
						 .overlap = m->model.overlap,
						 .catch_up = m->model.catch_up };
	if (m->model.every_ns)
		return;
	m->core.cron_text = m->expression;
	m->core.cron = &m->cron;
	m->core.zone_name = "UTC";
	m->core.zone = &utc;
}

static int make_core(struct world *w, void *arg)
{
	struct making *m = arg;

	return tqi_schedule_make(&w->tx, &m->core, &m->id);
}

static uint32_t count_live(const struct world *w)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < w->m->schedule_slots; i++)
		n += w->m->schedules[i].live;
	return n;
}

void op_schedule_make(struct world *w)
{
	static struct making m;

	if (count_live(w) + 1 >= MODEL_SCHEDULES)
		return;
	choose(w, &m);
	point(&m);
	int r = perform(w, make_core, &m, false);
	uint32_t replaced = model_schedule_named(w->m, m.model.name);

	note(w, "schedule %u every %llu ms / %u min: %d, %u", m.model.name,
	     (unsigned long long)(m.model.every_ns / MS), m.model.minutes, r, tqi_id_index(m.id));
	if (r == NO_ROOM)
		return;
	expect(w, r, w->m->flags & TQI_ROOT_SHUTDOWN ? TQ_ESHUTDOWN : replaced != 0, "schedule");
	if (r < 0)
		return;
	uint32_t slot = tqi_id_index(m.id);

	if (replaced && slot != replaced)
		fail(w, "schedule %u should have been replaced, not %u", replaced, slot);
	if (!replaced && (slot >= MODEL_SCHEDULES || w->m->schedules[slot].live))
		fail(w, "schedule slot %u is in use", slot);
	if (replaced)
		model_schedule_replace(w->m, slot, &m.model);
	else
		model_schedule_make(w->m, slot, &m.model);
	expect(w, (int64_t)tqi_id_generation(m.id), (int64_t)w->m->schedules[slot].generation,
	       "generation of a schedule");
}

enum steer_action {
	PAUSE,
	RESUME,
	REMOVE,
	ACTIONS
};

struct steering {
	uint64_t id;
	enum steer_action action;
};

static int steer_core(struct world *w, void *arg)
{
	const struct steering *s = arg;

	return s->action == REMOVE ? tqi_schedule_remove(&w->tx, s->id)
				   : tqi_schedule_pause(&w->tx, s->id, s->action == PAUSE);
}

void op_schedule_steer(struct world *w)
{
	uint32_t slot = below(w, w->m->schedule_slots);
	const struct model_schedule *s = &w->m->schedules[slot];
	struct steering steering = { .action = (enum steer_action)below(w, ACTIONS) };

	if (slot == 0 || s->generation == 0)
		return;
	bool stale = !s->live || (s->generation > 1 && chance(w, 4));

	steering.id = tqi_id_make(slot, s->generation - stale);
	note(w, "steer schedule %u: %u%s", slot, steering.action, stale ? " stale" : "");
	if (tqi_id_generation(steering.id) == 0)
		return;
	int r = perform(w, steer_core, &steering, false);

	if (r == NO_ROOM)
		return;
	expect(w, r, stale ? TQ_EGONE : 0, "steering a schedule");
	if (r < 0)
		return;
	if (steering.action == REMOVE)
		model_schedule_remove(w->m, slot);
	else
		model_schedule_pause(w->m, slot, steering.action == PAUSE);
}

static const struct tqi_schedule *record(struct world *w, uint32_t slot)
{
	return tqi_table_peek(&w->box.seg, TQI_SCHEDULES, slot);
}

/* The same reasons as for a submit; memory is the core's own affair. */
static void check_failure(struct world *w, uint32_t slot, bool full)
{
	const struct model_submit *run = &w->m->schedules[slot].run;
	const struct model_queue *q = &w->m->queues[run->queue];
	int r = record(w, slot)->last_error, expected = model_admit(w->m, run->queue);

	if (r == -ENOMEM && !expected) {
		w->comparison.tight = true;
		return;
	}
	if (expected ? r != expected : r != TQ_EFULL || (!full && q->waiting < q->depth_max))
		fail(w, "schedule %u failed with %d without a reason", slot, r);
}

static void follow_run(struct world *w, uint32_t slot, bool full)
{
	const struct model_submit *run = &w->m->schedules[slot].run;
	const struct model_queue *q = &w->m->queues[run->queue];
	uint64_t id = record(w, slot)->last_run;
	uint32_t task = tqi_id_index(id);

	if (record(w, slot)->runs == w->m->schedules[slot].runs) {
		check_failure(w, slot, full);
		model_schedule_failed(w->m, slot, record(w, slot)->last_error);
		return;
	}
	if (model_admit(w->m, run->queue) || full || q->waiting >= q->depth_max)
		fail(w, "the run of schedule %u should have been refused", slot);
	if (task >= MODEL_TASKS || w->m->tasks[task].state != TQ_FREE)
		fail(w, "slot %u is in use", task);
	model_submit(w->m, run, task, 0);
	expect(w, (int64_t)tqi_id_generation(id), (int64_t)w->m->tasks[task].generation,
	       "generation of a run");
	model_schedule_made(w->m, slot, id);
	w->runs++;
}

static bool table_is_full(struct world *w)
{
	return tqi_segment_core(&w->box.seg)->tables[TQI_TASKS].live + 1 >=
	       w->box.seg.geometry.tables[TQI_TASKS].max;
}

/* It commits by itself, and may evict a record in a step of its own. */
bool schedule_run(struct world *w)
{
	const struct tqi_root *root = tqi_segment_root(&w->box.seg);
	uint32_t slot = model_schedule_due(w->m);
	bool full = table_is_full(w) && !model_finished(w->m);
	uint64_t evicted = root->evicted;

	tqt_box_begin(&w->box, &w->tx);
	expect(w, tqi_schedule_is_due(&w->tx), slot != 0, "a schedule that is due");
	if (slot)
		tqi_schedule_run(&w->tx);
	if (w->tx.corrupt)
		fail(w, "the run of schedule %u is corrupt", slot);
	commit(w);
	if (!slot)
		return false;
	const struct tqi_schedule *s = record(w, slot);

	note(w, "schedule %u is due: owed %u, retry %llu, last %u, error %d, skipped %llu", slot,
	     s->owed, (unsigned long long)s->retry_ns, tqi_id_index(s->last_run), s->last_error,
	     (unsigned long long)s->skipped);
	if (!model_schedule_decide(w->m, slot))
		return true;
	for (; evicted < root->evicted; evicted++)
		model_evict(w->m, 1);
	follow_run(w, slot, full);
	return true;
}

void op_schedule_run(struct world *w)
{
	schedule_run(w);
}
