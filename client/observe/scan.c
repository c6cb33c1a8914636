/* SPDX-License-Identifier: MIT */
/* Very many tasks, briefly. */
#include <errno.h>
#include <string.h>

#include "client/observe/info.h"
#include "client/core/options.h"
#include "client/observe/walk.h"

static void fill_brief(uint32_t index, const struct tqi_task *t, struct tq_task_brief *b)
{
	memset(b, 0, sizeof(*b));
	b->size = sizeof(*b);
	b->id = tqi_id_make(index, t->generation);
	b->sequence = t->sequence;
	b->state = t->state;
	b->flags = tqi_info_flags(t);
	b->priority = t->priority;
	b->attempt = t->attempts;
	b->worker_pid = t->worker_pid;
	b->submitted_ns = t->submitted_ns;
	b->ready_ns = t->ready_ns;
	b->started_ns = t->started_ns;
	b->ended_ns = t->ended_ns;
	b->due_ns = t->state == TQ_DELAYED && t->due_ns != UINT64_MAX ? t->due_ns : 0;
	b->cpu_ns = t->cpu_ns;
	b->max_rss_bytes = t->max_rss_bytes;
}

int tq_task_scan(struct tq *tq, uint32_t flags, uint64_t *cursor, uint64_t *ret_left,
		 struct tq_task_brief *briefs, uint32_t count)
{
	if (!tq || !cursor || !ret_left || (count && !briefs))
		return -EINVAL;
	const struct tqi_segment *seg = &tq->seg;
	struct tqi_around around = { .queue = 0 };
	struct tqi_decisions decisions = { .known = false };
	struct tqi_walk walk;
	uint32_t n = 0, index;

	if ((flags & ~TQ_SCAN_LABELS) || (count && briefs->size != sizeof(*briefs)))
		return -EINVAL;
	int r = tqi_walk_begin(&walk, seg, *cursor ? *cursor : 1);

	if (r < 0)
		return r;
	for (uint32_t left = count; left && walk.at < walk.end; left--) {
		const struct tqi_task *t = tqi_walk_next(&walk, left, &index);

		if (index == walk.first) /* copied after what is known of names */
			around.is_old = true;
		if (!t)
			continue;
		struct tqi_task copy = *t;

		tqi_decide(seg, &decisions, &copy);
		fill_brief(index, &copy, &briefs[n]);
		tqi_info_around(seg, t, &around);
		memcpy(briefs[n].queue, around.queue_name, sizeof(briefs[n].queue));
		memcpy(briefs[n].kind, around.kind_name, sizeof(briefs[n].kind));
		if (flags & TQ_SCAN_LABELS)
			tqi_peek_label(seg, t, briefs[n].label);
		n++;
	}
	*cursor = walk.at;
	*ret_left = walk.at < walk.end ? walk.end - walk.at : 0;
	return (int)n;
}
