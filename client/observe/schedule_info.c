/* SPDX-License-Identifier: MIT */
/* Snapshots of schedules. */
#include <errno.h>
#include <string.h>

#include "client/core/options.h"
#include "client/observe/snapshot.h"
#include "scheduler/time/schedule.h"

#define TRIES 64

static bool is_live(const struct tqi_schedule *s)
{
	return s->flags & TQI_SCHEDULE_LIVE;
}

/* A schedule, and of when that is. */
struct copy {
	const struct tqi_segment *seg;
	struct tqi_schedule schedule;
	struct tqi_moment moment;
};

/* 0, TQ_EGONE, -ENOENT. */
static int peek(const struct tqi_segment *seg, uint64_t id, struct copy *ret)
{
	const struct tqi_schedule *s = &ret->schedule;
	uint64_t generation = tqi_id_generation(id);

	ret->seg = seg;
	if (generation == 0 || tqi_peek_record_at(seg, TQI_SCHEDULES, tqi_id_index(id),
						  &ret->schedule, &ret->moment) < 0)
		return -ENOENT;
	if (generation < s->generation)
		return TQ_EGONE;
	return generation == s->generation && is_live(s) ? 0 : -ENOENT;
}

static int peek_block(const struct copy *copy, uint64_t at, void *buf, uint64_t bytes)
{
	return tqi_peek_block_at(copy->seg, &copy->moment, copy->schedule.block, at, buf, bytes);
}

/* A block is written once, for one sequence of its schedule. */
static bool is_same(uint64_t id, const struct copy *copy)
{
	struct copy now;

	return peek(copy->seg, id, &now) == 0 && now.schedule.block == copy->schedule.block &&
	       now.schedule.sequence == copy->schedule.sequence &&
	       tqi_moment_holds(copy->seg, &copy->moment, &now.moment);
}

static void fill_numbers(const struct tqi_schedule *s, struct tq_schedule_info *i)
{
	i->flags = s->flags & TQI_SCHEDULE_PAUSED;
	i->overlap = s->overlap;
	i->every_ns = s->every_ns;
	i->next_ns = s->next_ns;
	i->made_ns = s->made_ns;
	i->last_run_ns = s->last_run_ns;
	i->retry_ns = s->last_error ? s->retry_ns : 0;
	i->last_run = s->last_run;
	i->runs = s->runs;
	i->skipped = s->skipped;
	i->payload_bytes = s->payload_bytes;
	i->catch_up = s->catch_up;
	i->owed = s->owed;
	i->last_error = s->last_error;
	i->priority = s->priority;
	i->attempts_max = s->attempts_max;
	i->crashes_max = s->crashes_max;
	i->losses_max = s->losses_max;
	i->task_flags = s->task_flags;
	i->delay_ns = s->delay_ns;
	i->timeout_ns = s->timeout_ns;
	i->timeout_total_ns = s->timeout_total_ns;
	i->progress_timeout_ns = s->progress_timeout_ns;
	i->backoff_ns = s->backoff_ns;
	i->backoff_cap_ns = s->backoff_cap_ns;
	i->deadline_ns = s->deadline_ns;
	i->unique_scope = s->unique_scope;
}

static void copy_text(const struct copy *copy, uint64_t at, uint32_t bytes, char *to, uint32_t room)
{
	if (bytes >= room || peek_block(copy, at, to, bytes) < 0)
		bytes = 0;
	to[bytes] = '\0';
}

/* One behind the other, each with a NUL. */
static void fill_limits(const struct copy *copy, uint64_t at, struct tq_schedule_info *i)
{
	const struct tqi_schedule *s = &copy->schedule;
	char texts[TQ_LIMITS_MAX * (TQ_KEY_MAX + 1)], *text = texts;
	uint32_t left = s->limit_bytes;

	if (left > sizeof(texts) || peek_block(copy, at, texts, left) < 0)
		return;
	while (i->limit_count < s->limit_count && i->limit_count < TQ_LIMITS_MAX) {
		size_t bytes = strnlen(text, left);

		if (bytes == left || bytes > TQ_KEY_MAX)
			return; /* torn: it is read again */
		i->limit_weights[i->limit_count] = s->limit_weights[i->limit_count];
		memcpy(i->limits[i->limit_count++], text, bytes);
		text += bytes + 1;
		left -= (uint32_t)bytes + 1;
	}
}

static void fill_texts(const struct copy *copy, struct tq_schedule_info *i)
{
	const struct tqi_schedule *s = &copy->schedule;
	const struct tqi_schedule_parts p = tqi_schedule_parts(s);

	memcpy(i->name, s->name, sizeof(i->name) - 1);
	tqi_peek_queue_name(copy->seg, s->queue, i->queue);
	tqi_peek_kind_name(copy->seg, s->kind, i->kind);
	copy_text(copy, p.label, s->label_bytes, i->label, sizeof(i->label));
	copy_text(copy, p.key, s->key_bytes, i->unique_key, sizeof(i->unique_key));
	copy_text(copy, p.fair, s->fair_bytes, i->fair_key, sizeof(i->fair_key));
	fill_limits(copy, p.limits, i);
	copy_text(copy, p.cron_text, s->cron_bytes, i->cron, sizeof(i->cron));
	copy_text(copy, p.zone_name, s->zone_bytes, i->zone, sizeof(i->zone));
}

static int fill(const struct tqi_segment *seg, uint64_t id, struct tq_schedule_info *i)
{
	int r = 0;

	for (int n = 0; n < TRIES && r == 0; n++) {
		struct copy copy;

		r = peek(seg, id, &copy);
		if (r < 0)
			break;
		memset(i, 0, sizeof(*i));
		i->id = id;
		fill_numbers(&copy.schedule, i);
		fill_texts(&copy, i);
		if (is_same(id, &copy))
			break;
	}
	return r;
}

int tq_schedule_info(struct tq *tq, uint64_t id, struct tq_schedule_info *ret_info)
{
	if (!tq)
		return -EINVAL;
	struct tq_schedule_info i;
	uint64_t room;
	int r = tqi_snapshot_room(ret_info, &room);

	if (r == 0)
		r = fill(&tq->seg, id, &i);
	if (r == 0)
		tqi_snapshot_out(ret_info, room, &i, sizeof(i));
	return r;
}

/* The id of the one in a slot; 0 none. */
static uint64_t id_at(const struct tqi_segment *seg, uint32_t index)
{
	struct tqi_schedule s;

	if (tqi_peek_record(seg, TQI_SCHEDULES, index, &s) < 0 || !is_live(&s))
		return 0;
	return tqi_id_make(index, s.generation);
}

int tq_schedule_find(struct tq *tq, const char *name, uint64_t *ret_id)
{
	if (!tq || !name || !ret_id)
		return -EINVAL;
	uint32_t end;
	int r = tqi_peek_count(&tq->seg, TQI_SCHEDULES, &end);

	for (uint32_t index = 1; r >= 0 && *name && index < end; index++) {
		struct tqi_schedule s;

		if (tqi_peek_record(&tq->seg, TQI_SCHEDULES, index, &s) < 0 || !is_live(&s) ||
		    strncmp(s.name, name, sizeof(s.name)) != 0)
			continue;
		*ret_id = tqi_id_make(index, s.generation);
		return 0;
	}
	return r < 0 ? r : -ENOENT;
}

int tq_schedule_list(struct tq *tq, uint64_t *cursor, struct tq_schedule_info *infos,
		     uint32_t count)
{
	if (!tq || !cursor || (count && !infos))
		return -EINVAL;
	uint32_t end, n = 0;
	int r = tqi_peek_count(&tq->seg, TQI_SCHEDULES, &end);

	if (r < 0)
		return r;
	if (count && infos->size != sizeof(*infos))
		return -EINVAL; /* an array has one stride */
	if (*cursor == 0)
		*cursor = 1;
	for (; n < count && *cursor < end; (*cursor)++) {
		uint64_t id = id_at(&tq->seg, (uint32_t)*cursor);
		struct tq_schedule_info i;

		if (id && fill(&tq->seg, id, &i) == 0)
			tqi_snapshot_out(&infos[n++], sizeof(i), &i, sizeof(i));
	}
	return (int)n;
}

int tq_schedule_payload(struct tq *tq, uint64_t id, void *buf, uint64_t room, uint64_t *ret_bytes)
{
	if (!tq || (room && !buf))
		return -EINVAL;
	for (int n = 0; n < TRIES; n++) {
		struct copy copy;
		int r = peek(&tq->seg, id, &copy);

		if (r < 0)
			return r;
		const uint64_t all = copy.schedule.payload_bytes;
		uint64_t bytes = all < room ? all : room;

		if (bytes)
			r = peek_block(&copy, 0, buf, bytes);
		if (r < 0 || !is_same(id, &copy))
			continue;
		if (ret_bytes)
			*ret_bytes = all;
		return 0;
	}
	return -EAGAIN;
}
