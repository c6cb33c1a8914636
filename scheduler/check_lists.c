/* SPDX-License-Identifier: MIT */
/* Lists: both directions, membership, lengths; and the gauges of root and queues. */
#include "scheduler/check_state.h"

static void check_finished(struct tqi_check *c)
{
	const struct tqi_root *root = tqi_root(c->tx);
	uint32_t before = 0, count = 0;

	for (uint32_t i = root->finished_oldest; i;) {
		const struct tqi_task *t = tqi_check_at(c, TQI_TASKS, i, "the finished list");

		if (!t || (c->marks[TQI_TASKS][i] & TQI_MARK_LISTED) || t->prev != before) {
			tqi_check_fault(c, "the finished list is broken at %u", i);
			return;
		}
		if (!tqi_state_is_final(t->state) || t->pins || !(t->flags & TQI_TASK_LISTED))
			tqi_check_fault(c, "task %u: should not be on the finished list (R5)", i);
		c->marks[TQI_TASKS][i] |= TQI_MARK_LISTED;
		count++;
		before = i;
		i = t->next;
	}
	if (before != root->finished_newest || count != root->finished_count)
		tqi_check_fault(c, "the finished list: %u records, counted %u", root->finished_count,
				count);
}

static void check_telling(struct tqi_check *c)
{
	for (uint32_t i = tqi_root(c->tx)->telling; i;) {
		const struct tqi_task *t = tqi_check_at(c, TQI_TASKS, i, "the telling list");

		if (!t || (c->marks[TQI_TASKS][i] & TQI_MARK_TELLING) ||
		    !(t->flags & TQI_TASK_TELLING)) {
			tqi_check_fault(c, "the telling list is broken at %u", i);
			return;
		}
		c->marks[TQI_TASKS][i] |= TQI_MARK_TELLING;
		i = t->next;
	}
}

/* Edges of one waiter. */
static void check_edges(struct tqi_check *c, const struct tqi_waiter *w, uint32_t index)
{
	uint32_t limit = c->tx->core->tables[TQI_EDGES].count, told = 0;

	for (uint32_t e = w->edges; e && limit > 0; limit--) {
		const struct tqi_edge *edge = tqi_check_at(c, TQI_EDGES, e, "a waiter");

		if (!edge || edge->waiter != index ||
		    edge->task >= c->tx->core->tables[TQI_TASKS].count) {
			tqi_check_fault(c, "waiter %u: its edges are broken at %u", index, e);
			return;
		}
		c->pins[edge->task]++;
		told += edge->told;
		e = edge->next_of_waiter;
	}
	if (told != w->told)
		tqi_check_fault(c, "waiter %u: told of %u tasks, counted %u", index, w->told, told);
}

/* A chain of wait slots, through `newer`; returns its length. */
static uint32_t check_chain(struct tqi_check *c, uint32_t first, uint32_t last, bool both_ends,
			    enum tqi_waiter_state state, uint32_t *ret_for_work)
{
	uint32_t before = 0, count = 0, limit = c->tx->core->tables[TQI_WAITERS].count;

	*ret_for_work = 0;
	for (uint32_t i = first; i && count < limit; count++) {
		const struct tqi_waiter *w = tqi_check_at(c, TQI_WAITERS, i, "a chain of sleepers");

		if (!w || w->state != state || w->older != before) {
			tqi_check_fault(c, "a chain of sleepers is broken at %u", i);
			return count;
		}
		*ret_for_work += w->interest == TQI_WAITER_FOR_WORK;
		check_edges(c, w, i);
		before = i;
		i = w->newer;
	}
	if (both_ends && before != last)
		tqi_check_fault(c, "the chain of sleepers ends at %u, not %u", before, last);
	return count;
}

static void check_waiters(struct tqi_check *c)
{
	const struct tqi_core *core = c->tx->core;
	uint32_t for_work, ignored;
	uint32_t listed = check_chain(c, core->waiter_oldest, core->waiter_newest, true,
				      TQI_WAITER_LISTED, &for_work);
	uint32_t transit = check_chain(c, core->waiter_transit, 0, false, TQI_WAITER_TRANSIT, &ignored);

	if (listed != core->waiter_count || for_work != core->waiter_for_work)
		tqi_check_fault(c, "sleepers: %u, %u for work; counted %u and %u",
				core->waiter_count, core->waiter_for_work, listed, for_work);
	if (listed + transit != core->tables[TQI_WAITERS].live)
		tqi_check_fault(c, "wait slots: %u in use, but %u listed and %u in transit",
				core->tables[TQI_WAITERS].live, listed, transit);
}

static void check_worker(struct tqi_check *c, const struct tqi_worker *w, uint32_t index)
{
	uint32_t before = 0, count = 0, limit = c->tx->core->tables[TQI_ATTEMPTS].count;

	if (w->output)
		tqi_check_block(c, w->output, "output of worker", index);
	for (uint32_t a = w->attempts; a && count < limit; count++) {
		const struct tqi_attempt *attempt = tqi_check_at(c, TQI_ATTEMPTS, a, "a worker");

		if (!attempt || attempt->worker != index || attempt->prev != before) {
			tqi_check_fault(c, "worker %u: its attempts are broken at %u", index, a);
			return;
		}
		const struct tqi_task *t = tqi_check_at(c, TQI_TASKS, attempt->task, "an attempt");

		if (t && t->attempt != a)
			tqi_check_fault(c, "attempt %u: task %u does not know it (R2)", a,
					attempt->task);
		if (attempt->checkpoint)
			tqi_check_block(c, attempt->checkpoint, "checkpoint of attempt", a);
		if (attempt->inherited)
			tqi_check_block(c, attempt->inherited, "inheritance of attempt", a);
		before = a;
		a = attempt->next;
	}
	if (count != w->attempt_count)
		tqi_check_fault(c, "worker %u: %u attempts, counted %u", index, w->attempt_count,
				count);
}

static void check_workers(struct tqi_check *c)
{
	uint32_t live = 0, attempts = 0, leave_when_empty = 0;

	for (uint32_t i = 1; i < c->tx->core->tables[TQI_WORKERS].count; i++) {
		const struct tqi_worker *w = tqi_table_peek(c->tx->seg, TQI_WORKERS, i);

		if (w->state == TQI_WORKER_FREE)
			continue;
		live++;
		attempts += w->attempt_count;
		leave_when_empty += !!(w->flags & TQI_WORKER_EMPTY);
		check_worker(c, w, i);
	}
	if (live != c->tx->core->tables[TQI_WORKERS].live)
		tqi_check_fault(c, "workers: %u in use, counted %u",
				c->tx->core->tables[TQI_WORKERS].live, live);
	if (attempts != c->tx->core->tables[TQI_ATTEMPTS].live)
		tqi_check_fault(c, "attempts: %u in use, workers hold %u",
				c->tx->core->tables[TQI_ATTEMPTS].live, attempts);
	if (leave_when_empty != tqi_root(c->tx)->empty_workers)
		tqi_check_fault(c, "workers that leave when empty: %u, counted %u",
				tqi_root(c->tx)->empty_workers, leave_when_empty);
}

void tqi_check_lists(struct tqi_check *c)
{
	check_finished(c);
	check_telling(c);
	check_waiters(c);
	check_workers(c);
}

/* R5, and that every waiter's edge is a pin. */
static void check_final(struct tqi_check *c, const struct tqi_task *t, uint32_t i)
{
	bool listed = c->marks[TQI_TASKS][i] & TQI_MARK_LISTED;
	bool loose = !t->pins && !(t->flags & (TQI_TASK_KEEP | TQI_TASK_TELLING));

	if (t->pins != c->pins[i])
		tqi_check_fault(c, "task %u: %u pins, counted %u", i, t->pins, c->pins[i]);
	if (listed != !!(t->flags & TQI_TASK_LISTED))
		tqi_check_fault(c, "task %u: its flag and the finished list disagree", i);
	if (tqi_state_is_final(t->state) && loose && !listed)
		tqi_check_fault(c, "task %u: %s, and neither listed nor pinned (R5)", i,
				tq_state_name(t->state));
}

static void check_queue(struct tqi_check *c, uint32_t i)
{
	const struct tqi_queue *q = tqi_table_peek(c->tx->seg, TQI_QUEUES, i);
	uint32_t limit = c->tx->core->tables[TQI_CLASSES].count;

	if (q->waiting != c->waiting[i])
		tqi_check_fault(c, "queue %u: %u waiting, counted %u", i, q->waiting,
				c->waiting[i]);
	for (uint32_t n = q->classes; n; limit--) {
		const struct tqi_class *class = tqi_check_at(c, TQI_CLASSES, n, "a queue");

		if (!class || class->queue != i || limit == 0) {
			tqi_check_fault(c, "queue %u: its classes are broken at %u", i, n);
			return;
		}
		n = class->next;
	}
}

void tqi_check_gauges(struct tqi_check *c)
{
	const struct tqi_root *root = tqi_root(c->tx);

	for (uint32_t i = 1; i < c->tx->core->tables[TQI_TASKS].count; i++) {
		const struct tqi_task *t = tqi_table_peek(c->tx->seg, TQI_TASKS, i);

		if (t->state != TQ_FREE)
			check_final(c, t, i);
	}
	for (uint32_t i = 1; i < c->tx->core->tables[TQI_QUEUES].count; i++)
		check_queue(c, i);
	if (root->unfinished != c->count.unfinished || root->running != c->count.running ||
	    root->ready != c->count.ready)
		tqi_check_fault(c, "root: %u unfinished, %u running, %u ready; counted %u, %u, %u",
				root->unfinished, root->running, root->ready, c->count.unfinished,
				c->count.running, c->count.ready);
}
