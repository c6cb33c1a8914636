/* SPDX-License-Identifier: MIT */
/* Signals and the end of a child, received by a thread of their own. */
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "errors.h"
#include "tools/taskq/run/watch.h"

/* Sent by watch_end() to the thread. */
#define SIGNAL_END SIGUSR1

void watch_block(struct watch *watch)
{
	*watch = (struct watch){ 0 };
	sigemptyset(&watch->set);
	sigaddset(&watch->set, SIGINT);
	sigaddset(&watch->set, SIGTERM);
	sigaddset(&watch->set, SIGHUP);
	sigaddset(&watch->set, SIGCHLD);
	sigaddset(&watch->set, SIGNAL_END);
	pthread_sigmask(SIG_BLOCK, &watch->set, &watch->before);
}

void watch_child_restore(const struct watch *watch)
{
	pthread_sigmask(SIG_SETMASK, &watch->before, NULL);
}

static bool child_has_ended(const struct watch *watch)
{
	siginfo_t info = { .si_pid = 0 };

	return watch->child > 0 &&
	       waitid(P_PID, (id_t)watch->child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid == watch->child;
}

/* A second wish to leave is granted at once: what was cancelled stays cancelled. */
static void on_wish(struct watch *watch, int number)
{
	if (atomic_exchange(&watch->signal_number, number) != 0)
		_exit(CLI_SIGNALLED + number);
	watch->stop(watch->arg);
}

static void on_child(struct watch *watch)
{
	if (!child_has_ended(watch) || atomic_exchange(&watch->child_is_lost, true))
		return;
	if (atomic_load(&watch->signal_number) == 0)
		complain("the private workers are gone\nwhat they had not finished is cancelled");
	watch->stop(watch->arg);
}

static void *watch_thread(void *arg)
{
	struct watch *watch = arg;
	int number;

	on_child(watch); /* it may have ended before we began */
	while (sigwait(&watch->set, &number) == 0 && number != SIGNAL_END) {
		if (number == SIGCHLD)
			on_child(watch);
		else
			on_wish(watch, number);
	}
	return NULL;
}

int watch_start(struct watch *watch, pid_t child, watch_stop_fn *stop, void *arg)
{
	sigset_t all, before;
	int error;

	watch->child = child;
	watch->stop = stop;
	watch->arg = arg;
	/* Ctrl-Z is the main thread's: it knows when it is between operations. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&watch->thread, NULL, watch_thread, watch);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	watch->running = error == 0;
	return -error;
}

void watch_end(struct watch *watch)
{
	if (!watch->running)
		return;
	watch->running = false;
	pthread_kill(watch->thread, SIGNAL_END);
	pthread_join(watch->thread, NULL);
}
