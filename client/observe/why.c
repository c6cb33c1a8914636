/* SPDX-License-Identifier: MIT */
/* Why a task is not running: the first of the reasons of TQ_WHY_MAP that holds. */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "client/core/options.h"
#include "client/observe/ask.h"
#include "client/observe/server_info.h"
#include "client/observe/snapshot.h"
#include "client/observe/why_farm.h"
#include "client/observe/why_foreign.h"
#include "scheduler/order/ready.h"
#include "scheduler/task/task.h"

#define TRIES 64
#define WAITS_MAX 100 /* wait slots of an attempt, and edges of a slot, counted: they may change */
#define KEYS_RUN 16   /* key records copied at a time */
#define BLOCKERS_MAX 64 /* dependencies among which a running one is looked for */

/* What a question is about, copied. */
struct question {
	struct tq *tq;
	uint32_t index;
	struct tqi_task task;
	struct tqi_root root;
	struct tqi_queue queue;
};

static uint64_t id_of(const struct question *q)
{
	return tqi_id_make(q->index, q->task.generation);
}

static int last_signal(uint32_t phase)
{
	if (phase == TQI_PHASE_TERM)
		return SIGTERM;
	return phase == TQI_PHASE_KILL ? SIGKILL : 0;
}

/* A task that is waited for. */
static void name_task(uint32_t index, const struct tqi_task *t, struct tq_why *why)
{
	why->holder = tqi_id_make(index, t->generation);
	why->holder_state = t->state < TQ_STATE_COUNT ? t->state : TQ_FREE;
	why->holder_held = t->state < TQ_RUNNING && (t->flags & TQI_TASK_HELD);
}

/* Of one slot those that have not ended. */
static uint32_t count_waits(const struct tqi_segment *seg, const struct tqi_waiter *slot,
			    struct tq_why *why)
{
	uint32_t count = 0;
	struct tqi_edge edge;
	struct tqi_task t;

	for (uint32_t e = slot->edges; e && count < WAITS_MAX; e = edge.next_of_waiter) {
		if (tqi_peek_record(seg, TQI_EDGES, e, &edge) < 0)
			break;
		if (edge.told)
			continue;
		count++;
		if (why->holder || tqi_peek_record(seg, TQI_TASKS, edge.task, &t) < 0)
			continue;
		name_task(edge.task, &t, why);
	}
	return count;
}

/* Likewise of a group, for whose ends it waits. */
static uint32_t count_members(const struct tqi_segment *seg, uint32_t group, struct tq_why *why)
{
	struct tqi_extra extra;
	struct tqi_group g;
	struct tqi_task t;

	if (tqi_peek_record(seg, TQI_GROUPS, group, &g) < 0)
		return 0;
	uint32_t member = g.first;

	if (g.ended_last && tqi_peek_record(seg, TQI_TASKS, g.ended_last, &t) == 0)
		member = tqi_peek_extra(seg, &t, &extra) ? extra.group_next : 0;
	if (!why->holder && member && tqi_peek_record(seg, TQI_TASKS, member, &t) == 0)
		name_task(member, &t, why);
	return g.unfinished;
}

/* What is waited for on the attempt's behalf: lists that may change meanwhile. */
static uint32_t why_waits(const struct tqi_segment *seg, const struct tqi_attempt *a,
			  struct tq_why *why)
{
	uint32_t count = 0, w = a->waits;
	struct tqi_waiter slot;

	for (uint32_t i = 0; w && i < WAITS_MAX; i++) {
		if (tqi_peek_record(seg, TQI_WAITERS, w, &slot) < 0)
			break;
		count += slot.interest == TQI_INTEREST_GROUP ? count_members(seg, slot.subject, why)
							     : count_waits(seg, &slot, why);
		w = slot.attempt_next;
	}
	why->others = count ? count - 1 : 0;
	return a->waits ? TQ_WHY_WAITING : TQ_WHY_RUNNING;
}

static bool is_stopped(uint32_t pid)
{
	uint64_t start;
	char state;

	return pid && tqi_pid_start(pid, &start, &state) == 0 && (state == 'T' || state == 't');
}

/* Whether the crash of its attempt is the task's end (scheduler/task/verdict.c). */
static bool is_last_crash(const struct question *q)
{
	const struct tqi_task *t = &q->task;

	return t->crashes + 1u >= t->crashes_max || (t->flags & (TQI_TASK_ONCE | TQI_TASK_CANCEL));
}

static uint32_t why_running(const struct question *q, struct tq_why *why)
{
	const struct tqi_segment *seg = &q->tq->seg;
	struct tqi_attempt a;
	struct tqi_worker w;

	why->since_ns = q->task.started_ns;
	why->pid = q->task.worker_pid;
	if (tqi_peek_record(seg, TQI_ATTEMPTS, q->task.attempt, &a) < 0 || a.epoch != q->task.epoch)
		return TQ_WHY_RUNNING;
	why->worker = a.worker;
	why->pgid = tqi_load_relaxed32(&a.pgid);
	why->stopped_pid = is_stopped(why->pid) ? why->pid : is_stopped(why->pgid) ? why->pgid : 0;
	if (a.phase != TQI_PHASE_NONE) {
		why->since_ns = a.phase_ns;
		why->stop_cause = a.stop_cause;
		why->signal = (uint32_t)last_signal(a.phase);
		if (why->signal)
			tqi_why_foreign(why->pgid, why->pid, why);
	}
	if (tqi_peek_record(seg, TQI_WORKERS, a.worker, &w) == 0 && tqi_worker_seems_dead(&w)) {
		why->since_ns = w.state == TQI_WORKER_DYING ? w.dying_ns : 0;
		why->is_last = is_last_crash(q);
		return TQ_WHY_DYING;
	}
	return a.phase == TQI_PHASE_NONE ? why_waits(seg, &a, why) : TQ_WHY_STOPPING;
}

/* Counts one that could start it.  True when it is neither busy nor stopped. */
static bool count_worker(const struct tqi_worker *w, uint32_t number, struct tq_why *why)
{
	const bool stopped = is_stopped(w->owner.pid);

	why->workers++;
	why->busy += w->attempt_count != 0;
	why->stopped += stopped;
	if (stopped && (!why->pid || !w->attempt_count)) { /* rather one that could start it now */
		why->worker = number;
		why->pid = w->owner.pid;
	}
	return !w->attempt_count && !stopped;
}

/* Counts who could start it, and what kinds they serve.  Returns how many of them are neither
 * busy nor stopped. */
static uint32_t count_workers(const struct question *q, uint64_t kinds[4], struct tq_why *why)
{
	const struct tqi_segment *seg = &q->tq->seg;
	uint32_t able = 0, count;
	struct tqi_worker w;

	tqi_peek_count(seg, TQI_WORKERS, &count);
	for (uint32_t n = 1; n < count; n++) {
		if (tqi_peek_record(seg, TQI_WORKERS, n, &w) < 0 || !tqi_worker_may_claim(&w) ||
		    !tqi_worker_serves_queue(&w, q->task.queue))
			continue;
		why->queue_workers++;
		if (!tqi_worker_serves_kind(&w, q->task.kind))
			continue;
		for (uint32_t i = 0; i < 4; i++)
			kinds[i] |= w.kinds[i];
		able += count_worker(&w, n, why);
	}
	/* Some of those that are busy are not in the way, unless nobody else is there. */
	if (why->busy + able == why->workers && why->stopped < why->workers)
		why->worker = why->pid = 0;
	return able;
}

/* A task that has a slot, and who runs it. */
static void name_holder(const struct question *q, uint64_t task, uint32_t worker,
			struct tq_why *why)
{
	struct tqi_worker w;

	why->holder = task;
	why->worker = worker;
	if (task && tqi_peek_record(&q->tq->seg, TQI_WORKERS, worker, &w) == 0)
		why->pid = w.owner.pid;
}

/* Who has a slot of a limit is looked for. */
struct search {
	const struct question *q;
	uint32_t limit;
	struct tq_why *why;
};

static bool stop_at_holder(void *ctx, const struct tqi_attempt *a, const struct tqi_task *t)
{
	const struct search *s = ctx;
	struct tqi_extra extra;

	if (!tqi_peek_extra(&s->q->tq->seg, t, &extra))
		return true;
	for (uint32_t i = 0; i < TQ_LIMITS_MAX; i++) {
		if (tqi_need_limit(extra.limits[i]) != s->limit)
			continue;
		name_holder(s->q, a->id, a->worker, s->why);
		return false;
	}
	return true;
}

static void find_holder(const struct question *q, uint32_t limit, struct tq_why *why)
{
	struct search search = { q, limit, why };

	tqi_peek_running(&q->tq->seg, stop_at_holder, &search);
}

/* The first of its limits that has no room for it. */
static bool is_throttled(const struct question *q, struct tq_why *why)
{
	struct tqi_limit limit;
	uint32_t need;

	if (!(q->task.flags & TQI_TASK_EXTRA) || !tqi_ask_full(q->tq, id_of(q), &need, &limit))
		return false;
	memcpy(why->limit, limit.name, TQ_KEY_MAX);
	why->limit_slots = limit.size;
	why->limit_used = limit.used;
	why->limit_weight = tqi_need_weight(need);
	why->limit_needed = limit.needed;
	if (tqi_now(q->tq) < limit.next_ns && limit.used < limit.size)
		why->until_ns = limit.next_ns;
	else
		find_holder(q, tqi_need_limit(need), why);
	return true;
}

static uint32_t why_assigned(const struct question *q, struct tq_why *why)
{
	const struct tqi_segment *seg = &q->tq->seg;
	struct tqi_worker w;
	struct tqi_task t;

	why->worker = (uint32_t)q->task.due_ns;
	if (tqi_peek_record(seg, TQI_WORKERS, why->worker, &w) == 0)
		why->pid = w.owner.pid;
	for (uint32_t i = q->task.prev; i && why->before < TQ_BATCH_MAX; i = t.prev) {
		why->before++;
		if (tqi_peek_record(seg, TQI_TASKS, i, &t) < 0)
			break;
	}
	return TQ_WHY_ASSIGNED;
}

static bool lacks_server(const struct question *q, struct tq_why *why)
{
	struct tqi_holder holder = { .queue = q->task.queue };

	if (!tqi_ask_lacks_room(&q->tq->seg, q->task.queue, &q->queue))
		return false;
	tqi_find_holders(&q->tq->seg, &holder, 1);
	why->servers = q->queue.servers;
	why->since_ns = holder.since_ns;
	name_holder(q, holder.task, holder.worker, why);
	return true;
}

static void count_before(const struct question *q, const uint64_t kinds[4], struct tq_why *why)
{
	struct tqi_ask_before ask = { .id = id_of(q) };

	if (why->workers)
		memcpy(ask.kinds, kinds, sizeof(ask.kinds));
	else
		memset(ask.kinds, 0xff, sizeof(ask.kinds)); /* by whoever comes */
	tqi_ask_before(q->tq, &ask);
	why->before = ask.count;
	why->before_more = !ask.is_all;
	why->is_torn |= ask.is_torn;
}

/* A farm that is there and has no worker now: one comes after a pause. */
static bool is_restarting(const struct question *q, struct tq_why *why)
{
	const struct tqi_segment *seg = &q->tq->seg;
	struct tqi_worker w;
	uint32_t count;

	tqi_peek_count(seg, TQI_WORKERS, &count);
	for (uint32_t n = 1; n < count; n++) {
		if (tqi_peek_record(seg, TQI_WORKERS, n, &w) < 0 || w.state != TQI_WORKER_LIVE ||
		    !(w.flags & TQI_WORKER_MASTER) || (w.flags & TQI_WORKER_STOP) ||
		    tqi_worker_seems_dead(&w) || !tqi_worker_serves_queue(&w, q->task.queue))
			continue;
		why->worker = n;
		why->pid = w.owner.pid;
		return true;
	}
	return false;
}

/* Nothing holds it back but other tasks, and who is there to start it. */
static uint32_t why_ready(const struct question *q, struct tq_why *why)
{
	uint64_t kinds[4] = { 0 };
	uint32_t able = count_workers(q, kinds, why);

	if (q->task.flags & TQI_TASK_ASSIGNED)
		return why_assigned(q, why);
	why->is_fair = q->queue.fair;
	count_before(q, kinds, why);
	if (why->queue_workers == 0)
		return is_restarting(q, why) ? TQ_WHY_RESTARTING : TQ_WHY_NO_WORKER;
	if (why->workers == 0)
		return TQ_WHY_NO_KIND;
	if (lacks_server(q, why))
		return TQ_WHY_SERVERS;
	if (is_throttled(q, why))
		return TQ_WHY_THROTTLED;
	if (able)
		return TQ_WHY_NEXT;
	if (why->pid)
		return TQ_WHY_STOPPED;
	return tqi_why_substitutes(&q->tq->seg, &q->task, why) ? TQ_WHY_SUBSTITUTES : TQ_WHY_BUSY;
}

/* The task whose end this one waits for as the successor of its coalesced key; 0 none. */
static uint32_t find_leader(const struct question *q)
{
	const struct tqi_segment *seg = &q->tq->seg;
	struct tqi_key keys[KEYS_RUN];
	uint32_t count, run;

	tqi_peek_count(seg, TQI_KEYS, &count);
	for (uint32_t k = 1; k < count; k += run) {
		run = tqi_peek_run(seg, TQI_KEYS, k, count - k < KEYS_RUN ? count - k : KEYS_RUN,
				   keys);
		for (uint32_t i = 0; i < run; i++)
			if (keys[i].successor == q->index)
				return keys[i].task;
	}
	return 0;
}

static void name_leader(const struct question *q, struct tq_why *why)
{
	const uint32_t leader = find_leader(q);
	struct tqi_task t;

	if (!leader || tqi_peek_record(&q->tq->seg, TQI_TASKS, leader, &t) < 0)
		return;
	name_task(leader, &t, why);
	why->is_successor = 1;
}

/* Of its dependencies one that it waits for, rather one that runs. */
static void name_dependency(const struct question *q, struct tq_why *why)
{
	struct tq_dependency_info infos[BLOCKERS_MAX];
	int n = tq_task_dependencies(q->tq, tqi_id_make(q->index, q->task.generation), infos,
				     BLOCKERS_MAX);

	for (int i = 0; i < n; i++) {
		if (infos[i].decided || (why->holder && infos[i].state != TQ_RUNNING))
			continue;
		why->holder = infos[i].id;
		why->holder_state = infos[i].state;
		if (infos[i].state == TQ_RUNNING)
			break;
	}
}

/* The group whose completion task it is: its members, and whether more may come. */
static void name_group(const struct question *q, uint32_t index, struct tq_why *why)
{
	struct tqi_group group;

	if (tqi_peek_record(&q->tq->seg, TQI_GROUPS, index, &group) < 0)
		return;
	why->is_open = group.state == TQI_GROUP_OPEN;
	why->others = group.unfinished;
}

static uint32_t why_blocked(const struct question *q, const struct tqi_extra *extra,
			    struct tq_why *why)
{
	struct tqi_task t;

	name_dependency(q, why);
	if (why->holder && extra && extra->unmet)
		why->others = extra->unmet - 1;
	else if (!why->holder && extra && extra->key)
		name_leader(q, why);
	if (!why->holder && extra && extra->completes)
		name_group(q, extra->completes, why);
	if (why->holder && tqi_peek_task(&q->tq->seg, why->holder, &t) == 0) {
		name_task(tqi_id_index(why->holder), &t, why);
		why->pid = t.state == TQ_RUNNING ? t.worker_pid : 0;
	}
	return TQ_WHY_BLOCKED;
}

/* Once its time has come it is as good as ready: whoever looks for work makes it so. */
static bool is_before_its_time(const struct question *q, uint64_t at_ns, struct tq_why *why)
{
	if (at_ns) {
		why->until_wall_ns = at_ns > tqi_wall(q->tq) ? at_ns : 0;
		return why->until_wall_ns;
	}
	why->until_ns = q->task.due_ns > tqi_now(q->tq) ? q->task.due_ns : 0;
	return why->until_ns;
}

/* Its last attempt failed: it was not given back, nor does it live again since. */
static bool backs_off(const struct tqi_task *t)
{
	return (t->failures || t->crashes || t->losses) && t->cause != TQ_CAUSE_RELEASED;
}

static uint32_t why_waiting(const struct question *q, struct tq_why *why)
{
	const struct tqi_task *t = &q->task;
	struct tqi_extra extra;
	bool has_extra = tqi_peek_extra(&q->tq->seg, t, &extra);

	if (t->state == TQ_BLOCKED)
		return why_blocked(q, has_extra ? &extra : NULL, why);
	if (tqi_condemns(&q->root, &q->queue, t))
		return TQ_WHY_CANCELLED;
	if (has_extra && extra.deadline_ns <= tqi_now(q->tq)) {
		why->until_ns = extra.deadline_ns;
		return TQ_WHY_EXPIRED;
	}
	const bool is_early = t->state == TQ_DELAYED &&
			      is_before_its_time(q, has_extra ? extra.at_ns : 0, why);

	if (t->flags & TQI_TASK_HELD)
		return TQ_WHY_HELD;
	if (is_early)
		return backs_off(t) && !why->until_wall_ns ? TQ_WHY_BACKOFF : TQ_WHY_DELAYED;
	uint32_t reason = why_ready(q, why);

	return q->queue.flags & TQI_QUEUE_PAUSED ? TQ_WHY_PAUSED : reason;
}

static void answer(const struct question *q, struct tq_why *why)
{
	memset(why, 0, sizeof(*why));
	if (tqi_state_is_final(q->task.state)) {
		why->reason = TQ_WHY_ENDED;
		why->since_ns = q->task.ended_ns;
	} else if (q->task.state == TQ_RUNNING) {
		why->reason = why_running(q, why);
	} else {
		why->reason = why_waiting(q, why);
	}
}

int tq_task_why(struct tq *tq, uint64_t id, struct tq_why *ret_why)
{
	if (!tq)
		return -EINVAL;
	struct question q = { .tq = tq, .index = tqi_id_index(id) };
	struct tq_why why;
	uint64_t room;
	int r = tqi_snapshot_room(ret_why, &room);

	for (int i = 0; i < TRIES && r == 0; i++) {
		if ((r = tqi_peek_task(&tq->seg, id, &q.task)) < 0 ||
		    (r = tqi_peek_root(&tq->seg, &q.root)) < 0 ||
		    (r = tqi_peek_record(&tq->seg, TQI_QUEUES, q.task.queue, &q.queue)) < 0)
			break;
		answer(&q, &why);
		if (tqi_task_unchanged(&tq->seg, q.index, &q.task))
			break; /* else it is changing fast: the last answer will do */
	}
	if (r == 0)
		tqi_snapshot_out(ret_why, room, &why, sizeof(why));
	return r;
}
