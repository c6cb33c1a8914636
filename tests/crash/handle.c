/* SPDX-License-Identifier: MIT */
/* Handles of make-believe processes. */
#include "tests/crash/handle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/core/wipe.h"

#define LOCK_TIMEOUT_NS 300000000ull /* 0.3 s of real time: a lock that hangs is a finding */

struct tq *tqt_handle_new(const struct tqi_segment *seg, const struct tqt_system *system,
			  uint32_t pid)
{
	struct tq *tq = calloc(1, sizeof(*tq));

	if (!tq || !(tq->wipe = tqi_wipe_new()) ||
	    pthread_key_create(&tq->thread_key, tqi_self_free)) {
		perror("handle");
		exit(1);
	}
	/* What makes a process another one. */
	tqi_store_relaxed32(&tq->wipe->pid, pid);
	tqi_store_relaxed64(&tq->wipe->start, 1);
	tq->seg = *seg;
	tq->seg.ops = &system->ops;
	tq->lock_timeout_ns = LOCK_TIMEOUT_NS;
	return tq;
}

void tqt_handle_free(struct tq *tq)
{
	if (!tq)
		return;
	tqi_self_free(pthread_getspecific(tq->thread_key));
	pthread_key_delete(tq->thread_key);
	tqi_wipe_free(tq->wipe);
	free(tq);
}

void tqt_handle_forget(struct tq *tq)
{
	memset(&tq->names, 0, sizeof(tq->names));
	tqi_seen_clear(&tq->seen);
}
