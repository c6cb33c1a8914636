/* SPDX-License-Identifier: MIT */
/* The sweep. */
#include "scheduler/task/sweep.h"

#include "scheduler/order/assign.h"
#include "scheduler/graph/edge.h"
#include "scheduler/graph/group.h"
#include "scheduler/graph/inherit.h"
#include "scheduler/order/policy.h"
#include "scheduler/order/ready.h"
#include "scheduler/limit/server.h"
#include "scheduler/worker/stop.h"
#include "scheduler/task/group_walk.h"
#include "scheduler/task/task.h"

#define LOOKS_SLICE 256 /* records looked at in one hold ... */
#define CHANGES_SLICE 8 /* ... of which so many may be changed: journal space */

/* Of a running task: true when it was asked to stop. */
static bool cancel_running(struct tqi_tx *tx, struct tqi_task *task)
{
	if (task->wait_sequence >= tqi_root(tx)->sweep.cancel_before ||
	    (task->flags & TQI_TASK_CANCEL))
		return false;
	tqi_task_touch(tx, task);
	TQI_SET(tx, task->flags, (uint16_t)(task->flags | TQI_TASK_CANCEL));
	tqi_stop_ask(tx, task->attempt, TQ_CAUSE_CANCELLED);
	return true;
}

/* SV-8: of one that is assigned in a queue that has got servers: true when it was. */
static bool go_back(struct tqi_tx *tx, uint32_t index, const struct tqi_task *task)
{
	if (!(task->flags & TQI_TASK_ASSIGNED) ||
	    !(tqi_queue_at(tx, task->queue)->flags & TQI_QUEUE_SERVED))
		return false;
	tqi_assigned_leave(tx, index);
	tqi_ready_enter(tx, index, true);
	return true;
}

/* True when the record was changed. */
static bool sweep_one(struct tqi_tx *tx, uint32_t index)
{
	struct tqi_task *task = tqi_task_at(tx, index);

	if (task->state == TQ_FREE || tqi_state_is_final(task->state))
		return false;
	if (tqi_member_is_hidden(tx, task))
		return tqi_policy_move(tx, index);
	if (tqi_task_is_shut(tx, task)) {
		tqi_member_open(tx, index);
		return true; /* condemned or not, it has gone its way */
	}
	if (task->state != TQ_RUNNING && tqi_task_is_condemned(tx, task)) {
		tqi_task_cancel_waiting(tx, index);
		return true;
	}
	bool asked = task->state == TQ_RUNNING && cancel_running(tx, task);
	bool moved = tqi_policy_move(tx, index);

	return go_back(tx, index, task) || moved || asked;
}

static void sweep_records(struct tqi_tx *tx)
{
	struct tqi_root *root = tqi_root(tx);
	uint32_t count = tx->core->tables[TQI_TASKS].count, changes = 0, looks = 0;
	uint32_t at = root->sweep.at, left = root->sweep.left;

	/* The walk goes over what was added meanwhile, too: it must not end before its round. */
	if (count > root->sweep.count) {
		left += count - root->sweep.count;
		TQI_SET(tx, root->sweep.count, count);
	}
	left = left < count ? left : count; /* of a damaged segment: ends all the same */
	while (left > 0 && looks++ < LOOKS_SLICE && changes < CHANGES_SLICE && !tx->corrupt &&
	       !tqi_tx_is_filling(tx)) {
		at = at + 1 < count ? at + 1 : 1;
		left--;
		if (at < count && sweep_one(tx, at))
			changes++;
	}
	TQI_SET(tx, root->sweep.at, at);
	TQI_SET(tx, root->sweep.left, left);
	if (left == 0 && root->moving.count)
		tqi_policy_round(tx, 0);
}

bool tqi_sweep_pending(struct tqi_tx *tx)
{
	return tqi_sweep_has_work(tqi_root(tx)) || tqi_inherit_pending(tx);
}

bool tqi_sweep_slice(struct tqi_tx *tx)
{
	if (tqi_root(tx)->carrying.count)
		tqi_server_carry(tx);
	if (tqi_root(tx)->telling.first)
		tqi_edge_tell_slice(tx);
	if (tqi_root(tx)->group.closing && !tqi_tx_is_filling(tx))
		tqi_group_close_slice(tx);
	if (tqi_root(tx)->group.busy && !tqi_tx_is_filling(tx))
		tqi_group_slice(tx);
	if (tqi_inherit_pending(tx) && !tqi_tx_is_filling(tx))
		tqi_inherit_slice(tx);
	if (tqi_root(tx)->sweep.left)
		sweep_records(tx);
	else if (tqi_root(tx)->moving.at)
		tqi_policy_round(tx, tqi_root(tx)->moving.at);
	return tqi_sweep_pending(tx);
}
