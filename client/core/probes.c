/* SPDX-License-Identifier: MIT */
/* Static probes; nothing where <sys/sdt.h> is missing. */
#include "client/core/probes.h"

#ifdef TASKQ_USDT

#include "scheduler/record/trace.h"

#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

/* All probes have the same semaphore: one look for each hold. */
__attribute__((section(".probes"), visibility("hidden"), used)) unsigned short taskq_move_semaphore;
#define SHARED(name)                                                                               \
	extern __attribute__((alias("taskq_move_semaphore"), visibility("hidden"),                 \
			      used)) unsigned short taskq_##name##_semaphore
SHARED(stop);
SHARED(signal);
SHARED(reclaim);
SHARED(steal);
SHARED(after);

static void fire(const struct tqi_trace_entry *e)
{
	switch (e->event) {
	case TQ_TRACE_MOVE:
		STAP_PROBE6(taskq, move, e->task, e->from, e->to, e->cause, e->argument, e->worker);
		break;
	case TQ_TRACE_STOP:
		STAP_PROBE3(taskq, stop, e->task, e->cause, e->worker);
		break;
	case TQ_TRACE_SIGNAL:
		STAP_PROBE4(taskq, signal, e->task, e->cause, e->worker, e->argument);
		break;
	case TQ_TRACE_RECLAIM:
		STAP_PROBE4(taskq, reclaim, e->task, e->cause, e->argument, e->worker);
		break;
	case TQ_TRACE_STEAL:
		STAP_PROBE3(taskq, steal, e->task, e->worker, e->argument);
		break;
	case TQ_TRACE_AFTER:
		STAP_PROBE2(taskq, after, e->task, tqi_trace_other(e));
		break;
	default:
		break;
	}
}

void tqi_probes_fire_all(struct tqi_tx *tx)
{
	const struct tqi_geometry *g = &tx->seg->geometry;
	const struct tqi_trace_entry *ring = (const void *)(tx->base + g->ring);
	const uint64_t head = tx->core->ring_head;
	uint64_t n = tx->ring_first;

	if (head - n > g->ring_slots)
		n = head - g->ring_slots;
	while (n < head)
		fire(&ring[n++ % g->ring_slots]);
}

#else

void tqi_probes_fire_all(struct tqi_tx *tx)
{
	(void)tx;
}

#endif
