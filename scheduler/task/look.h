/* SPDX-License-Identifier: MIT */
/* What keepers do when they look. */
#ifndef TQI_SCHEDULER_TASK_LOOK_H
#define TQI_SCHEDULER_TASK_LOOK_H

#include "scheduler/graph/group.h"
#include "scheduler/task/sweep.h"
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

/*
 * 3.5 s: looks are at most 1 s apart while anything runs, even where processors are short not
 * 3 s.  A longer gap means that the judges themselves were stopped (C3).
 */
#define TQI_LOOK_GAP_NS 3500000000ull
#define TQI_LOOK_DUE_NS 1500000000ull /* 1.5 s: keepers come twice a second */

/* Whether something runs and nobody has looked for longer than that. */
static inline bool tqi_look_is_due(const struct tqi_tx *tx)
{
	const struct tqi_root *root = tqi_root(tx);

	return root->running && tx->now_ns - root->look_ns > TQI_LOOK_DUE_NS;
}
/* One slice of everything that is due. */
void tqi_look(struct tqi_tx *tx, struct tqi_look *ret_look);

void tqi_tend_now(struct tqi_tx *tx);
/* Whether that has anything to do. */
static inline bool tqi_tend_is_due(struct tqi_tx *tx)
{
	const struct tqi_root *root = tqi_root(tx);

	return (root->time.due.length && (uint64_t)root->time.due.root.key <= tx->now_ns) ||
	       (root->limit.refills.length | root->time.wall.length | root->time.schedules |
		root->stale.first) ||
	       tqi_sweep_has_work(root);
}
/* The cheap part, which every hold does: due tasks and a slice of the sweep. */
static inline void tqi_tend(struct tqi_tx *tx)
{
	if (__builtin_expect(tqi_tend_is_due(tx), 0))
		tqi_tend_now(tx);
}

#endif
