/* SPDX-License-Identifier: MIT */
/*
 * The views.  A view is one file, and one row of VIEW_MAP: a table, perhaps with a few
 * lines above it.
 */
#ifndef TASKQ_TOP_VIEW_H
#define TASKQ_TOP_VIEW_H

#include "table_view.h"

/* What the picked line of a view is, and so what can be done to it. */
enum subject {
	SUBJECT_QUEUE,
	SUBJECT_TASK,
	SUBJECT_WORKER,
	SUBJECT_LIMIT,
	SUBJECT_GROUP,
	SUBJECT_EVENT
};

struct view {
	const char *name;
	enum subject subject;
	const struct table_kind *table;
	/* Draws what stands above the table from line y on, at most `height` lines; how many. */
	int (*head)(const struct model *model, const struct table_state *state, struct cells *cells,
		    int y, int height);
};

#define VIEW_MAP(X)                                                                                \
	X(view_overview)                                                                           \
	X(view_queues)                                                                             \
	X(view_tasks)                                                                              \
	X(view_workers)                                                                            \
	X(view_limits)                                                                             \
	X(view_groups)                                                                             \
	X(view_trace)

#define VIEW_DECLARE(name) extern const struct view name;
VIEW_MAP(VIEW_DECLARE)
#undef VIEW_DECLARE

enum view_number {
#define VIEW_NUMBER(name) NUMBER_##name,
	VIEW_MAP(VIEW_NUMBER)
#undef VIEW_NUMBER
	VIEW_COUNT
};

extern const struct view *const views[VIEW_COUNT];
extern const struct table_kind queues_table; /* Overview and Queues */
extern const struct table_kind tasks_table;

/* How tasks are to be picked when this column of tasks_table decides. */
pass_rank_fn *tasks_rank(unsigned column);

#endif
