/* SPDX-License-Identifier: MIT */
/* What the parts of a check share. */
#ifndef TQI_SCHEDULER_CHECK_CHECK_STATE_H
#define TQI_SCHEDULER_CHECK_CHECK_STATE_H

#include "scheduler/check/check.h"
#include "scheduler/record/records.h"

/* Seen of a record so far; in marks[table][index]. */
#define TQI_SEEN_FREE (1u << 0)	/* on its table's free list */
#define TQI_SEEN_LINKED (1u << 1) /* on the one list that its state calls for */
#define TQI_SEEN_LANE (1u << 2)	/* task: in its lane; lane: in its class's heap */
#define TQI_SEEN_INDEXED (1u << 2) /* key: in the index */
#define TQI_SEEN_DUE (1u << 3)	/* in the due heap */
#define TQI_SEEN_BY_KIND (1u << 4) /* queue: its index of streams may be read */
#define TQI_SEEN_AGE (1u << 5) /* task: in its lane's heap of ages; lane: in its class's */
#define TQI_SEEN_WALL (1u << 6)	/* in the wall heap */
#define TQI_SEEN_STALE (1u << 8) /* task: on the list of stale ones */
#define TQI_SEEN_CLOSED (1u << 7) /* parking: with its limit; limit: among the loosened */
#define TQI_SEEN_GROUP (1u << 12) /* task: in its group's chain */
#define TQI_SEEN_BUSY (1u << 12)  /* group: among the busy ones */
#define TQI_SEEN_WAITER                                                                            \
	(1u << 4) /* edge: on its waiter's list; key: its task is a successor;
				     sleeper: on its attempt's list */

/* Seen of a span, in spans[]. */
#define TQI_SEEN_USED 1u   /* by a directory or as a run's first span */
#define TQI_SEEN_TAIL 2u   /* inside a run */
#define TQI_SEEN_CLASS 3u  /* on a class's list */

/* What tasks add up to, for a limit; what lanes do, for a class. */
struct tqi_check_limit {
	uint32_t tasks, used, waiting;
};
struct tqi_check_lanes {
	uint32_t all, parked;
};
/* What servers add up to, for a pool; what servers and pools do, for a queue. */
struct tqi_check_pool {
	uint32_t used, servers;
};
struct tqi_check_served {
	uint32_t servers, pools;
};
/* What members add up to, for a group; slots that are about it. */
struct tqi_check_group {
	uint32_t members, uncounted, pinned, waiters, states[TQ_STATE_COUNT];
};
/* What tenants and held tasks add up to, for a stream. */
struct tqi_check_contest {
	uint32_t classes, held;
};
/* Classes of a queue and its tenants, of even and of odd eras. */
struct tqi_check_eras {
	uint32_t of[2];
};

struct tqi_check {
	struct tqi_tx *tx;
	const struct tqi_geometry *g;
	tqi_check_finding *finding;
	void *arg;
	uint32_t faults;
	uint32_t count[TQI_TABLE_COUNT]; /* records that may be read, index 0 included */
	uint16_t *marks[TQI_TABLE_COUNT];
	uint8_t *spans;
	uint16_t *span_blocks; /* blocks found in use, per span */
	uint64_t *units;       /* bit per unit: a block in use or free begins here */
	uint32_t *pins;	       /* edges, per task */
	uint32_t *unmet;       /* untold dependencies and gates, per task */
	uint32_t *members;     /* unfinished tasks, per lane; lanes, per parking */
	struct tqi_check_limit *limits;
	struct tqi_check_lanes *lanes; /* per class */
	uint32_t *tenants;	       /* tasks that name it */
	struct tqi_check_group *groups;
	uint32_t *answers;	       /* wait slots that are about it, per command */
	struct tqi_check_contest *contests; /* per stream */
	struct tqi_check_eras *eras; /* per queue */
	uint32_t *servers;     /* attempts that name it */
	struct tqi_check_pool *pools;
	struct tqi_check_served *served; /* per queue */
	uint32_t *waiting;     /* per queue */
	uint32_t *queue_users, *kind_users, *kind_streams;
	uint32_t (*depth)[TQ_STATE_COUNT]; /* per stream */
	uint32_t ready, running, unfinished, due, listed, telling;
	uint32_t empty_workers, dying_workers, room_waiters, command_waiters, group_waiters, moving,
		appointments, assigned, rates, carrying;
	uint64_t sequence; /* rebuild: about which those of tasks must lie */
};

/* Empty, with its parts laid out in the scratch memory. */
void tqi_check_begin(struct tqi_check *c, struct tqi_tx *tx, void *scratch);

__attribute__((format(printf, 2, 3))) void tqi_check_fault(struct tqi_check *c, const char *format,
							   ...);

/* A fault unless both are equal; the text names record and field. */
void tqi_check_equal(struct tqi_check *c, const char *record, uint32_t index, const char *field,
		     uint64_t is, uint64_t should_be);

/* Whether the span's memory may be read. */
bool tqi_check_span_is_here(const struct tqi_check *c, uint32_t span);

/* A record; NULL when there is none of that index.  In use: not on the free list. */
void *tqi_check_record(struct tqi_check *c, uint32_t table, uint32_t index);
void *tqi_check_record_in_use(struct tqi_check *c, uint32_t table, uint32_t index);

/*
 * A block of at least `bytes` (0: of any size) is used by this record, and by
 * nothing else.  False: a fault was reported, its bytes must not be read.
 */
bool tqi_check_block(struct tqi_check *c, uint32_t block, uint64_t bytes, const char *record,
		     uint32_t index, const char *field);

/*
 * A walk along a list, from its first record on: each is in use, met once, and knows the one
 * before it.  What else they must be, whoever walks says by tqi_check_break().
 */
struct tqi_check_list {
	uint32_t table;
	uint32_t mark;	/* that each gets; 0: only their number bounds the walk */
	bool in_extra;	/* the links are in the rare settings of tasks */
	size_t prev_at; /* offset of the link; 0: it leads one way */
	size_t next_at;
	const char *name; /* in faults, with the record whose list it is; 0 the segment's */
	uint32_t owner;
	uint32_t next;	/* the first one; then the one that follows */
	uint32_t at;	/* the one that was met last; in the end the last of the list */
	uint32_t count; /* that were met */
	bool broken;
};
/* Of a list of records, or of their rare settings, by its links; of one that leads one way. */
#define TQI_CHECK_LIST(table_, type, prev, next_)                                                  \
	.table = table_, .prev_at = offsetof(struct type, prev),                                   \
	.next_at = offsetof(struct type, next_)
#define TQI_CHECK_CHAIN(table_, type, next_)                                                       \
	.table = table_, .next_at = offsetof(struct type, next_)

/* The next record; NULL: the list has ended, or is broken, which has been reported. */
void *tqi_check_next(struct tqi_check *c, struct tqi_check_list *list);
/* The record that was met last should not be there: reported, and the walk ends. */
void tqi_check_break(struct tqi_check *c, struct tqi_check_list *list);
/* At the end of a walk: whoever keeps the list's last record agrees, unless it is broken. */
void tqi_check_list_end(struct tqi_check *c, const struct tqi_check_list *list, const char *field,
			uint32_t last);

/* A task's rare settings (TQI_TASK_EXTRA); NULL when their memory may not be read. */
struct tqi_extra *tqi_check_extra(struct tqi_check *c, const struct tqi_task *task);
/* Its deadline; UINT64_MAX none.  Its appointment; 0 none. */
uint64_t tqi_check_deadline(struct tqi_check *c, const struct tqi_task *task);
uint64_t tqi_check_at(struct tqi_check *c, const struct tqi_task *task);

/* What is wrong with a task's key record, NULL nothing; whether its task may hold it (RC-7). */
const char *tqi_check_key_fault(uint32_t task, const struct tqi_task *t, const struct tqi_key *key);
bool tqi_check_may_hold(const struct tqi_task *task, uint32_t scope);
/* Whether it waits for the one that has its key; NULL: no. */
bool tqi_check_has_leader(const struct tqi_task *task, const struct tqi_key *key);
/* What is wrong with an edge as a dependency of this task, NULL nothing; of a refused one,
 * whether its end has cancelled the dependant. */
const char *tqi_check_edge_fault(struct tqi_check *c, const struct tqi_edge *edge, uint32_t index);
bool tqi_check_is_refused(struct tqi_check *c, const struct tqi_edge *edge);
/* A task's own side of its dependencies. */
void tqi_check_task_after(struct tqi_check *c, uint32_t index, const struct tqi_task *task);
/* A task's own side of its key. */
void tqi_check_task_key(struct tqi_check *c, uint32_t index, const struct tqi_task *task);

/* Whether a limit has a name and a size; a rate, and tokens that go with it; whether these may be the limits of a task. */
bool tqi_check_limit_is_sound(const struct tqi_limit *limit);
bool tqi_check_bucket_is_sound(const struct tqi_limit *limit);
bool tqi_check_limits_are_sound(struct tqi_check *c, const uint32_t limits[TQ_LIMITS_MAX]);
/* A task's own side of its limits; its lane may be NULL. */
void tqi_check_task_limits(struct tqi_check *c, uint32_t index, const struct tqi_task *task,
			   const struct tqi_lane *lane);

/* Whether a tenant has a name, a queue and a tag. */
bool tqi_check_tenant_is_sound(struct tqi_check *c, const struct tqi_tenant *tenant);
/* A task's own side of its tenant; its lane's class may be NULL. */
void tqi_check_task_tenant(struct tqi_check *c, uint32_t index, const struct tqi_task *task,
			   const struct tqi_class *class_);
/* Whether a server, a pool has a name, and a queue. */
bool tqi_check_server_is_sound(struct tqi_check *c, const struct tqi_server *server);
bool tqi_check_pool_is_sound(struct tqi_check *c, const struct tqi_pool *pool);
/* An attempt's own side of its server. */
void tqi_check_attempt_server(struct tqi_check *c, uint32_t a, const struct tqi_attempt *attempt,
			      const struct tqi_task *task);

/* The stream of a queue and kind; 0 none, or it is another one's. */
uint32_t tqi_check_stream_of(struct tqi_check *c, uint32_t queue, uint32_t kind);
/* What is wrong with a histogram of a stream, NULL nothing. */
const char *tqi_check_times_fault(const struct tqi_stream *stream, const struct tqi_times *times,
				  uint32_t what);
/* Whose classes or streams compete: a queue's, or a tenant's. */
struct tqi_check_owner {
	const char *record;
	uint32_t index;
};
/* A tournament, as far as it follows from itself; NULL: it must not be read.  All of a chain's. */
const struct tqi_tournament *tqi_check_tournament(struct tqi_check *c,
						  const struct tqi_check_owner *owner,
						  uint32_t block, uint32_t orders);
void tqi_check_bands(struct tqi_check *c, const struct tqi_check_owner *owner, uint32_t tournaments,
		     uint32_t orders, const struct tqi_tournament *ret_bands[TQ_BANDS]);
/* Whether that is whose place it is, with these heads; how many places are somebody's. */
void tqi_check_place(struct tqi_check *c, const struct tqi_check_owner *owner,
		     const struct tqi_tournament *t, uint32_t kind, uint32_t who,
		     const struct tqi_heap_entry *const heads[]);
uint32_t tqi_check_count_places(const struct tqi_tournament *t);

/* A hash index; false: it may not be asked.  Its records are marked as linked. */
struct tqi_check_index {
	const struct tqi_hash_index *index;
	uint32_t table;
	const char *name;
	uint64_t (*hash)(struct tqi_tx *tx, uint32_t record); /* NULL: by name */
};
bool tqi_check_index(struct tqi_check *c, const struct tqi_check_index *i);

/*
 * The memory of an array up to a place, which is used by nothing else; of a hash index.  False:
 * it may not be read.
 */
bool tqi_check_array(struct tqi_check *c, const struct tqi_array *array, uint32_t shift,
		     uint32_t end, const struct tqi_check_owner *owner);
bool tqi_check_heads(struct tqi_check *c, const struct tqi_hash_index *index, const char *name);
/* What is wrong with a schedule, NULL nothing. */
const char *tqi_check_schedule_fault(struct tqi_check *c, const struct tqi_schedule *schedule);
/* What is wrong with a command's record, NULL nothing; bytes that its block needs. */
const char *tqi_check_command_fault(struct tqi_check *c, const struct tqi_command *command);
uint64_t tqi_check_command_bytes(const struct tqi_command *command);
/* What is wrong with a group's record, NULL nothing; a task's own side of its groups. */
const char *tqi_check_group_fault(const struct tqi_group *group);
void tqi_check_task_group(struct tqi_check *c, uint32_t index, const struct tqi_task *task);
/* In which gauge of its class a task counts: shut ones in none of those that are shown. */
uint32_t tqi_check_gauge(struct tqi_check *c, const struct tqi_task *task);
/* The worker that a delivery is for, if it is there still. */
const struct tqi_worker *tqi_check_recipient(struct tqi_check *c, const struct tqi_delivery *d);

/*
 * Order, positions and memory of a heap.  Each entry's record gets `mark`; `expect`
 * gets the entry and corrects what it knows better; false: it should not be there.
 */
struct tqi_check_heap;
typedef bool tqi_check_entry(struct tqi_check *c, uint32_t index, const struct tqi_check_heap *heap,
			     struct tqi_heap_entry *entry);
struct tqi_check_heap {
	const struct tqi_heap *heap;
	uint32_t family;
	uint32_t table; /* of its entries */
	uint32_t mark;
	uint32_t owner; /* record that the heap belongs to */
	const char *name;
	tqi_check_entry *expect;
};
/* False: its places cannot be read. */
bool tqi_check_heap(struct tqi_check *c, const struct tqi_check_heap *h);

/* The duties, in the order in which they rely on each other. */
void tqi_check_tables(struct tqi_check *c);
void tqi_check_names(struct tqi_check *c);
/* At the end: who names queues and kinds has been counted. */
void tqi_check_users(struct tqi_check *c);
void tqi_check_tasks(struct tqi_check *c);
void tqi_check_keys(struct tqi_check *c);
void tqi_check_limits(struct tqi_check *c);
void tqi_check_streams(struct tqi_check *c);
void tqi_check_fair(struct tqi_check *c);
void tqi_check_servers(struct tqi_check *c);
void tqi_check_queues(struct tqi_check *c);
void tqi_check_classes(struct tqi_check *c);
void tqi_check_workers(struct tqi_check *c);
void tqi_check_lists(struct tqi_check *c);
void tqi_check_schedules(struct tqi_check *c);
void tqi_check_sleepers(struct tqi_check *c);
void tqi_check_asleep(struct tqi_check *c);
void tqi_check_room(struct tqi_check *c);
void tqi_check_called(struct tqi_check *c);
void tqi_check_behalf(struct tqi_check *c);
void tqi_check_inherit(struct tqi_check *c);
void tqi_check_commands(struct tqi_check *c);
void tqi_check_groups(struct tqi_check *c);
void tqi_check_lanes(struct tqi_check *c);
void tqi_check_gauges(struct tqi_check *c);
void tqi_check_depths(struct tqi_check *c);
void tqi_check_memory(struct tqi_check *c);

#endif
