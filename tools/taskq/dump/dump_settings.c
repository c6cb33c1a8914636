/* SPDX-License-Identifier: MIT */
/* Queues, kinds, limits and schedules of a dump. */
#include <stdlib.h>

#include "json.h"
#include "policy_text.h"
#include "tools/taskq/dump/dump.h"

#define BACKOFF_NS 1000000000ull /* defaults of a queue */
#define BACKOFF_CAP_NS 300000000000ull

static void set_number(json_t *object, const char *key, uint64_t value)
{
	if (value && value != TQ_UNLIMITED)
		json_object_set_new(object, key, json_u64(value));
}

static void set_true(json_t *object, const char *key, bool is_set)
{
	if (is_set)
		json_object_set_new(object, key, json_true());
}

/* What `queue set` calls its order. */
static void set_order(json_t *object, const struct tq_queue_info *info)
{
	json_t *from = json_array();

	for (unsigned b = 0; b < TQ_BANDS; b++) {
		if (!info->ageing[b])
			continue;
		if (!json_object_get(object, "ageing"))
			json_object_set_new(object, "ageing", json_object());
		json_object_set_new(json_object_get(object, "ageing"), band_names[b],
				    json_real((double)info->ageing[b] / 1000));
	}
	for (unsigned b = 0; b < TQ_BANDS - 1; b++)
		json_array_append_new(from, json_integer(info->band_from[b]));
	json_object_set_new(object, "bands", from);
	set_number(object, "hybrid", info->hybrid);
	set_true(object, "edf", info->edf);
	set_true(object, "fair", info->fair);
	set_number(object, "max_wait_ns", info->max_wait_ns);
	set_number(object, "batch", info->batch);
}

static int set_servers(struct tq *tq, json_t *object, const char *queue)
{
	struct tq_server_limit_info limit = { .size = sizeof(limit) };
	struct tq_server_info server = { .size = sizeof(server) };
	json_t *servers = json_array(), *limits = json_object();
	uint64_t cursor = 0, limit_cursor = 0;
	int n;

	while ((n = tq_server_list(tq, queue, &cursor, &server, 1)) > 0)
		if (!(server.flags & TQ_SERVER_LEAVING))
			json_array_append_new(servers, json_text(server.name));
	while (n == 0 && (n = tq_server_limit_list(tq, queue, &limit_cursor, &limit, 1)) > 0) {
		json_object_set_new(limits, limit.pattern, json_integer(limit.slots));
		n = 0;
	}
	if (json_array_size(servers))
		json_object_set(object, "servers", servers);
	if (json_object_size(limits))
		json_object_set(object, "server_limits", limits);
	json_decref(servers);
	json_decref(limits);
	return n;
}

/* As one that nobody has configured, and that is made where a task names it. */
static bool is_plain(const struct tq_queue_info *info)
{
	static const uint32_t told = TQ_QUEUE_PAUSED | TQ_QUEUE_DRAINING | TQ_QUEUE_SERVED;
	static const int32_t from[TQ_BANDS - 1] = { TQ_PRIORITY_NORMAL, TQ_PRIORITY_HIGH,
						    TQ_PRIORITY_CRITICAL };
	bool plain = !(info->flags & told) && !info->hybrid && !info->edf && !info->fair &&
		     !info->max_wait_ns && !info->batch && info->attempts_max == 1 &&
		     (!info->depth_max || info->depth_max == TQ_UNLIMITED) && !info->timeout_ns &&
		     info->backoff_ns == BACKOFF_NS && info->backoff_cap_ns == BACKOFF_CAP_NS;

	for (unsigned b = 0; b < TQ_BANDS; b++)
		plain = plain && !info->ageing[b] && (!b || info->band_from[b - 1] == from[b - 1]);
	return plain;
}

/* All that is set: what is not named is off. */
static int put_queue(struct dump *dump, const struct tq_queue_info *info)
{
	json_t *object = json_object();

	json_object_set_new(object, "record", json_string("queue"));
	json_object_set_new(object, "queue", json_text(info->name));
	set_true(object, "paused", info->flags & TQ_QUEUE_PAUSED);
	set_true(object, "draining", info->flags & TQ_QUEUE_DRAINING);
	set_number(object, "depth_max", info->depth_max);
	set_number(object, "timeout_ns", info->timeout_ns);
	json_object_set_new(object, "attempts_max", json_integer(info->attempts_max));
	json_object_set_new(object, "backoff_ns", json_u64(info->backoff_ns));
	json_object_set_new(object, "backoff_cap_ns", json_u64(info->backoff_cap_ns));
	set_order(object, info);

	const int r = set_servers(dump->cli->tq, object, info->name);

	dump_line(dump, object);
	return r;
}

int dump_queues(struct dump *dump)
{
	struct tq_queue_info info = { .size = sizeof(info) };
	uint64_t cursor = 0;
	int n, r = 0;

	while (r == 0 && (n = tq_queue_list(dump->cli->tq, 0, &cursor, &info, 1)) != 0) {
		if (n < 0)
			return n;
		if (!dump_is_private(info.name) && !is_plain(&info))
			r = put_queue(dump, &info);
		info.size = sizeof(info);
	}
	return r;
}

int dump_kinds(struct dump *dump)
{
	struct tq_kind_info info = { .size = sizeof(info) };
	uint64_t cursor = 0;
	int n;

	while ((n = tq_kind_list(dump->cli->tq, &cursor, &info, 1)) > 0) {
		json_t *object = json_of_kind(&info);

		json_object_set_new(object, "record", json_string("kind"));
		dump_line(dump, object);
		info.size = sizeof(info);
	}
	return n;
}

int dump_limits(struct dump *dump)
{
	struct tq_limit_info info = { .size = sizeof(info) };
	uint64_t cursor = 0;
	int n;

	while ((n = tq_limit_list(dump->cli->tq, &cursor, &info, 1)) > 0) {
		json_t *object = json_object();

		json_object_set_new(object, "record", json_string("limit"));
		json_object_set_new(object, "key", json_text(info.key));
		if (info.slots != TQ_OFF)
			json_object_set_new(object, "slots", json_integer(info.slots));
		if (info.rate) {
			json_object_set_new(object, "rate", json_integer(info.rate));
			json_object_set_new(object, "interval_ns", json_u64(info.interval_ns));
			json_object_set_new(object, "burst", json_integer(info.burst));
		}
		dump_line(dump, object);
		info.size = sizeof(info);
	}
	return n;
}

/* What a listing says of its past. */
static const char *const past_fields[] = {
	"id",	"next",	    "made",  "runs",	    "skipped",
	"owed", "last_run", "retry", "last_run_at", "last_error"
};

static void set_payload(struct dump *dump, json_t *object, const struct tq_schedule_info *info)
{
	void *payload = malloc(info->payload_bytes + 1);
	uint64_t bytes = 0;

	if (payload &&
	    tq_schedule_payload(dump->cli->tq, info->id, payload, info->payload_bytes, &bytes) ==
		    0 &&
	    bytes == info->payload_bytes)
		dump_payload(object, info->kind, payload, bytes);
	free(payload);
}

json_t *dump_schedule(struct dump *dump, const struct tq_schedule_info *info)
{
	json_t *object = json_of_schedule(dump->cli->tq, info, &dump->clocks);

	for (unsigned i = 0; i < sizeof(past_fields) / sizeof(past_fields[0]); i++)
		json_object_del(object, past_fields[i]);
	json_object_set_new(object, "record", json_string("schedule"));
	if (info->timeout_ns == TQ_UNLIMITED)
		json_object_set_new(object, "timeout_ns", json_null());
	set_payload(dump, object, info);
	return object;
}

int dump_schedules(struct dump *dump)
{
	struct tq_schedule_info info = { .size = sizeof(info) };
	uint64_t cursor = 0;
	int n;

	while ((n = tq_schedule_list(dump->cli->tq, &cursor, &info, 1)) > 0) {
		dump_line(dump, dump_schedule(dump, &info));
		info.size = sizeof(info);
	}
	return n;
}
