/* SPDX-License-Identifier: MIT */
/* Cells onto a terminal, and keys from it. */
#include <langinfo.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "screen.h"

#define ESCAPE_MS 25 /* between Esc and what makes it the beginning of a key */

/* Colours are the terminal's own eight, so they fit its theme, light or dark. */
static const struct look {
	short pair; /* 0 the terminal's own */
	short ink, paper;
	attr_t with_colour, without;
} looks[ROLE_COUNT] = {
	[ROLE_TEXT] = { 0, -1, -1, A_NORMAL, A_NORMAL },
	[ROLE_DIM] = { 0, -1, -1, A_DIM, A_DIM },
	[ROLE_STRONG] = { 0, -1, -1, A_BOLD, A_BOLD },
	[ROLE_TITLE] = { 1, COLOR_BLACK, COLOR_CYAN, A_NORMAL, A_REVERSE },
	[ROLE_TAB] = { 0, -1, -1, A_NORMAL, A_NORMAL },
	[ROLE_TAB_ON] = { 2, COLOR_BLACK, COLOR_GREEN, A_BOLD, A_REVERSE | A_BOLD },
	[ROLE_HEAD] = { 3, COLOR_BLACK, COLOR_GREEN, A_NORMAL, A_REVERSE },
	[ROLE_HEAD_SORT] = { 1, COLOR_BLACK, COLOR_CYAN, A_BOLD, A_REVERSE | A_BOLD },
	[ROLE_PICKED] = { 1, COLOR_BLACK, COLOR_CYAN, A_NORMAL, A_REVERSE },
	[ROLE_GOOD] = { 4, COLOR_GREEN, -1, A_NORMAL, A_NORMAL },
	[ROLE_BUSY] = { 5, COLOR_CYAN, -1, A_NORMAL, A_BOLD },
	[ROLE_WARN] = { 6, COLOR_YELLOW, -1, A_NORMAL, A_BOLD },
	[ROLE_BAD] = { 7, COLOR_RED, -1, A_BOLD, A_BOLD },
	[ROLE_ALARM] = { 8, COLOR_WHITE, COLOR_RED, A_BOLD, A_REVERSE | A_BOLD },
	[ROLE_ASK] = { 9, COLOR_BLACK, COLOR_YELLOW, A_NORMAL, A_REVERSE },
	[ROLE_KEY] = { 0, -1, -1, A_BOLD, A_BOLD },
	[ROLE_KEY_TEXT] = { 1, COLOR_BLACK, COLOR_CYAN, A_NORMAL, A_REVERSE },
	[ROLE_GRAPH] = { 4, COLOR_GREEN, -1, A_NORMAL, A_NORMAL },
	[ROLE_GRAPH_BAD] = { 7, COLOR_RED, -1, A_NORMAL, A_NORMAL },
};

static SCREEN *terminal; /* ncurses knows only one at a time */
static bool coloured;
static struct cells shown; /* what is on it; what has not changed is not drawn again */

bool screen_is_ascii(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
}

static void begin_colours(void)
{
	const char *no_color = getenv("NO_COLOR");

	coloured = has_colors() && !(no_color && *no_color) && start_color() == OK;
	if (!coloured)
		return;
	use_default_colors();
	for (int role = 0; role < ROLE_COUNT; role++)
		if (looks[role].pair)
			init_pair(looks[role].pair, looks[role].ink, looks[role].paper);
}

bool screen_begin(void)
{
	if (!terminal) {
		terminal = newterm(NULL, stdout, stdin);
		if (!terminal)
			return false;
		if (!tigetstr("cup")) { /* it cannot place its cursor */
			endwin();
			return false;
		}
		set_escdelay(ESCAPE_MS);
		begin_colours();
		cbreak();
		noecho();
		nonl();
		keypad(stdscr, TRUE);
		nodelay(stdscr, TRUE);
		curs_set(0);
		mousemask(BUTTON1_PRESSED | BUTTON1_CLICKED | BUTTON1_DOUBLE_CLICKED |
				  BUTTON4_PRESSED | BUTTON5_PRESSED,
			  NULL);
		mouseinterval(150); /* within which two presses are one double click, in ms */
	}
	refresh();
	return true;
}

void screen_end(void)
{
	if (terminal && !isendwin())
		endwin();
	cells_free(&shown);
}

void screen_size(int *ret_width, int *ret_height)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col &&
	    (size.ws_row != LINES || size.ws_col != COLS)) {
		resizeterm(size.ws_row, size.ws_col);
		clear();
		cells_free(&shown);
	}
	*ret_width = COLS;
	*ret_height = LINES;
}

static void show_cell(const struct cell *cell)
{
	const struct look *look = &looks[cell->role];

	if (coloured)
		attr_set(look->with_colour, look->pair, NULL);
	else
		attr_set(look->without, 0, NULL);
	addstr(cell->text);
}

static bool is_as_shown(const struct cells *cells, int y)
{
	const size_t bytes = (size_t)cells->width * sizeof(*cells->at);
	const size_t at = (size_t)y * (size_t)cells->width;

	return shown.width == cells->width && shown.height == cells->height &&
	       memcmp(cells->at + at, shown.at + at, bytes) == 0;
}

static void remember(const struct cells *cells)
{
	const size_t count = (size_t)cells->width * (size_t)cells->height;

	if ((shown.width == cells->width && shown.height == cells->height) ||
	    cells_resize(&shown, cells->width, cells->height))
		memcpy(shown.at, cells->at, count * sizeof(*cells->at));
}

void screen_show(const struct cells *cells)
{
	for (int y = 0; y < cells->height; y++) {
		if (is_as_shown(cells, y))
			continue;
		move(y, 0);
		for (int x = 0; x < cells->width; x++)
			show_cell(&cells->at[(size_t)y * (size_t)cells->width + (size_t)x]);
	}
	refresh();
	remember(cells);
}

static const struct {
	int curses, key;
} special[] = {
	{ KEY_UP, PRESS_UP },	      { KEY_DOWN, PRESS_DOWN },
	{ KEY_LEFT, PRESS_LEFT },     { KEY_RIGHT, PRESS_RIGHT },
	{ KEY_PPAGE, PRESS_PAGE_UP }, { KEY_NPAGE, PRESS_PAGE_DOWN },
	{ KEY_HOME, PRESS_HOME },     { KEY_END, PRESS_END },
	{ KEY_BTAB, PRESS_BACKTAB },  { KEY_BACKSPACE, PRESS_BACKSPACE },
	{ KEY_DC, PRESS_BACKSPACE },  { 127, PRESS_BACKSPACE },
	{ '\b', PRESS_BACKSPACE },    { KEY_ENTER, PRESS_ENTER },
	{ '\r', PRESS_ENTER },	      { KEY_RESIZE, PRESS_RESIZE },
};

static int mouse_key(struct press *press)
{
	MEVENT event;

	if (getmouse(&event) != OK)
		return PRESS_RESIZE;
	press->x = event.x;
	press->y = event.y;
	if (event.bstate & BUTTON4_PRESSED)
		return PRESS_WHEEL_UP;
	if (event.bstate & BUTTON5_PRESSED)
		return PRESS_WHEEL_DOWN;
	return event.bstate & BUTTON1_DOUBLE_CLICKED ? PRESS_DOUBLE_CLICK : PRESS_CLICK;
}

bool screen_press(struct press *ret_press)
{
	const int key = getch();

	if (key == ERR)
		return false;
	*ret_press = (struct press){ .key = key };
	if (key == KEY_MOUSE)
		ret_press->key = mouse_key(ret_press);
	else if (key >= KEY_F(1) && key <= KEY_F(12))
		ret_press->key = PRESS_F0 + (key - KEY_F0);
	for (unsigned i = 0; i < sizeof(special) / sizeof(special[0]); i++)
		if (special[i].curses == key)
			ret_press->key = special[i].key;
	if (ret_press->key == key && key > 255)
		ret_press->key = PRESS_RESIZE; /* one that means nothing here: draw again */
	return true;
}

void screen_drop_presses(void)
{
	flushinp();
}
