/* SPDX-License-Identifier: MIT */
/* The last entries of the flight recorder, and which of them a filter lets through. */
#ifndef TASKQ_MODEL_RECORDER_H
#define TASKQ_MODEL_RECORDER_H

#include <taskq/taskq.h>

#include "format.h"
#include "rank.h"

enum {
	RECORDS_MAX = 10000 /* that are kept at least */
};

struct recorder {
	/* Oldest first.  Of event 0: so many as .number says were passed over here. */
	struct tq_trace_entry *entries;
	uint32_t *shown; /* those that match, by their places in entries */
	uint32_t count, shown_count;
	uint64_t cursor; /* number of the next one; 0: none has been read */
	int error;	 /* of the last reading: -ENODATA the segment has none */
	struct clocks clocks; /* for its times: the last digits must not dance */
	char filter[FILTER_MAX];
};

/* Reads on, up to the one of number @newest and somewhat beyond. */
void recorder_read(struct recorder *recorder, struct tq *tq, uint64_t newest,
		   const struct clocks *clocks);
void recorder_filter(struct recorder *recorder, const char *filter);
/* Drops what has been read; it goes on from there. */
void recorder_clear(struct recorder *recorder);
/* Another segment. */
void recorder_forget(struct recorder *recorder);

#endif
