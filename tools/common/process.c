/* SPDX-License-Identifier: MIT */
/* What /proc says of a process. */
#include <stdio.h>
#include <string.h>

#include "process.h"

#define TICK_NS (1000000000ull / 100) /* of times in /proc: USER_HZ is 100 everywhere */

bool process_read(uint32_t pid, struct process *ret_process)
{
	char path[32], text[1024];
	unsigned long long ticks;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	/* The name may have blanks and parentheses in it: the last one closes it.  Behind it
	 * come the state, the third field, and the start, the twenty-second. */
	const char *at = strrchr(text, ')');

	if (!at || at[1] != ' ')
		return false;
	ret_process->state = at[2];
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (!at || sscanf(at, "%llu", &ticks) != 1)
		return false;
	ret_process->began_ns = ticks * TICK_NS;
	return true;
}
