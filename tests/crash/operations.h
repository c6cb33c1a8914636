/* SPDX-License-Identifier: MIT */
/*
 * The functions behind the table of table.h: for each preparation tqt_prepare_NAME() in
 * prepare.c, for each operation tqt_run_NAME() in one of operations_*.c.
 */
#ifndef TQT_OPERATIONS_H
#define TQT_OPERATIONS_H

#include "tests/crash/table.h"
#include "tests/crash/world.h"

#define TQT_SECOND_NS 1000000000ull
#define TQT_LONG_NS (10000 * TQT_SECOND_NS)

/* Of it: what is noted in flight while it is copied, or all: a run of two spans. */
#define TQT_LARGE_BYTES (10u << 10)
extern const char tqt_large[100 << 10];

/* Checkpoints: of preparations, and of the operation. */
#define TQT_SAVED_BEFORE "saved"
#define TQT_SAVED_NOW "checkpoint"
/* The operation's report, as a dump shows it. */
#define TQT_REPORTED "p 'halfway' 42%"

/* (A preparation that several operations use is declared as often.) */
#define TQT_DECLARE(name, function, prepare, rule, states)                                         \
	void tqt_prepare_##prepare(struct tqt_world *w);                                           \
	void tqt_run_##name(struct tqt_world *w);
TQT_OPERATIONS(TQT_DECLARE)
#undef TQT_DECLARE

/* The operation: into the last place, beside what the preparation has claimed. */
void tqt_claim_beside(struct tqt_world *w, uint64_t timeout_ns);
void tqt_steer_queue(struct tqt_world *w, enum tq_queue_action action);

#endif
