/* SPDX-License-Identifier: MIT */
/* The model: the life of a task, from submission to the end of its record. */
#include "scheduler/task/submit.h"
#include "tests/property/model_parts.h"

#include <string.h>

#define SECOND 1000000000ull

void model_queue_renew(struct model *m, uint32_t q)
{
	m->queues[q] = (struct model_queue){ .depth_max = NEVER,
					     .timeout_ns = NEVER,
					     .backoff_ns = SECOND,
					     .backoff_cap_ns = 300 * SECOND,
					     .attempts_max = 1,
					     .band_from = { 0, 100, 1000 },
					     .max_wait_ns = NEVER };
	memset(m->queues[q].pool_size, 0xff, sizeof(m->queues[q].pool_size));
	memset(m->classes[q], 0, sizeof(m->classes[q]));
}

void model_kind_renew(struct model *m, uint32_t k)
{
	for (uint32_t q = 1; q <= MODEL_QUEUES; q++)
		m->classes[q][k] = (struct model_class){ .submitted = 0 };
	m->mean_us[k] = 0;
}

bool model_has_defaults(const struct model *m, uint32_t k)
{
	static const struct tqi_kind_defaults none;

	return memcmp(&m->defaults[k], &none, sizeof(none)) != 0;
}

static bool worker_names(const struct model_worker *w, uint32_t queue, uint32_t kind)
{
	if (w->state == TQI_WORKER_FREE)
		return false;
	for (uint32_t i = 0; i < w->queue_count; i++)
		if (w->queues[i] == queue)
			return true;
	return kind && w->kinds != UINT32_MAX && w->kinds >> kind & 1;
}

/* Who has a task there, or names it; one of the two is 0, which is nobody's. */
static bool is_named(const struct model *m, uint32_t queue, uint32_t kind)
{
	for (uint32_t i = 1; i < m->task_slots; i++)
		if (m->tasks[i].state != TQ_FREE &&
		    (m->tasks[i].queue == queue || m->tasks[i].kind == kind))
			return true;
	for (uint32_t w = 1; w < m->worker_slots; w++)
		if (worker_names(&m->workers[w], queue, kind))
			return true;
	for (uint32_t s = 1; s < m->schedule_slots; s++)
		if (m->schedules[s].live &&
		    (m->schedules[s].run.queue == queue || m->schedules[s].run.kind == kind))
			return true;
	for (uint32_t c = 1; c < MODEL_COMMANDS; c++)
		if (m->commands[c].state != TQI_COMMAND_FREE && m->commands[c].queue == queue)
			return true;
	return false;
}

bool model_queue_is_unused(const struct model *m, uint32_t q)
{
	return !m->queues[q].flags && !m->queues[q].configured && !is_named(m, q, 0);
}

bool model_kind_is_unused(const struct model *m, uint32_t k)
{
	for (uint32_t q = 1; q <= MODEL_QUEUES; q++)
		if (m->classes[q][k].submitted && (m->queues[q].flags & TQI_QUEUE_MOVING))
			return false;
	return !is_named(m, 0, k) && !model_has_defaults(m, k);
}

void model_init(struct model *m, uint64_t sequence, uint64_t retention_ns)
{
	*m = (struct model){ .did = m->did, .did_ctx = m->did_ctx };
	memset(m->limit_size, 0xff, sizeof(m->limit_size));
	m->sequence = sequence;
	m->retention_ns = retention_ns;
	m->task_slots = m->worker_slots = m->waiter_slots = m->schedule_slots = 1;
	m->dependency_slots = m->group_slots = 1;
	for (uint32_t q = 1; q <= MODEL_QUEUES; q++)
		model_queue_renew(m, q);
}

bool model_has_done(const struct model *m, enum model_unit unit, uint32_t index)
{
	return m->did(m->did_ctx, unit, index, 0);
}

bool model_state_waits(uint32_t state)
{
	return state == TQ_BLOCKED || state == TQ_DELAYED || state == TQ_READY;
}

bool model_state_is_final(uint32_t state)
{
	return state >= TQ_DONE;
}

bool model_in_lane(const struct model_task *t)
{
	return t->state == TQ_READY && !t->held && !t->assigned;
}

/* Sequences are compared by their lower 40 bits, which may wrap. */
bool model_sequence_before(uint64_t a, uint64_t b)
{
	return (int64_t)((a - b) << 24) < 0;
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
	for (uint32_t d = 1; d < m->dependency_slots; d++)
		n += m->dependencies[d].task && m->dependencies[d].on == task;
	return n + m->tasks[task].pinned;
}

bool model_is_condemned(const struct model *m, const struct model_task *t)
{
	return t->wait_sequence < m->queues[t->queue].purge_before ||
	       t->wait_sequence < m->cancel_before || model_member_is_condemned(m, t);
}

void model_move(struct model *m, uint32_t task, uint32_t to)
{
	struct model_task *t = &m->tasks[task];
	struct model_class *c = &m->classes[t->queue][t->kind];
	struct model_queue *q = &m->queues[t->queue];

	if (model_state_waits(to) && !model_state_waits(t->state)) {
		t->wait_sequence = m->sequence;
		q->waiting++;
	} else if (model_state_waits(t->state) && !model_state_waits(to)) {
		q->waiting -= t->wait_sequence >= q->purge_before;
		if (q->depth_max != NEVER)
			model_wake_room(m);
	}
	t->assigned = 0;
	if (to == TQ_READY)
		t->server = 0;
	if (t->state != TQ_FREE)
		c->depth[t->shut ? TQ_FREE : t->state]--;
	if (to != TQ_FREE)
		c->depth[t->shut ? TQ_FREE : to]++;
	model_member_move(m, t, t->state, to);
	t->state = to;
}

void model_become_ready(struct model *m, uint32_t task, bool keep_place)
{
	struct model_task *t = &m->tasks[task];

	model_move(m, task, TQ_READY);
	t->look_ns = model_watched(t);
	if (!keep_place || t->ready_ns == 0)
		t->ready_ns = m->now_ns;
	if (!t->held)
		model_freshen(m, t);
	if (!t->held && !(t->limits & model_full(m)))
		model_wake_for(m, t->queue, t->kind);
}

uint64_t model_later(const struct model *m, uint64_t delay_ns)
{
	uint64_t due = m->now_ns + delay_ns;

	return due < delay_ns || due > INT64_MAX ? INT64_MAX : due;
}

void model_become_delayed(struct model *m, uint32_t task, uint64_t delay_ns)
{
	struct model_task *t = &m->tasks[task];

	model_move(m, task, TQ_DELAYED);
	t->due_ns = model_later(m, delay_ns);
	t->look_ns = model_least(t->due_ns, model_watched(t));
}

/* RC-4. */
void model_wait_for_wall(struct model *m, uint32_t task)
{
	struct model_task *t = &m->tasks[task];

	model_move(m, task, TQ_DELAYED);
	t->due_ns = NEVER;
	t->look_ns = model_watched(t);
}

bool model_waits_for_wall(const struct model_task *t)
{
	return t->state == TQ_DELAYED && t->due_ns == NEVER;
}

/* As long as it has not been noticed to have passed. */
uint64_t model_deadline(const struct model_task *t)
{
	return t->late ? NEVER : t->deadline_ns;
}

static uint64_t total_end(const struct model_task *t)
{
	uint64_t when = t->first_started_ns + t->timeout_total_ns;

	return t->first_started_ns && t->timeout_total_ns != NEVER && when <= INT64_MAX ? when
											: NEVER;
}

uint64_t model_watched(const struct model_task *t)
{
	return model_least(model_deadline(t), total_end(t));
}

bool model_is_over(const struct model *m, const struct model_task *t)
{
	return model_is_condemned(m, t) || model_least(t->deadline_ns, total_end(t)) <= m->now_ns;
}

void model_mark_late(const struct model *m, struct model_task *t)
{
	t->late |= model_deadline(t) <= m->now_ns;
}

void model_free(struct model *m, uint32_t task)
{
	struct model_task *t = &m->tasks[task];
	uint64_t generation = t->generation + 1;

	model_move(m, task, TQ_FREE);
	model_member_leave(m, task);
	*t = (struct model_task){ .generation = generation, .look_ns = NEVER };
	model_wake_room(m);
}

void model_settle(struct model *m, uint32_t task)
{
	struct model_task *t = &m->tasks[task];

	if (t->telling || model_pins(m, task))
		return;
	if (t->forget && model_has_after(m, task))
		model_enlist(m, task); /* freed when it has given them up */
	else if (t->forget)
		model_free(m, task);
	else if (!t->keep && !t->listed)
		t->listed = ++m->order;
}

void model_enlist(struct model *m, uint32_t task)
{
	m->tasks[task].telling = true;
	m->telling[m->telling_count++] = task;
}

/* As many as the core has told; true when some are left. */
bool model_tell(struct model *m, uint32_t task)
{
	uint32_t freed;
	bool left = false;

	for (uint32_t e = 0; e < m->edge_slots; e++) {
		struct model_edge *edge = &m->edges[e];

		if (!edge->waiter || edge->task != task || edge->told)
			continue;
		edge->told = m->did(m->did_ctx, MODEL_TOLD, e, 0);
		left |= !edge->told;
	}
	if (!model_decide(m, task) || left)
		return true;
	return model_must_release(m, task) && !model_discard(m, task, &freed);
}

/* Its end; that of one which a dependency has cancelled is for the slices. */
static void tell_end(struct model *m, uint32_t task)
{
	if (!model_is_waited_for(m, task) && !model_must_release(m, task))
		return;
	if (m->tasks[task].cause == TQ_CAUSE_DEPENDENCY || model_tell(m, task) ||
	    !m->did(m->did_ctx, MODEL_SETTLED, task, 0))
		model_enlist(m, task);
}

void model_time(struct model *m, const struct model_task *t, enum tqi_timed what, uint64_t since_ns)
{
	struct model_class *c = &m->classes[t->queue][t->kind];

	c->timed[what]++;
	c->timed_ns[what] += m->now_ns - since_ns;
}

void model_finish(struct model *m, uint32_t task, uint32_t state, uint32_t cause, int32_t arg)
{
	struct model_task *t = &m->tasks[task];

	if (t->shut)
		model_member_show(m, task);
	t->look_ns = NEVER;
	model_move(m, task, state);
	t->cause = cause;
	t->cause_arg = arg;
	t->ended_ns = m->now_ns;
	m->classes[t->queue][t->kind].ended[state - TQ_DONE]++;
	if (state == TQ_DONE || state == TQ_FAILED)
		model_time(m, t, TQI_TIMED_LIFE, t->submitted_ns);
	model_key_ended(m, task);
	model_schedule_ended(m, task);
	t->unmet = 0;
	model_member_ended(m, task);
	tell_end(m, task);
	if (!m->classes[t->queue][t->kind].depth[TQ_RUNNING])
		model_wake_empty(m);
	model_wake_room(m);
	model_settle(m, task);
}

void model_cancel_waiting(struct model *m, uint32_t task)
{
	model_finish(m, task, TQ_CANCELLED, TQ_CAUSE_CANCELLED, 0);
}

/* Condemned, or else past its time-out in all, or its deadline. */
void model_end_over(struct model *m, uint32_t task)
{
	const struct model_task *t = &m->tasks[task];

	if (model_is_condemned(m, t))
		model_cancel_waiting(m, task);
	else if (total_end(t) < t->deadline_ns)
		model_finish(m, task, TQ_FAILED, TQ_CAUSE_TIMEOUT, 0);
	else
		model_finish(m, task, TQ_EXPIRED, TQ_CAUSE_DEADLINE, 0);
}

int model_admit(const struct model *m, uint32_t queue)
{
	const struct model_queue *q = &m->queues[queue];

	if (m->flags & TQI_ROOT_SHUTDOWN)
		return TQ_ESHUTDOWN;
	return q->flags & TQ_QUEUE_DRAINING ? TQ_EDRAINING : 0;
}

uint64_t model_or_default(uint64_t value, uint64_t fallback)
{
	return value ? value : fallback;
}

void model_submit(struct model *m, const struct model_submit *s, uint32_t slot, uint32_t leader)
{
	struct model_task *t = &m->tasks[slot];
	const struct model_queue *q = &m->queues[s->queue];
	const struct tq_task_spec *spec = &s->spec;
	uint64_t culprit;

	if (slot >= m->task_slots)
		m->task_slots = slot + 1;
	model_tenant_join(m, s->queue, s->tenant);
	const struct tqi_kind_defaults *d = &m->defaults[s->kind];

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
		.attempts_max = (uint32_t)model_or_default(
			spec->attempts_max, model_or_default(d->attempts_max, q->attempts_max)),
		.crashes_max = (uint32_t)model_or_default(spec->crashes_max, 3),
		.losses_max = (uint32_t)model_or_default(spec->losses_max, 3),
		.submitted_ns = m->now_ns,
		.look_ns = NEVER,
		.timeout_ns = model_or_default(spec->timeout_ns,
					       model_or_default(d->timeout_ns, q->timeout_ns)),
		.timeout_total_ns = model_or_default(spec->timeout_total_ns,
						     model_or_default(d->timeout_total_ns, NEVER)),
		.progress_timeout_ns = model_or_default(spec->progress_timeout_ns, NEVER),
		.backoff_ns = model_or_default(spec->backoff_ns,
					       model_or_default(d->backoff_ns, q->backoff_ns)),
		.backoff_cap_ns =
			model_or_default(spec->backoff_cap_ns,
					 model_or_default(d->backoff_cap_ns, q->backoff_cap_ns)),
		.payload = s->payload,
		.label = s->label,
		.extra = spec->deadline_ns || spec->at_ns || s->unique || s->limits || s->tenant ||
			 s->group || s->completes || spec->after_count ||
			 spec->payload_bytes > TQI_COPY_MAX,
		.unmet = (uint32_t)s->shut + s->completes,
		.shut = s->shut,
		.tenant = s->tenant,
		.at_ns = spec->at_ns,
		.limits = s->limits,
		.deadline_ns = spec->deadline_ns ? model_later(m, spec->deadline_ns) : NEVER,
		.inherited = { INT32_MIN, 0, NEVER, 0 },
	};
	memcpy(t->weight, s->weight, sizeof(t->weight));
	model_home(m, t);
	t->unique = s->unique;
	t->scope = s->scope;
	t->holds = s->unique && !leader;
	model_after_submit(m, slot, s, &culprit);
	m->classes[t->queue][t->kind].submitted += !s->shut;
	if (s->group)
		model_member_join(m, s->group, slot);
	bool wall = spec->at_ns > m->wall_ns;

	if (leader || culprit || t->unmet) {
		model_move(m, slot, TQ_BLOCKED);
		t->due_ns = spec->delay_ns ? model_later(m, spec->delay_ns) : wall ? NEVER : 0;
		t->look_ns = s->shut ? NEVER : model_deadline(t);
	} else if (wall)
		model_wait_for_wall(m, slot);
	else if (spec->delay_ns)
		model_become_delayed(m, slot, spec->delay_ns);
	else
		model_become_ready(m, slot, false);
	m->sequence++;
	if (culprit && s->shut)
		t->culprit = culprit;
	else if (culprit)
		model_refuse(m, slot, culprit, false);
}
