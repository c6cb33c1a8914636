/* SPDX-License-Identifier: MIT */
/* Workers and their attempts. */
#include "scheduler/check/check_state.h"

#include "scheduler/record/serves.h"
#include "scheduler/order/assign.h"
#include "shm/lock.h"

static void check_attempt(struct tqi_check *c, uint32_t a, const struct tqi_attempt *attempt)
{
	const struct tqi_task *t = tqi_check_record_in_use(c, TQI_TASKS, attempt->task);

	if (!t || t->attempt != a)
		tqi_check_fault(c, "attempt %u: task %u does not know it", a, attempt->task);
	if (attempt->phase > TQI_PHASE_KILL || (attempt->phase != 0) != (attempt->stop_cause != 0))
		tqi_check_fault(c, "attempt %u: phase %u with cause %u", a, attempt->phase,
				attempt->stop_cause);
	if (attempt->checkpoint)
		tqi_check_block(c, attempt->checkpoint, TQI_CHECKPOINT_BLOCK, "attempt", a,
				"checkpoint");
	tqi_check_attempt_server(c, a, attempt, t);
	if (attempt->inherited)
		tqi_check_block(c, attempt->inherited, attempt->inherited_bytes, "attempt", a,
				"inherited checkpoint");
	if (attempt->payload)
		tqi_check_block(c, attempt->payload, 0, "attempt", a, "payload");
}

/* The attempts of a worker. */
static void check_attempts(struct tqi_check *c, uint32_t w, const struct tqi_worker *worker)
{
	struct tqi_check_list list = { TQI_CHECK_LIST(TQI_ATTEMPTS, tqi_attempt, prev, next),
				       .mark = TQI_SEEN_LINKED, .name = "attempts of worker",
				       .owner = w, .next = worker->attempts };
	const struct tqi_attempt *attempt;
	uint32_t waiting = 0;

	while ((attempt = tqi_check_next(c, &list))) {
		if (attempt->worker != w)
			tqi_check_break(c, &list);
		else
			check_attempt(c, list.at, attempt);
		waiting += attempt->waits != 0;
	}
	if (list.broken)
		return;
	tqi_check_equal(c, "worker", w, "attempt_count", worker->attempt_count, list.count);
	tqi_check_equal(c, "worker", w, "waiting", worker->waiting, waiting); /* WO-3 */
}

/* RC-3: the tasks assigned to a worker. */
static void check_assigned(struct tqi_check *c, uint32_t w, const struct tqi_worker *worker)
{
	struct tqi_check_list list = { TQI_CHECK_LIST(TQI_TASKS, tqi_task, prev, next),
				       .mark = TQI_SEEN_LINKED, .name = "assigned tasks of worker",
				       .owner = w, .next = worker->assigned };
	const struct tqi_task *t;

	while ((t = tqi_check_next(c, &list)))
		if (!(t->flags & TQI_TASK_ASSIGNED) || t->state != TQ_READY ||
		    (t->flags & TQI_TASK_HELD) || t->due_ns != w)
			tqi_check_break(c, &list);
	if (list.broken)
		return;
	tqi_check_list_end(c, &list, "last", worker->assigned_last);
	tqi_check_equal(c, "worker", w, "assigned_count", worker->assigned_count, list.count);
	c->assigned += list.count;
}

static void check_served(struct tqi_check *c, uint32_t w, const struct tqi_worker *worker)
{
	if (worker->queue_count > TQ_WORKER_QUEUES_MAX) {
		tqi_check_fault(c, "worker %u: serves %u queues", w, worker->queue_count);
		return;
	}
	for (uint32_t i = 0; i < worker->queue_count; i++) {
		if (!tqi_check_record_in_use(c, TQI_QUEUES, worker->queues[i]))
			tqi_check_fault(c, "worker %u: serves queue %u", w, worker->queues[i]);
		else if (tqi_worker_has_queue(worker, i))
			c->queue_users[worker->queues[i]]++;
	}
	for (uint32_t k = 1; k <= TQI_KINDS_MAX && !tqi_kinds_are_all(worker->kinds); k++) {
		if (!tqi_worker_serves_kind(worker, k))
			continue;
		if (!tqi_check_record_in_use(c, TQI_KINDS, k))
			tqi_check_fault(c, "worker %u: serves kind %u", w, k);
		else
			c->kind_users[k]++;
	}
}

static void check_worker(struct tqi_check *c, uint32_t w)
{
	struct tqi_worker *worker = tqi_check_record(c, TQI_WORKERS, w);
	bool free = c->marks[TQI_WORKERS][w] & TQI_SEEN_FREE;

	if (!worker)
		return;
	if (free != (worker->state == TQI_WORKER_FREE) || worker->state > TQI_WORKER_DYING) {
		tqi_check_fault(c, "worker %u: state %u, %s the free list", w, worker->state,
				free ? "on" : "not on");
		return;
	}
	if (free)
		return;
	c->empty_workers += !!(worker->flags & TQI_WORKER_EMPTY);
	c->dying_workers += worker->state == TQI_WORKER_DYING;
	check_served(c, w, worker);
	check_assigned(c, w, worker);
	check_attempts(c, w, worker);
	if (worker->output)
		tqi_check_block(c, worker->output, worker->output_bytes, "worker", w, "output");
	if (worker->output_bytes & (worker->output_bytes - 1))
		tqi_check_fault(c, "worker %u: output_bytes is %u", w, worker->output_bytes);
	if (tqi_mutex_owner(&worker->life) == 0 && !tqi_mutex_owner_died(&worker->life))
		tqi_check_fault(c, "worker %u: its life lock is free", w);
}

static bool expect_in_owners(struct tqi_check *c, uint32_t index, const struct tqi_check_heap *h,
			     struct tqi_heap_entry *entry)
{
	const struct tqi_worker *worker = tqi_worker_at(c->tx, index);

	(void)h;
	*entry = tqi_owner_entry(worker, index);
	return worker->state != TQI_WORKER_FREE && worker->assigned_count;
}

/* A3: those that have something to steal. */
static void check_owners(struct tqi_check *c)
{
	const struct tqi_heap *owners = &tqi_root(c->tx)->owners;

	tqi_check_heap(c, &(struct tqi_check_heap){ owners, TQI_FAMILY_OWNERS, TQI_WORKERS,
						    TQI_SEEN_DUE, 0, "owners", expect_in_owners });
	if (owners->capacity < c->tx->core->tables[TQI_WORKERS].live)
		tqi_check_fault(c, "root: no room for all owners of tasks");
	for (uint32_t w = 1; w < c->count[TQI_WORKERS]; w++) {
		const struct tqi_worker *worker = tqi_check_record_in_use(c, TQI_WORKERS, w);

		if (worker && worker->assigned_count && !(c->marks[TQI_WORKERS][w] & TQI_SEEN_DUE))
			tqi_check_fault(c, "worker %u: has tasks, but not in the heap of owners",
					w);
	}
}

void tqi_check_workers(struct tqi_check *c)
{
	for (uint32_t w = 1; w < c->count[TQI_WORKERS]; w++)
		check_worker(c, w);
	check_owners(c);
	for (uint32_t a = 1; a < c->count[TQI_ATTEMPTS]; a++)
		if (tqi_check_record_in_use(c, TQI_ATTEMPTS, a) &&
		    !(c->marks[TQI_ATTEMPTS][a] & TQI_SEEN_LINKED))
			tqi_check_fault(c, "attempt %u: of no worker", a);
}
