/* SPDX-License-Identifier: MIT */
/* One episode of the property test: a segment, its model, simulated time. */
#ifndef TQT_WORLD_H
#define TQT_WORLD_H

#include <setjmp.h>

#include "tests/property/compare.h"
#include "tests/property/model.h"
#include "tests/support/box.h"
#include "tests/support/image.h"

#define LOG_LINES 20
#define LOG_BYTES 120
#define NO_ROOM (-4096) /* perform(): the operation was dropped for want of memory */

struct world {
	uint64_t seed; /* of this episode */
	uint64_t random;
	uint64_t op;	  /* number of the operation under way */
	bool compare_now; /* after this operation everything */
	uint64_t compare_every, check_every, abort_every;
	uint32_t payload_max;
	uint32_t extents_max; /* the driver stops growing here */
	struct tqt_box box;
	struct tqi_tx tx;
	struct model *m;
	struct comparison comparison;
	struct tqt_image image;
	void *scratch; /* of tqi_check() */
	uint64_t aborts, no_room, steps, checks;
	bool full;  /* the last operation, when it began, found all records taken for good */
	bool stuck; /* no memory, none to be had: the episode ends */
	uint64_t unsettled;	 /* claims that go on in the next transaction */
	uint64_t runs;		 /* of schedules */
	uint64_t refused;	 /* waits that would have closed a cycle */
	uint32_t link_every;	 /* of so many submits one has dependencies, or a group; 0 none */
	uint64_t links, cycles;	 /* dependencies; those refused as they would have closed one */
	uint64_t groups, graphs; /* that have come to be */
	uint32_t owners;	 /* of groups; each another process */
	uint64_t twins, successors; /* submits that met a task with their key */
	char log[LOG_LINES][LOG_BYTES];
	jmp_buf failed;
};

/* One line about the operation under way. */
void note(struct world *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Ends the episode; prints seed, operation and the last lines. */
_Noreturn void fail(struct world *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
void expect(struct world *w, int64_t core, int64_t model, const char *what);

bool chance(struct world *w, uint32_t one_in);
uint32_t below(struct world *w, uint32_t n);
/* A delay or time-out; at times about as long as can be. */
uint64_t some_time(struct world *w);

/*
 * Run `core` in a transaction of its own: now and then aborted first, to see that
 * nothing stays; again after growth or eviction when it answers -ENOMEM.  Commits
 * when it answers 0 or more, and, with `answers`, errors too.
 */
typedef int core_op(struct world *w, void *arg);
int perform(struct world *w, core_op *core, void *arg, bool answers);

/* Ends a transaction of the core; the model follows it before the next one. */
void commit(struct world *w);

/* What has become stale by the operation before, in the core and in the model. */
void settle(struct world *w);

/* A task of the model, at random: in this state, or (TQ_STATE_COUNT) any; 0 none. */
uint32_t pick_task(struct world *w, uint32_t state);
uint64_t id_of(struct world *w, uint32_t task);
/* A registered worker whose process lives; 0 none. */
uint32_t pick_worker(struct world *w);
struct tqi_worker *worker_record(struct world *w, uint32_t worker);
/* Its sleeper, if it sleeps; 0 none. */
uint32_t sleeper_of(const struct world *w, uint32_t worker);
/* A group in this state, or (TQI_GROUP_FREE) in any that is in use; 0 none. */
uint32_t pick_group(struct world *w, uint32_t state);
uint32_t pick_after(struct world *w); /* enum tq_after */
/* Whether the model has room for more dependencies; so few that the core looks at all. */
bool room_for_links(const struct world *w);
bool is_searched_whole(const struct world *w);
/* An open or ended command, unless many wait for some; 0 none. */
uint32_t pick_command(struct world *w);
/* Up to four limits, at times one of them twice: then the larger weight counts. */
struct chosen_limits {
	const char *keys[TQ_LIMITS_MAX];
	uint32_t weights[TQ_LIMITS_MAX];
	uint32_t count;
};
/* Their bits, and the weight of each. */
uint32_t choose_limits(struct world *w, struct chosen_limits *limits,
		       uint32_t ret_weight[MODEL_LIMITS + 1]);
const char *queue_name(uint32_t queue);
const char *kind_name(uint32_t kind);
struct pattern pattern_make(struct world *w, uint32_t bytes_max);

/* Zeroed scratch memory of tqi_check() and tqi_rebuild(). */
void *scratch(struct world *w);

/* Writes over all that is derived (scheduler/record/fields.h): only a repair may come next. */
void wipe(struct world *w);

/* Looks at one schedule that is due; false: none is. */
bool schedule_run(struct world *w);

/* One operation each. */
typedef void operation(struct world *w);
operation op_submit, op_submit_in_flight, op_claim, op_end, op_end_stale, op_next, op_cancel,
	op_hold, op_retry, op_forget, op_update, op_unknown;
operation op_pause, op_drain, op_purge, op_unused, op_queue_set, op_kind_set, op_shutdown, op_evict,
	op_policy, op_limit;
operation op_time, op_set_clock, op_wall, op_due, op_tend, op_look, op_rebuild, op_punch, op_grow;
operation op_schedule_make, op_schedule_steer, op_schedule_run;
operation op_register, op_unregister, op_renew, op_die, op_verdict_on_worker;
operation op_progress, op_checkpoint, op_output, op_stop_step;
operation op_sleep, op_wait, op_wait_room, op_wait_command, op_back, op_sleeper_dies;
operation op_send, op_take, op_ack, op_take_back;
operation op_server, op_pool;
operation op_after, op_group_make, op_group_steer, op_group_evict, op_graph, op_owner_dies,
	op_wait_group;

#endif
