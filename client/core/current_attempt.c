/* SPDX-License-Identifier: MIT */
/* The attempt that a thread, or a process inside a command, works for. */
#include "client/core/current_attempt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/task/claim.h"
#include "scheduler/task/task.h"

#define DECIMAL 10

static uint32_t number_of(const char *text)
{
	char *end;
	unsigned long number = strtoul(text, &end, DECIMAL);

	return *text >= '0' && *text <= '9' && !*end && number <= UINT32_MAX ? (uint32_t)number : 0;
}

/* Ids of another segment say nothing in this one. */
void tqi_behalf_read(struct tq *tq)
{
	const char *id = secure_getenv("TASKQ_ID"), *attempt = secure_getenv("TASKQ_ATTEMPT"),
		   *segment = secure_getenv("TASKQ_SEGMENT");
	char path[TQI_PATH_MAX];

	if (!id || !attempt || !segment || tqi_segment_path(segment, path) < 0 ||
	    strcmp(path, tq->seg.path) != 0 || tq_task_id_parse(id, &tq->command.id) < 0)
		return;
	tq->command.attempt = number_of(attempt);
}

int tq_claim_adopt(struct tq_worker *worker, const struct tq_claim *claim)
{
	if (!worker)
		return -EINVAL;
	int r = tqi_worker_usable(worker);

	if (r == 0)
		tqi_behalf_set(worker, claim);
	return r;
}

bool tqi_behalf_is_known(struct tq *tq)
{
	const struct tqi_self *self = tqi_self(tq);

	return tq->command.attempt || (self && self->work.id);
}

bool tqi_behalf_is_farms(struct tq *tq)
{
	const struct tqi_self *self = tqi_self(tq);

	return self && self->work.id && self->work.farms;
}

/* The command's own attempt: a later one is another command's. */
static uint32_t of_command(struct tq *tq, struct tqi_tx *tx)
{
	uint32_t index;

	if (!tq->command.attempt || tqi_task_find(tx, tq->command.id, &index) < 0)
		return 0;
	const struct tqi_task *task = tqi_task_at(tx, index);

	return task->attempts == tq->command.attempt ? task->attempt : 0;
}

uint32_t tqi_behalf_here(struct tq *tq, struct tqi_tx *tx)
{
	const struct tqi_self *self = tqi_self(tq);

	if (self && self->work.id &&
	    tqi_attempt_find(tx, self->work.worker, self->work.slot, self->work.id,
			     self->work.epoch))
		return self->work.slot;
	return of_command(tq, tx);
}
