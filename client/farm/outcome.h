/* SPDX-License-Identifier: MIT */
/* How an attempt inside one of our workers ended, on its way to the verdict. */
#ifndef TQI_CLIENT_FARM_OUTCOME_H
#define TQI_CLIENT_FARM_OUTCOME_H

#include <stdarg.h>
#include <stdint.h>

#include "taskq/worker.h"

/* Made once for each worker process: `buffer` grows and stays. */
struct tqi_outcome {
	struct tq_verdict verdict; /* .result is the buffer, .text the text */
	unsigned char *buffer;
	uint64_t room;
	char text[TQ_TEXT_MAX + 1];
};

void tqi_outcome_begin(struct tqi_outcome *outcome);
/* Room for a result; NULL no memory. */
void *tqi_outcome_room(struct tqi_outcome *outcome, uint64_t bytes);

/* The verdict with a text; `format` NULL = none. */
void tqi_outcome_set(struct tqi_outcome *outcome, uint32_t kind, uint32_t cause, int32_t cause_arg,
		     const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Trouble of the worker, not of the task: it goes back, a moment later. */
void tqi_outcome_release(struct tqi_outcome *outcome, const char *what, int error);

#endif
