/* SPDX-License-Identifier: MIT */
/* The model: what operators do to tasks and queues. */
#include "tests/property/model_parts.h"

#include <errno.h>
#include <string.h>

int model_cancel(struct model *m, uint32_t task, bool dooms)
{
	struct model_task *t = &m->tasks[task];

	if (model_state_is_final(t->state))
		return TQ_ESTATE;
	t->dooms |= dooms;
	if (t->state == TQ_RUNNING) {
		t->cancel = true;
		model_stop_ask(m, task, TQ_CAUSE_CANCELLED);
		return 1;
	}
	model_cancel_waiting(m, task);
	return 0;
}

int model_hold(struct model *m, uint32_t task, bool hold)
{
	struct model_task *t = &m->tasks[task];

	if (model_state_is_final(t->state))
		return TQ_ESTATE;
	if (t->held == hold)
		return 0;
	t->held = hold;
	t->assigned = 0;
	if (!hold && t->state == TQ_READY)
		model_become_ready(m, task, false);
	if (hold)
		model_wake_empty(m);
	return 0;
}

int model_retry(struct model *m, uint32_t task)
{
	struct model_task *t = &m->tasks[task];
	const struct model_queue *q = &m->queues[t->queue];

	if (!model_state_is_final(t->state) || t->telling)
		return TQ_ESTATE;
	if (m->flags & TQI_ROOT_SHUTDOWN)
		return TQ_ESHUTDOWN;
	if (q->waiting >= q->depth_max)
		return TQ_EFULL;
	if (t->unique && !t->holds && model_holder(m, t->queue, t->unique))
		return -EEXIST;
	t->holds = t->unique;
	t->listed = 0;
	if (t->attempts && !t->history_count) /* the only one ended with the life before */
		t->history[t->history_count++] =
			(struct model_attempt_info){ t->started_ns, t->ended_ns,  t->attempts, 0,
						     t->cause,	    t->cause_arg, { 0 },       0,
						     false };
	if (t->state == TQ_DONE)
		t->kept = (struct model_kept){ .saved = false };
	t->failures = t->crashes = t->losses = 0;
	t->first_started_ns = t->ended_ns = 0;
	t->cancel = t->stalled = t->late = t->dooms = false;
	t->unmet = model_reopen(m, task);
	t->due_ns = 0;
	if (t->deadline_ns <= m->now_ns)
		t->deadline_ns = NEVER;
	t->at_ns = 0;
	model_home(m, t);
	m->classes[t->queue][t->kind].submitted++; /* a new life, with an end of its own */
	if (t->unmet) {
		model_move(m, task, TQ_BLOCKED);
		t->look_ns = model_deadline(t);
	} else {
		model_become_ready(m, task, false);
	}
	m->sequence++;
	return 0;
}

int model_forget(struct model *m, uint32_t task)
{
	struct model_task *t = &m->tasks[task];

	if (!model_state_is_final(t->state))
		return TQ_ESTATE;
	t->listed = 0;
	t->forget = true;
	t->keep = false;
	model_settle(m, task);
	return 0;
}

static int move_queue(struct model *m, uint32_t task, struct model_task *t, uint32_t to)
{
	struct model_queue *q = &m->queues[to], *from = &m->queues[t->queue];

	if (to == t->queue)
		return 0;
	if (q->flags & TQ_QUEUE_DRAINING)
		return TQ_EDRAINING;
	if (q->waiting >= q->depth_max)
		return TQ_EFULL;
	int r = model_key_move(m, task, to);

	if (r < 0)
		return r;
	model_tenant_join(m, to, t->tenant);
	from->waiting--;
	q->waiting++;
	m->classes[t->queue][t->kind].depth[t->state]--;
	m->classes[to][t->kind].depth[t->state]++;
	m->classes[t->queue][t->kind].moved++;
	m->classes[to][t->kind].submitted++;
	t->queue = to;
	t->wait_sequence = m->sequence;
	model_wake_room(m);
	m->between = task;
	model_wake_empty(m);
	m->between = 0;
	return 0;
}

static void appoint(struct model *m, uint32_t task, uint64_t at_ns)
{
	struct model_task *t = &m->tasks[task];
	bool ahead = at_ns > m->wall_ns;

	t->at_ns = at_ns;
	t->due_ns = ahead ? NEVER : 0;
	if (t->state == TQ_BLOCKED)
		return;
	if (ahead)
		model_wait_for_wall(m, task);
	else if (t->state == TQ_DELAYED)
		model_move(m, task, TQ_READY);
}

static void set_settings(struct model_task *t, const struct model_update *u)
{
	if (u->fields & TQ_UPDATE_LABEL)
		t->label = u->label;
	if (u->fields & TQ_UPDATE_ATTEMPTS)
		t->attempts_max = u->attempts_max;
	if (u->fields & TQ_UPDATE_TIMEOUT)
		t->timeout_ns = u->timeout_ns;
	if (u->fields & TQ_UPDATE_TIMEOUT_TOTAL)
		t->timeout_total_ns = u->timeout_total_ns;
}

static void set_times(struct model *m, uint32_t task, const struct model_update *u)
{
	struct model_task *t = &m->tasks[task];

	if (u->fields & TQ_UPDATE_DEADLINE) {
		t->deadline_ns = u->deadline_ns == NEVER ? NEVER : model_later(m, u->deadline_ns);
		t->late = false;
	}
	if (u->fields & (TQ_UPDATE_DEADLINE | TQ_UPDATE_TIMEOUT_TOTAL)) {
		t->look_ns = model_watched(t);
		if (t->state == TQ_DELAYED)
			t->look_ns = model_least(t->due_ns, t->look_ns);
	}
	if (u->fields & TQ_UPDATE_DELAY)
		t->at_ns = 0;
	if ((u->fields & TQ_UPDATE_DELAY) && t->state == TQ_BLOCKED)
		t->due_ns = model_later(m, u->delay_ns);
	else if (u->fields & TQ_UPDATE_DELAY)
		model_become_delayed(m, task, u->delay_ns);
	if (u->fields & TQ_UPDATE_AT)
		appoint(m, task, u->at_ns);
	t->extra |= (u->fields & (TQ_UPDATE_AT | TQ_UPDATE_DEADLINE)) != 0;
}

int model_update(struct model *m, uint32_t task, const struct model_update *u)
{
	struct model_task *t = &m->tasks[task];
	int r = 0;

	if (!model_state_waits(t->state) || model_is_condemned(m, t))
		return TQ_ESTATE;
	bool held = t->held;
	uint32_t queue = t->queue, assigned = t->assigned;

	if ((u->fields & TQ_UPDATE_LABEL) && t->payload.bytes > TQI_COPY_MAX)
		return -E2BIG;
	t->held = true; /* in no heap meanwhile */
	t->assigned = 0;
	if (u->fields & TQ_UPDATE_QUEUE)
		r = move_queue(m, task, t, u->queue);
	t->held = held;
	if (r < 0) {
		t->assigned = assigned;
		return r;
	}
	set_settings(t, u);
	bool relimits = (u->fields & TQ_UPDATE_LIMITS) && (t->extra || u->limits);

	if (relimits) {
		t->limits = u->limits;
		memcpy(t->weight, u->weight, sizeof(t->weight));
		t->extra = true;
	}
	if (u->fields & TQ_UPDATE_PRIORITY) {
		t->extra |= u->priority < t->priority && model_is_waited_for(m, task);
		t->priority = u->priority;
	}
	if (relimits || (u->fields & TQ_UPDATE_PRIORITY) || t->queue != queue)
		model_home(m, t);
	bool keeps_place = t->state == TQ_READY && !(u->fields & TQ_UPDATE_PRIORITY);

	set_times(m, task, u);
	if (t->state == TQ_READY)
		model_become_ready(m, task, keeps_place);
	return 0;
}

void model_queue_flag(struct model *m, uint32_t queue, uint32_t flag, bool on)
{
	struct model_queue *q = &m->queues[queue];

	q->flags = on ? q->flags | flag : q->flags & ~flag;
	if (flag != TQ_QUEUE_PAUSED)
		return;
	if (!on)
		m->pass_on = true;
	model_wake_empty(m);
}

uint32_t model_purge(struct model *m, uint32_t queue)
{
	struct model_queue *q = &m->queues[queue];
	uint32_t waiting = q->waiting;

	q->purge_before = ++m->sequence;
	q->waiting = 0;
	m->sweep_left = m->sweep_count = m->task_slots;
	return waiting;
}

void model_shutdown(struct model *m, uint32_t flags)
{
	if (flags & TQ_SHUTDOWN_UNDO) {
		m->flags = 0;
		m->closing = 0;
		return;
	}
	m->flags |= TQI_ROOT_SHUTDOWN;
	if (flags & TQ_SHUTDOWN_CANCEL) {
		m->flags |= TQI_ROOT_CANCEL;
		m->cancel_before = ++m->sequence;
		m->sweep_left = m->sweep_count = m->task_slots;
	}
	model_close_groups(m);
	model_wake_empty(m);
}

uint32_t model_oldest_finished(const struct model *m)
{
	uint32_t oldest = 0;

	for (uint32_t i = 1; i < m->task_slots; i++)
		if (m->tasks[i].listed && (!oldest || m->tasks[i].listed < m->tasks[oldest].listed))
			oldest = i;
	return oldest;
}

uint32_t model_evict(struct model *m, uint32_t count)
{
	uint32_t n = 0, task, given_up = 0;

	while (n < count && (task = model_oldest_finished(m)) &&
	       model_discard(m, task, &given_up) && model_has_done(m, MODEL_FREED, task)) {
		model_free(m, task);
		n++;
		given_up = 0;
	}
	m->evicted += n;
	return n + (given_up != 0); /* the rest of its dependencies another time */
}

void model_retire(struct model *m)
{
	uint32_t task, given_up;

	while ((task = model_oldest_finished(m))) {
		if (m->now_ns - m->tasks[task].ended_ns < m->retention_ns ||
		    !model_discard(m, task, &given_up) || !model_has_done(m, MODEL_FREED, task))
			return;
		model_free(m, task);
	}
}
