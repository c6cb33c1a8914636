/* SPDX-License-Identifier: MIT */
/* What an attempt leaves to the next one. */
#include "scheduler/task/kept.h"

#include <string.h>

#include "shm/pool.h"

/* A block's bytes; NULL there is none, or not so many (TX-5). */
static const unsigned char *bytes_at(struct tqi_tx *tx, uint32_t block, uint32_t bytes)
{
	if (!block)
		return NULL;
	if (((uint64_t)block << TQI_UNIT_SHIFT) + bytes > tx->seg->geometry.max_bytes) {
		tx->corrupt = true;
		return NULL;
	}
	return tqi_unit_part(tx, block, 0, bytes);
}

struct tqi_kept_view tqi_kept_at(struct tqi_tx *tx, uint32_t block, uint32_t bytes)
{
	struct tqi_kept_view view = { .kept = NULL };

	const unsigned char *at = bytes_at(tx, block, bytes);

	if (!at || bytes < sizeof(*view.kept) || bytes > sizeof(*view.kept) + TQ_CHECKPOINT_MAX)
		return view;
	view.kept = (const struct tqi_kept *)(const void *)at;
	view.checkpoint = view.kept->saved ? at + sizeof(*view.kept) : NULL;
	view.checkpoint_bytes = view.kept->saved ? bytes - (uint32_t)sizeof(*view.kept) : 0;
	return view;
}

/* Written without the lock: the buffer that the index names, ended in any case. */
static bool report_of(const struct tqi_attempt *attempt, struct tqi_progress *ret_report)
{
	const uint32_t report = tqi_load_acquire32(&attempt->progress_index);

	if (!report)
		return false;
	*ret_report = attempt->progress[report & 1];
	ret_report->text[sizeof(ret_report->text) - 1] = '\0';
	return true;
}

/* The half that is valid; NULL it has saved nothing. */
static const void *saved_of(struct tqi_tx *tx, const struct tqi_attempt *attempt,
			    uint32_t *ret_bytes)
{
	const uint64_t saved = tqi_load_acquire64(&attempt->saved);

	const unsigned char *halves = bytes_at(tx, attempt->checkpoint, TQI_CHECKPOINT_BLOCK);

	if (!halves || !saved || tqi_saved_bytes(saved) > TQ_CHECKPOINT_MAX)
		return NULL;
	*ret_bytes = tqi_saved_bytes(saved);
	return halves + tqi_saved_offset(saved);
}

struct tqi_kept_view tqi_kept_of(struct tqi_tx *tx, const struct tqi_attempt *attempt,
				 struct tqi_kept *ret_kept)
{
	struct tqi_kept_view view = tqi_kept_at(tx, attempt->inherited, attempt->inherited_bytes);
	uint32_t bytes;
	const void *saved = saved_of(tx, attempt, &bytes);
	struct tqi_progress report;

	*ret_kept = view.kept ? *view.kept : (struct tqi_kept){ .reported = 0 };
	if (saved) {
		view.checkpoint = saved;
		view.checkpoint_bytes = bytes;
		ret_kept->saved = 1;
	}
	if (report_of(attempt, &report)) {
		ret_kept->report = report;
		ret_kept->reported = 1;
	}
	view.kept = ret_kept;
	return view;
}

/* A block of what has been added to what was inherited; 0: nothing, or no memory. */
static uint32_t merge(struct tqi_tx *tx, const struct tqi_attempt *attempt, uint32_t *ret_bytes)
{
	struct tqi_kept kept;
	const struct tqi_kept_view view = tqi_kept_of(tx, attempt, &kept);
	const uint32_t bytes = (uint32_t)sizeof(kept) + view.checkpoint_bytes;

	if (!tqi_load_relaxed32(&attempt->progress_index) && !tqi_load_relaxed64(&attempt->saved))
		return 0;
	const uint32_t block = tqi_block_take(tx, bytes);

	if (!block)
		return 0;
	unsigned char *to = tqi_unit(tx, block);

	memcpy(to, &kept, sizeof(kept));
	if (view.checkpoint_bytes)
		memcpy(to + sizeof(kept), view.checkpoint, view.checkpoint_bytes);
	*ret_bytes = bytes;
	return block;
}

void tqi_kept_leave(struct tqi_tx *tx, struct tqi_attempt *attempt, struct tqi_task *task)
{
	uint32_t bytes = 0;
	uint32_t block = merge(tx, attempt, &bytes);

	if (block && attempt->inherited) {
		tqi_block_give(tx, attempt->inherited);
	} else if (!block) {
		block = attempt->inherited;
		bytes = attempt->inherited_bytes;
	}
	if (attempt->checkpoint)
		tqi_block_give(tx, attempt->checkpoint);
	if (!block)
		return;
	TQI_SET(tx, task->kept, block);
	TQI_SET(tx, task->kept_bytes, bytes);
}
