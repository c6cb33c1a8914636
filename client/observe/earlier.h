/* SPDX-License-Identifier: MIT */
/* What attempts that have ended have written, as it is kept. */
#ifndef TQI_CLIENT_OBSERVE_EARLIER_H
#define TQI_CLIENT_OBSERVE_EARLIER_H

#include "client/observe/snapshot.h"

/* Of the one that ended last (HY-1). */
struct tqi_earlier tqi_last_output(const struct tqi_task *t);

/*
 * Copy of it from `offset` on, or from the first byte that is kept, which is *ret_offset.
 * How many bytes; -ENODATA nothing was written there, -ESTALE none of it is kept.
 */
int tqi_copy_output(const struct tqi_segment *seg, const struct tqi_task *t,
		    const struct tqi_earlier *output, uint64_t offset, void *buf, uint32_t room,
		    uint64_t *ret_offset);

#endif
