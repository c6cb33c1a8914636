/* SPDX-License-Identifier: MIT */
/* Making, pausing and removing schedules. */
#include "scheduler/time/schedule.h"

#include <errno.h>
#include <string.h>

#include "scheduler/order/queue.h"
#include "scheduler/record/name.h"
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

static uint32_t weight_of(const struct tq_task_spec *spec, uint32_t i)
{
	return i >= spec->limit_count ? 0 : spec->limit_weights ? spec->limit_weights[i] : 1;
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

static void fill_template(struct tqi_tx *tx, struct tqi_schedule *s,
			  const struct tq_task_spec *spec)
{
	TQI_SETS(tx, s, (payload_bytes, spec->payload_bytes),
		 (label_bytes, text_bytes(spec->label, TQ_LABEL_MAX)),
		 (key_bytes, text_bytes(spec->unique_key, TQ_KEY_MAX)),
		 (fair_bytes, text_bytes(spec->fair_key, TQ_KEY_MAX)),
		 (limit_count, spec->limit_count), (limit_bytes, limit_bytes(spec)));
	TQI_SETS(tx, s, (delay_ns, spec->delay_ns), (timeout_ns, spec->timeout_ns),
		 (timeout_total_ns, spec->timeout_total_ns),
		 (progress_timeout_ns, spec->progress_timeout_ns), (backoff_ns, spec->backoff_ns),
		 (backoff_cap_ns, spec->backoff_cap_ns), (deadline_ns, spec->deadline_ns));
	TQI_SETS(tx, s, (priority, spec->priority), (attempts_max, spec->attempts_max),
		 (crashes_max, spec->crashes_max), (losses_max, spec->losses_max),
		 (task_flags, spec->flags), (unique_scope, spec->unique_scope));
	for (uint32_t i = 0; i < TQ_LIMITS_MAX; i++)
		TQI_SET(tx, s->limit_weights[i], weight_of(spec, i));
}

/* Journalled, as the record may be that of the schedule that is replaced. */
static void fill(struct tqi_tx *tx, struct tqi_schedule *s, const struct tqi_schedule_request *r)
{
	TQI_SETS(tx, s, (sequence, tqi_root(tx)->time.sequence), (every_ns, r->every_ns),
		 (retry_ns, 0u), (overlap, r->overlap), (catch_up, r->catch_up), (owed, 0u),
		 (last_error, 0));
	TQI_SETS(tx, s, (cron_bytes, text_bytes(r->cron_text, TQI_CRON_MAX)),
		 (zone_bytes, text_bytes(r->zone_name, UINT8_MAX)),
		 (zone_changes, r->zone ? r->zone->count : 0));
	fill_template(tx, s, r->spec);
}

static int take_record(struct tqi_tx *tx, uint32_t *ret_index)
{
	struct tqi_root *root = tqi_root(tx);
	bool full;

	*ret_index = tqi_table_take(tx, TQI_SCHEDULES, &full);
	if (!*ret_index)
		return full ? TQ_EFULL : -ENOMEM;
	if (tqi_heap_reserve(tx, &root->time.every, root->time.schedules + 1) < 0 ||
	    tqi_heap_reserve(tx, &root->time.cron, root->time.schedules + 1) < 0)
		return -ENOMEM;
	return 0;
}

/* UN-1: what a schedule names is not given back. */
static void use_names(struct tqi_tx *tx, const struct tqi_schedule *s, int amount)
{
	TQI_ADD(tx, tqi_queue_at(tx, s->queue)->users, amount);
	TQI_ADD(tx, tqi_kind_at(tx, s->kind)->users, amount);
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
	TQI_SETS(tx, s, (queue, queue), (kind, kind));
	use_names(tx, s, 1);
	return 0;
}

/* A record that has never been in use, or not since: what a replacement keeps. */
static int begin_new(struct tqi_tx *tx, uint32_t index, const char *name)
{
	struct tqi_schedule *s = tqi_schedule_at(tx, index);

	if (s->generation == 0)
		TQI_SET(tx, s->generation, 1u);
	TQI_INIT(s->next_ns, 0);
	TQI_INIT(s->last_run, 0);
	TQI_INIT(s->made_ns, tx->now_ns);
	TQI_INIT(s->last_run_ns, 0);
	TQI_INIT(s->runs, 0);
	TQI_INIT(s->skipped, 0);
	s->name[0] = '\0';
	TQI_SET(tx, s->flags, TQI_SCHEDULE_LIVE);
	TQI_ADD(tx, tqi_root(tx)->time.schedules, 1);
	return name ? tqi_name_put(tx, TQI_SCHEDULES, index, name) : 0;
}

/* Its times and its block, as when it is removed; the grid may go on (SC-5). */
static void leave_times(struct tqi_tx *tx, uint32_t index, uint64_t every_ns)
{
	struct tqi_schedule *s = tqi_schedule_at(tx, index);

	tqi_schedule_leave(tx, index);
	use_names(tx, s, -1);
	tqi_block_give(tx, s->block);
	if (!s->every_ns)
		TQI_ADD(tx, tqi_root(tx)->time.crons, -1);
	if (s->every_ns != every_ns)
		TQI_SET(tx, s->next_ns, 0u);
}

/* What it makes, and when. */
static int set_contents(struct tqi_tx *tx, uint32_t index,
			const struct tqi_schedule_request *request)
{
	struct tqi_schedule *s = tqi_schedule_at(tx, index);
	int r = take_names(tx, s, request->spec);

	if (r < 0)
		return r;
	fill(tx, s, request);
	uint32_t block = tqi_block_take(tx, tqi_schedule_parts(s).bytes);

	if (!block)
		return -ENOMEM;
	TQI_SET(tx, s->block, block);
	fill_block(s, request, tqi_unit(tx, block));
	if (!s->every_ns)
		TQI_ADD(tx, tqi_root(tx)->time.crons, 1);
	TQI_ADD(tx, tqi_root(tx)->time.sequence, 1);
	return 0;
}

int tqi_schedule_make(struct tqi_tx *tx, const struct tqi_schedule_request *request,
		      uint64_t *ret_id)
{
	uint32_t index = 0;
	bool replaces;
	int r = 0;

	if (tqi_root(tx)->flags & (TQI_ROOT_SHUTDOWN | TQI_ROOT_DESTROYED))
		return TQ_ESHUTDOWN;
	if (request->name)
		index = tqi_name_find(tx, TQI_SCHEDULES, request->name);
	replaces = index != 0;
	if (replaces)
		leave_times(tx, index, request->every_ns);
	else
		r = take_record(tx, &index);
	if (r == 0 && !replaces)
		r = begin_new(tx, index, request->name);
	if (r == 0)
		r = set_contents(tx, index, request);
	if (r < 0)
		return r;
	const struct tqi_schedule *s = tqi_schedule_at(tx, index);

	if (!(s->flags & TQI_SCHEDULE_PAUSED))
		tqi_schedule_begin(tx, index);
	*ret_id = tqi_id_make(index, s->generation);
	return replaces;
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
	use_names(tx, s, -1);
	tqi_block_give(tx, s->block);
	if (s->name[0])
		tqi_name_leave(tx, TQI_SCHEDULES, index);
	TQI_SET(tx, s->block, 0u);
	TQI_SET(tx, s->flags, 0u);
	TQI_ADD(tx, s->generation, 1);
	TQI_ADD(tx, tqi_root(tx)->time.schedules, -1);
	if (!s->every_ns)
		TQI_ADD(tx, tqi_root(tx)->time.crons, -1);
	if (s->generation < TQI_GENERATION_MAX) /* else the slot is retired */
		tqi_table_give(tx, TQI_SCHEDULES, index);
	return 0;
}
