/* SPDX-License-Identifier: MIT */
/* What a quiet segment holds: the counters that must be the same before and after. */
#ifndef STORM_USAGE_H
#define STORM_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "ledger.h"
#include "taskq/taskq.h"

#define USAGE_MAP(X)                                                                               \
	X(tasks)                                                                                   \
	X(attempts)                                                                                \
	X(workers)                                                                                 \
	X(waiters)                                                                                 \
	X(edges)                                                                                   \
	X(blocks)	/* that are no heap's */                                                   \
	X(block_bytes)	/* the same */                                                             \
	X(groups)	/* that are not complete and let go of */                                  \
	X(owed)		/* answers to commands, by somebody who is to give them */                 \
	X(inflight)

/* Tables and heaps keep what they have grown to, and are not counted. */
struct usage {
#define USAGE_FIELD(name) uint64_t name;
	USAGE_MAP(USAGE_FIELD)
#undef USAGE_FIELD
};

/* Nobody else may use the segment meanwhile. */
void usage_read(struct tq *tq, struct usage *ret_usage);
/* A fault for every counter that is not what it was. */
void usage_compare(struct ledger *l, const struct usage *before, const struct usage *after);

#endif
