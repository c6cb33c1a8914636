/* SPDX-License-Identifier: MIT */
/* Heaps and lists of tasks, filled from their records. */
#include "scheduler/time/due.h"
#include "scheduler/rebuild/rebuild_state.h"
#include "scheduler/record/task_record.h"
#include "scheduler/time/wall.h"

static int reserve_all(struct tqi_check *c)
{
	struct tqi_root *root = tqi_root(c->tx);
	int r = tqi_heap_reserve(c->tx, &root->time.due, root->unfinished);

	if (r == 0)
		r = tqi_heap_reserve(c->tx, &root->time.wall, root->time.appointments);
	if (r == 0)
		r = tqi_heap_reserve(c->tx, &root->owners, c->tx->core->tables[TQI_WORKERS].live);
	return r;
}

static void enter_heaps(struct tqi_check *c, uint32_t index, struct tqi_task *t)
{
	uint64_t due = UINT64_MAX;

	if (t->state != TQ_RUNNING || tqi_attempt_at(c->tx, t->attempt)->phase == 0)
		due = tqi_due_of(c->tx, t);
	else if (!(t->flags & TQI_TASK_LATE)) /* its attempt is being ended: no time of that */
		due = tqi_check_deadline(c, t);
	if (tqi_check_gauge(c, t) != TQ_FREE) /* of a shut one the time is watched later */
		tqi_due_set(c->tx, index, due);
	if (t->state == TQ_DELAYED && t->due_ns == UINT64_MAX)
		tqi_wall_enter(c->tx, index);
}

int tqi_rebuild_heaps(struct tqi_check *c)
{
	int r = reserve_all(c);

	for (uint32_t i = 1; i < c->count[TQI_TASKS] && r == 0; i++) {
		struct tqi_task *t = tqi_task_at(c->tx, i);

		if (t->state != TQ_FREE)
			enter_heaps(c, i, t);
	}
	return r;
}

/* Finished tasks by when they ended: heap sort in the scratch memory. */

static bool ended_before(struct tqi_check *c, uint32_t a, uint32_t b)
{
	const struct tqi_task *x = tqi_task_at(c->tx, a), *y = tqi_task_at(c->tx, b);

	return x->ended_ns != y->ended_ns ? x->ended_ns < y->ended_ns : a < b;
}

static void sink(struct tqi_check *c, uint32_t *items, uint32_t at, uint32_t count)
{
	uint32_t item = items[at], child;

	while ((child = 2 * at + 1) < count) {
		if (child + 1 < count && ended_before(c, items[child], items[child + 1]))
			child++;
		if (!ended_before(c, item, items[child]))
			break;
		items[at] = items[child];
		at = child;
	}
	items[at] = item;
}

static void sort(struct tqi_check *c, uint32_t *items, uint32_t count)
{
	for (uint32_t i = count / 2; i > 0; i--)
		sink(c, items, i - 1, count);
	for (uint32_t n = count; n > 1; n--) {
		uint32_t last = items[0];

		items[0] = items[n - 1];
		items[n - 1] = last;
		sink(c, items, 0, n - 1);
	}
}

static bool has_to_tell(struct tqi_check *c, const struct tqi_task *t)
{
	for (uint32_t e = t->edges; e; e = tqi_edge_at(c->tx, e)->next)
		if (tqi_edge_at(c->tx, e)->told == TQI_EDGE_OPEN)
			return true;
	return false;
}

/* A finished one to forget that nothing pins should have been freed: it is evicted first. */
void tqi_rebuild_lists(struct tqi_check *c)
{
	uint32_t *items = c->pins, count = 0; /* nobody needs the pins any more */

	for (uint32_t i = 1; i < c->count[TQI_TASKS]; i++) {
		struct tqi_task *t = tqi_task_at(c->tx, i);

		if (!tqi_state_is_final(t->state))
			continue;
		if (has_to_tell(c, t))
			tqi_edge_append(c->tx, i);
		else if (!t->pins && !(t->flags & TQI_TASK_KEEP))
			items[count++] = i;
	}
	sort(c, items, count);
	for (uint32_t i = 0; i < count; i++)
		tqi_task_list(c->tx, items[i]);
}
