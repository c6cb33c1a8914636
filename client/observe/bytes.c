/* SPDX-License-Identifier: MIT */
/* Reading what a task holds: payload, result, history. */
#include <errno.h>
#include <string.h>

#include "client/core/handle.h"
#include "client/observe/snapshot.h"

#define TRIES 64

/* Copy a block of a task; again when the record changed meanwhile. */
static int copy_block(struct tq *tq, uint64_t id, bool result, void *buf, uint64_t room,
		      uint64_t *ret_bytes)
{
	struct tqi_task task;
	int r = 0;

	for (int i = 0; i < TRIES; i++) {
		r = tqi_peek_task(&tq->seg, id, &task);
		if (r < 0)
			return r;
		if (result && !tqi_state_is_final(task.state))
			return TQ_ESTATE;
		uint32_t block = result ? task.result : task.payload;
		uint64_t bytes = result ? task.result_bytes : task.payload_bytes;

		if (!block)
			bytes = 0;
		if (bytes && room)
			r = tqi_peek_owned(&tq->seg, &task, block, 0, buf,
					   bytes < room ? bytes : room);
		if (r == 0 && tqi_task_unchanged(&tq->seg, tqi_id_index(id), &task)) {
			if (ret_bytes)
				*ret_bytes = bytes;
			return 0;
		}
	}
	return r < 0 ? r : -EAGAIN;
}

int tq_task_result(struct tq *tq, uint64_t id, void *buf, uint64_t room, uint64_t *ret_bytes)
{
	if (!tq || (room && !buf))
		return -EINVAL;
	return copy_block(tq, id, true, buf, room, ret_bytes);
}

int tq_task_payload(struct tq *tq, uint64_t id, void *buf, uint64_t room, uint64_t *ret_bytes)
{
	if (!tq || (room && !buf))
		return -EINVAL;
	return copy_block(tq, id, false, buf, room, ret_bytes);
}

int tq_task_history(struct tq *tq, uint64_t id, struct tq_attempt_info *attempts)
{
	if (!tq || !attempts)
		return -EINVAL;
	struct tq_attempt_info ring[TQ_HISTORY_MAX];
	struct tqi_task task;

	for (int i = 0; i < TRIES; i++) {
		int r = tqi_peek_task(&tq->seg, id, &task);

		if (r < 0)
			return r;
		if (!task.history)
			return 0;
		r = tqi_peek_owned(&tq->seg, &task, task.history, 0, ring, sizeof(ring));
		if (r < 0 && r != -EAGAIN)
			return r;
		if (r == 0 && tqi_task_unchanged(&tq->seg, tqi_id_index(id), &task))
			break;
	}
	uint32_t n = task.history_count < TQ_HISTORY_MAX ? task.history_count : TQ_HISTORY_MAX;
	uint32_t oldest = task.history_count < TQ_HISTORY_MAX ? 0 : task.history_count;

	for (uint32_t i = 0; i < n; i++)
		attempts[i] = ring[(oldest + i) % TQ_HISTORY_MAX];
	return (int)n;
}
