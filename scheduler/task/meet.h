/* SPDX-License-Identifier: MIT */
/* What a submit with a unique key meets. */
#ifndef TQI_SCHEDULER_TASK_MEET_H
#define TQI_SCHEDULER_TASK_MEET_H

#include "scheduler/record/records.h"

/* What a submit with a key meets; task records, 0 none. */
struct tqi_meeting {
	uint32_t twin;	 /* it has the key, or waits for it: nothing new is made ... */
	bool replace;	 /* ... but it gets the new payload */
	uint32_t leader; /* it has the key: the new task waits for its end */
};

/*
 * Who has the key of this spec.  A task that a purge or its deadline has decided about
 * is ended here: it is in nobody's way.  0; -EEXIST it cannot take this payload.
 */
int tqi_key_meet(struct tqi_tx *tx, const struct tq_task_spec *spec, uint32_t queue, uint32_t kind,
		 struct tqi_meeting *ret_meeting);

/* Whether such a submit makes a new task; changes nothing. */
bool tqi_key_makes_task(struct tqi_tx *tx, const struct tq_task_spec *spec, uint32_t queue,
			uint32_t kind);

#endif
