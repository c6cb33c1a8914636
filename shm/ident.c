/* SPDX-License-Identifier: MIT */
/* Reads start time and state from /proc. */
#include "shm/ident.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/text_file.h"

#define START_FIELD 22 /* proc(5), counted from 1; field 3 follows the ')' of the name */

int tqi_proc_stat(const char *path, uint64_t *ret_start, char *ret_state)
{
	char buf[1024];

	if (!tqi_read_text(path, buf, sizeof(buf)))
		return -ENOENT;
	/* The name may hold spaces and parentheses: the last ')' ends it. */
	const char *p = strrchr(buf, ')');

	if (!p || p[1] == '\0' || p[2] == '\0')
		return -ENOENT;
	char state = p[2];

	for (int field = 2; field < START_FIELD; field++) {
		p = strchr(p + 1, ' ');
		if (!p)
			return -ENOENT;
	}
	*ret_start = strtoull(p + 1, NULL, 10);
	*ret_state = state;
	return 0;
}

int tqi_pid_start(uint32_t pid, uint64_t *ret_start, char *ret_state)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	return tqi_proc_stat(path, ret_start, ret_state);
}
