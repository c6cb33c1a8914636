/* SPDX-License-Identifier: MIT */
/* Defaults of kinds: set, taken away, read. */
#include "scheduler/order/kind.h"

#include <errno.h>
#include <string.h>

#include "client/core/handle.h"
#include "client/core/options.h"
#include "client/observe/page.h"
#include "scheduler/order/queue.h"
#include "scheduler/record/name.h"

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
	if (!tq)
		return -EINVAL;
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
	if (!tq)
		return -EINVAL;
	char name[TQ_NAME_MAX + 1] = "";

	if (!kind || !tqi_name_is_valid(kind))
		return -EINVAL;
	memcpy(name, kind, strlen(kind));
	return tqi_run(tq, clear_op, name);
}

/* Free ones, and those without defaults, are not shown. */
static bool fill_kind(struct tq *tq, uint32_t index, const void *record, void *info)
{
	const struct tqi_kind *kind = record;
	const struct tqi_kind_defaults *d = &kind->defaults;
	struct tq_kind_info *i = info;

	(void)tq;
	(void)index;
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
	static const struct tqi_page kinds = { TQI_KINDS, sizeof(*infos), fill_kind };

	return tqi_page_read(tq, &kinds, cursor, infos, count);
}
