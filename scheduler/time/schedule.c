/* SPDX-License-Identifier: MIT */
/* Making, pausing and removing schedules. */
#include "scheduler/time/schedule.h"

#include <errno.h>
#include <string.h>

#include "scheduler/order/queue.h"
#include "scheduler/time/schedule_heap.h"
#include "shm/pool.h"
#include "shm/table.h"

static uint8_t text_bytes(const char *text, size_t most)
{
	return (uint8_t)(text ? strnlen(text, most) : 0);
}

static void put_text(unsigned char *block, uint64_t at, const char *text, uint8_t bytes)
{
	if (bytes)
		memcpy(block + at, text, bytes);
	block[at + bytes] = '\0';
}

/* With a NUL behind each. */
static void put_limits(unsigned char *block, uint64_t at, const struct tq_task_spec *spec)
{
	for (uint32_t i = 0; i < spec->limit_count; i++) {
		uint8_t bytes = text_bytes(spec->limits[i], TQ_KEY_MAX);

		put_text(block, at, spec->limits[i], bytes);
		at += bytes + 1u;
	}
}

static uint32_t limit_bytes(const struct tq_task_spec *spec)
{
	uint32_t bytes = 0;

	for (uint32_t i = 0; i < spec->limit_count; i++)
		bytes += text_bytes(spec->limits[i], TQ_KEY_MAX) + 1u;
	return bytes;
}

/* A block that nothing committed refers to: plain stores (TX-3). */
static void fill_block(const struct tqi_schedule *s, const struct tqi_schedule_request *r,
		       unsigned char *block)
{
	const struct tqi_schedule_parts p = tqi_schedule_parts(s);

	if (s->payload_bytes)
		memcpy(block, r->spec->payload, s->payload_bytes);
	put_text(block, p.label, r->spec->label, s->label_bytes);
	put_text(block, p.key, r->spec->unique_key, s->key_bytes);
	put_text(block, p.fair, r->spec->fair_key, (uint8_t)s->fair_bytes);
	put_limits(block, p.limits, r->spec);
	put_text(block, p.cron_text, r->cron_text, s->cron_bytes);
	put_text(block, p.zone_name, r->zone_name, s->zone_bytes);
	if (s->every_ns)
		return;
	memcpy(block + p.cron, r->cron, sizeof(*r->cron));
	memcpy(block + p.cron + sizeof(*r->cron), r->zone, tqi_zone_bytes(s->zone_changes));
}

static void fill_template(struct tqi_schedule *s, const struct tq_task_spec *spec)
{
	TQI_INIT(s->payload_bytes, (uint32_t)spec->payload_bytes);
	TQI_INIT(s->label_bytes, text_bytes(spec->label, TQ_LABEL_MAX));
	TQI_INIT(s->key_bytes, text_bytes(spec->unique_key, TQ_KEY_MAX));
	TQI_INIT(s->fair_bytes, text_bytes(spec->fair_key, TQ_KEY_MAX));
	TQI_INIT(s->limit_count, spec->limit_count);
	TQI_INIT(s->limit_bytes, limit_bytes(spec));
	TQI_INIT(s->delay_ns, spec->delay_ns);
	TQI_INIT(s->timeout_ns, spec->timeout_ns);
	TQI_INIT(s->timeout_total_ns, spec->timeout_total_ns);
	TQI_INIT(s->progress_timeout_ns, spec->progress_timeout_ns);
	TQI_INIT(s->backoff_ns, spec->backoff_ns);
	TQI_INIT(s->backoff_cap_ns, spec->backoff_cap_ns);
	TQI_INIT(s->deadline_ns, spec->deadline_ns);
	TQI_INIT(s->priority, spec->priority);
	TQI_INIT(s->attempts_max, spec->attempts_max);
	TQI_INIT(s->crashes_max, spec->crashes_max);
	TQI_INIT(s->losses_max, spec->losses_max);
	TQI_INIT(s->task_flags, spec->flags);
	TQI_INIT(s->unique_scope, spec->unique_scope);
}

/* The record is free until its flags are set: plain stores (TX-3). */
static void fill(struct tqi_tx *tx, struct tqi_schedule *s, const struct tqi_schedule_request *r)
{
	if (s->generation == 0)
		TQI_SET(tx, s->generation, 1u);
	TQI_INIT(s->sequence, tqi_root(tx)->schedule_sequence);
	TQI_INIT(s->every_ns, r->every_ns);
	TQI_INIT(s->next_ns, 0);
	TQI_INIT(s->retry_ns, 0);
	TQI_INIT(s->last_run, 0);
	TQI_INIT(s->made_ns, tx->now_ns);
	TQI_INIT(s->last_run_ns, 0);
	TQI_INIT(s->runs, 0);
	TQI_INIT(s->skipped, 0);
	TQI_INIT(s->overlap, r->overlap);
	TQI_INIT(s->catch_up, r->catch_up);
	TQI_INIT(s->owed, 0);
	TQI_INIT(s->last_error, 0);
	TQI_INIT(s->cron_bytes, text_bytes(r->cron_text, TQI_CRON_MAX));
	TQI_INIT(s->zone_bytes, text_bytes(r->zone_name, UINT8_MAX));
	TQI_INIT(s->zone_changes, r->zone ? r->zone->count : 0);
	fill_template(s, r->spec);
}

static int take_record(struct tqi_tx *tx, uint32_t *ret_index)
{
	struct tqi_root *root = tqi_root(tx);
	bool full;

	*ret_index = tqi_table_take(tx, TQI_SCHEDULES, &full);
	if (!*ret_index)
		return full ? TQ_EFULL : -ENOMEM;
	if (tqi_heap_reserve(tx, &root->every, root->schedules + 1) < 0 ||
	    tqi_heap_reserve(tx, &root->cron, root->schedules + 1) < 0)
		return -ENOMEM;
	return 0;
}

/* Its queue and kind are made with it, as a task's would be. */
static int take_names(struct tqi_tx *tx, struct tqi_schedule *s, const struct tq_task_spec *spec)
{
	bool full;
	uint32_t queue = tqi_queue_make(tx, spec->queue, &full);

	if (!queue)
		return full ? TQ_EQUEUES : -ENOMEM;
	uint32_t kind = tqi_kind_make(tx, spec->kind, &full);

	if (!kind)
		return full ? TQ_EKINDS : -ENOMEM;
	TQI_INIT(s->queue, queue);
	TQI_INIT(s->kind, kind);
	return 0;
}

int tqi_schedule_make(struct tqi_tx *tx, const struct tqi_schedule_request *request,
		      uint64_t *ret_id)
{
	struct tqi_root *root = tqi_root(tx);
	uint32_t index;

	if (root->flags & (TQI_ROOT_SHUTDOWN | TQI_ROOT_DESTROYED))
		return TQ_ESHUTDOWN;
	int r = take_record(tx, &index);

	if (r < 0)
		return r;
	struct tqi_schedule *s = tqi_schedule_at(tx, index);

	r = take_names(tx, s, request->spec);
	if (r < 0)
		return r;
	fill(tx, s, request);
	uint32_t block = tqi_block_take(tx, tqi_schedule_parts(s).bytes);

	if (!block)
		return -ENOMEM;
	TQI_INIT(s->block, block);
	fill_block(s, request, tqi_unit(tx, block));
	TQI_SET(tx, s->flags, TQI_SCHEDULE_LIVE);
	TQI_ADD(tx, root->schedules, 1);
	if (!s->every_ns)
		TQI_ADD(tx, root->crons, 1);
	TQI_ADD(tx, root->schedule_sequence, 1);
	tqi_schedule_begin(tx, index);
	*ret_id = tqi_id_make(index, s->generation);
	return 0;
}

int tqi_schedule_pause(struct tqi_tx *tx, uint64_t id, bool pause)
{
	uint32_t index;
	int r = tqi_schedule_find(tx, id, &index);

	if (r < 0)
		return r;
	struct tqi_schedule *s = tqi_schedule_at(tx, index);

	if (pause == !!(s->flags & TQI_SCHEDULE_PAUSED))
		return 0;
	if (!pause) {
		TQI_SET(tx, s->flags, s->flags & ~TQI_SCHEDULE_PAUSED);
		tqi_schedule_begin(tx, index); /* what passed meanwhile was not wanted */
		return 0;
	}
	tqi_schedule_leave(tx, index);
	TQI_SET(tx, s->owed, 0u);
	TQI_SET(tx, s->retry_ns, 0u);
	TQI_SET(tx, s->flags, s->flags | TQI_SCHEDULE_PAUSED);
	return 0;
}

int tqi_schedule_remove(struct tqi_tx *tx, uint64_t id)
{
	uint32_t index;
	int r = tqi_schedule_find(tx, id, &index);

	if (r < 0)
		return r;
	struct tqi_schedule *s = tqi_schedule_at(tx, index);

	tqi_schedule_leave(tx, index);
	tqi_block_give(tx, s->block);
	TQI_SET(tx, s->block, 0u);
	TQI_SET(tx, s->flags, 0u);
	TQI_ADD(tx, s->generation, 1);
	TQI_ADD(tx, tqi_root(tx)->schedules, -1);
	if (!s->every_ns)
		TQI_ADD(tx, tqi_root(tx)->crons, -1);
	if (s->generation < TQI_GENERATION_MAX) /* else the slot is retired */
		tqi_table_give(tx, TQI_SCHEDULES, index);
	return 0;
}
