/* SPDX-License-Identifier: MIT */
/* What the scheduler decides, asked of a view (client/observe/view.h). */
#ifndef TQI_CLIENT_OBSERVE_ASK_H
#define TQI_CLIENT_OBSERVE_ASK_H

#include "client/observe/view.h"

/* How many tasks start before one. */
struct tqi_ask_before {
	uint64_t id;	   /* set before, of a task that is ready */
	uint64_t kinds[4]; /* set before: that the workers serve which could start it */
	uint32_t count;
	bool is_all;  /* and no more */
	bool is_torn; /* counted in copies of several moments */
};
void tqi_ask_before(struct tq *tq, struct tqi_ask_before *ask);

/* The first of a task's limits that is full, copied; false: none is. */
bool tqi_ask_full(struct tq *tq, uint64_t id, uint32_t *ret_need, struct tqi_limit *ret_limit);

/* Whether a queue, which has been copied, has servers, and no room at any. */
bool tqi_ask_lacks_room(const struct tqi_segment *seg, uint32_t q, const struct tqi_queue *queue);

/* Who lends a task what it has inherited: an id; 0 nobody does any more. */
uint64_t tqi_ask_lender(const struct tqi_segment *seg, uint64_t id);

#endif
