/* SPDX-License-Identifier: MIT */
/*
 * Observers follow the flight recorder.  Each transition of a task begins where the one
 * before ended: one that was undone and shown all the same, or committed and not shown,
 * would break the chain.
 */
#include <string.h>

#include "storm.h"

#define PAGE 64u
#define PLACES 8192u /* of the tasks seen last; one that has lost its place begins anew */

/* What is known of the trace, in the observer's process. */
static struct {
	uint64_t cursor;
	uint64_t time_ns;
	struct {
		uint64_t task;
		uint32_t state;
	} last[PLACES];
} seen;

static void forget_all(void)
{
	memset(seen.last, 0, sizeof(seen.last));
}

static void follow(struct player *p, const struct tq_trace_entry *e)
{
	const uint64_t place = e->task % PLACES;

	if (e->time_ns < seen.time_ns || e->number >= seen.cursor)
		ledger_fault(p->ledger, FAULT_ANSWER, UINT32_MAX,
			     "trace: entry %llu of another time", (unsigned long long)e->number);
	seen.time_ns = e->time_ns;
	if (e->event != TQ_TRACE_MOVE)
		return;
	if (seen.last[place].task == e->task && seen.last[place].state != e->from)
		ledger_fault(p->ledger, FAULT_ANSWER, UINT32_MAX,
			     "trace: task %llu leaves %s and was %s", (unsigned long long)e->task,
			     tq_task_state_name(e->from),
			     tq_task_state_name(seen.last[place].state));
	seen.last[place].task = e->task;
	seen.last[place].state = e->to;
}

void look_at_trace(struct player *p)
{
	struct tq_trace_entry entries[PAGE] = { { .size = sizeof(entries[0]) } };
	uint64_t lost;
	int n;

	while ((n = tq_trace_read(p->tq, &seen.cursor, entries, PAGE, &lost)) > 0) {
		if (lost)
			forget_all();
		for (int i = 0; i < n; i++)
			follow(p, &entries[i]);
		entries[0].size = sizeof(entries[0]);
	}
	player_accepts(p, "tq_trace_read", n);
}
