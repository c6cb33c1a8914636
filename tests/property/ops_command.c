/* SPDX-License-Identifier: MIT */
/* Commands: sent, taken, answered, waited for. */
#include <errno.h>
#include <stdio.h>

#include "scheduler/worker/command.h"
#include "tests/property/world.h"

#define OPEN_MAX 24
#define WAITERS_MAX 8

struct sending {
	struct tq_command_spec spec;
	uint32_t queue;
	uint64_t id;
	char argument[40];
};

static int send_core(struct world *w, void *arg)
{
	struct sending *s = arg;

	return tqi_command_send(&w->tx, &s->spec, 1, &s->id);
}

void op_send(struct world *w)
{
	struct sending s = { .queue = 1 + below(w, MODEL_STAYING_QUEUES) };

	if (model_open_commands(w->m) >= OPEN_MAX)
		return;
	s.spec.name = "reload";
	s.spec.queue = queue_name(s.queue);
	s.spec.to = 1 + below(w, 4);
	s.spec.worker = s.spec.to == TQ_COMMAND_TO_WORKER ? pick_worker(w) : 0;
	s.spec.argument = s.argument;
	s.spec.argument_bytes = below(w, sizeof(s.argument));
	if (s.spec.worker && !chance(w, 4))
		s.spec.queue = queue_name(s.queue = w->m->workers[s.spec.worker].queues[0]);
	if (s.spec.to == TQ_COMMAND_TO_WORKER && !s.spec.worker)
		return;
	int r = perform(w, send_core, &s, false);
	uint32_t slot = r > 0 ? tqi_id_index(s.id) : 0;

	note(w, "command to %u of %u, queue %u: %d, %u", s.spec.to, s.spec.worker, s.queue, r,
	     slot);
	if (r == NO_ROOM)
		return;
	if (slot >= MODEL_COMMANDS || (slot && w->m->commands[slot].state != TQI_COMMAND_FREE))
		fail(w, "command slot %u is in use", slot);
	if (slot && tqi_id_generation(s.id) != w->m->commands[slot].generation + 1)
		fail(w, "command slot %u: generation", slot);
	expect(w, r,
	       model_command_send(w->m, &s.spec, s.queue, slot,
				  w->m->commands[slot].generation + 1),
	       "send");
}

struct answer {
	uint32_t worker;
	uint64_t id;
	uint32_t state;
};

static int take_core(struct world *w, void *arg)
{
	return tqi_command_take(&w->tx, ((struct answer *)arg)->worker);
}

static int ack_core(struct world *w, void *arg)
{
	const struct answer *a = arg;

	return tqi_command_ack(&w->tx, a->worker, a->id, a->state, "answer");
}

void op_take(struct world *w)
{
	struct answer a = { .worker = pick_worker(w) };

	if (!a.worker)
		return;
	int r = perform(w, take_core, &a, false);

	note(w, "worker %u takes a command: %d", a.worker, r);
	expect(w, r, model_command_take(w->m, a.worker), "take");
}

/* Now and then of one that it has not taken. */
void op_ack(struct world *w)
{
	struct answer a = { .worker = pick_worker(w),
			    .state = chance(w, 3) ? TQ_ANSWER_REFUSED : TQ_ANSWER_DONE };
	uint32_t command = w->m->workers[a.worker].command;

	if (!a.worker || (!command && !chance(w, 20)))
		return;
	if (chance(w, 20))
		command = 1 + below(w, MODEL_COMMANDS - 1);
	a.id = tqi_id_make(command, w->m->commands[command].generation);
	int r = perform(w, ack_core, &a, false);

	note(w, "worker %u answers %u: %d", a.worker, command, r);
	expect(w, r, command ? model_command_ack(w->m, a.worker, command, a.state) : TQ_ESTATE,
	       "ack");
}

static int cancel_core(struct world *w, void *arg)
{
	return tqi_command_cancel(&w->tx, *(const uint64_t *)arg);
}

/* Also of one that has ended. */
void op_take_back(struct world *w)
{
	uint32_t command = 1 + below(w, MODEL_COMMANDS - 1);

	for (uint32_t i = 0;
	     i < MODEL_COMMANDS && w->m->commands[command].state != TQI_COMMAND_OPEN; i++)
		command = command + 1 < MODEL_COMMANDS ? command + 1 : 1;
	if (w->m->commands[command].state == TQI_COMMAND_FREE)
		return;
	uint64_t id = tqi_id_make(command, w->m->commands[command].generation);
	int r = perform(w, cancel_core, &id, false);

	note(w, "command %u is taken back: %d", command, r);
	expect(w, r, model_command_cancel(w->m, command), "cancel of a command");
}

/* Its answers may be there already. */
uint32_t pick_command(struct world *w)
{
	uint32_t at = below(w, MODEL_COMMANDS), waiters = 0;

	for (uint32_t s = 1; s < w->m->waiter_slots; s++)
		waiters += w->m->waiters[s].state != TQI_WAITER_FREE &&
			   w->m->waiters[s].interest == TQI_INTEREST_COMMAND;
	for (uint32_t i = 0; waiters < WAITERS_MAX && i < MODEL_COMMANDS; i++) {
		if (at && w->m->commands[at].state != TQI_COMMAND_FREE)
			return at;
		at = at + 1 < MODEL_COMMANDS ? at + 1 : 0;
	}
	return 0;
}
