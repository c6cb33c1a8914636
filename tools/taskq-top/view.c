/* SPDX-License-Identifier: MIT */
/* The table of views. */
#include "view.h"

const struct view *const views[VIEW_COUNT] = {
#define VIEW_ROW(name) &name,
	VIEW_MAP(VIEW_ROW)
#undef VIEW_ROW
};
