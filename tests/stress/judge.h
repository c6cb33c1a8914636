/* SPDX-License-Identifier: MIT */
/*
 * The verdict over a task when all is quiet: what the segment says of it now, against
 * what the ledger says.
 */
#ifndef STORM_JUDGE_H
#define STORM_JUDGE_H

#include "ledger.h"
#include "taskq/taskq.h"

/* `r` is the answer of tq_task_info(), `info` is filled when it is 0. */
void judge_task(struct ledger *l, uint32_t slot, int r, const struct tq_task_info *info);

/* judge_links.c: whether what it waits for may have been such that it was cancelled. */
bool judge_may_be_refused(struct ledger *l, uint32_t slot);
/* Whether the end of its group, or of what it is after, was to cancel it. */
bool judge_was_cancelled_with(struct ledger *l, uint32_t slot);
/* All of a graph's members, or none. */
void judge_graph(struct ledger *l, uint32_t group);

/* Whether the task is, or was, in the segment: accepted, or seen though its submitter died. */
bool judge_exists(const struct ledger_task *t);

#endif
