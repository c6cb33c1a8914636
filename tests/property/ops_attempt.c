/* SPDX-License-Identifier: MIT */
/* What a running task's worker writes by itself; how its stop goes on. */
#include <errno.h>

#include "scheduler/worker/stop.h"
#include "shm/pool.h"
#include "tests/property/world.h"

static struct tqi_attempt *attempt_record(struct world *w, uint32_t task)
{
	return tqi_table_peek(&w->box.seg, TQI_ATTEMPTS, w->m->tasks[task].attempt.record);
}

void op_progress(struct world *w)
{
	uint32_t task = pick_task(w, TQ_RUNNING);

	if (!task)
		return;
	struct model_attempt *m = &w->m->tasks[task].attempt;
	struct tqi_attempt *a = attempt_record(w, task);
	const uint32_t next = tqi_load_relaxed32(&a->progress_index) + 1;
	struct tqi_progress *report = &a->progress[next & 1];

	note(w, "progress of %u", task);
	m->progress_ns = w->m->now_ns;
	m->own.reported = true;
	m->own.percent = below(w, 101);
	*report = (struct tqi_progress){ m->own.percent, { model_report_text(m->own.percent) } };
	tqi_store_release64(&a->progress_ns, w->m->now_ns);
	tqi_store_release32(&a->progress_index, next);
}

static int checkpoint_core(struct world *w, void *arg)
{
	struct tqi_attempt *a =
		tqi_attempt_at(&w->tx, w->m->tasks[*(uint32_t *)arg].attempt.record);
	uint32_t block = tqi_block_take(&w->tx, TQI_CHECKPOINT_BLOCK);

	if (!block)
		return -ENOMEM;
	TQI_SET(&w->tx, a->checkpoint, block);
	return 0;
}

void op_checkpoint(struct world *w)
{
	uint32_t task = pick_task(w, TQ_RUNNING);
	struct model_attempt *m = &w->m->tasks[task].attempt;

	if (!task)
		return;
	note(w, "checkpoint of %u", task);
	if (!m->has_block && perform(w, checkpoint_core, &task, false) < 0)
		return;
	m->has_block = true;
	m->saves++;
	m->own.saved = true;
	m->own.checkpoint = pattern_make(w, 3000);
	struct tqi_attempt *a = attempt_record(w, task);
	unsigned char *half = w->box.seg.base + ((uint64_t)a->checkpoint << TQI_UNIT_SHIFT) +
			      (m->saves & 1) * TQ_CHECKPOINT_MAX;

	pattern_fill(m->own.checkpoint, half);
	tqi_store_release64(&a->saved, (uint64_t)m->saves << 32 | m->own.checkpoint.bytes);
}

/* A command writes into its worker's ring. */
void op_output(struct world *w)
{
	uint32_t task = pick_task(w, TQ_RUNNING);
	struct model_task *t = &w->m->tasks[task];
	struct model_worker *m = &w->m->workers[t->attempt.worker];

	if (!task || !m->output_room || m->dead)
		return;
	struct tqi_worker *record = worker_record(w, t->attempt.worker);
	unsigned char *ring = w->box.seg.base + ((uint64_t)record->output << TQI_UNIT_SHIFT);

	note(w, "output of %u", task);
	m->output_seed = below(w, 1000);
	m->output_serial = t->attempt.serial;
	m->output_head = below(w, 3 * m->output_room);
	uint64_t from = m->output_head < m->output_room ? 0 : m->output_head - m->output_room;

	for (uint64_t i = from; i < m->output_head; i++)
		ring[i % m->output_room] = pattern_byte(m->output_seed, i);
	tqi_store_release32(&record->output_serial, t->attempt.serial);
	tqi_store_release64(&record->output_head, m->output_head);
}

static int stop_core(struct world *w, void *arg)
{
	return tqi_stop_step(&w->tx, w->m->tasks[*(uint32_t *)arg].attempt.record);
}

void op_stop_step(struct world *w)
{
	uint32_t task = pick_task(w, TQ_RUNNING);

	if (!task)
		return;
	int r = perform(w, stop_core, &task, false);

	note(w, "stop step of %u: signal %d", task, r);
	expect(w, r, model_stop_step(w->m, task), "stop step");
}
