/* SPDX-License-Identifier: MIT */
/* What a farm's master and its workers do about commands. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/farm/farm.h"

#define NUMBER_MAX 10 /* digits of a number of workers */

/* An answer on its way. */
struct reply {
	uint32_t state;
	char text[TQ_COMMAND_TEXT_MAX + 1];
};

static void reply(struct reply *r, uint32_t state, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void reply(struct reply *r, uint32_t state, const char *format, ...)
{
	va_list args;

	r->state = state;
	va_start(args, format);
	vsnprintf(r->text, sizeof(r->text), format, args);
	va_end(args);
}

/* The host's own. */
static void ask_host(const struct tqi_farm *farm, const struct tq_command *command, struct reply *r)
{
	tq_farm_command *host = farm->opts.command;

	r->text[0] = '\0';
	int error = host ? host(farm->opts.command_arg, command, r->text, sizeof(r->text))
			 : -ENOSYS;

	r->text[TQ_COMMAND_TEXT_MAX] = '\0';
	r->state = error < 0 ? TQ_ANSWER_REFUSED : TQ_ANSWER_DONE;
	if (error < 0 && !r->text[0])
		reply(r, TQ_ANSWER_REFUSED, "%s",
		      error == -ENOSYS ? "this farm knows no such command" : tq_strerror(error));
}

static bool is(const struct tq_command *command, const char *name)
{
	return strcmp(command->name, name) == 0;
}

/* The worker leaves: what becomes of its place its board says, before it says "done". */
static enum tqi_leave do_as_worker(struct tqi_farm *farm, const struct tq_command *command,
				   struct reply *r)
{
	if (is(command, "stop")) {
		reply(r, TQ_ANSWER_DONE, "leaves");
		return TQI_LEAVE_STOPPED;
	}
	if (is(command, "reload")) {
		reply(r, TQ_ANSWER_DONE, "is replaced");
		return TQI_LEAVE_WORN;
	}
	if (is(command, "resize"))
		reply(r, TQ_ANSWER_REFUSED, "only a farm's master can be resized");
	else
		ask_host(farm, command, r);
	return TQI_LEAVE_NOT;
}

int tqi_farm_worker_obey(struct tqi_farm *farm, struct tq_worker *worker, struct tqi_board *board,
			 enum tqi_leave *ret_leave)
{
	struct tq_command command = { .size = sizeof(command) };
	struct reply r;
	int error = tq_command_take(worker, &command);

	*ret_leave = TQI_LEAVE_NOT;
	if (error < 0)
		return error == -EAGAIN ? 0 : error;
	*ret_leave = do_as_worker(farm, &command, &r);
	if (*ret_leave != TQI_LEAVE_NOT)
		tqi_store_release32(&board->leave, (uint32_t)*ret_leave);
	do
		error = tq_command_ack(worker, command.id, r.state, r.text);
	while (error == TQ_ELOCKED);
	return error == TQ_ESTATE ? 0 : error;
}

/* The master. */

static void stop(struct tqi_farm *farm, struct reply *r)
{
	tqi_farm_drain(farm);
	reply(r, TQ_ANSWER_DONE, "stops when its workers have finished what they run");
}

/* Every worker leaves after its task, and its place is filled again. */
static void renew_children(struct tqi_farm *farm)
{
	for (uint32_t i = 0; i < farm->child_count; i++) {
		struct tqi_child *child = &farm->children[i];

		if (child->state == TQI_CHILD_LIVE && !child->retiring)
			kill(child->pid, SIGTERM);
	}
}

static void notify_reload(void)
{
	struct timespec now;
	char text[80];

	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%llu",
		 (unsigned long long)now.tv_sec * 1000000 + (unsigned long long)now.tv_nsec / 1000);
	tqi_farm_notify(text);
}

static void reload(struct tqi_farm *farm, struct reply *r)
{
	if (farm->stopping) {
		reply(r, TQ_ANSWER_REFUSED, "the farm is stopping");
		return;
	}
	notify_reload();
	int error = farm->opts.reload ? farm->opts.reload(farm->opts.reload_arg) : 0;

	if (error == 0)
		renew_children(farm);
	tqi_farm_notify("READY=1");
	if (error < 0) {
		reply(r, TQ_ANSWER_REFUSED, "%s", tq_strerror(error));
		return;
	}
	reply(r, TQ_ANSWER_DONE, "its %u %s replaced", farm->width,
	      farm->width == 1 ? "worker is" : "workers are");
}

void tqi_farm_reload(struct tqi_farm *farm)
{
	struct reply r;

	reload(farm, &r);
	tqi_farm_log(farm, "reload: %s", r.text);
}

/* A whole number, all of the argument; 0 it is none. */
static uint32_t number_of(const struct tq_command *command)
{
	char text[NUMBER_MAX + 1] = "";

	if (command->argument_bytes == 0 || command->argument_bytes > NUMBER_MAX)
		return 0;
	memcpy(text, command->argument, command->argument_bytes);
	if (strspn(text, "0123456789") != command->argument_bytes)
		return 0;
	unsigned long number = strtoul(text, NULL, 10);

	return number <= TQI_FARM_WORKERS_MAX ? (uint32_t)number : 0;
}

static void resize(struct tqi_farm *farm, const struct tq_command *command, struct reply *r)
{
	const uint32_t number = number_of(command), before = farm->width;

	if (farm->stopping) {
		reply(r, TQ_ANSWER_REFUSED, "the farm is stopping");
		return;
	}
	if (number == 0) {
		reply(r, TQ_ANSWER_REFUSED, "resize wants a number of workers, 1 to %u",
		      TQI_FARM_WORKERS_MAX);
		return;
	}
	farm->width = number;
	reply(r, TQ_ANSWER_DONE, "%u worker%s, %u before", number, number == 1 ? "" : "s", before);
}

static void do_as_master(struct tqi_farm *farm, const struct tq_command *command, struct reply *r)
{
	if (is(command, "stop"))
		stop(farm, r);
	else if (is(command, "reload"))
		reload(farm, r);
	else if (is(command, "resize"))
		resize(farm, command, r);
	else
		ask_host(farm, command, r);
}

void tqi_farm_obey(struct tqi_farm *farm)
{
	struct tq_command command = { .size = sizeof(command) };

	while (!farm->error && tq_command_take(farm->self, &command) == 0) {
		struct reply r;

		do_as_master(farm, &command, &r);
		tqi_farm_log(farm, "command %s: %s", command.name, r.text);
		if (tq_command_ack(farm->self, command.id, r.state, r.text) < 0)
			return; /* not answered: it comes again, and is done again */
	}
}
