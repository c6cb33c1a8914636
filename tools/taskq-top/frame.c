/* SPDX-License-Identifier: MIT */
/* The whole screen: title, tabs, what is wrong, the view, keys. */
#include <string.h>

#include "draw.h"
#include "ui.h"

enum {
	HEIGHT_LEAST = 8
};

#define SHORTENED "..." /* behind a name that was cut */

static void draw_title(const struct ui *ui, const struct model *model, struct cells *cells)
{
	const struct sample *now = &model->now;
	char up[FORMAT_MAX], wall[FORMAT_MAX], right[96];
	int x;

	cells_fill(cells, 0, 0, cells->width, ROLE_TITLE);
	x = cells_printf(cells, 1, 0, cells->width, ROLE_TITLE, "taskq-top  %s", model->segment);
	if (now->segment.created_unix_ns)
		x = cells_printf(
			cells, x, 0, cells->width, ROLE_TITLE, "   up %s",
			format_duration(now->clocks.unix_now_ns - now->segment.created_unix_ns,
					up));
	format_local(now->clocks.unix_now_ns, wall);
	wall[19] = '\0';
	snprintf(right, sizeof(right), "%s%severy %g s  %s ", ui->read_only ? "read-only  " : "",
		 ui->is_frozen ? "FROZEN  " : "", (double)model->delay_ns / 1e9, wall + 11);
	const int width = cells_width(cells, right);

	if (x + width < cells->width)
		cells_put(cells, cells->width - width, 0, cells->width, ROLE_TITLE, right);
}

/* " 1 Overview " for each view; where each begins is needed for the mouse, too. */
static int tab_text(unsigned view, char text[32])
{
	return snprintf(text, 32, " %u %s ", view + 1, views[view]->name);
}

static void draw_tabs(const struct ui *ui, struct cells *cells, int y)
{
	int x = 0;

	for (unsigned i = 0; i < VIEW_COUNT; i++) {
		char text[32];

		tab_text(i, text);
		x = cells_put(cells, x, y, cells->width, i == ui->view ? ROLE_TAB_ON : ROLE_TAB,
			      text);
	}
}

int frame_tab_at(int x)
{
	int end = 0;

	for (unsigned i = 0; i < VIEW_COUNT; i++) {
		char text[32];

		end += tab_text(i, text);
		if (x < end)
			return (int)i;
	}
	return -1;
}

/* A line each, as many as there is room for; how many. */
static int draw_troubles(const struct model *model, struct cells *cells, int y)
{
	const int most = cells->height >= 24 ? 4 : cells->height >= 16 ? 2 : 1;
	int n = 0;

	for (unsigned i = 0; i < model->trouble_count && n < most; i++, n++) {
		const enum role role = model->troubles[i].is_grave ? ROLE_ALARM : ROLE_WARN;

		cells_fill(cells, 0, y + n, cells->width, role);
		cells_field(cells, 1, y + n, cells->width - 1, false, role,
			    model->troubles[i].text);
	}
	return n;
}

static int put_key(struct cells *cells, int x, int y, const char *key, const char *text)
{
	if (x + (int)(strlen(key) + strlen(text)) >= cells->width)
		return x;
	x = cells_put(cells, x, y, cells->width, ROLE_KEY, key);
	x = cells_put(cells, x, y, cells->width, ROLE_KEY_TEXT, text);
	return x + 1;
}

static int put_actions(const struct ui *ui, struct cells *cells, int x, int y, enum subject subject)
{
	for (const struct action_kind *kind = action_kinds; kind->key && !ui->read_only; kind++) {
		const char key[2] = { (char)kind->key, '\0' };

		if (kind->subject == subject)
			x = put_key(cells, x, y, key, kind->hint);
	}
	return x;
}

/* What the lines are, where it was typed. */
static int put_table_state(const struct table_state *state, struct cells *cells, int y)
{
	int x = 0;

	if (state->filter[0])
		x = cells_printf(cells, x, y, cells->width, ROLE_WARN, "filter: %s",
				 state->filter) +
		    2;
	if (state->is_pinned)
		x = cells_put(cells, x, y, cells->width, ROLE_WARN, "following") + 2;
	return x;
}

static void draw_keys(const struct ui *ui, struct cells *cells, int y)
{
	const struct view *view = views[ui->view];
	int x = 0;

	if (ui->detail.kind == DETAIL_NONE)
		x = put_table_state(&ui->tables[ui->view], cells, y);
	x = put_key(cells, x, y, "?", "Help");
	if (ui->detail.kind != DETAIL_NONE) {
		if (ui->detail.kind == DETAIL_TASK)
			x = put_key(cells, x, y, "f", "Follow");
		x = put_key(cells, x, y, "jk", "Scroll");
		if (ui->detail.acts_on)
			x = put_actions(ui, cells, x, y, ui->detail.subject);
		put_key(cells, x, y, "Esc", "Back");
		return;
	}
	x = put_key(cells, x, y, "Tab", "View");
	x = put_key(cells, x, y, "/", "Filter");
	if (view->table->columns[view->table->first_sort].rank)
		x = put_key(cells, x, y, "<>", "Sort");
	x = put_key(cells, x, y, "Enter", "Details");
	x = put_actions(ui, cells, x, y, view->subject);
	put_key(cells, x, y, "q", "Quit");
}

/* Takes so many columns off the end of a name, and says so; a short one goes altogether. */
static void shorten(const struct cells *cells, char *name, int columns)
{
	const int width = cells_width(cells, name) - columns - (int)strlen(SHORTENED);
	size_t bytes = strlen(name);

	if (bytes < strlen(SHORTENED)) /* there is none, or nothing to be gained */
		return;
	while (bytes > 0 && cells_width(cells, name) > width) {
		while (--bytes > 0 && ((unsigned char)name[bytes] & 0xc0) == 0x80)
			; /* a character's later bytes */
		name[bytes] = '\0';
	}
	memcpy(name + bytes, SHORTENED, sizeof(SHORTENED));
}

/* What is asked, and behind it what is answered: all of that is seen, whatever the names are. */
static void draw_question(const struct ui *ui, struct cells *cells, int y, const char *answer)
{
	struct action action = ui->action;
	char question[ACT_TEXT_MAX];

	action.kind->ask(&action, question);
	const int excess = cells_width(cells, question) + cells_width(cells, answer) - cells->width;

	if (excess > 0) {
		shorten(cells, action.label, excess);
		shorten(cells, action.name, excess);
		shorten(cells, action.worker.name, excess);
		action.kind->ask(&action, question);
	}
	cells_printf(cells, 0, y, cells->width, ROLE_ASK, "%s%s", question, answer);
}

/* The last line: keys, or a question, or what has just been done. */
static void draw_last_line(const struct ui *ui, const struct model *model, struct cells *cells)
{
	const int y = cells->height - 1;
	char answer[ACT_TEXT_MAX];

	cells_fill(cells, 0, y, cells->width, ui->mode == MODE_VIEW ? ROLE_TEXT : ROLE_ASK);
	if (ui->mode == MODE_FILTER) {
		cells_printf(cells, 0, y, cells->width, ROLE_ASK,
			     "Filter: %s_   (words; Enter keeps it, Esc does not)", ui->input);
	} else if (ui->mode == MODE_PRIORITY) {
		snprintf(answer, sizeof(answer), "%s_   (a number, or low, normal, high, critical)",
			 ui->input);
		draw_question(ui, cells, y, answer);
	} else if (ui->mode == MODE_CONFIRM) {
		draw_question(ui, cells, y, "   y yes   n no");
	} else if (ui->message[0] && model->now.clocks.now_ns < ui->message_until_ns) {
		cells_put(cells, 0, y, cells->width, ui->message_is_bad ? ROLE_BAD : ROLE_GOOD,
			  ui->message);
	} else {
		draw_keys(ui, cells, y);
	}
}

static void draw_detail(struct ui *ui, struct cells *cells, int y, int height)
{
	struct detail *detail = &ui->detail;
	char title[160];
	const unsigned room = height > 1 ? (unsigned)height - 1 : 1;
	const unsigned rows = lines_rows(&detail->lines, cells);
	const unsigned last = rows > room ? rows - room : 0;

	detail_title(detail, title, sizeof(title));
	cells_fill(cells, 0, y, cells->width, ROLE_HEAD);
	cells_put(cells, 1, y, cells->width, ROLE_HEAD_SORT, title);
	if (detail->follow || detail->first > last)
		detail->first = last;
	ui->detail_lines = (int)room;
	ui->detail_rows = rows;
	lines_draw(&detail->lines, cells, y + 1, (int)room, detail->first);
}

static void draw_view(struct ui *ui, const struct model *model, struct cells *cells, int y,
		      int height, frame_load_fn *load, void *arg)
{
	const struct view *view = views[ui->view];
	struct table_state *state = &ui->tables[ui->view];
	const int used = view->head ? view->head(model, state, cells, y, height) : 0;
	const int lines = height - used - 1;

	ui->table_y = y + used;
	ui->table_lines = lines > 0 ? lines : 0;
	table_scroll(state, lines);
	if (load && view->table == &tasks_table && lines > 0)
		load(arg, state->first, (uint32_t)lines);
	table_draw(view->table, state, model, cells, y + used, height - used, !ui->is_plain);
}

void frame_draw(struct ui *ui, const struct model *model, struct cells *cells, frame_load_fn *load,
		void *arg)
{
	int y = 2;

	cells_clear(cells);
	ui->table_lines = ui->detail_lines = 0;
	if (cells->width < WIDTH_LEAST || cells->height < HEIGHT_LEAST) {
		cells_printf(cells, 0, 0, cells->width, ROLE_BAD, "%dx%d is too small",
			     cells->width, cells->height);
		return;
	}
	draw_title(ui, model, cells);
	if (!ui->is_plain)
		draw_tabs(ui, cells, 1);
	y += draw_troubles(model, cells, y);
	if (ui->detail.kind != DETAIL_NONE)
		draw_detail(ui, cells, y, cells->height - y - 1);
	else if (!model->now.error)
		draw_view(ui, model, cells, y, cells->height - y - 1, load, arg);
	if (!ui->is_plain)
		draw_last_line(ui, model, cells);
}
