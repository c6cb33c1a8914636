/* SPDX-License-Identifier: MIT */
/* Rare settings. */
#include "scheduler/record/extra.h"

#include <errno.h>
#include <string.h>

#include "scheduler/record/task_record.h"
#include "shm/pool.h"

struct tqi_extra *tqi_task_extra(struct tqi_tx *tx, const struct tqi_task *task)
{
	uint64_t at = tqi_extra_at(task->payload_bytes, task->label_bytes);
	unsigned char *extra = tqi_unit_part(tx, task->payload, at, sizeof(struct tqi_extra));

	if (tqi_offset(tx, extra) + sizeof(struct tqi_extra) > tx->seg->geometry.max_bytes)
		return tqi_tx_scratch(tx);
	return (struct tqi_extra *)(void *)extra;
}

/* Payload and label (TX-5: the bounds). */
static void copy(struct tqi_tx *tx, const struct tqi_task *task, unsigned char *to)
{
	uint64_t bytes = (uint64_t)task->payload_bytes + task->label_bytes;
	const unsigned char *from = tqi_unit(tx, task->payload);

	if (tqi_offset(tx, from) + bytes > tx->seg->geometry.max_bytes)
		tx->corrupt = true;
	else
		memcpy(to, from, bytes);
}

/* While an attempt is under way, its owner reads there. */
static void drop_block(struct tqi_tx *tx, const struct tqi_task *task)
{
	if (task->attempt)
		TQI_SET(tx, tqi_attempt_at(tx, task->attempt)->payload, task->payload);
	else
		tqi_block_give(tx, task->payload);
}

int tqi_task_extra_make(struct tqi_tx *tx, struct tqi_task *task)
{
	uint64_t at = tqi_extra_at(task->payload_bytes, task->label_bytes);

	if (task->flags & TQI_TASK_EXTRA)
		return 0;
	if (task->payload_bytes > TQI_COPY_MAX) {
		tx->corrupt = true;
		return 0;
	}
	uint32_t block = tqi_block_take(tx, at + sizeof(struct tqi_extra));

	if (!block)
		return -ENOMEM;
	unsigned char *to = tqi_unit(tx, block);

	if (task->payload) {
		copy(tx, task, to);
		drop_block(tx, task);
	}
	const struct tqi_extra none = { .deadline_ns = UINT64_MAX };

	memcpy(to + at, &none, sizeof(none)); /* fresh memory (TX-3) */
	tqi_task_touch(tx, task);
	TQI_SET(tx, task->payload, block);
	TQI_SET(tx, task->flags, (uint16_t)(task->flags | TQI_TASK_EXTRA));
	return 0;
}
