/* SPDX-License-Identifier: MIT */
/* Commands: who is called to take one (CO-1, CO-2). */
#include "scheduler/order/ready.h"
#include "scheduler/wake/asleep.h"
#include "scheduler/wake/sleepers.h"
#include "scheduler/wake/wake.h"
#include "scheduler/worker/command.h"
#include "shm/lock.h"

/* The slot of a delivery's recipient, if that sleeps, and lives; 0 else. */
static uint32_t sleeper_of(struct tqi_tx *tx, const struct tqi_delivery *d)
{
	const struct tqi_worker *worker = tqi_worker_at(tx, d->worker);
	uint32_t w = tqi_command_slot(worker);

	if (d->state != TQ_ANSWER_WAITING || worker->generation != d->generation ||
	    worker->state != TQI_WORKER_LIVE || !w)
		return 0;
	struct tqi_waiter *s = tqi_waiter_at(tx, w);

	return s->state == TQI_WAITER_LISTED && !tqi_mutex_owner_died(&s->mutex) ? w : 0;
}

static bool is_through(const struct tqi_command *command)
{
	return command->to == TQ_COMMAND_TO_ANY || !command->waiting ||
	       command->called >= command->delivery_count;
}

/* Up to so many of its recipients; how many were.  Each delivery is met once. */
static uint32_t call_some(struct tqi_tx *tx, uint32_t c, uint32_t count)
{
	struct tqi_command *command = tqi_command_at(tx, c);
	const struct tqi_delivery *d = tqi_command_deliveries(tx, command);
	uint32_t at = command->called, calls = 0;

	if (is_through(command))
		return 0;
	while (d && at < command->delivery_count && calls < count && !tx->corrupt &&
	       !(calls && tqi_tx_is_filling(tx))) {
		uint32_t w = sleeper_of(tx, &d[at++]);

		if (w)
			tqi_sleep_pop(tx, w);
		calls += w != 0;
	}
	if (at != command->called)
		TQI_SET(tx, command->called, at);
	return calls;
}

/* The next one calls that is not through, from this one on. */
static void turn_to(struct tqi_tx *tx, uint32_t c)
{
	uint32_t steps = 0;

	while (c && is_through(tqi_command_at(tx, c)) && tqi_table_walks(tx, TQI_COMMANDS, &steps))
		c = tqi_command_at(tx, c)->next;
	if (c != tqi_root(tx)->command.calling)
		TQI_SET(tx, tqi_root(tx)->command.calling, c);
}

void tqi_command_passes(struct tqi_tx *tx, uint32_t c)
{
	if (tqi_root(tx)->command.calling == c)
		turn_to(tx, tqi_command_at(tx, c)->next);
}

/* A worker that could take one that waits for anybody; 0 none. */
static uint32_t anybody(struct tqi_tx *tx)
{
	uint32_t steps = 0;

	for (uint32_t c = tqi_root(tx)->command.oldest;
	     c && tqi_table_walks(tx, TQI_COMMANDS, &steps);) {
		const struct tqi_command *command = tqi_command_at(tx, c);
		uint32_t w = command->to == TQ_COMMAND_TO_ANY && command->waiting
				     ? tqi_asleep_commanded(tx, command->queue)
				     : 0;

		if (w)
			return w;
		c = command->next;
	}
	return 0;
}

static bool call_anybody(struct tqi_tx *tx)
{
	uint32_t w = tqi_root(tx)->command.anybody ? anybody(tx) : 0;

	if (w)
		tqi_sleep_pop(tx, w);
	return w != 0;
}

bool tqi_command_call(struct tqi_tx *tx, uint32_t count)
{
	const struct tqi_root *root = tqi_root(tx);
	uint32_t calls = 0, c;

	while (calls < count && (c = root->command.calling) && !(calls && tqi_tx_is_filling(tx)) &&
	       !tx->corrupt) {
		calls += call_some(tx, c, count - calls);
		turn_to(tx, c);
	}
	return calls || call_anybody(tx);
}

void tqi_command_calls(struct tqi_tx *tx, uint32_t c)
{
	struct tqi_root *root = tqi_root(tx);

	if (is_through(tqi_command_at(tx, c))) {
		call_anybody(tx);
		return;
	}
	call_some(tx, c, TQI_WAKE_POPS);
	if (!root->command.calling)
		turn_to(tx, c);
}
