/* SPDX-License-Identifier: MIT */
/* Limits: set, removed, read. */
#include "scheduler/limit/limit.h"

#include <errno.h>
#include <string.h>

#include "client/core/handle.h"
#include "client/core/options.h"
#include "client/observe/page.h"

struct limit_request {
	const char *key;
	struct tqi_limit_change change;
};

static int limit_op(struct tqi_tx *tx, void *arg)
{
	const struct limit_request *request = arg;

	return tqi_limit_set(tx, request->key, &request->change);
}

static bool key_is_valid(const char *key)
{
	return key && *key && strnlen(key, TQ_KEY_MAX + 1) <= TQ_KEY_MAX;
}

/* The rate that is asked for.  -EINVAL; -ERANGE. */
static int take_rate(const struct tq_limit_opts *o, struct tqi_limit_change *change)
{
	if (!o->rate || o->rate == TQ_OFF) {
		change->has_rate = o->rate;
		return o->interval_ns || o->burst ? -EINVAL : 0;
	}
	change->has_rate = true;
	change->rate = (struct tqi_rate){ .interval_ns = o->interval_ns,
					  .rate = o->rate,
					  .burst = o->burst ? o->burst : o->rate };
	if (!o->interval_ns)
		return -EINVAL;
	return tqi_rate_is_valid(&change->rate) ? 0 : -ERANGE;
}

static int set_limit(struct tq *tq, const char *key, const struct tqi_limit_change *change)
{
	struct limit_request request = { key, *change };

	return tqi_run(tq, limit_op, &request);
}

int tq_limit_set(struct tq *tq, const char *key, const struct tq_limit_opts *opts)
{
	if (!tq)
		return -EINVAL;
	struct tq_limit_opts o;
	int r = tqi_options_in(&o, sizeof(o), sizeof(o), opts);

	if (r < 0)
		return r;
	if (!key_is_valid(key) || (!o.slots && !o.rate) || o.reserved0)
		return -EINVAL;
	struct tqi_limit_change change = { .size = o.slots };

	r = take_rate(&o, &change);
	if (r == 0)
		r = set_limit(tq, key, &change);
	return r == -ENOENT ? 0 : r; /* nothing to take away */
}

int tq_limit_remove(struct tq *tq, const char *key)
{
	if (!tq)
		return -EINVAL;
	const struct tqi_limit_change none = { .size = TQI_LIMIT_NONE, .has_rate = true };

	return key_is_valid(key) ? set_limit(tq, key, &none) : -EINVAL;
}

static void fill_bucket(const struct tqi_limit *limit, uint64_t now_ns, struct tq_limit_info *i)
{
	uint64_t part;

	if (!limit->rate || !limit->interval_ns)
		return;
	i->rate = limit->rate;
	i->burst = limit->burst;
	i->interval_ns = limit->interval_ns;
	const int64_t level = tqi_bucket_tokens(limit, now_ns, &part);

	i->tokens = level > 0 ? (uint32_t)level : 0;
	i->next_ns = now_ns < limit->next_ns ? limit->next_ns : 0;
}

/* Free ones are not shown. */
static bool fill_limit(struct tq *tq, uint32_t index, const void *record, void *info)
{
	const struct tqi_limit *limit = record;
	struct tq_limit_info *i = info;

	(void)index;
	if (!limit->bytes || (!tqi_limit_is_set(limit) && !limit->tasks))
		return false;
	memset(i, 0, sizeof(*i));
	i->slots = limit->size;
	i->used = limit->used;
	i->waiting = limit->waiting;
	i->tasks = limit->tasks;
	i->needed = limit->needed;
	fill_bucket(limit, tqi_now(tq), i);
	memcpy(i->key, limit->name, TQ_KEY_MAX);
	return true;
}

int tq_limit_list(struct tq *tq, uint64_t *cursor, struct tq_limit_info *infos, uint32_t count)
{
	static const struct tqi_page limits = { TQI_LIMITS, sizeof(*infos), fill_limit };

	return tqi_page_read(tq, &limits, cursor, infos, count);
}

int tq_limit_info(struct tq *tq, const char *key, struct tq_limit_info *ret_info)
{
	if (!tq)
		return -EINVAL;
	struct tq_limit_info i = { .size = sizeof(i) };
	uint64_t room, cursor = 0;
	int r = tqi_snapshot_room(ret_info, &room);

	if (r < 0)
		return r;
	if (!key_is_valid(key))
		return -EINVAL;
	while ((r = tq_limit_list(tq, &cursor, &i, 1)) > 0) {
		if (strcmp(i.key, key) != 0)
			continue;
		tqi_snapshot_out(ret_info, room, &i, sizeof(i));
		return 0;
	}
	return r < 0 ? r : -ENOENT;
}
