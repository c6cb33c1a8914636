/* SPDX-License-Identifier: MIT */
/* Servers of a queue: where its tasks run, and how many at a time. */
#ifndef TASKQ_SERVER_H
#define TASKQ_SERVER_H

#include <taskq/queue.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A server is a string that means something to whoever runs the tasks: the URL of a
 * worker node, the name of a device or of an account.  In a queue that has servers a
 * claim gives a task together with one of them, in tq_claim.server (commands find it in
 * TASKQ_SERVER): the one with the fewest attempts under way among those that have room,
 * and of equal ones the one that was given none for longest.  Its slot comes back with
 * the end of the attempt, whatever that end is: a verdict, a release, or the proof that
 * its worker died.
 *
 * A limit says how many attempts may be under way at a time: at one server, by its
 * name, or at all whose names begin with a prefix together, by the prefix and a `*`.  A
 * server counts where its name has a limit, else at its longest prefix, alone; `*` is
 * the limit of those that nothing else names.  Limits may be set before their servers
 * are there, and changed, set and removed while tasks run: that evicts nobody, and what
 * runs at a server counts at its new limit at once.
 *
 * While no server has room the queue's tasks stay ready, flagged throttled.  They cost
 * nothing meanwhile, and a slot that becomes free starts one.  A task that also has
 * limit keys (<taskq/limit.h>) starts only when these and a server have room, and takes
 * all or none.  Nothing is assigned beforehand in such a queue, whatever its batch.
 *
 * A queue whose last server was removed has no room for anything until it gets another
 * one; tq_server_clear() makes it an ordinary queue again.
 *
 * A server's name is 1 to TQ_SERVER_MAX bytes of printable ASCII, and has no `*`.
 */

/**
 * tq_server_add() - add a server to a queue; nothing when it is there.
 *
 * Threads:	safe.
 * Fork:	safe.
 * Blocks:	for the lock at most the handle's lock time-out.
 * Errors:	-EINVAL bad name; -ENOENT no such queue; TQ_EFULL the table of servers is
 *		full; -ENOSPC; -EBUSY others change the queue's limits all the time; -EROFS;
 *		lock errors as tq_submit().
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_server_add(struct tq *tq, const char *queue, const char *server);

/**
 * tq_server_remove() - start nothing more at a server.  What runs there goes on, and
 * counts at its limit until it has ended.
 *
 * Errors:	-EINVAL; -ENOENT no such queue or server; -EROFS; lock errors.
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_server_remove(struct tq *tq, const char *queue, const char *server);

/**
 * tq_server_clear() - remove all servers: its tasks start without one from now on.
 * Limits stay, for servers that come later.
 *
 * Errors:	-EINVAL; -ENOENT no such queue, or it has none; -EBUSY; -EROFS; lock errors.
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_server_clear(struct tq *tq, const char *queue);

/* flags of struct tq_server_info */
#define TQ_SERVER_LEAVING (1u << 0) /* removed; what ran there has not ended yet */
#define TQ_SERVER_FULL (1u << 1)    /* it has no room now */

/* Snapshot of a server. */
struct tq_server_info {
	uint64_t size;	     /* in: room; out: bytes filled */
	uint32_t flags;	     /* TQ_SERVER_* */
	uint32_t used;	     /* attempts under way at it */
	uint32_t limit_slots; /* of the limit that it counts at; TQ_OFF none */
	uint32_t limit_used;  /* attempts under way at all servers of that limit */
	uint64_t holder;     /* the task that has run there for longest; 0 none */
	uint64_t since_ns;   /* CLOCK_MONOTONIC: since when; 0 none */
	char queue[TQ_NAME_MAX + 1];
	char reserved0[7];
	char name[TQ_SERVER_MAX + 1];
	char limit[TQ_SERVER_MAX + 1]; /* pattern of that limit; "" none */
};

/**
 * tq_server_list() - read the servers of a queue (NULL: of all), in no order that means
 * anything.  Takes no lock.
 *
 * @cursor:	in: 0 to begin; out: where to go on.
 * @infos:	room for @count snapshots, .size set in the first.
 *
 * Cost:	what runs is looked through at each call.
 * Since: 0.1.0
 * Return: how many were filled, 0 at the end; -EINVAL.
 */
TQ_API TQ_NODISCARD int tq_server_list(struct tq *tq, const char *queue, uint64_t *cursor,
				       struct tq_server_info *infos, uint32_t count);

/**
 * tq_server_limit_set() - set or change a limit of servers; it holds from the next start.
 *
 * @pattern:	a server's name, or a prefix of names and a `*` behind it.
 * @slots:	attempts at a time, from 1 to TQ_OFF - 1 (none at all is not a limit: pause
 *		the queue, or remove the server).
 *
 * Where a limit of a prefix comes or goes in a queue with many servers, the queue starts
 * nothing while they are counted anew: some microseconds each.
 *
 * Errors:	-EINVAL; -ENOENT no such queue; TQ_EFULL the table of limits is full; -ENOSPC;
 *		-EBUSY; -EROFS; lock errors as tq_submit().
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_server_limit_set(struct tq *tq, const char *queue, const char *pattern,
					    uint32_t slots);

/**
 * tq_server_limit_remove() - take a limit away: its servers count at the longest prefix
 * that is left.
 *
 * Errors:	-ENOENT no such queue, or it is not set; -EINVAL; -EBUSY; -EROFS; lock errors.
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_server_limit_remove(struct tq *tq, const char *queue,
					       const char *pattern);

/* Snapshot of a limit of servers. */
struct tq_server_limit_info {
	uint64_t size;	  /* in: room; out: bytes filled */
	uint32_t slots;
	uint32_t used;	  /* attempts under way; more than slots after these were lowered */
	uint32_t servers; /* that count at it, those that leave too */
	uint32_t reserved0;
	char queue[TQ_NAME_MAX + 1];
	char reserved1[7];
	char pattern[TQ_SERVER_MAX + 1];
};

/**
 * tq_server_limit_list() - read the limits of servers of a queue (NULL: of all), in no
 * order that means anything.  Takes no lock; as tq_server_list().
 *
 * Since: 0.1.0
 * Return: how many were filled, 0 at the end; -EINVAL.
 */
TQ_API TQ_NODISCARD int tq_server_limit_list(struct tq *tq, const char *queue, uint64_t *cursor,
					     struct tq_server_limit_info *infos, uint32_t count);

#ifdef __cplusplus
}
#endif
#endif
