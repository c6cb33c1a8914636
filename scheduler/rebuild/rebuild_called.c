/* SPDX-License-Identifier: MIT */
/* Sleepers for ends in groups, and for answers: by how far that has come (CA-1). */
#include "scheduler/rebuild/rebuild_state.h"
#include "scheduler/wake/called.h"

static const struct tqi_waiter_list none;

/* One whose command is lost waits for another one's answers: it finds that its own is gone. */
void tqi_rebuild_command_waiter(struct tqi_check *c, struct tqi_waiter *s)
{
	const struct tqi_command *command = s->interest == TQI_INTEREST_COMMAND
						    ? tqi_check_record(c, TQI_COMMANDS, s->subject)
						    : NULL;

	if (s->interest != TQI_INTEREST_COMMAND || (command && command->state != TQI_COMMAND_FREE))
		return;
	s->interest = TQI_INTEREST_TASKS;
	s->subject = s->told = 0;
}

static void forget_lists(struct tqi_check *c)
{
	tqi_root(c->tx)->called = none;
	for (uint32_t i = 1; i < c->count[TQI_GROUPS]; i++) {
		struct tqi_group *g = tqi_check_record(c, TQI_GROUPS, i);

		if (g)
			g->asleep_next = g->asleep_last = none;
	}
	for (uint32_t i = 1; i < c->count[TQI_COMMANDS]; i++) {
		struct tqi_command *command = tqi_check_record(c, TQI_COMMANDS, i);

		if (command)
			command->asleep = none;
	}
}

/* They were listed before it was known what groups' members add up to. */
void tqi_rebuild_called(struct tqi_check *c)
{
	forget_lists(c);
	for (uint32_t w = 1; w < c->count[TQI_WAITERS]; w++) {
		const struct tqi_waiter *s = tqi_check_record(c, TQI_WAITERS, w);

		if (s && s->state == TQI_WAITER_LISTED &&
		    (s->interest == TQI_INTEREST_COMMAND || s->interest == TQI_INTEREST_GROUP))
			tqi_called_enter(c->tx, w);
	}
}
