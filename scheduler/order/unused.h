/* SPDX-License-Identifier: MIT */
/*
 * Queues and kinds that nobody needs any more, found when another one needs the place.
 *
 * UN-1  A queue is unused when no record of a task is in it, finished or not, nobody has set
 *     it, paused it or given it servers, and no worker, schedule or command names it.  A kind
 *     is when no queue has a record of a task of it, it has no defaults, and no worker or
 *     schedule names it.  What was counted of them goes with them.
 * UN-2  Nothing is kept for that while tasks come and go.  Who finds all places taken searches,
 *     some records a hold, from where the last one who found something left off.
 * UN-3  A slice frees what it has room for, and what it leaves is a queue or a kind with less
 *     counted: whoever comes with a task in between uses it again.
 * UN-4  What somebody remembers of a name from outside the lock is a hint: a free record has
 *     no name, and one that is taken again another one, or the same (tqi_name_is_of()).
 */
#ifndef TQI_SCHEDULER_ORDER_UNUSED_H
#define TQI_SCHEDULER_ORDER_UNUSED_H

#include "scheduler/record/records.h"

enum tqi_unused_step {
	TQI_UNUSED_NONE = 0, /* all have been looked at */
	TQI_UNUSED_MORE,     /* in another hold */
	TQI_UNUSED_GIVEN,    /* there is a place once this is committed */
};

/* A search, which is its caller's alone; all 0 at first. */
struct tqi_unused {
	uint32_t at;   /* the next queue, or the kind */
	uint32_t left; /* records to look at, with that one */
	uint32_t queue; /* of a kind: the next queue to look for it in; 0 it is a new one */
	bool drops; /* it is in no queue with tasks, and is being given back */
	bool rests; /* something would be unused but for finished tasks */
};

/* A slice each.  The transaction has changed nothing before. */
enum tqi_unused_step tqi_queue_unused(struct tqi_tx *tx, struct tqi_unused *search);
enum tqi_unused_step tqi_kind_unused(struct tqi_tx *tx, struct tqi_unused *search);

#endif
