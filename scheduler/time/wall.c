/* SPDX-License-Identifier: MIT */
/* The wall heap. */
#include "scheduler/time/wall.h"

#include "scheduler/record/extra.h"
#include "shm/plant.h"

uint64_t tqi_wall_next(struct tqi_tx *tx)
{
	const struct tqi_heap *wall = &tqi_root(tx)->time.wall;

	return wall->length ? (uint64_t)wall->root.key : UINT64_MAX;
}

int tqi_wall_reserve(struct tqi_tx *tx)
{
	struct tqi_root *root = tqi_root(tx);
	int r = tqi_heap_reserve(tx, &root->time.wall, root->time.appointments + 1);

	if (r == 0 && TQI_PLANTED(plain_wall))
		root->time.appointments++;
	else if (r == 0)
		TQI_ADD(tx, root->time.appointments, 1);
	return r;
}

static uint64_t at_of(struct tqi_tx *tx, const struct tqi_task *task)
{
	return task->flags & TQI_TASK_EXTRA ? tqi_task_extra(tx, task)->at_ns : 0;
}

bool tqi_wall_is_ahead(struct tqi_tx *tx, const struct tqi_task *task)
{
	return at_of(tx, task) > tx->wall_ns;
}

void tqi_wall_enter(struct tqi_tx *tx, uint32_t index)
{
	struct tqi_task *task = tqi_task_at(tx, index);

	tqi_heap_push(tx, &tqi_root(tx)->time.wall, TQI_FAMILY_WALL,
		      (struct tqi_heap_entry){ (int64_t)at_of(tx, task),
					       tqi_tag(task->sequence, index) });
	TQI_SET(tx, task->flags, (uint16_t)(task->flags | TQI_TASK_AT));
}

void tqi_wall_leave(struct tqi_tx *tx, uint32_t index)
{
	struct tqi_task *task = tqi_task_at(tx, index);

	if (!(task->flags & TQI_TASK_AT))
		return;
	tqi_heap_remove(tx, &tqi_root(tx)->time.wall, TQI_FAMILY_WALL, index);
	TQI_SET(tx, task->flags, (uint16_t)(task->flags & ~TQI_TASK_AT));
}

void tqi_wall_ended(struct tqi_tx *tx, const struct tqi_task *task)
{
	if (at_of(tx, task))
		TQI_ADD(tx, tqi_root(tx)->time.appointments, -1);
}

void tqi_wall_renew(struct tqi_tx *tx, struct tqi_task *task)
{
	if (at_of(tx, task))
		TQI_SET(tx, tqi_task_extra(tx, task)->at_ns, 0u);
}

void tqi_wall_cancel(struct tqi_tx *tx, struct tqi_task *task)
{
	tqi_wall_ended(tx, task);
	tqi_wall_renew(tx, task);
}
