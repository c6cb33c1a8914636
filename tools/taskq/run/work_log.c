/* SPDX-License-Identifier: MIT */
/* Each line goes out in one write: master and workers share standard error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format.h"
#include "json.h"
#include "text.h"
#include "tools/taskq/run/work_log.h"

static const char *name_of(uint32_t type)
{
	static const char *const names[] = { [TQ_FARM_SAYS] = "farm",
					     [TQ_FARM_TROUBLE] = "trouble",
					     [TQ_FARM_ATTEMPT] = "attempt" };

	return type < sizeof(names) / sizeof(names[0]) && names[type] ? names[type] : "other";
}

static void put(const char *line, size_t bytes)
{
	const ssize_t n = write(STDERR_FILENO, line, bytes);

	(void)n; /* a log that nobody takes stops no farm */
}

static void set_attempt(json_t *object, const struct tq_farm_event *event)
{
	char cause[FORMAT_MAX];

	json_object_set_new(object, "id", json_id(event->id));
	if (event->label[0])
		json_object_set_new(object, "label", json_text(event->label));
	json_object_set_new(object, "attempt", json_u64(event->attempt));
	json_object_set_new(object, "cause",
			    json_string(tq_cause_format(event->cause, event->cause_arg, cause)));
	json_object_set_new(object, "run_ns", json_u64(event->run_ns));
}

static void log_object(const struct tq_farm_event *event)
{
	json_t *object = json_object();
	char time[FORMAT_MAX], *text, *line = NULL;

	json_object_set_new(object, "time",
			    json_string(format_utc(clocks_read().unix_now_ns, time)));
	json_object_set_new(object, "event", json_string(name_of(event->type)));
	if (event->worker_pid)
		json_object_set_new(object, "worker_pid", json_u64(event->worker_pid));
	if (event->type == TQ_FARM_ATTEMPT)
		set_attempt(object, event);
	json_object_set_new(object, "text", json_text(event->text));
	text = json_to_text(object);
	if (text && asprintf(&line, "%s\n", text) > 0)
		put(line, strlen(line));
	free(line);
	free(text);
}

void work_log(void *arg, const struct tq_farm_event *event)
{
	const struct cli *cli = arg;
	char time[FORMAT_MAX], *text, *line = NULL;

	if (cli->json) {
		log_object(event);
		return;
	}
	text = text_safe_copy(event->text, 0); /* a label may hold anything */
	if (text &&
	    asprintf(&line, "%s %s\n", format_local(clocks_read().unix_now_ns, time), text) > 0)
		put(line, strlen(line));
	free(line);
	free(text);
}
