/* SPDX-License-Identifier: MIT */
/* Children that a worker has not started itself. */
#include "client/farm/leftovers.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shm/text_file.h"

#define PAUSE_FIRST_NS 100000l	/* 0.1 ms: a process that got SIGKILL is gone soon ... */
#define PAUSE_LAST_NS 50000000l /* ... but one may be in the kernel for long */

static bool has_children(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

void tqi_leftovers_begin(struct tqi_leftovers *l, const char *path, uint64_t id, bool allowed)
{
	*l = (struct tqi_leftovers){
		.mark.id = id, .path = path, .allowed = allowed, .alone = !has_children()
	};
	if (allowed) /* LO-2 */
		prctl(PR_SET_CHILD_SUBREAPER, 0);
}

static void interrupt(int signal)
{
	(void)signal;
}

void tqi_leftovers_watch(struct tqi_leftovers *l)
{
	const struct sigaction action = { .sa_handler = interrupt };
	sigset_t children;

	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &children, &l->before);
	l->open = l->before;
	sigdelset(&l->open, SIGCHLD);
	sigaction(SIGCHLD, &action, &l->action);
}

void tqi_leftovers_unwatch(struct tqi_leftovers *l)
{
	sigaction(SIGCHLD, &l->action, NULL);
	pthread_sigmask(SIG_SETMASK, &l->before, NULL);
}

void tqi_leftovers_reap(struct tqi_usage *usage, pid_t leader)
{
	siginfo_t info;

	for (;;) {
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || !info.si_pid ||
		    info.si_pid == leader)
			return;
		tqi_reap_leader(info.si_pid, usage);
	}
}

/* Field 4 of /proc/PID/stat, after the ')' of the name. */
static bool is_child(const char *pid)
{
	char path[32], text[512];
	int parent;

	snprintf(path, sizeof(path), "/proc/%.16s/stat", pid);
	if (!tqi_read_text(path, text, sizeof(text)))
		return false;
	const char *p = strrchr(text, ')');

	return p && sscanf(p, ") %*c %d", &parent) == 1 && parent == (int)getpid();
}

/* A child's number is its own until we reap it.  How many could be signalled. */
static uint32_t kill_children(void)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	uint32_t killed = 0;

	while (proc && (entry = readdir(proc)) != NULL)
		if (isdigit((unsigned char)entry->d_name[0]) && is_child(entry->d_name))
			killed += kill((pid_t)strtol(entry->d_name, NULL, 10), SIGKILL) == 0;
	if (proc)
		closedir(proc);
	return killed;
}

/* With each that ends its own children become ours.  What may not be signalled stays. */
static bool end_some(const struct tqi_leftovers *l, struct tqi_usage *usage)
{
	tqi_leftovers_reap(usage, 0);
	if (!has_children())
		return false;
	return (l->alone ? kill_children() : tqi_marked_end(l->path, &l->mark, 1)) > 0;
}

void tqi_leftovers_end(const struct tqi_leftovers *l, struct tqi_usage *usage)
{
	struct timespec pause = { .tv_nsec = PAUSE_FIRST_NS };

	while (!l->allowed && end_some(l, usage)) {
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < PAUSE_LAST_NS)
			pause.tv_nsec *= 2;
	}
}

void tqi_leftovers_finish(const struct tqi_leftovers *l)
{
	if (l->allowed)
		prctl(PR_SET_CHILD_SUBREAPER, 1);
}
