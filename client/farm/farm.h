/* SPDX-License-Identifier: MIT */
/*
 * A farm: a master with one thread, and the worker processes that it forked.
 *
 * FM-1  The master reaps a worker only after it has killed all that could be left of
 *     it: until then the zombie, and for a command its leader's zombie, keep the
 *     numbers from changing hands.  (A host that keeps its signals may reap it before
 *     us: then a number that somebody has now is left alone.)
 * FM-2  A worker's tasks are given back when nothing of its groups is left.
 * FM-3  Signal handlers only set bits in `pending`, a word that the sleeping master
 *     compares: none is lost between its look and its sleep.
 */
#ifndef TQI_CLIENT_FARM_FARM_H
#define TQI_CLIENT_FARM_FARM_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "client/core/marked.h"
#include "client/farm/host.h"
#include "client/farm/farm_signals.h"
#include "client/farm/reap.h"
#include "client/worker/worker_api.h"

#define TQI_FARM_WORKERS_MAX (TQI_WORKERS_MAX - 1) /* one record is the master's */

/* Why a worker left of its own accord. */
enum tqi_leave {
	TQI_LEAVE_NOT = 0,   /* it did not: it died */
	TQI_LEAVE_TOLD = 1,  /* SIGTERM */
	TQI_LEAVE_EMPTY = 2, /* nothing is left that it could start */
	TQI_LEAVE_WORN = 3,  /* max_tasks, max_rss, a command: to be replaced */
	TQI_LEAVE_STOPPED = 4, /* a command: for good */
	TQI_LEAVE_SURPLUS = 5, /* the farm has more than it is to have */
};

/* Whether a worker is one too many: its master asks, and it takes leave or is recalled. */
enum tqi_surplus {
	TQI_SURPLUS_NONE = 0,
	TQI_SURPLUS_ASKED = 1,
	TQI_SURPLUS_TAKEN = 2,
};

/*
 * What a worker tells its master, in memory that only the two share.  Single
 * writer: the worker, and before its fork the master; `surplus` is written by both.
 */
struct tqi_board {
	struct tqi_word64 generation; /* of its record */
	struct tqi_word64 finished;   /* attempts that it ended with a verdict */
	struct tqi_word32 worker;     /* its record, stored last; 0 not registered yet */
	struct tqi_word32 leave;      /* enum tqi_leave, stored before it exits, or promises to */
	struct tqi_word32 error;      /* why it could not register; 0 it could */
	struct tqi_word32 surplus;    /* enum tqi_surplus */
	uint32_t reserved0[8];
};
_Static_assert(sizeof(struct tqi_board) == 64, "a cache line");

enum tqi_child_state {
	TQI_CHILD_NONE = 0,
	TQI_CHILD_PAUSED = 1, /* to be started at `start_ns` */
	TQI_CHILD_LIVE = 2,
	TQI_CHILD_ENDING =
		3, /* reaped; its groups are not empty yet, or its tasks not given back */
};

/* The master's view of a worker process. */
struct tqi_child {
	enum tqi_child_state state;
	pid_t pid;
	uint32_t early; /* deaths in a row soon after the start */
	uint32_t unborn; /* PAUSED: forks in a row that failed */
	bool retiring;	/* told to leave for good */
	bool asked;	/* to leave when it has finished what it runs */
	bool killed;	/* the master sent SIGKILL to get its tasks back */
	bool sacrificed; /* ended to stop its attempt: no fault of the worker */
	bool snatched; /* the host has reaped it: how it ended is lost */
	bool worked;   /* ENDING: it had begun an attempt */
	uint64_t start_ns; /* PAUSED: not before; else when it was started */
	struct tqi_death death;
	enum tqi_leave leave;
	struct tqi_futex life; /* its life lock, as last seen held; word NULL not */
	uint64_t buried_ns;  /* ENDING: since when */
	uint32_t record;     /* ENDING: of its registration; 0 it had none */
	uint64_t generation; /* of that record */
	uint32_t group_count;
	pid_t groups[TQI_GROUPS_MAX + 1]; /* its own, and those of its commands */
	struct tqi_usage command_usage;
	uint32_t mark_count; /* ENDING: of its commands, whose leftovers are to be ended */
	struct tqi_mark marks[TQI_GROUPS_MAX];
};

struct tqi_farm {
	struct tq *tq;
	struct tq_farm_opts opts; /* defaults filled in */
	struct tq_worker *self;	  /* the master's record */
	struct tqi_farm_signals signals;
	struct tqi_board *boards;   /* one for each child */
	struct tqi_child *children; /* TQI_FARM_WORKERS_MAX */
	uint32_t child_count;	    /* of these ever used */
	uint32_t width;	  /* workers that it is to have, beside substitutes */
	uint32_t waiting; /* attempts of its workers that wait, when it last looked */
	uint64_t linger_ns; /* until then no worker is too many: waits have just ended */
	pid_t pid;
	bool terminal;	  /* it had a controlling one when it began */
	bool stopping;	  /* no new tasks */
	bool cannot_fork; /* the last fork of a worker failed, which has been said */
	bool killing;	  /* no more patience either */
	bool has_worked;  /* a worker has registered */
	uint64_t kill_ns; /* stopping: end of the grace time; UINT64_MAX none */
	uint64_t next_ns; /* the master's own next appointment; UINT64_MAX none */
	uint64_t oom_kills;
	struct tqi_host host;
	int file_watch; /* inotify; -1 none */
	int given_back;	  /* running attempts */
	int error;	  /* the segment has failed us; 0 no */
};

/* farm_log.c */
void tqi_farm_log(const struct tqi_farm *farm, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* TQ_FARM_TROUBLE, by a worker. */
void tqi_farm_trouble(const struct tqi_farm *farm, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* An attempt that has ended, or whose worker has: all but size, type and text filled in. */
void tqi_farm_report_attempt(const struct tqi_farm *farm, const struct tq_farm_event *event);
/* Whether anybody wants to know. */
bool tqi_farm_reports_attempts(const struct tqi_farm *farm);
/* A line to $NOTIFY_SOCKET, if there is one (sd_notify(3)). */
void tqi_farm_notify(const char *line);

/* farm_child.c: start what is to be started; note when to come again in next_ns. */
void tqi_farm_start_due(struct tqi_farm *farm, uint64_t now);
/* Its place in the farm is empty, or is filled again as its end deserves. */
void tqi_farm_replace(struct tqi_farm *farm, struct tqi_child *child, uint64_t now);
/* Ask for a look at `when` at the latest. */
void tqi_farm_appoint(struct tqi_farm *farm, uint64_t when);

/* farm_size.c: as many workers as it is to have, and substitutes. */
void tqi_farm_adapt(struct tqi_farm *farm, uint64_t now);
/* In a hold: notes how many attempts of its workers wait; true when that has changed. */
bool tqi_farm_count_waits(struct tqi_tx *tx, struct tqi_farm *farm);
/* In a hold: the record of a living worker; 0 it has none (yet). */
uint32_t tqi_farm_record(struct tqi_tx *tx, struct tqi_farm *farm, const struct tqi_child *child);

/* farm_death.c: bury workers that ended; go on with those that are ending. */
void tqi_farm_reap(struct tqi_farm *farm, uint64_t now);

/* farm_stop.c: in a hold, the stop steps that a worker should have taken itself; when next. */
uint64_t tqi_farm_stop_steps(struct tqi_tx *tx, struct tqi_farm *farm);

/*
 * farm_file.c: the kernel tells the master, by SIGIO, that the segment's file has lost a
 * name, so that an idle farm need not look.  Without inotify, or signals of its own, it finds
 * out when it next has something to do, or when a segment of that name is made anew.
 */
void tqi_farm_watch_file(struct tqi_farm *farm);
void tqi_farm_unwatch_file(struct tqi_farm *farm);
void tqi_farm_file_changed(struct tqi_farm *farm);

/* farm.c: stop, however long running tasks take. */
void tqi_farm_drain(struct tqi_farm *farm);

/* farm_command.c: the master does what it is told to. */
void tqi_farm_obey(struct tqi_farm *farm);
/* As the command "reload". */
void tqi_farm_reload(struct tqi_farm *farm);
/* A worker does, and knows afterwards whether it is to leave.  0 or an error. */
int tqi_farm_worker_obey(struct tqi_farm *farm, struct tq_worker *worker, struct tqi_board *board,
			 enum tqi_leave *ret_leave);

/* farm_worker.c: the life of a worker process, after the fork. */
_Noreturn void tqi_farm_worker_main(struct tqi_farm *farm, struct tqi_board *board);

static inline struct tqi_board *tqi_farm_board(struct tqi_farm *farm, const struct tqi_child *child)
{
	return &farm->boards[child - farm->children];
}

/* The worker takes leave, or its master recalls it; false: it was not asked, or is going. */
static inline bool tqi_board_change(struct tqi_board *board, uint32_t to)
{
	return tqi_cas_acq_rel32(&board->surplus, TQI_SURPLUS_ASKED, to);
}

#endif
