/* SPDX-License-Identifier: MIT */
/* Task records made consistent in themselves; workers with what is theirs. */
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
