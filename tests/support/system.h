/* SPDX-License-Identifier: MIT */
/*
 * The operating system as tests play it: a clock that stands still until somebody
 * sleeps or the test moves it, wakes that are noted, deaths by decree.
 */
#ifndef TQT_SYSTEM_H
#define TQT_SYSTEM_H

#include "shm/ops.h"

/* Pids of make-believe: above the kernel's largest, 4,194,304. */
#define TQT_PID_VICTIM 5000000u
#define TQT_PID_OTHER 5000001u	  /* lives */
#define TQT_PID_DEAD 5000002u	  /* died long ago */
#define TQT_PID_RESCUER 5000010u  /* + level */
#define TQT_TID_OTHER 0x00600000u /* + number: holds the mutexes of those who live */

#define TQT_WOKEN_MAX 64
#define TQT_WALL_NS 1800000000000000000ull /* January 2027: the wall clock when all begins */

struct tqt_system {
	struct tqi_ops ops; /* its ctx is this struct, which therefore stays where it is */
	uint64_t now_ns;
	uint64_t wall_offset_ns; /* what the wall clock is ahead: to set it, change this */
	uint32_t wall_waits; /* sleeps by the wall clock */
	uint32_t
		dead_from; /* pids of rescuers below this level are dead, and the victim: 0 nobody */
	bool is_unlinked;  /* that the segment's file has no name is noticed, as it has none here */
	/* Called when somebody sleeps: what others do meanwhile.  Once; may be NULL. */
	void (*meanwhile)(void *arg);
	void *arg;
	const struct tqi_word32 *woken[TQT_WOKEN_MAX]; /* words that futex_wake was asked for */
	uint32_t woken_count;
};

void tqt_system_init(struct tqt_system *system, uint64_t now_ns);

#endif
