/* SPDX-License-Identifier: MIT */
/* What a task's attempts have left: its last report of progress, and its checkpoint. */
#ifndef TQI_CLIENT_OBSERVE_KEPT_H
#define TQI_CLIENT_OBSERVE_KEPT_H

#include "client/observe/snapshot.h"

struct tqi_kept_place {
	uint32_t block;
	uint32_t bytes; /* struct tqi_kept, and the checkpoint behind it */
};

/*
 * Of a copied task; false: nothing.  The block is the attempt's while one is under way; its
 * end touches the task, so what holds of the task's own blocks holds of it.
 */
bool tqi_peek_kept(const struct tqi_segment *seg, const struct tqi_task *task,
		   struct tqi_kept_place *ret_place, struct tqi_kept *ret_kept);

#endif
