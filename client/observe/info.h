/* SPDX-License-Identifier: MIT */
/* From a copied task record to the public snapshot. */
#ifndef TQI_CLIENT_OBSERVE_INFO_H
#define TQI_CLIENT_OBSERVE_INFO_H

#include "client/core/handle.h"

/* What the tasks of a queue and kind share, as it was when one was first looked at. */
struct tqi_around {
	uint32_t queue, kind; /* 0 none yet */
	bool is_old; /* their names are to be read again: a place may be another one's by now */
	char queue_name[TQ_NAME_MAX + 1];
	char kind_name[TQ_NAME_MAX + 1];
	bool has_flags;	     /* those below are known: they are only asked for when a task waits */
	uint32_t flags;	     /* TQ_INFO_* of all that wait ... */
	uint32_t ready_flags; /* ... and of those that could start */
	struct tqi_queue order; /* as its record said then; all 0 it could not be read */
};

/*
 * What has been decided and is not carried out yet is shown as decided: a copy of a task
 * that a purge, a shutdown or its group has cancelled becomes that of a cancelled one.
 */
struct tqi_decisions {
	bool known; /* those below are */
	bool sweeping;
	bool cancelling;      /* of groups */
	uint64_t cancel_before;
	uint32_t queue; /* whose that is; 0 none yet */
	uint64_t purge_before;
};
void tqi_decide(const struct tqi_segment *seg, struct tqi_decisions *decisions,
		struct tqi_task *copy);
/* Tasks of a queue that a purge has cancelled and nobody has swept yet. */
uint64_t tqi_queue_decided(struct tq *tq, const char *queue);

/* Look at those of a task, unless they are the last one's. */
void tqi_info_around(const struct tqi_segment *seg, const struct tqi_task *task,
		     struct tqi_around *around);

/*
 * Fill `ret_info` from a record copied under the lock or by tqi_peek_task(); texts
 * are read from the segment.  false: the record changed meanwhile.
 */
bool tqi_info_fill(const struct tqi_segment *seg, uint32_t index, const struct tqi_task *task,
		   struct tqi_around *around, struct tq_task_info *ret_info);

/* TQ_INFO_* of what stands in the record. */
uint32_t tqi_info_flags(const struct tqi_task *task);

#endif
