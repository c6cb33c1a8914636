/* SPDX-License-Identifier: MIT */
/* Submitting. */
#ifndef TQI_SCHEDULER_TASK_SUBMIT_H
#define TQI_SCHEDULER_TASK_SUBMIT_H

#include "scheduler/record/extra.h"
#include "scheduler/record/name.h"
#include "shm/span.h"

/* A checked request; zero fields of the spec have not been resolved yet. */
struct tqi_submit {
	const struct tq_task_spec *spec;
	uint32_t queue; /* record, or 0: find or make it by the spec's name */
	uint32_t kind;
	uint32_t queue_hint; /* records that the names probably have; 0 not known */
	uint32_t kind_hint;
	uint64_t schedule; /* id of the one that makes it; 0 none */
	uint32_t attempt;  /* under way, that hands it in: a drained queue lets its own through */
	uint32_t group;	   /* record that it becomes a member of; 0 as the spec says */
	bool shut;	   /* GR-4: its group is being built */
	bool extra;	   /* written by tqi_submit(): it has rare settings */
	uint32_t unmet; /* it begins BLOCKED, until tqi_task_unblock() has been called so often */
	uint64_t block_token; /* in flight: block with payload and label; 0 copy them here */
};

/* Names of a spec; NULL in it stands for the default's. */
static inline const char *tqi_spec_queue(const struct tq_task_spec *spec)
{
	return spec->queue ? spec->queue : tqi_queue_default;
}
static inline const char *tqi_spec_kind(const struct tq_task_spec *spec)
{
	return spec->kind ? spec->kind : tqi_kind_default;
}

/* A payload that is copied with whatever label and settings. */
#define TQI_COPY_SURE (TQI_COPY_MAX - TQ_LABEL_MAX - 7 - sizeof(struct tqi_extra))

/*
 * 0; -EINVAL a name that had a hint is none; 1 a task with this unique key is there already: *ret_id is its id, and with
 * coalesce it has the new payload; -EEXIST it is of another kind and could not take
 * it; TQ_EFULL a table or the queue is full; TQ_EDRAINING; TQ_ESHUTDOWN; -ENOMEM no
 * memory: grow or evict and try again; for its group as tqi_group_find_open().  After an
 * error the transaction must be aborted.
 */
int tqi_submit(struct tqi_tx *tx, struct tqi_submit *submit, uint64_t *ret_id);

/*
 * As if it had never been submitted: a shut one, newest of its group.  True when that is
 * done; else a slice of it.
 */
bool tqi_submit_undo(struct tqi_tx *tx, uint32_t task);

/*
 * Bytes of a spec's block: payload, then label; and in one that is too large to be filled
 * under the lock room for rare settings that only the submit knows of.
 */
uint64_t tqi_submit_block_bytes(const struct tq_task_spec *spec);
/* What its task, and that block, leave of the last memory (shm/span.h). */
static inline enum tqi_spares tqi_submit_spares(const struct tq_task_spec *spec)
{
	return spec->flags & TQ_TASK_RESERVE ? TQI_SPARES_HALF : TQI_SPARES_ALL;
}
/* Fill it. */
void tqi_submit_block_fill(const struct tq_task_spec *spec, void *block);

#endif
