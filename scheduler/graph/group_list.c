/* SPDX-License-Identifier: MIT */
/* Lists of groups, and the end of a record. */
#include "scheduler/graph/group_list.h"

#include "shm/list.h"

TQI_LINKS(links_of, tqi_group_at, tqi_group, prev, next)

static inline struct tqi_list list_of(struct tqi_group_ends *ends)
{
	return (struct tqi_list){ links_of, &ends->first, &ends->last };
}

void tqi_group_list(struct tqi_tx *tx, uint32_t group, struct tqi_group_ends *ends)
{
	tqi_list_append(tx, list_of(ends), group);
}

void tqi_group_unlist(struct tqi_tx *tx, uint32_t group, struct tqi_group_ends *ends)
{
	tqi_list_remove(tx, list_of(ends), group);
}

void tqi_group_enqueue(struct tqi_tx *tx, uint32_t group)
{
	struct tqi_root *root = tqi_root(tx);

	TQI_SET(tx, tqi_group_at(tx, group)->busy_next, 0u);
	if (root->group.busy)
		TQI_SET(tx, tqi_group_at(tx, root->group.busy_last)->busy_next, group);
	else
		TQI_SET(tx, root->group.busy, group);
	TQI_SET(tx, root->group.busy_last, group);
}

/* A later sort of work includes what an earlier one had still to do. */
void tqi_group_work(struct tqi_tx *tx, uint32_t group, uint32_t what)
{
	struct tqi_group *g = tqi_group_at(tx, group);

	if (!g->work)
		tqi_group_enqueue(tx, group);
	TQI_SET(tx, g->work, (uint8_t)what);
	TQI_SET(tx, g->walk, what == TQI_GROUP_RELEASING ? g->first : tqi_group_unfinished(tx, g));
}

void tqi_group_free(struct tqi_tx *tx, uint32_t group)
{
	struct tqi_group *g = tqi_group_at(tx, group);

	TQI_SET(tx, g->state, TQI_GROUP_FREE);
	TQI_ADD(tx, g->generation, 1);
	if (g->generation < TQI_GENERATION_MAX) /* else the slot is retired */
		tqi_table_give(tx, TQI_GROUPS, group);
}
