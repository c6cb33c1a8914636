/* SPDX-License-Identifier: MIT */
/* Limits: set, removed, read. */
#include "scheduler/limit.h"

#include <errno.h>
#include <string.h>

#include "client/handle.h"
#include "client/options.h"
#include "client/snapshot.h"

struct limit_request {
	const char *key;
	uint32_t size; /* 0 take it away */
};

static int limit_op(struct tqi_tx *tx, void *arg)
{
	const struct limit_request *request = arg;

	return tqi_limit_set(tx, request->key, request->size);
}

static bool key_is_valid(const char *key)
{
	return key && *key && strnlen(key, TQ_KEY_MAX + 1) <= TQ_KEY_MAX;
}

int tq_limit_set(struct tq *tq, const char *key, const struct tq_limit_opts *opts)
{
	struct tq_limit_opts o;
	int r = tqi_options_in(&o, sizeof(o), sizeof(o), opts);

	if (r < 0)
		return r;
	if (!key_is_valid(key) || !o.slots || o.reserved0)
		return -EINVAL;
	if (o.slots == TQ_OFF)
		return (r = tq_limit_remove(tq, key)) == -ENOENT ? 0 : r;
	struct limit_request request = { key, o.slots };

	return tqi_run(tq, limit_op, &request);
}

int tq_limit_remove(struct tq *tq, const char *key)
{
	struct limit_request request = { key, 0 };

	return key_is_valid(key) ? tqi_run(tq, limit_op, &request) : -EINVAL;
}

/* One record; false: it is free. */
static bool read_limit(struct tq *tq, uint64_t index, struct tq_limit_info *i)
{
	struct tqi_limit limit;

	if (tqi_peek_record(&tq->seg, TQI_LIMITS, (uint32_t)index, &limit) < 0 || !limit.bytes ||
	    (limit.size == TQI_LIMIT_NONE && !limit.tasks))
		return false;
	memset(i, 0, sizeof(*i));
	i->slots = limit.size;
	i->used = limit.used;
	i->waiting = limit.waiting;
	i->tasks = limit.tasks;
	memcpy(i->key, limit.name, TQ_KEY_MAX);
	return true;
}

int tq_limit_list(struct tq *tq, uint64_t *cursor, struct tq_limit_info *infos, uint32_t count)
{
	struct tqi_core core;
	uint32_t n = 0;

	if (count && infos->size != sizeof(*infos))
		return -EINVAL;
	int r = tqi_peek_core(&tq->seg, &core);

	if (r < 0)
		return r;
	if (*cursor == 0)
		*cursor = 1;
	while (n < count && *cursor < core.tables[TQI_LIMITS].count) {
		struct tq_limit_info i;

		if (read_limit(tq, (*cursor)++, &i))
			tqi_snapshot_out(&infos[n++], sizeof(*infos), &i, sizeof(i));
	}
	return (int)n;
}

int tq_limit_get(struct tq *tq, const char *key, struct tq_limit_info *ret_info)
{
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
