/* SPDX-License-Identifier: MIT */
/* Handlers that set a bit and wake whoever sleeps. */
#include "client/farm/farm_signals.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>

#include "client/core/stopper.h"
#include "taskq/farm.h"

/* The farm of this process: a signal handler has no argument (tests/lint/globals.allow). */
static struct tqi_farm_signals *_Atomic farm_signals_current;

/* Async-signal-safe. */
static void note(struct tqi_farm_signals *signals, uint32_t what)
{
	struct tqi_heartbeat *heartbeat;

	if (what == TQI_PENDING_STOP)
		tqi_add_release32(&signals->pending, TQI_PENDING_STOP);
	else
		atomic_fetch_or_explicit(&signals->pending.v, what, memory_order_release);
	signals->ops->futex_wake(signals->ops->ctx, &signals->pending, 1);
	heartbeat = atomic_load_explicit(&signals->heartbeat, memory_order_acquire);
	if (heartbeat)
		tqi_heartbeat_tell(heartbeat);
}

static uint32_t meaning_of(int signal)
{
	switch (signal) {
	case SIGCHLD:
		return TQI_PENDING_CHILD;
	case SIGTTIN:
		return TQI_PENDING_MORE;
	case SIGTTOU:
		return TQI_PENDING_LESS;
	case SIGQUIT:
		return TQI_PENDING_NOW;
	case SIGIO:
		return TQI_PENDING_FILE;
	case SIGHUP:
		return TQI_PENDING_RELOAD;
	default:
		return TQI_PENDING_STOP;
	}
}

static void handle(int signal)
{
	const int saved = errno;
	struct tqi_farm_signals *signals =
		atomic_load_explicit(&farm_signals_current, memory_order_acquire);

	if (signals)
		note(signals, meaning_of(signal));
	errno = saved;
}

void tq_farm_stop(void)
{
	handle(SIGTERM);
}

#define HANGUP (TQI_FARM_SIGNALS - 1)

static const int handled[TQI_FARM_SIGNALS] = { SIGTERM, SIGINT,	 SIGQUIT, SIGTTIN,
					       SIGTTOU, SIGCHLD, SIGIO,	  SIGHUP };

static void install(struct tqi_farm_signals *signals)
{
	struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART };
	sigset_t ours;

	sigemptyset(&ours);
	for (int i = 0; i < TQI_FARM_SIGNALS; i++) {
		sigaction(handled[i], &action, &signals->before[i]);
		sigaddset(&ours, handled[i]);
	}
	if (signals->before[HANGUP].sa_handler == SIG_IGN) /* nohup(1) */
		signal(SIGHUP, SIG_IGN);
	pthread_sigmask(SIG_UNBLOCK, &ours, &signals->mask_before);
	signals->installed = true;
}

int tqi_farm_signals_open(struct tqi_farm_signals *signals, const struct tqi_ops *ops,
			  bool keep_handlers)
{
	struct tqi_farm_signals *none = NULL;

	signals->ops = ops;
	if (!atomic_compare_exchange_strong(&farm_signals_current, &none, signals))
		return -EBUSY;
	if (!keep_handlers)
		install(signals);
	return 0;
}

void tqi_farm_signals_close(struct tqi_farm_signals *signals)
{
	for (int i = 0; signals->installed && i < TQI_FARM_SIGNALS; i++)
		sigaction(handled[i], &signals->before[i], NULL);
	if (signals->installed)
		pthread_sigmask(SIG_SETMASK, &signals->mask_before, NULL);
	signals->installed = false;
	atomic_store(&farm_signals_current, NULL);
}

/*
 * A worker leads a group of its own, so the terminal's signals are the master's
 * alone; what the background may get from a terminal must not stop it.
 */
void tqi_farm_signals_worker(struct tqi_farm_signals *signals, const sigset_t *mask)
{
	const struct sigaction tell = { .sa_handler = handle, .sa_flags = SA_RESTART };
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	const struct sigaction normal = { .sa_handler = SIG_DFL };
	sigset_t let = *mask;

	tqi_store_relaxed32(&signals->pending, 0); /* the master's */
	sigaction(SIGTERM, &tell, NULL);
	sigaction(SIGINT, &tell, NULL);
	sigaction(SIGTTIN, &ignore, NULL);
	sigaction(SIGTTOU, &ignore, NULL);
	if (signals->installed)
		sigaction(SIGHUP, &signals->before[HANGUP], NULL);
	sigaction(SIGQUIT, &normal, NULL);
	sigaction(SIGCHLD, &normal, NULL);
	sigaction(SIGIO, &ignore, NULL); /* the master's */
	for (int i = 0; i < TQI_FARM_SIGNALS; i++)
		sigdelset(&let, handled[i]);
	pthread_sigmask(SIG_SETMASK, &let, NULL);
}

uint32_t tqi_farm_signals_take(struct tqi_farm_signals *signals)
{
	return atomic_exchange_explicit(&signals->pending.v, 0, memory_order_acq_rel);
}
