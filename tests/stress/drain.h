/* SPDX-License-Identifier: MIT */
/* The end of a storm: nobody is killed any more, and all must come to rest. */
#ifndef STORM_DRAIN_H
#define STORM_DRAIN_H

#include "cast.h"
#include "usage.h"

/*
 * Let everything end, judge every task, forget all, and compare with the beginning.
 * What is wrong stands in the ledger then.
 */
void drain(struct cast *c, const struct usage *before);

/* rest.c: when all processes have ended. */
/* The dead are buried: a process that sleeps for a while finds them. */
void rest_bury(struct cast *c);
void rest_judge(struct storm *storm);
/* All are complete, and each graph is there as a whole, or not at all. */
void rest_groups(struct storm *storm);
/* Nobody has a slot of a limit, or waits for one. */
void rest_limits(struct storm *storm);
/* Servers that were removed are gone. */
void rest_servers(struct storm *storm);
void rest_forget(struct storm *storm);
/* Use up all memory, so that what the dead had in flight comes back; then give it back. */
void rest_squeeze(struct storm *storm);
void rest_check(struct storm *storm);

/* Something did not go on: a fault, and who and what is there. */
void drain_stuck(struct cast *c, const char *what);
/* show.c */
void drain_show(struct cast *c);

/* Without any progress; what is waited for takes seconds at most.  Less when all is lost. */
uint64_t drain_patience(struct cast *c);
#define SLICE_NS (20 * MS) /* between two looks at children that have ended */

#endif
