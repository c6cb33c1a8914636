/* SPDX-License-Identifier: MIT */
/* Defaults of kinds: set, taken away, read. */
#include "scheduler/order/kind.h"

#include <errno.h>
#include <string.h>

#include "client/core/handle.h"
#include "client/core/options.h"
#include "client/observe/snapshot.h"
#include "scheduler/order/queue.h"
#include "scheduler/record/name.h"

#define RUN 64 /* records copied at a time */

struct kind_request {
	const char *name;
	struct tqi_kind_defaults change;
};

static int set_op(struct tqi_tx *tx, void *arg)
{
	const struct kind_request *request = arg;
	bool full;
	uint32_t k = tqi_kind_make(tx, request->name, &full);

	if (!k)
		return full ? TQ_EKINDS : -ENOMEM;
	tqi_kind_set(tx, k, &request->change);
	return 0;
}

static int clear_op(struct tqi_tx *tx, void *arg)
{
	uint32_t k = tqi_name_find(tx, TQI_KINDS, arg);

	return k ? tqi_kind_clear(tx, k) : -ENOENT;
}

static bool is_valid(const struct tq_kind_opts *o)
{
	const bool any = o->timeout_ns | o->timeout_total_ns | o->backoff_ns | o->backoff_cap_ns |
			 o->attempts_max;

	return any && !o->reserved0 && tqi_time_is_valid(o->timeout_ns) &&
	       tqi_time_is_valid(o->timeout_total_ns) && o->backoff_ns <= TQI_NS_MAX &&
	       o->backoff_cap_ns <= TQI_NS_MAX && o->attempts_max <= TQ_ATTEMPTS_MAX;
}

int tq_kind_set(struct tq *tq, const char *kind, const struct tq_kind_opts *opts)
{
	struct tq_kind_opts o;
	int r = tqi_options_in(&o, sizeof(o), sizeof(o), opts);

	if (r < 0)
		return r;
	if (!kind || !tqi_name_is_valid(kind) || !is_valid(&o))
		return -EINVAL;
	struct kind_request request = {
		.name = kind,
		.change = { .timeout_ns = o.timeout_ns,
			    .timeout_total_ns = o.timeout_total_ns,
			    .backoff_ns = o.backoff_ns,
			    .backoff_cap_ns = o.backoff_cap_ns,
			    .attempts_max = o.attempts_max },
	};

	return tqi_run(tq, set_op, &request);
}

int tq_kind_clear(struct tq *tq, const char *kind)
{
	char name[TQ_NAME_MAX + 1] = "";

	if (!kind || !tqi_name_is_valid(kind))
		return -EINVAL;
	memcpy(name, kind, strlen(kind));
	return tqi_run(tq, clear_op, name);
}

/* One record; false: it is free, or has no defaults. */
static bool fill_kind(const struct tqi_kind *kind, struct tq_kind_info *i)
{
	const struct tqi_kind_defaults *d = &kind->defaults;

	if (!kind->name[0] || !tqi_kind_has_defaults(kind))
		return false;
	memset(i, 0, sizeof(*i));
	i->timeout_ns = d->timeout_ns;
	i->timeout_total_ns = d->timeout_total_ns;
	i->backoff_ns = d->backoff_ns;
	i->backoff_cap_ns = d->backoff_cap_ns;
	i->attempts_max = d->attempts_max;
	memcpy(i->name, kind->name, TQ_NAME_MAX);
	return true;
}

int tq_kind_list(struct tq *tq, uint64_t *cursor, struct tq_kind_info *infos, uint32_t count)
{
	struct tqi_kind kinds[RUN];
	uint32_t end, n = 0, run;

	if (count && infos->size != sizeof(*infos))
		return -EINVAL;
	int r = tqi_peek_count(&tq->seg, TQI_KINDS, &end);

	if (r < 0)
		return r;
	if (*cursor == 0)
		*cursor = 1;
	for (; n < count && *cursor < end && *cursor <= TQI_KINDS_MAX; *cursor += run) {
		uint64_t left = end - *cursor;
		uint32_t room = count - n < RUN ? count - n : RUN;

		run = tqi_peek_run(&tq->seg, TQI_KINDS, (uint32_t)*cursor,
				   left < room ? (uint32_t)left : room, kinds);
		for (uint32_t k = 0; k < run; k++) {
			struct tq_kind_info i;

			if (fill_kind(&kinds[k], &i))
				tqi_snapshot_out(&infos[n++], sizeof(*infos), &i, sizeof(i));
		}
	}
	return (int)n;
}
