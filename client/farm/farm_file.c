/* SPDX-License-Identifier: MIT */
/* The master and the segment's file. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "client/core/removal.h"
#include "client/farm/farm.h"

#define EVENTS_BYTES 4096

static int open_watch(const struct tqi_farm *farm)
{
	char file[32];
	const int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	if (fd < 0)
		return -1;
	snprintf(file, sizeof(file), "/proc/self/fd/%d", farm->tq->seg.fd);
	/* The count of links is among the attributes. */
	if (inotify_add_watch(fd, file, IN_ATTRIB) < 0 || fcntl(fd, F_SETOWN, getpid()) < 0 ||
	    fcntl(fd, F_SETFL, O_NONBLOCK | O_ASYNC) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

void tqi_farm_watch_file(struct tqi_farm *farm)
{
	if (!farm->signals.installed) /* a SIGIO would end the host */
		return;
	farm->file_watch = open_watch(farm);
	tqi_farm_file_changed(farm); /* before it was watched */
}

void tqi_farm_unwatch_file(struct tqi_farm *farm)
{
	if (farm->file_watch >= 0)
		close(farm->file_watch);
	farm->file_watch = -1;
}

void tqi_farm_file_changed(struct tqi_farm *farm)
{
	char events[EVENTS_BYTES];

	while (farm->file_watch >= 0 && read(farm->file_watch, events, sizeof(events)) > 0)
		;
	(void)tqi_removal_look(farm->tq); /* whoever sleeps or works next is told */
}
