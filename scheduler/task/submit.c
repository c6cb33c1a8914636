/* SPDX-License-Identifier: MIT */
/* Submitting a task: everything that its end will need is reserved here. */
#include "scheduler/task/submit.h"

#include <errno.h>
#include <string.h>

#include "scheduler/graph/after.h"
#include "scheduler/graph/cycle.h"
#include "scheduler/time/due.h"
#include "scheduler/record/extra.h"
#include "scheduler/record/name.h"
#include "scheduler/order/fair.h"
#include "scheduler/graph/group.h"
#include "scheduler/graph/key.h"
#include "scheduler/order/kind.h"
#include "scheduler/task/depend.h"
#include "scheduler/task/meet.h"
#include "scheduler/limit/limit.h"
#include "scheduler/worker/step.h"
#include "scheduler/record/stream.h"
#include "scheduler/order/pass.h"
#include "scheduler/order/queue.h"
#include "scheduler/order/ready.h"
#include "scheduler/worker/sleep.h"
#include "scheduler/task/task.h"
#include "scheduler/record/trace.h"
#include "scheduler/time/wall.h"
#include "shm/inflight.h"
#include "shm/pool.h"

#define DEFAULT_CRASHES 3
#define DEFAULT_LOSSES 3

static size_t label_bytes(const struct tq_task_spec *spec)
{
	return spec->label ? strnlen(spec->label, TQ_LABEL_MAX) : 0;
}

/* A payload too large to be copied under the lock cannot get one later (scheduler/record/extra.h). */
static bool has_extra(const struct tq_task_spec *spec)
{
	return spec->deadline_ns || spec->at_ns || spec->unique_key || spec->limit_count ||
	       spec->fair_key || spec->after_count || spec->group ||
	       spec->payload_bytes > TQI_COPY_MAX;
}

static bool needs_extra(const struct tqi_submit *s)
{
	return s->schedule || s->unmet || s->group || has_extra(s->spec);
}

/*
 * Whether it has only what every task has, and is ready at once: then the body below that
 * asks for nothing else is as good.
 */
static bool is_plain(const struct tqi_submit *s)
{
	const struct tq_task_spec *spec = s->spec;
	const uint64_t settings = spec->delay_ns | spec->deadline_ns | spec->at_ns | spec->group |
				  s->schedule | s->block_token;
	const uint32_t counts = spec->limit_count | spec->after_count | s->unmet | s->group |
				(spec->flags & TQ_TASK_HOLD) | s->shut;

	return !(settings | counts) && !spec->unique_key && !spec->fair_key &&
	       spec->payload_bytes <= TQI_COPY_MAX;
}

static uint64_t block_bytes(const struct tq_task_spec *spec, bool extra)
{
	size_t label = label_bytes(spec);

	return extra ? tqi_extra_at(spec->payload_bytes, label) + sizeof(struct tqi_extra)
		     : spec->payload_bytes + label;
}

uint64_t tqi_submit_block_bytes(const struct tq_task_spec *spec)
{
	uint64_t bytes = block_bytes(spec, has_extra(spec));

	return bytes > TQI_COPY_MAX ? block_bytes(spec, true) : bytes;
}

static inline void fill_block(const struct tq_task_spec *spec, void *block)
{
	if (spec->payload_bytes)
		memcpy(block, spec->payload, spec->payload_bytes);
	if (spec->label)
		memcpy((unsigned char *)block + spec->payload_bytes, spec->label,
		       label_bytes(spec));
}

void tqi_submit_block_fill(const struct tq_task_spec *spec, void *block)
{
	fill_block(spec, block);
}

/* Who had a hint did not look at the name: it is another's, or none. */
static int check_names(const struct tqi_submit *s)
{
	if ((s->queue_hint && !s->queue && !tqi_name_is_valid(tqi_spec_queue(s->spec))) ||
	    (s->kind_hint && !s->kind && !tqi_name_is_valid(tqi_spec_kind(s->spec))))
		return -EINVAL;
	return 0;
}

static int make_names(struct tqi_tx *tx, struct tqi_submit *s)
{
	int r = check_names(s);
	bool full;

	if (r < 0)
		return r;
	if (!s->queue)
		s->queue = tqi_queue_make(tx, tqi_spec_queue(s->spec), &full);
	if (!s->queue)
		return full ? TQ_EQUEUES : -ENOMEM;
	if (!s->kind)
		s->kind = tqi_kind_make(tx, tqi_spec_kind(s->spec), &full);
	if (!s->kind)
		return full ? TQ_EKINDS : -ENOMEM;
	return 0;
}

static inline int resolve_names(struct tqi_tx *tx, struct tqi_submit *s)
{
	if (!s->queue && tqi_name_is_of(tx, TQI_QUEUES, s->queue_hint, tqi_spec_queue(s->spec)))
		s->queue = s->queue_hint;
	if (!s->kind && tqi_name_is_of(tx, TQI_KINDS, s->kind_hint, tqi_spec_kind(s->spec)))
		s->kind = s->kind_hint;
	return s->queue && s->kind ? 0 : make_names(tx, s);
}

/* What few segments ask of a submit: 1 its kind has defaults, so it is not plain. */
static __attribute__((noinline)) int admit_rare(struct tqi_tx *tx, const struct tqi_submit *s)
{
	if (tqi_root(tx)->flags & (TQI_ROOT_SHUTDOWN | TQI_ROOT_DESTROYED))
		return TQ_ESHUTDOWN;
	return tqi_kind_has_defaults(tqi_kind_at(tx, s->kind));
}

TQI_TWICE int admit(struct tqi_tx *tx, const struct tqi_submit *s, const struct tqi_queue *queue,
		    bool rare)
{
	if (tqi_root(tx)->flags & (TQI_ROOT_SHUTDOWN | TQI_ROOT_DESTROYED | TQI_ROOT_KINDS)) {
		int r = admit_rare(tx, s);

		if (r < 0 || (r && !rare))
			return r;
	}
	if (!(queue->flags & TQI_QUEUE_DRAINING))
		return 0;
	return s->attempt && tqi_task_at(tx, tqi_attempt_at(tx, s->attempt)->task)->queue ==
				       s->queue
		       ? 0
		       : TQ_EDRAINING;
}

static bool is_full(const struct tqi_queue *queue)
{
	return queue->waiting >= queue->depth_max;
}

/* The block of payload and label: filled here, or taken over from the in-flight table. */
TQI_TWICE int take_block(struct tqi_tx *tx, const struct tqi_submit *s, bool rare,
			 uint32_t *ret_block)
{
	uint64_t bytes = block_bytes(s->spec, rare && s->extra);

	*ret_block = 0;
	if (rare && s->block_token) {
		struct tqi_inflight *entry = tqi_inflight_get(tx, s->block_token);

		if (!entry)
			return TQ_ECORRUPT; /* nobody undoes a live owner's entry */
		*ret_block = entry->first;
		tqi_inflight_drop(tx, entry);
		return 0;
	}
	if (bytes == 0)
		return 0;
	*ret_block = tqi_block_take(tx, bytes);
	if (!*ret_block)
		return -ENOMEM;
	fill_block(s->spec, tqi_unit(tx, *ret_block));
	return 0;
}

/*
 * Finished records never make a submit fail; freed ones come after a commit (TX-6), so
 * this is before anything else has been changed.
 */
TQI_TWICE void make_record_room(struct tqi_tx *tx, const struct tqi_submit *s, bool rare)
{
	const struct tqi_table *tasks = &tx->core->tables[TQI_TASKS];

	if (tasks->free || tasks->count < tx->seg->geometry.tables[TQI_TASKS].max)
		return;
	if (rare && s->spec->unique_key && !tqi_key_makes_task(tx, s->spec, s->queue, s->kind))
		return;
	const uint8_t spares = tx->spares;

	if (tqi_task_evict(tx, 1))
		tqi_step(tx);
	tx->spares = spares;
}

static inline int take_record(struct tqi_tx *tx, uint32_t *ret_index)
{
	bool full;

	*ret_index = tqi_table_take(tx, TQI_TASKS, &full);
	if (*ret_index)
		return 0;
	return full ? TQ_EFULL : -ENOMEM;
}

static uint64_t or_default(uint64_t value, uint64_t fallback)
{
	return value ? value : fallback;
}

static void set_budgets(struct tqi_task *t, const struct tq_task_spec *spec,
			const struct tqi_queue *queue)
{
	TQI_INIT(t->attempts_max, (uint16_t)or_default(spec->attempts_max, queue->attempts_max));
	TQI_INIT(t->crashes_max, (uint16_t)or_default(spec->crashes_max, DEFAULT_CRASHES));
	TQI_INIT(t->losses_max, (uint16_t)or_default(spec->losses_max, DEFAULT_LOSSES));
}

TQI_TWICE void set_times(struct tqi_tx *tx, struct tqi_task *t, const struct tq_task_spec *spec,
			 const struct tqi_queue *queue, bool rare)
{
	const bool waits = rare && (spec->delay_ns || spec->at_ns > tx->wall_ns);

	TQI_INIT(t->submitted_ns, tx->now_ns);
	TQI_INIT(t->ready_ns, waits ? 0 : tx->now_ns);
	TQI_INIT(t->timeout_ns, or_default(spec->timeout_ns, queue->timeout_ns));
	TQI_INIT(t->timeout_total_ns, or_default(spec->timeout_total_ns, UINT64_MAX));
	TQI_INIT(t->progress_timeout_ns, or_default(spec->progress_timeout_ns, UINT64_MAX));
	TQI_INIT(t->backoff_ns, or_default(spec->backoff_ns, queue->backoff_ns));
	TQI_INIT(t->backoff_cap_ns, or_default(spec->backoff_cap_ns, queue->backoff_cap_ns));
}

/* What a spec and a record say by the same bits. */
#define FLAGS_SHARED (TQI_TASK_HELD | TQI_TASK_FORGET | TQI_TASK_KEEP | TQI_TASK_ONCE)
_Static_assert(TQ_TASK_HOLD == TQI_TASK_HELD && TQ_TASK_FORGET == TQI_TASK_FORGET &&
		       TQ_TASK_KEEP == TQI_TASK_KEEP && TQ_TASK_AT_MOST_ONCE == TQI_TASK_ONCE,
	       "the same bits");

static uint16_t flags_of(const struct tqi_submit *s)
{
	return (uint16_t)((s->spec->flags & FLAGS_SHARED) | (s->extra ? TQI_TASK_EXTRA : 0));
}

/*
 * Behind payload and label; under the lock, as times are, while a large block was filled
 * before it.  Such a block is known to the in-flight table, so what was there is saved.
 */
static void fill_extra(struct tqi_tx *tx, const struct tqi_submit *s, const struct tqi_task *t,
		       const struct tqi_extra *from)
{
	struct tqi_extra *extra = tqi_task_extra(tx, t);

	if (!s->block_token || tqi_save64(tx, extra, sizeof(*extra) / sizeof(uint64_t)))
		*extra = *from;
}

/* What no new task has: in one go, and so in few stores. */
static inline void fill_nothing(struct tqi_task *t)
{
	TQI_INIT(t->cause, TQ_CAUSE_NONE);
	TQI_INIT(t->due_ns, 0);
	TQI_INIT(t->attempt, 0);
	TQI_INIT(t->epoch, 0);
	TQI_INIT(t->edges, 0);
	TQI_INIT(t->prev, 0);
	TQI_INIT(t->next, 0);
	TQI_INIT(t->pins, 0);
	TQI_INIT(t->failures, 0);
	TQI_INIT(t->crashes, 0);
	TQI_INIT(t->losses, 0);
	TQI_INIT(t->attempts, 0);
	TQI_INIT(t->result, 0);
	TQI_INIT(t->result_bytes, 0);
	TQI_INIT(t->cause_arg, 0);
	TQI_INIT(t->started_ns, 0);
	TQI_INIT(t->ended_ns, 0);
	TQI_INIT(t->first_started_ns, 0);
	TQI_INIT(t->output_bytes, 0);
	TQI_INIT(t->cpu_ns, 0);
	TQI_INIT(t->max_rss_bytes, 0);
	TQI_INIT(t->error, 0);
	TQI_INIT(t->history, 0);
	TQI_INIT(t->kept, 0);
	TQI_INIT(t->kept_bytes, 0);
	TQI_INIT(t->worker_pid, 0);
	TQI_INIT(t->error_bytes, 0);
	TQI_INIT(t->history_count, 0);
}

/* The record is free until its state is set: plain stores (TX-3). */
TQI_TWICE void fill(struct tqi_tx *tx, struct tqi_task *t, const struct tqi_submit *s,
		    const struct tqi_queue *queue, uint32_t block, uint32_t lane, uint32_t rate,
		    struct tqi_extra *extra, bool rare)
{
	const struct tq_task_spec *spec = s->spec;

	tqi_task_touch(tx, t);
	if (t->generation == 0)
		TQI_SET(tx, t->generation, 1u); /* the first life of a new record */
	fill_nothing(t);
	TQI_INIT(t->flags, flags_of(s));
	TQI_INIT(t->sequence, tqi_root(tx)->sequence);
	TQI_INIT(t->wait_sequence, tqi_root(tx)->sequence);
	TQI_INIT(t->key, tqi_policy_key(rate, tx->now_ns, spec->priority));
	TQI_INIT(t->priority, spec->priority);
	TQI_INIT(t->lane, lane);
	TQI_INIT(t->queue, (uint16_t)s->queue);
	TQI_INIT(t->kind, (uint16_t)s->kind);
	TQI_INIT(t->payload, block);
	TQI_INIT(t->payload_bytes, (uint32_t)spec->payload_bytes);
	TQI_INIT(t->label_bytes, (uint8_t)label_bytes(spec));
	set_times(tx, t, spec, queue, rare);
	set_budgets(t, spec, queue);
	if (rare)
		tqi_kind_fill(tx, t, spec);
	if (!rare || !(t->flags & TQI_TASK_EXTRA))
		return;
	extra->deadline_ns = spec->deadline_ns ? tqi_due_after(tx, spec->deadline_ns) : UINT64_MAX;
	extra->at_ns = spec->at_ns;
	extra->schedule = s->schedule;
	extra->unmet = s->unmet + s->shut;
	extra->shut = s->shut;
	fill_extra(tx, s, t, extra);
}

/* RC-4: not before; 0 at once. */
static uint64_t first_due(struct tqi_tx *tx, const struct tqi_task *t, uint64_t delay_ns)
{
	if (delay_ns)
		return tqi_due_after(tx, delay_ns);
	return (t->flags & TQI_TASK_EXTRA) && tqi_wall_is_ahead(tx, t) ? UINT64_MAX : 0;
}

TQI_TWICE void start_life(struct tqi_tx *tx, uint32_t index, struct tqi_task *t,
			  struct tqi_queue *queue, struct tqi_stream *stream, struct tqi_lane *lane,
			  struct tqi_class *class, uint64_t delay_ns, bool blocked, bool rare)
{
	static const struct tqi_pass comes = { TQ_FREE, TQ_READY, TQ_READY, 0, 0, 0 };
	uint64_t due = rare ? first_due(tx, t, delay_ns) : 0;

	if (due)
		TQI_INIT(t->due_ns, due);
	if (blocked) {
		tqi_task_move(tx, index, TQ_BLOCKED);
		TQI_INIT(t->ready_ns, 0);
	} else if (due) {
		tqi_task_move(tx, index, TQ_DELAYED);
	} else if (rare) {
		tqi_task_move(tx, index, TQ_READY);
		/* Ready from the start: fill() has its place. */
		tqi_ready_enter_lane(tx, index, t, lane, true);
	} else {
		tqi_pass(tx, index, t, queue, stream, lane, &comes, false);
		tqi_ready_enter_new(tx, index, t, lane, class);
	}
	if (!rare)
		return;
	if (due == UINT64_MAX && !blocked)
		tqi_wall_enter(tx, index);
	if ((due || (t->flags & TQI_TASK_EXTRA)) && !tqi_task_is_shut(tx, t))
		tqi_due_set(tx, index, tqi_due_of(tx, t));
}

/* A block in flight for a task that will not be. */
static void drop_block(struct tqi_tx *tx, const struct tqi_submit *s)
{
	struct tqi_inflight *entry = s->block_token ? tqi_inflight_get(tx, s->block_token) : NULL;

	if (!entry)
		return;
	tqi_block_give(tx, entry->first);
	tqi_inflight_drop(tx, entry);
}

/* The task that has the key stands for this one: 1. */
static int be_twin(struct tqi_tx *tx, const struct tqi_submit *s, uint32_t twin, uint64_t *ret_id)
{
	drop_block(tx, s);
	*ret_id = tqi_id_make(twin, tqi_task_at(tx, twin)->generation);
	return 1;
}

/* The same with the newest payload and label; all else stays the first one's. */
static int coalesce(struct tqi_tx *tx, const struct tqi_submit *s, uint32_t twin, uint32_t block,
		    uint64_t *ret_id)
{
	struct tqi_task *t = tqi_task_at(tx, twin);
	const struct tqi_extra extra = *tqi_task_extra(tx, t);

	tqi_task_touch(tx, t);
	tqi_block_give(tx, t->payload);
	TQI_SET(tx, t->payload, block);
	TQI_SET(tx, t->payload_bytes, (uint32_t)s->spec->payload_bytes);
	TQI_SET(tx, t->label_bytes, (uint8_t)label_bytes(s->spec));
	fill_extra(tx, s, t, &extra);
	*ret_id = tqi_id_make(twin, t->generation);
	return 1;
}

static bool is_unmet(struct tqi_tx *tx, const struct tqi_task *t)
{
	return (t->flags & TQI_TASK_EXTRA) && tqi_task_extra(tx, t)->unmet;
}

/* Of a new task nobody can wait yet but through its group. */
static bool closes_cycle(struct tqi_tx *tx, const struct tqi_submit *s, uint32_t index)
{
	if (!s->group || s->shut || tqi_task_at(tx, index)->state != TQ_BLOCKED)
		return false;
	const struct tqi_group *g = tqi_group_at(tx, s->group);

	return (g->completion || g->waiters) && tqi_cycle_blocks(tx, index);
}

/* Of whatever settings; a plain task is not counted in it yet. */
static __attribute__((noinline)) uint32_t find_lane(struct tqi_tx *tx, const struct tqi_submit *s,
						    const struct tqi_extra *extra, bool rare)
{
	const struct tqi_place place = { s->queue, s->kind, s->spec->priority, extra->tenant,
					 rare && s->spec->limit_count ? extra->limits : NULL };

	return rare ? tqi_lane_join(tx, &place) : tqi_lane_room(tx, &place);
}

/* A new task, of a record and a block. */
TQI_TWICE int make_task(struct tqi_tx *tx, const struct tqi_submit *s, struct tqi_queue *queue,
			uint32_t block, uint32_t leader, bool rare, uint64_t *ret_id)
{
	struct tqi_root *root = tqi_root(tx);
	struct tqi_extra extra = { .key = 0 };
	uint64_t culprit = 0;
	uint32_t index, l;
	int r = take_record(tx, &index);

	if (rare && r == 0 && s->spec->limit_count)
		r = tqi_limits_join(tx, s->spec->limits, s->spec->limit_weights,
				    s->spec->limit_count, extra.limits);
	if (rare && r == 0 && s->spec->fair_key)
		r = tqi_tenant_join(tx, s->queue, s->spec->fair_key, &extra.tenant);
	if (r < 0)
		return r;
	struct tqi_stream *stream = tqi_stream_join(tx, s->queue, s->kind);

	if (!stream)
		return -ENOMEM;
	l = rare ? 0 : tqi_lane_newest(tx, queue, s->kind);
	if (!l)
		l = find_lane(tx, s, &extra, rare);
	if (!l || tqi_heap_reserve(tx, &root->time.due, root->unfinished + 1) < 0)
		return -ENOMEM;
	if (rare && s->spec->at_ns && tqi_wall_reserve(tx) < 0)
		return -ENOMEM;
	struct tqi_task *t = tqi_task_at(tx, index);
	struct tqi_lane *lane = tqi_lane_at(tx, l);
	struct tqi_class *class = tqi_class_at(tx, lane->class_);

	fill(tx, t, s, queue, block, l, class->rate, &extra, rare);
	if (rare && s->spec->unique_key)
		r = tqi_key_take(tx, index, s->spec, leader);
	if (rare && r == 0 && s->spec->after_count)
		r = tqi_after_submit(tx, index, s->spec, &culprit);
	if (r < 0)
		return r;
	if (rare && s->group)
		tqi_member_join(tx, s->group, index);
	start_life(tx, index, t, queue, stream, lane, class, s->spec->delay_ns,
		   rare && (leader || culprit || is_unmet(tx, t)), rare);
	if (rare && s->spec->after_count && !culprit && tqi_trace_is_on(tx))
		tqi_after_record(tx, index);
	if (rare && closes_cycle(tx, s, index))
		return TQ_ECYCLE;
	*ret_id = tqi_id_make(index, t->generation);
	if (!rare)
		return 0;
	if (culprit && s->shut)
		TQI_SET(tx, tqi_task_extra(tx, t)->culprit, culprit); /* when it is shown */
	else if (culprit)
		tqi_after_refuse(tx, index, culprit, false);
	return 0;
}

static int submit_rare(struct tqi_tx *tx, struct tqi_submit *s, uint64_t *ret_id);

TQI_TWICE int submit(struct tqi_tx *tx, struct tqi_submit *s, bool rare, uint64_t *ret_id)
{
	struct tqi_meeting meeting = { 0 };
	uint32_t block = 0;
	int r = rare && s->spec->group ? tqi_group_find_open(tx, s->spec->group, &s->group) : 0;

	s->extra = rare && needs_extra(s);
	if (r == 0)
		r = resolve_names(tx, s);
	struct tqi_queue *queue = r == 0 ? tqi_queue_at(tx, s->queue) : NULL;

	if (r == 0)
		r = admit(tx, s, queue, rare);
	if (r != 0)
		return !rare && r > 0 ? submit_rare(tx, s, ret_id) : r;
	make_record_room(tx, s, rare);
	if (rare && s->spec->unique_key)
		r = tqi_key_meet(tx, s->spec, s->queue, s->kind, &meeting);
	if (meeting.twin && !meeting.replace)
		return be_twin(tx, s, meeting.twin, ret_id);
	if (r == 0 && !meeting.twin && is_full(queue))
		r = TQ_EFULL; /* a twin needs no room */
	if (r == 0)
		r = take_block(tx, s, rare, &block);
	if (r < 0)
		return r;
	return meeting.twin ? coalesce(tx, s, meeting.twin, block, ret_id)
			    : make_task(tx, s, queue, block, meeting.leader, rare, ret_id);
}

static __attribute__((noinline)) int submit_rare(struct tqi_tx *tx, struct tqi_submit *s,
						 uint64_t *ret_id)
{
	return submit(tx, s, true, ret_id);
}

int tqi_submit(struct tqi_tx *tx, struct tqi_submit *s, uint64_t *ret_id)
{
	tx->spares = (uint8_t)tqi_submit_spares(s->spec);
	const int r = is_plain(s) ? submit(tx, s, false, ret_id) : submit_rare(tx, s, ret_id);

	tx->spares = TQI_SPARES_NOTHING;
	return r;
}

bool tqi_submit_undo(struct tqi_tx *tx, uint32_t index)
{
	struct tqi_task *t = tqi_task_at(tx, index);

	if (!tqi_after_discard(tx, index))
		return false;
	tqi_lane_leave(tx, t->lane);
	tqi_wall_ended(tx, t);
	TQI_ADD(tx, t->pins, -1); /* its group's */
	tqi_task_free(tx, index);
	return !tx->corrupt;
}
