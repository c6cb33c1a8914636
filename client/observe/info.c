/* SPDX-License-Identifier: MIT */
/* Snapshots of tasks. */
#include "client/observe/info.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "client/observe/ask.h"
#include "client/core/options.h"
#include "client/observe/kept.h"
#include "client/observe/reading.h"
#include "client/observe/server_info.h"
#include "client/observe/snapshot.h"
#include "scheduler/limit/limit.h"
#include "scheduler/order/policy.h"
#include "scheduler/order/ready.h"
#include "scheduler/record/serves.h"
#include "scheduler/record/task_record.h"
#include "scheduler/task/kept.h"

#define TRIES 64

static uint64_t none_is_zero(uint64_t ns)
{
	return ns == UINT64_MAX ? 0 : ns;
}

static void fill_numbers(uint32_t index, const struct tqi_task *t, struct tq_task_info *i)
{
	i->id = tqi_id_make(index, t->generation);
	i->sequence = t->sequence;
	i->state = t->state;
	i->priority = i->inherited_priority = i->effective_priority = t->priority;
	i->attempt = t->attempts;
	i->attempts_max = t->attempts_max;
	i->failures = t->failures;
	i->crashes = t->crashes;
	i->losses = t->losses;
	i->crashes_max = t->crashes_max;
	i->losses_max = t->losses_max;
	i->cause = t->cause;
	i->cause_arg = t->cause_arg;
	i->submitted_ns = t->submitted_ns;
	i->ready_ns = t->ready_ns;
	i->started_ns = t->started_ns;
	i->ended_ns = t->ended_ns;
	i->due_ns = t->state == TQ_DELAYED || t->state == TQ_BLOCKED ? none_is_zero(t->due_ns) : 0;
	i->timeout_ns = none_is_zero(t->timeout_ns);
	i->timeout_total_ns = none_is_zero(t->timeout_total_ns);
	i->progress_timeout_ns = none_is_zero(t->progress_timeout_ns);
	i->backoff_ns = t->backoff_ns;
	i->backoff_cap_ns = tqi_task_backoff_cap(t);
	i->payload_bytes = t->payload_bytes;
	i->result_bytes = t->result ? t->result_bytes : 0;
	i->output_bytes = t->output_bytes;
	i->max_rss_bytes = t->max_rss_bytes;
	i->cpu_ns = t->cpu_ns;
	i->worker_pid = t->worker_pid;
}

uint32_t tqi_info_flags(const struct tqi_task *t)
{
	static const struct {
		uint32_t from, to;
	} map[] = { { TQI_TASK_HELD, TQ_INFO_HELD },
		    { TQI_TASK_STALLED, TQ_INFO_STALLED },
		    { TQI_TASK_CANCEL, TQ_INFO_CANCEL },
		    { TQI_TASK_CUT, TQ_INFO_CUT },
		    { TQI_TASK_FORGET, TQ_INFO_FORGET },
		    { TQI_TASK_LATE, TQ_INFO_LATE },
		    { TQI_TASK_ASSIGNED, TQ_INFO_ASSIGNED },
		    { TQI_TASK_KEEP, TQ_INFO_PINNED | TQ_INFO_KEEP },
		    { TQI_TASK_ONCE, TQ_INFO_AT_MOST_ONCE } };
	uint32_t flags = t->pins ? TQ_INFO_PINNED : 0;

	for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++)
		if (t->flags & map[i].from)
			flags |= map[i].to;
	return flags;
}

/*
 * The attempt whose end was the task's is in no history when it is the only one; else all
 * that have ended are.
 */
static void fill_run(const struct tqi_segment *seg, const struct tqi_task *t,
		     struct tq_task_info *i)
{
	const uint64_t last = (t->history_count - 1u) % TQ_HISTORY_MAX;
	struct tq_attempt_info a;

	if (!t->history) {
		if (t->started_ns && t->ended_ns > t->started_ns)
			i->run_ns = t->ended_ns - t->started_ns;
		return;
	}
	if (t->history_count &&
	    tqi_peek_owned(seg, t, t->history, last * sizeof(a), &a, sizeof(a)) == 0 &&
	    a.ended_ns > a.started_ns)
		i->run_ns = a.ended_ns - a.started_ns;
}

static void fill_texts(const struct tqi_segment *seg, const struct tqi_task *t,
		       struct tq_task_info *i)
{
	tqi_peek_label(seg, t, i->label);
	if (t->error && t->error_bytes <= TQ_TEXT_MAX &&
	    tqi_peek_owned(seg, t, t->error, 0, i->error_text, t->error_bytes) < 0)
		i->error_text[0] = '\0';
}

static void fill_limits(const struct tqi_segment *seg, const struct tqi_task *t,
			const uint32_t limits[TQ_LIMITS_MAX], struct tq_task_info *i)
{
	bool waits = t->state == TQ_READY && !(t->flags & TQI_TASK_HELD);

	for (uint32_t n = 0; n < TQ_LIMITS_MAX && limits[n]; n++) {
		struct tqi_limit limit;

		const uint32_t weight = tqi_need_weight(limits[n]);

		if (tqi_peek_record(seg, TQI_LIMITS, tqi_need_limit(limits[n]), &limit) < 0)
			continue;
		i->limit_weights[i->limit_count] = weight;
		memcpy(i->limits[i->limit_count++], limit.name, TQ_KEY_MAX);
		if (waits && tqi_limit_holds_back(&limit, weight, seg->ops->now(seg->ops->ctx)))
			i->flags |= TQ_INFO_THROTTLED;
	}
}

static void fill_fair_key(const struct tqi_segment *seg, uint32_t t, struct tq_task_info *i)
{
	struct tqi_tenant tenant;

	if (t && tqi_peek_record(seg, TQI_TENANTS, t, &tenant) == 0)
		memcpy(i->fair_key, tenant.name, sizeof(i->fair_key) - 1);
}

static uint64_t group_id(const struct tqi_segment *seg, uint32_t index)
{
	struct tqi_group g;

	return index && tqi_peek_record(seg, TQI_GROUPS, index, &g) == 0
		       ? tqi_id_make(index, g.generation)
		       : 0;
}

static void fill_inherited(const struct tqi_segment *seg, const struct tqi_task *t,
			   const struct tqi_extra *extra, struct tq_task_info *i)
{
	const struct tqi_worth has = tqi_worth_in(t, extra);

	if (tqi_state_is_final(t->state) || (!has.hops && !has.deadline_hops))
		return;
	i->effective_priority = i->inherited_priority = has.priority;
	i->inherited_deadline_ns = has.deadline_hops ? has.deadline_ns : 0;
	i->inherited_from = tqi_ask_lender(seg, i->id);
}

static void fill_extra(const struct tqi_segment *seg, const struct tqi_task *t,
		       struct tq_task_info *i)
{
	struct tqi_extra extra;
	struct tqi_key key;

	if (!tqi_peek_extra(seg, t, &extra))
		return;
	i->deadline_ns = none_is_zero(extra.deadline_ns);
	i->at_ns = extra.at_ns;
	fill_limits(seg, t, extra.limits, i);
	i->schedule = extra.schedule;
	i->cause_id = t->cause == TQ_CAUSE_DEPENDENCY ? extra.culprit : 0;
	i->after_count = extra.after_count;
	i->unmet = extra.unmet;
	fill_inherited(seg, t, &extra, i);
	i->group = group_id(seg, extra.group);
	i->completes = group_id(seg, extra.completes);
	fill_fair_key(seg, extra.tenant, i);
	if (!extra.key || tqi_peek_record(seg, TQI_KEYS, extra.key, &key) < 0)
		return;
	i->unique_scope = key.scope;
	memcpy(i->unique_key, key.name, sizeof(i->unique_key) - 1);
}

static void put_report(const struct tqi_progress *report, struct tq_task_info *i)
{
	i->progress_percent = report->percent;
	memcpy(i->progress_text, report->text, sizeof(report->text) - 1);
}

static uint32_t bounded_checkpoint(uint32_t bytes)
{
	return bytes <= TQ_CHECKPOINT_MAX ? bytes : 0;
}

/* Of attempts that have ended; one that is under way (NULL none) has it then. */
static void fill_kept(const struct tqi_segment *seg, const struct tqi_task *t,
		      const struct tqi_attempt *attempt, struct tq_task_info *i)
{
	const struct tqi_kept_place place = tqi_kept_place_of(t, attempt);
	struct tqi_kept kept;

	if (!tqi_peek_kept(seg, t, place, &kept))
		return;
	if (kept.reported)
		put_report(&kept.report, i);
	if (kept.saved)
		i->checkpoint_bytes = bounded_checkpoint(place.bytes - (uint32_t)sizeof(kept));
}

static void fill_attempt(const struct tqi_segment *seg, const struct tqi_task *t,
			 struct tq_task_info *i)
{
	struct tqi_attempt a;

	if (t->state != TQ_RUNNING) {
		fill_kept(seg, t, NULL, i);
		return;
	}
	if (tqi_peek_record(seg, TQI_ATTEMPTS, t->attempt, &a) < 0 || a.id != i->id)
		return;
	fill_kept(seg, t, &a, i);
	uint32_t report = tqi_load_relaxed32(&a.progress_index);

	i->worker = a.worker;
	if (a.phase != TQI_PHASE_NONE)
		i->flags |= TQ_INFO_STOPPING;
	if (a.waits)
		i->flags |= TQ_INFO_WAITING;
	if (report)
		put_report(&a.progress[report & 1], i);
	if (a.checkpoint && tqi_load_relaxed64(&a.saved))
		i->checkpoint_bytes =
			bounded_checkpoint(tqi_saved_bytes(tqi_load_relaxed64(&a.saved)));
}

static bool is_served(const struct tqi_segment *seg, const struct tqi_task *t)
{
	struct tqi_worker w;
	uint32_t count;

	if (tqi_peek_count(seg, TQI_WORKERS, &count) < 0)
		return true;
	for (uint32_t n = 1; n < count; n++)
		if (tqi_peek_record(seg, TQI_WORKERS, n, &w) == 0 && tqi_worker_may_claim(&w) &&
		    tqi_worker_serves_kind(&w, t->kind) && tqi_worker_serves_queue(&w, t->queue))
			return true;
	return false;
}

void tqi_info_around(const struct tqi_segment *seg, const struct tqi_task *t,
		     struct tqi_around *around)
{
	const bool same = t->queue == around->queue && t->kind == around->kind;

	if (same && !around->is_old)
		return;
	if (around->is_old || t->queue != around->queue)
		tqi_peek_queue_name(seg, t->queue, around->queue_name);
	if (around->is_old || t->kind != around->kind)
		tqi_peek_kind_name(seg, t->kind, around->kind_name);
	around->queue = t->queue;
	around->kind = t->kind;
	around->is_old = false;
	around->has_flags = around->has_flags && same;
}

static void find_flags(const struct tqi_segment *seg, const struct tqi_task *t,
		       struct tqi_around *around)
{
	struct tqi_queue queue;

	around->has_flags = true;
	/* Workers are very many, and a view has no room for them (VW-3). */
	around->flags = is_served(seg->overlay ? seg->overlay->of : seg, t) ? 0 : TQ_INFO_UNSERVED;
	around->ready_flags = 0;
	memset(&around->order, 0, sizeof(around->order));
	if (tqi_peek_record(seg, TQI_QUEUES, t->queue, &queue) < 0)
		return;
	around->order = queue;
	if (queue.flags & TQI_QUEUE_PAUSED)
		around->flags |= TQ_INFO_PAUSED;
	if (tqi_ask_lacks_room(seg, t->queue, &queue))
		around->ready_flags = TQ_INFO_THROTTLED;
}

/* PO-1, as the queue's policy is now: what is being taken over into it counts as if it were. */
static void fill_gained(const struct tqi_segment *seg, const struct tqi_task *t,
			const struct tqi_queue *order, struct tq_task_info *i)
{
	const uint32_t rate = order->ageing[tqi_policy_band(order, i->inherited_priority)];
	const uint64_t now_ns = rate ? seg->ops->now(seg->ops->ctx) : 0;

	if (!rate || now_ns <= t->ready_ns)
		return;
	const int64_t gained =
		(tqi_policy_aged(rate, now_ns) - tqi_policy_aged(rate, t->ready_ns)) / TQI_POINT;

	i->effective_priority = gained > (int64_t)INT32_MAX - i->inherited_priority
					? INT32_MAX
					: (int32_t)(i->inherited_priority + gained);
}

static void fill_surroundings(const struct tqi_segment *seg, const struct tqi_task *t,
			      struct tqi_around *around, struct tq_task_info *i)
{
	tqi_info_around(seg, t, around);
	memcpy(i->queue, around->queue_name, sizeof(i->queue));
	memcpy(i->kind, around->kind_name, sizeof(i->kind));
	if (tqi_state_is_final(t->state) || t->state == TQ_RUNNING)
		return;
	if (!around->has_flags)
		find_flags(seg, t, around);
	i->flags |= around->flags;
	if (t->state != TQ_READY || (t->flags & TQI_TASK_HELD))
		return;
	i->flags |= around->ready_flags;
	fill_gained(seg, t, &around->order, i);
}

bool tqi_info_fill(const struct tqi_segment *seg, uint32_t index, const struct tqi_task *task,
		   struct tqi_around *around, struct tq_task_info *ret_info)
{
	memset(ret_info, 0, sizeof(*ret_info));
	fill_numbers(index, task, ret_info);
	ret_info->flags = tqi_info_flags(task);
	fill_run(seg, task, ret_info);
	fill_texts(seg, task, ret_info);
	fill_extra(seg, task, ret_info);
	fill_attempt(seg, task, ret_info);
	tqi_peek_server_of(seg, task, ret_info->server);
	fill_surroundings(seg, task, around, ret_info);
	return tqi_task_unchanged(seg, index, task);
}

struct looked_up {
	uint64_t id;
	int r;
	bool is_one; /* all of it is of one moment of the task */
	struct tq_task_info info;
};

static void look_up(const struct tqi_segment *seg, void *arg)
{
	struct looked_up *up = arg;
	struct tqi_decisions decisions = { .known = false };
	struct tqi_around around = { .queue = 0 };
	struct tqi_task task;

	up->is_one = true;
	up->r = tqi_peek_task(seg, up->id, &task);
	if (up->r < 0)
		return;
	tqi_decide(seg, &decisions, &task);
	up->is_one = tqi_info_fill(seg, tqi_id_index(up->id), &task, &around, &up->info);
}

int tq_task_info(struct tq *tq, uint64_t id, struct tq_task_info *ret_info)
{
	if (!tq)
		return -EINVAL;
	struct looked_up up = { .id = id };
	uint64_t room;
	int r = tqi_snapshot_room(ret_info, &room);

	if (r < 0)
		return r;
	tqi_read(tq, look_up, &up);
	for (int i = 1; i < TRIES && !up.is_one; i++)
		look_up(&tq->seg, &up); /* it is changing fast: the last copy will do */
	if (up.r == 0)
		tqi_snapshot_out(ret_info, room, &up.info, sizeof(up.info));
	return up.r;
}
