/* SPDX-License-Identifier: MIT */
/*
 * Between fork and exec.  Another thread of the worker may have held any lock when
 * it forked: only async-signal-safe calls here (execvp() is one in glibc).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "client/farm/launch.h"
#include "taskq/farm.h"

#define OUTPUT_MODE 0666

static _Noreturn void give_up(const struct tqi_launch *launch, enum tqi_launch_step step)
{
	const struct tqi_launch_fault fault = { (int32_t)step, errno };
	ssize_t n = write(launch->status[1], &fault, sizeof(fault));

	(void)n; /* nobody reads: the worker is gone */
	_exit(127);
}

/* The command begins as a shell would begin it: every signal on default and let through. */
static void reset_signals(void)
{
	const struct sigaction normal = { .sa_handler = SIG_DFL };
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		sigaction(i, &normal, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void wait_for_go(const struct tqi_launch *launch)
{
	char byte;
	ssize_t n;

	close(launch->go[1]); /* or the end of the pipe would never be seen */
	do
		n = read(launch->go[0], &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(127);
}

static void place(int fd, int as)
{
	/* dup2() of a descriptor onto itself would leave it close-on-exec. */
	if (fd == as)
		fcntl(fd, F_SETFD, 0);
	else
		dup2(fd, as);
}

static void place_input(const struct tqi_launch *launch)
{
	const bool own = !(launch->exec->flags & TQ_EXEC_READER_INPUT);
	const int in = own ? open("/dev/null", O_RDONLY | O_CLOEXEC) : launch->input;

	if (in < 0) {
		errno = own ? errno : -in;
		give_up(launch, own ? TQI_LAUNCH_NULL : TQI_LAUNCH_INPUT);
	}
	place(in, STDIN_FILENO);
}

static void redirect(const struct tqi_launch *launch)
{
	const int start = launch->exec->flags & TQ_EXEC_APPEND ? O_APPEND : O_APPEND | O_TRUNC;
	const char *path = launch->output_path;

	place_input(launch);
	int out = path ? open(path, O_WRONLY | O_CREAT | start | O_CLOEXEC | O_NOCTTY, OUTPUT_MODE)
		       : launch->output[1];

	if (out < 0)
		give_up(launch, TQI_LAUNCH_OUTPUT);
	place(out, STDOUT_FILENO);
	place(launch->errors >= 0 ? launch->errors : STDOUT_FILENO, STDERR_FILENO);
}

void tqi_launch_child(const struct tqi_launch *launch)
{
	/* Without a controlling terminal nothing can stop it for reading from one. */
	if (setsid() < 0)
		give_up(launch, TQI_LAUNCH_SETUP);
	reset_signals();
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		give_up(launch, TQI_LAUNCH_SETUP);
	if (getppid() != launch->parent) /* it died before it could be watched */
		_exit(127);
	wait_for_go(launch);
	if (launch->exec->flags & TQ_EXEC_UMASK)
		umask((mode_t)launch->exec->umask);
	if (launch->exec->cwd && chdir(launch->exec->cwd) < 0)
		give_up(launch, TQI_LAUNCH_CWD);
	redirect(launch);
	/* Descriptors of the worker, or of the program that it is, are not the command's. */
	syscall(SYS_close_range, STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC);
	environ = launch->env; /* execvp() looks the command up in the task's PATH */
	execvp(launch->exec->argv[0], (char *const *)(uintptr_t)launch->exec->argv);
	give_up(launch, TQI_LAUNCH_EXEC);
}
