/* SPDX-License-Identifier: MIT */
/* The operations of the sweep on schedules, and their preparations. */
#include "tests/crash/operations.h"

#include "client/core/sleeper.h"

#define EVERY_NS (50 * TQT_SECOND_NS)
#define SCHEDULES 3 /* more than one hold looks at */

static const struct tq_task_spec run = { .size = sizeof(run),
					 .kind = "k",
					 .label = "label",
					 .payload = "payload",
					 .payload_bytes = 7,
					 .priority = 2000 /* before all others */ };

static uint64_t make(struct tqt_world *w, struct tq *tq, const char *name, uint64_t every_ns,
		     uint32_t overlap)
{
	const struct tq_schedule_spec spec = { .size = sizeof(spec),
					       .name = name,
					       .task = &run,
					       .every_ns = every_ns,
					       .cron = every_ns ? NULL : "@hourly",
					       .zone = every_ns ? NULL : "UTC0",
					       .overlap = overlap };
	uint64_t id = 0;

	w->result = tq_schedule_create(tq, &spec, &id);
	return id;
}

static uint64_t must_make(struct tqt_world *w, uint64_t every_ns, uint32_t overlap)
{
	/* The one by cron has a name. */
	uint64_t id = make(w, w->other, every_ns ? NULL : "name", every_ns, overlap);

	tqt_must(w->result, "schedule");
	return id;
}

/* By both clocks; due at one time. */
void tqt_prepare_schedules(struct tqt_world *w)
{
	for (uint32_t i = 0; i < SCHEDULES; i++)
		w->ids[w->id_count++] = must_make(w, EVERY_NS, TQ_OVERLAP_SKIP);
	w->ids[w->id_count++] = must_make(w, 0, TQ_OVERLAP_QUEUE);
	if (!w->worker)
		tqt_serve(w, 0);
}

/* Somebody has noted what the wall clock says. */
void tqt_prepare_noted_clock(struct tqt_world *w)
{
	tqt_prepare_schedules(w);
	tqi_keep(w->other);
}

void tqt_prepare_paused_schedule(struct tqt_world *w)
{
	tqt_prepare_schedules(w);
	tqt_must(tq_schedule_steer(w->other, w->ids[0], TQ_SCHEDULE_PAUSE), "pause");
}

/* A run goes on, and the next one waits for its end. */
void tqt_prepare_owed_run(struct tqt_world *w)
{
	tqt_serve(w, 0);
	must_make(w, EVERY_NS, TQ_OVERLAP_QUEUE);
	tqt_elapse(w, EVERY_NS);
	tqi_keep(w->other);
	w->id_count = 0;
	tqt_claim(w);
	tqt_elapse(w, EVERY_NS);
	tqi_keep(w->other);
}

void tqt_run_schedule_every(struct tqt_world *w)
{
	make(w, w->tq, "new", EVERY_NS, 0);
}

void tqt_run_schedule_cron(struct tqt_world *w)
{
	make(w, w->tq, NULL, 0, 0);
}

/* That by cron becomes one of equal times: another heap, another block. */
void tqt_run_schedule_replace(struct tqt_world *w)
{
	make(w, w->tq, "name", EVERY_NS, 0);
}

void tqt_run_schedule_pause(struct tqt_world *w)
{
	w->result = tq_schedule_steer(w->tq, w->ids[0], TQ_SCHEDULE_PAUSE);
}

void tqt_run_schedule_resume(struct tqt_world *w)
{
	w->result = tq_schedule_steer(w->tq, w->ids[0], TQ_SCHEDULE_RESUME);
}

void tqt_run_schedule_remove(struct tqt_world *w)
{
	w->result = tq_schedule_steer(w->tq, w->ids[SCHEDULES], TQ_SCHEDULE_REMOVE);
}

void tqt_run_keep_schedules(struct tqt_world *w)
{
	tqt_elapse(w, EVERY_NS);
	tqi_keep(w->tq);
}

/* The wall clock is set forward. */
void tqt_run_keep_cron(struct tqt_world *w)
{
	w->system.wall_offset_ns += 2 * 3600 * TQT_SECOND_NS;
	tqi_keep(w->tq);
}

/* It is set back by so much that times by it begin anew. */
void tqt_run_keep_set_back(struct tqt_world *w)
{
	w->system.wall_offset_ns -= 10 * 3600 * TQT_SECOND_NS;
	tqi_keep(w->tq);
}

void tqt_run_complete_run(struct tqt_world *w)
{
	w->result = tq_complete(w->worker, w->claims, NULL, 0);
}
