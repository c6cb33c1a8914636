/* SPDX-License-Identifier: MIT */
/* Segments: create, attach, destroy, inspect, shut down, check. */
#ifndef TASKQ_SEGMENT_H
#define TASKQ_SEGMENT_H

#include <taskq/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A process's handle on a segment; serves all its threads. */
struct tq;

/* flags of struct tq_open_opts */
#define TQ_OPEN_CREATE (1u << 0)    /* make the segment when it is missing */
#define TQ_OPEN_EXCLUSIVE (1u << 1) /* with CREATE: -EEXIST when it is there */
#define TQ_OPEN_READONLY (1u << 2) /* observe only; works from any namespace and on dead segments */
#define TQ_OPEN_FOREIGN (1u << 3)  /* accept a segment of another user, or open to others */

/* Options of tq_open().  The fields after flags matter only when it creates. */
struct tq_open_opts {
	uint64_t size;	       /* sizeof this struct in the caller's build */
	uint32_t flags;	       /* TQ_OPEN_*; unknown bits: -EINVAL */
	uint32_t mode;	       /* permission bits of the file; default 0600 */
	uint64_t max_bytes;    /* it may grow to this; default min(1 GiB, half of its tmpfs);
				     least 4 MiB, at most 256 GiB */
	uint64_t tasks_max;    /* records it may hold, at most 2^24 - 1; default max_bytes / 256 */
	uint64_t retention_ns; /* finished records are kept this long; default 1 h */
	uint64_t lock_timeout_ns; /* longest wait for the lock; default 5 s */
	uint32_t trace_entries;	  /* transitions that its recorder keeps, TQ_TRACE_LEAST to
				     TQ_TRACE_MOST of 32 bytes; default 4096; TQ_OFF = none */
	uint32_t reserved0;	  /* must be 0 */
};

#define TQ_TRACE_LEAST 64u
#define TQ_TRACE_MOST (1u << 24)

/**
 * tq_open() - attach a segment, making it first when asked.
 *
 * @name:	"default", or 1 to 64 of [A-Za-z0-9._-]: /dev/shm/taskq.UID.NAME;
 *		or an absolute path on a tmpfs.  NULL = $TASKQ_SEGMENT, else "default"; as everywhere,
 *		a set-user-ID program reads no environment (secure_getenv(3)).
 * @opts:	or NULL.
 * @ret_tq:	the handle on success, untouched otherwise.
 *
 * Ownership:	close with tq_close().
 * Threads:	any; the handle serves all threads of the process.
 * Fork:	a child may go on using the handle; it becomes its own
 *		participant at first use.  Workers of the parent stay the parent's
 *		(-ECHILD).
 * Errors:	-ENOENT no such segment; -EEXIST with EXCLUSIVE; -EINVAL bad name
 *		or option; -EPERM owned by another user or open to others (see
 *		TQ_OPEN_FOREIGN); -EACCES; -ENOSPC the tmpfs is full;
 *		TQ_ELAYOUT not a segment of this version, build or boot;
 *		TQ_ENAMESPACE of another PID or time namespace; TQ_ECORRUPT;
 *		TQ_EREMOVED the file of one of that name was removed, and after twice
 *		the lock time-out not all who work for it have ended (CREATE).  Once
 *		the file of this one is removed, every function that would change it or
 *		wait in it answers that.
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_open(const char *name, const struct tq_open_opts *opts,
				struct tq **ret_tq);

/**
 * tq_close() - detach.  Workers opened on the handle must be closed first.
 *
 * Return: NULL.
 * Since: 0.1.0
 */
TQ_API struct tq *tq_close(struct tq *tq);

/* flags of tq_destroy() */
#define TQ_DESTROY_FORCE (1u << 0) /* although it has workers, schedules or unfinished tasks */

/**
 * tq_destroy() - remove a segment.  Whoever is attached gets TQ_ESHUTDOWN, and
 * wakes when it sleeps.
 *
 * Errors:	-ENOENT; -EBUSY unfinished tasks, schedules or live workers, without FORCE;
 *		-EACCES, -EPERM; others as tq_open() (damaged segments need FORCE).
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_destroy(const char *name, uint32_t flags);

/* Snapshot of a segment. */
struct tq_segment_info {
	uint64_t size;		 /* in: room in the caller's struct; out: bytes filled */
	uint64_t max_bytes;	 /* it may grow to this */
	uint64_t reserved_bytes; /* memory it has taken from the tmpfs */
	uint64_t used_bytes;	 /* of that, in use */
	uint64_t tasks_max;	 /* task records at most */
	uint64_t tasks_count;	 /* task records in use, finished ones included */
	uint64_t tasks_unfinished;
	uint64_t retention_ns;
	uint64_t transactions;	  /* committed since creation */
	uint64_t rollbacks;	  /* times a dead lock holder's change was undone */
	uint64_t reclaimed;	  /* attempts taken from the dead */
	uint64_t created_unix_ns; /* CLOCK_REALTIME */
	uint32_t workers;	  /* registered workers */
	uint32_t sleepers;	  /* wait slots in use */
	uint32_t lock_holder;	  /* tid in the lock word now; 0 free */
	uint32_t owner_uid;
	uint32_t shutting_down; /* 1 after tq_shutdown() */
	uint32_t mode;		/* permission bits of the file */
	uint32_t commands_open; /* commands that somebody has not answered yet */
	uint32_t trace_entries; /* that its recorder keeps; 0 it has none */
	uint64_t traced;	/* entries ever recorded: the number of the last one */
	char path[256];		/* "" when it was removed under us */
	uint32_t schedules;	/* paused ones included */
	uint32_t reserved0;
};

/**
 * tq_segment_info() - read a segment's vital signs.  Takes no lock.
 *
 * Since: 0.1.0
 * Return: 0; -EINVAL bad .size.
 */
TQ_API TQ_NODISCARD int tq_segment_info(struct tq *tq, struct tq_segment_info *ret_info);

/* flags of tq_shutdown() */
#define TQ_SHUTDOWN_CANCEL (1u << 0) /* cancel what waits and runs, instead of finishing it */
#define TQ_SHUTDOWN_UNDO (1u << 1)   /* take tasks again */

/**
 * tq_shutdown() - refuse new tasks, finish (or cancel) the rest, stop workers.
 *
 * Claims answer TQ_ESHUTDOWN once nothing unfinished is left to them.  Groups that are open
 * are sealed, as nobody can join them any more, and with TQ_SHUTDOWN_CANCEL all that are
 * not complete are cancelled; after TQ_SHUTDOWN_UNDO they stay so.
 *
 * Errors:	-EROFS read-only handle; lock errors as tq_submit().
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_shutdown(struct tq *tq, uint32_t flags);

/* flags of tq_check() */
#define TQ_CHECK_EXACT (1u << 0)  /* take the lock: no tolerance for what is in motion */
#define TQ_CHECK_REPAIR (1u << 1) /* rebuild heaps, lists, indexes and gauges from the records */

/* Called for every finding of tq_check(); @text is one line. */
typedef void tq_check_report(void *arg, const char *text);

/**
 * tq_check() - verify every invariant of a live or dead segment.
 *
 * Without flags it works on a private copy and disturbs nobody.
 *
 * @report:	may be NULL.
 *
 * Errors:	-EROFS REPAIR on a read-only handle; -ENOMEM; -EAGAIN a read-only
 *		handle, and the segment changes faster than it can be copied;
 *		TQ_EFULL, -ENOSPC a repair finds no memory; TQ_ELOCKED.
 * Since: 0.1.0
 *
 * Return: number of faults found (0 = sound), or one of the errors above.
 * After a REPAIR that mended all it found, tq_check() again returns 0.
 */
TQ_API TQ_NODISCARD int tq_check(struct tq *tq, uint32_t flags, tq_check_report *report, void *arg);

/* Who stands in the way of the lock; see tq_lock_blame(). */
struct tq_lock_holder {
	uint64_t size;
	uint64_t held_ns; /* at least this long, as far as the caller saw */
	uint32_t tid;	  /* 0 = free */
	uint32_t pid;	  /* 0 = unknown */
	uint32_t state;	  /* letter of /proc/PID/stat: 'T' stopped, 'R', 'S', 'D'; 0 unknown */
	uint32_t reserved0;
};

/**
 * tq_lock_blame() - who holds the lock now, for the text of a TQ_ELOCKED error.
 *
 * Since: 0.1.0
 * Return: 0; -EINVAL bad .size.
 */
TQ_API TQ_NODISCARD int tq_lock_blame(struct tq *tq, struct tq_lock_holder *ret_holder);

#ifdef __cplusplus
}
#endif
#endif
