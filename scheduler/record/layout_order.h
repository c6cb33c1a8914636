/* SPDX-License-Identifier: MIT */
/* Records of queues, kinds, and of what orders tasks (scheduler/record/records.h has the rules). */
#ifndef TQI_SCHEDULER_RECORD_LAYOUT_ORDER_H
#define TQI_SCHEDULER_RECORD_LAYOUT_ORDER_H

#include "scheduler/record/tables.h"
#include "shm/hash.h"
#include "shm/histogram.h"

/* flags of a queue */
#define TQI_QUEUE_PAUSED TQ_QUEUE_PAUSED
#define TQI_QUEUE_DRAINING TQ_QUEUE_DRAINING
#define TQI_QUEUE_BANDED (1u << 16)  /* its policy keeps the classes of its bands apart */
#define TQI_QUEUE_ORDERED (1u << 17) /* heads of its classes cannot be compared by their keys */
#define TQI_QUEUE_MOVING (1u << 18)  /* tasks of an earlier era are on their way to this one's */
#define TQI_QUEUE_SHARED                                                                           \
	(1u << 19) /* tasks may be in classes of tenants (scheduler/order/fair.h) */
#define TQI_QUEUE_SERVED (1u << 20)  /* its attempts run at servers (scheduler/limit/server.h) */
#define TQI_QUEUE_CONFIGURED (1u << 21) /* somebody has set it: it is not given back (UN-1) */

/*
 * The classes of one era, a queue's or a tenant's: each of these has a chain for even eras and
 * one for odd ones, so that what an era leaves behind is what stands in the other chain.
 */
struct tqi_chain {
	uint32_t first;	      /* through class.next, newest first */
	uint32_t tournaments; /* block: struct tqi_tournaments (TN-1); 0 none */
	uint32_t left;	      /* classes of that era; a queue's counts those of its tenants, too */
};

/*
 * A queue.  Given back when another one needs its place and nothing is left of it
 * (scheduler/order/unused.h); a free record has no name.
 *
 * Its policy (scheduler/order/policy.h) is changed as a whole: each change of what decides
 * on keys or classes begins an era, and what was there before follows in slices.
 */
struct tqi_queue {
	struct tqi_hash_node node; /* in the root's index of queues, by name */
	uint32_t flags;
	uint32_t era;	  /* of the policy; classes carry that of theirs */
	uint32_t waiting; /* blocked, delayed and ready tasks that no purge has condemned */
	uint32_t attempts_max;
	uint64_t purge_before; /* waiting tasks with a smaller wait_sequence are cancelled */
	uint64_t depth_max;    /* UINT64_MAX none */
	uint64_t timeout_ns;   /* UINT64_MAX none */
	uint64_t backoff_ns;
	uint64_t backoff_cap_ns;
	struct tqi_chain chains[2]; /* its classes, of even and of odd eras */
	char name[TQ_NAME_MAX + 2]; /* NUL-terminated */
	uint16_t users; /* workers, schedules and commands that name it */
	uint32_t ageing[TQ_BANDS];	 /* of each band, in thousandths of a point a second */
	int32_t band_from[TQ_BANDS - 1]; /* least priority of all bands but the lowest */
	uint32_t hybrid;       /* so many starts, then one of the least urgent band; 0 off */
	uint32_t hybrid_count; /* starts since the last one of that band */
	uint32_t edf;	       /* 1: deadlines order inside a band */
	uint32_t overdue_turn; /* 1: the last start was of an overdue task, for being that */
	uint64_t max_wait_ns;  /* after so long a ready task is overdue; UINT64_MAX never */
	uint32_t batch; /* tasks that a claim may take; 0 or 1: what it starts */
	uint32_t fair; /* 1: tenants share it by run time */
	int64_t fair_time_us; /* its virtual time: where its last start of a tenant began */
	uint32_t tenant; /* of tasks without a fair key; 0 it has never been fair */
	uint32_t home;	     /* pool of its servers that have no limit; 0 it has never had any */
	uint32_t servers;    /* that may be given tasks: not leaving */
	uint32_t carry_at;   /* next server's record of a change that is carried out; 0 none is */
	uint32_t carry_from; /* pool that servers leave by it; 0 all leave for good */
	uint32_t carry_to;   /* and where they go */
	uint64_t turn; /* grows with each start at a server, and with each server */
	uint32_t asleep; /* first stack of workers asleep for it (scheduler/worker/asleep.h) */
	uint32_t room_oldest; /* submitters asleep for room in it (scheduler/wake/room.h) */
	uint32_t room_newest;
	uint32_t streams; /* chain through stream.next, newest first */
	uint32_t by_kind; /* block: struct tqi_by_kind; 0 it has no streams */
	uint32_t contest; /* block: struct tqi_tournament of streams (TN-4); 0 none */
	uint64_t busy[4]; /* bits by kind: streams with unfinished tasks, or that had some */
};
_Static_assert(sizeof(struct tqi_queue) == 320, "five cache lines");

/* What tasks of a kind have where they say nothing themselves (E6); 0 in a field: as the queue. */
struct tqi_kind_defaults {
	uint64_t timeout_ns; /* UINT64_MAX none */
	uint64_t timeout_total_ns;
	uint64_t backoff_ns;
	uint64_t backoff_cap_ns;
	uint32_t attempts_max;
	uint32_t reserved0;
};

/*
 * A kind's name, its defaults, and how long its attempts run, learnt in fair queues.  Given
 * back as queues are, unless it has defaults.
 */
struct tqi_kind {
	struct tqi_hash_node node; /* in the root's index of kinds, by name */
	char name[TQ_NAME_MAX + 8]; /* NUL-terminated */
	int64_t mean_us; /* of the latest ones, exponentially weighted; 0 none has ended yet */
	uint32_t streams; /* that are of it */
	uint32_t users; /* workers, by bits of their own, and schedules that name it */
	uint64_t reserved0[3];
	struct tqi_kind_defaults defaults;
	uint64_t reserved1[3];
};
_Static_assert(sizeof(struct tqi_kind) == 192, "two cache lines, and one for defaults");

/*
 * What is counted of the tasks of one queue and kind.  Made with the first of them, and there
 * as long as both (RC-13).  A submit and a claim write to the first cache line only.
 *
 *  field          written by                                    under
 *  queue, kind    the transaction that makes it                 the lock
 *  depth          whatever changes a task's state or queue      the lock, journalled
 *  the counters   submit, claim, verdict, a steal, a move       the lock, journalled
 *  tenants, ...   whatever orders tasks                         the lock, journalled
 *  busy           what begins a task; who finds it without any  the lock, journalled
 *
 * Observers read all of it.  The counters are truth; all else a rebuild makes anew.
 */
struct tqi_stream {
	uint32_t link;
	uint16_t queue;
	uint16_t kind;
	uint32_t times;			/* histograms; 0 none */
	uint32_t depth[TQ_STATE_COUNT]; /* tasks by state; of TQ_FREE those of shut graphs */
	uint64_t submitted;
	uint64_t started;

	uint64_t ended[4]; /* done, failed, cancelled, expired */
	uint64_t retried;
	uint64_t crashed;
	uint64_t reclaimed;
	uint64_t stolen; /* tasks that a worker took from another one's list */

	uint64_t throttled; /* starts that a full limit had put off (LM-9) */
	uint64_t moved;	    /* unfinished tasks that went to another queue */
	uint32_t next;	    /* others of the queue */
	uint32_t tenant_classes; /* classes of tenants: `tenants` has room for all */
	uint32_t held; /* ready tasks that are held: in no heap */
	uint32_t busy; /* 1: its bit is set among the busy ones of its queue */
	struct tqi_heap tenants; /* those with something in `open`, by their tenant's tag */
	uint64_t reserved1[3];
};
_Static_assert(sizeof(struct tqi_stream) == 256, "four cache lines");

/* Those of a queue by the record of their kind; 0 none.  It goes with the queue. */
struct tqi_by_kind {
	uint32_t streams[TQI_KINDS_MAX + 1];
};

/*
 * Tasks of one queue, kind, band and era: their lanes ordered by first task.  Unfinished
 * tasks are in classes of the queue's era, or on their way from those of the one before; a
 * class of that is freed when it has no members any more.  Beside the plain lane there is one
 * for each set of limit keys that an unfinished task of the class has, and a parking for each
 * of these keys (scheduler/order/lane.h).
 *
 * A tenant's class in a fair queue is there while it has members, in the tenant's chain; it
 * competes with others in the heap of their stream (scheduler/order/fair.h).  A start reads
 * the first two cache lines of it, and of a lane: among many tenants and keys they are in no
 * cache.
 */
struct tqi_class {
	uint32_t link;
	uint16_t queue;
	uint16_t kind;
	uint32_t band;
	uint32_t prev;	/* newer class of its chain */
	uint32_t next;	/* older one */
	uint32_t plain; /* the lane without limits and fair key */
	uint32_t lane_count; /* and parkings: `open` has room for all of them */
	uint32_t tenant;     /* whose it is; 0 the queue's */
	uint32_t era;
	uint32_t rate;	  /* of ageing: the keys of its tasks were made with it */
	uint8_t edf;	  /* 1: the keys of its tasks are deadlines */
	uint8_t watched;  /* 1: it is a tenant's, or may have a place in a tournament (TN-1) */
	uint8_t aged;	  /* 1: lanes are in `oldest`, too, and their tasks in `ages` */
	uint8_t competes; /* 1: it is a tenant's, and in its stream's heap `tenants` */
	uint32_t parked;  /* lanes that wait at a full limit */
	struct tqi_heap open; /* lanes and parkings with startable tasks */
	struct tqi_heap oldest;
};
_Static_assert(sizeof(struct tqi_class) == 192, "three cache lines");

#define TQI_TOURNAMENT_GROUP 16	 /* kinds of a group */
#define TQI_TOURNAMENT_GROUPS 16 /* groups */
#define TQI_TOURNAMENT_KINDS (TQI_TOURNAMENT_GROUP * TQI_TOURNAMENT_GROUPS)
_Static_assert(TQI_KINDS_MAX < TQI_TOURNAMENT_KINDS, "each kind has a place, and 0 is none");

/*
 * Who competes for one queue, by kind, and which has the best head
 * (scheduler/order/tournament.h): classes of one chain, era and band, or streams.  A block of
 * the queue's, or of a tenant's; whoever submits, claims or moves tasks keeps it, in
 * transactions like those themselves.  It can be made anew from these at any time.
 */
struct tqi_tournament {
	uint32_t of[TQI_TOURNAMENT_KINDS];     /* class, or stream, by kind; 0 none */
	uint16_t ready[TQI_TOURNAMENT_GROUPS]; /* bits: kinds that have a head */
	uint16_t groups;			/* bits: groups with such a kind */
	uint8_t best[2][TQI_TOURNAMENT_GROUPS]; /* by key, by age: kind; 0 the group has none */
	uint8_t winner[2];			/* kind; 0 none */
	uint8_t orders; /* that it has: 2 where the era is aged */
	uint8_t reserved0[3];
	struct tqi_heap_entry first[2][TQI_TOURNAMENT_KINDS]; /* heads; the second row only where
								 the era is aged */
};
_Static_assert(sizeof(struct tqi_tournament) == 1096 + 2 * 4096, "without gaps");

/* Those of a chain of classes, by band; 0 none. */
struct tqi_tournaments {
	uint32_t bands[TQ_BANDS];
};

/* What the histograms of a times record are of, in their order. */
enum tqi_timed {
	TQI_TIMED_WAIT = 0, /* of an attempt's start: since the task became ready */
	TQI_TIMED_RUN = 1,  /* of an attempt's end, whatever ended it: since its start */
	TQI_TIMED_LIFE = 2, /* of a task's end, done or failed: since it was submitted */
	TQI_TIMED_COUNT,
};

/*
 * How long tasks of a queue and kind have waited, run and lived.  Made with their stream,
 * so that no end of a task needs memory for it; goes with it.
 *
 *  field        written by                         under
 *  queue, kind  the transaction that makes it      the lock
 *  of           commits, after them (RC-13)          the lock, not journalled
 */
struct tqi_times {
	uint32_t link;
	uint16_t queue;
	uint16_t kind;
	uint64_t reserved0[5];
	struct tqi_histogram of[TQI_TIMED_COUNT];
};
_Static_assert(sizeof(struct tqi_times) <= TQI_SCRATCH_BYTES, "as large as the scratch record");

/*
 * Who shares a fair queue with others: the tasks with one fair key, or those without
 * one.  A record is there as long as a task's names it; that of tasks without a key for
 * ever, once the queue has been fair.
 */
struct tqi_tenant {
	struct tqi_hash_node node; /* in the root's index of tenants, by queue and name */
	uint64_t sequence; /* unique: equal tags in the order in which tenants came */
	int64_t tag_us;	   /* virtual time at which its next start begins; never less */
	int64_t credit_us; /* charged too much, not given back yet */
	struct tqi_chain chains[2]; /* its classes, of even and of odd eras of its queue */

	uint32_t tasks;	       /* records that name it */
	uint32_t overdue_turn; /* as the queue's, inside the tenant (PO-6) */
	uint16_t queue;
	uint8_t bytes; /* of the name; 0: tasks without a key */
	uint8_t reserved0;
	uint32_t reserved2;
	uint64_t reserved1[6];
	char name[TQ_KEY_MAX + 1];
};
_Static_assert(sizeof(struct tqi_tenant) == 256, "four cache lines");

/* Places of a parking: it is empty, in its class's heap, or listed with its full limit. */
enum tqi_parking_state {
	TQI_PARKING_EMPTY = 0,
	TQI_PARKING_OPEN = 1,
	TQI_PARKING_CLOSED = 2,
};

/*
 * Tasks of a class with the same limit keys; or a parking: lanes of a class that wait
 * at the same limit.  Both stand in the class's heap by their first task, and come and
 * go with their members, but for the plain lane (scheduler/order/lane.h has the rules).
 */
struct tqi_lane {
	struct tqi_hash_node node; /* in the root's index of lanes, unless plain */
	uint32_t class_;
	uint32_t members; /* unfinished tasks, or lanes that may park: the heap has room for all */
	uint32_t limits[TQ_LIMITS_MAX]; /* ascending, then 0; a parking's only one first */
	uint32_t parking; /* of a lane: where it is parked; 0 it is not */
	uint8_t is_parking;
	uint8_t state; /* of a parking: enum tqi_parking_state */
	uint16_t reserved0;
	uint32_t last;	 /* of a lane: end of the run that is appended to; 0 none */
	uint32_t behind; /* ready tasks in runs, without the first ones (scheduler/order/run.h) */
	struct tqi_heap tasks; /* first ones of runs, by key; or a parking's lanes, family open */
	struct tqi_heap ages;  /* all by ready_ns, where the class is aged; family oldest */
	uint32_t prev; /* of a closed parking: others of its limit */
	uint32_t next;
	uint64_t reserved1[6];
};
_Static_assert(sizeof(struct tqi_lane) == 256, "four cache lines");

#endif
