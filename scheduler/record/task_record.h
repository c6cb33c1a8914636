/* SPDX-License-Identifier: MIT */
/*
 * What a task's record says by itself, and with its queue's and its group's: for all rooms.
 * The finished list: records of ended tasks that nothing pins, oldest end first.  The
 * telling list: tasks whose edges are gone through (ED-3).
 */
#ifndef TQI_SCHEDULER_RECORD_TASK_RECORD_H
#define TQI_SCHEDULER_RECORD_TASK_RECORD_H

#include "scheduler/record/extra.h"
#include "scheduler/record/records.h"
#include "shm/pool.h"

/* Note for observers that this transaction touches the record. */
static inline void tqi_task_touch(struct tqi_tx *tx, struct tqi_task *task)
{
	*(volatile uint64_t *)&task->stamp = tqi_load_relaxed64(&tx->core->version);
}

/* Whether it is of a graph that is being built, or has just been, and in no gauge yet. */
static inline bool tqi_task_is_shut(struct tqi_tx *tx, const struct tqi_task *task)
{
	return task->state == TQ_BLOCKED && (task->flags & TQI_TASK_EXTRA) &&
	       tqi_task_extra(tx, task)->shut;
}
/* Whether its graph is being built: it does not exist yet. */
static inline bool tqi_member_is_hidden(struct tqi_tx *tx, const struct tqi_task *task)
{
	return tqi_task_is_shut(tx, task) &&
	       tqi_group_at(tx, tqi_task_extra(tx, task)->group)->state == TQI_GROUP_BUILDING;
}
/* Whether a dependency of a shut one cannot be met: one culprit is enough. */
static inline bool tqi_member_is_refused(struct tqi_tx *tx, const struct tqi_task *task)
{
	return tqi_task_is_shut(tx, task) && tqi_task_extra(tx, task)->culprit;
}
/* Where it counts: shut ones in none of the gauges that are shown. */
static inline uint32_t tqi_task_gauge(struct tqi_tx *tx, const struct tqi_task *task)
{
	return tqi_task_is_shut(tx, task) ? TQ_FREE : task->state;
}

/* Whether a purge of its queue, or a shutdown, has cancelled this waiting task already. */
static inline bool tqi_condemns(const struct tqi_root *root, const struct tqi_queue *queue,
				const struct tqi_task *task)
{
	return task->wait_sequence < queue->purge_before ||
	       task->wait_sequence < root->sweep.cancel_before;
}
/* Whether its group has (GR-6); it has TQI_TASK_EXTRA. */
static inline bool tqi_member_is_condemned(struct tqi_tx *tx, const struct tqi_task *task)
{
	const struct tqi_extra *extra = tqi_task_extra(tx, task);

	return extra->group && !extra->counted && tqi_group_at(tx, extra->group)->cancelled;
}
/* Any of them. */
static inline bool tqi_task_is_condemned(struct tqi_tx *tx, const struct tqi_task *task)
{
	return tqi_condemns(tqi_root(tx), tqi_queue_at(tx, task->queue), task) ||
	       ((task->flags & TQI_TASK_EXTRA) && tqi_member_is_condemned(tx, task));
}

/* Its longest back-off: never below the first one. */
static inline uint64_t tqi_task_backoff_cap(const struct tqi_task *task)
{
	return task->backoff_cap_ns > task->backoff_ns ? task->backoff_cap_ns : task->backoff_ns;
}

/* Its deadline; UINT64_MAX none. */
static inline uint64_t tqi_task_deadline(struct tqi_tx *tx, const struct tqi_task *task)
{
	return task->flags & TQI_TASK_EXTRA ? tqi_task_extra(tx, task)->deadline_ns : UINT64_MAX;
}

/* When all its attempts together have had their time-out; UINT64_MAX never. */
static inline uint64_t tqi_task_total_end(const struct tqi_task *task)
{
	uint64_t when = task->first_started_ns + task->timeout_total_ns;

	return task->first_started_ns && when >= task->timeout_total_ns && when <= INT64_MAX
		       ? when
		       : UINT64_MAX;
}
/* When no attempt may start any more; UINT64_MAX never. */
static inline uint64_t tqi_task_last_start(struct tqi_tx *tx, const struct tqi_task *task)
{
	uint64_t deadline = tqi_task_deadline(tx, task), total = tqi_task_total_end(task);

	return deadline < total ? deadline : total;
}

/* Whether a waiting task is to be ended instead of started: by a time only if it is watched. */
static inline bool tqi_task_is_over(struct tqi_tx *tx, const struct tqi_task *task)
{
	return tqi_task_is_condemned(tx, task) ||
	       ((task->flags & (TQI_TASK_EXTRA | TQI_TASK_DUE)) &&
		tqi_task_last_start(tx, task) <= tx->now_ns);
}

/* Why it ended, or why its last attempt did. */
static inline void tqi_task_set_cause(struct tqi_tx *tx, struct tqi_task *task, uint32_t cause,
				      int32_t cause_arg)
{
	if (task->cause != cause)
		TQI_SET(tx, task->cause, (uint8_t)cause);
	if (task->cause_arg != cause_arg)
		TQI_SET(tx, task->cause_arg, cause_arg);
}

/* Its id. */
static inline uint64_t tqi_task_id(struct tqi_tx *tx, uint32_t index)
{
	return tqi_id_make(index, tqi_task_at(tx, index)->generation);
}

/* Set flags, or (false) clear them. */
static inline void tqi_task_set_flag(struct tqi_tx *tx, struct tqi_task *task, uint32_t flag,
				     bool on)
{
	tqi_task_touch(tx, task);
	TQI_SET(tx, task->flags, (uint16_t)(on ? task->flags | flag : task->flags & ~flag));
}

/* Give a block of it back, if it has that one. */
static inline void tqi_task_give_block(struct tqi_tx *tx, uint32_t *block)
{
	if (*block == 0)
		return;
	tqi_block_give(tx, *block);
	TQI_SET(tx, *block, 0u);
}

/* Onto the finished list; off it, if it is there. */
void tqi_task_list(struct tqi_tx *tx, uint32_t index);
void tqi_task_unlist(struct tqi_tx *tx, uint32_t index);

/* Put a task, not on any list, on the telling list; one that is there has another round. */
void tqi_edge_enlist(struct tqi_tx *tx, uint32_t task);
/* The same in the middle of its round: what has been kept of its edges stays. */
void tqi_edge_append(struct tqi_tx *tx, uint32_t task);

#endif
