/* SPDX-License-Identifier: MIT */
/* Tasks in the order of their submission. */
#include "submitted.h"

#include <errno.h>
#include <string.h>

enum {
	CHUNK = 64 /* tasks read at a time: 30 KiB */
};

bool submitted_matches(const struct tq_task_filter *filter, uint32_t state, const char *queue,
		       const char *kind, const char *label)
{
	return (!filter->states || filter->states & 1u << state) &&
	       (!filter->queue || !strcmp(filter->queue, queue)) &&
	       (!filter->kind || !strcmp(filter->kind, kind)) &&
	       (!filter->label || !strcmp(filter->label, label));
}

uint64_t submitted_sequence(const struct submitted *which, const struct pick *pick)
{
	return which->newest_first ? ~pick->sequence : pick->sequence;
}

static bool is_behind(const struct submitted *which, uint64_t sequence)
{
	return !which->behind ||
	       (which->newest_first ? sequence < which->behind : sequence > which->behind);
}

static bool consider(const struct submitted *which, const struct tq_task_brief *brief,
		     uint64_t until, struct picks *picks)
{
	const uint64_t sequence = which->newest_first ? ~brief->sequence : brief->sequence;

	if (!is_behind(which, brief->sequence) || (until && brief->sequence > until) ||
	    !submitted_matches(which->filter, brief->state, brief->queue, brief->kind,
			       brief->label))
		return true;
	return picks_take(picks, (struct pick){ .rank = rank_of_number(sequence),
						.sequence = sequence,
						.id = brief->id });
}

int submitted_pick(struct submitted *which, struct picks *picks)
{
	struct tq_task_brief briefs[CHUNK] = { { .size = sizeof(briefs[0]) } };
	const uint32_t flags = which->filter->label ? TQ_SCAN_LABELS : 0;
	const uint64_t until = which->until;
	uint64_t cursor = 0, left = 0;

	do {
		const int n = tq_task_scan(which->tq, flags, &cursor, &left, briefs, CHUNK);

		if (n < 0)
			return n;
		for (int i = 0; i < n; i++) {
			if (!until && briefs[i].sequence > which->until)
				which->until = briefs[i].sequence;
			if (!consider(which, &briefs[i], until, picks))
				return -ENOMEM;
		}
	} while (left > 0);
	return 0;
}
