/* SPDX-License-Identifier: MIT */
/* What the parts of a rebuild share.  They resolve and mark as a check does. */
#ifndef TQI_SCHEDULER_REBUILD_REBUILD_STATE_H
#define TQI_SCHEDULER_REBUILD_REBUILD_STATE_H

#include "scheduler/check/check_state.h"
#include "scheduler/rebuild/rebuild.h"

/* Keep a block if it is one, and nobody's yet; else forget it.  True when kept. */
bool tqi_rebuild_block(struct tqi_check *c, uint32_t *block, uint64_t bytes);

/* What is made up for a record that lost its name. */
struct tqi_rebuild_lost {
	const char *prefix;
	char *name; /* of TQ_NAME_MAX + 1 bytes at least */
	uint8_t *bytes; /* NULL: a NUL ends it */
	bool lost;	/* its name is none */
};

/* A record that stays is of this queue and kind (0 none): they stay, though a name was lost. */
static inline void tqi_rebuild_of(struct tqi_check *c, uint32_t queue, uint32_t kind)
{
	c->marks[TQI_QUEUES][queue] |= TQI_SEEN_LINKED;
	c->marks[TQI_KINDS][kind] |= TQI_SEEN_LINKED;
}
/* The same of one that names them and may not have a task there (UN-1). */
static inline void tqi_rebuild_use(struct tqi_check *c, uint32_t queue, uint32_t kind)
{
	tqi_rebuild_of(c, queue, kind);
	if (queue)
		tqi_queue_at(c->tx, queue)->users++;
	if (kind)
		tqi_kind_at(c->tx, kind)->users++;
}

/* The duties, in their order. */
void tqi_rebuild_directories(struct tqi_check *c);
/* All that is derived becomes 0 (scheduler/record/fields.h); of an extra, once its block is whole. */
void tqi_rebuild_forget(struct tqi_check *c);
void tqi_rebuild_forget_extra(struct tqi_extra *extra);
/* Queues with a policy that can be. */
void tqi_rebuild_queues(struct tqi_check *c);
void tqi_rebuild_workers(struct tqi_check *c);
void tqi_rebuild_tasks(struct tqi_check *c);
/* A task's key is its own, or forgotten. */
void tqi_rebuild_task_key(struct tqi_check *c, uint32_t index, struct tqi_task *task);
/* A task's limits are there, and it counts. */
void tqi_rebuild_limits_begin(struct tqi_check *c);
void tqi_rebuild_task_limits(struct tqi_check *c, const struct tqi_task *task);
/* The same for its tenant. */
void tqi_rebuild_fair_begin(struct tqi_check *c);
void tqi_rebuild_task_tenant(struct tqi_check *c, const struct tqi_task *task);
/* Servers are there, and an attempt of a task in that queue counts; into their pools. */
void tqi_rebuild_servers_begin(struct tqi_check *c);
void tqi_rebuild_attempt_server(struct tqi_check *c, struct tqi_attempt *attempt, uint32_t queue);
int tqi_rebuild_servers(struct tqi_check *c);
/* Tenants into their index. */
int tqi_rebuild_fair(struct tqi_check *c);
/* Streams keep the histograms that are theirs; then each task has a stream, and counts there. */
void tqi_rebuild_streams_begin(struct tqi_check *c);
int tqi_rebuild_streams(struct tqi_check *c);
void tqi_rebuild_depths(struct tqi_check *c);
/* Limits into their index; then unfinished tasks into lanes, and ready ones into their heaps. */
int tqi_rebuild_limits(struct tqi_check *c);
int tqi_rebuild_order(struct tqi_check *c);
void tqi_rebuild_schedules(struct tqi_check *c);
int tqi_rebuild_schedule_heaps(struct tqi_check *c);
/* Chains of dependencies; an edge that is not told goes into the list of its task. */
void tqi_rebuild_after(struct tqi_check *c);
void tqi_rebuild_edge_list(struct tqi_check *c, uint32_t edge);
void tqi_rebuild_sleepers(struct tqi_check *c);
/* The end: whoever sleeps looks for itself.  One that is killed before is made again, whole. */
void tqi_rebuild_wake(struct tqi_check *c);
void tqi_rebuild_commands(struct tqi_check *c);
/* A task's group is there, and it is in its chain; a sleeper's, too; then groups as such. */
void tqi_rebuild_groups_begin(struct tqi_check *c);
void tqi_rebuild_task_group(struct tqi_check *c, uint32_t index, struct tqi_task *task);
void tqi_rebuild_group_waiter(struct tqi_check *c, struct tqi_waiter *waiter);
void tqi_rebuild_groups(struct tqi_check *c);
/* Whom a sleeper's command calls is there; then, with groups, who is called. */
void tqi_rebuild_command_waiter(struct tqi_check *c, struct tqi_waiter *waiter);
void tqi_rebuild_called(struct tqi_check *c);
void tqi_rebuild_memory(struct tqi_check *c);
int tqi_rebuild_records(struct tqi_check *c);
/*
 * By its name into its index, or by one that is made up (and `bytes`, where the record has
 * that) when another one has it, or as `lost` says; -ENOMEM.
 */
int tqi_rebuild_name(struct tqi_check *c, uint32_t table, uint32_t record,
		     const struct tqi_rebuild_lost *how);
/* Queues and kinds, by their names, into the indexes; -ENOMEM. */
int tqi_rebuild_names(struct tqi_check *c);
int tqi_rebuild_keys(struct tqi_check *c);
/* What tasks inherit; the places that it gives them follow in slices. */
int tqi_rebuild_inherit(struct tqi_check *c);
void tqi_rebuild_free_lists(struct tqi_check *c);
int tqi_rebuild_heaps(struct tqi_check *c);
void tqi_rebuild_lists(struct tqi_check *c);

#endif
