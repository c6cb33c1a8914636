/* SPDX-License-Identifier: MIT */
/* The model: workers, and what holds do for everybody. */
#include "tests/property/model_parts.h"

#include <string.h>

#include "scheduler/task/look.h"

#define SECOND 1000000000ull

/* Newest first, a slice; true when none is left. */
static bool end_attempts(struct model *m, uint32_t worker, const struct tqi_death *death)
{
	for (;;) {
		uint32_t newest = 0;

		for (uint32_t t = 1; t < m->task_slots; t++)
			if (m->tasks[t].state == TQ_RUNNING &&
			    m->tasks[t].attempt.worker == worker &&
			    (!newest || m->tasks[t].attempt.order > m->tasks[newest].attempt.order))
				newest = t;
		if (!newest)
			return true;
		if (!model_has_done(m, MODEL_ENDED, newest))
			return false;
		model_end_by_death(m, newest, death);
	}
}

static void take_apart(struct model *m, uint32_t worker)
{
	struct model_worker *w = &m->workers[worker];

	*w = (struct model_worker){ .generation = w->generation };
	model_wake_empty(m);
}

bool model_unregister(struct model *m, uint32_t worker)
{
	const struct tqi_death released = { .cause = TQ_CAUSE_RELEASED };

	return model_worker_dead(m, worker, &released);
}

bool model_worker_dead(struct model *m, uint32_t worker, const struct tqi_death *death)
{
	model_assigned_return(m, worker);
	if (!end_attempts(m, worker, death) || !model_command_leave(m, worker))
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
		model_assigned_return(m, worker);
		w->state = TQI_WORKER_DYING;
		w->dying_ns = m->now_ns;
	}
	if (master_is_alive(m, w) && m->now_ns - w->dying_ns < SECOND)
		return false;
	return (groups_empty || !model_attempt_count(m, worker)) &&
	       model_worker_dead(m, worker, &death);
}

void model_judge(struct model *m, uint32_t worker)
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
		if (m->tasks[t].state == TQ_RUNNING && m->tasks[t].attempt.worker == worker &&
		    model_has_done(m, MODEL_STOPPED, t))
			model_stop_ask(m, t, TQ_CAUSE_LEASE_LOST);
}

static void run_attempt(struct model *m, uint32_t task)
{
	struct model_task *t = &m->tasks[task];
	bool stalled = t->progress_timeout_ns != NEVER && model_stall_at(t) <= m->now_ns;

	model_mark_late(m, t);
	if (stalled)
		t->stalled = true;
	if (!stalled && model_timeout_at(t) > m->now_ns) {
		t->look_ns = model_look_at(t);
		return;
	}
	t->look_ns = model_deadline(t);
	model_stop_ask(m, task, TQ_CAUSE_TIMEOUT);
}

static uint32_t next_due(const struct model *m)
{
	uint32_t first = 0;

	for (uint32_t i = 1; i < m->task_slots; i++) {
		const struct model_task *t = &m->tasks[i], *f = &m->tasks[first];

		if (t->state == TQ_FREE || t->look_ns > m->now_ns)
			continue;
		if (!first || t->look_ns < f->look_ns ||
		    (t->look_ns == f->look_ns && model_sequence_before(t->sequence, f->sequence)))
			first = i;
	}
	return first;
}

bool model_due_run(struct model *m, uint32_t count)
{
	uint32_t task;

	model_refill(m, true);
	while ((task = next_due(m))) {
		if (count-- == 0 || !model_has_done(m, MODEL_DUE, task))
			return true;
		if (m->tasks[task].state == TQ_RUNNING)
			run_attempt(m, task);
		else if (model_is_over(m, &m->tasks[task]))
			model_end_over(m, task);
		else
			model_become_ready(m, task, false);
	}
	return false;
}

static uint32_t next_by_wall(const struct model *m)
{
	uint32_t first = 0;

	for (uint32_t i = 1; i < m->task_slots; i++) {
		const struct model_task *t = &m->tasks[i], *f = &m->tasks[first];

		if (!model_waits_for_wall(t) || t->at_ns > m->wall_ns)
			continue;
		if (!first || t->at_ns < f->at_ns ||
		    (t->at_ns == f->at_ns && model_sequence_before(t->sequence, f->sequence)))
			first = i;
	}
	return first;
}

/* By either clock. */
bool model_is_due(const struct model *m)
{
	return next_due(m) || next_by_wall(m);
}

/* It is kept once, however the clock is set afterwards. */
static void keep_appointment(struct model *m, uint32_t task)
{
	m->tasks[task].due_ns = 0;
	model_become_ready(m, task, false);
}

bool model_wall_run(struct model *m, uint32_t count)
{
	uint32_t task;

	while ((task = next_by_wall(m))) {
		if (count-- == 0 || !model_has_done(m, MODEL_WALL, task))
			return true;
		if (model_is_over(m, &m->tasks[task]))
			model_end_over(m, task);
		else
			keep_appointment(m, task);
	}
	return false;
}

static bool cancel_running(struct model *m, struct model_task *t, uint32_t task)
{
	if (t->wait_sequence >= m->cancel_before || t->cancel)
		return false;
	t->cancel = true;
	model_stop_ask(m, task, TQ_CAUSE_CANCELLED);
	return true;
}

static bool sweep_one(struct model *m, uint32_t task)
{
	struct model_task *t = &m->tasks[task];

	if (t->state == TQ_FREE || model_state_is_final(t->state))
		return false;
	if (model_is_hidden(m, t))
		return model_policy_move(m, task);
	if (t->shut) {
		model_member_open(m, task);
		return true;
	}
	if (model_state_waits(t->state) && model_is_condemned(m, t)) {
		model_cancel_waiting(m, task);
		return true;
	}
	bool asked = t->state == TQ_RUNNING && cancel_running(m, t, task);

	bool moved = model_policy_move(m, task);

	if (t->assigned && (m->queues[t->queue].flags & TQI_QUEUE_SERVED)) {
		model_go_back(m, task);
		moved = true;
	}
	return moved || asked;
}

static void tell_slice(struct model *m)
{
	while (m->telling_count) {
		uint32_t task = m->telling[0];

		if (model_tell(m, task) || !m->did(m->did_ctx, MODEL_SETTLED, task, 0))
			return;
		memmove(m->telling, m->telling + 1, --m->telling_count * sizeof(m->telling[0]));
		m->tasks[task].telling = false;
		model_settle(m, task);
	}
	model_wake_empty(m);
}

bool model_sweep_pending(const struct model *m)
{
	return m->sweep_left || m->rounding || m->telling_count || model_is_carrying(m) ||
	       m->busy_count || m->closing;
}

bool model_sweep_slice(struct model *m, uint32_t left, bool rounding)
{
	bool sweeping = m->sweep_left;

	model_carry(m);
	if (m->telling_count)
		tell_slice(m);
	if (m->closing)
		model_close_slice(m);
	if (m->busy_count)
		model_group_slice(m);
	if (m->sweep_left && m->task_slots > m->sweep_count) {
		m->sweep_left += m->task_slots - m->sweep_count;
		m->sweep_count = m->task_slots;
	}
	while (m->sweep_left > left) {
		m->sweep_at = m->sweep_at + 1 < m->task_slots ? m->sweep_at + 1 : 1;
		m->sweep_left--;
		if (m->sweep_at < m->task_slots)
			sweep_one(m, m->sweep_at);
	}
	if (!m->sweep_left && (sweeping || m->rounding)) {
		m->rounding = rounding;
		model_policy_round(m);
	}
	return model_sweep_pending(m);
}

/* Judges each, until there are more suspects than one look proves: there are so few of them. */
static void look_at_workers(struct model *m)
{
	uint32_t suspects = 0, probed = 0, looked = 0, at = m->worker_cursor;

	for (; looked + 1 < m->worker_slots; looked++) {
		uint32_t i = at + 1 < m->worker_slots ? at + 1 : 1;
		const struct model_worker *w = &m->workers[i];

		if (w->state != TQI_WORKER_FREE) {
			model_judge(m, i);
			if ((w->dead || !probed) && suspects++ == TQI_LOOK_SUSPECTS)
				break;
			probed = probed ? probed : i;
		}
		at = i;
	}
	m->worker_cursor = looked + 1 >= m->worker_slots && probed ? probed : at;
}

bool model_look(struct model *m, uint32_t waiter_cursor)
{
	m->waiter_cursor = waiter_cursor;
	if (m->now_ns - m->look_ns > TQI_LOOK_GAP_NS)
		m->unbroken_ns = m->now_ns;
	m->look_ns = m->now_ns;
	look_at_workers(m);
	model_retire(m);
	model_group_retire(m, UINT32_MAX, false);
	model_wake_room(m);
	model_wake_empty_more(m);
	bool woken = model_wake_any(m);

	if (model_moving(m) && !m->sweep_left)
		m->sweep_left = m->sweep_count = m->task_slots;
	return woken;
}
