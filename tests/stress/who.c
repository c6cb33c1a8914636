/* SPDX-License-Identifier: MIT */
/* Who a process is, and whether it is gone. */
#include "who.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PID_BITS 24 /* the kernel's largest pid has 23 */
#define PID_MASK ((1u << PID_BITS) - 1)

struct stat_line {
	char state;
	pid_t parent;
	uint64_t start; /* clock ticks since boot */
};

/* Fields 3, 4 and 22 of /proc/PID/stat, after the ')' of the name. */
static bool read_stat(pid_t pid, struct stat_line *ret_line)
{
	char path[64], text[1024];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	const char *at = strrchr(text, ')');
	unsigned long long start;

	if (!at || sscanf(at,
			  ") %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
			  "%*d %*d %*d %llu",
			  &ret_line->state, &ret_line->parent, &start) != 3)
		return false;
	ret_line->start = start;
	return true;
}

uint64_t who_of(pid_t pid)
{
	struct stat_line line;

	return read_stat(pid, &line) ? line.start << PID_BITS | (uint32_t)pid : 0;
}

uint64_t who_am_i(void)
{
	return who_of(getpid());
}

pid_t who_pid(uint64_t who)
{
	return (pid_t)(who & PID_MASK);
}

pid_t who_parent(pid_t pid)
{
	struct stat_line line;

	return read_stat(pid, &line) ? line.parent : 0;
}

char who_state(pid_t pid)
{
	struct stat_line line;

	return read_stat(pid, &line) ? line.state : '?';
}

/* A readable pidfd: the whole thread group is gone. */
static bool is_over(int pidfd)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

/* A pidfd of exactly this process, -1 gone. */
static int open_who(uint64_t who)
{
	int fd = (int)syscall(SYS_pidfd_open, who_pid(who), 0);

	if (fd < 0)
		return -1;
	uint64_t now = who_of(who_pid(who));

	/* What was read is of the process of the descriptor if that still runs. */
	if (is_over(fd) || (now && now != who)) {
		close(fd);
		return -1;
	}
	return fd;
}

bool who_is_gone(uint64_t who)
{
	int fd = open_who(who);

	if (fd >= 0)
		close(fd);
	return fd < 0;
}

bool who_signal(uint64_t who, int signal)
{
	int fd = open_who(who);

	if (fd < 0)
		return false;
	long r = syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0);

	close(fd);
	return r == 0;
}

void who_children(void (*call)(pid_t pid, void *arg), void *arg)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;

	while (proc && (entry = readdir(proc)) != NULL) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (isdigit((unsigned char)entry->d_name[0]) && who_parent(pid) == getpid())
			call(pid, arg);
	}
	if (proc)
		closedir(proc);
}

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * S + (uint64_t)ts.tv_nsec;
}
