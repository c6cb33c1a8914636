/* SPDX-License-Identifier: MIT */
/* What a master says: to its host's log, and to the service manager. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "client/farm/farm.h"

#define LINE_MAX_BYTES 512
#define NS_PER_S 1000000000.0

static void report(const struct tqi_farm *farm, const struct tq_farm_event *event)
{
	struct tq_farm_event e = *event;

	e.size = sizeof(e);
	if (farm->opts.report)
		farm->opts.report(farm->opts.report_arg, &e);
}

void tqi_farm_log(const struct tqi_farm *farm, const char *format, ...)
{
	char line[LINE_MAX_BYTES];
	va_list args;

	if (!farm->opts.log && !farm->opts.report)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (farm->opts.log)
		farm->opts.log(farm->opts.log_arg, line);
	report(farm, &(struct tq_farm_event){ .type = TQ_FARM_SAYS, .text = line, .label = "" });
}

void tqi_farm_trouble(const struct tqi_farm *farm, const char *format, ...)
{
	char line[LINE_MAX_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	report(farm, &(struct tq_farm_event){ .type = TQ_FARM_TROUBLE,
					      .worker_pid = (uint32_t)getpid(),
					      .text = line,
					      .label = "" });
}

bool tqi_farm_reports_attempts(const struct tqi_farm *farm)
{
	return farm->opts.report && (farm->opts.flags & TQ_FARM_REPORT_ATTEMPTS);
}

void tqi_farm_report_attempt(const struct tqi_farm *farm, const struct tq_farm_event *event)
{
	struct tq_farm_event e = *event;
	char line[LINE_MAX_BYTES], id[TQ_ID_TEXT_MAX], cause[32];
	const char *quote = event->label[0] ? "\"" : "";

	snprintf(line, sizeof(line), "task %s%s%s%s%s: attempt %u ended after %.3f s: %s",
		 tq_task_id_format(event->id, id), event->label[0] ? " " : "", quote, event->label,
		 quote, event->attempt, (double)event->run_ns / NS_PER_S,
		 tq_cause_format(event->cause, event->cause_arg, cause));
	e.type = TQ_FARM_ATTEMPT;
	e.text = line;
	report(farm, &e);
}

void tqi_farm_notify(const char *line)
{
	const char *path = secure_getenv("NOTIFY_SOCKET");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t n = path ? strlen(path) : 0;

	if (n < 2 || n >= sizeof(address.sun_path) || (*path != '/' && *path != '@'))
		return;
	memcpy(address.sun_path, path, n);
	if (*path == '@') /* abstract: a NUL stands in its place */
		address.sun_path[0] = '\0';
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	/* Best effort: a service manager that does not listen must not stop the farm. */
	(void)sendto(fd, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT,
		     (const struct sockaddr *)&address,
		     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n));
	close(fd);
}
