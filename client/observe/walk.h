/* SPDX-License-Identifier: MIT */
/* Very many tasks, in order of their slots: records that lie side by side in one copy. */
#ifndef TQI_CLIENT_OBSERVE_WALK_H
#define TQI_CLIENT_OBSERVE_WALK_H

#include "client/observe/snapshot.h"

#define TQI_WALK_RUN 64 /* records copied at a time: 16 KiB */

struct tqi_walk {
	const struct tqi_segment *seg;
	uint64_t at;  /* the next slot */
	uint64_t end; /* one above the last */
	uint64_t version; /* when it began: what was touched since is copied anew */
	uint64_t first; /* slot of the first copy */
	uint32_t count; /* copies */
	struct tqi_seen_group seen;
	struct tqi_task run[TQI_WALK_RUN];
};

/* From the slot `at` on, which is not 0.  0 or an error. */
int tqi_walk_begin(struct tqi_walk *walk, const struct tqi_segment *seg, uint64_t at);
/*
 * The next slot, of which there is one: its task, NULL it has none.  When records have to be
 * copied, at most `room` are.
 */
const struct tqi_task *tqi_walk_next(struct tqi_walk *walk, uint32_t room, uint32_t *ret_index);

#endif
