/* SPDX-License-Identifier: MIT */
/* A worker's private side. */
#ifndef TQI_CLIENT_WORKER_WORKER_API_H
#define TQI_CLIENT_WORKER_WORKER_API_H

#include <errno.h>

#include "client/core/handle.h"
#include "client/core/options.h"
#include "scheduler/worker/worker.h"

struct tqi_heartbeat;

struct tq_worker {
	struct tq *tq;
	uint32_t index; /* its record */
	uint32_t pid;	/* of the process that opened it: others get -ECHILD */
	uint64_t generation;
	uint64_t lease_ns;
	uint64_t grace_ns;
	struct tqi_heartbeat *heartbeat; /* NULL none */
	bool farms; /* it is one of our farm's */
	bool until_empty; /* claim answers -ENODATA when nothing is left to start */
};

/* What tq_worker_open() does not offer: for our own farm. */
struct tqi_worker_extra {
	uint32_t flags; /* TQI_WORKER_MASTER, TQI_WORKER_EMPTY */
	uint32_t output_bytes;
	uint32_t master;
};
int tqi_worker_open(struct tq *tq, const struct tq_worker_opts *opts,
		    const struct tqi_worker_extra *extra, struct tq_worker **ret_worker);

/* The record in the mapping, for the words that its owner writes without the lock. */
struct tqi_worker *tqi_worker_record(struct tq_worker *worker);
/* The attempt's record, if the claim is still this worker's. NULL: TQ_ELEASE. */
struct tqi_attempt *tqi_claim_record(struct tq_worker *worker, const struct tq_claim *claim);

/* 0, or -ECHILD in a child of the process that opened it. */
static inline int tqi_worker_usable(struct tq_worker *worker)
{
	return tqi_pid_self(worker->tq) == worker->pid ? 0 : -ECHILD;
}

/* A caller's verdict as this build knows it: of the same size, as most are, it is used as it is. */
static inline int tqi_verdict_in(struct tq_verdict *copy, const struct tq_verdict **verdict)
{
	const struct tq_verdict *from = *verdict;

	if (!from)
		return -EINVAL;
	if (__builtin_expect(from->size == sizeof(*copy), 1))
		return 0;
	*verdict = copy;
	return tqi_options_in(copy, sizeof(*copy), sizeof(*copy), from);
}
/* Check a verdict and copy it; a large result goes into a block in flight. */
struct tqi_verdict;
int tqi_verdict_take(struct tq_worker *worker, const struct tq_verdict *v,
		     struct tqi_verdict *ret_v);

/* Heartbeat thread (client/worker/heartbeat.c). */
int tqi_heartbeat_start(struct tq_worker *worker, struct tqi_heartbeat **ret_heartbeat);
void tqi_heartbeat_stop(struct tqi_heartbeat *heartbeat);

#endif
