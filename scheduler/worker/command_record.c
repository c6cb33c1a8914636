/* SPDX-License-Identifier: MIT */
/* Commands: their records, and the deliveries in their blocks. */
#include <errno.h>

#include "scheduler/worker/command.h"
#include "shm/pool.h"

struct tqi_delivery *tqi_command_deliveries(struct tqi_tx *tx, const struct tqi_command *command)
{
	uint64_t bytes = (uint64_t)command->delivery_count * sizeof(struct tqi_delivery);

	if (command->delivery_count > TQI_WORKERS_MAX ||
	    ((uint64_t)command->block << TQI_UNIT_SHIFT) + bytes > tx->seg->geometry.max_bytes) {
		tx->corrupt = true;
		return NULL;
	}
	return tqi_unit(tx, command->block);
}

const void *tqi_command_argument(struct tqi_tx *tx, const struct tqi_command *command)
{
	const struct tqi_delivery *d = tqi_command_deliveries(tx, command);

	return d && command->argument_bytes ? d + command->delivery_count : NULL;
}

/* By halves: they are in the order of their workers. */
static struct tqi_delivery *delivery_of(struct tqi_tx *tx, const struct tqi_command *command,
					uint32_t w)
{
	struct tqi_delivery *d = tqi_command_deliveries(tx, command);
	uint32_t from = 0, end = d ? command->delivery_count : 0;

	while (from < end) {
		uint32_t middle = (from + end) / 2;

		if (d[middle].worker == w)
			return &d[middle];
		if (d[middle].worker < w)
			from = middle + 1;
		else
			end = middle;
	}
	return NULL;
}

struct tqi_delivery *tqi_command_delivery(struct tqi_tx *tx, const struct tqi_command *command,
					  uint32_t w, uint64_t generation)
{
	struct tqi_delivery *d = delivery_of(tx, command, w);

	return d && d->generation == generation ? d : NULL;
}

int tqi_command_find(struct tqi_tx *tx, uint64_t id, uint32_t *ret_index)
{
	uint32_t index = tqi_id_index(id);

	if (index == 0 || index >= tx->core->tables[TQI_COMMANDS].count)
		return -ENOENT;
	const struct tqi_command *command = tqi_command_at(tx, index);
	uint64_t generation = tqi_id_generation(id);

	if (generation == 0 || generation > command->generation)
		return -ENOENT;
	if (generation < command->generation || command->state == TQI_COMMAND_FREE)
		return TQ_EGONE;
	*ret_index = index;
	return 0;
}
