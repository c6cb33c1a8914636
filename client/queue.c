/* SPDX-License-Identifier: MIT */
/* Making and steering queues. */
#include <errno.h>

#include "client/handle.h"
#include "client/options.h"
#include "scheduler/queue.h"

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
		return full ? TQ_EFULL : -ENOMEM;
	tqi_queue_set(tx, q, &request->settings);
	return 0;
}

int tq_queue_set(struct tq *tq, const char *queue, const struct tq_queue_opts *opts)
{
	struct tq_queue_opts o;
	int r = tqi_options_in(&o, sizeof(o), sizeof(o), opts);

	if (r < 0)
		return r;
	if (!queue || !tqi_name_is_valid(queue) || o.attempts_max > TQ_ATTEMPTS_MAX ||
	    o.reserved0 || !tqi_time_is_valid(o.timeout_ns) || o.backoff_ns > TQI_NS_MAX ||
	    o.backoff_cap_ns > TQI_NS_MAX)
		return -EINVAL;
	struct set_request request = {
		.name = queue,
		.settings = { .depth_max = o.depth_max,
			      .timeout_ns = o.timeout_ns,
			      .backoff_ns = o.backoff_ns,
			      .backoff_cap_ns = o.backoff_cap_ns,
			      .attempts_max = o.attempts_max },
	};

	return tqi_run(tq, set_op, &request);
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
	struct steer_request request = { .name = queue, .action = action };

	if (!queue || !tqi_name_is_valid(queue))
		return -EINVAL;

	int r = tqi_run(tq, steer_op, &request);

	if (r > 0 && action == TQ_QUEUE_PURGE)
		tqi_sweep_out(tq);
	return r;
}
