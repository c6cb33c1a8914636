/* SPDX-License-Identifier: MIT */
/* Dependencies: one more, and reading both sides of them. */
#include <errno.h>
#include <string.h>

#include "client/core/handle.h"
#include "client/observe/snapshot.h"
#include "scheduler/graph/after.h"
#include "scheduler/task/depend.h"

#define TRIES 64

struct addition {
	uint64_t id;
	uint64_t on;
	uint32_t kind;
};

static int add_op(struct tqi_tx *tx, void *arg)
{
	const struct addition *a = arg;

	return tqi_after_add(tx, a->id, a->on, a->kind);
}

int tq_task_after(struct tq *tq, uint64_t id, uint64_t on, uint32_t kind)
{
	if (!tq)
		return -EINVAL;
	struct addition addition = { id, on, kind };

	if (kind < TQ_AFTER_OK || kind > TQ_AFTER_FAIL)
		return -EINVAL;
	return tqi_run(tq, add_op, &addition);
}

/* A walk along edges, copied one by one while others may change them. */
struct walk {
	const struct tqi_segment *seg;
	uint32_t task; /* whose edges, at this end of them */
	bool dependants;
	struct tq_dependency_info *infos;
	uint32_t count;
	uint32_t filled;
};

static void fill(struct walk *w, const struct tqi_edge *edge)
{
	struct tq_dependency_info *info = &w->infos[w->filled++];
	uint32_t index = w->dependants ? edge->waiter : edge->task;
	struct tqi_task other;

	if (tqi_peek_record(w->seg, TQI_TASKS, index, &other) < 0)
		memset(&other, 0, sizeof(other));
	/* Of a damaged record: 0, and "?" where it is printed. */
	*info = (struct tq_dependency_info){ .id = tqi_id_make(index, other.generation),
					     .kind = edge->kind <= TQ_AFTER_FAIL ? edge->kind : 0,
					     .state = other.state < TQ_STATE_COUNT ? other.state
										   : 0,
					     .decided = edge->told != TQI_EDGE_OPEN };
}

/* Until the end, or to an edge that has come to be another's meanwhile. */
static void walk(struct walk *w, uint32_t e)
{
	struct tqi_edge edge;
	uint32_t left; /* a chain is no longer than its table: this one is damaged */

	if (tqi_peek_count(w->seg, TQI_EDGES, &left) < 0)
		return;
	while (e && left-- > 0 && w->filled < w->count &&
	       tqi_peek_record(w->seg, TQI_EDGES, e, &edge) == 0) {
		if ((w->dependants ? edge.task : edge.waiter) != w->task)
			return;
		if (edge.kind)
			fill(w, &edge);
		else if (!w->dependants)
			return;
		e = w->dependants ? edge.next : edge.next_of_waiter;
	}
}

static void walk_all(struct walk *w, const struct tqi_task *task)
{
	struct tqi_extra extra;

	w->filled = 0;
	if (!w->dependants) {
		if (tqi_peek_extra(w->seg, task, &extra))
			walk(w, extra.after);
		return;
	}
	walk(w, task->edges);
	if (task->flags & TQI_TASK_TELLING)
		walk(w, task->prev);
}

static int read_edges(struct tq *tq, uint64_t id, struct walk *w)
{
	struct tqi_task task;

	w->seg = &tq->seg;
	w->task = tqi_id_index(id);
	for (int i = 0; i < TRIES; i++) {
		int r = tqi_peek_task(&tq->seg, id, &task);

		if (r < 0)
			return r;
		walk_all(w, &task);
		if (tqi_task_unchanged(&tq->seg, w->task, &task))
			break; /* else it is changing fast: the last walk will do */
	}
	return (int)w->filled;
}

int tq_task_dependencies(struct tq *tq, uint64_t id, struct tq_dependency_info *infos,
			 uint32_t count)
{
	if (!tq || (count && !infos))
		return -EINVAL;
	struct walk w = { .infos = infos, .count = count };

	return read_edges(tq, id, &w);
}

int tq_task_dependants(struct tq *tq, uint64_t id, struct tq_dependency_info *infos, uint32_t count)
{
	if (!tq || (count && !infos))
		return -EINVAL;
	struct walk w = { .infos = infos, .count = count, .dependants = true };

	return read_edges(tq, id, &w);
}
