/* SPDX-License-Identifier: MIT */
/* Startable tasks: lanes and the classes that order them. */
#ifndef TQI_SCHEDULER_ORDER_READY_H
#define TQI_SCHEDULER_ORDER_READY_H

#include "scheduler/record/serves.h"

/* Into its lane, unless held.  `keep_place`: as it was before (release); else anew. */
void tqi_ready_enter(struct tqi_tx *tx, uint32_t task, bool keep_place);
/* The same for who has the records. */
void tqi_ready_enter_lane(struct tqi_tx *tx, uint32_t index, struct tqi_task *task,
			  struct tqi_lane *lane, bool keep_place);
/* A new one without rare settings, which is ready at once: it has its place and its key. */
void tqi_ready_enter_new(struct tqi_tx *tx, uint32_t index, struct tqi_task *task,
			 struct tqi_lane *lane, struct tqi_class *class_);
void tqi_ready_leave_lane(struct tqi_tx *tx, uint32_t index, const struct tqi_task *task,
			  struct tqi_lane *lane, struct tqi_class *class_);
/* Into its lane, which is another one than before: nothing new for those who sleep. */
void tqi_ready_reenter(struct tqi_tx *tx, uint32_t task);
/* Out of its lane, if it is there. */
void tqi_ready_leave(struct tqi_tx *tx, uint32_t task);
/* What the start of a task does to the turns of its queue (PO-6, PO-7). */
struct tqi_turn {
	uint32_t queue;	 /* 0 nothing */
	uint32_t tenant; /* whose turn it is in a fair queue; 0 none */
	const struct tqi_chain *chains; /* it is the best of the classes of these two */
	bool is_least;	 /* it is of the least urgent band that has work */
	bool is_overdue; /* it is started for being overdue */
	bool is_unsettled; /* what is best shows in the next transaction (scheduler/order/lane.h) */
};

/* The best startable task for a worker, and whose turn it was; 0 none. */
uint32_t tqi_ready_choose(struct tqi_tx *tx, const struct tqi_worker *worker,
			  struct tqi_turn *ret_turn);
/* Whether there is one, or may be. */
bool tqi_ready_any(struct tqi_tx *tx, const struct tqi_worker *worker);
/* It is started. */
void tqi_ready_take_turn(struct tqi_tx *tx, const struct tqi_turn *turn);

#endif
