/* SPDX-License-Identifier: MIT */
/* A segment of its own for one test: a make-believe system, deaths by request. */
#ifndef TQT_BOX_H
#define TQT_BOX_H

#include "scheduler/record/records.h"
#include "shm/segment.h"
#include "tests/support/system.h"

struct tqt_box_options {
	uint64_t max_bytes;    /* 0 = 64 MiB */
	uint64_t tasks_max;    /* 0 = as the library would */
	uint64_t sequence;     /* of the first task; 0 = 1 */
	uint64_t retention_ns; /* 0 = 1 h */
	uint64_t ring_entries; /* 0 = as few as can be */
};

struct tqt_box {
	struct tqi_segment seg;
	struct tqt_system system; /* its clock is that of every transaction */
};

/* Ends the program with a message when no segment can be had. */
void tqt_box_open(struct tqt_box *box, const struct tqt_box_options *options);
void tqt_box_close(struct tqt_box *box);

void tqt_box_begin(struct tqt_box *box, struct tqi_tx *tx);

/* Reserve extents, as client/core/hold.c does; false when the segment is at its maximum. */
bool tqt_box_grow(struct tqt_box *box, uint32_t extents);
bool tqt_box_punch(struct tqt_box *box);

/* What the kernel does to a robust mutex of this thread when its owner dies. */
void tqt_mutex_die(pthread_mutex_t *mutex);

/* A random number; *state is the seed at first. */
uint64_t tqt_random(uint64_t *state);
/* Uniform in 0 .. n-1. */
uint32_t tqt_below(uint64_t *state, uint32_t n);

#endif
