/* SPDX-License-Identifier: MIT */
/* Ctrl-Z and the segment: stops are put off while an operation is under way. */
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

#include "signals.h"

static atomic_int held;	   /* operations under way, in all threads */
static atomic_bool noted;  /* a Ctrl-Z came meanwhile */
static bool obeyed = true; /* false: whoever started us ignores SIGTSTP */

static void install(void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	sigemptyset(&action.sa_mask);
	sigaction(SIGTSTP, &action, NULL);
}

static void on_stop(int number);

static void stop_now(void)
{
	sigset_t stop, before;

	atomic_store(&noted, false);
	install(SIG_DFL, 0);
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	raise(SIGTSTP);
	pthread_sigmask(SIG_UNBLOCK, &stop, &before); /* stops here */
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	install(on_stop, SA_RESTART);
}

static void on_stop(int number)
{
	(void)number;
	if (atomic_load(&held) <= 0)
		stop_now();
	else
		atomic_store(&noted, true);
}

void signals_setup(void)
{
	struct sigaction before;

	sigaction(SIGTSTP, NULL, &before);
	obeyed = before.sa_handler == SIG_DFL;
	if (obeyed)
		install(on_stop, SA_RESTART);
}

void signals_hold(void)
{
	atomic_fetch_add(&held, 1);
}

void signals_release(void)
{
	if (atomic_fetch_sub(&held, 1) <= 1 && atomic_load(&noted))
		stop_now();
}

void signals_point(void)
{
	signals_release();
	signals_hold();
}

void signals_sleep_begin(void)
{
	if (obeyed)
		install(on_stop, 0);
}

void signals_sleep_end(void)
{
	if (obeyed)
		install(on_stop, SA_RESTART);
	signals_point();
}
