/* SPDX-License-Identifier: MIT */
/* Servers and their limits: added, set, removed. */
#include "scheduler/limit/server.h"

#include <errno.h>
#include <string.h>

#include "client/core/handle.h"
#include "scheduler/order/queue.h"

#define BUSY_TRIES 100 /* changes of others that are carried out first */

struct server_request {
	const char *queue;
	const char *name; /* or pattern; NULL all */
	uint32_t slots;
	bool is_limit;
	bool removes;
};

static int change(struct tqi_tx *tx, uint32_t q, const struct server_request *request)
{
	if (request->is_limit)
		return tqi_pool_set(tx, q, request->name,
				    request->removes ? TQI_POOL_NONE : request->slots);
	if (!request->name)
		return tqi_server_remove_all(tx, q);
	return request->removes ? tqi_server_remove(tx, q, request->name)
				: tqi_server_add(tx, q, request->name);
}

/* 1: it is decided, and goes on to be carried out. */
static int server_op(struct tqi_tx *tx, void *arg)
{
	const struct server_request *request = arg;
	uint32_t q = tqi_queue_find(tx, request->queue);
	int r = q ? change(tx, q, request) : -ENOENT;

	return r == 0 && tqi_queue_at(tx, q)->carry_at ? 1 : r;
}

static int run(struct tq *tq, struct server_request *request)
{
	int r = -EBUSY;

	for (int i = 0; i < BUSY_TRIES && r == -EBUSY; i++) {
		r = tqi_run(tq, server_op, request);
		if (r == -EBUSY || r == 1)
			tqi_sweep_out(tq);
	}
	return r == 1 ? 0 : r;
}

static bool is_printable(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			return false;
	return true;
}

static bool name_is_valid(const char *name)
{
	return name && *name && strnlen(name, TQ_SERVER_MAX + 1) <= TQ_SERVER_MAX &&
	       is_printable(name) && !strchr(name, '*');
}

/* A name, or a prefix and one *, within the same bytes. */
static bool pattern_is_valid(const char *pattern)
{
	if (!pattern || !*pattern || strnlen(pattern, TQ_SERVER_MAX + 1) > TQ_SERVER_MAX ||
	    !is_printable(pattern))
		return false;
	const char *star = strchr(pattern, '*');

	return !star || !star[1];
}

static bool queue_is_valid(const char *queue)
{
	return queue && tqi_name_is_valid(queue);
}

int tq_server_add(struct tq *tq, const char *queue, const char *server)
{
	if (!tq)
		return -EINVAL;
	struct server_request request = { .queue = queue, .name = server };

	return queue_is_valid(queue) && name_is_valid(server) ? run(tq, &request) : -EINVAL;
}

int tq_server_remove(struct tq *tq, const char *queue, const char *server)
{
	if (!tq)
		return -EINVAL;
	struct server_request request = { .queue = queue, .name = server, .removes = true };

	return queue_is_valid(queue) && name_is_valid(server) ? run(tq, &request) : -EINVAL;
}

int tq_server_clear(struct tq *tq, const char *queue)
{
	if (!tq)
		return -EINVAL;
	struct server_request request = { .queue = queue, .removes = true };

	return queue_is_valid(queue) ? run(tq, &request) : -EINVAL;
}

int tq_server_limit_set(struct tq *tq, const char *queue, const char *pattern, uint32_t slots)
{
	if (!tq)
		return -EINVAL;
	struct server_request request = {
		.queue = queue, .name = pattern, .slots = slots, .is_limit = true
	};

	if (!queue_is_valid(queue) || !pattern_is_valid(pattern) || !slots || slots == TQ_OFF)
		return -EINVAL;
	return run(tq, &request);
}

int tq_server_limit_remove(struct tq *tq, const char *queue, const char *pattern)
{
	if (!tq)
		return -EINVAL;
	struct server_request request = {
		.queue = queue, .name = pattern, .is_limit = true, .removes = true
	};

	return queue_is_valid(queue) && pattern_is_valid(pattern) ? run(tq, &request) : -EINVAL;
}
