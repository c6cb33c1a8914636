/* SPDX-License-Identifier: MIT */
/* What keepers do when they look. */
#ifndef TQI_SCHEDULER_TASK_LOOK_H
#define TQI_SCHEDULER_TASK_LOOK_H

#include "scheduler/graph/group.h"
#include "scheduler/worker/step.h"
#include "scheduler/worker/worker.h"

#define TQI_LOOK_SUSPECTS 8

struct tqi_look {
	uint32_t suspect_count; /* deaths to prove outside the lock */
	uint32_t owner_count;	/* the same of groups' owners */
	bool again;		/* more to do: look again at once */
	bool wants_memory;	/* a schedule's run found none: whoever looks makes room */
	struct tqi_suspect suspects[TQI_LOOK_SUSPECTS];
	struct tqi_group_suspect owners[TQI_GROUP_SUSPECTS];
};

/* Whether something runs and nobody has looked for more than a second. */
bool tqi_look_is_due(struct tqi_tx *tx);
/* One slice of everything that is due. */
void tqi_look(struct tqi_tx *tx, struct tqi_look *ret_look);

/* The cheap part, which every hold does: due tasks and a slice of the sweep. */
void tqi_tend(struct tqi_tx *tx);

#endif
