/* SPDX-License-Identifier: MIT */
/* The model: tasks, attempts, workers, sleepers. */
#include "tests/property/model.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#define CONDEMNED_SLICE 8
#define DUE_SLICE 8
#define RETIRE_SLICE 16
#define SWEEP_LOOKS 256
#define SWEEP_CHANGES 8
#define TELL_SLICE 32
#define BURY_SLICE 2
#define BURY_EDGES 8
#define END_SLICE 8
#define POPS_SLICE 16
#define WORKERS_SLICE 64
#define SECOND 1000000000ull

void model_init(struct model *m, uint64_t sequence, uint64_t retention_ns)
{
	memset(m, 0, sizeof(*m));
	m->sequence = sequence;
	m->retention_ns = retention_ns;
	m->task_slots = m->worker_slots = m->waiter_slots = 1;
	for (uint32_t q = 1; q <= MODEL_QUEUES; q++)
		m->queues[q] = (struct model_queue){ .depth_max = NEVER,
						     .timeout_ns = NEVER,
						     .backoff_ns = SECOND,
						     .backoff_cap_ns = 300 * SECOND,
						     .attempts_max = 1 };
}

static bool is_waiting(uint32_t state)
{
	return state == TQ_BLOCKED || state == TQ_DELAYED || state == TQ_READY;
}

static bool is_final(uint32_t state)
{
	return state >= TQ_DONE;
}

static bool in_lane(const struct model_task *t)
{
	return t->state == TQ_READY && !t->held;
}

/* Sequences are compared by their lower 40 bits, which may wrap. */
static bool sequence_before(uint64_t a, uint64_t b)
{
	return (int64_t)((a - b) << 24) < 0;
}

uint32_t model_count(const struct model *m, uint32_t state)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < m->task_slots; i++)
		n += m->tasks[i].state == state;
	return n;
}

uint32_t model_finished(const struct model *m)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < m->task_slots; i++)
		n += m->tasks[i].listed != 0;
	return n;
}

uint32_t model_pins(const struct model *m, uint32_t task)
{
	uint32_t n = 0;

	for (uint32_t e = 0; e < m->edge_slots; e++)
		n += m->edges[e].waiter && m->edges[e].task == task;
	return n;
}

/* Sleepers. */

static bool serves(const struct model_worker *w, uint32_t queue, uint32_t kind)
{
	if (!(w->kinds >> kind & 1))
		return false;
	for (uint32_t i = 0; i < w->queue_count; i++)
		if (w->queues[i] == queue)
			return true;
	return false;
}

static bool is_before(const struct model_task *a, const struct model_task *b)
{
	return a->key != b->key ? a->key < b->key : sequence_before(a->sequence, b->sequence);
}

uint32_t model_best(const struct model *m, const struct model_worker *w)
{
	for (uint32_t i = 0; i < w->queue_count; i++) {
		uint32_t best = 0;

		if (m->queues[w->queues[i]].flags & TQ_QUEUE_PAUSED)
			continue;
		for (uint32_t t = 1; t < m->task_slots; t++) {
			const struct model_task *task = &m->tasks[t];

			if (in_lane(task) && task->queue == w->queues[i] &&
			    (w->kinds >> task->kind & 1) &&
			    (!best || is_before(task, &m->tasks[best])))
				best = t;
		}
		if (best)
			return best;
	}
	return 0;
}

/* The worker behind a listed, live sleeper for work. */
static const struct model_worker *sleeping_worker(const struct model *m, uint32_t waiter)
{
	const struct model_waiter *s = &m->waiters[waiter];
	const struct model_worker *w = &m->workers[s->subject];

	return s->state == TQI_WAITER_LISTED && s->interest == TQI_INTEREST_WORK && !s->dead &&
			       w->state == TQI_WORKER_LIVE ?
		       w :
		       NULL;
}

/* Next sleeper after `order` in the chain, newest first (or oldest first); 0 none. */
static uint32_t chain_next(const struct model *m, uint32_t state, uint64_t order, bool newest_first)
{
	uint32_t next = 0;

	for (uint32_t s = 1; s < m->waiter_slots; s++) {
		const struct model_waiter *w = &m->waiters[s];

		if (w->state != state || (newest_first ? w->order >= order : w->order <= order))
			continue;
		if (!next || (newest_first ? w->order > m->waiters[next].order :
					     w->order < m->waiters[next].order))
			next = s;
	}
	return next;
}

static uint32_t newer_to_older(const struct model *m, uint32_t waiter)
{
	return chain_next(m, TQI_WAITER_LISTED, waiter ? m->waiters[waiter].order : NEVER, true);
}

static void pop(struct model *m, uint32_t waiter)
{
	m->waiters[waiter].state = TQI_WAITER_TRANSIT;
	m->waiters[waiter].order = ++m->order;
}

static void wake_for(struct model *m, uint32_t queue, uint32_t kind)
{
	if (m->queues[queue].flags & TQ_QUEUE_PAUSED)
		return;
	for (uint32_t s = newer_to_older(m, 0); s; s = newer_to_older(m, s)) {
		const struct model_worker *w = sleeping_worker(m, s);

		if (w && serves(w, queue, kind)) {
			pop(m, s);
			return;
		}
	}
}

bool model_wake_any(struct model *m)
{
	for (uint32_t s = newer_to_older(m, 0); s; s = newer_to_older(m, s)) {
		const struct model_worker *w = sleeping_worker(m, s);

		if (w && model_best(m, w)) {
			pop(m, s);
			return true;
		}
	}
	return false;
}

bool model_is_stranded(const struct model *m)
{
	for (uint32_t s = 1; s < m->waiter_slots; s++)
		if (m->waiters[s].state == TQI_WAITER_TRANSIT &&
		    m->waiters[s].interest == TQI_INTEREST_WORK)
			return false;
	for (uint32_t s = 1; s < m->waiter_slots; s++) {
		const struct model_worker *w = sleeping_worker(m, s);

		if (w && model_best(m, w))
			return true;
	}
	return false;
}

static bool is_idle(const struct model *m, const struct model_worker *w)
{
	for (uint32_t i = 1; i < m->task_slots; i++) {
		const struct model_task *t = &m->tasks[i];
		bool paused = m->queues[t->queue].flags & TQ_QUEUE_PAUSED;

		if (t->state == TQ_FREE || !serves(w, t->queue, t->kind))
			continue;
		if (t->state == TQ_RUNNING || (!paused && (in_lane(t) || t->state == TQ_DELAYED)))
			return false;
	}
	return true;
}

static void wake_room(struct model *m)
{
	for (uint32_t s = chain_next(m, TQI_WAITER_LISTED, 0, false); s;
	     s = chain_next(m, TQI_WAITER_LISTED, m->waiters[s].order, false)) {
		if (m->waiters[s].interest == TQI_INTEREST_ROOM && !m->waiters[s].dead) {
			pop(m, s);
			return;
		}
	}
}

static void wake_empty(struct model *m)
{
	bool shutdown = m->flags & TQI_ROOT_SHUTDOWN;
	uint32_t budget = POPS_SLICE;
	uint64_t order = NEVER;
	uint32_t s;

	while (budget && (s = chain_next(m, TQI_WAITER_LISTED, order, true))) {
		const struct model_worker *w = sleeping_worker(m, s);

		order = m->waiters[s].order;
		if (w && (shutdown || (w->flags & TQI_WORKER_EMPTY)) && is_idle(m, w)) {
			pop(m, s);
			budget--;
		}
	}
}

/* Lives of tasks. */

bool model_is_condemned(const struct model *m, const struct model_task *t)
{
	return t->wait_sequence < m->queues[t->queue].purge_before ||
	       t->wait_sequence < m->cancel_before;
}

static void move(struct model *m, uint32_t task, uint32_t to)
{
	struct model_task *t = &m->tasks[task];
	struct model_class *c = &m->classes[t->queue][t->kind];
	struct model_queue *q = &m->queues[t->queue];

	if (is_waiting(to) && !is_waiting(t->state)) {
		t->wait_sequence = m->sequence;
		q->waiting++;
	} else if (is_waiting(t->state) && !is_waiting(to)) {
		q->waiting -= t->wait_sequence >= q->purge_before;
		if (q->depth_max != NEVER)
			wake_room(m);
	}
	if (t->state != TQ_FREE)
		c->depth[t->state]--;
	if (to != TQ_FREE)
		c->depth[to]++;
	t->state = to;
}

static void become_ready(struct model *m, uint32_t task, bool keep_place)
{
	struct model_task *t = &m->tasks[task];

	move(m, task, TQ_READY);
	t->look_ns = NEVER;
	if (!keep_place || t->ready_ns == 0) {
		t->ready_ns = m->now_ns;
		t->key = -(int64_t)t->priority;
	}
	if (!t->held)
		wake_for(m, t->queue, t->kind);
}

static uint64_t later(const struct model *m, uint64_t delay_ns)
{
	uint64_t due = m->now_ns + delay_ns;

	return due < delay_ns || due > INT64_MAX ? INT64_MAX : due;
}

static void become_delayed(struct model *m, uint32_t task, uint64_t delay_ns)
{
	struct model_task *t = &m->tasks[task];

	move(m, task, TQ_DELAYED);
	t->due_ns = t->look_ns = later(m, delay_ns);
}

static void free_task(struct model *m, uint32_t task)
{
	struct model_task *t = &m->tasks[task];
	uint64_t generation = t->generation + 1;

	move(m, task, TQ_FREE);
	*t = (struct model_task){ .generation = generation, .look_ns = NEVER };
	wake_room(m);
}

static void settle(struct model *m, uint32_t task)
{
	struct model_task *t = &m->tasks[task];

	if (t->telling || model_pins(m, task))
		return;
	if (t->forget)
		free_task(m, task);
	else if (!t->keep && !t->listed)
		t->listed = ++m->order;
}

/* Newest first; true when some are left. */
static bool tell_some(struct model *m, uint32_t task)
{
	for (uint32_t i = 0; i <= TELL_SLICE; i++) {
		struct model_edge *newest = NULL;

		for (uint32_t e = 0; e < m->edge_slots; e++)
			if (m->edges[e].waiter && m->edges[e].task == task && !m->edges[e].told &&
			    (!newest || m->edges[e].order > newest->order))
				newest = &m->edges[e];
		if (!newest)
			return false;
		if (i < TELL_SLICE)
			newest->told = true;
	}
	return true;
}

static void finish(struct model *m, uint32_t task, uint32_t state, uint32_t cause, int32_t arg)
{
	struct model_task *t = &m->tasks[task];

	t->look_ns = NEVER;
	move(m, task, state);
	t->cause = cause;
	t->cause_arg = arg;
	t->ended_ns = m->now_ns;
	m->classes[t->queue][t->kind].ended[state - TQ_DONE]++;
	t->has_checkpoint = false;
	if (tell_some(m, task)) {
		t->telling = true;
		m->telling[m->telling_count++] = task;
	}
	wake_empty(m);
	wake_room(m);
	settle(m, task);
}

static void cancel_waiting(struct model *m, uint32_t task)
{
	finish(m, task, TQ_CANCELLED, TQ_CAUSE_CANCELLED, 0);
}

int model_admit(const struct model *m, uint32_t queue)
{
	const struct model_queue *q = &m->queues[queue];

	if (m->flags & TQI_ROOT_SHUTDOWN)
		return TQ_ESHUTDOWN;
	if (q->flags & TQ_QUEUE_DRAINING)
		return TQ_EDRAINING;
	return q->waiting >= q->depth_max ? TQ_EFULL : 0;
}

static uint64_t or_default(uint64_t value, uint64_t fallback)
{
	return value ? value : fallback;
}

void model_submit(struct model *m, const struct model_submit *s, uint32_t slot)
{
	struct model_task *t = &m->tasks[slot];
	const struct model_queue *q = &m->queues[s->queue];
	const struct tq_task_spec *spec = &s->spec;

	if (slot >= m->task_slots)
		m->task_slots = slot + 1;
	*t = (struct model_task){
		.generation = t->generation ? t->generation : 1,
		.sequence = m->sequence,
		.held = spec->flags & TQ_TASK_HOLD,
		.forget = spec->flags & TQ_TASK_FORGET,
		.keep = spec->flags & TQ_TASK_KEEP,
		.once = spec->flags & TQ_TASK_AT_MOST_ONCE,
		.priority = spec->priority,
		.queue = s->queue,
		.kind = s->kind,
		.attempts_max = (uint32_t)or_default(spec->attempts_max, q->attempts_max),
		.crashes_max = (uint32_t)or_default(spec->crashes_max, 3),
		.losses_max = (uint32_t)or_default(spec->losses_max, 3),
		.submitted_ns = m->now_ns,
		.look_ns = NEVER,
		.timeout_ns = or_default(spec->timeout_ns, q->timeout_ns),
		.timeout_total_ns = or_default(spec->timeout_total_ns, NEVER),
		.progress_timeout_ns = or_default(spec->progress_timeout_ns, NEVER),
		.backoff_ns = or_default(spec->backoff_ns, q->backoff_ns),
		.backoff_cap_ns = or_default(spec->backoff_cap_ns, q->backoff_cap_ns),
		.payload = s->payload,
		.label = s->label,
	};
	m->classes[t->queue][t->kind].submitted++;
	if (spec->delay_ns)
		become_delayed(m, slot, spec->delay_ns);
	else
		become_ready(m, slot, false);
	m->sequence++;
}

/* Attempts. */

static uint64_t add(uint64_t a, uint64_t b)
{
	return a + b < a ? NEVER : a + b;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t stall_at(const struct model_task *t)
{
	const struct model_attempt *a = &t->attempt;

	return add(a->progress_ns > a->started_ns ? a->progress_ns : a->started_ns,
		   t->progress_timeout_ns);
}

uint64_t model_timeout_at(const struct model_task *t)
{
	return least(add(t->started_ns, t->timeout_ns),
		     add(t->first_started_ns, t->timeout_total_ns));
}

uint64_t model_due_of_attempt(const struct model_task *t)
{
	return t->progress_timeout_ns == NEVER ? model_timeout_at(t) :
						 least(model_timeout_at(t), stall_at(t));
}

/* NEVER, too, for times that no heap can hold. */
static uint64_t look_at(const struct model_task *t)
{
	uint64_t when = model_due_of_attempt(t);

	return when > INT64_MAX ? NEVER : when;
}

static void start(struct model *m, uint32_t worker, uint32_t record, uint32_t task)
{
	struct model_task *t = &m->tasks[task];

	move(m, task, TQ_RUNNING);
	t->epoch++;
	t->attempts++;
	t->started_ns = m->now_ns;
	if (!t->first_started_ns)
		t->first_started_ns = m->now_ns;
	t->attempt = (struct model_attempt){ .record = record,
					     .worker = worker,
					     .order = ++m->order,
					     .started_ns = m->now_ns,
					     .inherits = t->has_checkpoint,
					     .inherited = t->checkpoint };
	t->has_checkpoint = false;
	t->look_ns = look_at(t);
	m->workers[worker].tasks++;
	m->classes[t->queue][t->kind].started++;
}

uint32_t model_attempt_count(const struct model *m, uint32_t worker)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < m->task_slots; i++)
		n += m->tasks[i].state == TQ_RUNNING && m->tasks[i].attempt.worker == worker;
	return n;
}

int model_claim(struct model *m, uint32_t worker, uint32_t record, uint32_t *ret_task)
{
	if (model_attempt_count(m, worker) >= TQ_CLAIMS_MAX)
		return TQ_EFULL;
	for (uint32_t i = 0; i < CONDEMNED_SLICE; i++) {
		uint32_t task = model_best(m, &m->workers[worker]);

		if (!task)
			return -EAGAIN;
		if (!model_is_condemned(m, &m->tasks[task])) {
			start(m, worker, record, task);
			*ret_task = task;
			return 0;
		}
		cancel_waiting(m, task);
	}
	return -EINPROGRESS;
}

static void stop_ask(struct model *m, uint32_t task, uint32_t cause)
{
	struct model_attempt *a = &m->tasks[task].attempt;

	if (a->phase != TQI_PHASE_NONE)
		return;
	a->phase = TQI_PHASE_ASKED;
	a->phase_ns = m->now_ns;
	a->stop_cause = cause;
}

int model_stop_step(struct model *m, uint32_t task)
{
	struct model_attempt *a = &m->tasks[task].attempt;

	if (a->phase == TQI_PHASE_ASKED) {
		a->phase = TQI_PHASE_TERM;
		a->phase_ns = m->now_ns;
		return SIGTERM;
	}
	if (a->phase == TQI_PHASE_TERM &&
	    a->phase_ns + m->workers[a->worker].grace_ns <= m->now_ns) {
		a->phase = TQI_PHASE_KILL;
		a->phase_ns = m->now_ns;
		return SIGKILL;
	}
	return 0;
}

/* An attempt that is over, for history and budgets. */
struct ended {
	uint32_t task;
	uint32_t worker;
	uint64_t started_ns;
	uint32_t cause;
	int32_t cause_arg;
};

static struct ended detach(struct model *m, uint32_t task, uint32_t cause, int32_t arg)
{
	struct model_task *t = &m->tasks[task];
	const struct model_attempt *a = &t->attempt;
	struct ended ended = { task, a->worker, a->started_ns, cause, arg };

	t->has_checkpoint = a->saves || a->inherits;
	t->checkpoint = a->saves ? a->saved : a->inherited;
	t->has_older = a->saves && a->inherits;
	t->older = a->inherited;
	t->attempt = (struct model_attempt){ 0 };
	t->cause = cause;
	t->cause_arg = arg;
	t->look_ns = NEVER;
	return ended;
}

static void remember(struct model *m, const struct ended *e)
{
	struct model_task *t = &m->tasks[e->task];

	if (t->history_count == TQ_HISTORY_MAX) {
		memmove(t->history, t->history + 1, sizeof(t->history) - sizeof(t->history[0]));
		t->history_count--;
	}
	t->history[t->history_count++] = (struct model_attempt_info){
		e->started_ns, m->now_ns, t->attempts, e->worker, e->cause, e->cause_arg
	};
}

static void go_again(struct model *m, const struct ended *e, uint64_t delay_ns, bool keep_place)
{
	struct model_task *t = &m->tasks[e->task];

	remember(m, e);
	m->classes[t->queue][t->kind].retried += e->cause != TQ_CAUSE_RELEASED;
	t->stalled = false;
	if (delay_ns)
		become_delayed(m, e->task, delay_ns);
	else
		become_ready(m, e->task, keep_place);
}

static void end_for_good(struct model *m, const struct ended *e, uint32_t state)
{
	const struct model_task *t = &m->tasks[e->task];

	if (t->history_count || t->attempts > 1)
		remember(m, e);
	finish(m, e->task, state, e->cause, e->cause_arg);
}

static void end_failed(struct model *m, struct ended *e, bool over, uint64_t delay_ns)
{
	const struct model_task *t = &m->tasks[e->task];
	bool late = t->timeout_total_ns != NEVER &&
		    m->now_ns - t->first_started_ns >= t->timeout_total_ns;

	if (t->cancel) {
		e->cause = TQ_CAUSE_CANCELLED;
		e->cause_arg = 0;
		end_for_good(m, e, TQ_CANCELLED);
	} else if (over || t->once || late) {
		end_for_good(m, e, TQ_FAILED);
	} else {
		go_again(m, e, delay_ns, false);
	}
}

/* The least back-off; the core adds up to as much again. */
static uint64_t backoff(const struct model_task *t)
{
	uint64_t d = t->backoff_ns;

	for (uint32_t i = 1; i < t->failures && d < t->backoff_cap_ns; i++)
		d *= 2;
	return least(d, t->backoff_cap_ns);
}

static void end_by_failure(struct model *m, struct ended *e, bool fatal)
{
	struct model_task *t = &m->tasks[e->task];

	t->failures++;
	end_failed(m, e, fatal || t->failures >= t->attempts_max, backoff(t));
	if (t->state == TQ_DELAYED) {
		t->jitter_ns = backoff(t);
		m->jittered++;
	}
}

static void end_released(struct model *m, struct ended *e, uint64_t delay_ns)
{
	const struct model_task *t = &m->tasks[e->task];

	if (t->cancel || t->once)
		end_failed(m, e, true, 0);
	else
		go_again(m, e, delay_ns, true);
}

static void end_stopped(struct model *m, struct ended *e)
{
	struct model_task *t = &m->tasks[e->task];

	if (e->cause == TQ_CAUSE_LEASE_LOST) {
		t->losses++;
		m->classes[t->queue][t->kind].reclaimed++;
		end_failed(m, e, t->losses >= t->losses_max, 0);
	} else if (e->cause == TQ_CAUSE_TIMEOUT) {
		end_by_failure(m, e, false);
	} else {
		end_failed(m, e, true, 0);
	}
}

void model_end(struct model *m, uint32_t task, const struct model_verdict *v)
{
	struct model_task *t = &m->tasks[task];
	bool gives_in = v->kind == TQ_VERDICT_FAIL || v->kind == TQ_VERDICT_RELEASE;
	uint32_t stop = gives_in ? t->attempt.stop_cause : TQ_CAUSE_NONE;
	struct ended e = detach(m, task, stop ? stop : v->cause, stop ? 0 : v->cause_arg);

	t->result = v->result;
	t->output_bytes = v->output_bytes;
	t->cut = v->output_bytes > v->result.bytes;
	t->error = v->text;
	t->max_rss_bytes = or_default(v->max_rss_bytes, t->max_rss_bytes);
	t->cpu_ns = or_default(v->cpu_ns, t->cpu_ns);
	if (v->kind == TQ_VERDICT_DONE)
		end_for_good(m, &e, TQ_DONE);
	else if (stop)
		end_stopped(m, &e);
	else if (v->kind == TQ_VERDICT_RELEASE)
		end_released(m, &e, v->delay_ns);
	else
		end_by_failure(m, &e, v->kind == TQ_VERDICT_FATAL);
}

static void keep_output(struct model *m, struct model_task *t)
{
	const struct model_worker *w = &m->workers[t->attempt.worker];
	uint64_t head = w->output_head;

	if (!w->output_room || w->output_epoch != t->epoch || !head)
		return;
	uint32_t bytes = head < w->output_room ? (uint32_t)head : w->output_room;

	t->result = (struct pattern){ w->output_seed, (uint32_t)(head - bytes), bytes };
	t->output_bytes = head;
	t->cut = head > bytes;
}

static void end_by_death(struct model *m, uint32_t task, const struct tqi_death *death)
{
	struct model_task *t = &m->tasks[task];
	uint32_t stop = t->attempt.stop_cause;

	keep_output(m, t);
	struct ended e = detach(m, task, stop ? stop : death->cause, stop ? 0 : death->cause_arg);

	m->reclaimed++;
	t->max_rss_bytes = or_default(death->max_rss_bytes, t->max_rss_bytes);
	t->cpu_ns = or_default(death->cpu_ns, t->cpu_ns);
	if (stop) {
		end_stopped(m, &e);
	} else if (death->cause == TQ_CAUSE_RELEASED) {
		end_released(m, &e, 0);
	} else {
		t->crashes++;
		m->classes[t->queue][t->kind].crashed++;
		end_failed(m, &e, t->crashes >= t->crashes_max, 0);
	}
}

/* Steering. */

int model_cancel(struct model *m, uint32_t task)
{
	struct model_task *t = &m->tasks[task];

	if (is_final(t->state))
		return TQ_ESTATE;
	if (t->state == TQ_RUNNING) {
		t->cancel = true;
		stop_ask(m, task, TQ_CAUSE_CANCELLED);
		return 1;
	}
	cancel_waiting(m, task);
	return 0;
}

int model_hold(struct model *m, uint32_t task, bool hold)
{
	struct model_task *t = &m->tasks[task];

	if (is_final(t->state))
		return TQ_ESTATE;
	if (t->held == hold)
		return 0;
	t->held = hold;
	if (!hold && t->state == TQ_READY)
		become_ready(m, task, false);
	if (hold)
		wake_empty(m);
	return 0;
}

int model_retry(struct model *m, uint32_t task)
{
	struct model_task *t = &m->tasks[task];
	const struct model_queue *q = &m->queues[t->queue];

	if (!is_final(t->state) || t->state == TQ_DONE)
		return TQ_ESTATE;
	if (m->flags & TQI_ROOT_SHUTDOWN)
		return TQ_ESHUTDOWN;
	if (q->waiting >= q->depth_max)
		return TQ_EFULL;
	if (t->telling)
		return TQ_ESTATE;
	t->listed = 0;
	t->failures = t->crashes = t->losses = 0;
	t->first_started_ns = t->ended_ns = 0;
	t->cancel = t->stalled = false;
	become_ready(m, task, false);
	m->sequence++;
	return 0;
}

int model_forget(struct model *m, uint32_t task)
{
	struct model_task *t = &m->tasks[task];

	if (!is_final(t->state))
		return TQ_ESTATE;
	t->listed = 0;
	t->forget = true;
	t->keep = false;
	settle(m, task);
	return 0;
}

static int move_queue(struct model *m, struct model_task *t, uint32_t to)
{
	struct model_queue *q = &m->queues[to], *from = &m->queues[t->queue];

	if (to == t->queue)
		return 0;
	if (q->flags & TQ_QUEUE_DRAINING)
		return TQ_EDRAINING;
	if (q->waiting >= q->depth_max)
		return TQ_EFULL;
	from->waiting--;
	q->waiting++;
	m->classes[t->queue][t->kind].depth[t->state]--;
	m->classes[to][t->kind].depth[t->state]++;
	t->queue = to;
	t->wait_sequence = m->sequence;
	return 0;
}

int model_update(struct model *m, uint32_t task, const struct model_update *u)
{
	struct model_task *t = &m->tasks[task];
	int r = 0;

	if (!is_waiting(t->state) || model_is_condemned(m, t))
		return TQ_ESTATE;
	if (u->fields & TQ_UPDATE_QUEUE)
		r = move_queue(m, t, u->queue);
	if (r < 0)
		return r;
	if (u->fields & TQ_UPDATE_PRIORITY)
		t->priority = u->priority;
	if (u->fields & TQ_UPDATE_DELAY)
		become_delayed(m, task, u->delay_ns);
	if (t->state == TQ_READY)
		become_ready(m, task, !(u->fields & TQ_UPDATE_PRIORITY));
	return 0;
}

void model_queue_flag(struct model *m, uint32_t queue, uint32_t flag, bool on)
{
	struct model_queue *q = &m->queues[queue];

	q->flags = on ? q->flags | flag : q->flags & ~flag;
	if (flag != TQ_QUEUE_PAUSED)
		return;
	if (!on)
		model_wake_any(m);
	wake_empty(m);
}

uint32_t model_purge(struct model *m, uint32_t queue)
{
	struct model_queue *q = &m->queues[queue];
	uint32_t waiting = q->waiting;

	q->purge_before = ++m->sequence;
	q->waiting = 0;
	m->sweep_left = m->task_slots;
	return waiting;
}

void model_shutdown(struct model *m, uint32_t flags)
{
	if (flags & TQ_SHUTDOWN_UNDO) {
		m->flags = 0;
		return;
	}
	m->flags |= TQI_ROOT_SHUTDOWN;
	if (flags & TQ_SHUTDOWN_CANCEL) {
		m->cancel_before = ++m->sequence;
		m->sweep_left = m->task_slots;
	}
	wake_empty(m);
}

static uint32_t oldest_finished(const struct model *m)
{
	uint32_t oldest = 0;

	for (uint32_t i = 1; i < m->task_slots; i++)
		if (m->tasks[i].listed && (!oldest || m->tasks[i].listed < m->tasks[oldest].listed))
			oldest = i;
	return oldest;
}

uint32_t model_evict(struct model *m, uint32_t count)
{
	uint32_t n = 0, task;

	while (n < count && (task = oldest_finished(m))) {
		free_task(m, task);
		n++;
	}
	m->evicted += n;
	return n;
}

static void retire(struct model *m)
{
	uint32_t task;

	for (uint32_t n = 0; n < RETIRE_SLICE && (task = oldest_finished(m)); n++) {
		if (m->now_ns - m->tasks[task].ended_ns < m->retention_ns)
			return;
		free_task(m, task);
	}
}

/* Workers. */

/* Newest first, a slice; true when none is left. */
static bool end_attempts(struct model *m, uint32_t worker, const struct tqi_death *death)
{
	for (uint32_t i = 0; i <= END_SLICE; i++) {
		uint32_t newest = 0;

		for (uint32_t t = 1; t < m->task_slots; t++)
			if (m->tasks[t].state == TQ_RUNNING && m->tasks[t].attempt.worker == worker &&
			    (!newest ||
			     m->tasks[t].attempt.order > m->tasks[newest].attempt.order))
				newest = t;
		if (!newest)
			return true;
		if (i < END_SLICE)
			end_by_death(m, newest, death);
	}
	return false;
}

static void take_apart(struct model *m, uint32_t worker)
{
	struct model_worker *w = &m->workers[worker];

	*w = (struct model_worker){ .generation = w->generation };
	wake_empty(m);
}

bool model_unregister(struct model *m, uint32_t worker)
{
	const struct tqi_death released = { .cause = TQ_CAUSE_RELEASED };

	return model_worker_dead(m, worker, &released);
}

bool model_worker_dead(struct model *m, uint32_t worker, const struct tqi_death *death)
{
	if (!end_attempts(m, worker, death))
		return false;
	take_apart(m, worker);
	return true;
}

static bool master_is_alive(const struct model *m, const struct model_worker *w)
{
	const struct model_worker *master = &m->workers[w->master];

	return w->master && master->state == TQI_WORKER_LIVE &&
	       master->generation == w->master_generation && !master->dead;
}

bool model_worker_gone(struct model *m, uint32_t worker, bool groups_empty)
{
	const struct tqi_death death = { .cause = TQ_CAUSE_WORKER_DIED };
	struct model_worker *w = &m->workers[worker];

	if (w->state == TQI_WORKER_LIVE) {
		w->state = TQI_WORKER_DYING;
		w->dying_ns = m->now_ns;
	}
	if (master_is_alive(m, w) && m->now_ns - w->dying_ns < SECOND)
		return false;
	return groups_empty && model_worker_dead(m, worker, &death);
}

static void judge(struct model *m, uint32_t worker)
{
	struct model_worker *w = &m->workers[worker];

	if (!w->lease_ns || !model_attempt_count(m, worker) || w->lease_deadline_ns >= m->now_ns) {
		w->flags &= ~TQI_WORKER_SUSPECT;
		return;
	}
	if (!(w->flags & TQI_WORKER_SUSPECT)) {
		w->flags |= TQI_WORKER_SUSPECT;
		w->suspect_ns = m->now_ns;
		return;
	}
	uint64_t since = w->suspect_ns > m->unbroken_ns ? w->suspect_ns : m->unbroken_ns;

	if (m->now_ns - since < w->lease_ns / 3)
		return;
	for (uint32_t t = 1; t < m->task_slots; t++)
		if (m->tasks[t].state == TQ_RUNNING && m->tasks[t].attempt.worker == worker)
			stop_ask(m, t, TQ_CAUSE_LEASE_LOST);
}

/* Sleepers' own calls. */

void model_enter(struct model *m, uint32_t waiter, uint32_t interest, uint32_t subject)
{
	if (waiter >= m->waiter_slots)
		m->waiter_slots = waiter + 1;
	m->waiters[waiter] = (struct model_waiter){ .state = TQI_WAITER_LISTED,
						    .interest = interest,
						    .subject = subject,
						    .order = ++m->order };
}

void model_edge(struct model *m, uint32_t waiter, uint32_t task)
{
	uint32_t e = 0;

	while (m->edges[e].waiter)
		e++;
	if (e >= m->edge_slots)
		m->edge_slots = e + 1;
	m->edges[e] = (struct model_edge){ waiter, task, is_final(m->tasks[task].state), ++m->order };
	m->tasks[task].listed = 0;
}

bool model_edges_drop(struct model *m, uint32_t waiter, uint32_t count)
{
	for (uint32_t i = 0;; i++) {
		struct model_edge *newest = NULL;

		for (uint32_t e = 0; e < m->edge_slots; e++)
			if (m->edges[e].waiter == waiter &&
			    (!newest || m->edges[e].order > newest->order))
				newest = &m->edges[e];
		if (!newest)
			return true;
		if (i == count)
			return false;
		newest->waiter = 0;
		if (is_final(m->tasks[newest->task].state))
			settle(m, newest->task);
	}
}

void model_relink(struct model *m, uint32_t waiter)
{
	if (m->waiters[waiter].state != TQI_WAITER_TRANSIT)
		return;
	m->waiters[waiter].state = TQI_WAITER_LISTED;
	m->waiters[waiter].order = ++m->order;
}

void model_leave(struct model *m, uint32_t waiter)
{
	m->waiters[waiter] = (struct model_waiter){ 0 };
}

/* Oldest of the chain first, then those in transit, newest first. */
static uint32_t find_dead(const struct model *m)
{
	uint32_t s;

	for (s = chain_next(m, TQI_WAITER_LISTED, 0, false); s;
	     s = chain_next(m, TQI_WAITER_LISTED, m->waiters[s].order, false))
		if (m->waiters[s].dead)
			return s;
	for (s = chain_next(m, TQI_WAITER_TRANSIT, NEVER, true); s;
	     s = chain_next(m, TQI_WAITER_TRANSIT, m->waiters[s].order, true))
		if (m->waiters[s].dead)
			return s;
	return 0;
}

static bool bury(struct model *m)
{
	for (uint32_t i = 0; i < BURY_SLICE; i++) {
		uint32_t s = find_dead(m);

		if (!s)
			return false;
		if (!model_edges_drop(m, s, BURY_EDGES))
			return true;
		model_leave(m, s);
	}
	return true;
}

/* Holds. */

static void run_attempt(struct model *m, uint32_t task)
{
	struct model_task *t = &m->tasks[task];
	bool stalled = t->progress_timeout_ns != NEVER && stall_at(t) <= m->now_ns;

	if (stalled)
		t->stalled = true;
	if (!stalled && model_timeout_at(t) > m->now_ns) {
		t->look_ns = look_at(t);
		return;
	}
	t->look_ns = NEVER;
	stop_ask(m, task, TQ_CAUSE_TIMEOUT);
}

static uint32_t next_due(const struct model *m)
{
	uint32_t first = 0;

	for (uint32_t i = 1; i < m->task_slots; i++) {
		const struct model_task *t = &m->tasks[i], *f = &m->tasks[first];

		if (t->state == TQ_FREE || t->look_ns > m->now_ns)
			continue;
		if (!first || t->look_ns < f->look_ns ||
		    (t->look_ns == f->look_ns && sequence_before(t->sequence, f->sequence)))
			first = i;
	}
	return first;
}

bool model_due_run(struct model *m, uint32_t count)
{
	uint32_t task;

	while ((task = next_due(m))) {
		if (count-- == 0)
			return true;
		if (m->tasks[task].state == TQ_RUNNING)
			run_attempt(m, task);
		else if (model_is_condemned(m, &m->tasks[task]))
			cancel_waiting(m, task);
		else
			become_ready(m, task, false);
	}
	return false;
}

static bool sweep_one(struct model *m, uint32_t task)
{
	struct model_task *t = &m->tasks[task];

	if (t->state == TQ_RUNNING) {
		if (t->wait_sequence >= m->cancel_before || t->cancel)
			return false;
		t->cancel = true;
		stop_ask(m, task, TQ_CAUSE_CANCELLED);
		return true;
	}
	if (!is_waiting(t->state) || !model_is_condemned(m, t))
		return false;
	cancel_waiting(m, task);
	return true;
}

static void tell_slice(struct model *m)
{
	uint32_t task = m->telling[m->telling_count - 1];

	if (tell_some(m, task))
		return;
	m->telling_count--;
	m->tasks[task].telling = false;
	settle(m, task);
}

static bool sweep_pending(const struct model *m)
{
	return m->sweep_left || m->telling_count;
}

bool model_sweep_slice(struct model *m)
{
	uint32_t changes = 0;

	if (m->telling_count)
		tell_slice(m);
	for (uint32_t i = 0; m->sweep_left && i < SWEEP_LOOKS && changes < SWEEP_CHANGES; i++) {
		m->sweep_at = m->sweep_at + 1 < m->task_slots ? m->sweep_at + 1 : 1;
		m->sweep_left--;
		if (m->sweep_at < m->task_slots)
			changes += sweep_one(m, m->sweep_at);
	}
	return sweep_pending(m);
}

void model_tend(struct model *m)
{
	if (next_due(m))
		model_due_run(m, DUE_SLICE);
	if (sweep_pending(m))
		model_sweep_slice(m);
}

bool model_look(struct model *m)
{
	if (m->now_ns - m->look_ns > 3500000000ull)
		m->unbroken_ns = m->now_ns;
	m->look_ns = m->now_ns;
	model_tend(m);
	bury(m);
	for (uint32_t i = 0; i < WORKERS_SLICE && i + 1 < m->worker_slots; i++) {
		uint32_t w = m->worker_cursor + 1 < m->worker_slots ? m->worker_cursor + 1 : 1;

		m->worker_cursor = w;
		if (m->workers[w].state != TQI_WORKER_FREE)
			judge(m, w);
	}
	retire(m);
	wake_room(m);
	return model_wake_any(m);
}
