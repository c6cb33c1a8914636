/* SPDX-License-Identifier: MIT */
/* Operations on limits. */
#include <stdio.h>

#include "scheduler/limit/limit.h"
#include "tests/property/world.h"

#define SECOND 1000000000ull

const char *limit_name(uint32_t limit)
{
	static const char *const names[MODEL_LIMITS + 1] = { "",	"one limit", "two",
							     "three",	"four",	     "five",
							     "six keys" };

	return names[limit];
}

struct limit_op {
	uint32_t limit;
	struct tqi_limit_change change;
};

static int limit_core(struct world *w, void *arg)
{
	const struct limit_op *o = arg;

	return tqi_limit_set(&w->tx, limit_name(o->limit), &o->change);
}

static void choose_change(struct world *w, struct tqi_limit_change *c)
{
	static const uint64_t intervals[] = { 1000000, 777, 10 * SECOND, SECOND, 3 * SECOND };

	if (!chance(w, 4))
		c->size = chance(w, 3) ? TQI_LIMIT_NONE : 1 + below(w, chance(w, 3) ? 20 : 3);
	c->has_rate = !c->size || chance(w, 3);
	if (!c->has_rate || chance(w, 3))
		return;
	c->rate = (struct tqi_rate){ .interval_ns = intervals[below(w, 5)],
				     .rate = 1 + below(w, chance(w, 4) ? 1000 : 7),
				     .burst = 1 + below(w, 9) };
}

void op_limit(struct world *w)
{
	struct limit_op o = { .limit = 1 + below(w, MODEL_LIMITS) };

	choose_change(w, &o.change);
	int r = perform(w, limit_core, &o, false);

	note(w, "limit %u of %u, rate %u of %u in %llu ns: %d", o.limit, o.change.size,
	     o.change.rate.rate, o.change.rate.burst, (unsigned long long)o.change.rate.interval_ns,
	     r);
	if (r != NO_ROOM)
		expect(w, r, model_limit_set(w->m, o.limit, &o.change), "limit");
}
