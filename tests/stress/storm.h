/* SPDX-License-Identifier: MIT */
/* What all of a storm share: the scene, and the players in it. */
#ifndef STORM_STORM_H
#define STORM_STORM_H

#include <signal.h>
#include <time.h>

#include "chance.h"
#include "ledger.h"
#include "taskq/taskq.h"
#include "who.h"

/* Queues, by what happens to them. */
/* Limit keys of the storm's tasks. */
#define STORM_LIMITS 4u
extern const char *const storm_limits[STORM_LIMITS];

#define QUEUE_PLAIN "plain"   /* nothing but kills: how soon tasks go on is measured here */
#define QUEUE_STEERED "steered" /* paused, drained, limited in depth; its tasks held and moved */
#define QUEUE_SCRAP "scrap"   /* purged */
#define QUEUE_TIMES "times"   /* runs of schedules: nobody serves it */
#define QUEUE_FARM "farm"     /* served by farms alone */
#define KIND_WORK "work"
#define KIND_HANDLER "handler"
#define KIND_FAMILY "family" /* a handler that forks */

#define SEATS_MAX 64u

/* One scene; every process of the storm has a copy from before its fork. */
struct storm {
	struct ledger *ledger;
	int ledger_fd;
	char ledger_path[64]; /* for commands: valid while the guard lives */
	char program[256];    /* this program, for commands */
	char segment[TQ_NAME_MAX + 1];
	const char *save; /* where a copy of a segment at fault goes; NULL nowhere */
	uint64_t seed;
	uint64_t run_ns; /* how long there are kills */
	uint32_t processes;
	sigset_t signals; /* mask of the players */
	struct tq *tq;	/* opened by the conductor; players may inherit it */
};

/* What a player is doing, for a report of who is stuck. */
#define DOING_MAP(X)                                                                               \
	X(NOTHING, "begins")                                                                       \
	X(SUBMIT, "submits")                                                                       \
	X(PLAN, "plans")                                                                       \
	X(WAIT, "waits for a task")                                                                \
	X(OPEN, "registers")                                                                       \
	X(CLAIM, "claims")                                                                         \
	X(RUN, "runs an attempt")                                                                  \
	X(VERDICT, "gives a verdict")                                                              \
	X(LOOK, "looks")                                                                           \
	X(STEER, "steers")                                                                         \
	X(CLOSE, "closes")                                                                         \
	X(FARM, "is a master")

enum doing {
#define DOING_ENUM(name, text) DOING_##name,
	DOING_MAP(DOING_ENUM)
#undef DOING_ENUM
	DOING_COUNT
};

/*
 * A timer that kills or stops its process some microseconds from now: in the middle of
 * the call that comes next, where a signal of another process hardly ever hits.
 */
struct fuse {
	timer_t timer;
	uint64_t owner; /* timers are not inherited */
};

/* One process that takes part. */
struct player {
	struct storm *storm;
	struct ledger *ledger;
	struct tq *tq;
	struct chance chance;
	uint64_t who;
	uint32_t seat;
	bool child;  /* of a player: it sits in no seat */
	bool spared; /* see struct member */
	struct fuse fuse;
};

/* The parts; a role returns its exit code. */
#define ROLE_MAP(X)                                                                                \
	X(SUBMITTER, submitter, 3)                                                                 \
	X(WORKER, worker, 6)                                                                       \
	X(WAITER, waiter, 3)                                                                       \
	X(OBSERVER, observer, 1)                                                                   \
	X(STEERER, steerer, 1)                                                                     \
	X(PLANNER, planner, 2)                                                                     \
	X(JANITOR, janitor, 1)                                                                     \
	X(FARM, farm, 1)

enum role {
#define ROLE_ENUM(name, text, share) ROLE_##name,
	ROLE_MAP(ROLE_ENUM)
#undef ROLE_ENUM
	ROLE_COUNT
};

#define ROLE_DECLARE(name, text, share) int play_##text(struct player *p);
ROLE_MAP(ROLE_DECLARE)
#undef ROLE_DECLARE

/* tracer.c: an observer's look at what the flight recorder has since its last one. */
void look_at_trace(struct player *p);

#define EXIT_PLANNED 77 /* a player that ended in the middle, as a kill of its own */

/* clean.c */
/* All children of this process are killed, and the segment goes. */
void storm_clean_up(struct storm *storm);
/* SIGTERM, which the conductor blocks: clean up and end. */
void storm_heed(struct storm *storm);

/* player.c */
bool player_phase_is(const struct player *p, enum ledger_phase phase);
/* What comes next; now and then it lights a fuse. */
void player_does(struct player *p, enum doing doing, uint32_t slot);
/* fuse.c: perhaps the next call is the last. */
void fuse_light(struct player *p);
/* Open a handle, or take the inherited one; NULL: the storm is over. */
struct tq *player_open(struct player *p, uint32_t flags);
/* After a fork of a player: the child becomes one of its own. */
void player_become_child(struct player *p);
/* Whether `r` is among the answers of a call that a storm may give; a fault if not. */
bool player_accepts(struct player *p, const char *call, int r);
/* Work that takes so long. */
void player_work(uint64_t ns);
/* Reap children that have ended, or, `all`, wait for them; a fault when one crashed. */
void player_reap(struct player *p, bool all);
/* Whether a process may end so; a fault if not.  Orphans (NULL) may have any exit code. */
void storm_judge_end(struct ledger *l, pid_t pid, int status, const char *role);

/* submitter.c */
/* Submit one or a few; the last one's slot, UINT32_MAX none. */
uint32_t submit_some(struct player *p);

/* paper.c: bytes that say whose they are. */
#define PAPER_BYTES_MIN 16u
void paper_write(void *buf, uint32_t bytes, uint32_t slot);
/* False when it is damaged. */
bool paper_read(const void *buf, uint64_t bytes, uint32_t *ret_slot);
/* The label of a task says it, too; UINT32_MAX none of ours. */
void paper_label(char *buf, uint32_t slot);
uint32_t paper_label_slot(const char *label);

/* attempt.c */
/* An attempt between its claim and its verdict. */
struct attempt {
	uint32_t slot; /* UINT32_MAX: not one of ours */
	uint32_t said;
};
void attempt_begin(struct player *p, const struct tq_claim *claim, struct attempt *ret_attempt);
/* Does something, and decides what to say. */
void attempt_run(struct player *p, struct tq_worker *worker, const struct tq_claim *claim,
		 struct attempt *a);
/* It waits for some task for a moment (waiter.c). */
void attempt_waits(struct player *p);

/* outcome.c: what a reader of the segment makes of it. */
/* A record as it stands in a list; true when its task is final. */
bool outcome_see(struct player *p, const struct tq_task_info *info, uint32_t *ret_slot);
/* Compare a finished task's result with what it must be. */
void outcome_check_result(struct player *p, uint32_t slot, const struct tq_task_info *info);
/* Its record may go. */
void outcome_forget(struct player *p, uint32_t slot, uint64_t id);

/* command.c: an attempt as a command; the exit code of the process. */
int command_main(int argc, char **argv);

#endif
