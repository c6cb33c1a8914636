/* SPDX-License-Identifier: MIT */
/* The finished list, those whose end is being told, and the edges of tasks. */
#include "scheduler/check/check_state.h"

static void check_finished(struct tqi_check *c)
{
	const struct tqi_root *root = tqi_root(c->tx);
	struct tqi_check_list list = { TQI_CHECK_LIST(TQI_TASKS, tqi_task, prev, next),
				       .mark = TQI_SEEN_LINKED, .name = "finished tasks",
				       .next = root->finished.oldest };
	const struct tqi_task *t;

	while ((t = tqi_check_next(c, &list)))
		if (!(t->flags & TQI_TASK_LISTED))
			tqi_check_break(c, &list);
	tqi_check_equal(c, "root", 0, "finished_newest", root->finished.newest, list.at);
	tqi_check_equal(c, "root", 0, "finished_count", root->finished.count, c->listed);
	tqi_check_equal(c, "finished list", 0, "length", list.count, c->listed);
}

/* One way: `prev` is its edges' (ED-3). */
static void check_telling(struct tqi_check *c)
{
	const struct tqi_root *root = tqi_root(c->tx);
	struct tqi_check_list list = { TQI_CHECK_CHAIN(TQI_TASKS, tqi_task, next),
				       .mark = TQI_SEEN_LINKED, .name = "telling tasks",
				       .next = root->telling.first };
	const struct tqi_task *t;

	while ((t = tqi_check_next(c, &list)))
		if (!(t->flags & TQI_TASK_TELLING))
			tqi_check_break(c, &list);
	tqi_check_equal(c, "root", 0, "telling.last", root->telling.last, list.at);
	tqi_check_equal(c, "telling list", 0, "length", list.count, c->telling);
}

/* A list of a task's edges. */
static void check_edges(struct tqi_check *c, uint32_t i, const struct tqi_task *t, uint32_t e)
{
	bool told = tqi_state_is_final(t->state) && !(t->flags & TQI_TASK_TELLING);
	struct tqi_check_list list = { TQI_CHECK_LIST(TQI_EDGES, tqi_edge, prev, next),
				       .mark = TQI_SEEN_LINKED, .name = "edges of task", .owner = i,
				       .next = e };
	const struct tqi_edge *edge;

	while ((edge = tqi_check_next(c, &list))) {
		if (edge->task != i || edge->told == TQI_EDGE_TOLD)
			tqi_check_break(c, &list);
		else if (told && edge->told == TQI_EDGE_OPEN)
			tqi_check_fault(c, "task %u: final, but not all who wait were told", i);
	}
}

/* ED-3 */
static void check_untold(struct tqi_check *c, uint32_t i, const struct tqi_task *t)
{
	const struct tqi_extra *extra = tqi_check_extra(c, t);

	check_edges(c, i, t, t->edges);
	if (t->flags & TQI_TASK_TELLING)
		check_edges(c, i, t, t->prev);
	else if (extra && extra->again)
		tqi_check_fault(c, "task %u: another round of none", i);
}

/* RC-11 */
static void check_unmet(struct tqi_check *c, uint32_t i, const struct tqi_task *t)
{
	const struct tqi_extra *extra = tqi_check_extra(c, t);

	tqi_check_equal(c, "task", i, "unmet", extra ? extra->unmet : 0, c->unmet[i]);
}

static void check_edge(struct tqi_check *c, uint32_t e)
{
	const struct tqi_edge *edge = tqi_check_record_in_use(c, TQI_EDGES, e);
	uint32_t mark = c->marks[TQI_EDGES][e];

	if (!edge)
		return;
	if (!(mark & TQI_SEEN_WAITER))
		tqi_check_fault(c, "edge %u: of nobody", e);
	if (edge->told > TQI_EDGE_REFUSED ||
	    (edge->told != TQI_EDGE_TOLD) != !!(mark & TQI_SEEN_LINKED))
		tqi_check_fault(c, "edge %u: told is %u, %s the list of task %u", e, edge->told,
				mark & TQI_SEEN_LINKED ? "on" : "not on", edge->task);
}

void tqi_check_lists(struct tqi_check *c)
{
	check_finished(c);
	check_telling(c);
	for (uint32_t i = 1; i < c->count[TQI_TASKS]; i++) {
		const struct tqi_task *t = tqi_check_record_in_use(c, TQI_TASKS, i);

		if (!t || t->state == TQ_FREE)
			continue;
		tqi_check_equal(c, "task", i, "pins", t->pins, c->pins[i]);
		check_untold(c, i, t);
		check_unmet(c, i, t);
	}
	for (uint32_t e = 1; e < c->count[TQI_EDGES]; e++)
		check_edge(c, e);
}
