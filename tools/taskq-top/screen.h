/* SPDX-License-Identifier: MIT */
/* The terminal, by ncurses: the only file that knows it. */
#ifndef TASKQ_TOP_SCREEN_H
#define TASKQ_TOP_SCREEN_H

#include "cells.h"
#include "key.h"

/* False: the terminal's type is not known, or not fit for it. */
bool screen_begin(void);
/* The terminal as it was; before the process ends or stops. */
void screen_end(void);

/* Its size; what was drawn must be drawn anew when it has changed. */
void screen_size(int *ret_width, int *ret_height);
/* Whether it shows no more than ASCII. */
bool screen_is_ascii(void);

void screen_show(const struct cells *cells);

/* The next key that has come; false: none. */
bool screen_press(struct press *ret_press);
/* Drops those that have come. */
void screen_drop_presses(void);

#endif
