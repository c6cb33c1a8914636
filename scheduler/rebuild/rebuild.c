/* SPDX-License-Identifier: MIT */
/* The order of a rebuild. */
#include "scheduler/rebuild/rebuild.h"

#include <string.h>

#include "scheduler/rebuild/rebuild_state.h"
#include "scheduler/worker/keepers.h"

static void clear_root(struct tqi_root *root)
{
	root->unfinished = root->ready = root->running = root->assigned = 0;
	root->finished_oldest = root->finished_newest = root->finished_count = 0;
	root->telling = root->telling_last = 0;
	root->room_waiters = root->empty_workers = root->dying_workers = root->moving = 0;
	root->appointments = 0;
	root->rates = 0;
	tqi_rebuild_clear_heap(&root->refills);
	tqi_rebuild_clear_heap(&root->owners);
	tqi_rebuild_clear_heap(&root->due);
	tqi_rebuild_clear_heap(&root->wall);
	root->loosened = 0;
	memset(&root->keys, 0, sizeof(root->keys));
	memset(&root->limits, 0, sizeof(root->limits));
	memset(&root->lanes, 0, sizeof(root->lanes));
	root->commands_oldest = root->commands_newest = root->commands_open = 0;
	root->ended_oldest = root->ended_newest = root->ended_count = 0;
	root->command_waiters = root->group_waiters = 0;
	root->asleep_queues = root->waiter_cursor = 0;
	memset(&root->groups_owned, 0, sizeof(root->groups_owned));
	memset(&root->groups_ended, 0, sizeof(root->groups_ended));
	root->groups_busy = root->groups_busy_last = root->groups_cursor = 0;
	memset(&root->tenants, 0, sizeof(root->tenants));
	memset(&root->servers, 0, sizeof(root->servers));
	memset(&root->pools, 0, sizeof(root->pools));
	memset(&root->queues, 0, sizeof(root->queues));
	memset(&root->kinds, 0, sizeof(root->kinds));
	root->carrying = 0;
	memset(&root->moving_queues, 0, sizeof(root->moving_queues));
	memset(&root->carrying_queues, 0, sizeof(root->carrying_queues));
	root->moving_at = 0;
	root->stale_first = root->stale_last = root->stale_stuck = 0;
	root->stale_stage = root->stale_cursor = 0;
}

/* Whatever was being swept is swept from the beginning. */
static void sweep_again(struct tqi_check *c)
{
	struct tqi_root *root = tqi_root(c->tx);

	root->sweep_at = 0;
	root->sweep_left = root->sweep_count = c->count[TQI_TASKS];
	root->groups_closing = root->flags & TQI_ROOT_SHUTDOWN && c->count[TQI_GROUPS]
				       ? c->count[TQI_GROUPS] - 1
				       : 0;
}

static int rebuild(struct tqi_check *c)
{
	struct tqi_root *root = tqi_root(c->tx);

	tqi_rebuild_directories(c);
	tqi_store_relaxed64(&c->tx->core->ring_shown, c->tx->core->ring_head);
	clear_root(root);
	tqi_rebuild_classes(c);
	tqi_rebuild_streams_begin(c);
	tqi_rebuild_workers(c);
	tqi_rebuild_limits_begin(c);
	tqi_rebuild_fair_begin(c);
	tqi_rebuild_servers_begin(c);
	tqi_rebuild_groups_begin(c);
	tqi_rebuild_tasks(c);
	tqi_rebuild_schedules(c);
	tqi_rebuild_after(c);
	tqi_rebuild_sleepers(c);
	tqi_rebuild_commands(c);
	tqi_rebuild_memory(c);
	int r = tqi_rebuild_records(c);

	if (r == 0)
		r = tqi_rebuild_names(c);
	if (r == 0)
		r = tqi_rebuild_keys(c);
	if (r == 0) {
		tqi_rebuild_free_lists(c);
		r = tqi_rebuild_streams(c);
	}
	if (r == 0)
		r = tqi_rebuild_fair(c);
	if (r == 0)
		r = tqi_rebuild_servers(c);
	if (r == 0)
		r = tqi_rebuild_limits(c);
	if (r == 0)
		r = tqi_rebuild_heaps(c);
	if (r == 0)
		r = tqi_rebuild_schedule_heaps(c);
	if (r == 0)
		r = tqi_rebuild_inherit(c);
	if (r < 0)
		return r;
	tqi_rebuild_lists(c);
	tqi_rebuild_groups(c);
	tqi_rebuild_depths(c);
	sweep_again(c);
	tqi_wake_any(c->tx);	 /* those that were in transit are listed now */
	tqi_wake_keepers(c->tx); /* others are the oldest, with the notes that they had */
	return 0;
}

int tqi_rebuild(struct tqi_tx *tx, void *scratch)
{
	struct tqi_root *root = tqi_root(tx);
	struct tqi_check c;

	root->flags |= TQI_ROOT_REPAIR;
	tqi_compiler_barrier();
	tqi_check_begin(&c, tx, scratch);
	tqi_rebuild_keep(&c);
	int r = rebuild(&c);

	tqi_rebuild_keep(&c);
	tx->corrupt = false;
	if (r < 0)
		return r;
	tqi_compiler_barrier();
	root->flags &= ~TQI_ROOT_REPAIR;
	return 0;
}
