/* SPDX-License-Identifier: MIT */
/* Commands: taken, answered, freed. */
#include "scheduler/worker/command.h"

#include <errno.h>
#include <string.h>

#include "scheduler/order/ready.h"
#include "scheduler/wake/wake.h"
#include "shm/list.h"
#include "shm/pool.h"

#define FREES_SLICE 2 /* ended commands freed when one ends: one more than comes */

/* What this worker may take of a command now; NULL nothing. */
static struct tqi_delivery *offer(struct tqi_tx *tx, const struct tqi_command *command, uint32_t w,
				  const struct tqi_worker *worker)
{
	struct tqi_delivery *d;

	if (!command->waiting)
		return NULL;
	if (command->to == TQ_COMMAND_TO_ANY)
		d = (worker->flags & TQI_WORKER_MASTER) ||
				    !tqi_worker_serves_queue(worker, command->queue)
			    ? NULL
			    : tqi_command_deliveries(tx, command);
	else
		d = tqi_command_delivery(tx, command, w, worker->generation);
	return d && d->state == TQ_ANSWER_WAITING ? d : NULL;
}

/* The oldest one; 0 none. */
static uint32_t next_for(struct tqi_tx *tx, uint32_t w, const struct tqi_worker *worker,
			 struct tqi_delivery **ret_delivery)
{
	uint32_t steps = 0;

	for (uint32_t c = tqi_root(tx)->command.oldest;
	     c && tqi_table_walks(tx, TQI_COMMANDS, &steps);) {
		const struct tqi_command *command = tqi_command_at(tx, c);

		*ret_delivery = offer(tx, command, w, worker);
		if (*ret_delivery)
			return c;
		c = command->next;
	}
	return 0;
}

uint32_t tqi_command_next(struct tqi_tx *tx, uint32_t w)
{
	struct tqi_delivery *d;

	return next_for(tx, w, tqi_worker_at(tx, w), &d);
}

bool tqi_command_waits(struct tqi_tx *tx, uint32_t w)
{
	const struct tqi_worker *worker = tqi_worker_at(tx, w);

	return tqi_command_may_wait(tqi_root(tx), worker) &&
	       (worker->command || tqi_command_next(tx, w));
}

/* So many deliveries wait to be taken; of one for anybody that is counted. */
static void set_waiting(struct tqi_tx *tx, struct tqi_command *command, uint32_t waiting)
{
	if (command->to == TQ_COMMAND_TO_ANY)
		TQI_ADD(tx, tqi_root(tx)->command.anybody, waiting - command->waiting);
	TQI_SET(tx, command->waiting, waiting);
}

static void set_state(struct tqi_tx *tx, struct tqi_delivery *d, uint32_t state)
{
	TQI_SET(tx, d->state, (uint16_t)state);
	TQI_SET(tx, d->changed_ns, tx->now_ns);
}

bool tqi_command_take(struct tqi_tx *tx, uint32_t w)
{
	struct tqi_worker *worker = tqi_worker_at(tx, w);
	struct tqi_delivery *d;

	if (!tqi_command_may_wait(tqi_root(tx), worker))
		return false;
	if (worker->command)
		return true;
	uint32_t c = next_for(tx, w, worker, &d);

	if (!c) {
		TQI_SET(tx, worker->command_seen, tqi_root(tx)->command.change);
		return false;
	}
	struct tqi_command *command = tqi_command_at(tx, c);

	set_state(tx, d, TQ_ANSWER_TAKEN);
	TQI_SET(tx, d->worker, w);
	TQI_SET(tx, d->generation, worker->generation);
	TQI_SET(tx, d->pid, worker->owner.pid);
	TQI_ADD(tx, d->takes, 1);
	set_waiting(tx, command, command->waiting - 1);
	TQI_SET(tx, worker->command, c);
	return true;
}

TQI_LINKS(links_of, tqi_command_at, tqi_command, prev, next)

/* The list that a command of this state is on. */
static inline struct tqi_list list_of(struct tqi_root *root, uint32_t state)
{
	bool open = state == TQI_COMMAND_OPEN;

	return (struct tqi_list){ links_of,
				  open ? &root->command.oldest : &root->command.ended_oldest,
				  open ? &root->command.newest : &root->command.ended_newest };
}

void tqi_command_append(struct tqi_tx *tx, uint32_t c, uint32_t state)
{
	TQI_SET(tx, tqi_command_at(tx, c)->state, state);
	tqi_list_append(tx, list_of(tqi_root(tx), state), c);
}

void tqi_command_waits_for(struct tqi_tx *tx, uint32_t c, uint32_t by)
{
	TQI_ADD(tx, tqi_command_at(tx, c)->waiters, by);
	TQI_ADD(tx, tqi_root(tx)->command.waiters, by);
}

static void free_command(struct tqi_tx *tx, uint32_t c)
{
	struct tqi_command *command = tqi_command_at(tx, c);

	tqi_list_remove(tx, list_of(tqi_root(tx), command->state), c);
	TQI_ADD(tx, tqi_root(tx)->command.ended_count, -1);
	TQI_SET(tx, command->state, TQI_COMMAND_FREE);
	TQI_ADD(tx, tqi_queue_at(tx, command->queue)->users, -1);
	tqi_block_give(tx, command->block);
	tqi_table_give(tx, TQI_COMMANDS, c);
}

/* The oldest beyond those that are kept. */
static void trim(struct tqi_tx *tx)
{
	uint32_t frees = 0;

	for (uint32_t c = tqi_root(tx)->command.ended_oldest;
	     c && frees < FREES_SLICE && tqi_root(tx)->command.ended_count > TQ_COMMANDS_KEPT &&
	     !tx->corrupt;) {
		const struct tqi_command *command = tqi_command_at(tx, c);
		uint32_t next = command->next;

		if (!command->waiters) { /* else somebody is still to read its answers */
			free_command(tx, c);
			frees++;
		}
		c = next;
	}
}

/* So many deliveries less to wait for; the last one ends the command. */
static void answered(struct tqi_tx *tx, uint32_t c, uint32_t count)
{
	struct tqi_command *command = tqi_command_at(tx, c);

	TQI_SET(tx, command->open, command->open - count);
	if (command->open)
		return;
	tqi_command_passes(tx, c);
	tqi_list_remove(tx, list_of(tqi_root(tx), command->state), c);
	tqi_command_append(tx, c, TQI_COMMAND_ENDED);
	TQI_SET(tx, command->ended_ns, tx->now_ns);
	TQI_ADD(tx, tqi_root(tx)->command.open, -1);
	TQI_ADD(tx, tqi_root(tx)->command.ended_count, 1);
	tqi_wake_waiters(tx, &command->asleep);
	trim(tx);
}

static void set_text(struct tqi_tx *tx, struct tqi_delivery *d, const char *text)
{
	uint64_t words[sizeof(d->text) / sizeof(d->text[0])] = { 0 };

	memcpy(words, text, strnlen(text, TQ_COMMAND_TEXT_MAX));
	for (uint32_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (words[i] != d->text[i])
			TQI_SET(tx, d->text[i], words[i]);
}

int tqi_command_ack(struct tqi_tx *tx, uint32_t w, uint64_t id, uint32_t state, const char *text)
{
	struct tqi_worker *worker = tqi_worker_at(tx, w);
	uint32_t c;

	if (tqi_command_find(tx, id, &c) < 0 || worker->command != c)
		return TQ_ESTATE;
	struct tqi_delivery *d =
		tqi_command_delivery(tx, tqi_command_at(tx, c), w, worker->generation);

	if (!d || d->state != TQ_ANSWER_TAKEN) {
		tx->corrupt = true;
		return TQ_ESTATE;
	}
	set_state(tx, d, state);
	set_text(tx, d, text ? text : "");
	TQI_SET(tx, worker->command, 0u);
	answered(tx, c, 1);
	return 0;
}

int tqi_command_cancel(struct tqi_tx *tx, uint64_t id)
{
	uint32_t c;
	int r = tqi_command_find(tx, id, &c);

	if (r < 0)
		return r;
	struct tqi_command *command = tqi_command_at(tx, c);
	uint32_t waiting = command->waiting;

	if (command->state != TQI_COMMAND_OPEN)
		return TQ_ESTATE;
	if (!command->cancelled_ns)
		TQI_SET(tx, command->cancelled_ns, tx->now_ns);
	if (waiting) {
		set_waiting(tx, command, 0);
		answered(tx, c, waiting);
	}
	return (int)waiting;
}

/* Anybody's command goes back to its place, the oldest of all that wait. */
static void give_back(struct tqi_tx *tx, uint32_t c, struct tqi_delivery *d)
{
	set_state(tx, d, TQ_ANSWER_WAITING);
	TQI_SET(tx, d->worker, 0u);
	TQI_SET(tx, d->generation, 0u);
	TQI_SET(tx, d->pid, 0u);
	set_waiting(tx, tqi_command_at(tx, c), 1);
	TQI_ADD(tx, tqi_root(tx)->command.change, 1);
	tqi_command_calls(tx, c);
}

static void go(struct tqi_tx *tx, uint32_t c, struct tqi_delivery *d)
{
	struct tqi_command *command = tqi_command_at(tx, c);

	if (d->state == TQ_ANSWER_TAKEN && command->to == TQ_COMMAND_TO_ANY &&
	    d->takes < TQI_COMMAND_TAKES_MAX && !command->cancelled_ns) {
		give_back(tx, c, d);
		return;
	}
	if (d->state == TQ_ANSWER_WAITING)
		set_waiting(tx, command, command->waiting - 1);
	set_state(tx, d, TQ_ANSWER_GONE);
	answered(tx, c, 1);
}

bool tqi_command_leave(struct tqi_tx *tx, uint32_t w)
{
	struct tqi_worker *worker = tqi_worker_at(tx, w);

	bool changed = false;
	uint32_t steps = 0;

	if (!(worker->flags & TQI_WORKER_COMMANDS))
		return true;
	for (uint32_t c = tqi_root(tx)->command.oldest;
	     c && tqi_table_walks(tx, TQI_COMMANDS, &steps);) {
		const struct tqi_command *command = tqi_command_at(tx, c);
		uint32_t next = command->next;
		struct tqi_delivery *d = tqi_command_delivery(tx, command, w, worker->generation);

		if (d && tqi_delivery_answer(command, d) <= TQ_ANSWER_TAKEN) {
			if (tqi_tx_is_filling(tx))
				return false;
			if (d->state == TQ_ANSWER_TAKEN)
				TQI_SET(tx, worker->command, 0u);
			go(tx, c, d);
			changed = true;
		}
		c = next;
	}
	return !changed || !tqi_tx_is_filling(tx); /* there is more to a leave than this */
}
