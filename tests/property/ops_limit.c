/* SPDX-License-Identifier: MIT */
/* Operations on limits. */
#include <stdio.h>

#include "scheduler/limit.h"
#include "tests/property/world.h"

const char *limit_name(uint32_t limit)
{
	static const char *const names[MODEL_LIMITS + 1] = { "",	"one limit", "two",
							     "three",	"four",	     "five",
							     "six keys" };

	return names[limit];
}

struct limit_op {
	uint32_t limit, size;
};

static int limit_core(struct world *w, void *arg)
{
	const struct limit_op *o = arg;

	return tqi_limit_set(&w->tx, limit_name(o->limit), o->size);
}

void op_limit(struct world *w)
{
	struct limit_op o = { .limit = 1 + below(w, MODEL_LIMITS) };

	o.size = chance(w, 3) ? 0 : 1 + below(w, chance(w, 3) ? 20 : 3);
	int r = perform(w, limit_core, &o, false);

	note(w, "limit %u of %u: %d", o.limit, o.size, r);
	if (r != NO_ROOM)
		expect(w, r, model_limit_set(w->m, o.limit, o.size), "limit");
}
