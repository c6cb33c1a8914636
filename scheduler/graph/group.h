/* SPDX-License-Identifier: MIT */
/*
 * Groups: tasks that are counted together; and graphs, which are groups whose members
 * come to be all at once.
 *
 * GR-1  A member's record names its group (extra.group) and is in the group's chain, until
 *     either record goes.  The chain has first those whose end has been counted, in the
 *     order of their ends, then the others, in the order in which they joined.
 * GR-2  `counted` is the state with which a member's end was counted, 0 not yet.  It is
 *     set once: a later life of the task changes nothing.  `states` of the group has each
 *     member in that state, or else in its present one, and shut ones as TQ_FREE;
 *     `unfinished` are those not counted.  Until the group is complete all this can be
 *     counted again from the members: they are pinned.
 * GR-3  `pinned`: the group has a pin on the member's record.  So it is until the group is
 *     complete and its walk has come by.
 * GR-4  While a group is BUILDING, its members are shut: BLOCKED, in no heap, of the class's
 *     `depth` in that of TQ_FREE, and nobody finds them.  One store, of the group's
 *     state, makes them real; who then meets a shut one shows it first, and the walk
 *     shows all others.  A group that is given up undoes its members, newest first.
 * GR-5  SEALED, or CANCELLED, with nothing unfinished is COMPLETE, in the same transaction.
 *     `completion` is the task that waits for that; 0 once it is decided.
 * GR-6  Of a cancelled group, all members whose end is not counted are condemned, as by a
 *     purge; the walk ends them.
 * GR-7  A group with an owner is on the root's list of those while it is BUILDING or OPEN:
 *     when its owner is proved dead, it is given up, or cancelled.
 * GR-8  A group has `work`  <=>  it is on the root's list of busy ones, once.  `walk` is the
 *     next member to be looked at: whoever takes that one from its place moves it on.
 * GR-9  Nobody can join a group while the segment shuts down: a shutdown seals all that are
 *     open, and with cancel cancels all that are not complete.  It decides that by
 *     root.group.closing, from which the sweep walks down; no group is made meanwhile.
 *     An undo stops the walk: what is sealed by then stays sealed.
 */
#ifndef TQI_SCHEDULER_GRAPH_GROUP_H
#define TQI_SCHEDULER_GRAPH_GROUP_H

#include "scheduler/record/task_record.h"

#define TQI_GROUP_SUSPECTS 8 /* owners to be proved in one look */

/* The record of an id: 0, TQ_EGONE freed, -ENOENT never was, or is being built. */
int tqi_group_find(struct tqi_tx *tx, uint64_t id, uint32_t *ret_index);
/* The same of one that takes members: TQ_ESTATE. */
int tqi_group_find_open(struct tqi_tx *tx, uint64_t id, uint32_t *ret_index);
/* The same of one that is being built: TQ_EGONE it has been given up. */
int tqi_graph_find(struct tqi_tx *tx, uint64_t id, uint32_t *ret_index);

/* No more members.  TQ_ESTATE it is complete; 0 also when it is sealed already. */
int tqi_group_seal(struct tqi_tx *tx, uint64_t id);
/* Seal it, and cancel what is unfinished.  TQ_ESTATE it is complete. */
int tqi_group_cancel(struct tqi_tx *tx, uint64_t id);
/* GR-9: decide it; one slice of it; and leave off. */
void tqi_group_close_all(struct tqi_tx *tx);
void tqi_group_close_slice(struct tqi_tx *tx);
void tqi_group_close_none(struct tqi_tx *tx);
/*
 * A member waits for another one, which was written before it: 0, TQ_EFULL, -ENOMEM.
 */
int tqi_graph_depend(struct tqi_tx *tx, uint32_t member, uint32_t on, uint32_t kind);
/* None of them does. */
int tqi_graph_drop(struct tqi_tx *tx, uint64_t id);

/* Free up to `count` complete ones that have been kept for their time, or (evict) any. */
uint32_t tqi_group_retire(struct tqi_tx *tx, uint32_t count, bool evict);

/* Members.  A new record, with its extra, becomes one. */
void tqi_member_join(struct tqi_tx *tx, uint32_t group, uint32_t task);
/* It has ended; its record, or its group's, goes. */
void tqi_member_ended(struct tqi_tx *tx, uint32_t task);
void tqi_member_leave(struct tqi_tx *tx, uint32_t task);
/* A shut one of a graph that has been published becomes real; then tqi_member_open() ends it, or not. */
void tqi_member_show(struct tqi_tx *tx, uint32_t task);
/* A dependency of a hidden one cannot be met: it is cancelled when it is shown. */
void tqi_member_refused(struct tqi_tx *tx, uint32_t task, uint64_t culprit, bool dooms);
/* The first member whose end is not counted (GR-1); 0 none. */
static inline uint32_t tqi_group_unfinished(struct tqi_tx *tx, const struct tqi_group *g)
{
	return g->ended_last ? tqi_task_extra(tx, tqi_task_at(tx, g->ended_last))->group_next
			     : g->first;
}
/* A walk begins (GR-8), of a sort: enum tqi_group_work. */
void tqi_group_work(struct tqi_tx *tx, uint32_t group, uint32_t what);

/* Owners. */
struct tqi_group_suspect {
	uint32_t group;
	uint64_t generation;
	struct tqi_ident owner;
};
/* The next ones to be proved dead, from a cursor that goes round; returns how many. */
uint32_t tqi_group_suspects(struct tqi_tx *tx,
			    struct tqi_group_suspect suspects[TQI_GROUP_SUSPECTS]);
/* The owner of this one is. */
void tqi_group_orphaned(struct tqi_tx *tx, const struct tqi_group_suspect *suspect);

/* A slot that waits counts. */
void tqi_group_waits(struct tqi_tx *tx, uint32_t group, uint32_t by);

#endif
