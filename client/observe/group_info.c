/* SPDX-License-Identifier: MIT */
/* Groups as observers see them: copied, without the lock. */
#include <errno.h>
#include <string.h>

#include "client/submit/group_api.h"
#include "client/observe/info.h"
#include "client/core/options.h"
#include "client/observe/page.h"
#include "client/observe/snapshot.h"

#define AGREE_TRIES 64	       /* looks at two members that others move meanwhile */
#define MEMBERS_END UINT64_MAX /* as a cursor: all have been seen */

void tqi_group_fill(const struct tqi_group *g, uint32_t index, struct tq_group_info *i)
{
	memset(i, 0, sizeof(*i));
	i->id = tqi_id_make(index, g->generation);
	i->created_ns = g->made_ns;
	i->ended_ns = g->ended_ns;
	i->completion = g->completion_id;
	i->culprit = g->culprit;
	i->state = g->state > TQI_GROUP_BUILDING ? g->state - TQI_GROUP_BUILDING : TQ_GROUP_OPEN;
	i->condition = g->condition;
	i->flags = (g->cancelled ? TQ_GROUP_INFO_CANCELLED : 0) |
		   (g->owner.pid ? 0 : TQ_GROUP_INFO_DETACHED);
	i->owner_pid = g->owner.pid;
	i->members = g->members;
	i->unfinished = g->unfinished;
	memcpy(i->states, g->states, sizeof(i->states));
	i->states[TQ_BLOCKED] += i->states[TQ_FREE]; /* about to be shown */
	i->states[TQ_FREE] = 0;
	memcpy(i->label, g->label, TQ_LABEL_MAX);
}

static bool is_seen(const struct tqi_group *g)
{
	return g->state != TQI_GROUP_FREE && g->state != TQI_GROUP_BUILDING;
}

static int peek(struct tq *tq, uint64_t id, struct tqi_group *g)
{
	uint32_t index = tqi_id_index(id), count;
	uint64_t generation = tqi_id_generation(id);

	tqi_peek_count(&tq->seg, TQI_GROUPS, &count);
	if (index == 0 || index >= count || generation == 0 ||
	    tqi_peek_record(&tq->seg, TQI_GROUPS, index, g) < 0 || generation > g->generation)
		return -ENOENT;
	if (generation < g->generation)
		return TQ_EGONE;
	return is_seen(g) ? 0 : -ENOENT;
}

int tq_group_info(struct tq *tq, uint64_t id, struct tq_group_info *ret_info)
{
	if (!tq)
		return -EINVAL;
	struct tq_group_info info;
	struct tqi_group g;
	uint64_t room;
	int r = tqi_snapshot_room(ret_info, &room);

	if (r == 0)
		r = peek(tq, id, &g);
	if (r < 0)
		return r;
	tqi_group_fill(&g, tqi_id_index(id), &info);
	tqi_snapshot_out(ret_info, room, &info, sizeof(info));
	return 0;
}

static bool fill_group(struct tq *tq, uint32_t index, const void *record, void *info)
{
	(void)tq;
	if (!is_seen(record))
		return false;
	tqi_group_fill(record, index, info);
	return true;
}

int tq_group_list(struct tq *tq, uint64_t *cursor, struct tq_group_info *infos, uint32_t count)
{
	static const struct tqi_page groups = { TQI_GROUPS, sizeof(*infos), fill_group };

	return tqi_page_read(tq, &groups, cursor, infos, count);
}

/* The id of a record that a chain names; MEMBERS_END none. */
static uint64_t id_of(struct tq *tq, uint32_t task)
{
	struct tqi_task t;

	return task && tqi_peek_record(&tq->seg, TQI_TASKS, task, &t) == 0
		       ? tqi_id_make(task, t.generation)
		       : MEMBERS_END;
}

/*
 * Whether the one that is said to be next says so too; of the first one, that none is before it.
 * A chain of which that holds at every step comes to an end: a member met twice would have two
 * before it.  Where others move members meanwhile, what does not agree is looked at once more.
 */
static bool agrees(struct tq *tq, uint32_t member, uint32_t next)
{
	struct tqi_extra extra;
	struct tqi_task t;

	return !next || (tqi_peek_record(&tq->seg, TQI_TASKS, next, &t) == 0 &&
			 tqi_peek_extra(&tq->seg, &t, &extra) && extra.group_prev == member);
}

/* What a chain that does not agree is: damaged, or a writer is half-way through moving members. */
static int disagreement(struct tq *tq)
{
	uint64_t version;

	return tqi_peek_version(&tq->seg, &version) == 0 && (version & 1) ? -EAGAIN : TQ_ECORRUPT;
}

/* 0 and where the chain begins, or a disagreement(). */
static int peek_first(struct tq *tq, uint64_t group, uint64_t *ret_id)
{
	struct tqi_group g;

	for (int i = 0; i < AGREE_TRIES; i++) {
		int r = peek(tq, group, &g);

		if (r < 0)
			return r;
		*ret_id = id_of(tq, g.first);
		if (agrees(tq, 0, g.first))
			return 0;
	}
	return disagreement(tq);
}

/* 0 and which one is next, or a disagreement(). */
static int peek_next(struct tq *tq, uint64_t id, uint32_t *ret_next)
{
	const uint32_t index = tqi_id_index(id);
	struct tqi_extra extra;
	struct tqi_task t;

	for (int i = 0; i < AGREE_TRIES; i++) {
		int r = tqi_peek_task(&tq->seg, id, &t);

		if (r < 0)
			return r;
		*ret_next = tqi_peek_extra(&tq->seg, &t, &extra) ? extra.group_next : 0;
		if (agrees(tq, index, *ret_next))
			return 0;
	}
	return disagreement(tq);
}

/* One member, and which one is next. */
static int peek_member(struct tq *tq, uint32_t group, uint64_t *cursor, struct tq_task_info *info)
{
	struct tqi_extra extra;
	struct tqi_task t;
	int r = tqi_peek_task(&tq->seg, *cursor, &t);

	if (r < 0)
		return r;
	if (!tqi_peek_extra(&tq->seg, &t, &extra) || extra.group != group)
		return TQ_EGONE; /* its group has left it behind */
	info->size = sizeof(*info);
	r = tq_task_info(tq, *cursor, info);
	uint32_t next = 0;

	if (r == 0)
		r = peek_next(tq, *cursor, &next);
	if (r == 0)
		*cursor = id_of(tq, next);
	return r;
}

int tq_group_members(struct tq *tq, uint64_t id, uint64_t *cursor, struct tq_task_info *infos,
		     uint32_t count)
{
	if (!tq || !cursor || (count && !infos))
		return -EINVAL;
	struct tqi_group g;
	uint64_t at = *cursor;
	uint32_t n = 0;
	int r;

	if (count && infos->size != sizeof(*infos))
		return -EINVAL;
	r = at ? peek(tq, id, &g) : peek_first(tq, id, &at);
	if (r < 0)
		return r;
	while (n < count && at != MEMBERS_END) {
		r = peek_member(tq, tqi_id_index(id), &at, &infos[n]);
		if (r < 0 && n == 0)
			return r == -ENOENT ? TQ_EGONE : r;
		if (r < 0)
			break;
		n++;
	}
	*cursor = at;
	return (int)n;
}
