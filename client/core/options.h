/* SPDX-License-Identifier: MIT */
/*
 * Size-first structs at the boundary (the kernel's copy_struct_from_user rule):
 * smaller than ours, the rest is zero; larger, its tail must be zero.
 */
#ifndef TQI_CLIENT_CORE_OPTIONS_H
#define TQI_CLIENT_CORE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Longest time that a caller may ask for: sums of two stay below 2^63 ns. */
#define TQI_NS_MAX ((uint64_t)INT64_MAX / 2)

/* A time: 0 = default, TQ_UNLIMITED = none, else at most TQI_NS_MAX. */
static inline bool tqi_time_is_valid(uint64_t ns)
{
	return ns <= TQI_NS_MAX || ns == UINT64_MAX;
}

/* `from` NULL = all zero.  -EINVAL below the first release's size; -E2BIG an unknown tail. */
int tqi_options_in(void *to, uint64_t known, uint64_t least, const void *from);
/* Whether a caller's snapshot struct can be filled. */
int tqi_snapshot_room(const void *to, uint64_t *ret_room);
/* Fill it: at most `room` bytes; its size becomes what was filled. */
void tqi_snapshot_out(void *to, uint64_t room, const void *from, uint64_t known);

#endif
