/* SPDX-License-Identifier: MIT */
/* Sleepers for ends in groups, and for answers to commands. */
#include "scheduler/wake/called.h"

#include "shm/list.h"

TQI_LINKS(peer_links, tqi_waiter_at, tqi_waiter, peer_older, peer_newer)

static inline struct tqi_list list_of(struct tqi_waiter_list *ends)
{
	return (struct tqi_list){ peer_links, &ends->oldest, &ends->newest };
}

static struct tqi_waiter_list *list_in_group(struct tqi_tx *tx, const struct tqi_waiter *s)
{
	struct tqi_group *g = tqi_group_at(tx, s->subject);

	if (g->state == TQI_GROUP_COMPLETE || g->ends > s->told)
		return &tqi_root(tx)->called;
	return s->told == TQI_GROUP_LAST ? &g->asleep_last : &g->asleep_next;
}

struct tqi_waiter_list *tqi_called_list(struct tqi_tx *tx, const struct tqi_waiter *s)
{
	if (s->interest == TQI_INTEREST_GROUP)
		return list_in_group(tx, s);
	struct tqi_command *command = tqi_command_at(tx, s->subject);

	return command->state == TQI_COMMAND_OPEN ? &command->asleep : &tqi_root(tx)->called;
}

void tqi_called_enter(struct tqi_tx *tx, uint32_t w)
{
	tqi_list_append(tx, list_of(tqi_called_list(tx, tqi_waiter_at(tx, w))), w);
}

void tqi_called_leave(struct tqi_tx *tx, uint32_t w)
{
	tqi_list_remove(tx, list_of(tqi_called_list(tx, tqi_waiter_at(tx, w))), w);
}

void tqi_called_seen(struct tqi_tx *tx, uint32_t w, uint32_t ends)
{
	struct tqi_waiter *s = tqi_waiter_at(tx, w);
	bool listed = s->state == TQI_WAITER_LISTED;

	if (s->told == ends)
		return;
	if (listed)
		tqi_called_leave(tx, w);
	TQI_SET(tx, s->told, ends);
	if (listed)
		tqi_called_enter(tx, w);
}

bool tqi_called_all(struct tqi_tx *tx, struct tqi_waiter_list *subject)
{
	struct tqi_waiter_list *called = &tqi_root(tx)->called;
	const struct tqi_waiter_list come = *subject;

	if (!come.oldest)
		return false;
	TQI_SET(tx, subject->oldest, 0u);
	TQI_SET(tx, subject->newest, 0u);
	tqi_list_set(tx, list_of(called), called->newest, come.oldest, come.oldest, called->newest);
	TQI_SET(tx, called->newest, come.newest);
	return true;
}
