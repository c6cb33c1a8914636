/* SPDX-License-Identifier: MIT */
/* Times of schedules. */
#include "scheduler/time/schedule_heap.h"

#include <errno.h>

#include "scheduler/record/extra.h"
#include "shm/heap.h"

#define SECOND_NS 1000000000ull
#define HOUR_NS (3600 * SECOND_NS)
#define BACK_NS (3 * HOUR_NS) /* as other crons have it: less is mended without running twice */
#define SEEN_NS HOUR_NS	      /* so seldom the clock is noted */
#define ANEW_SLICE 8	      /* schedules in one hold: journal space */
#define CRON_S_MAX (INT64_MAX / (int64_t)SECOND_NS)

const struct tqi_cron *tqi_schedule_cron(struct tqi_tx *tx, const struct tqi_schedule *s,
					 const struct tqi_zone **ret_zone)
{
	const struct tqi_schedule_parts p = tqi_schedule_parts(s);
	const unsigned char *block = tqi_unit(tx, s->block);

	if (tx->corrupt || s->zone_changes > TQI_ZONE_CHANGES_MAX ||
	    tqi_offset(tx, block) + p.bytes > tx->seg->geometry.max_bytes) {
		tx->corrupt = true;
		return NULL;
	}
	*ret_zone = (const void *)(block + p.cron + sizeof(struct tqi_cron));
	if (!tqi_zone_is_sound(*ret_zone, s->zone_changes))
		tx->corrupt = true;
	return tx->corrupt ? NULL : (const void *)(block + p.cron);
}

/* INT64_MAX: there is none that the clock can say. */
static uint64_t next_by_cron(struct tqi_tx *tx, const struct tqi_schedule *s, uint64_t after_ns)
{
	const struct tqi_zone *zone;
	const struct tqi_cron *cron = tqi_schedule_cron(tx, s, &zone);
	int64_t next = cron ? tqi_cron_next(cron, zone, (int64_t)(after_ns / SECOND_NS))
			    : INT64_MAX;

	return next > CRON_S_MAX ? INT64_MAX : (uint64_t)next * SECOND_NS;
}

static uint64_t add(uint64_t ns, uint64_t more)
{
	return ns > INT64_MAX - more ? INT64_MAX : ns + more;
}

/* The grid that a pause has left behind goes on where it would be. */
static uint64_t first_of_grid(const struct tqi_tx *tx, const struct tqi_schedule *s)
{
	if (!s->next_ns)
		return add(tx->now_ns, s->every_ns);
	if (s->next_ns > tx->now_ns)
		return s->next_ns;
	return add(s->next_ns, ((tx->now_ns - s->next_ns) / s->every_ns + 1) * s->every_ns);
}

void tqi_schedule_begin(struct tqi_tx *tx, uint32_t index)
{
	struct tqi_schedule *s = tqi_schedule_at(tx, index);

	TQI_SET(tx, s->next_ns,
		s->every_ns ? first_of_grid(tx, s) : next_by_cron(tx, s, tx->wall_ns));
	tqi_schedule_enter(tx, index);
}

static uint32_t advance_grid(struct tqi_tx *tx, struct tqi_schedule *s)
{
	if (s->next_ns > tx->now_ns)
		return 0;
	uint64_t passed = (tx->now_ns - s->next_ns) / s->every_ns + 1;

	TQI_SET(tx, s->next_ns, add(s->next_ns, passed * s->every_ns));
	return passed > UINT32_MAX ? UINT32_MAX : (uint32_t)passed;
}

static uint32_t advance_cron(struct tqi_tx *tx, struct tqi_schedule *s)
{
	uint64_t next = s->next_ns;
	uint32_t passed = 0;

	while (next <= tx->wall_ns && passed <= s->catch_up && !tx->corrupt) {
		next = next_by_cron(tx, s, next);
		passed++;
	}
	if (next <= tx->wall_ns) /* the rest is skipped, however many */
		next = next_by_cron(tx, s, tx->wall_ns);
	if (passed)
		TQI_SET(tx, s->next_ns, next);
	return passed;
}

uint32_t tqi_schedule_advance(struct tqi_tx *tx, uint32_t index)
{
	struct tqi_schedule *s = tqi_schedule_at(tx, index);

	return s->every_ns ? advance_grid(tx, s) : advance_cron(tx, s);
}

void tqi_schedule_leave(struct tqi_tx *tx, uint32_t index)
{
	struct tqi_schedule *s = tqi_schedule_at(tx, index);
	struct tqi_root *root = tqi_root(tx);

	if (s->flags & TQI_SCHEDULE_PAUSED)
		return;
	tqi_heap_remove(tx, tqi_schedule_is_by_wall(s) ? &root->time.cron : &root->time.every,
			TQI_FAMILY_SCHEDULE, index);
}

uint64_t tqi_schedule_look_ns(const struct tqi_schedule *s)
{
	bool retry = s->retry_ns && (!s->every_ns || s->retry_ns < s->next_ns);

	return retry ? s->retry_ns : s->next_ns;
}

void tqi_schedule_enter(struct tqi_tx *tx, uint32_t index)
{
	const struct tqi_schedule *s = tqi_schedule_at(tx, index);
	struct tqi_root *root = tqi_root(tx);

	tqi_heap_push(tx, tqi_schedule_is_by_wall(s) ? &root->time.cron : &root->time.every,
		      TQI_FAMILY_SCHEDULE,
		      (struct tqi_heap_entry){ (int64_t)tqi_schedule_look_ns(s),
					       tqi_tag(s->sequence, index) });
}

static void begin_anew(struct tqi_tx *tx, uint32_t index)
{
	const struct tqi_schedule *s = tqi_schedule_at(tx, index);

	if (!(s->flags & TQI_SCHEDULE_LIVE) || (s->flags & TQI_SCHEDULE_PAUSED) || s->every_ns)
		return;
	tqi_schedule_leave(tx, index);
	tqi_schedule_begin(tx, index);
}

bool tqi_schedule_watch_clock(struct tqi_tx *tx)
{
	struct tqi_root *root = tqi_root(tx);
	uint32_t anew = root->time.anew;

	if (!tx->wall_ns)
		return false;
	if (tx->wall_ns + BACK_NS < root->time.wall_seen_ns)
		anew = tx->core->tables[TQI_SCHEDULES].count;
	else if (tx->wall_ns < root->time.wall_seen_ns + SEEN_NS && !anew)
		return false;
	TQI_SET(tx, root->time.wall_seen_ns, tx->wall_ns);
	for (uint32_t i = 0; i < ANEW_SLICE && anew > 0; i++)
		if (--anew)
			begin_anew(tx, anew);
	TQI_SET(tx, root->time.anew, anew);
	return true;
}

/* 0 none. */
static uint32_t first_without_memory(struct tqi_tx *tx)
{
	const struct tqi_heap *every = &tqi_root(tx)->time.every;
	uint32_t index = every->length ? tqi_tag_index(every->root.tag) : 0;

	const struct tqi_schedule *s = index ? tqi_schedule_at(tx, index) : NULL;

	return s && s->last_error == -ENOMEM && s->retry_ns > tx->now_ns ? index : 0;
}

bool tqi_schedule_wants_memory(struct tqi_tx *tx)
{
	return first_without_memory(tx) != 0;
}

static void try_now(struct tqi_tx *tx, uint32_t index)
{
	tqi_schedule_leave(tx, index);
	TQI_SET(tx, tqi_schedule_at(tx, index)->retry_ns, tx->now_ns);
	tqi_schedule_enter(tx, index);
}

void tqi_schedule_hurry(struct tqi_tx *tx)
{
	uint32_t index = first_without_memory(tx);

	if (index)
		try_now(tx, index);
}

void tqi_schedule_ended(struct tqi_tx *tx, uint32_t task)
{
	const struct tqi_task *t = tqi_task_at(tx, task);
	uint64_t schedule = tqi_task_extra(tx, t)->schedule;
	uint32_t index;

	if (!schedule || tqi_schedule_find(tx, schedule, &index) < 0)
		return;
	const struct tqi_schedule *s = tqi_schedule_at(tx, index);

	if (s->owed && !s->retry_ns && s->last_run == tqi_id_make(task, t->generation))
		try_now(tx, index);
}
