/* SPDX-License-Identifier: MIT */
/* What a key does. */
#include <string.h>

#include "ui.h"

#define NS_PER_S 1000000000ull

static struct table_state *table_of(struct ui *ui)
{
	return &ui->tables[ui->view];
}

void ui_message(struct ui *ui, bool is_bad, uint64_t now_ns, const char *text)
{
	snprintf(ui->message, sizeof(ui->message), "%s", text);
	ui->message_is_bad = is_bad;
	ui->message_until_ns = now_ns + MESSAGE_S * NS_PER_S;
}

void ui_free(struct ui *ui)
{
	for (unsigned i = 0; i < VIEW_COUNT; i++)
		table_free(&ui->tables[i]);
	detail_close(&ui->detail);
}

static enum ui_outcome show_view(struct ui *ui, unsigned view)
{
	if (view >= VIEW_COUNT)
		return UI_NOTHING;
	detail_close(&ui->detail);
	ui->view = view;
	return UI_LOOK;
}

static void edit(char *text, size_t room, int key)
{
	size_t bytes = strlen(text);

	if (key == PRESS_BACKSPACE) {
		while (bytes > 0 && ((unsigned char)text[--bytes] & 0xc0) == 0x80)
			; /* the whole character */
		text[bytes] = '\0';
	} else if (key == 'U' - '@') {
		text[0] = '\0';
	} else if (key >= ' ' && key < 256 && key != 127 && bytes + 1 < room) {
		text[bytes] = (char)key;
		text[bytes + 1] = '\0';
	}
}

static enum ui_outcome press_in_filter(struct ui *ui, int key)
{
	struct table_state *table = table_of(ui);

	if (key == PRESS_ENTER || key == PRESS_ESCAPE)
		ui->mode = MODE_VIEW;
	if (key == PRESS_ESCAPE)
		memcpy(ui->input, ui->filter_before, sizeof(ui->filter_before));
	edit(ui->input, sizeof(ui->input), key);
	memcpy(table->filter, ui->input, sizeof(table->filter));
	table->cursor = 0;
	table->is_paused = false;
	return UI_LOOK;
}

static enum ui_outcome press_in_priority(struct ui *ui, const struct model *model, int key)
{
	if (key == PRESS_ESCAPE) {
		ui->mode = MODE_VIEW;
		return UI_DRAW;
	}
	edit(ui->input, sizeof(ui->input), key);
	if (key != PRESS_ENTER)
		return UI_DRAW;
	if (tq_priority_parse(ui->input, &ui->action.priority) == 0) {
		ui->mode = MODE_VIEW;
		return UI_ACT;
	}
	ui->mode = MODE_VIEW;
	ui_message(ui, true, model->now.clocks.now_ns,
		   "that is no priority: give a whole number, or low, normal, high, critical");
	return UI_DRAW;
}

static enum ui_outcome press_in_confirm(struct ui *ui, int key)
{
	if (key == PRESS_RESIZE)
		return UI_DRAW;
	ui->mode = MODE_VIEW;
	return key == 'y' || key == 'Y' ? UI_ACT : UI_DRAW;
}

static enum ui_outcome begin_filter(struct ui *ui)
{
	const struct table_state *table = table_of(ui);

	ui->mode = MODE_FILTER;
	memcpy(ui->input, table->filter, sizeof(ui->input));
	memcpy(ui->filter_before, table->filter, sizeof(ui->filter_before));
	return UI_DRAW;
}

static const void *picked(struct ui *ui, const struct model *model)
{
	const struct table_state *table = table_of(ui);

	return table_row(views[ui->view]->table, table, model, table->cursor);
}

static enum ui_outcome begin_action(struct ui *ui, const struct model *model, int key,
				    enum subject subject, const void *row)
{
	if (!act_find(key, subject, row, &ui->action))
		return UI_NOTHING;
	if (ui->read_only) {
		ui_message(ui, true, model->now.clocks.now_ns, "--read-only: nothing can be done");
		return UI_DRAW;
	}
	ui->mode = ui->action.kind->wants_priority ? MODE_PRIORITY : MODE_CONFIRM;
	snprintf(ui->input, sizeof(ui->input), "%d", ui->action.priority);
	return UI_DRAW;
}

/* The keys that htop has for it, and those of our own. */
static enum ui_outcome press_to_act(struct ui *ui, const struct model *model, int key,
				    enum subject subject, const void *row)
{
	if (key == PRESS_F0 + 7 || key == PRESS_F0 + 8)
		key = 'N';
	if (key == PRESS_F0 + 9)
		key = subject == SUBJECT_WORKER ? 'T' : 'C';
	return begin_action(ui, model, key, subject, row);
}

static enum ui_outcome open_detail(struct ui *ui, const struct model *model)
{
	const void *row = picked(ui, model);
	struct detail *detail = &ui->detail;

	if (!row)
		return UI_NOTHING;
	detail_close(detail);
	switch (views[ui->view]->subject) {
	case SUBJECT_TASK:
		detail->kind = DETAIL_TASK;
		detail->id = ((const struct task_row *)row)->info.id;
		break;
	case SUBJECT_QUEUE:
		detail->kind = DETAIL_QUEUE;
		snprintf(detail->name, sizeof(detail->name), "%s",
			 ((const struct queue_row *)row)->info.name);
		break;
	case SUBJECT_WORKER:
		detail->kind = DETAIL_WORKER;
		detail->number = ((const struct worker_row *)row)->info.number;
		detail->id = ((const struct worker_row *)row)->info.registered_ns;
		break;
	case SUBJECT_LIMIT:
		detail->kind = DETAIL_LIMIT;
		snprintf(detail->name, sizeof(detail->name), "%s",
			 ((const struct tq_limit_info *)row)->key);
		break;
	case SUBJECT_GROUP:
		detail->kind = DETAIL_GROUP;
		detail->id = ((const struct tq_group_info *)row)->id;
		break;
	case SUBJECT_EVENT:
		detail->id = ((const struct tq_trace_entry *)row)->task;
		detail->kind = detail->id ? DETAIL_TASK : DETAIL_NONE;
		break;
	}
	return UI_LOOK;
}

/* Lines that a key moves by; 0 it does not move. */
static int64_t steps(int key, int page)
{
	switch (key) {
	case 'k':
	case PRESS_UP:
		return -1;
	case 'j':
	case PRESS_DOWN:
		return 1;
	case PRESS_WHEEL_UP:
		return -3;
	case PRESS_WHEEL_DOWN:
		return 3;
	case PRESS_PAGE_UP:
	case 'B' - '@':
		return -page;
	case PRESS_PAGE_DOWN:
	case 'F' - '@':
		return page;
	case PRESS_HOME:
	case 'g':
		return INT32_MIN;
	case PRESS_END:
	case 'G':
		return INT32_MAX;
	default:
		return 0;
	}
}

static void scroll_detail(struct ui *ui, int64_t lines)
{
	struct detail *detail = &ui->detail;
	const int64_t to = (int64_t)detail->first + lines;

	detail->follow = false;
	detail->first = to < 0 ? 0 : to > ui->detail_rows ? ui->detail_rows : (unsigned)to;
}

static enum ui_outcome press_in_detail(struct ui *ui, const struct model *model, int key)
{
	const int64_t lines = steps(key, ui->detail_lines);

	if (lines) {
		scroll_detail(ui, lines);
		return UI_DRAW;
	}
	switch (key) {
	case 'q':
	case PRESS_ESCAPE:
	case PRESS_ENTER:
	case PRESS_BACKSPACE:
	case PRESS_F0 + 10:
		detail_close(&ui->detail);
		return UI_LOOK;
	case 'f':
		ui->detail.follow = ui->detail.kind == DETAIL_TASK && !ui->detail.follow;
		return UI_LOOK;
	default:
		return press_to_act(ui, model, key, ui->detail.subject, ui->detail.acts_on);
	}
}

static enum ui_outcome press_mouse(struct ui *ui, const struct model *model,
				   const struct press *press, int width)
{
	struct table_state *table = table_of(ui);
	const struct table_kind *kind = views[ui->view]->table;
	const int line = press->y - ui->table_y - 1;
	const int tab = press->y == 1 ? frame_tab_at(press->x) : -1;

	if (tab >= 0)
		return show_view(ui, (unsigned)tab);
	if (ui->detail.kind != DETAIL_NONE)
		return UI_NOTHING;
	if (line == -1) {
		const int column = table_column_at(kind, table, width, press->x);

		if (column >= 0)
			table_sort(kind, table, (unsigned)column);
		return UI_LOOK;
	}
	if (line < 0 || line >= ui->table_lines || table->first + (uint32_t)line >= table->count)
		return UI_NOTHING;
	table_move(kind, table, model, (int64_t)table->first + line - table->cursor);
	return press->key == PRESS_DOUBLE_CLICK ? open_detail(ui, model) : UI_DRAW;
}

/* The next column that can decide on the order. */
static enum ui_outcome sort_beside(struct ui *ui, int step)
{
	struct table_state *table = table_of(ui);
	const struct table_kind *kind = views[ui->view]->table;
	const unsigned count = kind->column_count;
	unsigned column = table->sort;

	if (!kind->columns[column].rank)
		return UI_NOTHING;
	do
		column = (column + count + (unsigned)step) % count;
	while (!kind->columns[column].rank);
	table_sort(kind, table, column);
	return UI_LOOK;
}

static enum ui_outcome press_in_table(struct ui *ui, const struct model *model, int key)
{
	struct table_state *table = table_of(ui);
	const struct table_kind *kind = views[ui->view]->table;
	const int64_t lines = steps(key, ui->table_lines);

	if (lines) {
		table_move(kind, table, model, lines);
		return UI_DRAW;
	}
	switch (key) {
	case '>':
	case PRESS_F0 + 6:
		return sort_beside(ui, 1);
	case '<':
		return sort_beside(ui, -1);
	case 'I':
		table_sort(kind, table, table->sort);
		return UI_LOOK;
	case 'l':
	case PRESS_RIGHT:
		table->skip += table->skip + 2 < kind->column_count;
		return UI_DRAW;
	case 'h':
	case PRESS_LEFT:
		table->skip -= table->skip > 0;
		return UI_DRAW;
	case PRESS_ENTER:
		return open_detail(ui, model);
	case 'F':
		if (kind->is_stream)
			table_move(kind, table, model, INT32_MAX);
		else
			table_pin(kind, table, model, !table->is_pinned);
		return UI_LOOK;
	case PRESS_ESCAPE:
		table->filter[0] = '\0';
		table->is_pinned = false;
		return UI_LOOK;
	default:
		return press_to_act(ui, model, key, views[ui->view]->subject, picked(ui, model));
	}
}

/* Keys that do the same wherever one is. */
static enum ui_outcome press_anywhere(struct ui *ui, int key)
{
	if (key >= '1' && key < '1' + VIEW_COUNT)
		return show_view(ui, (unsigned)(key - '1'));
	switch (key) {
	case PRESS_TAB:
		return show_view(ui, (ui->view + 1) % VIEW_COUNT);
	case PRESS_BACKTAB:
		return show_view(ui, (ui->view + VIEW_COUNT - 1) % VIEW_COUNT);
	case '?':
	case PRESS_F0 + 1:
		detail_close(&ui->detail);
		ui->detail.kind = DETAIL_HELP;
		return UI_LOOK;
	case 'z':
		ui->is_frozen = !ui->is_frozen;
		return UI_LOOK;
	case ' ':
	case 'L' - '@':
	case PRESS_F0 + 5:
		return UI_LOOK;
	case PRESS_RESIZE:
		return UI_DRAW;
	default:
		return UI_NOTHING;
	}
}

static enum ui_outcome press_in_view(struct ui *ui, const struct model *model,
				     const struct press *press, int width)
{
	enum ui_outcome outcome;

	if (press->key == PRESS_CLICK || press->key == PRESS_DOUBLE_CLICK)
		return press_mouse(ui, model, press, width);
	outcome = press_anywhere(ui, press->key);
	if (outcome != UI_NOTHING)
		return outcome;
	if (ui->detail.kind != DETAIL_NONE)
		return press_in_detail(ui, model, press->key);
	if (press->key == 'q' || press->key == PRESS_F0 + 10)
		return UI_QUIT;
	if (press->key == '/' || press->key == PRESS_F0 + 3 || press->key == PRESS_F0 + 4)
		return begin_filter(ui);
	return press_in_table(ui, model, press->key);
}

bool ui_asks(const struct ui *ui)
{
	return ui->mode == MODE_CONFIRM || ui->mode == MODE_PRIORITY;
}

enum ui_outcome ui_press(struct ui *ui, const struct model *model, const struct press *press,
			 int width)
{
	ui->message[0] = '\0';
	switch (ui->mode) {
	case MODE_FILTER:
		return press_in_filter(ui, press->key);
	case MODE_PRIORITY:
		return press_in_priority(ui, model, press->key);
	case MODE_CONFIRM:
		return press_in_confirm(ui, press->key);
	default:
		return press_in_view(ui, model, press, width);
	}
}
