/* SPDX-License-Identifier: MIT */
/*
 * The floor: a queue of the same design with nothing but what the design cannot do without.
 * Each operation takes a robust lock shared between processes, reads the clock, notes the
 * old value of each word that it stores to in a journal, and keeps tasks in a heap of four
 * children a node.  No names, states, counters, limits, checks, wakes nor roll-back.
 */
#ifndef TASKQ_BENCH_SKETCH_H
#define TASKQ_BENCH_SKETCH_H

#include <stdbool.h>
#include <stdint.h>

#include "bench.h"

struct sketch;

/* In memory that children share; exits when there is none. */
struct sketch *sketch_open(uint32_t tasks_max);
void sketch_close(struct sketch *s);

/* False: it holds as many as it may. */
bool sketch_submit(struct sketch *s, int32_t priority, const char payload[BENCH_PAYLOAD_BYTES]);
/* False: nothing waits. */
bool sketch_claim(struct sketch *s, uint32_t *ret_task, char ret_payload[BENCH_PAYLOAD_BYTES]);
void sketch_complete(struct sketch *s, uint32_t task);
/* Complete, and claim the next one, in one hold. */
bool sketch_next(struct sketch *s, uint32_t *task, char ret_payload[BENCH_PAYLOAD_BYTES]);

#endif
