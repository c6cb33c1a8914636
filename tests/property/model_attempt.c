/* SPDX-License-Identifier: MIT */
/* The model: attempts, verdicts, budgets. */
#include "tests/property/model_parts.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

static uint64_t add(uint64_t a, uint64_t b)
{
	return a + b < a ? NEVER : a + b;
}

uint64_t model_least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t model_stall_at(const struct model_task *t)
{
	const struct model_attempt *a = &t->attempt;

	return add(a->progress_ns > a->started_ns ? a->progress_ns : a->started_ns,
		   t->progress_timeout_ns);
}

uint64_t model_timeout_at(const struct model_task *t)
{
	return model_least(add(t->started_ns, t->timeout_ns),
			   add(t->first_started_ns, t->timeout_total_ns));
}

uint64_t model_due_of_attempt(const struct model_task *t)
{
	return t->progress_timeout_ns == NEVER
		       ? model_timeout_at(t)
		       : model_least(model_timeout_at(t), model_stall_at(t));
}

/* NEVER, too, for times that no heap can hold. */
uint64_t model_look_at(const struct model_task *t)
{
	uint64_t when = model_least(model_due_of_attempt(t), model_deadline(t));

	return when > INT64_MAX ? NEVER : when;
}

static void start(struct model *m, uint32_t worker, uint32_t record, uint32_t task)
{
	struct model_task *t = &m->tasks[task];

	model_move(m, task, TQ_RUNNING);
	t->epoch++;
	t->attempts++;
	t->started_ns = m->now_ns;
	if (!t->first_started_ns)
		t->first_started_ns = m->now_ns;
	t->attempt = (struct model_attempt){ .record = record,
					     .worker = worker,
					     .order = ++m->order,
					     .started_ns = m->now_ns,
					     .inherited = t->kept };
	if (t->fair)
		t->attempt.charged_us = model_fair_begin(m, t);
	t->attempt.server = model_server_take(m, t->queue);
	t->kept = (struct model_kept){ .saved = false };
	t->look_ns = model_look_at(t);
	t->attempt.serial = (uint32_t)++m->workers[worker].tasks;
	model_key_started(t);
	m->classes[t->queue][t->kind].throttled += model_was_throttled(m, t);
	model_slots_take(m, t);
	m->classes[t->queue][t->kind].started++;
	model_time(m, t, TQI_TIMED_WAIT, t->ready_ns);
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
	if (model_command_take(m, worker))
		return TQ_ECOMMAND;
	if (model_attempt_count(m, worker) >= TQ_CLAIMS_MAX)
		return TQ_EFULL;
	for (uint32_t i = 0; i < TQI_CLAIM_OVER; i++) {
		uint32_t task = model_assigned_next(m, worker), best = 0;

		if (!task)
			task = best = model_best(m, &m->workers[worker]);
		if (!task && !model_has_done(m, MODEL_UNSETTLED, 0))
			task = model_steal(m, worker);
		bool over = task && model_is_over(m, &m->tasks[task]);

		if (!over && model_has_done(m, MODEL_UNSETTLED, 0))
			return -EALREADY;
		if (!task)
			return -EAGAIN;
		if (!over && model_gather(m, &m->tasks[task]))
			break;
		if (!over) {
			if (best)
				model_take_turn(m, &m->workers[worker], task);
			start(m, worker, record, task);
			model_assign(m, worker, m->tasks[task].queue);
			*ret_task = task;
			return 0;
		}
		if (!model_has_done(m, MODEL_CANCELLED, task))
			break;
		model_end_over(m, task);
	}
	return model_has_done(m, MODEL_UNSETTLED, 0) ? -EALREADY : -EINPROGRESS;
}

void model_stop_ask(struct model *m, uint32_t task, uint32_t cause)
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

static struct model_kept merged(const struct model_attempt *a)
{
	struct model_kept kept = a->inherited;

	if (a->own.saved)
		kept.checkpoint = a->own.checkpoint;
	if (a->own.reported)
		kept.percent = a->own.percent;
	kept.saved |= a->own.saved;
	kept.reported |= a->own.reported;
	return kept;
}

static struct ended detach(struct model *m, uint32_t task, uint32_t cause, int32_t arg)
{
	struct model_task *t = &m->tasks[task];
	const struct model_attempt *a = &t->attempt;
	struct ended ended = { task, a->worker, a->started_ns, cause, arg };

	t->kept = merged(a);
	t->has_older = a->own.saved || a->own.reported;
	t->older = a->inherited;
	model_slots_give(m, t);
	model_time(m, t, TQI_TIMED_RUN, a->started_ns);
	model_fair_end(m, t);
	model_behalf_end(m, task);

	uint32_t server = a->server;

	t->server = server ? tqi_tag(m->servers[server].sequence, server) : 0;
	t->attempt = (struct model_attempt){ 0 };
	model_server_give(m, server);
	t->cause = cause;
	t->cause_arg = arg;
	model_mark_late(m, t);
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
	t->history[t->history_count++] =
		(struct model_attempt_info){ e->started_ns, m->now_ns, t->attempts,
					     e->worker,	    e->cause,  e->cause_arg,
					     { 0 },	    0,	       false };
}

static void go_again(struct model *m, const struct ended *e, uint64_t delay_ns, bool keep_place)
{
	struct model_task *t = &m->tasks[e->task];

	remember(m, e);
	if (t->late) {
		model_finish(m, e->task, TQ_EXPIRED, TQ_CAUSE_DEADLINE, 0);
		return;
	}
	m->classes[t->queue][t->kind].retried += e->cause != TQ_CAUSE_RELEASED;
	t->stalled = false;
	if (delay_ns)
		model_become_delayed(m, e->task, delay_ns);
	else
		model_become_ready(m, e->task, keep_place);
}

static void end_for_good(struct model *m, const struct ended *e, uint32_t state)
{
	const struct model_task *t = &m->tasks[e->task];

	if (t->history_count || t->attempts > 1)
		remember(m, e);
	model_finish(m, e->task, state, e->cause, e->cause_arg);
}

/* By itself, or by a shutdown or with its group, which has not come to it yet. */
static bool is_to_be_cancelled(const struct model *m, const struct model_task *t)
{
	return t->cancel || t->wait_sequence < m->cancel_before || model_member_is_condemned(m, t);
}

static void end_failed(struct model *m, struct ended *e, bool over, uint64_t delay_ns)
{
	const struct model_task *t = &m->tasks[e->task];
	bool late = t->timeout_total_ns != NEVER &&
		    m->now_ns - t->first_started_ns >= t->timeout_total_ns;

	if (is_to_be_cancelled(m, t)) {
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
	uint64_t d = t->backoff_ns, cap = d > t->backoff_cap_ns ? d : t->backoff_cap_ns;

	for (uint32_t i = 1; i < t->failures && d < cap; i++)
		d *= 2;
	return model_least(d, cap);
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

	if (is_to_be_cancelled(m, t) || t->once)
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

/* HY-1, HY-2. */
static void put_output(struct model_task *t, struct pattern output, uint64_t output_bytes)
{
	uint64_t bytes = 0;

	if (t->history_count && (t->result.bytes || t->output_bytes)) {
		t->history[t->history_count - 1].output = t->result;
		t->history[t->history_count - 1].output_bytes = t->output_bytes;
	}
	for (uint32_t i = t->history_count; i-- > 0;) {
		bytes += t->history[i].is_dropped ? 0 : t->history[i].output.bytes;
		t->history[i].is_dropped |= bytes > TQI_EARLIER_BYTES;
	}
	t->result = output;
	t->output_bytes = output_bytes;
	t->cut = output_bytes > output.bytes;
}

void model_end(struct model *m, uint32_t task, const struct model_verdict *v)
{
	struct model_task *t = &m->tasks[task];
	bool gives_in = v->kind == TQ_VERDICT_FAIL || v->kind == TQ_VERDICT_RELEASE;
	uint32_t stop = gives_in ? t->attempt.stop_cause : TQ_CAUSE_NONE;
	struct ended e = detach(m, task, stop ? stop : v->cause, stop ? 0 : v->cause_arg);

	put_output(t, v->result, v->output_bytes);
	t->error = v->text;
	t->max_rss_bytes = model_or_default(v->max_rss_bytes, t->max_rss_bytes);
	t->cpu_ns = model_or_default(v->cpu_ns, t->cpu_ns);
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
	const bool own = w->output_room && w->output_serial == t->attempt.serial;
	const uint64_t head = own ? w->output_head : 0;
	/* It may have been killed in a write. */
	const uint32_t whole = own ? w->output_room - TQI_OUTPUT_CHUNK : 0;
	const uint32_t bytes = head < whole ? (uint32_t)head : whole;

	put_output(t, (struct pattern){ w->output_seed, (uint32_t)(head - bytes), bytes }, head);
}

void model_end_by_death(struct model *m, uint32_t task, const struct tqi_death *death)
{
	struct model_task *t = &m->tasks[task];
	uint32_t stop = t->attempt.stop_cause;

	keep_output(m, t);
	struct ended e = detach(m, task, stop ? stop : death->cause, stop ? 0 : death->cause_arg);

	m->reclaimed += e.cause != TQ_CAUSE_RELEASED;
	t->max_rss_bytes = model_or_default(death->max_rss_bytes, t->max_rss_bytes);
	t->cpu_ns = model_or_default(death->cpu_ns, t->cpu_ns);
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
