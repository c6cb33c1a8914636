/* SPDX-License-Identifier: MIT */
/* The columns that `taskq list` can print. */
#ifndef TASKQ_TOOL_LIST_COLUMNS_H
#define TASKQ_TOOL_LIST_COLUMNS_H

#include "format.h"
#include "table.h"

/* What the cells of a row are made from. */
struct list_row {
	struct table *table;
	struct tq *tq;
	const struct clocks *clocks;
	const struct tq_task_info *info;
};

struct list_column {
	const char *name;
	const char *header;
	void (*put)(const struct list_row *row);
	bool right;
};

/* The first ones, LIST_COLUMNS_DEFAULT of them, are printed by default; a NULL name
 * ends the table. */
extern const struct list_column list_columns[];

enum {
	LIST_COLUMNS_DEFAULT = 8
};

#endif
