/* SPDX-License-Identifier: MIT */
/* Looks through /proc for marks. */
#include "client/core/marked.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shm/ident.h"
#include "taskq/task.h"

#define ENVIRON_FIRST (16u << 10)
#define ENVIRON_MAX (8u << 20) /* over what execve() takes; more is not looked at */

/* What is looked for, once for a walk. */
struct search {
	const struct tqi_mark *marks;
	uint32_t count;
	const char *path;
	char *environ; /* of one process after the other */
	size_t room;
};

/* All of a file that tells no size; the bytes, with a NUL behind them; 0 nothing. */
static size_t read_whole(struct search *s, int fd)
{
	size_t used = 0;
	ssize_t n;

	for (;;) {
		if (used + 1 >= s->room) {
			const size_t room = s->room ? 2 * s->room : ENVIRON_FIRST;
			char *more = room > ENVIRON_MAX ? NULL : realloc(s->environ, room);

			if (!more)
				return 0;
			s->environ = more;
			s->room = room;
		}
		n = read(fd, s->environ + used, s->room - used - 1);
		if (n <= 0)
			break;
		used += (size_t)n;
	}
	s->environ[used] = '\0';
	return n < 0 ? 0 : used;
}

static size_t read_environ(struct search *s, uint32_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/environ", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	const size_t bytes = read_whole(s, fd);

	close(fd);
	return bytes;
}

/* The value of a name in the environment that was read; NULL it is not there. */
static const char *value_of(const struct search *s, size_t bytes, const char *name)
{
	const size_t n = strlen(name);

	for (const char *at = s->environ; at < s->environ + bytes; at += strlen(at) + 1)
		if (strncmp(at, name, n) == 0 && at[n] == '=')
			return at + n + 1;
	return NULL;
}

static bool is_marked(struct search *s, uint32_t pid, uint64_t start)
{
	const size_t bytes = read_environ(s, pid);
	const char *text = bytes ? value_of(s, bytes, "TASKQ_ID") : NULL;
	const char *segment = text ? value_of(s, bytes, "TASKQ_SEGMENT") : NULL;
	uint64_t id;

	if (!segment || strcmp(segment, s->path) != 0 || tq_task_id_parse(text, &id) < 0)
		return false;
	const bool may_stay = value_of(s, bytes, "TASKQ_LEFTOVERS") != NULL;

	for (uint32_t i = 0; i < s->count; i++)
		if (s->marks[i].id == id && start >= s->marks[i].start)
			return !may_stay || getpgid((pid_t)pid) == (pid_t)s->marks[i].pgid;
	return false;
}

/* MK-2. */
static bool end_if_marked(struct search *s, uint32_t pid)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	uint64_t start;
	char state;
	bool ended;

	if (pidfd < 0)
		return false;
	ended = tqi_pid_start(pid, &start, &state) == 0 && state != 'Z' && state != 'X' &&
		is_marked(s, pid, start) &&
		syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0) == 0;
	close(pidfd);
	return ended;
}

uint32_t tqi_marked_end(const char *path, const struct tqi_mark *marks, uint32_t count)
{
	struct search s = { .marks = marks, .count = count, .path = path };
	DIR *proc = count ? opendir("/proc") : NULL;
	const struct dirent *entry;
	uint32_t ended = 0;

	while (proc && (entry = readdir(proc)) != NULL) {
		const uint32_t pid = (uint32_t)strtoul(entry->d_name, NULL, 10);

		if (isdigit((unsigned char)entry->d_name[0]) && pid != (uint32_t)getpid())
			ended += end_if_marked(&s, pid);
	}
	if (proc)
		closedir(proc);
	free(s.environ);
	return ended;
}
