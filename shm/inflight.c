/* SPDX-License-Identifier: MIT */
/* The in-flight table. */
#include "shm/inflight.h"

#include "shm/extent.h"
#include "shm/pool.h"

uint64_t tqi_inflight_take(struct tqi_tx *tx, enum tqi_inflight_kind kind, uint32_t first,
			   uint32_t count, const struct tqi_ident *owner)
{
	for (uint32_t i = 0; i < TQI_INFLIGHT_MAX; i++) {
		struct tqi_inflight *e = &tx->core->inflight[i];

		if (e->kind != TQI_INFLIGHT_NONE)
			continue;
		TQI_SET(tx, e->kind, kind);
		TQI_SET(tx, e->first, first);
		TQI_SET(tx, e->count, count);
		TQI_ADD(tx, e->generation, 1);
		TQI_SET(tx, e->owner.pid, owner->pid);
		TQI_SET(tx, e->owner.tid, owner->tid);
		TQI_SET(tx, e->owner.start, owner->start);
		return (uint64_t)e->generation << 32 | (i + 1);
	}
	return 0;
}

struct tqi_inflight *tqi_inflight_get(struct tqi_tx *tx, uint64_t token)
{
	uint32_t i = (uint32_t)token - 1;

	if (i >= TQI_INFLIGHT_MAX)
		return NULL;
	struct tqi_inflight *e = &tx->core->inflight[i];

	return e->kind != TQI_INFLIGHT_NONE && e->generation == token >> 32 ? e : NULL;
}

void tqi_inflight_drop(struct tqi_tx *tx, struct tqi_inflight *entry)
{
	TQI_SET(tx, entry->kind, TQI_INFLIGHT_NONE);
}

bool tqi_inflight_peek(struct tqi_tx *tx, uint32_t i, struct tqi_inflight *ret_entry)
{
	*ret_entry = tx->core->inflight[i];
	return ret_entry->kind != TQI_INFLIGHT_NONE;
}

void tqi_inflight_undo(struct tqi_tx *tx, uint32_t i, const struct tqi_inflight *seen)
{
	struct tqi_inflight *e = &tx->core->inflight[i];

	if (e->kind == TQI_INFLIGHT_NONE || e->generation != seen->generation)
		return;
	if (e->kind == TQI_INFLIGHT_BLOCK)
		tqi_block_give(tx, e->first);
	else /* fallocate and punching are idempotent: whoever comes next does it again */
		tqi_extent_set(tx, e->first, e->count, TQI_EXTENT_HOLE);
	tqi_inflight_drop(tx, e);
}
