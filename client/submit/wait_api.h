/* SPDX-License-Identifier: MIT */
/* Waiting for what a task writes. */
#ifndef TQI_CLIENT_SUBMIT_WAIT_API_H
#define TQI_CLIENT_SUBMIT_WAIT_API_H

#include "client/core/handle.h"

/*
 * With a wait slot, on behalf of whom the caller works for: until the task is final, or
 * the word of its worker's output has not this value any more; NULL: until it runs and
 * writes.  0, or as tq_wait().
 */
int tqi_wait_output(struct tq *tq, uint64_t id, const struct tqi_word32 *word, uint32_t value,
		    uint64_t deadline_ns);

#endif
