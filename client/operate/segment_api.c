/* SPDX-License-Identifier: MIT */
/* Opening, closing, destroying, shutting down. */
#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "client/core/current_attempt.h"
#include "client/core/handle.h"
#include "client/core/removal.h"
#include "client/core/options.h"
#include "client/observe/snapshot.h"
#include "client/operate/new_handle.h"
#include "scheduler/task/steer.h"
#include "scheduler/task/sweep.h"
#include "scheduler/wake/wake.h"

#define RETENTION_NS (3600ull * 1000000000ull) /* 1 h */
#define LOCK_TIMEOUT_NS (5ull * 1000000000ull) /* 5 s */
#define PATIENCES 2			       /* 10 s: a farm's grace time, and as much again */
#define TRACE_ENTRIES 4096		       /* some seconds of a busy segment, in 144 KiB */
#define TASKS_LIMIT ((1ull << TQI_INDEX_BITS) - 1)
#define OPEN_TRIES 10 /* races with creators and destroyers */
#define OPEN_FLAGS (TQ_OPEN_CREATE | TQ_OPEN_EXCLUSIVE | TQ_OPEN_READONLY | TQ_OPEN_FOREIGN)

static void init_root(struct tqi_segment *seg, void *arg)
{
	const struct tq_open_opts *opts = arg;
	struct tqi_root *root = tqi_segment_root(seg);

	root->sequence = 1;
	root->retention_ns = opts->retention_ns ? opts->retention_ns : RETENTION_NS;
	if (getrandom(&root->seed, sizeof(root->seed), 0) < 0)
		root->seed = tqi_segment_header(seg)->creation_id; /* only jitter */
}

static int check_options(const struct tq_open_opts *o)
{
	if ((o->flags & ~OPEN_FLAGS) || (o->mode & ~0777u) ||
	    ((o->flags & TQ_OPEN_READONLY) && (o->flags & TQ_OPEN_CREATE)))
		return -EINVAL;
	if (o->max_bytes &&
	    (o->max_bytes < TQI_SEGMENT_BYTES_MIN || o->max_bytes > TQI_SEGMENT_BYTES_MAX))
		return -EINVAL;
	if (o->reserved0 ||
	    (o->trace_entries && o->trace_entries != TQ_OFF &&
	     (o->trace_entries < TQ_TRACE_LEAST || o->trace_entries > TQ_TRACE_MOST)))
		return -EINVAL;
	return o->tasks_max > TASKS_LIMIT ? -EINVAL : 0;
}

static uint64_t ring_entries(const struct tq_open_opts *opts)
{
	if (opts->trace_entries == TQ_OFF)
		return 0;
	return opts->trace_entries ? opts->trace_entries : TRACE_ENTRIES;
}

static int create(const char *path, const struct tq_open_opts *opts)
{
	struct tq_open_opts copy = *opts;
	const struct tqi_segment_config config = {
		.max_bytes = opts->max_bytes,
		.tasks_max = opts->tasks_max,
		.ring_entries = ring_entries(opts),
		.mode = opts->mode,
		.init = init_root,
		.init_arg = &copy,
	};

	return tqi_segment_create(path, &tqi_schema, &config);
}

static uint64_t lock_timeout(const struct tq_open_opts *o)
{
	return o->lock_timeout_ns ? o->lock_timeout_ns : LOCK_TIMEOUT_NS;
}

/* Attach; make it first where it is missing.  A destroyed one's name may still be there. */
static int attach(const char *path, const struct tq_open_opts *o, struct tqi_segment *ret_seg)
{
	bool readonly = o->flags & TQ_OPEN_READONLY, foreign = o->flags & TQ_OPEN_FOREIGN;
	int r = -ENOENT;

	for (int i = 0; i < OPEN_TRIES; i++) {
		if (!(o->flags & TQ_OPEN_EXCLUSIVE) || i > 0) {
			r = tqi_segment_attach(path, &tqi_schema, readonly, foreign, ret_seg);
			if (r != -ENOENT || !(o->flags & TQ_OPEN_CREATE))
				return r;
		}
		if (access(path, F_OK) < 0)
			r = tqi_predecessors_end(path, PATIENCES * lock_timeout(o));
		if (r == TQ_EREMOVED)
			return r;
		r = create(path, o);
		if (r == -EEXIST && (o->flags & TQ_OPEN_EXCLUSIVE))
			return r;
		if (r == -EEXIST && i > 0)
			unlink(path); /* attach said that it is destroyed, create that it is there */
		else if (r < 0 && r != -EEXIST)
			return r;
	}
	return r < 0 ? r : -EAGAIN;
}

static const char *default_name(const char *name)
{
	if (!name)
		name = secure_getenv("TASKQ_SEGMENT");
	return name && *name ? name : "default";
}

int tq_open(const char *name, const struct tq_open_opts *opts, struct tq **ret_tq)
{
	if (!ret_tq)
		return -EINVAL;
	struct tq_open_opts o;
	char path[TQI_PATH_MAX];
	int r = tqi_options_in(&o, sizeof(o), sizeof(o), opts);

	if (r == 0)
		r = check_options(&o);
	if (r == 0)
		r = tqi_segment_path(default_name(name), path);
	if (r < 0)
		return r;
	struct tq *tq = tqi_handle_make();

	if (!tq)
		return -ENOMEM;
	tq->lock_timeout_ns = lock_timeout(&o);
	r = attach(path, &o, &tq->seg);
	if (r < 0) {
		tqi_handle_unmake(tq);
		return r;
	}
	tqi_behalf_read(tq);
	*ret_tq = tq;
	return 0;
}

/*
 * A lock that a thread of ours still holds must stay mapped: the kernel and glibc
 * would write into what lies there next.  Leaking the mapping is the lesser evil.
 */
static bool is_lock_ours(struct tq *tq)
{
	const struct tqi_core *core = tqi_segment_core(&tq->seg);

	return !tq->seg.readonly && tqi_mutex_owner(&core->lock) &&
	       tqi_load_relaxed32(&core->holder_pid) == tqi_pid_self(tq);
}

struct tq *tq_close(struct tq *tq)
{
	struct tqi_tx tx;

	if (!tq)
		return NULL;
	/* An orphaned wait slot is left with any hold; without one, nobody waits for the lock. */
	const struct tqi_self *self = tqi_self(tq);

	if (self && self->orphan && tqi_hold_begin(tq, &tx) == 0)
		(void)tqi_hold_end(tq, &tx, 0);
	if (is_lock_ours(tq) || tqi_load_relaxed32(&tq->mapped))
		close(tq->seg.fd);
	else
		tqi_segment_detach(&tq->seg);
	tqi_handle_unmake(tq);
	return NULL;
}

int tq_shutdown(struct tq *tq, uint32_t flags)
{
	if (!tq)
		return -EINVAL;
	struct tqi_tx tx;

	if (flags & ~(TQ_SHUTDOWN_CANCEL | TQ_SHUTDOWN_UNDO))
		return -EINVAL;
	int r = tqi_hold_begin(tq, &tx);

	if (r < 0)
		return r;
	tqi_steer_shutdown(&tx, flags);
	r = tqi_hold_end(tq, &tx, 0);
	if (r == 0 && !(flags & TQ_SHUTDOWN_UNDO))
		tqi_sweep_out(tq);
	return r;
}

static int is_in_use(struct tq *tq)
{
	struct tqi_tx tx;
	int r = tqi_hold_begin(tq, &tx);

	if (r < 0)
		return r;
	if (tqi_root(&tx)->unfinished || tqi_root(&tx)->time.schedules ||
	    tx.core->tables[TQI_WORKERS].live)
		r = -EBUSY;
	return tqi_hold_end(tq, &tx, r);
}

/* A file that cannot be attached goes only if it is ours and where a segment can be. */
static int remove_damaged(const char *path, int error)
{
	struct statfs fs;
	struct stat st;

	if (lstat(path, &st) < 0 || statfs(path, &fs) < 0)
		return -errno;
	if (fs.f_type != TMPFS_MAGIC)
		return -EOPNOTSUPP;
	if (!S_ISREG(st.st_mode) || (st.st_uid != geteuid() && geteuid() != 0))
		return error;
	return unlink(path) < 0 ? -errno : 0;
}

int tq_destroy(const char *name, uint32_t flags)
{
	const struct tq_open_opts opts = {
		.size = sizeof(opts),
		.flags = flags & TQ_DESTROY_FORCE ? TQ_OPEN_FOREIGN : 0,
	};
	char path[TQI_PATH_MAX];
	struct tq *tq;

	if (flags & ~TQ_DESTROY_FORCE)
		return -EINVAL;
	int r = tqi_segment_path(default_name(name), path);

	if (r < 0)
		return r;
	r = tq_open(path, &opts, &tq);
	if (r < 0)
		return (flags & TQ_DESTROY_FORCE) && r != -ENOENT && r != -EACCES
			       ? remove_damaged(path, r)
			       : r;
	if (!(flags & TQ_DESTROY_FORCE))
		r = is_in_use(tq);
	if (r == 0) {
		tqi_dismiss(tq, TQI_LOST_DESTROYED);
		if (tqi_segment_is_named(&tq->seg) && unlink(path) < 0)
			r = -errno;
	}
	tq_close(tq);
	return r;
}

int tq_lock_blame(struct tq *tq, struct tq_lock_holder *ret_holder)
{
	if (!tq)
		return -EINVAL;
	struct tqi_core copy; /* by pread: of a truncated file a mapping raises SIGBUS */
	const struct tqi_core *core = &copy;
	struct tq_lock_holder h = { .size = sizeof(h) };
	uint64_t room, start;
	char state;
	int r = tqi_snapshot_room(ret_holder, &room);

	if (r == 0)
		r = tqi_peek_core(&tq->seg, &copy);
	if (r < 0)
		return r;
	h.tid = tqi_mutex_owner(&core->lock);
	if (h.tid) {
		h.pid = tqi_load_acquire32(&core->holder_tid) == h.tid
				? tqi_load_relaxed32(&core->holder_pid)
				: 0;
		h.held_ns = tqi_now(tq) - core->last_now_ns;
		if (tqi_pid_start(h.tid, &start, &state) == 0)
			h.state = (uint32_t)(unsigned char)state;
	}
	tqi_snapshot_out(ret_holder, room, &h, sizeof(h));
	return 0;
}
