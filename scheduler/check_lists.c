/* SPDX-License-Identifier: MIT */
/* The finished list, those whose end is being told, and the edges of tasks. */
#include "scheduler/check_state.h"

static void check_finished(struct tqi_check *c)
{
	const struct tqi_root *root = tqi_root(c->tx);
	uint32_t i = root->finished_oldest, prev = 0, n = 0;

	while (i) {
		const struct tqi_task *t = tqi_check_record_in_use(c, TQI_TASKS, i);

		if (!t || !(t->flags & TQI_TASK_LISTED) || t->prev != prev ||
		    (c->marks[TQI_TASKS][i] & TQI_SEEN_LINKED)) {
			tqi_check_fault(c, "finished list: broken at task %u", i);
			break;
		}
		c->marks[TQI_TASKS][i] |= TQI_SEEN_LINKED;
		prev = i;
		i = t->next;
		n++;
	}
	tqi_check_equal(c, "root", 0, "finished_newest", root->finished_newest, prev);
	tqi_check_equal(c, "root", 0, "finished_count", root->finished_count, c->listed);
	tqi_check_equal(c, "finished list", 0, "length", n, c->listed);
}

static void check_telling(struct tqi_check *c)
{
	uint32_t i = tqi_root(c->tx)->telling, n = 0;

	while (i) {
		const struct tqi_task *t = tqi_check_record_in_use(c, TQI_TASKS, i);

		if (!t || !(t->flags & TQI_TASK_TELLING) ||
		    (c->marks[TQI_TASKS][i] & TQI_SEEN_LINKED)) {
			tqi_check_fault(c, "telling list: broken at task %u", i);
			break;
		}
		c->marks[TQI_TASKS][i] |= TQI_SEEN_LINKED;
		i = t->next;
		n++;
	}
	tqi_check_equal(c, "telling list", 0, "length", n, c->telling);
}

/* Edges of a task that have not been told, both ways. */
static void check_untold(struct tqi_check *c, uint32_t i, const struct tqi_task *t)
{
	uint32_t e = t->edges, prev = 0;

	while (e) {
		const struct tqi_edge *edge = tqi_check_record_in_use(c, TQI_EDGES, e);

		if (!edge || edge->task != i || edge->told || edge->prev != prev ||
		    (c->marks[TQI_EDGES][e] & TQI_SEEN_LINKED)) {
			tqi_check_fault(c, "task %u: list of edges broken at %u", i, e);
			return;
		}
		c->marks[TQI_EDGES][e] |= TQI_SEEN_LINKED;
		prev = e;
		e = edge->next;
	}
}

/* R11 */
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
		tqi_check_fault(c, "edge %u: of no sleeper", e);
	if (edge->told > 1 || !edge->told != !!(mark & TQI_SEEN_LINKED))
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
