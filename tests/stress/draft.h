/* SPDX-License-Identifier: MIT */
/* Tasks as players of a storm submit them. */
#ifndef STORM_DRAFT_H
#define STORM_DRAFT_H

#include "storm.h"

/* One task on its way; buffers live as long as its spec. */
struct draft {
	struct tq_task_spec spec;
	char label[TQ_LABEL_MAX + 1];
	const char *limits[2];
	struct tq_dependency after[LEDGER_AFTER_MAX];
	void *payload;
};

/* One of any sort, and its entry in the ledger; `keep`: its record is to stay. */
void draft_write(struct player *p, struct draft *d, uint32_t slot, bool keep);
void draft_drop(struct draft *d);
/* It comes after one of the newest tasks, or some; how many. */
uint32_t draft_after(struct player *p, struct draft *d, uint32_t slot, uint32_t count);

uint32_t draft_kind(struct player *p); /* enum tq_after */

#endif
