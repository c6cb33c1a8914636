/* SPDX-License-Identifier: MIT */
#include "shm/text_file.h"

#include <fcntl.h>
#include <unistd.h>

bool tqi_read_text(const char *path, char *buf, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	size_t used = 0;
	ssize_t n;

	while (used < room - 1 && (n = read(fd, buf + used, room - 1 - used)) > 0)
		used += (size_t)n;
	close(fd);
	buf[used] = '\0';
	return used > 0;
}
