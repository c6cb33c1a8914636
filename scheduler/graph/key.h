/* SPDX-License-Identifier: MIT */
/* Unique keys: who has one, until when, and who waits for it. */
#ifndef TQI_SCHEDULER_GRAPH_KEY_H
#define TQI_SCHEDULER_GRAPH_KEY_H

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

/* A new task gets the key, or (leader) waits for it.  TQ_EFULL; -ENOMEM. */
int tqi_key_take(struct tqi_tx *tx, uint32_t task, const struct tq_task_spec *spec,
		 uint32_t leader);

/* The task begins its first attempt; it has ended for good; its record goes. */
void tqi_key_started(struct tqi_tx *tx, uint32_t task);
void tqi_key_ended(struct tqi_tx *tx, uint32_t task);
void tqi_key_forgotten(struct tqi_tx *tx, uint32_t task);

/* Whether the task is the successor of another one, whose end it waits for (R7). */
bool tqi_key_has_leader(struct tqi_tx *tx, const struct tqi_task *task);
/* Whose end the task waits for, as the successor of its key (R7); 0 nobody's. */
uint32_t tqi_key_leader(struct tqi_tx *tx, uint32_t task);

/* For a new life.  -EEXIST another task has it; -ENOMEM. */
int tqi_key_retake(struct tqi_tx *tx, uint32_t task);
/* To another queue.  -EEXIST; TQ_ESTATE it waits for another, or another waits for it. */
int tqi_key_move(struct tqi_tx *tx, const struct tqi_task *task, uint32_t queue);

#endif
