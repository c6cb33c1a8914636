/* SPDX-License-Identifier: MIT */
/* Dependencies come to be (scheduler/graph/after.h). */
#ifndef TQI_SCHEDULER_TASK_DEPEND_H
#define TQI_SCHEDULER_TASK_DEPEND_H

#include "scheduler/record/records.h"

/*
 * The dependencies of a new task, which is in no state yet.  *ret_culprit: the finished
 * task that refuses it, 0 none.  -ENOENT, TQ_EGONE; TQ_EFULL, -ENOMEM.
 */
int tqi_after_submit(struct tqi_tx *tx, uint32_t task, const struct tq_task_spec *spec,
		     uint64_t *ret_culprit);
/* It is in its first state, and nothing refuses it: what was met already is recorded. */
void tqi_after_record(struct tqi_tx *tx, uint32_t task);
/* One more of a task that has not started. As tq_task_after() says; -ENOMEM. */
int tqi_after_add(struct tqi_tx *tx, uint64_t id, uint64_t on, uint32_t kind);

#endif
