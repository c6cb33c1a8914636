/* SPDX-License-Identifier: MIT */
/* Groups: found, sealed, cancelled, given up, retired; their owners, and who waits for them. */
#include "scheduler/graph/group.h"

#include <errno.h>

#include "scheduler/graph/edge.h"
#include "scheduler/graph/group_list.h"
#include "scheduler/record/task_record.h"
#include "scheduler/wake/wake.h"
#include "shm/lock.h"

#define CLOSE_LOOKS 64	  /* groups looked at in one hold as the segment shuts down ... */
#define CLOSE_CHANGES 8	  /* ... of which so many may be closed: journal space */
#define SUSPECTS_SLICE 64 /* owned groups looked at in one hold */
#define DETACH_SLICE 16	  /* members that a group leaves behind in one hold: journal space */
#define WAITED_SLICE 8	  /* old groups that somebody waits for are passed over */

static int find(struct tqi_tx *tx, uint64_t id, uint32_t *ret_index)
{
	uint32_t index = tqi_id_index(id);
	uint64_t generation = tqi_id_generation(id);

	if (index == 0 || index >= tx->core->tables[TQI_GROUPS].count)
		return -ENOENT;
	const struct tqi_group *g = tqi_group_at(tx, index);

	if (generation == 0 || generation > g->generation)
		return -ENOENT;
	if (generation < g->generation)
		return TQ_EGONE;
	*ret_index = index;
	return g->state == TQI_GROUP_FREE ? -ENOENT : 0;
}

int tqi_group_find(struct tqi_tx *tx, uint64_t id, uint32_t *ret_index)
{
	int r = find(tx, id, ret_index);

	return r == 0 && tqi_group_at(tx, *ret_index)->state == TQI_GROUP_BUILDING ? -ENOENT : r;
}

int tqi_group_find_open(struct tqi_tx *tx, uint64_t id, uint32_t *ret_index)
{
	int r = tqi_group_find(tx, id, ret_index);

	return r == 0 && tqi_group_at(tx, *ret_index)->state != TQI_GROUP_OPEN ? TQ_ESTATE : r;
}

/* Of one that is not complete: TQ_ESTATE. */
static int find_unfinished(struct tqi_tx *tx, uint64_t id, uint32_t *ret_index)
{
	int r = tqi_group_find(tx, id, ret_index);

	return r == 0 && tqi_group_at(tx, *ret_index)->state == TQI_GROUP_COMPLETE ? TQ_ESTATE : r;
}

int tqi_graph_find(struct tqi_tx *tx, uint64_t id, uint32_t *ret_index)
{
	int r = find(tx, id, ret_index);

	if (r < 0)
		return r;
	const struct tqi_group *g = tqi_group_at(tx, *ret_index);

	return g->state == TQI_GROUP_BUILDING && g->work == TQI_GROUP_IDLE ? 0 : TQ_EGONE;
}

/* It has an owner no longer: what it is to be is decided. */
static void disown(struct tqi_tx *tx, uint32_t group)
{
	struct tqi_group *g = tqi_group_at(tx, group);

	if (!g->owner.pid || (g->state != TQI_GROUP_BUILDING && g->state != TQI_GROUP_OPEN))
		return;
	if (tqi_root(tx)->group.cursor == group)
		TQI_SET(tx, tqi_root(tx)->group.cursor, g->next);
	tqi_group_unlist(tx, group, &tqi_root(tx)->group.owned);
}

void tqi_group_seal_now(struct tqi_tx *tx, uint32_t group)
{
	disown(tx, group);
	TQI_SET(tx, tqi_group_at(tx, group)->state, TQI_GROUP_SEALED);
	tqi_group_completes(tx, group);
}

int tqi_group_seal(struct tqi_tx *tx, uint64_t id)
{
	uint32_t group;
	int r = find_unfinished(tx, id, &group);

	if (r == 0 && tqi_group_at(tx, group)->state == TQI_GROUP_OPEN)
		tqi_group_seal_now(tx, group);
	return r;
}

static void cancel(struct tqi_tx *tx, uint32_t group)
{
	struct tqi_group *g = tqi_group_at(tx, group);

	if (!g->cancelled)
		TQI_SET(tx, g->cancelled, 1);
	tqi_group_work(tx, group, TQI_GROUP_CANCELLING);
	if (g->state == TQI_GROUP_OPEN)
		tqi_group_seal_now(tx, group);
}

int tqi_group_cancel(struct tqi_tx *tx, uint64_t id)
{
	uint32_t group;
	int r = find_unfinished(tx, id, &group);

	if (r == 0)
		cancel(tx, group);
	return r;
}

void tqi_group_close_all(struct tqi_tx *tx)
{
	uint32_t count = tx->core->tables[TQI_GROUPS].count;

	TQI_SET(tx, tqi_root(tx)->group.closing, count ? count - 1 : 0);
}

void tqi_group_close_none(struct tqi_tx *tx)
{
	if (tqi_root(tx)->group.closing)
		TQI_SET(tx, tqi_root(tx)->group.closing, 0u);
}

/* True when it was changed. */
static bool close_one(struct tqi_tx *tx, uint32_t group)
{
	const struct tqi_group *g = tqi_group_at(tx, group);
	bool open = g->state == TQI_GROUP_OPEN;

	if (!(tqi_root(tx)->flags & TQI_ROOT_CANCEL)) {
		if (open)
			tqi_group_seal_now(tx, group);
		return open;
	}
	if (g->cancelled || (!open && g->state != TQI_GROUP_SEALED))
		return false;
	cancel(tx, group);
	return true;
}

void tqi_group_close_slice(struct tqi_tx *tx)
{
	struct tqi_root *root = tqi_root(tx);
	uint32_t group = root->group.closing, changes = 0;

	for (uint32_t i = 0; i < CLOSE_LOOKS && group && changes < CLOSE_CHANGES && !tx->corrupt &&
			     !tqi_tx_is_filling(tx);
	     i++)
		changes += close_one(tx, group--);
	TQI_SET(tx, root->group.closing, group);
	if (!group)
		tqi_wake_empty(tx);
}

static void drop(struct tqi_tx *tx, uint32_t group)
{
	disown(tx, group);
	TQI_SET(tx, tqi_group_at(tx, group)->owner.pid, 0u);
	tqi_group_work(tx, group, TQI_GROUP_UNDOING);
}

int tqi_graph_drop(struct tqi_tx *tx, uint64_t id)
{
	uint32_t group;
	int r = tqi_graph_find(tx, id, &group);

	if (r == 0)
		drop(tx, group);
	return r;
}

/* Its members' records stay, of no group.  True when none is left. */
static bool detach_members(struct tqi_tx *tx, uint32_t group)
{
	const struct tqi_group *g = tqi_group_at(tx, group);

	for (uint32_t i = 0; i < DETACH_SLICE && g->first && !tx->corrupt; i++) {
		tqi_task_touch(tx, tqi_task_at(tx, g->first));
		tqi_member_leave(tx, g->first);
	}
	return !g->first;
}

static bool is_over(struct tqi_tx *tx, const struct tqi_group *g)
{
	return tx->now_ns - g->ended_ns >= tqi_root(tx)->retention_ns;
}

/* To the end, so that the next look sees those behind them. */
static void pass_over(struct tqi_tx *tx, uint32_t count)
{
	struct tqi_group_ends *ended = &tqi_root(tx)->group.ended;

	while (count-- && !tx->corrupt) {
		const uint32_t group = ended->first;

		tqi_group_unlist(tx, group, ended);
		tqi_group_list(tx, group, ended);
	}
}

/* The oldest complete one that nobody waits for, and whose time is over; 0 none. */
static uint32_t oldest(struct tqi_tx *tx, bool evict)
{
	uint32_t group = tqi_root(tx)->group.ended.first, i;

	for (i = 0; i < WAITED_SLICE && group && !tx->corrupt; i++) {
		const struct tqi_group *g = tqi_group_at(tx, group);

		if (!evict && !is_over(tx, g))
			return 0;
		if (!g->waiters)
			return group;
		group = g->next;
	}
	if (group)
		pass_over(tx, i);
	return 0;
}

uint32_t tqi_group_retire(struct tqi_tx *tx, uint32_t count, bool evict)
{
	uint32_t n = 0, group;

	while (n < count && !tx->corrupt && !tqi_tx_is_filling(tx) && (group = oldest(tx, evict))) {
		n++; /* also when only some members were left behind: it goes on later */
		if (!detach_members(tx, group))
			break;
		tqi_group_unlist(tx, group, &tqi_root(tx)->group.ended);
		tqi_group_free(tx, group);
	}
	return n;
}

/* Owners. */

static bool is_suspected(const struct tqi_group_suspect *suspects, uint32_t n,
			 const struct tqi_ident *owner)
{
	for (uint32_t i = 0; i < n; i++)
		if (suspects[i].owner.pid == owner->pid && suspects[i].owner.start == owner->start)
			return true;
	return false;
}

uint32_t tqi_group_suspects(struct tqi_tx *tx,
			    struct tqi_group_suspect suspects[TQI_GROUP_SUSPECTS])
{
	struct tqi_root *root = tqi_root(tx);
	uint32_t group = root->group.cursor ? root->group.cursor : root->group.owned.first;
	uint32_t n = 0;

	for (uint32_t i = 0; i < SUSPECTS_SLICE && group && n < TQI_GROUP_SUSPECTS && !tx->corrupt;
	     i++) {
		const struct tqi_group *g = tqi_group_at(tx, group);

		if (!is_suspected(suspects, n, &g->owner))
			suspects[n++] =
				(struct tqi_group_suspect){ group, g->generation, g->owner };
		group = g->next;
	}
	if (group != root->group.cursor)
		TQI_SET(tx, root->group.cursor, group);
	return n;
}

void tqi_group_orphaned(struct tqi_tx *tx, const struct tqi_group_suspect *suspect)
{
	const struct tqi_group *g = tqi_group_at(tx, suspect->group);

	if (g->generation != suspect->generation || g->owner.pid != suspect->owner.pid)
		return;
	if (g->state == TQI_GROUP_BUILDING)
		drop(tx, suspect->group);
	else if (g->state == TQI_GROUP_OPEN)
		cancel(tx, suspect->group);
}

/* Waiting. */

void tqi_group_waits(struct tqi_tx *tx, uint32_t group, uint32_t by)
{
	TQI_ADD(tx, tqi_group_at(tx, group)->waiters, by);
	TQI_ADD(tx, tqi_root(tx)->group.waiters, by);
}

int tqi_graph_depend(struct tqi_tx *tx, uint32_t member, uint32_t on, uint32_t kind)
{
	uint32_t e;
	int r = tqi_edge_depend(tx, member, on, kind, TQI_EDGE_OPEN, &e);

	if (r == 0)
		TQI_ADD(tx, tqi_task_extra(tx, tqi_task_at(tx, member))->unmet, 1);
	return r;
}
