/* SPDX-License-Identifier: MIT */
/* What a task's attempts have left: its last report of progress, and its checkpoint. */
#ifndef TQI_CLIENT_OBSERVE_KEPT_H
#define TQI_CLIENT_OBSERVE_KEPT_H

#include "client/observe/snapshot.h"

struct tqi_kept_place {
	uint32_t block; /* 0 none */
	uint32_t bytes; /* struct tqi_kept, and the checkpoint behind it */
};

/*
 * Where that of a copied task is: with its attempt, a copy too, while one is under way (NULL
 * none), whose end touches the task, so that what holds of the task's own blocks holds of it.
 */
static inline struct tqi_kept_place tqi_kept_place_of(const struct tqi_task *task,
						      const struct tqi_attempt *attempt)
{
	if (attempt)
		return (struct tqi_kept_place){ attempt->inherited, attempt->inherited_bytes };
	return (struct tqi_kept_place){ task->kept, task->kept_bytes };
}

/* Of a copied task; false: nothing. */
bool tqi_peek_kept(const struct tqi_segment *seg, const struct tqi_task *task,
		   struct tqi_kept_place place, struct tqi_kept *ret_kept);

#endif
