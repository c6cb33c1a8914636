/* SPDX-License-Identifier: MIT */
/* What a command has of the process that follows it. */
#include "client/farm/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/farm/launch.h"
#include "shm/ident.h"
#include "shm/text_file.h"

static unsigned pid_of(const struct tq_exec *exec)
{
	return (unsigned)(exec->reader >> 32);
}

/* As tqi_reader_name() has it; a number that another process has now is not its. */
static bool reader_lives(const struct tq_exec *exec)
{
	uint64_t start;
	char state;

	return tqi_pid_start(pid_of(exec), &start, &state) == 0 &&
	       (uint32_t)start == (uint32_t)exec->reader;
}

/* A descriptor of its process, opened anew; its kind is in *ret_st.  -errno. */
static int open_its(const struct tq_exec *exec, uint32_t number, int mode, struct stat *ret_st)
{
	char path[64];

	if (!reader_lives(exec))
		return -ESRCH;
	snprintf(path, sizeof(path), "/proc/%u/fd/%u", pid_of(exec), number);
	int fd = open(path, mode | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	int r = fstat(fd, ret_st) < 0 || fcntl(fd, F_SETFL, mode) < 0 ? -errno
								      : tqi_launch_raise(&fd);

	if (r == 0 && !reader_lives(exec))
		r = -ESRCH;
	if (r < 0)
		tqi_launch_close(&fd);
	return r < 0 ? r : fd;
}

int tqi_reader_errors(const struct tq_exec *exec)
{
	struct stat st;

	if (!(exec->flags & TQ_EXEC_READER_FD) || exec->output_path)
		return -1;
	int fd = open_its(exec, exec->reader_fd, O_WRONLY, &st);

	if (fd >= 0 && S_ISFIFO(st.st_mode))
		return fd;
	if (fd >= 0)
		tqi_launch_close(&fd);
	return -1;
}

/* Where its process stands in the file; that is not moved. */
static int seek_as_it(const struct tq_exec *exec, int fd)
{
	char path[64], text[256];

	snprintf(path, sizeof(path), "/proc/%u/fdinfo/0", pid_of(exec));
	if (!tqi_read_text(path, text, sizeof(text)) || strncmp(text, "pos:", 4) != 0)
		return -EIO;
	return lseek(fd, (off_t)strtoll(text + 4, NULL, 10), SEEK_SET) < 0 ? -errno : 0;
}

int tqi_reader_input(const struct tq_exec *exec)
{
	struct stat st;

	if (!(exec->flags & TQ_EXEC_READER_INPUT))
		return -ENODATA;
	int fd = open_its(exec, STDIN_FILENO, O_RDONLY, &st);

	if (fd < 0)
		return fd;
	int r = S_ISREG(st.st_mode) ? seek_as_it(exec, fd) : S_ISFIFO(st.st_mode) ? 0 : -EINVAL;

	if (r < 0)
		tqi_launch_close(&fd);
	return r < 0 ? r : fd;
}
