/* SPDX-License-Identifier: MIT */
/* Rare settings, added later. */
#include "scheduler/extra.h"

#include <errno.h>
#include <string.h>

#include "scheduler/task.h"
#include "shm/pool.h"

/* Payload and label; they never change once a task has them (T5: the bounds). */
static void copy(struct tqi_tx *tx, const struct tqi_task *task, uint32_t block)
{
	uint64_t bytes = (uint64_t)task->payload_bytes + task->label_bytes;
	const unsigned char *from = tqi_unit(tx, task->payload);

	if (bytes > TQI_EXTRA_COPY_MAX + TQ_LABEL_MAX ||
	    tqi_offset(tx, from) + bytes > tx->seg->geometry.max_bytes)
		tx->corrupt = true;
	else
		memcpy(tqi_unit(tx, block), from, bytes);
}

int tqi_extra_make(struct tqi_tx *tx, struct tqi_task *task)
{
	if (task->flags & TQI_TASK_EXTRA)
		return 0;
	uint64_t at = tqi_extra_at(task->payload_bytes, task->label_bytes);
	uint32_t block = tqi_block_take(tx, at + sizeof(struct tqi_extra));

	if (!block)
		return -ENOMEM;
	if (task->payload) {
		copy(tx, task, block);
		tqi_block_give(tx, task->payload);
	}
	TQI_SET(tx, task->payload, block);
	TQI_SET(tx, task->flags, (uint16_t)(task->flags | TQI_TASK_EXTRA));
	*tqi_task_extra(tx, task) = (struct tqi_extra){ .deadline_ns = UINT64_MAX }; /* T3 */
	return 0;
}
