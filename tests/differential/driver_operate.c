/* SPDX-License-Identifier: MIT */
/* Operations of operators: queues, policies, limits. */
#include <stdio.h>

#include "driver.h"

/*
 * Most often what lets work go on; a purge seldom, lest too little be left to choose from.  No
 * drain: 55d6051 refuses there also what the queue's running tasks submit, as which all that this
 * process submits counts now while it has a claim (fault.T8).
 */
void driver_queue(struct driver *d)
{
	static const enum tq_queue_action actions[] = {
		TQ_QUEUE_PAUSE,
		TQ_QUEUE_RESUME,
		TQ_QUEUE_RESUME,
	};
	uint32_t q = driver_below(d, DRIVER_QUEUES);
	enum tq_queue_action action = driver_chance(d, 40) ? TQ_QUEUE_PURGE
							   : actions[driver_below(d, 3)];
	int r = tq_queue_steer(d->tq, driver_name('q', q), action);

	printf("queue q%u %u %d\n", q, (unsigned)action, r);
}

static void age(struct driver *d, struct tq_queue_opts *opts, bool alike)
{
	for (uint32_t b = 0; b < TQ_BANDS; b++)
		opts->ageing[b] = alike && b		? opts->ageing[0]
				  : driver_chance(d, 3) ? TQ_OFF
							: 1 + driver_below(d, 2000000);
}

static void no_ageing(struct tq_queue_opts *opts)
{
	for (uint32_t b = 0; b < TQ_BANDS; b++)
		opts->ageing[b] = TQ_OFF;
}

/* One setting, and what it does not go with is switched off. */
static void draft_policy(struct driver *d, struct tq_queue_opts *opts, uint32_t how)
{
	bool off = driver_chance(d, 3);

	if (how < 2) {
		age(d, opts, how == 0);
		opts->edf = TQ_OFF;
	} else if (how == 2) {
		opts->max_wait_ns = off ? TQ_UNLIMITED : (1 + driver_below(d, 3000)) * DRIVER_MS;
	} else if (how == 3) {
		opts->hybrid = off ? TQ_OFF : 1 + driver_below(d, 5);
		opts->fair = TQ_OFF;
	} else if (how == 4) {
		opts->edf = off ? TQ_OFF : 1;
		no_ageing(opts);
	} else if (how == 5) {
		opts->fair = off ? TQ_OFF : 1;
		opts->hybrid = TQ_OFF;
	} else if (how == 6) {
		opts->batch = off ? TQ_OFF : 2 + driver_below(d, 4);
	} else {
		opts->band_from[0] = (int32_t)driver_below(d, 10);
		opts->band_from[1] = 10 + (int32_t)driver_below(d, 300);
		opts->band_from[2] = 400 + (int32_t)driver_below(d, 300);
	}
}

void driver_policy(struct driver *d)
{
	struct tq_queue_opts opts = { .size = sizeof(opts) };
	uint32_t q = driver_below(d, DRIVER_QUEUES), how = driver_below(d, 8);

	draft_policy(d, &opts, how);
	int r = tq_queue_set(d->tq, driver_name('q', q), &opts);

	printf("policy q%u %u %d\n", q, how, r);
}

void driver_limit(struct driver *d)
{
	struct tq_limit_opts opts = { .size = sizeof(opts) };
	uint32_t l = driver_below(d, DRIVER_LIMITS), how = driver_below(d, 4);

	if (how < 2)
		opts.slots = 1 + driver_below(d, 3);
	else if (how == 2)
		opts.slots = TQ_OFF;
	else if (driver_chance(d, 3))
		opts.rate = TQ_OFF;
	else
		opts.rate = 1 + driver_below(d, 4);
	if (opts.rate && opts.rate != TQ_OFF) {
		opts.interval_ns = (10 + driver_below(d, 1000)) * DRIVER_MS;
		opts.burst = 1 + driver_below(d, 4);
	}
	int r = tq_limit_set(d->tq, driver_name('l', l), &opts);

	printf("limit l%u %u %d\n", l, how, r);
}
