/* SPDX-License-Identifier: MIT */
/* Lists of tasks. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "client/observe/info.h"
#include "client/core/options.h"
#include "client/observe/walk.h"

#define TRIES 64
/*
 * A cursor is the slot to go on with, from 1 to one above the last, and above it the low bits
 * of the sequence of the first task that came after the list was begun.
 */
#define SLOT_BITS 25
_Static_assert(SLOT_BITS > TQI_INDEX_BITS, "one above the last slot");

struct list {
	struct tqi_walk walk;
	uint64_t newer; /* low bits of a sequence: tasks from then on are left out */
	struct tq_task_filter filter;
	struct tqi_around around;
	struct tqi_decisions decisions;
};

static bool has_label(const struct tqi_segment *seg, const struct tqi_task *t, const char *label)
{
	char its[TQ_LABEL_MAX + 1];

	if (t->label_bytes != strlen(label))
		return false;
	tqi_peek_label(seg, t, its);
	return strcmp(its, label) == 0;
}

/* As far as the cursor has room for the difference. */
static bool came_later(const struct list *list, const struct tqi_task *t)
{
	return (int64_t)((t->sequence - list->newer) << SLOT_BITS) >= 0;
}

/* Most records of a large table end here. */
static bool is_wanted(struct list *list, const struct tqi_task *t)
{
	const struct tq_task_filter *f = &list->filter;
	const struct tqi_segment *seg = list->walk.seg;

	if ((f->states && !(f->states >> t->state & 1)) || came_later(list, t))
		return false;
	tqi_info_around(seg, t, &list->around);
	return (!f->queue || strcmp(f->queue, list->around.queue_name) == 0) &&
	       (!f->kind || strcmp(f->kind, list->around.kind_name) == 0) &&
	       (!f->label || has_label(seg, t, f->label));
}

/* One that changes while it is read is copied anew; false: it is not wanted (any more). */
static bool list_one(struct list *list, uint32_t index, const struct tqi_task *found,
		     struct tq_task_info *ret_info)
{
	const struct tqi_segment *seg = list->walk.seg;
	const uint64_t id = tqi_id_make(index, found->generation);
	struct tqi_task t = *found;

	tqi_decide(seg, &list->decisions, &t);
	if (!is_wanted(list, &t))
		return false;
	for (int i = 0; i < TRIES; i++) {
		if (tqi_info_fill(seg, index, &t, &list->around, ret_info))
			return true;
		if (tqi_peek_task_in(seg, id, &list->walk.seen, &t) < 0)
			return false;
		tqi_decide(seg, &list->decisions, &t);
		if (!is_wanted(list, &t))
			return false;
	}
	return true;
}

/* Where the caller has come to, or where it begins. */
static int begin(struct list *list, const struct tqi_segment *seg, uint64_t cursor)
{
	uint64_t at = cursor & ((1u << SLOT_BITS) - 1);
	struct tqi_root root;
	int r = cursor ? 0 : tqi_peek_root(seg, &root);

	if (r < 0)
		return r;
	list->newer = cursor ? cursor >> SLOT_BITS : root.sequence;
	if (!cursor)
		at = (uint64_t)tqi_id_index(list->filter.after) + 1; /* slots begin at 1 */
	return tqi_walk_begin(&list->walk, seg, at);
}

int tq_task_list(struct tq *tq, const struct tq_task_filter *filter, uint64_t *cursor,
		 struct tq_task_info *infos, uint32_t count)
{
	if (!tq || !cursor || (count && !infos))
		return -EINVAL;
	struct list list = { .around = { .queue = 0 } };
	struct tq_task_info info;
	uint32_t n = 0, index;
	int r = tqi_options_in(&list.filter, sizeof(list.filter),
			       offsetof(struct tq_task_filter, after), filter);

	if (r < 0)
		return r;
	if (count && infos->size != sizeof(*infos)) /* the array has the caller's stride */
		return -EINVAL;
	r = begin(&list, &tq->seg, *cursor);
	if (r < 0)
		return r;
	while (n < count && list.walk.at < list.walk.end) {
		const struct tqi_task *t = tqi_walk_next(&list.walk, TQI_WALK_RUN, &index);

		if (index == list.walk.first) /* copied after what is known of names */
			list.around.is_old = true;
		if (t && list_one(&list, index, t, &info))
			tqi_snapshot_out(&infos[n++], sizeof(info), &info, sizeof(info));
	}
	*cursor = list.newer << SLOT_BITS | list.walk.at;
	return (int)n;
}
