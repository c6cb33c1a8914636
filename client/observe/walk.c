/* SPDX-License-Identifier: MIT */
/* Very many tasks, read side by side. */
#include "client/observe/walk.h"

int tqi_walk_begin(struct tqi_walk *walk, const struct tqi_segment *seg, uint64_t at)
{
	uint32_t end;
	int r = tqi_peek_version(seg, &walk->version);

	if (r == 0)
		r = tqi_peek_count(seg, TQI_TASKS, &end);
	if (r < 0)
		return r;
	walk->seg = seg;
	walk->at = walk->first = at;
	walk->end = end;
	walk->count = 0;
	walk->seen = (struct tqi_seen_group){ .group = 0 };
	return 0;
}

/* One that a transaction has touched since is copied anew; false: it is no task (any more). */
static bool is_task(struct tqi_walk *walk, uint32_t index, struct tqi_task *t)
{
	if (t->state == TQ_FREE || t->state >= TQ_STATE_COUNT || !t->generation)
		return false;
	if (t->stamp < walk->version)
		return !tqi_task_is_hidden(walk->seg, t, &walk->seen);
	return tqi_peek_task_in(walk->seg, tqi_id_make(index, t->generation), &walk->seen, t) == 0;
}

static void copy_run(struct tqi_walk *walk, uint32_t room)
{
	if (room > TQI_WALK_RUN)
		room = TQI_WALK_RUN;
	if (room > walk->end - walk->at)
		room = (uint32_t)(walk->end - walk->at);
	walk->first = walk->at;
	walk->count = tqi_peek_run(walk->seg, TQI_TASKS, (uint32_t)walk->at, room, walk->run);
}

const struct tqi_task *tqi_walk_next(struct tqi_walk *walk, uint32_t room, uint32_t *ret_index)
{
	if (walk->at - walk->first >= walk->count)
		copy_run(walk, room);
	struct tqi_task *t = &walk->run[walk->at - walk->first];

	*ret_index = (uint32_t)walk->at++;
	return is_task(walk, *ret_index, t) ? t : NULL;
}
