/* SPDX-License-Identifier: MIT */
/* Asks the kernel first, and looks through /proc only when zombies may be all that is left. */
#include "shm/process_group.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shm/ident.h"
#include "shm/text_file.h"

enum member {
	NO_MEMBER,
	ZOMBIE,
	RUNS
};

/* Fields 3 and 5 of /proc/PID/stat, after the ')' of the name. */
static enum member member_of(const char *pid, uint32_t pgid)
{
	char path[32], buf[512];

	snprintf(path, sizeof(path), "/proc/%.16s/stat", pid);
	if (!tqi_read_text(path, buf, sizeof(buf)))
		return NO_MEMBER;
	const char *p = strrchr(buf, ')');
	char state;
	unsigned group;

	if (!p || sscanf(p, ") %c %*d %u", &state, &group) != 2 || group != pgid)
		return NO_MEMBER;
	return state == 'Z' || state == 'X' ? ZOMBIE : RUNS;
}

/* True only when zombies were seen and nothing else. */
static bool has_only_zombies(uint32_t pgid)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	bool zombies = false, runs = false;

	while (proc && !runs && (entry = readdir(proc)) != NULL) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		enum member member = member_of(entry->d_name, pgid);

		zombies |= member == ZOMBIE;
		runs = member == RUNS;
	}
	if (proc)
		closedir(proc);
	return zombies && !runs;
}

bool tqi_process_group_is_empty(uint32_t pgid, uint64_t start)
{
	uint64_t leader_start;
	char state;

	if (kill(-(pid_t)pgid, 0) < 0 && errno == ESRCH)
		return true;
	/*
	 * A group's number is not reused while it has members, so a leader with
	 * another start time means that the old group is gone.
	 */
	if (start && tqi_pid_start(pgid, &leader_start, &state) == 0 && leader_start != start)
		return true;
	return has_only_zombies(pgid);
}
