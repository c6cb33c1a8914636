/* SPDX-License-Identifier: MIT */
/* Registered workers and masters: coming, leases, suspects; how they go: scheduler/task/depart.h. */
#ifndef TQI_SCHEDULER_WORKER_WORKER_H
#define TQI_SCHEDULER_WORKER_WORKER_H

#include "scheduler/record/records.h"
#include "shm/lock.h"

struct tqi_worker_request {
	const struct tqi_ident *owner;
	const char *name; /* "" none */
	const char *const *queues;
	const char *const *kinds; /* none: any kind */
	uint32_t queue_count;
	uint32_t kind_count;
	uint32_t flags; /* TQI_WORKER_MASTER, TQI_WORKER_EMPTY */
	uint32_t kill;
	uint64_t lease_ns;
	uint64_t grace_ns;
	uint32_t output_bytes; /* power of two; 0 none */
	uint32_t master;       /* record of its master; 0 none */
	uint32_t steal_max;    /* 0 none */
	uint32_t steal_capacity; /* thousandths */
	uint64_t steal_interval_ns;
};

/*
 * Register; the calling thread's life lock is taken in this transaction.  0;
 * TQ_EFULL; -ENOMEM; TQ_ESHUTDOWN; -EEXIST a live master has that name.
 */
int tqi_worker_register(struct tqi_tx *tx, const struct tqi_worker_request *request,
			uint32_t *ret_worker);
/* Make kinds that are new, beforehand: they may be too many for one transaction. */
int tqi_worker_make_kinds(struct tqi_tx *tx, const char *const *kinds, uint32_t count);
/* Set the kinds that it serves (handlers come and go). 0, TQ_EKINDS, -ENOMEM. */
int tqi_worker_set_kinds(struct tqi_tx *tx, uint32_t worker, const char *const *kinds,
			 uint32_t count);
/* It leaves: it names no queue and no kind any more. */
void tqi_worker_unname(struct tqi_tx *tx, struct tqi_worker *worker);
/* The record of a worker in this life of it; NULL it has gone. */
struct tqi_worker *tqi_worker_find(struct tqi_tx *tx, uint32_t worker, uint64_t generation);

/* Told to claim nothing more: the sleep of its claim ends. */
void tqi_worker_stop(struct tqi_tx *tx, uint32_t worker);

/* The record of a process that has registered under this master; 0 none. */
uint32_t tqi_worker_of(struct tqi_tx *tx, uint32_t master, uint32_t pid);

/* A worker whose death somebody should prove, outside the lock. */
#define TQI_GROUPS_MAX 5 /* its own, and those of a few commands */
struct tqi_suspect {
	uint32_t worker;
	uint32_t group_count; /* process groups that must be empty, too; above TQI_GROUPS_MAX:
				 more than could be noted */
	uint64_t generation;
	bool hinted; /* its life lock says so; else it is only a probe */
	bool orphaned; /* its master, if it had one, is gone as well */
	struct tqi_ident owner;
	struct {
		uint32_t pgid;
		uint64_t start;
		uint64_t id; /* of the task whose command leads it; 0 the worker itself */
	} groups[TQI_GROUPS_MAX];
};

/* The hint of its life lock was a false alarm. */
void tqi_worker_poll(struct tqi_tx *tx, const struct tqi_suspect *suspect);
/* Its life lock was lost although it lives (its thread ended): take it again. */
void tqi_worker_relive_now(struct tqi_tx *tx, struct tqi_worker *worker);
static inline void tqi_worker_relive(struct tqi_tx *tx, struct tqi_worker *worker)
{
	if (__builtin_expect(tqi_mutex_owner_died(&worker->life), 0))
		tqi_worker_relive_now(tx, worker);
}

/* Fill in a suspect; false when the record is not in use. */
bool tqi_worker_suspect(struct tqi_tx *tx, uint32_t worker, struct tqi_suspect *ret_suspect);

/* How a worker died, for the attempts that it leaves. */
struct tqi_death {
	uint32_t cause; /* TQ_CAUSE_RELEASED: no fault of the task */
	int32_t cause_arg;
	uint64_t max_rss_bytes;
	uint64_t cpu_ns;
};

/* Whether it is dying and its live master still has time to say why. */
bool tqi_worker_waits_for_master(struct tqi_tx *tx, uint32_t worker);

/* Judge the lease of one worker (two phases, C3). */
void tqi_worker_judge(struct tqi_tx *tx, uint32_t worker);

#endif
