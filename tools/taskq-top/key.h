/* SPDX-License-Identifier: MIT */
/* Keys as the rest of the program knows them: characters, and these. */
#ifndef TASKQ_TOP_KEY_H
#define TASKQ_TOP_KEY_H

struct press {
	int key;  /* a byte of a character, or one of enum key */
	int x, y; /* of the mouse */
};

enum key {
	PRESS_NONE = -1,
	PRESS_TAB = '\t',
	PRESS_ENTER = '\n',
	PRESS_ESCAPE = 27,
	PRESS_UP = 0x200000,
	PRESS_DOWN,
	PRESS_LEFT,
	PRESS_RIGHT,
	PRESS_PAGE_UP,
	PRESS_PAGE_DOWN,
	PRESS_HOME,
	PRESS_END,
	PRESS_BACKTAB,
	PRESS_BACKSPACE,
	PRESS_RESIZE,
	PRESS_CLICK,
	PRESS_DOUBLE_CLICK,
	PRESS_WHEEL_UP,
	PRESS_WHEEL_DOWN,
	PRESS_F0, /* PRESS_F0 + 1 is F1 */
	PRESS_F_LAST = PRESS_F0 + 12
};

#endif
