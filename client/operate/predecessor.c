/* SPDX-License-Identifier: MIT */
/*
 * Those who still work for a removed segment of a name (RM-3).  Each has its file open, and
 * /proc shows it with its old name; opened from there, the segment itself says who they are.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/core/removal.h"
#include "client/core/sleeper.h"
#include "client/operate/new_handle.h"
#include "scheduler/worker/worker.h"

#define LOOK_NS 10000000ull /* 10 ms, between two looks at who is left */
#define SEEN_MAX 16	    /* segments of one name, removed one after the other */

struct search {
	char link[PATH_MAX + 16]; /* what /proc shows of their file */
	dev_t dev;		  /* of the directory: other mounts have such paths, too */
	ino_t seen[SEEN_MAX];
	uint32_t seen_count;
};

static int search_begin(struct search *s, const char *path)
{
	char dir[TQI_PATH_MAX], resolved[PATH_MAX];
	struct stat st;

	*s = (struct search){ .seen_count = 0 };
	snprintf(dir, sizeof(dir), "%s", path);
	char *slash = strrchr(dir, '/');

	if (!slash)
		return -EINVAL;
	*slash = '\0';
	if (!realpath(*dir ? dir : "/", resolved) || stat(resolved, &st) < 0)
		return -errno;
	s->dev = st.st_dev;
	snprintf(s->link, sizeof(s->link), "%s/%s (deleted)", resolved[1] ? resolved : "",
		 slash + 1);
	return 0;
}

static bool is_new(struct search *s, const struct stat *st)
{
	if (!S_ISREG(st->st_mode) || st->st_dev != s->dev || st->st_nlink ||
	    s->seen_count == SEEN_MAX)
		return false;
	for (uint32_t i = 0; i < s->seen_count; i++)
		if (s->seen[i] == st->st_ino)
			return false;
	s->seen[s->seen_count++] = st->st_ino;
	return true;
}

/* A descriptor of ours for that of another process, if it is one of those; else -1. */
static int take(struct search *s, int dir, const char *name)
{
	char link[sizeof(s->link)];
	const ssize_t n = readlinkat(dir, name, link, sizeof(link) - 1);
	struct stat st;

	if (n <= 0)
		return -1;
	link[n] = '\0';
	if (strcmp(link, s->link) != 0)
		return -1;
	const int fd = openat(dir, name, O_RDWR | O_CLOEXEC | O_NONBLOCK);

	if (fd >= 0 && (fstat(fd, &st) < 0 || !is_new(s, &st))) {
		close(fd);
		return -1;
	}
	return fd;
}

static int find_in(struct search *s, const char *pid)
{
	char path[64];
	int fd = -1;

	snprintf(path, sizeof(path), "/proc/%.20s/fd", pid);
	DIR *dir = opendir(path);

	if (!dir)
		return -1; /* another user's, or gone */
	for (struct dirent *e; fd < 0 && (e = readdir(dir));)
		if (e->d_name[0] != '.')
			fd = take(s, dirfd(dir), e->d_name);
	closedir(dir);
	return fd;
}

static int find_next(struct search *s)
{
	DIR *proc = opendir("/proc");
	int fd = -1;

	for (struct dirent *e; proc && fd < 0 && (e = readdir(proc));)
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
			fd = find_in(s, e->d_name);
	if (proc)
		closedir(proc);
	return fd;
}

/* Whether nobody is left of a worker's record. */
static bool is_over(struct tq *tq, uint32_t w)
{
	struct tqi_suspect suspect;
	struct tqi_tx tx;

	if (tqi_hold_force(tq, &tx) < 0)
		return false;
	const bool used = tqi_worker_suspect(&tx, w, &suspect);

	if (tqi_hold_end(tq, &tx, 0) < 0)
		return true; /* damaged: it says nothing */
	return !used || (tq->seg.ops->process_gone(tq->seg.ops->ctx, &suspect.owner) &&
			 tqi_groups_are_empty(tq, &suspect));
}

/* No worker comes to a dismissed segment, so one look at each that is over is enough. */
static int await_workers(struct tq *tq, uint64_t patience_ns)
{
	const uint32_t count = tqi_segment_core(&tq->seg)->tables[TQI_WORKERS].count;
	const uint64_t deadline = tqi_deadline(tq, patience_ns);
	struct tqi_word32 never = { 0 };
	const struct tqi_futex word = { &never, 0 };

	for (uint32_t w = 1; w < count;) {
		if (is_over(tq, w)) {
			w++;
			continue;
		}
		if (tqi_now(tq) >= deadline)
			return TQ_EREMOVED;
		tq->seg.ops->futex_wait(tq->seg.ops->ctx, &word, 1, tqi_now(tq) + LOOK_NS);
	}
	return 0;
}

/* What cannot be attached is another version's, or damaged: nobody can speak to its farm. */
static int end_one(int fd, const char *path, uint64_t patience_ns)
{
	struct tq *tq = tqi_handle_make();
	int r;

	if (!tq) {
		close(fd);
		return -ENOMEM;
	}
	tq->lock_timeout_ns = patience_ns;
	if (tqi_segment_attach_orphan(fd, path, &tqi_schema, &tq->seg) < 0) {
		tqi_handle_unmake(tq);
		return 0;
	}
	tqi_dismiss(tq, TQI_LOST_REMOVED);
	/* A destroyed one was ended by somebody who knew of it. */
	r = tqi_load_acquire32(&tqi_segment_header(&tq->seg)->destroyed) == TQI_LOST_REMOVED
		    ? await_workers(tq, patience_ns)
		    : 0;
	tqi_segment_detach(&tq->seg);
	tqi_handle_unmake(tq);
	return r;
}

int tqi_predecessors_end(const char *path, uint64_t patience_ns)
{
	struct search search;
	int fd, r = 0;

	if (search_begin(&search, path) < 0)
		return 0; /* whoever creates it will say why */
	while (r == 0 && (fd = find_next(&search)) >= 0)
		r = end_one(fd, path, patience_ns);
	return r;
}
