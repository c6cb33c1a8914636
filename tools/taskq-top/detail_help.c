/* SPDX-License-Identifier: MIT */
/* The help: the table of keys. */
#include "detail.h"

static const struct {
	const char *key, *what;
} keys[] = {
	{ "1 .. 7", "Overview, Queues, Tasks, Workers, Limits, Groups, Trace" },
	{ "Tab S-Tab", "the next view, the one before" },
	{ "j k, arrows", "down and up; also PgDn PgUp, ^F ^B, g G, Home End, the wheel" },
	{ "h l", "columns to the left and to the right" },
	{ "F", "follow the line: the cursor goes where its row goes; Trace: follow" },
	{ "Enter", "details of the line; Esc q: back to the view" },
	{ "f", "in a task's details: follow its output" },
	{ "/ F3 F4", "filter: lines that have all the words somewhere; Esc takes it off" },
	{ "< > F6 I", "sort by the column before, the next one; I: the other way round" },
	{ "Space F5 z", "look again now; z: freeze, and go on" },
	{ "q F10 ^C", "quit" },
	{ "C F9", "Tasks: cancel; Groups: cancel all members that have not ended" },
	{ "R", "Tasks: run a failed, cancelled or expired one again" },
	{ "H", "Tasks: hold back, let go" },
	{ "N F7 F8", "Tasks: set the priority" },
	{ "S", "Groups: seal" },
	{ "P", "Queues: pause, resume" },
	{ "T F9", "Workers: SIGTERM; a farm's worker ends when its task has" },
	{ "K", "Workers: SIGKILL; its tasks are given back" },
	{ " ", "Each asks first, and says what it is done to; they work in details, too." },
};

void detail_help_lines(struct lines *lines)
{
	for (unsigned i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		lines_add(lines, ROLE_TEXT, keys[i].key, "%s", keys[i].what);
}
