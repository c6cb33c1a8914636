/* SPDX-License-Identifier: MIT */
/* The ring of ended attempts. */
#include "scheduler/record/history.h"

#include <string.h>

#include "scheduler/record/task_record.h"
#include "shm/plant.h"

static bool have_ring(struct tqi_tx *tx, struct tqi_task *task)
{
	if (task->history)
		return true;
	uint32_t block = tqi_block_take(tx, sizeof(struct tqi_history));

	if (!block)
		return false;
	memset(tqi_unit(tx, block), 0, sizeof(struct tqi_history)); /* fresh memory (TX-3) */
	if (TQI_PLANTED(plain_history))
		task->history = block;
	else
		TQI_SET(tx, task->history, block);
	TQI_SET(tx, task->history_count, 0);
	return true;
}

/* That there was one stays known. */
static void drop(struct tqi_tx *tx, struct tqi_earlier *output)
{
	if (!output->block)
		return;
	tqi_block_give(tx, output->block);
	TQI_SETS(tx, output, (block, 0), (bytes, 0));
}

void tqi_history_add(struct tqi_tx *tx, struct tqi_task *task, const struct tq_attempt_info *info)
{
	if (!have_ring(tx, task))
		return;
	uint8_t n = task->history_count;
	struct tqi_history *history = tqi_unit(tx, task->history);
	/* The oldest entry is overwritten in place: each of its words is journalled. */
	uint64_t words[sizeof(*info) / sizeof(uint64_t)];
	uint64_t *to = (uint64_t *)(void *)&history->attempts[n % TQ_HISTORY_MAX];
	struct tqi_earlier *output = &history->outputs[n % TQ_HISTORY_MAX];

	drop(tx, output);
	if (output->output_bytes)
		TQI_SET(tx, output->output_bytes, 0u);
	memcpy(words, info, sizeof(*info));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		TQI_SET(tx, to[i], words[i]);
	/* 0..7 while filling, then 8..15: the ring is full and n % 8 is its oldest. */
	TQI_SET(tx, task->history_count,
		(uint8_t)(n + 1 < 2 * TQ_HISTORY_MAX ? n + 1 : TQ_HISTORY_MAX));
}

/* HY-2. */
static void trim(struct tqi_tx *tx, struct tqi_history *history, uint32_t count)
{
	const uint32_t entries = count < TQ_HISTORY_MAX ? count : TQ_HISTORY_MAX;
	uint64_t bytes = 0;

	for (uint32_t i = 1; i <= entries; i++) {
		struct tqi_earlier *output = &history->outputs[(count - i) % TQ_HISTORY_MAX];

		bytes += output->bytes;
		if (bytes > TQI_EARLIER_BYTES)
			drop(tx, output);
	}
}

void tqi_history_take_result(struct tqi_tx *tx, struct tqi_task *task)
{
	const uint32_t count = task->history_count;

	if (!task->history || !count) {
		if (task->result)
			tqi_block_give(tx, task->result);
		return;
	}
	if (!task->output_bytes && !task->result)
		return;
	struct tqi_history *history = tqi_unit(tx, task->history);
	struct tqi_earlier *output = &history->outputs[(count - 1) % TQ_HISTORY_MAX];

	TQI_SETS(tx, output, (output_bytes, task->output_bytes), (block, task->result),
		 (bytes, task->result_bytes));
	trim(tx, history, count);
}

void tqi_history_give(struct tqi_tx *tx, struct tqi_task *task)
{
	if (!task->history)
		return;
	const struct tqi_history *history = tqi_unit(tx, task->history);

	for (uint32_t i = 0; i < TQ_HISTORY_MAX; i++)
		if (history->outputs[i].block)
			tqi_block_give(tx, history->outputs[i].block);
	tqi_task_give_block(tx, &task->history);
}
