/* SPDX-License-Identifier: MIT */
/*
 * The verdict over a task when all is quiet: what the segment says of it now, against
 * what the ledger says.
 */
#ifndef STORM_JUDGE_H
#define STORM_JUDGE_H

#include "ledger.h"
#include "taskq/taskq.h"

/* `r` is the answer of tq_info(), `info` is filled when it is 0. */
void judge_task(struct ledger *l, uint32_t slot, int r, const struct tq_task_info *info);

/* Whether the task is, or was, in the segment: accepted, or seen though its submitter died. */
bool judge_exists(const struct ledger_task *t);

#endif
