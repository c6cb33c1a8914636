/* SPDX-License-Identifier: MIT */
/* What a program does before it begins and before it ends. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "errors.h"
#include "standard.h"

/* A closed descriptor 0 to 2 would be given to the segment's file, and what is
 * printed would land in it.  Opened the wrong way round, so that use still fails. */
void standard_fill(void)
{
	for (int fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
			continue;
		if (open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
			_exit(CLI_SELF);
	}
}

const char *environment_or(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value && *value ? value : otherwise;
}

/* What was printed but could not be written must not end in exit code 0. */
int standard_close(const struct cli *cli, int code)
{
	const bool failed = ferror(stdout);

	errno = 0;
	if ((fclose(stdout) == 0 && !failed) || errno == EPIPE || cli->is_unread)
		return code;
	complain("cannot write to standard output: %s", errno ? strerror(errno) : "write error");
	if (code != CLI_OK)
		return code;
	return cli->transparent ? CLI_SELF : CLI_NOTHING;
}
