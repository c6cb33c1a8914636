/* SPDX-License-Identifier: MIT */
/* The counters of the out-of-memory killer. */
#include "client/farm/oom.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/text_file.h"

#define CGROUP_ROOT "/sys/fs/cgroup"

/* Number behind a name at the beginning of a line. */
static bool find_count(const char *text, const char *name, uint64_t *ret_count)
{
	size_t n = strlen(name);

	for (const char *at = text; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncmp(at, name, n) == 0 && at[n] == ' ') {
			*ret_count = strtoull(at + n + 1, NULL, 10);
			return true;
		}
	}
	return false;
}

/* memory.events of the unified hierarchy; a memory controller of the old one counts too. */
static bool cgroup_kills(uint64_t *ret_count)
{
	char text[4096], path[4200], *save = NULL;

	if (!tqi_read_text("/proc/self/cgroup", text, sizeof(text)))
		return false;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char events[1024];
		const char *v1 = strstr(line, ":memory:"),
			   *v2 = strncmp(line, "0::", 3) ? NULL : line;

		if (v2)
			snprintf(path, sizeof(path), CGROUP_ROOT "%s/memory.events", v2 + 3);
		else if (v1)
			snprintf(path, sizeof(path), CGROUP_ROOT "/memory%s/memory.oom_control",
				 v1 + strlen(":memory:"));
		else
			continue;
		if (tqi_read_text(path, events, sizeof(events)) &&
		    find_count(events, "oom_kill", ret_count))
			return true;
	}
	return false;
}

uint64_t tqi_oom_kills(void)
{
	uint64_t count = 0;
	char text[16384]; /* vmstat has some 180 short lines */

	if (cgroup_kills(&count))
		return count;
	if (tqi_read_text("/proc/vmstat", text, sizeof(text)))
		find_count(text, "oom_kill", &count);
	return count;
}
