/* SPDX-License-Identifier: MIT */
/* kill(2): the sender's real or effective user must be the target's real or saved one. */
#include "client/observe/why_foreign.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shm/text_file.h"

#define STATUS_BYTES 2048 /* its "Uid:" is among the first lines */

struct users {
	unsigned real, effective, saved;
};

static bool read_users(uint32_t pid, struct users *ret)
{
	char path[32], text[STATUS_BYTES];

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	if (!tqi_read_text(path, text, sizeof(text)))
		return false;
	const char *at = strstr(text, "\nUid:");

	return at && sscanf(at, "\nUid: %u %u %u", &ret->real, &ret->effective, &ret->saved) == 3;
}

static bool may_signal(const struct users *by, const struct users *to)
{
	return by->effective == 0 || by->effective == to->real || by->effective == to->saved ||
	       by->real == to->real || by->real == to->saved;
}

void tqi_why_foreign(uint32_t pgid, uint32_t worker_pid, struct tq_why *why)
{
	struct users worker, other;
	DIR *proc = pgid && read_users(worker_pid, &worker) ? opendir("/proc") : NULL;
	const struct dirent *entry;

	while (proc && !why->foreign_pid && (entry = readdir(proc)) != NULL) {
		const uint32_t pid = (uint32_t)strtoul(entry->d_name, NULL, 10);

		if (!pid || getpgid((pid_t)pid) != (pid_t)pgid || !read_users(pid, &other) ||
		    may_signal(&worker, &other))
			continue;
		why->foreign_pid = pid;
		why->foreign_uid = other.effective;
	}
	if (proc)
		closedir(proc);
}
