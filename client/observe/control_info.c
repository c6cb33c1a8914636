/* SPDX-License-Identifier: MIT */
/* Commands as observers see them: copied, without the lock. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/operate/control.h"
#include "client/core/options.h"
#include "client/observe/snapshot.h"

#define TRIES 16 /* a command that changes under each of so many looks is shown as it was last */

/* A command with its block. */
struct copy {
	struct tqi_command command;
	struct tqi_moment moment;
	struct tqi_delivery *deliveries; /* free() it */
	const void *argument;
};

static int peek_block(struct tq *tq, struct copy *copy)
{
	const struct tqi_command *command = &copy->command;
	uint64_t bytes = (uint64_t)command->delivery_count * sizeof(struct tqi_delivery);

	if (command->delivery_count > TQI_WORKERS_MAX ||
	    command->argument_bytes > TQ_COMMAND_ARGUMENT_MAX)
		return TQ_ECORRUPT;
	copy->deliveries = malloc(bytes + command->argument_bytes + 1);
	if (!copy->deliveries)
		return -ENOMEM;
	copy->argument = (const char *)copy->deliveries + bytes;
	return tqi_peek_block_at(&tq->seg, &copy->moment, command->block, 0, copy->deliveries,
				 bytes + command->argument_bytes);
}

/* 0; -ENOENT not in use. */
static int take_copy(struct tq *tq, uint32_t index, struct copy *copy)
{
	struct tqi_command after;
	struct tqi_moment last;
	int r;

	for (int i = 0;; i++) {
		copy->deliveries = NULL;
		r = tqi_peek_record_at(&tq->seg, TQI_COMMANDS, index, &copy->command,
				       &copy->moment);
		if (r == 0 && copy->command.state == TQI_COMMAND_FREE)
			r = -ENOENT;
		if (r < 0)
			return r;
		r = peek_block(tq, copy);
		if (r == 0)
			r = tqi_peek_record_at(&tq->seg, TQI_COMMANDS, index, &after, &last);
		if (r == 0 && ((memcmp(&copy->command, &after, sizeof(after)) == 0 &&
				tqi_moment_holds(&tq->seg, &copy->moment, &last)) ||
			       i == TRIES))
			return 0;
		free(copy->deliveries);
		if (r < 0 && i == TRIES)
			return r;
	}
}

static bool fill(struct tq *tq, uint32_t index, struct tq_command_info *i)
{
	char queue[TQ_NAME_MAX + 1];
	struct copy copy;

	if (take_copy(tq, index, &copy) < 0)
		return false;
	tqi_peek_queue_name(&tq->seg, copy.command.queue, queue);
	tqi_command_fill(&copy.command, tqi_id_make(index, copy.command.generation), queue,
			 copy.deliveries, copy.argument, i);
	free(copy.deliveries);
	return true;
}

int tq_command_list(struct tq *tq, uint64_t *cursor, struct tq_command_info *infos, uint32_t count)
{
	if (!tq || !cursor || (count && !infos))
		return -EINVAL;
	uint32_t end, n = 0;

	if (count && infos->size != sizeof(*infos))
		return -EINVAL;
	tqi_peek_count(&tq->seg, TQI_COMMANDS, &end);
	if (*cursor == 0)
		*cursor = 1;
	while (n < count && *cursor < end) {
		struct tq_command_info i;

		if (fill(tq, (uint32_t)*cursor, &i))
			tqi_snapshot_out(&infos[n++], sizeof(*infos), &i, sizeof(i));
		(*cursor)++;
	}
	return (int)n;
}

static int find(struct tq *tq, uint64_t id, struct copy *copy)
{
	struct tqi_command record;
	uint32_t index = tqi_id_index(id), count;

	tqi_peek_count(&tq->seg, TQI_COMMANDS, &count);
	if (index == 0 || index >= count || !tqi_id_generation(id) ||
	    tqi_peek_record(&tq->seg, TQI_COMMANDS, index, &record) < 0 ||
	    tqi_id_generation(id) > record.generation)
		return -ENOENT;
	if (tqi_id_generation(id) < record.generation)
		return TQ_EGONE;
	int r = take_copy(tq, index, copy);

	if (r == 0 && copy->command.generation != tqi_id_generation(id)) {
		free(copy->deliveries);
		r = TQ_EGONE;
	}
	return r == -ENOENT ? TQ_EGONE : r;
}

static void fill_answer(const struct tqi_command *command, const struct tqi_delivery *d,
			struct tq_command_answer *a)
{
	memset(a, 0, sizeof(*a));
	a->state = tqi_delivery_answer(command, d);
	a->changed_ns = a->state == TQ_ANSWER_CANCELLED ? command->cancelled_ns : d->changed_ns;
	a->worker = d->worker;
	a->pid = d->pid;
	a->takes = d->takes;
	memcpy(a->text, d->text, TQ_COMMAND_TEXT_MAX);
}

int tq_command_answers(struct tq *tq, uint64_t id, uint64_t *cursor,
		       struct tq_command_answer *answers, uint32_t count)
{
	if (!tq || !cursor || (count && !answers))
		return -EINVAL;
	struct copy copy;
	uint32_t n = 0;

	if (count && answers->size != sizeof(*answers))
		return -EINVAL;
	int r = find(tq, id, &copy);

	if (r < 0)
		return r;
	for (; n < count && *cursor < copy.command.delivery_count; (*cursor)++) {
		struct tq_command_answer a;

		fill_answer(&copy.command, &copy.deliveries[*cursor], &a);
		tqi_snapshot_out(&answers[n++], sizeof(*answers), &a, sizeof(a));
	}
	free(copy.deliveries);
	return (int)n;
}

const char *tq_answer_name(uint32_t state)
{
	static const char *const names[TQ_ANSWER_COUNT] = { "waiting", "taken", "done",
							    "refused", "gone",	"cancelled" };

	return state < TQ_ANSWER_COUNT ? names[state] : "?";
}
