/* SPDX-License-Identifier: MIT */
/* Operations on servers and their limits; two queues have them. */
#include "scheduler/limit/server.h"

#include <errno.h>
#include <string.h>

#include "tests/property/world.h"

#define SERVED_QUEUES 2

struct server_op {
	uint32_t queue;
	uint32_t name;
	uint32_t pattern;
	uint32_t size;
};

static struct server_op choose(struct world *w)
{
	return (struct server_op){
		.queue = 1 + below(w, SERVED_QUEUES),
		.name = below(w, MODEL_SERVERS),
		.pattern = below(w, MODEL_PATTERNS),
		.size = 1 + below(w, chance(w, 3) ? 12 : 3),
	};
}

static int add_core(struct world *w, void *arg)
{
	const struct server_op *o = arg;

	return tqi_server_add(&w->tx, o->queue, server_name(o->name));
}

static void add(struct world *w, struct server_op *o)
{
	const char *name = server_name(o->name);
	struct tqi_tx tx;
	int r = perform(w, add_core, o, false);

	note(w, "server %s to queue %u: %d", name, o->queue, r);
	if (r == NO_ROOM)
		return;
	tqi_tx_view(&tx, &w->box.seg);
	expect(w, r,
	       model_server_add(w->m, o->queue, o->name,
				tqi_server_find(&tx, o->queue, name, (uint32_t)strlen(name))),
	       "server");
}

static int remove_core(struct world *w, void *arg)
{
	const struct server_op *o = arg;

	return tqi_server_remove(&w->tx, o->queue, server_name(o->name));
}

static int remove_all_core(struct world *w, void *arg)
{
	return tqi_server_remove_all(&w->tx, ((struct server_op *)arg)->queue);
}

void op_server(struct world *w)
{
	struct server_op o = choose(w);

	if (!chance(w, 3)) {
		add(w, &o);
	} else if (chance(w, 4)) {
		int r = perform(w, remove_all_core, &o, false);

		note(w, "no servers of queue %u: %d", o.queue, r);
		if (r != NO_ROOM)
			expect(w, r, model_server_remove_all(w->m, o.queue), "no servers");
	} else {
		int r = perform(w, remove_core, &o, false);

		note(w, "remove server %s of queue %u: %d", server_name(o.name), o.queue, r);
		expect(w, r, model_server_remove(w->m, o.queue, o.name), "remove server");
	}
}

static int pool_core(struct world *w, void *arg)
{
	const struct server_op *o = arg;

	return tqi_pool_set(&w->tx, o->queue, server_pattern(o->pattern), o->size);
}

void op_pool(struct world *w)
{
	struct server_op o = choose(w);

	if (chance(w, 3))
		o.size = TQI_POOL_NONE;
	int r = perform(w, pool_core, &o, false);

	note(w, "limit of servers %s of queue %u: %u: %d", server_pattern(o.pattern), o.queue,
	     o.size, r);
	if (r != NO_ROOM)
		expect(w, r, model_pool_set(w->m, o.queue, o.pattern, o.size), "server limit");
}
