/* SPDX-License-Identifier: MIT */
/*
 * The ledger: evidence about every task, in a file of its own outside the segment,
 * that all processes of a storm map.  It uses nothing of what it testifies about:
 * each word is one atomic, written by whoever knows, and a process that is killed
 * between two of them leaves less evidence, never false evidence.
 *
 * LG-1  A task's entry is `offered` before the submit and `accepted` or `refused` after
 *     its answer.  Offered for ever: the submitter was killed; then the task may be
 *     there or not, but it is there if an attempt was seen.
 * LG-2  Who runs a task stands in `owner`, from after the claim until before the verdict:
 *     a shorter time than the library's, so that no order of events is taken for an
 *     overlap that is none.
 * LG-3  An owner that was killed stays in its entry.  The next attempt must find it
 *     gone, by a proof of its own (who.h); one that still runs is an overlap.
 * LG-4  Attempts with processes below them (commands, handlers that fork) also hold an
 *     OFD lock on the byte of their task, which their children inherit: the kernel
 *     gives it up when the last one of them is gone, and before anybody can see that.
 * LG-5  What an attempt wants to say stands in `said` before its verdict, and in `heard`
 *     after the answer.  No end may come that nobody said; none that was heard may
 *     be lost.
 * LG-6  What a task comes after, and the group that it is a member or the completion task
 *     of, stands in its entry before its submit.  When a dependant or a completion task
 *     begins, what it waited for must be over as its condition says, and has no attempt
 *     any more (links.c).
 */
#ifndef STORM_LEDGER_H
#define STORM_LEDGER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define LEDGER_TASKS_MAX (1u << 21)
#define LEDGER_GROUPS_MAX (1u << 17)
#define LEDGER_AFTER_MAX 4u
#define LEDGER_SEATS_MAX 256u
#define LEDGER_GUESTS 256u	 /* the newest processes that sit in no seat */
#define LEDGER_KILLS_MAX (1u << 17)
#define LEDGER_EVENTS (1u << 18) /* the newest ones are kept */
#define LEDGER_TEXTS 64u	 /* faults with their text; all are counted */
#define LEDGER_TEXT_MAX 200

/* What can be wrong; the text is that of a report. */
#define FAULT_MAP(X)                                                                               \
	X(LOST, "a task that was accepted is gone")                                                \
	X(UNENDED, "a task never ended")                                                           \
	X(UNHEARD, "a verdict that was acknowledged did not last")                                 \
	X(OVERLAP, "two attempts of a task ran at once")                                           \
	X(TWICE, "an attempt was given out twice, or a task started that may only once")           \
	X(AFTERLIFE, "an attempt started after the task's end")                                    \
	X(CHANGED, "a final state changed")                                                        \
	X(EARLY, "a task started before what it waits for had ended so")                           \
	X(TORN, "a graph is there in part")                                                        \
	X(UNSAID, "a task ended as nobody said")                                                   \
	X(GHOST, "a task is there that nobody submitted")                                          \
	X(MIXED, "bytes of another task, or damaged ones")                                         \
	X(ANSWER, "a call answered what it may not")                                               \
	X(CRASHED, "a process died of a fault of its own")                                         \
	X(STUCK, "something did not go on")                                                        \
	X(UNSOUND, "the segment is damaged")                                                       \
	X(LEAK, "something was not given back")

enum fault {
#define FAULT_ENUM(name, text) FAULT_##name,
	FAULT_MAP(FAULT_ENUM)
#undef FAULT_ENUM
	FAULT_COUNT
};

enum ledger_state {
	LEDGER_UNUSED = 0,
	LEDGER_OFFERED,
	LEDGER_ACCEPTED,
	LEDGER_REFUSED,
};

/* traits of a task, fixed when it is offered */
#define TRAIT_ONCE (1u << 0)
#define TRAIT_KEEP (1u << 1)	/* its record stays until it is asked to be forgotten */
#define TRAIT_PURGED (1u << 2)	/* its queue is purged now and then */
#define TRAIT_STEERED (1u << 3) /* held, paused or moved: how soon it goes on says nothing */
#define TRAIT_GROUP (1u << 4)	/* LG-4 */
#define TRAIT_FARM (1u << 5)	/* a farm runs it */

/* bits of said and heard; `last` holds one of them */
#define SAID_DONE (1u << 0)
#define SAID_FAIL (1u << 1)
#define SAID_FATAL (1u << 2)
#define SAID_BACK (1u << 3) /* released, or its worker closed */

/* bits of asked, set before the call */
#define ASKED_CANCEL (1u << 0)
#define ASKED_FORGET (1u << 1)
#define ASKED_DOOM (1u << 2) /* a cancel of all that depend on it, too */

/* What a task waits for. */
struct ledger_after {
	_Atomic uint32_t on;   /* slot */
	_Atomic uint32_t kind; /* enum tq_after; 0 none */
	_Atomic uint32_t sure; /* 0: added later, and whether in time is not known */
};

struct ledger_task {
	_Atomic uint64_t id;
	_Atomic uint64_t owner;
	_Atomic uint64_t ended_ns;
	_Atomic uint32_t state; /* enum ledger_state */
	_Atomic uint32_t traits;
	_Atomic uint32_t failures_max;
	_Atomic uint32_t starts;   /* that were noted */
	_Atomic uint32_t attempt;  /* greatest number of one that was noted */
	_Atomic uint32_t failures; /* that were said */
	_Atomic uint32_t said;
	_Atomic uint32_t last; /* said last; 0 by an attempt that begins */
	_Atomic uint32_t heard;
	_Atomic uint32_t asked;
	_Atomic uint32_t outcome; /* enum tq_state that somebody saw; 0 none yet */
	_Atomic uint32_t is_parent; /* 1: somebody may wait for its end */
	_Atomic uint32_t over;	  /* 1: who waits for its end has begun */
	_Atomic uint32_t group;	  /* number + 1 of the one that it is a member of; 0 none */
	_Atomic uint32_t group_next; /* slot + 1 of another one's */
	_Atomic uint32_t completes;  /* number + 1 of a group */
	_Atomic uint32_t after_count; /* entries wanted */
	struct ledger_after after[LEDGER_AFTER_MAX];
};

struct ledger_group {
	_Atomic uint64_t id;
	_Atomic uint64_t maker;
	_Atomic uint32_t state;	    /* enum ledger_state */
	_Atomic uint32_t is_graph;  /* all of its members come to be, or none */
	_Atomic uint32_t condition; /* enum tq_group_condition */
	_Atomic uint32_t completion; /* slot + 1; 0 none */
	_Atomic uint32_t first;	     /* slot + 1 of its newest member */
	_Atomic uint32_t members;
	_Atomic uint32_t sealed; /* that was heard */
	_Atomic uint32_t asked;	 /* ASKED_CANCEL */
};

/* A process that a conductor has started, and what it is doing. */
struct ledger_seat {
	_Atomic uint64_t who;
	_Atomic uint64_t since_ns;
	_Atomic uint32_t doing; /* enum of whoever sits there; for people */
	_Atomic uint32_t slot;	/* the task that it waits for; UINT32_MAX none */
};

struct ledger_kill {
	_Atomic uint64_t who;
	_Atomic uint64_t at_ns;
};

/* An attempt that began after its predecessor's process had died. */
struct ledger_recovery {
	_Atomic uint64_t dead;
	_Atomic uint64_t at_ns;
	_Atomic uint32_t slot;
};

struct ledger_event {
	_Atomic uint64_t at_ns;
	_Atomic uint64_t who;
	_Atomic uint32_t slot;
	_Atomic uint32_t what; /* enum ledger_note */
	_Atomic uint64_t argument;
};

enum ledger_phase {
	PHASE_STORM = 0,
	PHASE_DRAIN, /* nothing new is begun */
	PHASE_END,   /* who still runs, ends */
};

struct ledger {
	_Atomic uint32_t phase;
	_Atomic uint32_t tasks;
	_Atomic uint32_t groups;
	_Atomic uint32_t purges; /* begun */
	_Atomic uint32_t overflow; /* 1: more tasks were wanted than it has entries */
	_Atomic uint32_t texts;
	_Atomic uint32_t faults[FAULT_COUNT];
	_Atomic uint32_t fuses[2]; /* that killed, that stopped */
	_Atomic uint32_t full;	   /* submits that found no room */
	_Atomic uint64_t guests;
	_Atomic uint64_t kills;
	_Atomic uint64_t recoveries;
	_Atomic uint64_t events;
	_Atomic uint64_t says;
	_Atomic uint64_t guest[LEDGER_GUESTS];
	struct ledger_seat seat[LEDGER_SEATS_MAX];
	struct ledger_kill kill[LEDGER_KILLS_MAX];
	struct ledger_recovery recovery[LEDGER_KILLS_MAX];
	struct ledger_event event[LEDGER_EVENTS];
	char text[LEDGER_TEXTS][LEDGER_TEXT_MAX];
	struct ledger_group group[LEDGER_GROUPS_MAX];
	struct ledger_task task[LEDGER_TASKS_MAX];
};

enum ledger_note {
	NOTE_OFFERED,
	NOTE_ACCEPTED, /* argument: id */
	NOTE_REFUSED,  /* argument: error */
	NOTE_BEGIN,    /* argument: attempt */
	NOTE_SAID,     /* argument: SAID_* */
	NOTE_HEARD,    /* the same */
	NOTE_OUTCOME,  /* argument: state */
	NOTE_ASKED,    /* argument: ASKED_* */
};

/* A new ledger; its descriptor is for those who come by exec.  NULL: errno. */
struct ledger *ledger_create(int *ret_fd);
/* The ledger of a storm, from a command; -1, or in `ret_lock_fd` a description of its own. */
struct ledger *ledger_attach(const char *path, int *ret_lock_fd);

/* `count` new entries in a row, offered; UINT32_MAX when it is full. */
uint32_t ledger_offer(struct ledger *l, uint32_t count);
void ledger_describe(struct ledger *l, uint32_t slot, uint32_t traits, uint32_t failures_max);
void ledger_accepted(struct ledger *l, uint32_t slot, uint64_t id);
void ledger_refused(struct ledger *l, uint32_t slot, int error);
/* It is there: somebody saw its record. */
void ledger_seen(struct ledger *l, uint32_t slot, uint64_t id);

/* links.c (LG-6): before the submit.  A new group; UINT32_MAX there is no room for it. */
uint32_t ledger_group_offer(struct ledger *l, uint32_t condition, bool is_graph, uint64_t maker);
void ledger_group_answered(struct ledger *l, uint32_t group, int r, uint64_t id);
void ledger_join(struct ledger *l, uint32_t slot, uint32_t group);
void ledger_completes(struct ledger *l, uint32_t slot, uint32_t group);
/* One more dependency; NULL it has as many as there is room for. */
struct ledger_after *ledger_after(struct ledger *l, uint32_t slot, uint32_t on, uint32_t kind,
				  bool sure);
/* An attempt of it begins: all that it waited for is over. */
void ledger_check_links(struct ledger *l, uint32_t slot);

/* LG-2, LG-3: an attempt begins, right after its claim. */
void ledger_begin(struct ledger *l, uint32_t slot, uint64_t id, uint32_t attempt, uint64_t self);
/* LG-4: false and a fault when another holds it. */
bool ledger_lock(struct ledger *l, int fd, uint32_t slot);
void ledger_unlock(int fd, uint32_t slot);
/* LG-5: right before the verdict; the entry is nobody's then. */
void ledger_say(struct ledger *l, uint32_t slot, uint32_t said, uint64_t self);
void ledger_hear(struct ledger *l, uint32_t slot, uint32_t said);

/* Before the call that asks. */
void ledger_ask(struct ledger *l, uint32_t slot, uint32_t asked);
/* Somebody saw a final state. */
void ledger_outcome(struct ledger *l, uint32_t slot, uint32_t state);

/* Before the signal, which comes `in_ns` from now. */
void ledger_killing(struct ledger *l, uint64_t who, uint64_t in_ns);
/* A process in no seat that may be killed. */
void ledger_guest(struct ledger *l, uint64_t who);

/* Something is wrong with a task; UINT32_MAX with none in particular. */
__attribute__((format(printf, 4, 5))) void ledger_fault(struct ledger *l, enum fault fault,
							uint32_t slot, const char *format, ...);
uint32_t ledger_faults(struct ledger *l);
/* Texts of the faults, and what is known of their tasks. */
void ledger_print_faults(struct ledger *l);
/* All that is known of a task. */
void ledger_print(struct ledger *l, uint32_t slot);

#endif
