/* SPDX-License-Identifier: MIT */
/* Schedules that make sense stay; the others are free.  Their heaps are made anew. */
#include "scheduler/rebuild/rebuild_state.h"
#include "scheduler/time/schedule_heap.h"

#define SEQUENCE_MAX (1ull << 38) /* heaps compare 40 bits of them */

/* Its id answers TQ_EGONE. */
static void lose(struct tqi_schedule *s)
{
	s->flags = 0;
	s->block = 0;
	s->generation += s->generation < TQI_GENERATION_MAX;
}

static void keep(struct tqi_check *c, uint32_t index, struct tqi_schedule *s)
{
	struct tqi_root *root = tqi_root(c->tx);

	s->flags &= TQI_SCHEDULE_LIVE | TQI_SCHEDULE_PAUSED;
	if (s->sequence >= SEQUENCE_MAX)
		s->sequence = 0;
	if (s->sequence >= root->time.sequence)
		root->time.sequence = s->sequence + 1;
	root->time.schedules++;
	root->time.crons += !s->every_ns;
	c->marks[TQI_SCHEDULES][index] |= TQI_SEEN_LINKED;
	tqi_rebuild_use(c, s->queue, s->kind);
}

void tqi_rebuild_schedules(struct tqi_check *c)
{
	struct tqi_root *root = tqi_root(c->tx);

	if (root->time.anew > c->count[TQI_SCHEDULES])
		root->time.anew = c->count[TQI_SCHEDULES];
	if (root->time.sequence > SEQUENCE_MAX)
		root->time.sequence = 0;
	for (uint32_t i = 1; i < c->count[TQI_SCHEDULES]; i++) {
		struct tqi_schedule *s = tqi_check_record(c, TQI_SCHEDULES, i);

		if (!s || !(s->flags & TQI_SCHEDULE_LIVE))
			continue;
		if (tqi_check_schedule_fault(c, s))
			lose(s);
		else
			keep(c, i, s);
	}
}

int tqi_rebuild_schedule_heaps(struct tqi_check *c)
{
	struct tqi_root *root = tqi_root(c->tx);
	int r = tqi_heap_reserve(c->tx, &root->time.every, root->time.schedules);

	if (r == 0)
		r = tqi_heap_reserve(c->tx, &root->time.cron, root->time.schedules);
	for (uint32_t i = 1; i < c->count[TQI_SCHEDULES] && r == 0; i++) {
		if (!(c->marks[TQI_SCHEDULES][i] & TQI_SEEN_LINKED) ||
		    (tqi_schedule_at(c->tx, i)->flags & TQI_SCHEDULE_PAUSED))
			continue;
		tqi_schedule_enter(c->tx, i);
	}
	return r;
}
