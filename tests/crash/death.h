/* SPDX-License-Identifier: MIT */
/* What the kernel does to robust mutexes when a thread dies, done to an image. */
#ifndef TQT_DEATH_H
#define TQT_DEATH_H

#include <linux/futex.h>
#include <stdint.h>

#include "tests/crash/map.h"

#define TQT_HELD_MAX 64

/* A thread that may die now: where it works, and what its robust list says. */
struct tqt_thread {
	const struct tqt_map *map;
	const struct robust_list_head *robust;
	uint32_t tid;
};

void tqt_thread_here(struct tqt_thread *thread, const struct tqt_map *map);

/* Words, as offsets into the map, that the kernel would look at. */
struct tqt_held {
	uint64_t words[TQT_HELD_MAX];
	uint32_t count;
};
void tqt_thread_held(const struct tqt_thread *thread, struct tqt_held *ret_held);

/* Mark them in a copy of the map. */
void tqt_thread_die(const struct tqt_thread *thread, unsigned char *base);

#endif
