/* SPDX-License-Identifier: MIT */
/* Sending commands, and waiting for what is answered. */
#include "client/operate/control.h"

#include <errno.h>
#include <string.h>

#include "client/core/options.h"
#include "client/core/sleeper.h"
#include "scheduler/worker/command.h"

struct sending {
	struct tq_command_spec spec;
	uint32_t pid;
	uint64_t id;
};

static int send_op(struct tqi_tx *tx, void *arg)
{
	struct sending *s = arg;

	return tqi_command_send(tx, &s->spec, s->pid, &s->id);
}

static int check_spec(const struct tq_command_spec *s)
{
	if (!s->name || !tqi_name_is_valid(s->name) || (s->queue && !tqi_name_is_valid(s->queue)))
		return -EINVAL;
	if (s->to < TQ_COMMAND_TO_WORKER || s->to > TQ_COMMAND_TO_FARMS ||
	    (s->to == TQ_COMMAND_TO_WORKER) != (s->worker != 0))
		return -EINVAL;
	if (s->argument_bytes > TQ_COMMAND_ARGUMENT_MAX)
		return -E2BIG;
	return s->argument_bytes && !s->argument ? -EINVAL : 0;
}

int tq_command_send(struct tq *tq, const struct tq_command_spec *spec, uint64_t *ret_id)
{
	if (!tq)
		return -EINVAL;
	struct sending s = { .id = 0 };
	int r = spec ? tqi_options_in(&s.spec, sizeof(s.spec), sizeof(s.spec), spec) : -EINVAL;

	if (r == 0)
		r = check_spec(&s.spec);
	if (r < 0)
		return r;
	s.pid = tqi_pid_self(tq);
	r = tqi_run(tq, send_op, &s);
	if (r > 0 && ret_id)
		*ret_id = s.id;
	return r;
}

static int cancel_op(struct tqi_tx *tx, void *arg)
{
	return tqi_command_cancel(tx, *(const uint64_t *)arg);
}

int tq_command_cancel(struct tq *tq, uint64_t id)
{
	if (!tq)
		return -EINVAL;
	return tqi_run(tq, cancel_op, &id);
}

static void count_answer(uint32_t answer, struct tq_command_info *i)
{
	i->answers[answer < TQ_ANSWER_COUNT ? answer : TQ_ANSWER_GONE]++;
}

void tqi_command_fill(const struct tqi_command *command, uint64_t id, const char *queue,
		      const struct tqi_delivery *deliveries, const void *argument,
		      struct tq_command_info *i)
{
	uint32_t bytes = command->argument_bytes;

	memset(i, 0, sizeof(*i));
	i->id = id;
	i->sent_ns = command->sent_ns;
	i->ended_ns = command->state == TQI_COMMAND_ENDED ? command->ended_ns : 0;
	i->argument_bytes = bytes;
	i->to = command->to;
	i->recipients = command->delivery_count;
	for (uint32_t d = 0; d < command->delivery_count; d++)
		count_answer(tqi_delivery_answer(command, &deliveries[d]), i);
	i->sender_pid = command->sender_pid;
	memcpy(i->name, command->name, TQ_NAME_MAX);
	memcpy(i->queue, queue, strnlen(queue, TQ_NAME_MAX));
	if (bytes > sizeof(i->argument) - 1)
		bytes = sizeof(i->argument) - 1;
	if (argument)
		memcpy(i->argument, argument, bytes);
}

struct waiting {
	uint64_t id;
	bool found;
	struct tq_command_info info; /* as it was last seen, under the lock */
};

static void see(struct tqi_tx *tx, struct waiting *w, uint32_t c)
{
	const struct tqi_command *command = tqi_command_at(tx, c);
	const struct tqi_delivery *d = tqi_command_deliveries(tx, command);

	if (tx->corrupt)
		return;
	tqi_command_fill(command, w->id, tqi_queue_at(tx, command->queue)->name, d,
			 tqi_command_argument(tx, command), &w->info);
	w->found = true;
}

/* Its slot is about the record, so that this is not freed before the answers were read. */
static int wait_attempt(struct tqi_tx *tx, struct tqi_sleeper *s)
{
	struct waiting *w = s->arg;
	uint32_t c;
	int r = tqi_command_find(tx, w->id, &c);

	if (r < 0)
		return r;
	see(tx, w, c);
	s->subject = c;
	return tqi_command_at(tx, c)->state == TQI_COMMAND_OPEN ? -EAGAIN : 0;
}

int tq_command_wait(struct tq *tq, uint64_t id, uint64_t timeout_ns,
		    struct tq_command_info *ret_info)
{
	if (!tq)
		return -EINVAL;
	struct waiting w = { .id = id };
	struct tqi_sleeper s = {
		.interest = TQI_INTEREST_COMMAND,
		.deadline_ns = timeout_ns ? tqi_deadline(tq, timeout_ns) : 0,
		.wake_ns = UINT64_MAX,
		.attempt = wait_attempt,
		.arg = &w,
	};
	uint64_t room = 0;
	int r = ret_info ? tqi_snapshot_room(ret_info, &room) : 0;

	while (r == 0) {
		r = tqi_block_in_time(tq, &s);
		if (r != -ENOMEM)
			break;
		r = tqi_make_room(tq, 0) < 0 ? TQ_EFULL : 0;
	}
	if (ret_info && w.found && (r == 0 || r == -ETIMEDOUT))
		tqi_snapshot_out(ret_info, room, &w.info, sizeof(w.info));
	return r;
}
