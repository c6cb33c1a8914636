/* SPDX-License-Identifier: MIT */
/* A set of 64-bit keys: images that have been examined. */
#ifndef TQT_SEEN_H
#define TQT_SEEN_H

#include <stdbool.h>
#include <stdint.h>

struct tqt_seen {
	uint64_t *keys;	 /* 0 = empty place */
	uint8_t *marks;	 /* caller's */
	uint32_t places; /* a power of two */
	uint32_t count;
};

void tqt_seen_clear(struct tqt_seen *seen);
/* The key's mark; *ret_new when it was not there before. Valid until the next call. */
uint8_t *tqt_seen_at(struct tqt_seen *seen, uint64_t key, bool *ret_new);

#endif
