/* SPDX-License-Identifier: MIT */
/* From the pipe to standard error. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/taskq/run/errors_pipe.h"

enum {
	CHUNK_BYTES = 64 << 10 /* what a pipe holds */
};

static bool is_one_file(void)
{
	struct stat out, err;

	return fstat(STDOUT_FILENO, &out) < 0 || fstat(STDERR_FILENO, &err) < 0 ||
	       (out.st_dev == err.st_dev && out.st_ino == err.st_ino);
}

int errors_pipe_open(struct errors_pipe *errors)
{
	int ends[2];

	*errors = (struct errors_pipe){ .read = -1, .write = -1, .ending = -1 };
	if (is_one_file())
		return -1;
	errors->ending = eventfd(0, EFD_CLOEXEC);
	if (errors->ending < 0 || pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return -1;
	errors->read = ends[0];
	errors->write = ends[1];
	return errors->write;
}

/* Whoever reads our standard error may have gone: then it is dropped. */
static void put(const char *data, ssize_t bytes)
{
	while (bytes > 0) {
		const ssize_t n = write(STDERR_FILENO, data, (size_t)bytes);

		if (n < 0 && errno != EINTR)
			return;
		data += n > 0 ? n : 0;
		bytes -= n > 0 ? n : 0;
	}
}

static void copy_some(const struct errors_pipe *errors)
{
	char data[CHUNK_BYTES];
	ssize_t n;

	while ((n = read(errors->read, data, sizeof(data))) > 0) {
		if (errors->progress)
			progress_pause(errors->progress);
		put(data, n);
		if (errors->progress) {
			errors->progress->is_inside_line = data[n - 1] != '\n';
			progress_go_on(errors->progress);
		}
	}
}

static void *copy_thread(void *arg)
{
	const struct errors_pipe *errors = arg;
	struct pollfd fds[] = { { .fd = errors->read, .events = POLLIN },
				{ .fd = errors->ending, .events = POLLIN } };

	do {
		poll(fds, 2, -1);
		copy_some(errors);
	} while (!fds[1].revents);
	return NULL;
}

int errors_pipe_start(struct errors_pipe *errors)
{
	sigset_t all, before;

	if (errors->read < 0)
		return 0;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	const int error = pthread_create(&errors->thread, NULL, copy_thread, errors);

	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errors->running = error == 0;
	return -error;
}

void errors_pipe_end(struct errors_pipe *errors)
{
	if (errors->running && eventfd_write(errors->ending, 1) == 0)
		pthread_join(errors->thread, NULL);
	errors->running = false;
	if (errors->read < 0)
		return;
	close(errors->read);
	close(errors->write);
	close(errors->ending);
	errors->read = -1;
}
