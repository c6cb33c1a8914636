/* SPDX-License-Identifier: MIT */
/* Defaults of kinds. */
#include "scheduler/order/kind.h"

#include <errno.h>

/* It has some, or none, from now on. */
static void count(struct tqi_tx *tx, bool has)
{
	struct tqi_root *root = tqi_root(tx);

	TQI_ADD(tx, root->set_kinds, has ? 1 : -1);
	TQI_SET(tx, root->flags,
		root->set_kinds ? root->flags | TQI_ROOT_KINDS : root->flags & ~TQI_ROOT_KINDS);
}

static void put(struct tqi_tx *tx, struct tqi_kind *kind, const struct tqi_kind_defaults *d)
{
	TQI_SET(tx, kind->defaults.timeout_ns, d->timeout_ns);
	TQI_SET(tx, kind->defaults.timeout_total_ns, d->timeout_total_ns);
	TQI_SET(tx, kind->defaults.backoff_ns, d->backoff_ns);
	TQI_SET(tx, kind->defaults.backoff_cap_ns, d->backoff_cap_ns);
	TQI_SET(tx, kind->defaults.attempts_max, d->attempts_max);
}

static uint64_t first_of(uint64_t value, uint64_t fallback)
{
	return value ? value : fallback;
}

void tqi_kind_set(struct tqi_tx *tx, uint32_t k, const struct tqi_kind_defaults *change)
{
	struct tqi_kind *kind = tqi_kind_at(tx, k);
	const struct tqi_kind_defaults *old = &kind->defaults;
	const bool had = tqi_kind_has_defaults(kind);
	const struct tqi_kind_defaults new = {
		.timeout_ns = first_of(change->timeout_ns, old->timeout_ns),
		.timeout_total_ns = first_of(change->timeout_total_ns, old->timeout_total_ns),
		.backoff_ns = first_of(change->backoff_ns, old->backoff_ns),
		.backoff_cap_ns = first_of(change->backoff_cap_ns, old->backoff_cap_ns),
		.attempts_max = (uint32_t)first_of(change->attempts_max, old->attempts_max),
	};

	put(tx, kind, &new);
	if (had != tqi_kind_has_defaults(kind))
		count(tx, true);
}

int tqi_kind_clear(struct tqi_tx *tx, uint32_t k)
{
	static const struct tqi_kind_defaults none = { .timeout_ns = 0 };
	struct tqi_kind *kind = tqi_kind_at(tx, k);

	if (!tqi_kind_has_defaults(kind))
		return -ENOENT;
	put(tx, kind, &none);
	count(tx, false);
	return 0;
}

void tqi_kind_fill(struct tqi_tx *tx, struct tqi_task *t, const struct tq_task_spec *spec)
{
	const struct tqi_kind_defaults *d = &tqi_kind_at(tx, t->kind)->defaults;

	if (!spec->timeout_ns && d->timeout_ns)
		TQI_INIT(t->timeout_ns, d->timeout_ns);
	if (!spec->timeout_total_ns && d->timeout_total_ns)
		TQI_INIT(t->timeout_total_ns, d->timeout_total_ns);
	if (!spec->backoff_ns && d->backoff_ns)
		TQI_INIT(t->backoff_ns, d->backoff_ns);
	if (!spec->backoff_cap_ns && d->backoff_cap_ns)
		TQI_INIT(t->backoff_cap_ns, d->backoff_cap_ns);
	if (!spec->attempts_max && d->attempts_max)
		TQI_INIT(t->attempts_max, (uint16_t)d->attempts_max);
}
