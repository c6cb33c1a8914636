/* SPDX-License-Identifier: MIT */
/* Commands, their deliveries, and those who have taken one (RC-9). */
#include <string.h>

#include "scheduler/check/check_state.h"
#include "scheduler/worker/command.h"

uint64_t tqi_check_command_bytes(const struct tqi_command *command)
{
	return (uint64_t)command->delivery_count * sizeof(struct tqi_delivery) +
	       command->argument_bytes;
}

const char *tqi_check_command_fault(struct tqi_check *c, const struct tqi_command *command)
{
	if (command->generation == 0 || command->to < TQ_COMMAND_TO_WORKER ||
	    command->to > TQ_COMMAND_TO_FARMS)
		return "makes no sense";
	if (!tqi_check_record_in_use(c, TQI_QUEUES, command->queue))
		return "is of no queue";
	if (command->name[0] == '\0' || strnlen(command->name, TQ_NAME_MAX + 1) > TQ_NAME_MAX)
		return "has no name";
	if (command->delivery_count == 0 || command->delivery_count > TQI_WORKERS_MAX ||
	    command->argument_bytes > TQ_COMMAND_ARGUMENT_MAX ||
	    (command->to <= TQ_COMMAND_TO_ANY && command->delivery_count != 1))
		return "has an impossible size";
	return NULL;
}

const struct tqi_worker *tqi_check_recipient(struct tqi_check *c, const struct tqi_delivery *d)
{
	const struct tqi_worker *worker = tqi_check_record(c, TQI_WORKERS, d->worker);

	return worker && worker->state != TQI_WORKER_FREE && worker->generation == d->generation &&
			       (worker->flags & TQI_WORKER_COMMANDS)
		       ? worker
		       : NULL;
}

/* One that is not answered: its worker is there, or it is for anybody. */
static const char *delivery_fault(struct tqi_check *c, uint32_t index,
				  const struct tqi_command *command, const struct tqi_delivery *d)
{
	const struct tqi_worker *worker = tqi_check_recipient(c, d);

	if (d->state > TQ_ANSWER_GONE)
		return "has an unknown state";
	if (tqi_delivery_answer(command, d) > TQ_ANSWER_TAKEN)
		return NULL;
	if (d->state == TQ_ANSWER_WAITING && command->to == TQ_COMMAND_TO_ANY)
		return d->worker ? "is nobody's yet" : NULL;
	if (!worker)
		return "is unanswered, its worker is gone";
	if ((d->state == TQ_ANSWER_TAKEN) != (worker->command == index))
		return "and its worker disagree";
	return NULL;
}

static void check_deliveries(struct tqi_check *c, uint32_t index, const struct tqi_command *command)
{
	const struct tqi_delivery *d = tqi_command_deliveries(c->tx, command);
	uint32_t waiting = 0, open = 0;

	for (uint32_t i = 0; d && i < command->delivery_count; i++) {
		const char *fault = delivery_fault(c, index, command, &d[i]);

		if (!fault && i > 0 && d[i].worker <= d[i - 1].worker)
			fault = "is out of order";
		if (fault)
			tqi_check_fault(c, "command %u: delivery %u %s", index, i, fault);
		uint32_t answer = tqi_delivery_answer(command, &d[i]);

		waiting += answer == TQ_ANSWER_WAITING;
		open += answer <= TQ_ANSWER_TAKEN;
	}
	tqi_check_equal(c, "command", index, "waiting", command->waiting, waiting);
	tqi_check_equal(c, "command", index, "open", command->open, open);
	tqi_check_equal(c, "command", index, "state", command->state,
			open ? TQI_COMMAND_OPEN : TQI_COMMAND_ENDED);
}

static void check_command(struct tqi_check *c, uint32_t index)
{
	const struct tqi_command *command = tqi_check_record(c, TQI_COMMANDS, index);
	uint32_t mark = c->marks[TQI_COMMANDS][index];

	if (!command)
		return;
	if (!!(mark & TQI_SEEN_FREE) != (command->state == TQI_COMMAND_FREE) ||
	    command->state > TQI_COMMAND_ENDED) {
		tqi_check_fault(c, "command %u: state %u, %s the free list", index, command->state,
				mark & TQI_SEEN_FREE ? "on" : "not on");
		return;
	}
	if (mark & TQI_SEEN_FREE)
		return;
	const char *fault = tqi_check_command_fault(c, command);

	if (!(mark & TQI_SEEN_LINKED))
		tqi_check_fault(c, "command %u: on no list", index);
	if (fault)
		tqi_check_fault(c, "command %u: %s", index, fault);
	else if (tqi_check_block(c, command->block, tqi_check_command_bytes(command), "command",
				 index, "deliveries"))
		check_deliveries(c, index, command);
	if (!fault)
		c->queue_users[command->queue]++;
}

/* One of the two lists; open ones by sequence, too. */
static uint32_t check_list(struct tqi_check *c, uint32_t state, uint32_t first, uint32_t last)
{
	struct tqi_check_list list = { TQI_CHECK_LIST(TQI_COMMANDS, tqi_command, prev, next),
				       .mark = TQI_SEEN_LINKED,
				       .name = state == TQI_COMMAND_OPEN ? "open commands"
									 : "ended commands",
				       .next = first };
	const struct tqi_command *command;
	uint64_t sequence = 0;

	while ((command = tqi_check_next(c, &list))) {
		if (command->state != state ||
		    (state == TQI_COMMAND_OPEN && command->sequence <= sequence))
			tqi_check_break(c, &list);
		sequence = command->sequence;
	}
	tqi_check_list_end(c, &list, "last command", last);
	return list.count;
}

/* What a worker has taken, and that it knows of all that waits for it. */
static void check_taken(struct tqi_check *c, uint32_t w)
{
	const struct tqi_worker *worker = tqi_check_record(c, TQI_WORKERS, w);

	if (!worker || worker->state == TQI_WORKER_FREE)
		return;
	if (worker->command) {
		const struct tqi_command *command =
			tqi_check_record_in_use(c, TQI_COMMANDS, worker->command);
		const struct tqi_delivery *d =
			command ? tqi_command_delivery(c->tx, command, w, worker->generation)
				: NULL;

		if (!d || d->state != TQ_ANSWER_TAKEN)
			tqi_check_fault(c, "worker %u: has not taken command %u", w,
					worker->command);
		return;
	}
	if (worker->command_seen == tqi_root(c->tx)->command.change &&
	    (worker->flags & TQI_WORKER_COMMANDS) && tqi_command_next(c->tx, w))
		tqi_check_fault(c, "worker %u: overlooks a command", w);
}

void tqi_check_commands(struct tqi_check *c)
{
	const struct tqi_root *root = tqi_root(c->tx);
	const uint32_t faults = c->faults;
	uint32_t open = check_list(c, TQI_COMMAND_OPEN, root->command.oldest, root->command.newest);
	uint32_t ended = check_list(c, TQI_COMMAND_ENDED, root->command.ended_oldest,
				    root->command.ended_newest);

	tqi_check_equal(c, "root", 0, "commands_open", root->command.open, open);
	tqi_check_equal(c, "root", 0, "ended_count", root->command.ended_count, ended);
	tqi_check_equal(c, "root", 0, "command_waiters", root->command.waiters, c->command_waiters);
	for (uint32_t i = 1; i < c->count[TQI_COMMANDS]; i++)
		check_command(c, i);
	/* What follows goes through lists and deliveries as claims do. */
	for (uint32_t w = 1; w < c->count[TQI_WORKERS] && c->faults == faults; w++)
		check_taken(c, w);
}
