/* SPDX-License-Identifier: MIT */
/* Whose a child is that has ended. */
#include "client/farm/host.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/ident.h"

/* One process id after the other; NULL where the kernel does not list them. */
static FILE *open_children(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	return fopen(path, "re");
}

static int note(struct tqi_host *host, pid_t pid)
{
	struct tqi_host_child *children =
		realloc(host->children, (host->count + 1) * sizeof(*children));
	char state;

	if (!children)
		return -ENOMEM;
	host->children = children;
	children[host->count].pid = pid;
	if (tqi_pid_start((uint32_t)pid, &children[host->count].start, &state) == 0)
		host->count++;
	return 0;
}

int tqi_host_begin(struct tqi_host *host)
{
	FILE *file = open_children();
	int pid, r = 0;

	*host = (struct tqi_host){ .group = getpgrp() };
	while (r == 0 && file && fscanf(file, "%d", &pid) == 1)
		r = note(host, pid);
	if (file)
		fclose(file);
	return r;
}

void tqi_host_end(struct tqi_host *host)
{
	free(host->children);
	*host = (struct tqi_host){ .group = 0 };
}

static bool is_hosts(const struct tqi_host *host, pid_t pid)
{
	uint64_t start;
	char state;

	if (!host->group)
		return false;
	if (getpgid(pid) == host->group)
		return true;
	for (uint32_t i = 0; i < host->count; i++)
		if (host->children[i].pid == pid)
			return tqi_pid_start((uint32_t)pid, &start, &state) == 0 &&
			       start == host->children[i].start;
	return false;
}

/* Of all children (P_ALL), or of one, the first that has ended; 0 none. */
static pid_t ended(idtype_t type, pid_t pid)
{
	siginfo_t info = { .si_pid = 0 };

	return waitid(type, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ? 0 : info.si_pid;
}

/* The kernel names the same one for as long as nobody reaps it: the others are looked at. */
static pid_t stranger_behind(const struct tqi_host *host)
{
	FILE *file = open_children();
	int pid, found = 0;

	while (!found && file && fscanf(file, "%d", &pid) == 1)
		if (ended(P_PID, pid) && !is_hosts(host, pid))
			found = pid;
	if (file)
		fclose(file);
	return found;
}

pid_t tqi_host_stranger(const struct tqi_host *host)
{
	const pid_t pid = ended(P_ALL, 0);

	return pid && is_hosts(host, pid) ? stranger_behind(host) : pid;
}
