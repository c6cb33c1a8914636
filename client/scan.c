/* SPDX-License-Identifier: MIT */
/* Very many tasks, read side by side. */
#include <errno.h>
#include <string.h>

#include "client/info.h"
#include "client/options.h"
#include "client/snapshot.h"

#define RUN 64 /* records copied at a time: 16 KiB */

/* Names of the last task's queue and kind: most have those of the one before. */
struct names {
	uint32_t queue, kind; /* 0 none yet */
	char queue_name[TQ_NAME_MAX + 1];
	char kind_name[TQ_NAME_MAX + 1];
};

static void fill_names(const struct tqi_segment *seg, const struct tqi_task *t, struct names *names,
		       struct tq_task_brief *b)
{
	if (t->queue != names->queue)
		tqi_peek_queue_name(seg, t->queue, names->queue_name);
	if (t->kind != names->kind)
		tqi_peek_kind_name(seg, t->kind, names->kind_name);
	names->queue = t->queue;
	names->kind = t->kind;
	memcpy(b->queue, names->queue_name, sizeof(b->queue));
	memcpy(b->kind, names->kind_name, sizeof(b->kind));
}

static void fill_label(const struct tqi_segment *seg, const struct tqi_task *t,
		       struct tq_task_brief *b)
{
	if (t->label_bytes && t->label_bytes <= TQ_LABEL_MAX &&
	    tqi_peek_block(seg, t->payload, t->payload_bytes, b->label, t->label_bytes) < 0)
		b->label[0] = '\0';
}

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

/* One that a transaction has touched since is copied anew; false: it is no task (any more). */
static bool is_task(const struct tqi_segment *seg, uint64_t version, uint32_t index,
		    struct tqi_seen_group *seen, struct tqi_task *t)
{
	if (t->state == TQ_FREE || t->state >= TQ_STATE_COUNT || !t->generation)
		return false;
	if (t->stamp < version)
		return !tqi_task_is_hidden(seg, t, seen);
	return tqi_peek_task_in(seg, tqi_id_make(index, t->generation), seen, t) == 0;
}

static int peek_end(const struct tqi_segment *seg, uint64_t *ret_version, uint64_t *ret_end)
{
	struct tqi_core core;
	int r = tqi_peek_core(seg, &core);

	if (r < 0)
		return r;
	*ret_version = tqi_load_relaxed64(&core.version);
	*ret_end = core.tables[TQI_TASKS].count;
	return 0;
}

int tq_task_scan(struct tq *tq, uint32_t flags, uint64_t *cursor, uint64_t *ret_left,
		 struct tq_task_brief *briefs, uint32_t count)
{
	const struct tqi_segment *seg = &tq->seg;
	struct names names = { .queue = 0 };
	struct tqi_seen_group seen = { .group = 0 };
	struct tqi_task tasks[RUN];
	uint64_t version, end, at = *cursor ? *cursor : 1;
	uint32_t n = 0, looked = 0, run;

	if ((flags & ~TQ_SCAN_LABELS) || (count && briefs->size != sizeof(*briefs)))
		return -EINVAL;
	int r = peek_end(seg, &version, &end);

	if (r < 0)
		return r;
	for (; looked < count && at < end; at += run, looked += run) {
		uint32_t room = count - looked < RUN ? count - looked : RUN;

		run = tqi_peek_run(seg, TQI_TASKS, (uint32_t)at,
				   room < end - at ? room : (uint32_t)(end - at), tasks);
		for (uint32_t i = 0; i < run; i++) {
			if (!is_task(seg, version, (uint32_t)at + i, &seen, &tasks[i]))
				continue;
			fill_brief((uint32_t)at + i, &tasks[i], &briefs[n]);
			fill_names(seg, &tasks[i], &names, &briefs[n]);
			if (flags & TQ_SCAN_LABELS)
				fill_label(seg, &tasks[i], &briefs[n]);
			n++;
		}
	}
	*cursor = at;
	*ret_left = at < end ? end - at : 0;
	return (int)n;
}
