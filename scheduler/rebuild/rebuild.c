/* SPDX-License-Identifier: MIT */
/* The order of a rebuild. */
#include "scheduler/rebuild/rebuild.h"

#include "scheduler/rebuild/rebuild_state.h"
#include "scheduler/worker/keepers.h"
#include "shm/plant.h"

/* Whatever was being swept is swept from the beginning. */
static void sweep_again(struct tqi_check *c)
{
	struct tqi_root *root = tqi_root(c->tx);

	root->sweep.left = root->sweep.count = c->count[TQI_TASKS];
	if (root->flags & TQI_ROOT_SHUTDOWN)
		root->group.closing = c->count[TQI_GROUPS] - 1;
}

static int rebuild(struct tqi_check *c)
{
	tqi_rebuild_directories(c);
	tqi_store_relaxed64(&c->tx->core->ring_shown, c->tx->core->ring_head);
	tqi_rebuild_forget(c);
	tqi_rebuild_queues(c);
	tqi_rebuild_streams_begin(c);
	tqi_rebuild_workers(c);
	tqi_rebuild_limits_begin(c);
	tqi_rebuild_fair_begin(c);
	tqi_rebuild_servers_begin(c);
	tqi_rebuild_groups_begin(c);
	tqi_rebuild_tasks(c);
	tqi_rebuild_schedules(c);
	tqi_rebuild_after(c);
	tqi_rebuild_commands(c);
	tqi_rebuild_sleepers(c);
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
		r = tqi_rebuild_order(c);
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
	tqi_rebuild_called(c);
	if (!TQI_PLANTED(no_depths))
		tqi_rebuild_depths(c);
	sweep_again(c);
	return 0;
}

int tqi_rebuild(struct tqi_tx *tx, void *scratch)
{
	struct tqi_root *root = tqi_root(tx);
	struct tqi_check c;

	if (!TQI_PLANTED(unmarked_repair))
		root->flags |= TQI_ROOT_REPAIR;
	tqi_compiler_barrier();
	tqi_tx_plain_begin(tx);
	tqi_check_begin(&c, tx, scratch);
	int r = rebuild(&c);

	tqi_tx_plain_end(tx);
	tx->corrupt = false;
	if (r < 0)
		return r;
	tqi_wake_any(tx);     /* those that were in transit are listed now */
	tqi_wake_keepers(tx); /* others are the oldest, with the notes that they had */
	tqi_rebuild_wake(&c);
	if (TQI_PLANTED(early_end))
		root->flags &= ~TQI_ROOT_REPAIR;
	else
		TQI_SET(tx, root->flags, root->flags & ~TQI_ROOT_REPAIR);
	return 0;
}
