/* SPDX-License-Identifier: MIT */
/* What the user sees and has chosen, and what a key does to it. */
#ifndef TASKQ_TOP_UI_H
#define TASKQ_TOP_UI_H

#include "act.h"
#include "detail.h"
#include "key.h"
#include "view.h"

enum ui_mode {
	MODE_VIEW,
	MODE_FILTER,   /* a filter is being typed */
	MODE_PRIORITY, /* a number is being typed, for `action` */
	MODE_CONFIRM   /* `action` waits for y or n */
};

enum {
	WIDTH_LEAST = 40, /* of a screen that something can be drawn on */
	INPUT_MAX = FILTER_MAX,
	MESSAGE_S = 5 /* seconds that a message stays */
};

struct ui {
	unsigned view;
	struct table_state tables[VIEW_COUNT];
	struct detail detail; /* shown instead of the view unless DETAIL_NONE */
	enum ui_mode mode;
	char input[INPUT_MAX];
	char filter_before[FILTER_MAX]; /* to come back to */
	struct action action;
	char message[ACT_TEXT_MAX];
	bool message_is_bad;
	uint64_t message_until_ns;
	bool read_only;
	bool is_frozen; /* no new looks */
	bool is_plain;	/* printed: no tabs, no keys, nothing picked */
	/* Set when it is drawn: where the table and the details stand. */
	int table_y, table_lines, detail_lines;
	unsigned detail_rows; /* of all of the details */
};

/* What is to follow a key. */
enum ui_outcome {
	UI_NOTHING,
	UI_DRAW,
	UI_LOOK, /* take a new look, then draw */
	UI_ACT,	 /* do ui->action, then look */
	UI_QUIT
};

enum ui_outcome ui_press(struct ui *ui, const struct model *model, const struct press *press,
			 int width);
/* Whether it asks whether to do something: what was typed before that is no answer. */
bool ui_asks(const struct ui *ui);
void ui_message(struct ui *ui, bool is_bad, uint64_t now_ns, const char *text);
void ui_free(struct ui *ui);

/* frame.c: all of it onto the cells.  `load` gets the rows of tables that are read only
 * when they are shown; may be NULL. */
typedef void frame_load_fn(void *arg, uint32_t first, uint32_t count);
void frame_draw(struct ui *ui, const struct model *model, struct cells *cells, frame_load_fn *load,
		void *arg);

/* View whose tab is at x of the second line; -1 none. */
int frame_tab_at(int x);

#endif
