/* SPDX-License-Identifier: MIT */
/*
 * Which attempt the caller works for: the one that the calling thread has claimed, or
 * else, in a process inside a command, the command's.
 */
#ifndef TQI_CLIENT_CORE_CURRENT_ATTEMPT_H
#define TQI_CLIENT_CORE_CURRENT_ATTEMPT_H

#include "client/worker/worker_api.h"

/* What the environment says of a command that this process is part of (at tq_open()). */
void tqi_behalf_read(struct tq *tq);
/* The calling thread works on this claim from now on; NULL: on none. */
static inline void tqi_behalf_set(struct tq_worker *worker, const struct tq_claim *claim)
{
	struct tqi_self *self = tqi_self(worker->tq);
	struct tqi_work *work = self ? &self->work : NULL;

	if (!work)
		return;
	work->id = claim ? claim->id : 0;
	if (!claim)
		return;
	work->worker = worker->index;
	work->slot = claim->slot;
	work->farms = worker->farms;
	work->epoch = claim->epoch;
}
/* Whether it may work for any: what it knows may be over. */
bool tqi_behalf_is_known(struct tq *tq);
/* Whether it is a handler in our farm: signals of the process are the farm's business. */
bool tqi_behalf_is_farms(struct tq *tq);
/* In a hold: the record of the attempt, if it is under way; 0 none. */
uint32_t tqi_behalf_here(struct tq *tq, struct tqi_tx *tx);

#endif
