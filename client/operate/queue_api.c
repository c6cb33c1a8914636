/* SPDX-License-Identifier: MIT */
/* Making and steering queues. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "client/core/handle.h"
#include "client/core/options.h"
#include "client/observe/info.h"
#include "scheduler/order/queue.h"
#include "scheduler/task/sweep.h"

#define FIRST_BYTES offsetof(struct tq_queue_opts, ageing) /* of the struct's first form */
#define SET_TRIES 16 /* other setters may begin one change after the other meanwhile */
#define ROUNDS 1000 /* of making room for tasks on their way into another order */

struct set_request {
	const char *name;
	struct tqi_queue_settings settings;
};

static int set_op(struct tqi_tx *tx, void *arg)
{
	const struct set_request *request = arg;
	bool full;
	uint32_t q = tqi_queue_make(tx, request->name, &full);

	if (!q)
		return full ? TQ_EQUEUES : -ENOMEM;
	return tqi_queue_set(tx, q, &request->settings);
}

static bool ageing_is_valid(const struct tq_queue_opts *o)
{
	for (uint32_t b = 0; b < TQ_BANDS; b++)
		if (o->ageing[b] > TQ_AGEING_MAX && o->ageing[b] != TQ_OFF)
			return false;
	return true;
}

/* 1: the sweep has been through and has left tasks behind, for want of memory. */
static int left_op(struct tqi_tx *tx, void *arg)
{
	(void)arg;
	return tqi_root(tx)->moving.count && !tqi_root(tx)->sweep.left;
}

static int round_op(struct tqi_tx *tx, void *arg)
{
	(void)arg;
	tqi_sweep_start(tx);
	return 0;
}

/* Tasks into the new order; what finds no memory is left to keepers' looks. */
static void take_over(struct tq *tq)
{
	tqi_sweep_out(tq);
	for (int i = 0; i < ROUNDS && tqi_run(tq, left_op, NULL) == 1; i++) {
		if (tqi_make_room(tq, 0) < 0 || tqi_run(tq, round_op, NULL) < 0)
			return;
		tqi_sweep_out(tq);
	}
}

/* A change before, whose setter was killed or found no memory, comes to its end first. */
static int set(struct tq *tq, struct set_request *request, bool orders)
{
	int r = tqi_run(tq, set_op, request);

	for (int i = 0; i < SET_TRIES && r == -EBUSY; i++) {
		take_over(tq);
		r = tqi_run(tq, set_op, request);
	}
	if (r == 0 && orders)
		take_over(tq);
	return r;
}

static bool orders(const struct tq_queue_opts *o)
{
	const struct tq_queue_opts none = { .size = 0 };

	return memcmp(o->ageing, none.ageing, sizeof(*o) - FIRST_BYTES) != 0;
}

int tq_queue_set(struct tq *tq, const char *queue, const struct tq_queue_opts *opts)
{
	if (!tq)
		return -EINVAL;
	struct tq_queue_opts o;
	int r = tqi_options_in(&o, sizeof(o), FIRST_BYTES, opts);

	if (r < 0)
		return r;
	if (!queue || !tqi_name_is_valid(queue) || o.attempts_max > TQ_ATTEMPTS_MAX ||
	    o.reserved0 || (o.batch > TQ_BATCH_MAX && o.batch != TQ_OFF) ||
	    !tqi_time_is_valid(o.timeout_ns) || o.backoff_ns > TQI_NS_MAX ||
	    o.backoff_cap_ns > TQI_NS_MAX || !ageing_is_valid(&o) ||
	    (o.hybrid > TQ_HYBRID_MAX && o.hybrid != TQ_OFF) || !tqi_time_is_valid(o.max_wait_ns) ||
	    (o.edf > 1 && o.edf != TQ_OFF) || (o.fair > 1 && o.fair != TQ_OFF))
		return -EINVAL;
	struct set_request request = {
		.name = queue,
		.settings = { .depth_max = o.depth_max,
			      .timeout_ns = o.timeout_ns,
			      .backoff_ns = o.backoff_ns,
			      .backoff_cap_ns = o.backoff_cap_ns,
			      .attempts_max = o.attempts_max,
			      .batch = o.batch },
	};

	memcpy(request.settings.policy.ageing, o.ageing, sizeof(o.ageing));
	memcpy(request.settings.policy.band_from, o.band_from, sizeof(o.band_from));
	request.settings.policy.hybrid = o.hybrid;
	request.settings.policy.edf = o.edf;
	request.settings.policy.fair = o.fair;
	request.settings.policy.max_wait_ns = o.max_wait_ns;
	return set(tq, &request, orders(&o));
}

struct steer_request {
	const char *name;
	enum tq_queue_action action;
};

static int steer_op(struct tqi_tx *tx, void *arg)
{
	const struct steer_request *request = arg;
	uint32_t q = tqi_queue_find(tx, request->name);

	if (!q)
		return -ENOENT;
	switch (request->action) {
	case TQ_QUEUE_PAUSE:
	case TQ_QUEUE_RESUME:
		tqi_queue_flag(tx, q, TQI_QUEUE_PAUSED, request->action == TQ_QUEUE_PAUSE);
		return 0;
	case TQ_QUEUE_DRAIN:
	case TQ_QUEUE_UNDRAIN:
		tqi_queue_flag(tx, q, TQI_QUEUE_DRAINING, request->action == TQ_QUEUE_DRAIN);
		return 0;
	case TQ_QUEUE_PURGE:
		return (int)tqi_queue_purge(tx, q);
	}
	return -EINVAL;
}

int tq_queue_steer(struct tq *tq, const char *queue, enum tq_queue_action action)
{
	if (!tq)
		return -EINVAL;
	struct steer_request request = { .name = queue, .action = action };

	if (!queue || !tqi_name_is_valid(queue))
		return -EINVAL;

	int r = tqi_run(tq, steer_op, &request);

	if (r >= 0 && action == TQ_QUEUE_PURGE) {
		/* One before may have been decided, and its caller killed: this one carries it out. */
		const uint64_t decided = tqi_queue_decided(tq, queue);

		r = decided > (uint64_t)r && decided <= INT32_MAX ? (int)decided : r;
		tqi_sweep_out(tq);
	}
	return r;
}
