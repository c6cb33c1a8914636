/* SPDX-License-Identifier: MIT */
/* Commands: those that make sense stay, with the answers that they have. */
#include <string.h>

#include "scheduler/worker/command.h"
#include "scheduler/rebuild/rebuild_state.h"

/* Its worker has it, or is to get it; of two that were taken one counts. */
static bool may_stay(struct tqi_check *c, uint32_t index, const struct tqi_delivery *d)
{
	const struct tqi_worker *worker = tqi_check_recipient(c, d);

	return worker &&
	       (d->state == TQ_ANSWER_WAITING || !worker->command || worker->command == index);
}

static void mend_delivery(struct tqi_check *c, uint32_t index, const struct tqi_command *command,
			  struct tqi_delivery *d)
{
	bool anybody = command->to == TQ_COMMAND_TO_ANY;

	if (d->state > TQ_ANSWER_GONE)
		d->state = TQ_ANSWER_GONE;
	((char *)d->text)[TQ_COMMAND_TEXT_MAX] = '\0';
	if (tqi_delivery_answer(command, d) > TQ_ANSWER_TAKEN)
		return;
	if (anybody && !command->cancelled_ns &&
	    (d->state == TQ_ANSWER_WAITING || !may_stay(c, index, d))) {
		d->state = TQ_ANSWER_WAITING;
		d->worker = d->pid = 0;
		d->generation = 0;
	} else if (!may_stay(c, index, d)) {
		d->state = TQ_ANSWER_GONE;
	}
	if (d->state == TQ_ANSWER_TAKEN)
		tqi_worker_at(c->tx, d->worker)->command = index;
}

/* Those out of order would not be found: they have their answer. */
static void mend_deliveries(struct tqi_check *c, uint32_t index, struct tqi_command *command)
{
	struct tqi_delivery *d = tqi_command_deliveries(c->tx, command);
	uint32_t last = 0;

	for (uint32_t i = 0; i < command->delivery_count; i++) {
		if (i > 0 && d[i].worker <= last) {
			d[i].worker = last + 1;
			d[i].state = d[i].state <= TQ_ANSWER_TAKEN ? TQ_ANSWER_GONE : d[i].state;
		}
		if (command->state == TQI_COMMAND_ENDED &&
		    tqi_delivery_answer(command, &d[i]) <= TQ_ANSWER_TAKEN)
			d[i].state = TQ_ANSWER_GONE;
		mend_delivery(c, index, command, &d[i]);
		uint32_t answer = tqi_delivery_answer(command, &d[i]);

		command->waiting += answer == TQ_ANSWER_WAITING;
		command->open += answer <= TQ_ANSWER_TAKEN;
		last = d[i].worker;
	}
	command->state = command->open ? TQI_COMMAND_OPEN : TQI_COMMAND_ENDED;
}

/* Whether a comes after b on their list. */
static bool is_after(const struct tqi_command *a, const struct tqi_command *b)
{
	bool open = a->state == TQI_COMMAND_OPEN;

	return open ? a->sequence > b->sequence : a->ended_ns >= b->ended_ns;
}

static void enlist(struct tqi_check *c, uint32_t index, struct tqi_command *command)
{
	struct tqi_root *root = tqi_root(c->tx);
	bool open = command->state == TQI_COMMAND_OPEN;
	uint32_t *first = open ? &root->command.oldest : &root->command.ended_oldest;
	uint32_t *last = open ? &root->command.newest : &root->command.ended_newest;
	uint32_t before = *last;

	while (before && !is_after(command, tqi_command_at(c->tx, before)))
		before = tqi_command_at(c->tx, before)->prev;
	command->prev = before;
	command->next = before ? tqi_command_at(c->tx, before)->next : *first;
	*(before ? &tqi_command_at(c->tx, before)->next : first) = index;
	*(command->next ? &tqi_command_at(c->tx, command->next)->prev : last) = index;
	root->command.open += open;
	root->command.anybody += command->to == TQ_COMMAND_TO_ANY ? command->waiting : 0;
	root->command.ended_count += !open;
}

static bool mend_command(struct tqi_check *c, uint32_t index, struct tqi_command *command)
{
	if (command->state == TQI_COMMAND_FREE || command->state > TQI_COMMAND_ENDED ||
	    tqi_check_command_fault(c, command) ||
	    !tqi_rebuild_block(c, &command->block, tqi_check_command_bytes(command)))
		return false;
	mend_deliveries(c, index, command);
	c->marks[TQI_COMMANDS][index] |= TQI_SEEN_LINKED;
	tqi_rebuild_use(c, command->queue, 0);
	return true;
}

/* Two of one sequence have no order: the second one becomes a little later. */
static void mend_sequences(struct tqi_check *c)
{
	struct tqi_root *root = tqi_root(c->tx);
	uint64_t sequence = 0;

	for (uint32_t i = root->command.oldest; i; i = tqi_command_at(c->tx, i)->next) {
		struct tqi_command *command = tqi_command_at(c->tx, i);

		if (command->sequence <= sequence)
			command->sequence = sequence + 1;
		sequence = command->sequence;
	}
	if (root->command.sequence < sequence)
		root->command.sequence = sequence;
}

void tqi_rebuild_commands(struct tqi_check *c)
{
	for (uint32_t i = 1; i < c->count[TQI_COMMANDS]; i++) {
		struct tqi_command *command = tqi_check_record(c, TQI_COMMANDS, i);

		if (command && mend_command(c, i, command))
			enlist(c, i, command);
		else if (command)
			command->state = TQI_COMMAND_FREE;
	}
	mend_sequences(c);
	tqi_root(c->tx)->command.calling = tqi_root(c->tx)->command.oldest; /* all anew (CO-1) */
	tqi_root(c->tx)->command.change++; /* all look */
}
