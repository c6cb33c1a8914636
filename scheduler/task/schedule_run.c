/* SPDX-License-Identifier: MIT */
/* Runs of schedules. */
#include "scheduler/task/schedule_run.h"

#include <errno.h>
#include <string.h>

#include "scheduler/time/schedule_heap.h"
#include "scheduler/task/submit.h"
#include "scheduler/task/task.h"
#include "scheduler/worker/step.h"

#define RETRY_NS 1000000000ull /* 1 s: without room, it is tried again after so long */

static bool is_running(struct tqi_tx *tx, const struct tqi_schedule *s)
{
	uint32_t index;

	return s->last_run && tqi_task_find(tx, s->last_run, &index) == 0 &&
	       !tqi_state_is_final(tqi_task_at(tx, index)->state);
}

/* SC-3. */
static void owe(struct tqi_tx *tx, struct tqi_schedule *s, uint32_t passed)
{
	bool skip = s->overlap == TQ_OVERLAP_SKIP && is_running(tx, s);
	uint32_t room = s->catch_up > s->owed ? s->catch_up - s->owed : 0;
	uint32_t taken = skip ? 0 : passed < room ? passed : room;

	if (taken)
		TQI_SET(tx, s->owed, s->owed + taken);
	if (passed > taken)
		TQI_ADD(tx, s->skipped, passed - taken);
}

static void list_limits(const struct tqi_schedule *s, const char *texts,
			const char *limits[TQ_LIMITS_MAX])
{
	for (uint32_t i = 0; i < s->limit_count; i++) {
		limits[i] = texts;
		texts += strlen(texts) + 1;
	}
}

/* Its block is copied by the submit, as a caller's would be. */
static struct tq_task_spec spec_of(struct tqi_tx *tx, const struct tqi_schedule *s,
				   const char *limits[TQ_LIMITS_MAX])
{
	const struct tqi_schedule_parts p = tqi_schedule_parts(s);
	const char *block = tqi_unit(tx, s->block);

	if (tqi_offset(tx, block) + p.bytes > tx->seg->geometry.max_bytes)
		tx->corrupt = true;
	else
		list_limits(s, block + p.limits, limits);
	return (struct tq_task_spec){
		.size = sizeof(struct tq_task_spec),
		.queue = tqi_queue_at(tx, s->queue)->name,
		.kind = tqi_kind_at(tx, s->kind)->name,
		.label = s->label_bytes ? block + p.label : NULL,
		.payload = block,
		.payload_bytes = s->payload_bytes,
		.delay_ns = s->delay_ns,
		.timeout_ns = s->timeout_ns,
		.timeout_total_ns = s->timeout_total_ns,
		.progress_timeout_ns = s->progress_timeout_ns,
		.backoff_ns = s->backoff_ns,
		.backoff_cap_ns = s->backoff_cap_ns,
		.priority = s->priority,
		.attempts_max = s->attempts_max,
		.crashes_max = s->crashes_max,
		.losses_max = s->losses_max,
		.flags = s->task_flags,
		.deadline_ns = s->deadline_ns,
		.unique_key = s->key_bytes ? block + p.key : NULL,
		.unique_scope = s->unique_scope,
		.fair_key = s->fair_bytes ? block + p.fair : NULL,
		.limit_count = s->limit_count,
		.limits = limits,
		.limit_weights = s->limit_weights,
	};
}

/* Makes one run: as tqi_submit(). */
static int make(struct tqi_tx *tx, uint32_t index, uint64_t *ret_id)
{
	const struct tqi_schedule *s = tqi_schedule_at(tx, index);
	const char *limits[TQ_LIMITS_MAX];
	const struct tq_task_spec spec = spec_of(tx, s, limits);
	struct tqi_submit submit = {
		.spec = &spec,
		.queue = s->queue,
		.kind = s->kind,
		.schedule = tqi_id_make(index, s->generation),
	};

	return tx->corrupt ? TQ_ECORRUPT : tqi_submit(tx, &submit, ret_id);
}

/* 1: another task has its key, and stands for this run. */
static void note_made(struct tqi_tx *tx, struct tqi_schedule *s, int r, uint64_t id)
{
	TQI_SET(tx, s->owed, s->owed - 1);
	if (s->last_error)
		TQI_SET(tx, s->last_error, 0);
	if (r > 0) {
		TQI_ADD(tx, s->skipped, 1);
		return;
	}
	TQI_SET(tx, s->last_run, id);
	TQI_SET(tx, s->last_run_ns, tx->now_ns);
	TQI_ADD(tx, s->runs, 1);
}

/* SC-4: what is owed waits for room, until the time returned; what is refused is skipped: 0. */
static uint64_t note_failed(struct tqi_tx *tx, struct tqi_schedule *s, int r)
{
	TQI_SET(tx, s->last_error, r);
	if (r == TQ_EFULL || r == -ENOMEM)
		return tx->now_ns + RETRY_NS;
	TQI_ADD(tx, s->skipped, s->owed);
	TQI_SET(tx, s->owed, 0u);
	return 0;
}

/* One that is owed and could be made is tried at once; else it waits for its next time. */
static void enter_again(struct tqi_tx *tx, uint32_t index, uint64_t retry_ns)
{
	struct tqi_schedule *s = tqi_schedule_at(tx, index);

	if (s->owed && !retry_ns && !is_running(tx, s))
		retry_ns = tx->now_ns;
	if (s->retry_ns != retry_ns)
		TQI_SET(tx, s->retry_ns, retry_ns);
	tqi_schedule_enter(tx, index);
	tqi_step(tx);
}

/* What has come is decided and committed: the run that follows may be undone. */
static void decide(struct tqi_tx *tx, uint32_t index)
{
	struct tqi_schedule *s = tqi_schedule_at(tx, index);

	tqi_schedule_leave(tx, index);
	uint32_t passed = tqi_schedule_advance(tx, index);

	if (passed)
		owe(tx, s, passed);
	enter_again(tx, index, 0);
}

static void make_owed(struct tqi_tx *tx, uint32_t index)
{
	struct tqi_schedule *s = tqi_schedule_at(tx, index);
	uint64_t id, retry_ns = 0;
	int r = make(tx, index, &id);

	if (tx->corrupt)
		return;
	if (r < 0) {
		tqi_tx_abort(tx);
		tqi_tx_begin(tx, tx->now_ns);
	}
	tqi_schedule_leave(tx, index);
	if (r < 0)
		retry_ns = note_failed(tx, s, r);
	else
		note_made(tx, s, r, id);
	enter_again(tx, index, retry_ns);
}

static uint32_t first_due(const struct tqi_tx *tx)
{
	const struct tqi_root *root = tqi_root(tx);

	return tqi_tag_index(tqi_schedule_next(root) <= tx->now_ns ? root->time.every.root.tag
								   : root->time.cron.root.tag);
}

void tqi_schedule_run(struct tqi_tx *tx)
{
	uint32_t index = first_due(tx);

	decide(tx, index);
	if (!tx->corrupt && tqi_schedule_at(tx, index)->retry_ns)
		make_owed(tx, index);
}
