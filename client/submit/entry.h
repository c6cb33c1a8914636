/* SPDX-License-Identifier: MIT */
/* One task on its way in: checked, with what is known of its names (client/submit/task_api.c). */
#ifndef TQI_CLIENT_SUBMIT_ENTRY_H
#define TQI_CLIENT_SUBMIT_ENTRY_H

#include "client/core/handle.h"
#include "scheduler/task/submit.h"

struct tqi_entry {
	struct tq *tq;
	struct tq_task_spec spec; /* checked; or the caller's own is used, if it is ready */
	struct tqi_submit submit;
	uint64_t id;
};

/* Check a spec, which must last as long; a large payload goes into a block in flight. */
int tqi_entry_prepare(struct tq *tq, const struct tq_task_spec *spec, struct tqi_entry *entry);
/* In a hold, before each try of a submit: what an earlier one has made is gone again. */
void tqi_entry_begin(struct tqi_tx *tx, struct tqi_entry *entry);
/*
 * In a hold, with nothing in its transaction that must stay: submit it, to a drained queue for
 * the attempt that the caller works for.  As tqi_submit().
 */
int tqi_entry_submit(struct tqi_tx *tx, struct tqi_entry *entry);
/* After it: its names are there; or, when it failed, what it made is gone again. */
void tqi_entry_end(struct tqi_entry *entry, int r);
/* It will not come in. */
void tqi_entry_cancel(struct tqi_entry *entry);

#endif
