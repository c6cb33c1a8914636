/* SPDX-License-Identifier: MIT */
/* Operations on the order inside a queue. */
#include <errno.h>

#include "scheduler/order/queue.h"
#include "tests/property/world.h"

struct policy_op {
	uint32_t queue;
	struct tqi_queue_settings settings;
};

static int policy_core(struct world *w, void *arg)
{
	const struct policy_op *p = arg;

	return tqi_queue_set(&w->tx, p->queue, &p->settings);
}

static uint32_t some_rate(struct world *w)
{
	static const uint32_t rates[] = { TQ_OFF, 1, 7, 1000, 50000, TQ_AGEING_MAX };

	return chance(w, 4) ? 0 : rates[below(w, 6)];
}

/* Bands that split what choose_spec() gives; at times out of order. */
static void choose_bands(struct world *w, int32_t *from)
{
	for (uint32_t b = 0; b < TQ_BANDS - 1; b++)
		from[b] = (int32_t)(below(w, 60) + 100 * b) - 120;
	if (chance(w, 8))
		from[1] = from[0];
}

static void choose_policy(struct world *w, struct tqi_policy *p)
{
	uint32_t one = some_rate(w);
	bool uniform = chance(w, 3), strict = chance(w, 4);

	for (uint32_t b = 0; b < TQ_BANDS; b++)
		p->ageing[b] = strict ? TQ_OFF : uniform ? one : some_rate(w);
	if (chance(w, 3))
		choose_bands(w, p->band_from);
	if (chance(w, 2))
		p->hybrid = !chance(w, 3) ? TQ_OFF : 1 + below(w, 4);
	if (chance(w, 2))
		p->fair = chance(w, 3) ? TQ_OFF : 1;
	if (p->fair == 1 && !chance(w, 8))
		p->hybrid = TQ_OFF;
	if (chance(w, 2))
		p->edf = strict && chance(w, 2) ? 1 : TQ_OFF;
	if (chance(w, 2))
		p->max_wait_ns = chance(w, 3) ? UINT64_MAX : 1 + some_time(w);
}

void op_policy(struct world *w)
{
	struct policy_op p = { .queue = 1 + below(w, MODEL_STAYING_QUEUES) };
	struct tqi_policy *policy = &p.settings.policy;

	choose_policy(w, policy);
	int r = perform(w, policy_core, &p, false);

	note(w,
	     "policy of queue %u: ageing %u %u %u %u, bands %d %d %d hybrid %u edf %u fair %u "
	     "max-wait %llu: %d",
	     p.queue, policy->ageing[0], policy->ageing[1], policy->ageing[2], policy->ageing[3],
	     policy->band_from[0], policy->band_from[1], policy->band_from[2], policy->hybrid,
	     policy->edf, policy->fair, (unsigned long long)policy->max_wait_ns, r);
	expect(w, r, model_policy(w->m, p.queue, policy), "policy");
}
