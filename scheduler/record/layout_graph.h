/* SPDX-License-Identifier: MIT */
/* Records of dependencies, unique keys and groups (scheduler/record/records.h has the rules). */
#ifndef TQI_SCHEDULER_RECORD_LAYOUT_GRAPH_H
#define TQI_SCHEDULER_RECORD_LAYOUT_GRAPH_H

#include "scheduler/record/tables.h"
#include "shm/hash.h"

/* What has become of an edge. */
enum tqi_edge_told {
	TQI_EDGE_OPEN = 0,    /* on its task's list: it is waited for */
	TQI_EDGE_TOLD = 1,    /* on no list: the waiter knows, or need not know, of the end */
	TQI_EDGE_REFUSED = 2, /* on its task's list: its end has cancelled the dependant */
};

/*
 * Somebody waits for a task: a wait slot, or (kind) another task, its dependant
 * (scheduler/graph/edge.h, scheduler/graph/after.h).
 */
struct tqi_edge {
	uint32_t link;
	uint32_t waiter; /* wait slot, or the dependant's record */
	uint32_t task;
	uint32_t told; /* enum tqi_edge_told */
	uint32_t prev; /* edges of the task, unless told */
	uint32_t next;
	uint32_t next_of_waiter;
	uint16_t kind; /* enum tq_after of a dependant's; 0 a wait slot's */
	uint16_t quiet; /* 1: the task inherits nothing over it (IN-3); written once */
};
_Static_assert(sizeof(struct tqi_edge) == 32, "half a cache line");

/*
 * A task's unique key, as long as the task's record, held or not: so a new life can
 * ask for it again.  `task`, `queue`'s name and `name` never change while it is held.
 */
struct tqi_key {
	struct tqi_hash_node node;
	uint32_t task;
	uint32_t successor; /* coalesce: the task that is BLOCKED until this one ends; 0 none */
	uint16_t queue;
	uint8_t scope; /* enum tq_unique_scope */
	uint8_t held;  /* 1: it is in the index (RC-7) */
	uint8_t bytes; /* of the name */
	uint8_t reserved0[3];
	char name[TQ_KEY_MAX + 1];
	uint64_t reserved1[4];
};
_Static_assert(sizeof(struct tqi_key) == 192, "three cache lines");

enum tqi_group_state {
	TQI_GROUP_FREE = 0,
	TQI_GROUP_BUILDING = 1, /* nobody sees it */
	TQI_GROUP_OPEN = TQ_GROUP_OPEN + 1,
	TQI_GROUP_SEALED = TQ_GROUP_SEALED + 1,
	TQI_GROUP_COMPLETE = TQ_GROUP_COMPLETE + 1,
};

/* What a group's walk does with its members. */
enum tqi_group_work {
	TQI_GROUP_IDLE = 0,
	TQI_GROUP_OPENING = 1,	  /* shows those that are shut */
	TQI_GROUP_CANCELLING = 2, /* ends, or stops, those whose end is not counted */
	TQI_GROUP_RELEASING = 3,  /* takes back its pins; before, it cancels its completion */
	TQI_GROUP_UNDOING = 4,	  /* frees all, and then itself */
};

/*
 * A group, or a graph (scheduler/graph/group.h).  Label, condition, times and owner never
 * change.
 */
struct tqi_group {
	uint32_t link;
	uint8_t state; /* enum tqi_group_state */
	uint8_t condition; /* enum tq_group_condition */
	uint8_t cancelled; /* 1: GR-6 */
	uint8_t work;	   /* enum tqi_group_work */
	uint64_t generation; /* with the index: the id */
	struct tqi_ident owner; /* GR-7; pid 0 nobody */
	uint64_t made_ns;
	uint64_t ended_ns;
	uint64_t sequence;	/* of a graph: the root's when it was published */
	uint64_t completion_id; /* of the completion task, also when it is decided; 0 none */
	uint64_t culprit;	/* id of the member that is against the condition; 0 none */
	uint32_t completion;	/* the task while it waits for the group; 0 none, or decided */
	uint32_t members;
	uint32_t unfinished;
	uint32_t ends; /* counted; number of the last one */
	uint32_t states[TQ_STATE_COUNT]; /* GR-2 */
	uint32_t first;			 /* the chain (GR-1) */
	uint32_t last;
	uint32_t ended_last; /* of those that are counted */
	uint32_t walk;
	uint32_t prev; /* owned ones; complete ones whose members are released */
	uint32_t next;
	uint32_t busy_next;
	uint32_t waiters; /* wait slots that are about it: it is not freed */
	uint32_t reserved0;
	struct tqi_waiter_list asleep_next; /* CA-1: who waits for the next end ... */
	struct tqi_waiter_list asleep_last; /* ... and who for the last one */
	uint64_t reserved1[2];
	char label[TQ_LABEL_MAX + 1]; /* NUL-terminated */
};
_Static_assert(sizeof(struct tqi_group) == 320, "five cache lines");

/* Both ends of a list of groups. */
struct tqi_group_ends {
	uint32_t first;
	uint32_t last;
};

#endif
