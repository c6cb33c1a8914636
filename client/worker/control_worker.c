/* SPDX-License-Identifier: MIT */
/* Commands on the worker's side: taken and answered. */
#include <errno.h>
#include <string.h>

#include "client/worker/worker_api.h"
#include "scheduler/worker/command.h"

struct taking {
	uint32_t worker;
	struct tq_command *command;
};

static int take_op(struct tqi_tx *tx, void *arg)
{
	const struct taking *t = arg;
	const struct tqi_worker *worker = tqi_worker_at(tx, t->worker);

	if (!tqi_command_take(tx, t->worker))
		return -EAGAIN;
	const struct tqi_command *c = tqi_command_at(tx, worker->command);
	struct tq_command *to = t->command;

	to->id = tqi_id_make(worker->command, c->generation);
	to->argument = tqi_command_argument(tx, c);
	to->argument_bytes = c->argument_bytes;
	to->sent_ns = c->sent_ns;
	to->to = c->to;
	to->sender_pid = c->sender_pid;
	memcpy(to->name, c->name, sizeof(to->name));
	memcpy(to->queue, tqi_queue_at(tx, c->queue)->name, sizeof(to->queue));
	return 0;
}

int tq_command_take(struct tq_worker *worker, struct tq_command *ret_command)
{
	if (!worker || !ret_command)
		return -EINVAL;
	struct tq_command command = { .size = sizeof(command) };
	struct taking t = { .command = &command };

	if (ret_command->size != sizeof(*ret_command))
		return -EINVAL;
	int r = tqi_worker_usable(worker);

	if (r < 0)
		return r;
	t.worker = worker->index;
	r = tqi_run(worker->tq, take_op, &t);
	if (r == 0)
		*ret_command = command;
	return r;
}

struct answer {
	uint32_t worker;
	uint64_t id;
	uint32_t state;
	const char *text;
};

static int ack_op(struct tqi_tx *tx, void *arg)
{
	const struct answer *a = arg;

	return tqi_command_ack(tx, a->worker, a->id, a->state, a->text);
}

int tq_command_ack(struct tq_worker *worker, uint64_t id, uint32_t state, const char *text)
{
	if (!worker)
		return -EINVAL;
	struct answer a = { .id = id, .state = state, .text = text };

	if (state != TQ_ANSWER_DONE && state != TQ_ANSWER_REFUSED)
		return -EINVAL;
	int r = tqi_worker_usable(worker);

	if (r < 0)
		return r;
	a.worker = worker->index;
	return tqi_run(worker->tq, ack_op, &a);
}
