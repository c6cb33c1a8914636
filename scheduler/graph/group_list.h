/* SPDX-License-Identifier: MIT */
/* What the parts of groups share: lists of groups, and the end of one. */
#ifndef TQI_SCHEDULER_GRAPH_GROUP_LIST_H
#define TQI_SCHEDULER_GRAPH_GROUP_LIST_H

#include "scheduler/graph/group.h"
#include "shm/table.h"

/* To the end of a list; out of it.  A group is on one of them at a time. */
void tqi_group_list(struct tqi_tx *tx, uint32_t group, struct tqi_group_ends *ends);
void tqi_group_unlist(struct tqi_tx *tx, uint32_t group, struct tqi_group_ends *ends);

/* To the end of the busy ones (GR-8). */
void tqi_group_enqueue(struct tqi_tx *tx, uint32_t group);

/* It is SEALED, and has an owner no longer. */
void tqi_group_seal_now(struct tqi_tx *tx, uint32_t group);
/* GR-5: if that is so now. */
void tqi_group_completes(struct tqi_tx *tx, uint32_t group);
/* Its completion task, which waits for it no longer. */
uint32_t tqi_group_decided(struct tqi_tx *tx, struct tqi_group *g);

/* Its id answers TQ_EGONE from now on.  It has no members, and is on no list. */
void tqi_group_free(struct tqi_tx *tx, uint32_t group);

#endif
