/* SPDX-License-Identifier: MIT */
/* Sending a command: all that it needs, and who gets it, in one transaction. */
#include <errno.h>
#include <string.h>

#include "scheduler/worker/command.h"
#include "scheduler/order/queue.h"
#include "scheduler/order/ready.h"
#include "shm/pool.h"

/* Whether it has a living master that takes commands for it. */
static bool has_farm(struct tqi_tx *tx, const struct tqi_worker *worker)
{
	if (!worker->master)
		return false;
	const struct tqi_worker *master = tqi_worker_at(tx, worker->master);

	return master->state == TQI_WORKER_LIVE &&
	       master->generation == worker->master_generation &&
	       (master->flags & TQI_WORKER_COMMANDS);
}

static bool is_meant(struct tqi_tx *tx, const struct tqi_worker *worker, uint32_t q, uint32_t to)
{
	bool master = worker->flags & TQI_WORKER_MASTER;

	if (worker->state != TQI_WORKER_LIVE || !(worker->flags & TQI_WORKER_COMMANDS) ||
	    !tqi_worker_serves_queue(worker, q))
		return false;
	return to == TQ_COMMAND_TO_FARMS ? master || !has_farm(tx, worker) : !master;
}

/* The deliveries (`d` NULL: only count them), in the order of the workers' records. */
static uint32_t address(struct tqi_tx *tx, uint32_t q, uint32_t to, struct tqi_delivery *d)
{
	uint32_t n = 0;

	for (uint32_t w = 1; w < tx->core->tables[TQI_WORKERS].count && !tx->corrupt; w++) {
		const struct tqi_worker *worker = tqi_worker_at(tx, w);

		if (!is_meant(tx, worker, q, to))
			continue;
		if (d)
			d[n] = (struct tqi_delivery){ .worker = w,
						      .generation = worker->generation,
						      .changed_ns = tx->now_ns,
						      .pid = worker->owner.pid };
		n++;
		if (to == TQ_COMMAND_TO_ANY)
			break; /* it is enough that there is one */
	}
	return n;
}

/* The one worker that is meant, and the queue. */
static int find_worker(struct tqi_tx *tx, const struct tq_command_spec *spec, uint32_t *q)
{
	if (spec->worker == 0 || spec->worker >= tx->core->tables[TQI_WORKERS].count)
		return -ESRCH;
	const struct tqi_worker *worker = tqi_worker_at(tx, spec->worker);

	if (worker->state != TQI_WORKER_LIVE)
		return -ESRCH;
	if (!(worker->flags & TQI_WORKER_COMMANDS))
		return -EOPNOTSUPP;
	if (!spec->queue)
		*q = worker->queues[0];
	return tqi_worker_serves_queue(worker, *q) ? 1 : -EXDEV;
}

/* The queue, and how many get it. */
static int count_meant(struct tqi_tx *tx, const struct tq_command_spec *spec, uint32_t *q)
{
	const char *name = spec->queue ? spec->queue : "default";
	bool one = spec->to == TQ_COMMAND_TO_WORKER;

	*q = one && !spec->queue ? 0 : tqi_queue_find(tx, name);
	if (!*q && !(one && !spec->queue))
		return -ENOENT;
	if (one)
		return find_worker(tx, spec, q);
	uint32_t n = address(tx, *q, spec->to, NULL);

	return n == 0 ? -ESRCH : spec->to == TQ_COMMAND_TO_ANY ? 1 : (int)n;
}

static void deliver(struct tqi_tx *tx, const struct tq_command_spec *spec, uint32_t q,
		    struct tqi_delivery *d)
{
	const struct tqi_worker *worker;

	switch (spec->to) {
	case TQ_COMMAND_TO_WORKER:
		worker = tqi_worker_at(tx, spec->worker);
		*d = (struct tqi_delivery){ .worker = spec->worker,
					    .generation = worker->generation,
					    .changed_ns = tx->now_ns,
					    .pid = worker->owner.pid };
		break;
	case TQ_COMMAND_TO_ANY:
		*d = (struct tqi_delivery){ .changed_ns = tx->now_ns };
		break;
	default:
		address(tx, q, spec->to, d);
	}
}

/* A record that nothing refers to yet, and a new block (TX-3). */
static void fill(struct tqi_tx *tx, uint32_t c, const struct tq_command_spec *spec, uint32_t q,
		 uint32_t block, uint32_t count)
{
	struct tqi_command *command = tqi_command_at(tx, c);
	struct tqi_delivery *d = tqi_unit(tx, block);

	TQI_INIT(command->sequence, tqi_root(tx)->command.sequence + 1);
	TQI_INIT(command->sent_ns, tx->now_ns);
	TQI_INIT(command->ended_ns, 0);
	TQI_INIT(command->cancelled_ns, 0);
	TQI_INIT(command->block, block);
	TQI_INIT(command->argument_bytes, (uint32_t)spec->argument_bytes);
	TQI_INIT(command->delivery_count, count);
	TQI_INIT(command->waiting, count);
	TQI_INIT(command->open, count);
	TQI_INIT(command->called, 0);
	TQI_INIT(command->waiters, 0);
	TQI_INIT(command->asleep, ((struct tqi_waiter_list){ 0, 0 }));
	TQI_INIT(command->queue, (uint16_t)q);
	TQI_INIT(command->to, (uint16_t)spec->to);
	memset(command->name, 0, sizeof(command->name));
	memcpy(command->name, spec->name, strnlen(spec->name, TQ_NAME_MAX));
	deliver(tx, spec, q, d);
	if (spec->argument_bytes)
		memcpy(d + count, spec->argument, spec->argument_bytes);
}

int tqi_command_send(struct tqi_tx *tx, const struct tq_command_spec *spec, uint32_t sender_pid,
		     uint64_t *ret_id)
{
	struct tqi_root *root = tqi_root(tx);
	uint32_t q;
	int count = count_meant(tx, spec, &q);
	bool full;

	if (count < 0)
		return count;
	if (root->command.open >= TQ_COMMANDS_OPEN_MAX)
		return TQ_EFULL;
	uint32_t block = tqi_block_take(tx, (uint64_t)count * sizeof(struct tqi_delivery) +
						    spec->argument_bytes);
	uint32_t c = block ? tqi_table_take(tx, TQI_COMMANDS, &full) : 0;

	if (!c)
		return block && full ? TQ_EFULL : -ENOMEM;
	struct tqi_command *command = tqi_command_at(tx, c);

	fill(tx, c, spec, q, block, (uint32_t)count);
	TQI_INIT(command->sender_pid, sender_pid);
	TQI_ADD(tx, tqi_queue_at(tx, q)->users, 1);
	TQI_ADD(tx, command->generation, 1);
	tqi_command_append(tx, c, TQI_COMMAND_OPEN);
	TQI_ADD(tx, root->command.open, 1);
	if (spec->to == TQ_COMMAND_TO_ANY)
		TQI_ADD(tx, root->command.anybody, 1);
	TQI_ADD(tx, root->command.sequence, 1);
	TQI_ADD(tx, root->command.change, 1);
	*ret_id = tqi_id_make(c, command->generation);
	tqi_command_calls(tx, c);
	return count;
}
