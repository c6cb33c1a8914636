/* SPDX-License-Identifier: MIT */
/* Groups: made, sealed, cancelled, published, freed; their owners, and who waits for them. */
#include "scheduler/graph/group.h"

#include <errno.h>
#include <string.h>

#include "scheduler/graph/cycle.h"
#include "scheduler/graph/group_list.h"
#include "scheduler/worker/step.h"
#include "scheduler/worker/sleep.h"
#include "scheduler/record/task_record.h"
#include "scheduler/worker/wake.h"
#include "shm/lock.h"

#define CLOSE_LOOKS 64	  /* groups looked at in one hold as the segment shuts down ... */
#define CLOSE_CHANGES 8	  /* ... of which so many may be closed: journal space */
#define SUSPECTS_SLICE 64 /* owned groups looked at in one hold */
#define DETACH_SLICE 16	  /* members that a group leaves behind in one hold: journal space */
#define WAITED_SLICE 8	  /* old groups that somebody waits for are passed over */
#define RECORD_ROUNDS 8	  /* looks for one that makes room, each committed alone */

static void set_label(struct tqi_group *g, const char *label)
{
	size_t bytes = label ? strnlen(label, TQ_LABEL_MAX) : 0;

	memset(g->label, 0, sizeof(g->label));
	if (bytes)
		memcpy(g->label, label, bytes);
}

/* A free record: plain stores (T3), but what is in a list is stored by that. */
static void fill(struct tqi_tx *tx, struct tqi_group *g, const struct tqi_group_request *request)
{
	static const struct tqi_ident nobody;

	TQI_INIT(g->owner, request->owner ? *request->owner : nobody);
	TQI_INIT(g->condition, (uint8_t)(request->condition ? request->condition : TQ_GROUP_ANY));
	TQI_INIT(g->cancelled, 0);
	TQI_INIT(g->work, TQI_GROUP_IDLE);
	TQI_INIT(g->made_ns, tx->now_ns);
	TQI_INIT(g->ended_ns, 0);
	TQI_INIT(g->sequence, 0);
	TQI_INIT(g->completion_id, 0);
	TQI_INIT(g->culprit, 0);
	TQI_INIT(g->completion, 0);
	TQI_INIT(g->members, 0);
	TQI_INIT(g->unfinished, 0);
	TQI_INIT(g->ends, 0);
	memset(g->states, 0, sizeof(g->states));
	TQI_INIT(g->first, 0);
	TQI_INIT(g->last, 0);
	TQI_INIT(g->ended_last, 0);
	TQI_INIT(g->walk, 0);
	TQI_INIT(g->busy_next, 0);
	TQI_INIT(g->waiters, 0);
	set_label(g, request->label);
}

/*
 * The completion task, BLOCKED by what it will be the end of.  To submit may commit what
 * was done before (make_record_room()): it comes first.
 */
static int submit_completion(struct tqi_tx *tx, struct tqi_submit *s, uint64_t *ret_id)
{
	*ret_id = 0;
	if (!s)
		return 0;
	s->unmet = 1;
	int r = tqi_submit(tx, s, ret_id);

	return r > 0 ? -EEXIST : r; /* its unique key is another task's */
}

/* One that a dependency has cancelled at once waits for nothing. */
static void link_completion(struct tqi_tx *tx, uint32_t group, uint64_t id)
{
	struct tqi_group *g = tqi_group_at(tx, group);
	uint32_t task = tqi_id_index(id);

	if (!id)
		return;
	TQI_SET(tx, g->completion_id, id);
	if (tqi_state_is_final(tqi_task_at(tx, task)->state))
		return;
	TQI_SET(tx, g->completion, task);
	TQI_SET(tx, tqi_task_extra(tx, tqi_task_at(tx, task))->completes, group);
}

/*
 * When all records are taken, the oldest complete group makes room.  Who is passed over
 * stays so when there is none: the next try looks at others.
 */
static void make_record_room(struct tqi_tx *tx)
{
	const struct tqi_table *groups = &tx->core->tables[TQI_GROUPS];
	const struct tqi_group_ends *ended = &tqi_root(tx)->groups_ended;

	if (groups->count < tx->seg->geometry.tables[TQI_GROUPS].max)
		return;
	for (uint32_t i = 0; i < RECORD_ROUNDS && !groups->free && !tx->corrupt; i++) {
		const uint32_t first = ended->first;

		if (!tqi_group_retire(tx, 1, true) && ended->first == first)
			return;
		tqi_step(tx);
	}
}

int tqi_group_make(struct tqi_tx *tx, const struct tqi_group_request *request, uint64_t *ret_id,
		   uint64_t *ret_completion)
{
	bool full;

	if (tqi_root(tx)->flags & (TQI_ROOT_SHUTDOWN | TQI_ROOT_DESTROYED))
		return TQ_ESHUTDOWN;
	make_record_room(tx);
	int r = submit_completion(tx, request->completion, ret_completion);
	uint32_t group = r == 0 ? tqi_table_take(tx, TQI_GROUPS, &full) : 0;

	if (!group)
		return r < 0 ? r : full ? TQ_EFULL : -ENOMEM;
	struct tqi_group *g = tqi_group_at(tx, group);

	fill(tx, g, request);
	if (g->generation == 0)
		TQI_SET(tx, g->generation, 1u); /* the first life of a new record */
	TQI_SET(tx, g->state, request->building ? TQI_GROUP_BUILDING : TQI_GROUP_OPEN);
	if (request->owner)
		tqi_group_list(tx, group, &tqi_root(tx)->groups_owned);
	link_completion(tx, group, *ret_completion);
	*ret_id = tqi_id_make(group, g->generation);
	return 0;
}

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
	if (tqi_root(tx)->groups_cursor == group)
		TQI_SET(tx, tqi_root(tx)->groups_cursor, g->next);
	tqi_group_unlist(tx, group, &tqi_root(tx)->groups_owned);
}

static void seal(struct tqi_tx *tx, uint32_t group)
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
		seal(tx, group);
	return r;
}

static void cancel(struct tqi_tx *tx, uint32_t group)
{
	struct tqi_group *g = tqi_group_at(tx, group);

	if (!g->cancelled)
		TQI_SET(tx, g->cancelled, 1);
	tqi_group_work(tx, group, TQI_GROUP_CANCELLING);
	if (g->state == TQI_GROUP_OPEN)
		seal(tx, group);
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

	TQI_SET(tx, tqi_root(tx)->groups_closing, count ? count - 1 : 0);
}

void tqi_group_close_none(struct tqi_tx *tx)
{
	if (tqi_root(tx)->groups_closing)
		TQI_SET(tx, tqi_root(tx)->groups_closing, 0u);
}

/* True when it was changed. */
static bool close_one(struct tqi_tx *tx, uint32_t group)
{
	const struct tqi_group *g = tqi_group_at(tx, group);
	bool open = g->state == TQI_GROUP_OPEN;

	if (!(tqi_root(tx)->flags & TQI_ROOT_CANCEL)) {
		if (open)
			seal(tx, group);
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
	uint32_t group = root->groups_closing, changes = 0;

	for (uint32_t i = 0; i < CLOSE_LOOKS && group && changes < CLOSE_CHANGES && !tx->corrupt &&
			     !tqi_tx_is_filling(tx);
	     i++)
		changes += close_one(tx, group--);
	TQI_SET(tx, root->groups_closing, group);
	if (!group)
		tqi_wake_empty(tx);
}

int tqi_graph_publish(struct tqi_tx *tx, uint64_t id, struct tqi_submit *completion,
		      uint64_t *ret_completion)
{
	struct tqi_root *root = tqi_root(tx);
	uint32_t group;
	int r = tqi_graph_find(tx, id, &group);

	if (r == 0 && (root->flags & (TQI_ROOT_SHUTDOWN | TQI_ROOT_DESTROYED)))
		r = TQ_ESHUTDOWN;
	if (r == 0)
		r = submit_completion(tx, completion, ret_completion);
	if (r < 0)
		return r;
	struct tqi_group *g = tqi_group_at(tx, group);

	link_completion(tx, group, *ret_completion);
	if (g->completion && completion->group && tqi_cycle_blocks(tx, g->completion))
		return TQ_ECYCLE;
	TQI_SET(tx, g->sequence, root->sequence); /* a purge from now on is of its members, too */
	TQI_ADD(tx, root->sequence, 1);
	tqi_group_work(tx, group, TQI_GROUP_OPENING);
	seal(tx, group);
	return 0;
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

void tqi_group_free(struct tqi_tx *tx, uint32_t group)
{
	struct tqi_group *g = tqi_group_at(tx, group);

	TQI_SET(tx, g->state, TQI_GROUP_FREE);
	TQI_ADD(tx, g->generation, 1);
	if (g->generation < TQI_GENERATION_MAX) /* else the slot is retired */
		tqi_table_give(tx, TQI_GROUPS, group);
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
	struct tqi_group_ends *ended = &tqi_root(tx)->groups_ended;

	while (count-- && !tx->corrupt) {
		const uint32_t group = ended->first;

		tqi_group_unlist(tx, group, ended);
		tqi_group_list(tx, group, ended);
	}
}

/* The oldest complete one that nobody waits for, and whose time is over; 0 none. */
static uint32_t oldest(struct tqi_tx *tx, bool evict)
{
	uint32_t group = tqi_root(tx)->groups_ended.first, i;

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
		tqi_group_unlist(tx, group, &tqi_root(tx)->groups_ended);
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
	uint32_t group = root->groups_cursor ? root->groups_cursor : root->groups_owned.first;
	uint32_t n = 0;

	for (uint32_t i = 0; i < SUSPECTS_SLICE && group && n < TQI_GROUP_SUSPECTS && !tx->corrupt;
	     i++) {
		const struct tqi_group *g = tqi_group_at(tx, group);

		if (!is_suspected(suspects, n, &g->owner))
			suspects[n++] =
				(struct tqi_group_suspect){ group, g->generation, g->owner };
		group = g->next;
	}
	if (group != root->groups_cursor)
		TQI_SET(tx, root->groups_cursor, group);
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
	TQI_ADD(tx, tqi_root(tx)->group_waiters, by);
}

/* A slot notes how many ends its owner has seen, or TQI_GROUP_LAST. */
static bool is_called(struct tqi_tx *tx, struct tqi_waiter *s)
{
	if (s->interest != TQI_INTEREST_GROUP || tqi_mutex_owner_died(&s->mutex))
		return false;
	const struct tqi_group *g = tqi_group_at(tx, s->subject);

	return g->state == TQI_GROUP_COMPLETE || g->ends > s->told;
}

bool tqi_group_wake(struct tqi_tx *tx, uint32_t count)
{
	return tqi_sleep_pop(tx, count, is_called);
}
