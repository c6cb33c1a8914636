/* SPDX-License-Identifier: MIT */
/* Schedules: their blocks, and that each is in the heap of its clock (SC-2). */
#include <string.h>

#include "scheduler/check/check_state.h"
#include "scheduler/time/schedule_heap.h"

static bool is_live(const struct tqi_schedule *s)
{
	return s->flags & TQI_SCHEDULE_LIVE;
}

static bool limits_are_sound(const struct tqi_schedule *s, const char *texts)
{
	uint32_t left = s->limit_bytes;

	for (uint32_t i = 0; i < s->limit_count; i++) {
		uint32_t bytes = (uint32_t)strnlen(texts, left);

		if (bytes == 0 || bytes > TQ_KEY_MAX || bytes == left)
			return false;
		texts += bytes + 1;
		left -= bytes + 1;
	}
	return left == 0;
}

/* Their names, the expression and the zone, of a block that may be read. */
static const char *contents_fault(struct tqi_check *c, const struct tqi_schedule *s)
{
	const struct tqi_schedule_parts p = tqi_schedule_parts(s);
	const unsigned char *block = tqi_unit(c->tx, s->block);
	const struct tqi_cron *cron = (const void *)(block + p.cron);
	const struct tqi_zone *zone = (const void *)(block + p.cron + sizeof(*cron));

	if (block[p.label + s->label_bytes] || block[p.key + s->key_bytes] ||
	    block[p.fair + s->fair_bytes] || block[p.cron_text + s->cron_bytes] ||
	    block[p.zone_name + s->zone_bytes])
		return "has texts without an end";
	if (!limits_are_sound(s, (const char *)block + p.limits))
		return "has no limit keys";
	if (s->every_ns)
		return NULL;
	return tqi_cron_is_sound(cron) && tqi_zone_is_sound(zone, s->zone_changes) ? NULL
										   : "has no times";
}

static bool is_readable(const struct tqi_check *c, uint32_t block, uint64_t bytes)
{
	uint64_t from = (uint64_t)block << TQI_UNIT_SHIFT, to = from + bytes;

	if (to > c->g->max_bytes)
		return false;
	for (uint64_t span = from >> TQI_SPAN_SHIFT; span <= (to - 1) >> TQI_SPAN_SHIFT; span++)
		if (!tqi_check_span_is_here(c, (uint32_t)span))
			return false;
	return true;
}

static bool weights_are_sound(const struct tqi_schedule *s)
{
	for (uint32_t i = 0; i < TQ_LIMITS_MAX; i++)
		if (i < s->limit_count ? !s->limit_weights[i] || s->limit_weights[i] > TQ_WEIGHT_MAX
				       : s->limit_weights[i])
			return false;
	return true;
}

const char *tqi_check_schedule_fault(struct tqi_check *c, const struct tqi_schedule *s)
{
	if (!tqi_check_record_in_use(c, TQI_QUEUES, s->queue) ||
	    !tqi_check_record_in_use(c, TQI_KINDS, s->kind))
		return "is of no queue or kind";
	if (s->generation == 0 || s->generation >= TQI_GENERATION_MAX)
		return "has no generation";
	if (s->overlap < TQ_OVERLAP_SKIP || s->overlap > TQ_OVERLAP_QUEUE || s->catch_up == 0 ||
	    s->catch_up > TQ_CATCH_UP_MAX || s->owed > s->catch_up || s->every_ns > INT64_MAX ||
	    s->next_ns > INT64_MAX || s->retry_ns > INT64_MAX || !weights_are_sound(s))
		return "makes no sense";
	if (s->payload_bytes > TQ_SCHEDULE_PAYLOAD_MAX || s->label_bytes > TQ_LABEL_MAX ||
	    s->key_bytes > TQ_KEY_MAX || s->fair_bytes > TQ_KEY_MAX ||
	    s->limit_count > TQ_LIMITS_MAX || s->limit_bytes > TQ_LIMITS_MAX * (TQ_KEY_MAX + 1) ||
	    s->zone_changes > TQI_ZONE_CHANGES_MAX)
		return "is too large";
	const uint64_t bytes = tqi_schedule_parts(s).bytes;
	const char *fault = is_readable(c, s->block, bytes) ? contents_fault(c, s) : "has no block";

	/* Last: a repair lets go of a schedule that has another fault, with its block. */
	if (!fault && !tqi_check_block(c, s->block, bytes, "schedule", 0, "block"))
		fault = "shares its block";
	return fault;
}

static bool expect_in_heap(struct tqi_check *c, uint32_t index, const struct tqi_check_heap *h,
			   struct tqi_heap_entry *entry)
{
	const struct tqi_schedule *s = tqi_schedule_at(c->tx, index);

	*entry = (struct tqi_heap_entry){ (int64_t)tqi_schedule_look_ns(s),
					  tqi_tag(s->sequence, index) };
	return is_live(s) && !(s->flags & TQI_SCHEDULE_PAUSED) &&
	       tqi_schedule_is_by_wall(s) == (h->owner != 0);
}

static void check_heap(struct tqi_check *c, const struct tqi_heap *heap, bool wall)
{
	tqi_check_heap(c,
		       &(struct tqi_check_heap){ heap, TQI_FAMILY_SCHEDULE, TQI_SCHEDULES,
						 TQI_SEEN_DUE, wall, "schedules", expect_in_heap });
	if (heap->capacity < tqi_root(c->tx)->time.schedules)
		tqi_check_fault(c, "root: no room for %u schedules",
				tqi_root(c->tx)->time.schedules);
}

void tqi_check_schedules(struct tqi_check *c)
{
	const struct tqi_root *root = tqi_root(c->tx);
	uint32_t live = 0, crons = 0;

	check_heap(c, &root->time.every, false);
	check_heap(c, &root->time.cron, true);
	for (uint32_t i = 1; i < c->count[TQI_SCHEDULES]; i++) {
		const struct tqi_schedule *s = tqi_check_record_in_use(c, TQI_SCHEDULES, i);
		const char *fault;

		if (!s || (!is_live(s) && s->generation >= TQI_GENERATION_MAX))
			continue;
		live++;
		crons += !s->every_ns;
		fault = is_live(s) ? tqi_check_schedule_fault(c, s) : "is free, but on no list";
		if (!fault && !(s->flags & TQI_SCHEDULE_PAUSED) &&
		    !(c->marks[TQI_SCHEDULES][i] & TQI_SEEN_DUE))
			fault = "is in no heap";
		if (!fault && s->sequence >= root->time.sequence)
			fault = "is still to come";
		if (fault) {
			tqi_check_fault(c, "schedule %u: %s", i, fault);
			continue;
		}
		c->queue_users[s->queue]++;
		c->kind_users[s->kind]++;
	}
	tqi_check_equal(c, "root", 0, "schedules", root->time.schedules, live);
	tqi_check_equal(c, "root", 0, "crons", root->time.crons, crons);
}
