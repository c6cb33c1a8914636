/* SPDX-License-Identifier: MIT */
/*
 * Servers of a queue: where its attempts run, and how many at a time.
 *
 * SV-1  A queue that is served (TQI_QUEUE_SERVED) starts a task together with one of its
 *     servers: the one with the fewest attempts under way among those that have room, and
 *     of equal ones the one that was given none for longest.  The end of the attempt,
 *     whatever it is, gives the slot back.  An attempt names its server, nothing else.
 * SV-2  A limit is of one name, or of all that begin with a prefix, and holds in one queue.
 *     The servers of a limit form a *pool* and share its size; a server is in the pool of
 *     its own name's limit, else in that of its longest prefix's, else in the queue's
 *     home pool, which has no limit but one of the empty prefix.
 * SV-3  A pool has room while its attempts under way are fewer than its size (lowered, it
 *     ends nobody) and a server in it may be given tasks.  Those with room stand in the
 *     home's heap by their first server: a claim finds the best at its root.
 * SV-4  A queue whose pools have no room is passed over as a whole, as if it were paused:
 *     no task moves, and nobody is woken for it.  Whoever makes room where there was none
 *     has one sleeper woken, at the end of the transaction; who claims wakes the next.
 * SV-5  A limit that comes or goes carries servers from one pool to another, with what is
 *     under way at them.  Several holds may do that, a slice each, by carry_at; until it
 *     is through the queue has no room, so that no limit is ever exceeded by a start, and
 *     further changes are refused.  Memory is reserved beforehand: it cannot fail.
 * SV-6  A server that is removed gets no more tasks, and its record goes with its last
 *     attempt; until then it counts in its pool.  Without servers a served queue has no
 *     room; to make it an ordinary one is a decision of its own, and carries all away.
 * SV-7  A task that has ended, or is delayed, names the server of its last attempt, by
 *     record and sequence, in place of the key that it does not need; READY it has none.
 * SV-8  Nothing is assigned beforehand in a served queue, and what was goes back.
 * SV-9  The home's `full_ns` is until when its queue, served, was without room: set when there
 *     is room again.  A start counts as throttled when that was so at some time since the
 *     task became ready (as with a limit, LM-9).
 */
#ifndef TQI_SCHEDULER_LIMIT_SERVER_H
#define TQI_SCHEDULER_LIMIT_SERVER_H

#include "scheduler/record/serves.h"

#define TQI_POOL_NONE UINT32_MAX /* as a size: any number */

/* Whether a queue was without room after this time (SV-9). */
static inline bool tqi_queue_was_full(struct tqi_tx *tx, const struct tqi_queue *queue,
				      uint64_t since_ns)
{
	return (queue->flags & TQI_QUEUE_SERVED) &&
	       tqi_pool_at(tx, queue->home)->full_ns > since_ns;
}

/* Something has changed: whether it had room before; if that makes room, it is noted (SV-9), and
 * a sleeper woken (SV-4). */
void tqi_queue_pass_on(struct tqi_tx *tx, const struct tqi_queue *queue, bool had_room);
/* An attempt begins: at which server; 0 the queue is not served.  It ends. */
uint32_t tqi_server_take(struct tqi_tx *tx, uint32_t queue);
void tqi_server_give(struct tqi_tx *tx, uint32_t server);
/* What a task keeps of it (SV-7). */
static inline int64_t tqi_server_mark(const struct tqi_server *server, uint32_t index)
{
	return (int64_t)tqi_tag(server->sequence, index);
}

/* By name; 0 none. */
uint32_t tqi_server_find(struct tqi_tx *tx, uint32_t queue, const char *name, uint32_t bytes);
/*
 * 0, also when it is there; -EBUSY a change is being carried out; TQ_EFULL; -ENOMEM: then
 * the transaction must be aborted.
 */
int tqi_server_add(struct tqi_tx *tx, uint32_t queue, const char *name);
/* 0; -ENOENT. */
int tqi_server_remove(struct tqi_tx *tx, uint32_t queue, const char *name);
/* All of them, and the queue is an ordinary one: 0; -ENOENT it was; -EBUSY. */
int tqi_server_remove_all(struct tqi_tx *tx, uint32_t queue);
/* It gets no more tasks; its record goes at once, or later. */
void tqi_server_leave(struct tqi_tx *tx, uint32_t server);

/*
 * Set the limit of a name, or of a prefix and then a *; TQI_POOL_NONE takes it away.  0;
 * -ENOENT nothing to take away; -EBUSY; TQ_EFULL, -ENOMEM: abort.
 */
int tqi_pool_set(struct tqi_tx *tx, uint32_t queue, const char *pattern, uint32_t size);
/* The home, made where missing.  0; TQ_EFULL; -ENOMEM: abort. */
int tqi_pool_home(struct tqi_tx *tx, uint32_t queue);
/* The pool of a server's name (SV-2); there is a home. */
uint32_t tqi_pool_for(struct tqi_tx *tx, uint32_t queue, const char *name, uint32_t bytes);
/* The one of the longest prefix of so many bytes at most; the home has every name. */
uint32_t tqi_pool_longest(struct tqi_tx *tx, uint32_t queue, const char *name, uint32_t bytes);
/* The one of this pattern that is set; 0 none. */
uint32_t tqi_pool_find_set(struct tqi_tx *tx, uint32_t queue, const char *pattern, uint32_t bytes,
			   bool is_prefix);
/* Found or made; in its home's heap there is a place for it.  TQ_EFULL; -ENOMEM: abort. */
int tqi_pool_make(struct tqi_tx *tx, uint32_t queue, const char *pattern, uint32_t bytes,
		  bool is_prefix, uint32_t *ret_pool);
/* Whether a name is a pool's; the home is everybody's. */
bool tqi_pool_matches(const struct tqi_pool *pool, const char *name, uint32_t bytes);
/* A new server comes into its pool; -ENOMEM: abort.  A record leaves it. */
int tqi_pool_join(struct tqi_tx *tx, uint32_t pool, uint32_t server);
void tqi_pool_leave(struct tqi_tx *tx, uint32_t pool);
/* Its memory follows what is in it; one that is not set goes with its last server. */
void tqi_pool_tidy(struct tqi_tx *tx, uint32_t pool);

/* Its first server, before something changes: see below. */
struct tqi_heap_entry tqi_pool_first(const struct tqi_pool *pool);
/* Size, load or attempts have changed: its place in its home's heap (SV-3). */
void tqi_pool_follow(struct tqi_tx *tx, uint32_t pool, struct tqi_heap_entry first_before);
/* A server's entry in its pool's heap. */
static inline struct tqi_heap_entry tqi_server_entry(const struct tqi_server *server,
						     uint32_t index)
{
	return (struct tqi_heap_entry){ server->used, tqi_tag(server->turn, index) };
}
/* A pool's in its home's. */
static inline struct tqi_heap_entry tqi_pool_entry(const struct tqi_pool *pool, uint32_t index)
{
	const struct tqi_heap_entry *first = &pool->load.root;

	return (struct tqi_heap_entry){ first->key,
					(first->tag & ~(uint64_t)TQI_INDEX_MASK) | index };
}
static inline bool tqi_pool_has_room(const struct tqi_pool *pool)
{
	return pool->load.length && pool->used < pool->size;
}

/* Carry on (SV-5): a slice of one queue. */
void tqi_server_carry(struct tqi_tx *tx);
/* Begin to carry servers from one pool to another, or (0) away; a slice at once.  -ENOMEM. */
int tqi_server_carry_begin(struct tqi_tx *tx, uint32_t queue, uint32_t from, uint32_t to);

/* One server into a pool that has room for it. */
void tqi_server_move(struct tqi_tx *tx, uint32_t server, uint32_t pool);

/* A pool by pattern; 0 none. */
uint32_t tqi_pool_find(struct tqi_tx *tx, uint32_t queue, const char *pattern, uint32_t bytes,
		       bool is_prefix);

#endif
