/* SPDX-License-Identifier: MIT */
/* Whether a farm has too many attempts that wait to run a given task. */
#include "client/observe/why_farm.h"

#include "client/observe/snapshot.h"
#include "scheduler/order/ready.h"

static bool may_start(const struct tqi_worker *w, const struct tqi_task *task)
{
	return tqi_worker_may_claim(w) && tqi_worker_serves_queue(w, task->queue) &&
	       tqi_worker_serves_kind(w, task->kind);
}

/* Attempts that wait in workers that serve the task: of one farm, or of all (@master 0). */
static uint32_t count_waiting(const struct tqi_segment *seg, const struct tqi_task *task,
			      uint32_t master, uint64_t generation)
{
	uint32_t waiting = 0, count;
	struct tqi_worker w;

	if (tqi_peek_count(seg, TQI_WORKERS, &count) < 0)
		return 0;
	for (uint32_t n = 1; n < count; n++)
		if (tqi_peek_record(seg, TQI_WORKERS, n, &w) == 0 && w.waiting && w.master &&
		    may_start(&w, task) &&
		    (!master || (w.master == master && w.master_generation == generation)))
			waiting += w.waiting;
	return waiting;
}

bool tqi_why_substitutes(const struct tqi_segment *seg, const struct tqi_task *task,
			 struct tq_why *why)
{
	uint32_t count, waiting;
	struct tqi_worker w;

	/* Almost always the answer; a farm's is a part of it. */
	if (count_waiting(seg, task, 0, 0) <= TQ_SUBSTITUTES_MAX ||
	    tqi_peek_count(seg, TQI_WORKERS, &count) < 0)
		return false;
	for (uint32_t n = 1; n < count; n++) {
		if (tqi_peek_record(seg, TQI_WORKERS, n, &w) < 0 || w.state != TQI_WORKER_LIVE ||
		    !(w.flags & TQI_WORKER_MASTER))
			continue;
		waiting = count_waiting(seg, task, n, w.generation);
		if (waiting <= TQ_SUBSTITUTES_MAX)
			continue;
		why->worker = n;
		why->pid = w.owner.pid;
		why->others = waiting;
		return true;
	}
	return false;
}
