/* SPDX-License-Identifier: MIT */
/* The ring of ended attempts. */
#include "scheduler/record/history.h"

#include <string.h>

#include "shm/pool.h"

static bool have_ring(struct tqi_tx *tx, struct tqi_task *task)
{
	if (task->history)
		return true;
	uint32_t block = tqi_block_take(tx, TQ_HISTORY_MAX * sizeof(struct tq_attempt_info));

	if (!block)
		return false;
	TQI_SET(tx, task->history, block);
	TQI_SET(tx, task->history_count, 0);
	return true;
}

void tqi_history_add(struct tqi_tx *tx, struct tqi_task *task, const struct tq_attempt_info *info)
{
	if (!have_ring(tx, task))
		return;
	uint8_t n = task->history_count;
	struct tq_attempt_info *ring = tqi_unit(tx, task->history);
	/* The oldest entry is overwritten in place: each of its words is journalled. */
	uint64_t words[sizeof(*info) / sizeof(uint64_t)];
	uint64_t *to = (uint64_t *)(void *)&ring[n % TQ_HISTORY_MAX];

	memcpy(words, info, sizeof(*info));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		TQI_SET(tx, to[i], words[i]);
	/* 0..7 while filling, then 8..15: the ring is full and n % 8 is its oldest. */
	TQI_SET(tx, task->history_count,
		(uint8_t)(n + 1 < 2 * TQ_HISTORY_MAX ? n + 1 : TQ_HISTORY_MAX));
}
