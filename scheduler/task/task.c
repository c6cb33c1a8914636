/* SPDX-License-Identifier: MIT */
/* Records of tasks: found, evicted, retired. */
#include "scheduler/task/task.h"

#include <errno.h>
#include <string.h>

#include "scheduler/graph/after.h"
#include "scheduler/task/end.h"
#include "shm/pool.h"

int tqi_task_find(struct tqi_tx *tx, uint64_t id, uint32_t *ret_index)
{
	uint32_t index = tqi_id_index(id);

	if (index == 0 || index >= tx->core->tables[TQI_TASKS].count)
		return -ENOENT;
	const struct tqi_task *task = tqi_task_at(tx, index);

	if (tqi_id_generation(id) > task->generation || tqi_id_generation(id) == 0)
		return -ENOENT;
	if (tqi_id_generation(id) < task->generation)
		return TQ_EGONE;
	if (task->state == TQ_FREE || tqi_member_is_hidden(tx, task))
		return -ENOENT; /* the generation that will be used next; or not made real yet */
	if (tqi_task_is_shut(tx, task))
		tqi_member_open(tx, index);
	*ret_index = index;
	return 0;
}

void tqi_task_set_error(struct tqi_tx *tx, struct tqi_task *task, const char *text)
{
	if (task->error) {
		tqi_block_give(tx, task->error);
		TQI_SET(tx, task->error, 0u);
	}
	size_t n = text ? strnlen(text, TQ_TEXT_MAX) : 0;
	uint32_t block = n ? tqi_block_take(tx, n) : 0;

	if (block) {
		memcpy(tqi_unit(tx, block), text, n);
		TQI_SET(tx, task->error, block);
	}
	TQI_SET(tx, task->error_bytes, (uint16_t)(block ? n : 0));
}

uint32_t tqi_task_evict(struct tqi_tx *tx, uint32_t count)
{
	uint32_t n = 0;

	while (n < count && tqi_root(tx)->finished.oldest && !tx->corrupt &&
	       !tqi_tx_is_filling(tx)) {
		if (!tqi_after_discard(tx, tqi_root(tx)->finished.oldest))
			return n + 1; /* the rest of its dependencies in the next hold */
		tqi_task_free(tx, tqi_root(tx)->finished.oldest);
		TQI_ADD(tx, tqi_root(tx)->evicted, 1);
		n++;
	}
	return n;
}

uint32_t tqi_task_retire(struct tqi_tx *tx, uint32_t count)
{
	struct tqi_root *root = tqi_root(tx);
	uint32_t n = 0;

	while (n < count && root->finished.oldest && !tx->corrupt && !tqi_tx_is_filling(tx)) {
		const struct tqi_task *task = tqi_task_at(tx, root->finished.oldest);

		if (tx->now_ns - task->ended_ns < root->retention_ns)
			break;
		if (!tqi_after_discard(tx, root->finished.oldest))
			return n + 1;
		tqi_task_free(tx, root->finished.oldest);
		n++;
	}
	return n;
}
