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

void tqi_farm_log(const struct tqi_farm *farm, const char *format, ...)
{
	char line[LINE_MAX_BYTES];
	va_list args;

	if (!farm->opts.log)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	farm->opts.log(farm->opts.log_arg, line);
}

void tqi_farm_notify(const char *line)
{
	const char *path = getenv("NOTIFY_SOCKET");
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
