/* SPDX-License-Identifier: MIT */
/* Task records made consistent in themselves; workers and sleepers with what is theirs. */
#include <string.h>

#include "scheduler/graph/inherit.h"
#include "scheduler/rebuild/rebuild_state.h"
#include "scheduler/record/serves.h"
#include "scheduler/worker/sleep.h"
#include "shm/lock.h"

#define SEQUENCE_SPREAD (1ull << 38) /* a quarter of the 40 bits that a heap entry has */
#define SEQUENCE_MAX (1ull << 62)    /* never reached */

/* A task that cannot be saved: its record is free, its id answers TQ_EGONE. */
static void lose(struct tqi_task *t)
{
	t->state = TQ_FREE;
	t->generation += t->generation < TQI_GENERATION_MAX;
}

static bool is_watched_by(struct tqi_check *c, uint32_t index, const struct tqi_task *t)
{
	const struct tqi_attempt *a = tqi_check_record(c, TQI_ATTEMPTS, t->attempt);
	const struct tqi_worker *w = a ? tqi_check_record(c, TQI_WORKERS, a->worker) : NULL;

	return w && w->state != TQI_WORKER_FREE && a->task == index &&
	       a->id == tqi_id_make(index, t->generation) && a->epoch == t->epoch;
}

/*
 * RC-2: a running task whose attempt is lost starts again; nobody else runs it.  RC-6: a
 * claim that is still held keeps its epoch.
 */
static void mend_attempt(struct tqi_check *c, uint32_t index, struct tqi_task *t)
{
	bool watched = t->state == TQ_RUNNING && is_watched_by(c, index, t);

	if (!watched) {
		t->attempt = 0;
		t->state = t->state == TQ_RUNNING ? TQ_READY : t->state;
		t->epoch = t->epoch > t->attempts ? t->epoch : t->attempts;
	}
	t->attempts = t->epoch;
}

/* Heaps compare sequences by difference: those far off would be before and after all others. */
static bool is_near(const struct tqi_check *c, uint64_t sequence)
{
	uint64_t distance = sequence < c->sequence ? c->sequence - sequence
						   : sequence - c->sequence;

	return distance < SEQUENCE_SPREAD && sequence < SEQUENCE_MAX;
}

static void mend_sequence(struct tqi_check *c, struct tqi_task *t)
{
	struct tqi_root *root = tqi_root(c->tx);

	if (!is_near(c, t->sequence))
		t->sequence = c->sequence - 1;
	if (t->sequence >= root->sequence)
		root->sequence = t->sequence + 1;
	if (t->wait_sequence > root->sequence)
		t->wait_sequence = root->sequence;
}

/* The root's sequence is believed if any task agrees, else the first task's. */
static void find_sequence(struct tqi_check *c)
{
	struct tqi_root *root = tqi_root(c->tx);
	const struct tqi_task *first = NULL;

	if (root->sequence == 0 || root->sequence >= SEQUENCE_MAX)
		root->sequence = 1;
	c->sequence = root->sequence;
	for (uint32_t i = 1; i < c->count[TQI_TASKS]; i++) {
		const struct tqi_task *t = tqi_check_record(c, TQI_TASKS, i);

		if (!t || t->state == TQ_FREE)
			continue;
		if (is_near(c, t->sequence))
			return;
		first = first ? first : t;
	}
	if (first && first->sequence < SEQUENCE_MAX)
		root->sequence = c->sequence = first->sequence + 1;
}

/* Payload and label, and behind them what few tasks have: all or nothing. */
static void mend_payload(struct tqi_check *c, struct tqi_task *t)
{
	uint64_t bytes = (uint64_t)t->payload_bytes + t->label_bytes;

	if (t->flags & TQI_TASK_EXTRA)
		bytes = tqi_extra_at(t->payload_bytes, t->label_bytes) + sizeof(struct tqi_extra);
	if (!tqi_rebuild_block(c, &t->payload, bytes)) {
		t->payload_bytes = t->label_bytes = 0;
		t->flags &= (uint16_t)~TQI_TASK_EXTRA;
	}
	struct tqi_extra *extra = tqi_check_extra(c, t);

	if (extra && extra->deadline_ns > INT64_MAX)
		extra->deadline_ns = UINT64_MAX;
	if (extra && extra->at_ns > INT64_MAX)
		extra->at_ns = 0;
	if (extra)
		tqi_rebuild_forget_extra(extra);
	if (extra)
		extra->stale &= tqi_state_is_final(t->state) ? TQI_STALE_ENDED : TQI_STALE_ALL;
	if (t->due_ns > INT64_MAX) /* RC-4 */
		t->due_ns = extra && extra->at_ns ? UINT64_MAX : INT64_MAX;
	t->flags &= (uint16_t)~TQI_TASK_ASSIGNED; /* into their lanes */
	if (!extra || extra->deadline_ns == UINT64_MAX)
		t->flags &= (uint16_t)~TQI_TASK_LATE;
}

/* HY-1, HY-2: what cannot be is nobody's. */
static void mend_outputs(struct tqi_check *c, const struct tqi_task *t)
{
	struct tqi_history *history = tqi_unit(c->tx, t->history);
	const uint32_t newest = (t->history_count - 1u) % TQ_HISTORY_MAX;
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < TQ_HISTORY_MAX; i++) {
		struct tqi_earlier *output = &history->outputs[i];

		if (i == newest || bytes + output->bytes > TQI_EARLIER_BYTES)
			output->block = 0;
		if (!tqi_rebuild_block(c, &output->block, output->bytes))
			output->bytes = 0;
		bytes += output->bytes;
	}
}

static void mend_history(struct tqi_check *c, struct tqi_task *t)
{
	if (t->history_count >= 2 * TQ_HISTORY_MAX)
		t->history_count = 0;
	if (tqi_rebuild_block(c, &t->history, sizeof(struct tqi_history)))
		mend_outputs(c, t);
	else
		t->history_count = 0;
}

static void mend_blocks(struct tqi_check *c, struct tqi_task *t)
{
	mend_payload(c, t);
	if (!tqi_rebuild_block(c, &t->result, t->result_bytes))
		t->result_bytes = 0;
	if (!tqi_rebuild_block(c, &t->error, t->error_bytes))
		t->error_bytes = 0;
	mend_history(c, t);
	if (!tqi_rebuild_block(c, &t->kept, t->kept_bytes))
		t->kept_bytes = 0;
}

static void count(struct tqi_check *c, const struct tqi_task *t)
{
	struct tqi_root *root = tqi_root(c->tx);
	struct tqi_queue *queue = tqi_queue_at(c->tx, t->queue);

	if (t->state == TQ_RUNNING)
		root->running++;
	else if (!tqi_state_is_final(t->state) && t->wait_sequence >= queue->purge_before)
		queue->waiting++;
	if (tqi_state_is_final(t->state))
		return;
	root->unfinished++;
	root->time.appointments += tqi_check_at(c, t) != 0;
}

static bool has_culprit(struct tqi_check *c, const struct tqi_task *t)
{
	const struct tqi_extra *extra = tqi_check_extra(c, t);

	return extra && extra->culprit;
}

static void mend_task(struct tqi_check *c, uint32_t index, struct tqi_task *t)
{
	if (!tqi_check_record(c, TQI_QUEUES, t->queue) ||
	    !tqi_check_record(c, TQI_KINDS, t->kind) || t->state >= TQ_STATE_COUNT ||
	    t->generation == 0 || t->generation >= TQI_GENERATION_MAX) {
		lose(t);
		return;
	}
	tqi_rebuild_of(c, t->queue, t->kind);
	if (t->cause > TQ_CAUSE_RELEASED)
		t->cause = TQ_CAUSE_NONE;
	mend_sequence(c, t);
	t->flags &= (uint16_t) ~(TQI_TASK_DUE | TQI_TASK_AT | TQI_TASK_LISTED | TQI_TASK_TELLING);
	mend_attempt(c, index, t);
	if (t->state == TQ_READY || t->state == TQ_RUNNING)
		t->flags &= (uint16_t)~TQI_TASK_SERVED;
	mend_blocks(c, t);
	if (t->cause == TQ_CAUSE_DEPENDENCY && !has_culprit(c, t))
		t->cause = t->state == TQ_CANCELLED ? TQ_CAUSE_CANCELLED : TQ_CAUSE_NONE;
	tqi_rebuild_task_key(c, index, t);
	tqi_rebuild_task_group(c, index, t);
	tqi_rebuild_task_limits(c, t);
	tqi_rebuild_task_tenant(c, t);
	count(c, t);
}

/* Attempts. */

static void link_attempt(struct tqi_check *c, uint32_t a)
{
	struct tqi_attempt *attempt = tqi_attempt_at(c->tx, a);
	struct tqi_worker *worker = tqi_worker_at(c->tx, attempt->worker);

	attempt->next = worker->attempts;
	if (worker->attempts)
		tqi_attempt_at(c->tx, worker->attempts)->prev = a;
	worker->attempts = a;
	worker->attempt_count++;
	c->marks[TQI_ATTEMPTS][a] |= TQI_SEEN_LINKED;
	if (attempt->phase > TQI_PHASE_KILL || !attempt->phase != !attempt->stop_cause)
		attempt->phase = attempt->stop_cause = 0;
	tqi_rebuild_block(c, &attempt->checkpoint, TQI_CHECKPOINT_BLOCK);
	if (!tqi_rebuild_block(c, &attempt->inherited, attempt->inherited_bytes))
		attempt->inherited_bytes = 0;
	tqi_rebuild_attempt_server(c, attempt, tqi_task_at(c->tx, attempt->task)->queue);
	tqi_rebuild_block(c, &attempt->payload, 0);
}

void tqi_rebuild_tasks(struct tqi_check *c)
{
	find_sequence(c);
	for (uint32_t i = 1; i < c->count[TQI_TASKS]; i++) {
		struct tqi_task *t = tqi_check_record(c, TQI_TASKS, i);

		if (t && t->state != TQ_FREE)
			mend_task(c, i, t);
		if (t && t->state == TQ_RUNNING)
			link_attempt(c, t->attempt);
	}
}

/* Workers. */

/* What it serves, of what there is; a free one names no kinds. */
static void mend_served(struct tqi_check *c, struct tqi_worker *w)
{
	uint32_t n = 0;

	if (w->queue_count > TQ_WORKER_QUEUES_MAX)
		w->queue_count = TQ_WORKER_QUEUES_MAX;
	for (uint32_t i = 0; i < w->queue_count; i++)
		if (tqi_check_record(c, TQI_QUEUES, w->queues[i]))
			w->queues[n++] = w->queues[i];
	w->queue_count = n;
	for (uint32_t i = 0; i < n; i++)
		if (tqi_worker_has_queue(w, i))
			tqi_rebuild_use(c, w->queues[i], 0);
	for (uint32_t k = 1; k <= TQI_KINDS_MAX && !tqi_kinds_are_all(w->kinds); k++) {
		if (!tqi_worker_serves_kind(w, k))
			continue;
		if (tqi_check_record(c, TQI_KINDS, k))
			tqi_rebuild_use(c, 0, k);
		else
			w->kinds[k / 64] &= ~(1ull << k % 64);
	}
}

static void mend_worker(struct tqi_check *c, struct tqi_worker *w)
{
	if (w->state > TQI_WORKER_DYING || (!w->life_made && !tqi_mutex_owner(&w->life)))
		w->state = TQI_WORKER_FREE;
	if (w->state == TQI_WORKER_FREE) {
		memset(w->kinds, 0, sizeof(w->kinds));
		return;
	}
	/* A hint only: whether its process is gone must still be proved. */
	w->life_made = 1;
	tqi_mutex_condemn(&w->life);
	mend_served(c, w);
	if (w->output_bytes & (w->output_bytes - 1))
		w->output = 0;
	if (!tqi_rebuild_block(c, &w->output, w->output_bytes))
		w->output_bytes = 0;
	if (w->flags & TQI_WORKER_EMPTY)
		tqi_root(c->tx)->empty_workers++;
	if (w->state == TQI_WORKER_DYING)
		tqi_root(c->tx)->dying_workers++;
}

void tqi_rebuild_workers(struct tqi_check *c)
{
	for (uint32_t i = 1; i < c->count[TQI_WORKERS]; i++) {
		struct tqi_worker *w = tqi_check_record(c, TQI_WORKERS, i);

		if (w)
			mend_worker(c, w);
	}
}

/* Sleepers. */

static bool keep_edge(struct tqi_check *c, uint32_t e, uint32_t w)
{
	struct tqi_edge *edge = tqi_check_record(c, TQI_EDGES, e);
	struct tqi_task *t = edge ? tqi_check_record(c, TQI_TASKS, edge->task) : NULL;

	if (!edge || edge->waiter != w || edge->kind || (c->marks[TQI_EDGES][e] & TQI_SEEN_WAITER))
		return false;
	c->marks[TQI_EDGES][e] |= TQI_SEEN_WAITER | TQI_SEEN_LINKED;
	if (!t || t->state == TQ_FREE)
		edge->task = 0; /* its task is lost: the edge is dropped below */
	return true;
}

static void attach_edge(struct tqi_check *c, uint32_t e, struct tqi_waiter *s)
{
	struct tqi_edge *edge = tqi_edge_at(c->tx, e);

	tqi_task_at(c->tx, edge->task)->pins++;
	edge->told = edge->told == TQI_EDGE_TOLD;
	s->told += edge->told;
	tqi_rebuild_edge_list(c, e);
}

/* The list of a sleeper's edges as far as it is whole, without those of lost tasks. */
static void mend_edges(struct tqi_check *c, uint32_t w, struct tqi_waiter *s)
{
	uint32_t *link = &s->edges;

	if (s->interest != TQI_INTEREST_GROUP)
		s->told = 0;
	while (*link && keep_edge(c, *link, w)) {
		struct tqi_edge *edge = tqi_edge_at(c->tx, *link);

		if (edge->task) {
			attach_edge(c, *link, s);
			link = &edge->next_of_waiter;
		} else {
			c->marks[TQI_EDGES][*link] &= (uint8_t)~TQI_SEEN_LINKED;
			*link = edge->next_of_waiter;
		}
	}
	*link = 0;
}

/* WO-1: of an attempt that is under way still. */
static void mend_behalf(struct tqi_check *c, uint32_t w, struct tqi_waiter *s)
{
	struct tqi_attempt *attempt = tqi_check_record(c, TQI_ATTEMPTS, s->attempt);

	if (!attempt || !(c->marks[TQI_ATTEMPTS][s->attempt] & TQI_SEEN_LINKED) ||
	    attempt->waits_life != s->attempt_life) {
		s->attempt = 0;
		return;
	}
	s->attempt_next = attempt->waits;
	if (attempt->waits)
		tqi_waiter_at(c->tx, attempt->waits)->attempt_prev = w;
	else
		tqi_worker_at(c->tx, attempt->worker)->waiting++;
	attempt->waits = w;
}

/* Who waits for room in a queue that is none waits for any. */
static void mend_subject(struct tqi_check *c, struct tqi_waiter *s)
{
	const struct tqi_queue *queue = tqi_check_record(c, TQI_QUEUES, s->subject);

	if (!queue || !queue->name[0])
		s->subject = 0;
}

/* Last of all; those for work are found only where there is their worker, and they live. */
static void append(struct tqi_check *c, uint32_t w, struct tqi_waiter *s)
{
	bool of_worker = s->interest == TQI_INTEREST_WORK || s->interest == TQI_INTEREST_STOPS;
	struct tqi_worker *worker = of_worker ? tqi_check_record(c, TQI_WORKERS, s->subject) : NULL;
	bool leaves = worker && s->interest == TQI_INTEREST_WORK &&
		      (worker->flags & TQI_WORKER_EMPTY);

	tqi_rebuild_group_waiter(c, s);
	if (s->interest == TQI_INTEREST_ROOM)
		mend_subject(c, s);
	s->list = leaves ? TQI_SLEEPERS_EMPTY : s->interest % TQI_WAITER_LISTS;
	tqi_waiter_append(c->tx, w);
	if (!of_worker ||
	    (worker && worker->state == TQI_WORKER_LIVE && !tqi_mutex_owner_died(&s->mutex)))
		tqi_sleep_listed(c->tx, w);
}

/* All are listed anew, in the order of their slots. */
void tqi_rebuild_sleepers(struct tqi_check *c)
{
	struct tqi_core *core = c->tx->core;

	core->waiter_oldest = core->waiter_newest = 0;
	core->waiter_count = core->waiter_for_work = core->waiter_coming = 0;
	memset(core->waiter_lists, 0, sizeof(core->waiter_lists));
	memset(&core->waiter_transit, 0, sizeof(core->waiter_transit));
	memset(core->waiter_keepers, 0, sizeof(core->waiter_keepers));
	memset(core->waiter_domains, 0, sizeof(core->waiter_domains));
	memset(core->waiter_domains_in_use, 0, sizeof(core->waiter_domains_in_use));
	for (uint32_t w = 1; w < c->count[TQI_WAITERS]; w++) {
		struct tqi_waiter *s = tqi_check_record(c, TQI_WAITERS, w);

		if (!s)
			continue;
		bool owned = tqi_mutex_owner(&s->mutex) || tqi_mutex_owner_died(&s->mutex);

		if (s->state > TQI_WAITER_TRANSIT || !owned || !s->mutex_made)
			s->state = TQI_WAITER_FREE; /* WT-1 */
		if (s->state == TQI_WAITER_FREE)
			continue;
		if (s->interest - 1 >= TQI_WAITER_LISTS - 1)
			s->interest = TQI_INTEREST_TASKS; /* it is woken, and looks for itself */
		mend_edges(c, w, s);
		mend_behalf(c, w, s);
		append(c, w, s);
	}
}

void tqi_rebuild_wake(struct tqi_check *c)
{
	for (uint32_t w = 1; w < c->count[TQI_WAITERS]; w++)
		if (tqi_waiter_at(c->tx, w)->state != TQI_WAITER_FREE)
			tqi_waiter_wake_now(c->tx, w);
}
