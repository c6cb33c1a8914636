/* SPDX-License-Identifier: MIT */
/* Groups made, graphs published. */
#include "scheduler/task/group_make.h"

#include <errno.h>
#include <string.h>

#include "scheduler/graph/cycle.h"
#include "scheduler/graph/group_list.h"
#include "scheduler/worker/step.h"

#define RECORD_ROUNDS 8 /* looks for one that makes room, each committed alone */

static void set_label(struct tqi_group *g, const char *label)
{
	size_t bytes = label ? strnlen(label, TQ_LABEL_MAX) : 0;

	memset(g->label, 0, sizeof(g->label));
	if (bytes)
		memcpy(g->label, label, bytes);
}

/* A free record: plain stores (TX-3), but what is in a list is stored by that. */
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
	TQI_INIT(g->asleep_next, ((struct tqi_waiter_list){ 0, 0 }));
	TQI_INIT(g->asleep_last, ((struct tqi_waiter_list){ 0, 0 }));
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
	const struct tqi_group_ends *ended = &tqi_root(tx)->group.ended;

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

	tx->spares = TQI_SPARES_ALL; /* as its members will */
	uint32_t group = r == 0 ? tqi_table_take(tx, TQI_GROUPS, &full) : 0;

	tx->spares = TQI_SPARES_NOTHING;
	if (!group)
		return r < 0 ? r : full ? TQ_EFULL : -ENOMEM;
	struct tqi_group *g = tqi_group_at(tx, group);

	fill(tx, g, request);
	if (g->generation == 0)
		TQI_SET(tx, g->generation, 1u); /* the first life of a new record */
	TQI_SET(tx, g->state, request->building ? TQI_GROUP_BUILDING : TQI_GROUP_OPEN);
	if (request->owner)
		tqi_group_list(tx, group, &tqi_root(tx)->group.owned);
	link_completion(tx, group, *ret_completion);
	*ret_id = tqi_id_make(group, g->generation);
	return 0;
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
	tqi_group_seal_now(tx, group);
	return 0;
}
