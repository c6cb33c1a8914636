/* SPDX-License-Identifier: MIT */
/* Start states: on top of what an operation has prepared. */
#include <errno.h>

#include "scheduler/record/task_record.h"
#include "shm/pool.h"
#include "tests/crash/table.h"
#include "tests/crash/world.h"

#define DEEP_TASKS 1021 /* a 4-ary heap of this length has filled its chunk */
#define SECOND_NS 1000000000ull

static void fill_EMPTY(struct tqt_world *w)
{
	(void)w;
}

static void fill_ONE(struct tqt_world *w)
{
	tqt_submit_plain(w);
}

/* Each is before the one before it: no run has two. */
static void fill_DEEP(struct tqt_world *w)
{
	struct tq_task_spec spec = { .size = sizeof(spec), .kind = "k", .attempts_max = 3 };
	uint32_t there = ((struct tqi_root *)tqi_segment_root(&w->seg))->unfinished;

	for (; there < DEEP_TASKS; there++) {
		spec.priority = -(int32_t)(DEEP_TASKS - there);
		tqt_submit(w, &spec);
	}
}

/* Submit until it is refused: first in large pieces, then in small ones. */
static void exhaust(struct tqt_world *w)
{
	static const char big[4096] = "big";

	for (uint64_t bytes = sizeof(big); bytes; bytes = bytes > 1 ? bytes / 4 : 0) {
		const struct tq_task_spec spec = { .size = sizeof(spec),
						   .kind = "k",
						   .payload = big,
						   .payload_bytes = bytes,
						   .flags = TQ_TASK_HOLD };
		int r;

		while ((r = tq_submit(w->tq, &spec, NULL)) == 0)
			;
		if (r != TQ_EFULL)
			tqt_must(r, "exhaust");
	}
}

static void fill_FULL(struct tqt_world *w)
{
	exhaust(w);
}

/* A span of what submits leave, as the result that an earlier attempt of a task has left. */
static void take_spare(struct tqt_world *w, uint32_t index)
{
	struct tqi_tx tx;
	uint32_t block = 0;

	tqt_must(tqi_hold_begin(w->tq, &tx), "hold");
	struct tqi_task *t = tqi_task_at(&tx, index);

	if (t->state == TQ_READY && (t->flags & TQI_TASK_HELD) && !t->result)
		block = tqi_block_take(&tx, TQI_SPAN_BYTES);
	if (block) {
		tqi_task_touch(&tx, t);
		TQI_SET(&tx, t->result, block);
		TQI_SET(&tx, t->result_bytes, TQI_SPAN_BYTES);
		TQI_SET(&tx, t->output_bytes, (uint64_t)TQI_SPAN_BYTES);
	}
	tqt_must(tqi_hold_end(w->tq, &tx, 0), "spare");
}

static void fill_SHORT(struct tqt_world *w)
{
	const struct tqi_core *core = tqi_segment_core(&w->seg);

	exhaust(w);
	for (uint32_t i = core->tables[TQI_TASKS].count - 1; i > 0 && core->spans_free; i--)
		take_spare(w, i);
	tqt_must(core->spans_free ? -ENOMEM : 0, "short");
}

static void serve(struct tqt_world *w)
{
	if (!w->worker)
		tqt_serve(w, 0);
}

static void fill_RETRY(struct tqt_world *w)
{
	serve(w);
	for (uint32_t i = 0; i < 3; i++) {
		const struct tq_task_spec spec = { .size = sizeof(spec),
						   .kind = "k",
						   .priority = 1000, /* before what was prepared */
						   .backoff_ns = (i + 1) * 10 * SECOND_NS,
						   .attempts_max = 3 };
		struct tq_claim claim = { .size = sizeof(claim) };

		tqt_submit(w, &spec);
		tqt_must(tq_claim(w->worker, 0, &claim), "claim");
		tqt_must(tq_fail(w->worker, &claim, 0, "retry"), "fail");
	}
	tqt_elapse(w, 20 * SECOND_NS); /* the first is due for certain, the third is not */
}

static void fill_FINISHED(struct tqt_world *w)
{
	uint32_t live = tqi_segment_core(&w->seg)->tables[TQI_TASKS].live;

	for (uint32_t i = live; i < tqt_states[TQT_NUMBER_FINISHED].tasks_max; i++)
		tqt_must(tq_task_steer(w->tq, tqt_submit_plain(w), TQ_TASK_ACTION_CANCEL),
			 "cancel");
}

static void fill_SLEEPERS(struct tqt_world *w)
{
	for (uint32_t i = 0; i < 3; i++)
		tqt_foreign_worker(w, TQT_PID_OTHER, 0, true);
	tqt_foreign_sleeper(w, TQI_INTEREST_TASKS, 0);
}

const struct tqt_state tqt_states[TQT_STATE_TOTAL] = {
#define STATE(name, tasks, rule) { #name, tasks, TQT_##rule, fill_##name },
	TQT_STATES(STATE)
#undef STATE
};
