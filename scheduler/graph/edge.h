/* SPDX-License-Identifier: MIT */
/*
 * Who waits for which task: wait slots, and other tasks, its dependants (scheduler/graph/after.h).
 *
 * ED-1  An edge pins its task's record.  It is on its waiter's chain as long as it is there:
 *     a wait slot drops its own, a task gives up its own when it has ended.
 * ED-2  It is on its task's list unless it is TOLD.  Of a final task that is not telling,
 *     all on the list are REFUSED.  A wait slot's is never REFUSED.
 * ED-3  The telling list: tasks whose edges are gone through in slices, first come first.
 *     In a round each edge is taken from the list; those that stay go to a second one
 *     (prev), which is the list afterwards.  A final task tells its end, and then gives
 *     up its own dependencies; a BLOCKED one, to which this is a gate (RC-11), revives its
 *     dependants, and is unblocked then.  Who joins again meanwhile has another round.
 *
 * A crash leaves a round where its last commit was: every hold goes on with it.
 */
#ifndef TQI_SCHEDULER_GRAPH_EDGE_H
#define TQI_SCHEDULER_GRAPH_EDGE_H

#include "scheduler/record/records.h"

/* False: no memory, or too many of them. */
bool tqi_edge_add(struct tqi_tx *tx, uint32_t waiter, uint32_t task);
/* Drop up to `count` of a waiter's edges; true when none is left. */
bool tqi_edge_drop(struct tqi_tx *tx, uint32_t waiter, uint32_t count);

/*
 * An edge of a dependant with rare settings, at the front of its chain, which has become
 * this (enum tqi_edge_told).  0; TQ_EFULL; -ENOMEM.
 */
int tqi_edge_depend(struct tqi_tx *tx, uint32_t dependant, uint32_t on, uint32_t kind,
		    uint32_t told, uint32_t *ret_edge);
/* Free an edge that is off its waiter's chain: the task may be settled by that. */
void tqi_edge_free(struct tqi_tx *tx, uint32_t edge);
/* Change what has become of it: it enters its task's list, or leaves it. */
void tqi_edge_set(struct tqi_tx *tx, uint32_t edge, uint32_t told);
/* Put it on its task's list. */
void tqi_edge_link(struct tqi_tx *tx, uint32_t edge);
/* Take it off its task's list; whoever calls this says what has become of it. */
void tqi_edge_unlink(struct tqi_tx *tx, uint32_t edge);

#endif
