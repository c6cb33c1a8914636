/* SPDX-License-Identifier: MIT */
/*
 * The reference model: what the scheduler should do, with arrays and linear scans
 * only.  Slots of records are taken over from the core (it may choose them freely),
 * as is the jitter of back-off; everything else is predicted.
 *
 * How much one hold does of a long job is the core's own to say: the model asks how far it
 * has come, does as much, and compares what came of it.
 */
#ifndef TQT_MODEL_H
#define TQT_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "scheduler/task/claim.h"
#include "scheduler/graph/group.h"
#include "scheduler/limit/limit.h"
#include "scheduler/order/policy.h"
#include "scheduler/record/records.h"
#include "scheduler/wake/wake.h"

#define MODEL_STAYING_QUEUES 6
#define MODEL_QUEUES 7 /* with one that is seldom used, and so may be given back */
#define MODEL_STAYING_KINDS 5
#define MODEL_KINDS 6
#define MODEL_TASKS 4096
#define MODEL_WORKERS 40
#define MODEL_WAITERS 160
#define MODEL_EDGES 400
#define MODEL_DEPENDENCIES 900
#define MODEL_GROUPS 40
#define MODEL_AFTER 4 /* dependencies that a task is submitted with */
#define MODEL_LIMITS 6
#define MODEL_SCHEDULES 10
#define MODEL_COMMANDS 120 /* open and ended */
#define MODEL_TENANTS 5
#define MODEL_SERVERS 9  /* names; each queue may have all */
#define MODEL_PATTERNS 7 /* of their limits; the first is that of all */
#define MODEL_SERVER_SLOTS 200
#define NEVER UINT64_MAX

/* Bytes that need not be kept to be compared: byte i is a function of seed and i. */
struct pattern {
	uint32_t seed;
	uint32_t from;
	uint32_t bytes;
};
static inline unsigned char pattern_byte(uint32_t seed, uint64_t i)
{
	return (unsigned char)('@' | ((seed + i * 7 + (i >> 8)) & 31)); /* never 0: texts, too */
}

struct model_attempt_info {
	uint64_t started_ns;
	uint64_t ended_ns;
	uint32_t number;
	uint32_t worker;
	uint32_t cause;
	int32_t cause_arg;
	struct pattern output; /* of all but the newest, whose output is the task's result */
	uint64_t output_bytes;
	bool is_dropped; /* there was no room for it beside the others */
};

/* What attempts leave to the next one. */
struct model_kept {
	bool reported;
	bool saved;
	uint32_t percent; /* of the report; its text follows from it */
	struct pattern checkpoint;
};

static inline char model_report_text(uint32_t percent)
{
	return (char)('a' + percent % 26);
}

struct model_attempt {
	uint32_t record; /* 0 none is under way */
	uint32_t worker;
	uint32_t serial; /* of the worker's attempts */
	uint64_t order; /* of start, among all */
	uint64_t started_ns;
	uint64_t progress_ns;
	uint64_t phase_ns;
	uint32_t phase;
	uint32_t stop_cause;
	bool has_block; /* of checkpoints */
	uint32_t saves;
	struct model_kept own;
	struct model_kept inherited;
	int64_t charged_us;
	uint32_t server; /* slot; 0 none */
};

/* In the order of a queue; over so many waits it came. */
struct model_worth {
	int32_t priority;
	uint32_t hops;
	uint64_t deadline_ns;
	uint32_t deadline_hops;
};

struct model_task {
	uint32_t state;
	uint64_t generation;
	uint64_t sequence;
	uint64_t wait_sequence;
	uint32_t cause;
	int32_t cause_arg;
	bool held, forget, keep, once, cancel, stalled, cut, telling;
	bool extra, late;
	uint64_t server; /* of its last attempt, by slot and sequence; 0 it is ready, or had none */
	uint64_t deadline_ns; /* NEVER none */
	uint64_t at_ns;	      /* wall clock; 0 none */
	uint64_t schedule;    /* id; 0 none */
	uint32_t unmet;	      /* dependencies that are open, a group that it completes, a shut graph */
	uint64_t culprit;     /* id, of cause dependency */
	bool dooms;	      /* its end cancels all that depend on it */
	uint32_t group;	      /* that it is a member of; 0 none */
	uint64_t joined;      /* its place among the members that have not ended */
	uint32_t counted;     /* state of its end as its group counts it; 0 not yet */
	uint32_t group_order; /* number of that end */
	bool pinned;	      /* by its group */
	bool shut;	      /* nobody has seen it yet */
	uint32_t completes;   /* group that it waits for; 0 none */
	uint32_t unique; /* number of its key, 0 none */
	uint32_t scope;
	bool holds; /* it has the key */
	uint32_t limits; /* bit per limit */
	uint32_t weight[MODEL_LIMITS + 1]; /* places that it takes of each of them */
	uint32_t tenant; /* 0: of those without a fair key */
	bool fair;	 /* in a class of it */
	int32_t priority;
	struct model_worth inherited;
	uint32_t era, band; /* of its queue when it came into its class */
	uint32_t rate;	    /* of that class */
	bool edf, aged;	    /* likewise */
	uint32_t assigned;  /* to this worker; 0 to none */
	int64_t place;	    /* on its list */
	uint32_t queue, kind;
	uint32_t attempts_max, crashes_max, losses_max;
	uint32_t failures, crashes, losses, attempts, epoch;
	uint64_t submitted_ns, ready_ns, started_ns, first_started_ns, ended_ns;
	uint64_t due_ns; /* NEVER: by the wall clock */
	uint64_t look_ns; /* key in the due heap; NEVER: not in it */
	uint64_t timeout_ns, timeout_total_ns, progress_timeout_ns, backoff_ns, backoff_cap_ns;
	struct pattern payload, label, result, error;
	uint64_t output_bytes, max_rss_bytes, cpu_ns;
	struct model_kept kept;
	bool has_older; /* what is kept instead when memory is short */
	struct model_kept older;
	uint64_t jitter_ns; /* the core has added up to this to due_ns; 0 nothing to learn */
	struct model_attempt_info history[TQ_HISTORY_MAX]; /* newest last */
	uint32_t history_count;
	struct model_attempt attempt;
	uint64_t listed; /* order on the finished list; 0 not there */
};

struct model_worker {
	uint32_t state;
	bool dead;
	uint64_t generation;
	uint32_t flags;
	uint32_t queues[MODEL_QUEUES];
	uint32_t queue_count;
	uint32_t kinds; /* bit per kind */
	uint64_t lease_ns, lease_deadline_ns, suspect_ns, dying_ns, grace_ns;
	uint32_t master;
	uint64_t master_generation;
	uint64_t tasks;
	uint32_t output_room;
	uint32_t steal_max, steal_capacity;
	uint64_t steal_interval_ns, stole_ns, stolen;
	uint32_t output_seed;
	uint64_t output_head;
	uint32_t output_serial;
	uint32_t command; /* that it has taken */
};

struct model_delivery {
	uint32_t worker;
	uint64_t generation;
	uint32_t state;
	uint32_t takes;
};

struct model_command {
	uint32_t state;
	uint64_t generation;
	uint32_t queue, to;
	uint64_t sent_ns, ended_ns;
	uint64_t order; /* on the list of its state */
	struct model_delivery d[MODEL_WORKERS];
	uint32_t count;
	bool cancelled;
};

struct model_waiter {
	uint32_t state;
	uint32_t interest;
	uint32_t subject;
	bool dead;
	bool any; /* one of its tasks will do */
	uint32_t told; /* of a group: ends that it has seen; TQI_GROUP_LAST it waits for all */
	uint32_t behalf; /* task whose attempt under way it waits for; 0 nobody's */
	struct model_worth lent;
	uint64_t order;	    /* among the listed, or those in transit */
	uint64_t entered;   /* place in the chain */
	uint64_t popped_ns; /* since when it is in transit */
	uint32_t domain;    /* what stops together with it */
};

struct model_edge {
	uint32_t waiter; /* 0 unused */
	uint32_t task;
	bool told;
	bool quiet;	     /* its ends have different fair keys */
	uint64_t order;	     /* on its waiter's list */
	uint64_t tell_order; /* on its task's list */
};

/* Of one task on the end of another one. */
struct model_dependency {
	uint32_t task; /* 0 unused */
	uint32_t on;
	uint32_t kind; /* enum tq_after */
	uint32_t told; /* enum tqi_edge_told */
	bool quiet;    /* their fair keys differ */
	uint64_t order; /* newest first among those on its task, as long as it is open */
	uint64_t taken; /* newest first among those of its dependant */
};

struct model_group {
	uint32_t state; /* enum tqi_group_state */
	uint64_t generation;
	uint32_t condition;
	bool cancelled;
	uint32_t work; /* enum tqi_group_work */
	uint32_t walk; /* the next member to be looked at */
	uint32_t owner; /* pid; 0 nobody */
	bool owner_dead;
	uint64_t made_ns, ended_ns;
	uint64_t sequence; /* of a graph: when it was published */
	uint64_t completion_id, culprit;
	uint32_t completion; /* while it waits */
	uint32_t members, unfinished, ends;
	uint32_t states[TQ_STATE_COUNT]; /* those that are shut as TQ_FREE */
	uint64_t listed; /* order among those that are complete and released; 0 none of them */
};

struct model_queue {
	uint32_t flags;
	bool configured; /* somebody has set it, or given it servers or their limits */
	uint32_t waiting;
	uint64_t purge_before;
	uint64_t depth_max, timeout_ns, backoff_ns, backoff_cap_ns;
	uint32_t attempts_max;
	uint32_t era;
	uint32_t ageing[TQ_BANDS];
	int32_t band_from[TQ_BANDS - 1];
	uint32_t hybrid, hybrid_count;
	uint32_t edf, overdue_turn;
	uint64_t max_wait_ns; /* NEVER none */
	uint32_t batch;
	uint32_t fair;
	bool has_tenant; /* of tasks without a fair key */
	int64_t fair_time_us;
	uint64_t turn;
	uint32_t pool_size[MODEL_PATTERNS]; /* UINT32_MAX none */
	uint64_t full_ns; /* until when its servers had no room; 0 always */
	uint32_t carry_at, carry_from, carry_to; /* patterns; MODEL_PATTERNS away */
};

struct model_server {
	uint32_t queue; /* 0 free */
	uint32_t name;
	uint32_t pattern; /* whose pool it is in */
	bool leaving;
	uint64_t turn, sequence;
};

/* How full it was then; no token since, and nobody has looked: empty. */
__extension__ typedef __int128 model_level; /* below 0: owed */
struct model_bucket {
	struct tqi_rate rate;
	model_level level; /* tokens x interval */
	uint64_t since_ns;
	bool empty;
};

struct model_tenant {
	uint64_t sequence;
	int64_t tag_us, credit_us;
	uint32_t overdue_turn;
};

struct model_class {
	uint64_t submitted, started, ended[4], retried, crashed, reclaimed, stolen, throttled,
		moved;
	uint32_t depth[TQ_STATE_COUNT];
	uint64_t timed[TQI_TIMED_COUNT], timed_ns[TQI_TIMED_COUNT]; /* samples, and their sum */
};

struct model_submit {
	uint32_t queue, kind;
	struct tq_task_spec spec; /* its pointers are not used */
	struct pattern payload, label;
	uint32_t unique, scope; /* of its key; 0 none */
	uint32_t limits;	/* bit per limit */
	uint32_t weight[MODEL_LIMITS + 1]; /* of each of them */
	uint32_t tenant;	/* 0 none */
	struct tq_dependency after[MODEL_AFTER]; /* as many as the spec says */
	uint32_t group;				 /* that it becomes a member of; 0 none */
	bool shut;				 /* ... which is being built */
	bool completes;				 /* it is to be a group's completion task */
	uint32_t graph;				 /* ... which is a graph to be published; else 0 */
};

struct model_schedule {
	bool live, paused;
	uint32_t name; /* 0 none */
	uint64_t generation, sequence;
	uint64_t every_ns; /* 0: each so many minutes of the wall clock */
	uint32_t minutes;
	uint32_t overlap, catch_up, owed;
	int32_t last_error;
	uint64_t next_ns, retry_ns, last_run, runs, skipped;
	struct model_submit run;
};

/*
 * A hold does a slice of a long job, and ends it early when its journal fills.  Where it ended
 * is learnt: the model asks whether the core has done the next unit.
 */
enum model_unit {
	MODEL_DUE,	 /* looked at this task, whose time had come */
	MODEL_WALL,	 /* the same by the wall clock */
	MODEL_CANCELLED, /* cancelled this waiting task */
	MODEL_FREED,	 /* freed this task's record */
	MODEL_ENDED,	 /* ended this running task's attempt */
	MODEL_STOPPED,	 /* asked this running task's attempt to stop */
	MODEL_ASSIGNED,	 /* assigned this task */
	MODEL_MOVED,	 /* carried this task over to its queue's era */
	MODEL_POPPED,	 /* woken this sleeper, not knowing yet what it will find */
	MODEL_FILLED,	 /* filled this limit's bucket */
	MODEL_CALLED,	 /* woken this sleeper, or there was room for it in the journal */
	MODEL_WOKEN,	 /* woken this sleeper */
	MODEL_WENT_ROUND, /* looked at all sleepers that may leave (index 0) */
	MODEL_FOUND_ROOM, /* looked for a submitter as far as there are any (index 0) */
	MODEL_UNSETTLED, /* answered this claim before it knew (index 0) */
	MODEL_EDGE,	 /* dropped one more of this waiter's edges (of `left`) */
	MODEL_BURIED,	 /* freed this dead sleeper */
	MODEL_CARRIED,	 /* carried server `left` of this queue, or passed it */
	MODEL_DROPPED,	 /* freed this command */
	MODEL_ANSWERED,	 /* answered this command for worker `left` */
	MODEL_LEFT,	 /* taken this worker apart */
	MODEL_TOLD,	 /* told this edge of the model its task's end */
	MODEL_DECIDED,	 /* decided this dependency of the model */
	MODEL_RELEASED,	 /* freed this dependency of the model */
	MODEL_PASSED,	 /* in this group's walk, passed member `left` */
	MODEL_TURNED,	 /* done a slice of this group, and gone on to others */
	MODEL_DETACHED,	 /* taken this task from its group */
	MODEL_DISSOLVED, /* freed this group */
	MODEL_OVERTAKEN, /* moved this complete group behind others */
	MODEL_CLOSED,	 /* looked at this group as the segment shuts down */
	MODEL_SETTLED,	 /* taken this task from the telling list */
	MODEL_THROUGH,	 /* found nothing of an earlier era left in this queue */
};
typedef bool model_did(void *ctx, enum model_unit unit, uint32_t index, uint32_t left);

/* Index 0 of every array is unused, as in the core. */
struct model {
	model_did *did;
	void *did_ctx;
	uint64_t now_ns;
	uint64_t wall_ns;
	uint64_t sequence;
	uint64_t order; /* counter behind every `order` and `listed` */
	uint32_t flags;
	uint64_t cancel_before;
	uint32_t sweep_at, sweep_left, sweep_count;
	bool rounding; /* the sweep has been over all tasks, and frees classes still */
	uint64_t retention_ns;
	uint64_t look_ns, unbroken_ns;
	uint64_t reclaimed, evicted;
	uint32_t worker_cursor;
	uint32_t task_slots; /* highest slot ever used + 1 */
	uint32_t worker_slots;
	uint32_t waiter_slots;
	uint32_t waiter_cursor;
	uint32_t edge_slots;
	uint32_t jittered; /* tasks with jitter_ns */
	uint32_t limit_size[MODEL_LIMITS + 1]; /* UINT32_MAX none */
	uint32_t limit_needed[MODEL_LIMITS + 1]; /* places that come together; 0 one */
	struct model_bucket buckets[MODEL_LIMITS + 1];
	uint64_t full_ns[MODEL_LIMITS + 1]; /* until when it was, or by its tokens will be */
	bool pass_on; /* somebody is to be woken when the operation ends */
	bool leaving; /* a round of those that may leave has been under way in this operation */
	uint32_t ahead; /* woken in the operation before it was their turn */
	uint32_t between; /* a task that goes to another queue: it is in no lane; 0 none */
	uint32_t telling[MODEL_TASKS]; /* first come first */
	uint32_t telling_count;
	struct model_task tasks[MODEL_TASKS];
	struct model_worker workers[MODEL_WORKERS];
	struct model_waiter waiters[MODEL_WAITERS];
	struct model_command commands[MODEL_COMMANDS];
	struct model_edge edges[MODEL_EDGES];
	struct model_dependency dependencies[MODEL_DEPENDENCIES];
	uint32_t dependency_slots;
	struct model_group groups[MODEL_GROUPS];
	uint32_t group_slots;
	uint32_t busy[MODEL_GROUPS]; /* with work, first come first */
	uint32_t busy_count;
	uint32_t closing; /* the next group that a shutdown looks at; 0 none */
	struct model_queue queues[MODEL_QUEUES + 1];
	struct model_schedule schedules[MODEL_SCHEDULES];
	uint32_t schedule_slots;
	uint64_t schedule_sequence;
	struct model_class classes[MODEL_QUEUES + 1][MODEL_KINDS + 1];
	struct model_tenant tenants[MODEL_QUEUES + 1][MODEL_TENANTS + 1];
	struct model_server servers[MODEL_SERVER_SLOTS];
	uint32_t server_slots;
	int64_t mean_us[MODEL_KINDS + 1];
	struct tqi_kind_defaults defaults[MODEL_KINDS + 1];
};

/* Leaves `did` alone. */
void model_init(struct model *m, uint64_t sequence, uint64_t retention_ns);

/* Tasks. */
/* Whom a submit with a key meets, when nobody in its way is over any more. */
struct model_meeting {
	uint32_t twin, leader;
	bool replace, refused;
};
void model_meet(struct model *m, const struct model_submit *s, struct model_meeting *ret_meeting);
/*
 * Whether it waits for one that it ends on its way, as over and of the same key: forgotten
 * at once, that one is gone; the refusal undoes the end too, so the model still has it.
 */
bool model_waits_for_over(const struct model *m, const struct model_submit *s);
void model_replace(struct model *m, const struct model_submit *s, uint32_t task);
uint32_t model_holder(const struct model *m, uint32_t queue, uint32_t unique);
uint32_t model_successor(const struct model *m, uint32_t task);
int model_admit(const struct model *m, uint32_t queue);
void model_submit(struct model *m, const struct model_submit *s, uint32_t slot, uint32_t leader);
uint32_t model_best(struct model *m, const struct model_worker *worker);
bool model_serves_queue(const struct model_worker *worker, uint32_t queue);
bool model_serves(const struct model_worker *worker, uint32_t queue, uint32_t kind);
uint32_t model_best_of(const struct model *m, const struct model_worker *worker, uint32_t queue);
/* Its queue's turns, before it starts. */
void model_take_turn(struct model *m, const struct model_worker *worker, uint32_t task);
bool model_is_condemned(const struct model *m, const struct model_task *task);
/* What a worker has taken and not started; 0 none. */
uint32_t model_assigned_first(const struct model *m, uint32_t worker);
uint32_t model_assigned_last(const struct model *m, uint32_t worker);
uint32_t model_assigned_count(const struct model *m, uint32_t worker);
int model_claim(struct model *m, uint32_t worker, uint32_t record, uint32_t *ret_task);

/* Limits: what tasks add up to; those that are full. */
struct model_limit {
	uint32_t tasks, used, waiting;
};
struct model_limit model_limit(const struct model *m, uint32_t limit);
uint32_t model_full(const struct model *m);
int model_limit_set(struct model *m, uint32_t limit, const struct tqi_limit_change *change);
int64_t model_tokens(const struct model *m, uint32_t limit);
/* Servers, by the numbers of their names; `slot`: where a new one's record is. */
uint32_t model_server_find(const struct model *m, uint32_t queue, uint32_t name);
int model_server_add(struct model *m, uint32_t queue, uint32_t name, uint32_t slot);
int model_server_remove(struct model *m, uint32_t queue, uint32_t name);
int model_server_remove_all(struct model *m, uint32_t queue);
int model_pool_set(struct model *m, uint32_t queue, uint32_t pattern, uint32_t size);
uint32_t model_server_used(const struct model *m, uint32_t slot);
uint32_t model_pool_used(const struct model *m, uint32_t queue, uint32_t pattern);
uint32_t model_servers_of(const struct model *m, uint32_t queue);
const char *server_name(uint32_t name);
const char *server_pattern(uint32_t pattern);
/* Records that name a tenant. */
uint32_t model_tenant_tasks(const struct model *m, uint32_t queue, uint32_t tenant);
/* At the end of each operation. */
void model_pass_on(struct model *m);
uint64_t model_timeout_at(const struct model_task *task);
uint64_t model_due_of_attempt(const struct model_task *task);

struct model_verdict {
	uint32_t kind;
	uint32_t cause;
	int32_t cause_arg;
	struct pattern result, text;
	uint64_t output_bytes, max_rss_bytes, cpu_ns, delay_ns;
};
void model_end(struct model *m, uint32_t task, const struct model_verdict *v);

bool model_state_is_final(uint32_t state);

/* Dependencies (D1, D3). */
bool model_after_is_met(uint32_t kind, uint32_t state);
/* Of a submit: 0, or the error that one of them is. */
int model_after_check(const struct model *m, const struct model_submit *s);
int model_after(struct model *m, uint32_t task, uint64_t on, uint32_t kind);
/* The task of an id, if it is there, and not shut; 0 none. */
uint32_t model_find(const struct model *m, uint64_t id);
bool model_is_hidden(const struct model *m, const struct model_task *t);

/* Groups and graphs (D2, D5); a group by its record. */
int model_group_check(const struct model *m, uint64_t id);
uint32_t model_group_make(struct model *m, uint32_t slot, const struct model_group *like,
			  uint32_t completion);
int model_group_seal(struct model *m, uint32_t group);
int model_group_cancel(struct model *m, uint32_t group);
void model_graph_depend(struct model *m, uint32_t member, uint32_t on, uint32_t kind);
void model_graph_publish(struct model *m, uint32_t group, uint32_t completion);
void model_graph_drop(struct model *m, uint32_t group);
void model_group_orphaned(struct model *m, uint32_t group);
uint32_t model_group_retire(struct model *m, uint32_t count, bool evict);
void model_group_slice(struct model *m);
/* Sleepers that wait for its ends. */
uint32_t model_group_waiters(const struct model *m, uint32_t group);
/* Members of a published graph are still shut. */
bool model_is_opening(const struct model *m);
/* Its members in their order; 0 none, or no more. */
uint32_t model_member_first(const struct model *m, uint32_t group);
uint32_t model_member_after(const struct model *m, uint32_t task);

/* Schedules. */
void model_schedule_make(struct model *m, uint32_t slot, const struct model_schedule *like);
uint32_t model_schedule_named(const struct model *m, uint32_t name);
void model_schedule_replace(struct model *m, uint32_t slot, const struct model_schedule *like);
void model_schedule_pause(struct model *m, uint32_t slot, bool pause);
void model_schedule_remove(struct model *m, uint32_t slot);
/* The next one to be looked at; 0 none.  Earliest time by either clock; NEVER none. */
uint32_t model_schedule_due(const struct model *m);
uint64_t model_schedule_next(const struct model *m, bool wall);
/* What has come becomes owed; true when a run is to be made now. */
bool model_schedule_decide(struct model *m, uint32_t slot);
void model_schedule_made(struct model *m, uint32_t slot, uint64_t id);
void model_schedule_failed(struct model *m, uint32_t slot, int r);
bool model_schedule_is_running(const struct model *m, const struct model_schedule *s);

/* Steering: what the core's calls should answer. */
int model_cancel(struct model *m, uint32_t task, bool dooms);
int model_hold(struct model *m, uint32_t task, bool hold);
int model_retry(struct model *m, uint32_t task);
int model_forget(struct model *m, uint32_t task);
struct model_update {
	uint32_t fields;
	uint32_t queue;
	int32_t priority;
	uint64_t delay_ns;
	uint64_t at_ns;
	uint64_t deadline_ns; /* from now; NEVER none */
	struct pattern label;
	uint64_t timeout_ns;
	uint64_t timeout_total_ns;
	uint32_t attempts_max;
	uint32_t limits; /* bit per limit */
	uint32_t weight[MODEL_LIMITS + 1];
};
int model_update(struct model *m, uint32_t task, const struct model_update *u);
void model_shutdown(struct model *m, uint32_t flags);
void model_queue_flag(struct model *m, uint32_t queue, uint32_t flag, bool on);
/* Whether nobody needs it; it was given back, and is there again, as new. */
bool model_queue_is_unused(const struct model *m, uint32_t queue);
bool model_kind_is_unused(const struct model *m, uint32_t kind);
bool model_has_defaults(const struct model *m, uint32_t kind);
void model_queue_renew(struct model *m, uint32_t queue);
void model_kind_renew(struct model *m, uint32_t kind);
uint32_t model_purge(struct model *m, uint32_t queue);
uint32_t model_evict(struct model *m, uint32_t count);

/* Order inside a queue. */
int model_policy(struct model *m, uint32_t queue, const struct tqi_policy *change);
/* The class that a task comes into now. */
void model_home(const struct model *m, struct model_task *task);
int64_t model_key(const struct model_task *task);
uint32_t model_band(const struct model *m, const struct model_task *task);
/* What is inherited now, and the places that follow from it: nothing is stale in the core. */
void model_inherit(struct model *m);
struct model_worth model_worth(const struct model_task *task);
bool model_is_waited_for(const struct model *m, uint32_t task);
/* What a new sleeper lends: on somebody's behalf what that is worth. */
void model_lend(struct model *m, uint32_t waiter, int32_t priority);
bool model_policy_move(struct model *m, uint32_t task);
void model_policy_round(struct model *m);
uint32_t model_moving(const struct model *m);

/* Workers. */
int model_stop_step(struct model *m, uint32_t task);
bool model_unregister(struct model *m, uint32_t worker);
bool model_worker_dead(struct model *m, uint32_t worker, const struct tqi_death *death);
bool model_worker_gone(struct model *m, uint32_t worker, bool groups_empty);
uint32_t model_attempt_count(const struct model *m, uint32_t worker);

/* Commands. */
int model_command_send(struct model *m, const struct tq_command_spec *spec, uint32_t queue,
		       uint32_t slot, uint64_t generation);
bool model_command_take(struct model *m, uint32_t worker);
int model_command_cancel(struct model *m, uint32_t command);
int model_command_ack(struct model *m, uint32_t worker, uint32_t command, uint32_t state);
uint32_t model_open_commands(const struct model *m);
bool model_command_waits(const struct model *m, uint32_t worker);

/* Sleepers. */
void model_enter(struct model *m, uint32_t waiter, uint32_t interest, uint32_t subject,
		 uint32_t behalf);
/* Attempts of the worker on whose behalf anybody waits. */
uint32_t model_waiting_count(const struct model *m, uint32_t worker);
/* Whether the slot, which waits for any of its tasks or for all, is stuck; without bounds. */
bool model_closes_cycle(const struct model *m, uint32_t waiter);
/*
 * Whether a task that is to wait for these, and `group` (0 none) for it, would do so for
 * ever; `task` is 0 as long as it is not there.
 */
bool model_blocks_for_ever(const struct model *m, uint32_t task, const struct tq_dependency *after,
			   uint32_t count, uint32_t group);
/* The same of a graph's completion task that becomes a member of `group`. */
bool model_graph_waits_for_ever(const struct model *m, uint32_t graph, uint32_t group);
/* The task's attempt ends: nobody waits on its behalf any more. */
void model_behalf_end(struct model *m, uint32_t task);
void model_edge(struct model *m, uint32_t waiter, uint32_t task);
bool model_edges_drop(struct model *m, uint32_t waiter, uint32_t count);
void model_relink(struct model *m, uint32_t waiter);
void model_leave(struct model *m, uint32_t waiter);
bool model_wake_any(struct model *m);
bool model_wake_next(struct model *m);
uint32_t model_pins(const struct model *m, uint32_t task);
/* Until when a keeper may sleep, at most. */
uint64_t model_keeper_until(const struct model *m, uint32_t place);
uint64_t model_keeper_until_wall(const struct model *m, uint32_t place);
/* Nobody who could start something sleeps while nobody is on the way to it. */
bool model_is_stranded(const struct model *m);
/* Whether a worker that looks now finds something. */
bool model_has_work(const struct model *m, uint32_t worker);

/* Holds. */
bool model_due_run(struct model *m, uint32_t count);
bool model_is_due(const struct model *m);
bool model_wall_run(struct model *m, uint32_t count);
/* The core has come to where `left` records are left. */
bool model_sweep_slice(struct model *m, uint32_t left, bool rounding);
/* Nothing is due, swept or to be buried any more. */
bool model_look(struct model *m, uint32_t waiter_cursor); /* nobody is dead */
/* `cursor`: the slot that the core has looked at last; and how many slots it has made. */
bool model_has_dead(const struct model *m);
bool model_bury(struct model *m, uint32_t cursor, uint32_t slots);
bool model_sweep_pending(const struct model *m);
void model_wake_room(struct model *m);
/* A repair of a sound segment changes no task, but the order of some lists. */
void model_rebuild(struct model *m);
uint32_t model_finished(const struct model *m);

/* When a waiting task must be looked at because it may start no more; NEVER. */
uint64_t model_watched(const struct model_task *t);
uint64_t model_least(uint64_t a, uint64_t b);

#endif
