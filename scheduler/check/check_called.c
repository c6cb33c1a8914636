/* SPDX-License-Identifier: MIT */
/* Sleepers for ends in groups and for answers (CA-1); who is called to commands (CO-1, CO-2). */
#include "scheduler/check/check_state.h"
#include "scheduler/wake/called.h"
#include "scheduler/worker/command.h"
#include "shm/lock.h"

static bool may_be_called(const struct tqi_waiter *s)
{
	return s->state == TQI_WAITER_LISTED &&
	       (s->interest == TQI_INTEREST_COMMAND || s->interest == TQI_INTEREST_GROUP);
}

static bool has_subject(struct tqi_check *c, const struct tqi_waiter *s)
{
	return tqi_check_record_in_use(
		c, s->interest == TQI_INTEREST_GROUP ? TQI_GROUPS : TQI_COMMANDS, s->subject);
}

/* Each belongs there; returns their number. */
static uint32_t check_list(struct tqi_check *c, const char *name, uint32_t owner,
			   const struct tqi_waiter_list *l)
{
	struct tqi_check_list list = { TQI_CHECK_LIST(TQI_WAITERS, tqi_waiter, peer_older,
						      peer_newer),
				       .name = name, .owner = owner, .next = l->oldest };
	const struct tqi_waiter *s;

	while ((s = tqi_check_next(c, &list)))
		if (!may_be_called(s) || !has_subject(c, s) || tqi_called_list(c->tx, s) != l)
			tqi_check_break(c, &list);
	tqi_check_list_end(c, &list, "newest", l->newest);
	return list.count;
}

static uint32_t check_groups(struct tqi_check *c)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < c->count[TQI_GROUPS]; i++) {
		const struct tqi_group *g = tqi_check_record_in_use(c, TQI_GROUPS, i);

		if (!g)
			continue;
		n += check_list(c, "sleepers for the next end, group", i, &g->asleep_next);
		n += check_list(c, "sleepers for the last end, group", i, &g->asleep_last);
	}
	return n;
}

static uint32_t check_commands(struct tqi_check *c)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < c->count[TQI_COMMANDS]; i++) {
		const struct tqi_command *command = tqi_check_record_in_use(c, TQI_COMMANDS, i);

		if (!command)
			continue;
		n += check_list(c, "sleepers for answers, command", i, &command->asleep);
		tqi_check_equal(c, "command", i, "waiters", command->waiters, c->answers[i]);
	}
	return n;
}

static uint32_t count_listed(struct tqi_check *c)
{
	uint32_t n = 0;

	for (uint32_t w = 1; w < c->count[TQI_WAITERS]; w++) {
		const struct tqi_waiter *s = tqi_check_record_in_use(c, TQI_WAITERS, w);

		n += s && may_be_called(s);
	}
	return n;
}

/* CO-1 */
static void check_delivery(struct tqi_check *c, uint32_t index, const struct tqi_delivery *d)
{
	const struct tqi_worker *worker = tqi_check_recipient(c, d);
	uint32_t w = worker && d->state == TQ_ANSWER_WAITING ? tqi_command_slot(worker) : 0;
	struct tqi_waiter *s = w ? tqi_check_record_in_use(c, TQI_WAITERS, w) : NULL;

	if (s && s->state == TQI_WAITER_LISTED && !tqi_mutex_owner_died(&s->mutex))
		tqi_check_fault(c, "command %u: worker %u was not called", index, d->worker);
}

static void check_recipients(struct tqi_check *c, uint32_t index, const struct tqi_command *command,
			     uint32_t called)
{
	const struct tqi_delivery *d = tqi_command_deliveries(c->tx, command);

	if (command->called > command->delivery_count)
		tqi_check_fault(c, "command %u: has called %u of %u", index, command->called,
				command->delivery_count);
	else if (d && command->to != TQ_COMMAND_TO_ANY && command->waiting)
		for (uint32_t i = 0; i < called; i++)
			check_delivery(c, index, &d[i]);
}

/* CO-1: all before the one that calls are through; CO-2. */
static void check_open(struct tqi_check *c)
{
	const struct tqi_root *root = tqi_root(c->tx);
	uint32_t anybody = 0, steps = 0, i = root->command.oldest;
	const struct tqi_command *command;
	bool before = root->command.calling != 0;

	for (; i && steps++ < c->count[TQI_COMMANDS]; i = command->next) {
		command = tqi_check_record_in_use(c, TQI_COMMANDS, i);
		if (!command || tqi_check_command_fault(c, command))
			return; /* it is reported */
		before &= i != root->command.calling;
		check_recipients(c, i, command, before ? command->delivery_count : command->called);
		anybody += command->to == TQ_COMMAND_TO_ANY ? command->waiting : 0;
	}
	tqi_check_equal(c, "root", 0, "commands for anybody", root->command.anybody, anybody);
	if (before)
		tqi_check_fault(c, "root: command %u calls", root->command.calling);
}

void tqi_check_called(struct tqi_check *c)
{
	uint32_t n = check_list(c, "called sleepers", 0, &tqi_root(c->tx)->called);

	n += check_groups(c) + check_commands(c);
	tqi_check_equal(c, "root", 0, "sleepers for ends and answers", n, count_listed(c));
	check_open(c);
}
