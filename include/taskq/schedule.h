/* SPDX-License-Identifier: MIT */
/*
 * Schedules: tasks at even distances, or at the times of a cron expression.
 *
 * A schedule outlives who made it.  Whoever keeps time in the segment makes its runs,
 * which are tasks like others: a segment in which nobody works or waits makes none, and
 * catches up when somebody does.
 */
#ifndef TASKQ_SCHEDULE_H
#define TASKQ_SCHEDULE_H

#include <taskq/task.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TQ_CRON_MAX 255 /* bytes of a cron expression, without the final NUL */
#define TQ_ZONE_MAX 64	/* bytes of a time zone's name, without the final NUL */
#define TQ_SCHEDULE_PAYLOAD_MAX 65536u /* bytes of a payload: it is copied for each run */
#define TQ_CATCH_UP_MAX 100
#define TQ_EVERY_MIN_NS 1000000ull /* 1 ms */

/* The one table: what becomes of a time at which the last run has not ended. */
#define TQ_OVERLAP_MAP(X)                                                                          \
	X(TQ_OVERLAP_SKIP, 1, "skip")	/* it is left out */                                       \
	X(TQ_OVERLAP_QUEUE, 2,                                                                     \
	  "queue") /* its run is made when the last one has ended; at most    \
					   catch_up wait so */

enum tq_overlap {
#define TQ_OVERLAP_ENUM(name, value, text) name = (value),
	TQ_OVERLAP_MAP(TQ_OVERLAP_ENUM)
#undef TQ_OVERLAP_ENUM
};

/* A schedule to make: exactly one of every_ns and cron. */
struct tq_schedule_spec {
	uint64_t size;		  /* sizeof this struct in the caller's build */
	const struct tq_task_spec *task; /* what each run is; without at_ns and
					    full_timeout_ns, payload at most
					    TQ_SCHEDULE_PAYLOAD_MAX */
	uint64_t every_ns;	  /* from TQ_EVERY_MIN_NS up: a run after each such time, counted
				     from now on, however long runs take */
	const char *cron;	  /* five fields, or @hourly, @daily, @midnight, @weekly,
				     @monthly, @yearly, @annually */
	const char *zone;	  /* with cron: an IANA name such as Europe/Berlin, or a rule as
				     POSIX writes it; default TZ's, else the system's.  What is
				     known of it now is kept: later changes of the system's
				     files are for schedules made later */
	uint32_t overlap;	  /* enum tq_overlap; default TQ_OVERLAP_SKIP */
	uint32_t catch_up;	  /* of times that passed while nobody kept time, so many runs are
				     made, 1 to TQ_CATCH_UP_MAX, one after the other; default 1 */
	const char *name;	  /* of one schedule, 1 to TQ_NAME_MAX of [A-Za-z0-9._-], not as an
				     id reads: replaces the one that has it; default none */
};

/**
 * tq_schedule_create() - make a schedule.
 *
 * Its times by cron are those of the wall clock, and move when that is set; those of
 * every_ns are not touched by it.  Fixed minutes and hours are times of the day: one that
 * clocks are set forward over is taken at the jump, one that is there twice once.  With
 * * or a step in minute or hour it is a pace that follows real time.
 *
 * With the name of a schedule that is there it replaces that one, wholly and in one step:
 * the id, the runs so far and a pause stay, and so do the times of every_ns when that is
 * the same.  A run that is owed is not made; one that goes on is what the next one may
 * overlap with.
 *
 * @spec:	copied before the call returns.
 * @ret_id:	the schedule's id; may be NULL.
 *
 * Threads:	safe.
 * Fork:	safe.
 * Blocks:	for the lock at most the handle's lock time-out; reads the zone's file.
 * Errors:	-EINVAL, -ERANGE bad field (tq_cron_check() says what is wrong with an
 *		expression); -ENOENT no such zone; -EINVAL its file is none; -E2BIG payload
 *		over TQ_SCHEDULE_PAYLOAD_MAX; TQ_EFULL, -ENOSPC no room; TQ_EQUEUES, TQ_EKINDS; TQ_ESHUTDOWN;
 *		-EROFS; lock errors.
 * Since: 0.1.0
 *
 * Return: 0; 1 one of that name was replaced; or one of the errors above, and nothing was
 * changed.
 */
TQ_API TQ_NODISCARD int tq_schedule_create(struct tq *tq, const struct tq_schedule_spec *spec,
					   uint64_t *ret_id);

/* What tq_schedule_steer() does. */
enum tq_schedule_action {
	TQ_SCHEDULE_PAUSE = 1, /* make no runs; what is made already goes on */
	TQ_SCHEDULE_RESUME,    /* from now on; times that passed meanwhile are not caught up */
	TQ_SCHEDULE_REMOVE,    /* for good; its runs stay */
};

/**
 * tq_schedule_steer() - pause, resume or remove a schedule.
 *
 * Errors:	TQ_EGONE removed; -ENOENT never was; -EINVAL; -EROFS; lock errors.
 * Since: 0.1.0
 *
 * Return: 0, also when it is paused (or not) already; or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_schedule_steer(struct tq *tq, uint64_t id,
					  enum tq_schedule_action action);

/* flags of struct tq_schedule_info */
#define TQ_SCHEDULE_PAUSED (1u << 0)

/* Snapshot of a schedule. */
struct tq_schedule_info {
	uint64_t size; /* in: room; out: bytes filled */
	uint64_t id;
	uint32_t flags;	   /* TQ_SCHEDULE_* */
	uint32_t overlap;  /* enum tq_overlap */
	uint64_t every_ns; /* 0: cron */
	uint64_t next_ns;  /* next time: CLOCK_MONOTONIC of every, CLOCK_REALTIME of cron */
	uint64_t made_ns;  /* CLOCK_MONOTONIC, as all that follow */
	uint64_t last_run_ns; /* when the last run was made; 0 never */
	uint64_t retry_ns;    /* when a run that found no room is tried again; 0 none is */
	uint64_t last_run;    /* its id; 0 none */
	uint64_t runs;	      /* made */
	uint64_t skipped;     /* times without a run, at least */
	uint64_t payload_bytes;
	uint32_t catch_up;
	uint32_t owed;	     /* runs still to be made for times that have passed */
	int32_t last_error;  /* why the last try to make a run failed; 0 it did not */
	int32_t priority;    /* this and what follows is of its runs */
	uint32_t attempts_max; /* 0 the queue's */
	uint32_t task_flags; /* TQ_TASK_* */
	uint64_t delay_ns;
	uint64_t timeout_ns; /* 0 the queue's, or none, here and below */
	uint64_t timeout_total_ns;
	uint64_t progress_timeout_ns;
	uint64_t backoff_ns;
	uint64_t backoff_cap_ns;
	uint64_t deadline_ns; /* from the run's start on */
	char queue[TQ_NAME_MAX + 1];
	char kind[TQ_NAME_MAX + 1];
	char label[TQ_LABEL_MAX + 1];
	char cron[TQ_CRON_MAX + 1]; /* "" every_ns */
	char zone[TQ_ZONE_MAX + 1];
	char unique_key[TQ_KEY_MAX + 1];
	char reserved0[5];
	uint32_t unique_scope; /* enum tq_unique_scope; 0 none */
	uint32_t limit_count;  /* of limits */
	char limits[TQ_LIMITS_MAX][TQ_KEY_MAX + 1]; /* limit keys, as they were given */
	char fair_key[TQ_KEY_MAX + 1];		    /* "" none */
	char name[TQ_NAME_MAX + 1];		    /* "" none */
	char reserved1[7];
	uint32_t crashes_max; /* 0 the default */
	uint32_t losses_max;  /* 0 the default */
	uint32_t limit_weights[TQ_LIMITS_MAX]; /* places that a run takes of each of limits */
};

/**
 * tq_schedule_info() - read one schedule.  Takes no lock.
 *
 * Errors:	TQ_EGONE removed; -ENOENT never was; -EINVAL bad .size.
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_schedule_info(struct tq *tq, uint64_t id,
					 struct tq_schedule_info *ret_info);

/**
 * tq_schedule_list() - read schedules in order of their slots.  Takes no lock.
 *
 * @cursor:	in: 0 to begin; out: where to go on.
 * @infos:	room for @count snapshots, .size set in the first.
 *
 * Since: 0.1.0
 * Return: how many were filled, 0 at the end; -EINVAL.
 */
TQ_API TQ_NODISCARD int tq_schedule_list(struct tq *tq, uint64_t *cursor,
					 struct tq_schedule_info *infos, uint32_t count);

/**
 * tq_schedule_find() - the schedule of a name.  Takes no lock.
 *
 * Errors:	-ENOENT no schedule has it.
 * Since: 0.1.0
 *
 * Return: 0, or the error above.
 */
TQ_API TQ_NODISCARD int tq_schedule_find(struct tq *tq, const char *name, uint64_t *ret_id);

/** tq_schedule_payload() - copy the payload of its runs; as tq_task_payload(). Since: 0.1.0 */
TQ_API TQ_NODISCARD int tq_schedule_payload(struct tq *tq, uint64_t id, void *buf, uint64_t room,
					    uint64_t *ret_bytes);

/**
 * tq_schedule_id_format() - print a schedule's id as people read it, "s17-3".
 *
 * @buf:	at least TQ_ID_TEXT_MAX bytes.
 *
 * Since: 0.1.0
 * Return: @buf.
 */
TQ_API char *tq_schedule_id_format(uint64_t id, char *buf);

/**
 * tq_schedule_id_parse() - read what tq_schedule_id_format() printed.
 *
 * Errors:	-EINVAL not a schedule's id.
 * Since: 0.1.0
 *
 * Return: 0 or the error above.
 */
TQ_API TQ_NODISCARD int tq_schedule_id_parse(const char *text, uint64_t *ret_id);

/**
 * tq_cron_check() - whether a text is a cron expression, and if not, what is wrong.
 *
 * @buf:	at least TQ_TEXT_MAX + 1 bytes: the field and its accepted form; "" when
 *		there is nothing wrong.
 *
 * Since: 0.1.0
 * Return: 0, or -EINVAL.
 */
TQ_API TQ_NODISCARD int tq_cron_check(const char *cron, char *buf);

/** tq_overlap_name() - text of an overlap, "skip"; "?" when unknown. Since: 0.1.0 */
TQ_API const char *tq_overlap_name(uint32_t overlap);

#ifdef __cplusplus
}
#endif
#endif
