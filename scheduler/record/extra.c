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

/* The first bytes of its block: of payload and label (TX-5: the bounds). */
static void copy_part(struct tqi_tx *tx, const struct tqi_task *task, uint64_t bytes,
		      unsigned char *to)
{
	const unsigned char *from = tqi_unit(tx, task->payload);

	if (tqi_offset(tx, from) + bytes > tx->seg->geometry.max_bytes)
		tx->corrupt = true;
	else if (bytes)
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
		copy_part(tx, task, (uint64_t)task->payload_bytes + task->label_bytes, to);
		drop_block(tx, task);
	}
	const struct tqi_extra none = { .deadline_ns = UINT64_MAX };

	memcpy(to + at, &none, sizeof(none)); /* fresh memory (TX-3) */
	tqi_task_touch(tx, task);
	TQI_SET(tx, task->payload, block);
	TQI_SET(tx, task->flags, (uint16_t)(task->flags | TQI_TASK_EXTRA));
	return 0;
}

int tqi_task_relabel(struct tqi_tx *tx, struct tqi_task *task, const char *label, uint8_t bytes)
{
	const bool has_extra = task->flags & TQI_TASK_EXTRA;
	const uint64_t at = tqi_extra_at(task->payload_bytes, bytes);
	const uint64_t all = has_extra ? at + sizeof(struct tqi_extra)
				       : (uint64_t)task->payload_bytes + bytes;

	if (task->payload_bytes > TQI_COPY_MAX)
		return -E2BIG;
	uint32_t block = all ? tqi_block_take(tx, all) : 0;

	if (all && !block)
		return -ENOMEM;
	unsigned char *to = all ? tqi_unit(tx, block) : NULL; /* fresh memory (TX-3) */

	if (task->payload)
		copy_part(tx, task, task->payload_bytes, to);
	if (bytes)
		memcpy(to + task->payload_bytes, label, bytes);
	if (has_extra)
		memcpy(to + at, tqi_task_extra(tx, task), sizeof(struct tqi_extra));
	if (task->payload)
		tqi_block_give(tx, task->payload);
	tqi_task_touch(tx, task);
	TQI_SET(tx, task->payload, block);
	TQI_SET(tx, task->label_bytes, bytes);
	return 0;
}
