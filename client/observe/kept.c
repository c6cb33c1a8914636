/* SPDX-License-Identifier: MIT */
/* What a task's attempts have left. */
#include "client/observe/kept.h"

#include <errno.h>

#include "scheduler/task/kept.h"

#define TRIES 64

/* The attempt that a copied task, which is running, runs; false: another one by now. */
static bool peek_attempt(const struct tqi_segment *seg, const struct tqi_task *task, uint64_t id,
			 struct tqi_attempt *ret_attempt)
{
	return tqi_peek_record(seg, TQI_ATTEMPTS, task->attempt, ret_attempt) == 0 &&
	       ret_attempt->id == id;
}

bool tqi_peek_kept(const struct tqi_segment *seg, const struct tqi_task *task,
		   struct tqi_kept_place place, struct tqi_kept *ret_kept)
{
	return place.block && place.bytes >= sizeof(*ret_kept) &&
	       tqi_peek_owned(seg, task, place.block, 0, ret_kept, sizeof(*ret_kept)) == 0;
}

/* Of an attempt under way: the half that is valid, if it still is when it has been copied. */
static int copy_saved(const struct tqi_segment *seg, const struct tqi_task *task, uint64_t id,
		      const struct tqi_attempt *a, void *buf, uint64_t *ret_bytes)
{
	const uint64_t saved = tqi_load_relaxed64(&a->saved);
	struct tqi_attempt again;

	if (tqi_saved_bytes(saved) > TQ_CHECKPOINT_MAX)
		return TQ_ECORRUPT;
	int r = tqi_peek_owned(seg, task, a->checkpoint, tqi_saved_offset(saved), buf,
			       tqi_saved_bytes(saved));

	if (r == 0 &&
	    (!peek_attempt(seg, task, id, &again) || tqi_load_relaxed64(&again.saved) != saved))
		r = -EAGAIN;
	*ret_bytes = tqi_saved_bytes(saved);
	return r;
}

static int copy_kept(const struct tqi_segment *seg, const struct tqi_task *task,
		     struct tqi_kept_place place, void *buf, uint64_t *ret_bytes)
{
	struct tqi_kept kept;

	if (!tqi_peek_kept(seg, task, place, &kept) || !kept.saved)
		return -ENODATA;
	*ret_bytes = place.bytes - sizeof(kept);
	if (*ret_bytes > TQ_CHECKPOINT_MAX)
		return TQ_ECORRUPT;
	return tqi_peek_owned(seg, task, place.block, sizeof(kept), buf, *ret_bytes);
}

static int copy_checkpoint(const struct tqi_segment *seg, const struct tqi_task *task, uint64_t id,
			   void *buf, uint64_t *ret_bytes)
{
	const bool runs = task->state == TQ_RUNNING;
	struct tqi_attempt a;

	if (runs && !peek_attempt(seg, task, id, &a))
		return -EAGAIN;
	if (runs && a.checkpoint && tqi_load_relaxed64(&a.saved))
		return copy_saved(seg, task, id, &a, buf, ret_bytes);
	return copy_kept(seg, task, tqi_kept_place_of(task, runs ? &a : NULL), buf, ret_bytes);
}

int tq_task_checkpoint(struct tq *tq, uint64_t id, void *buf, uint64_t *ret_bytes)
{
	if (!tq || !buf || !ret_bytes)
		return -EINVAL;
	struct tqi_task task;
	uint64_t bytes = 0;

	for (int i = 0; i < TRIES; i++) {
		int r = tqi_peek_task(&tq->seg, id, &task);

		if (r < 0)
			return r;
		r = copy_checkpoint(&tq->seg, &task, id, buf, &bytes);
		if (r != -EAGAIN && tqi_task_unchanged(&tq->seg, tqi_id_index(id), &task)) {
			if (r == 0)
				*ret_bytes = bytes;
			return r;
		}
	}
	return -EAGAIN;
}
