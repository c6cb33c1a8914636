/* SPDX-License-Identifier: MIT */
/* What the parts of a check share: the report, and the recount in scratch memory. */
#ifndef TQI_SCHEDULER_CHECK_STATE_H
#define TQI_SCHEDULER_CHECK_STATE_H

#include "scheduler/check.h"

/* marks of a record; all but the first only of tasks */
#define TQI_MARK_FREE 1u	/* on the free list */
#define TQI_MARK_LANE 2u	/* in its lane's heap */
#define TQI_MARK_DUE 4u		/* in the due heap */
#define TQI_MARK_LISTED 8u	/* on the finished list */
#define TQI_MARK_TELLING 16u	/* on the list of those with waiters to wake */

/* Recounted from the task records. */
struct tqi_recount {
	uint32_t unfinished;
	uint32_t running;
	uint32_t ready; /* in lane heaps */
};

struct tqi_check {
	struct tqi_tx *tx;
	tqi_check_finding *finding;
	void *arg;
	uint32_t faults;
	struct tqi_recount count;
	/* Parts of the scratch memory. */
	uint8_t *marks[TQI_TABLE_COUNT]; /* by record: TQI_MARK_* */
	uint32_t *members;     /* by lane: unfinished tasks */
	uint32_t *depth;       /* by class and state */
	uint32_t *waiting;     /* by queue */
	uint32_t *pins;	       /* by task: edges that point to it */
	uint64_t *blocks;      /* bit by unit: a block in use begins here */
	uint8_t *spans;	       /* by span: named by a table's directory */
};

/* Report a fault. */
__attribute__((format(printf, 2, 3))) void tqi_check_fault(struct tqi_check *c, const char *format,
							    ...);
/* A record; NULL (reported) when the reference is bad. */
void *tqi_check_at(struct tqi_check *c, uint32_t table, uint32_t index, const char *what);
/* A block is in use: reported when it was already, or lies nowhere. */
void tqi_check_block(struct tqi_check *c, uint32_t block, const char *what, uint32_t index);

/* The parts, in this order. */
void tqi_check_tables(struct tqi_check *c);
void tqi_check_tasks(struct tqi_check *c);
void tqi_check_heaps(struct tqi_check *c);
void tqi_check_lists(struct tqi_check *c);
void tqi_check_gauges(struct tqi_check *c);
void tqi_check_memory(struct tqi_check *c);

#endif
