/* SPDX-License-Identifier: MIT */
/* Deaths and stops in the middle of a call. */
#include <signal.h>
#include <time.h>

#include "storm.h"

#define LIGHT_PER_MILLE 12 /* of the calls: about as many kills as the weather makes */
#define BURN_MAX_NS 60000u /* most calls take 3 to 30 us */
#define STOP_PERCENT 15

static bool set_timer(struct player *p, int signal)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = signal };

	if (p->fuse.owner == p->who)
		timer_delete(p->fuse.timer);
	p->fuse.owner = 0;
	if (timer_create(CLOCK_MONOTONIC, &event, &p->fuse.timer) < 0)
		return false;
	p->fuse.owner = p->who;
	return true;
}

void fuse_light(struct player *p)
{
	const struct itimerspec when = { .it_value.tv_nsec =
						 (long)chance_in(&p->chance, 1, BURN_MAX_NS) };
	/* A conductor sees only its own children stop, and lets them go on. */
	bool stop = !p->child && chance_percent(&p->chance, STOP_PERCENT);

	if (p->spared || !player_phase_is(p, PHASE_STORM) ||
	    chance_below(&p->chance, 1000) >= LIGHT_PER_MILLE ||
	    !set_timer(p, stop ? SIGSTOP : SIGKILL))
		return;
	if (!stop)
		ledger_killing(p->ledger, p->who, (uint64_t)when.it_value.tv_nsec);
	atomic_fetch_add(&p->ledger->fuses[stop], 1);
	timer_settime(p->fuse.timer, 0, &when, NULL);
}
