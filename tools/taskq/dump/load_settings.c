/* SPDX-License-Identifier: MIT */
/* Queues, kinds and limits of a dump, set. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "parse.h"
#include "policy_text.h"
#include "server_text.h"
#include "tools/taskq/dump/load.h"

/* A setting: what it is when it is not named, and where it goes. */
struct setting {
	const char *name;
	uint64_t otherwise;
	size_t at;
	size_t bytes;
};

#define SETTING(type, name, field, otherwise)                                                      \
	{                                                                                          \
		name, otherwise, offsetof(struct type, field), sizeof(((struct type *)0)->field)   \
	}

static const struct setting queue_settings[] = {
	SETTING(tq_queue_opts, "depth_max", depth_max, TQ_UNLIMITED),
	SETTING(tq_queue_opts, "timeout_ns", timeout_ns, TQ_UNLIMITED),
	SETTING(tq_queue_opts, "attempts_max", attempts_max, 0),
	SETTING(tq_queue_opts, "backoff_ns", backoff_ns, 0),
	SETTING(tq_queue_opts, "backoff_cap_ns", backoff_cap_ns, 0),
	SETTING(tq_queue_opts, "hybrid", hybrid, TQ_OFF),
	SETTING(tq_queue_opts, "max_wait_ns", max_wait_ns, TQ_UNLIMITED),
	SETTING(tq_queue_opts, "edf", edf, TQ_OFF),
	SETTING(tq_queue_opts, "fair", fair, TQ_OFF),
	SETTING(tq_queue_opts, "batch", batch, TQ_OFF),
	{ NULL, 0, 0, 0 },
};

static const struct setting kind_settings[] = {
	SETTING(tq_kind_opts, "timeout_ns", timeout_ns, 0),
	SETTING(tq_kind_opts, "timeout_total_ns", timeout_total_ns, 0),
	SETTING(tq_kind_opts, "attempts_max", attempts_max, 0),
	SETTING(tq_kind_opts, "backoff_ns", backoff_ns, 0),
	SETTING(tq_kind_opts, "backoff_cap_ns", backoff_cap_ns, 0),
	{ NULL, 0, 0, 0 },
};

static const struct setting limit_settings[] = {
	SETTING(tq_limit_opts, "slots", slots, TQ_OFF),
	SETTING(tq_limit_opts, "rate", rate, TQ_OFF),
	SETTING(tq_limit_opts, "interval_ns", interval_ns, 0),
	SETTING(tq_limit_opts, "burst", burst, 0),
	{ NULL, 0, 0, 0 },
};

static void put(void *opts, const struct setting *setting, uint64_t value)
{
	const uint32_t narrow = (uint32_t)value;

	memcpy((char *)opts + setting->at,
	       setting->bytes == sizeof(narrow) ? (const void *)&narrow : (const void *)&value,
	       setting->bytes);
}

/* All of them, so that what is not named is off, as it was. */
static bool read_settings(struct load *load, const json_t *object, const struct setting *settings,
			  void *opts)
{
	for (const struct setting *setting = settings; setting->name; setting++) {
		const json_t *value = json_object_get(object, setting->name);
		const json_int_t number = json_is_true(value) ? 1 : json_integer_value(value);

		if (json_is_null(value) && setting->bytes == sizeof(uint64_t)) {
			put(opts, setting, TQ_UNLIMITED);
			continue;
		}
		if (value && (!(json_is_true(value) || json_is_integer(value)) || number < 1 ||
			      (setting->bytes == sizeof(uint32_t) && number > UINT32_MAX)))
			return load_bad(load, "\"%s\" is not a number from 1 up", setting->name);
		put(opts, setting, value ? (uint64_t)number : setting->otherwise);
	}
	return true;
}

static bool read_bands(struct load *load, const json_t *object, struct tq_queue_opts *opts)
{
	const json_t *ageing = json_object_get(object, "ageing");
	const json_t *bands = json_object_get(object, "bands");

	for (unsigned b = 0; b < TQ_BANDS; b++) {
		const json_t *rate = json_object_get(ageing, band_names[b]);
		const double points = json_number_value(rate);

		if (rate && (points <= 0 || points * 1000 > TQ_AGEING_MAX))
			return load_bad(load, "\"ageing\" is not points a second");
		opts->ageing[b] = rate ? (uint32_t)(points * 1000 + 0.5) : TQ_OFF;
	}
	for (unsigned b = 0; bands && b < TQ_BANDS - 1; b++) {
		const json_t *from = json_array_get(bands, b);
		const json_int_t number = json_integer_value(from);

		if (!json_is_integer(from) || number < INT32_MIN || number > INT32_MAX)
			return load_bad(load, "\"bands\" are not %u whole numbers", TQ_BANDS - 1);
		opts->band_from[b] = (int32_t)number;
	}
	return true;
}

static bool read_name(struct load *load, const json_t *object, const char *field,
		      bool is_ok(const char *text), const char **ret_name)
{
	*ret_name = json_string_value(json_object_get(object, field));
	return (*ret_name && is_ok(*ret_name)) || load_bad(load, "\"%s\" is not a name", field);
}

static bool check_servers(struct load *load, const json_t *object)
{
	json_t *servers = json_object_get(object, "servers");
	json_t *limits = json_object_get(object, "server_limits");
	const char *pattern;
	json_t *slots;

	for (size_t i = 0; i < json_array_size(servers); i++) {
		const char *server = json_string_value(json_array_get(servers, i));

		if (!server || !server_ok(server))
			return load_bad(load, "\"servers\" are not " FORM_SERVER);
	}
	json_object_foreach(limits, pattern, slots)
	{
		const json_int_t number = json_integer_value(slots);

		if (!json_is_integer(slots) || number < 1 || number > UINT32_MAX)
			return load_bad(load, "\"server_limits\" are not whole numbers from 1 up");
	}
	return true;
}

static int set_servers(struct load *load, const json_t *object, const char *queue)
{
	json_t *servers = json_object_get(object, "servers");
	json_t *limits = json_object_get(object, "server_limits");
	const char *pattern;
	json_t *slots;
	int r = 0;

	json_object_foreach(limits, pattern, slots) if (r == 0) r = tq_server_limit_set(
		load->cli->tq, queue, pattern, (uint32_t)json_integer_value(slots));
	for (size_t i = 0; r == 0 && i < json_array_size(servers); i++)
		r = tq_server_add(load->cli->tq, queue,
				  json_string_value(json_array_get(servers, i)));
	return r;
}

/* What would keep its tasks out comes when they are there. */
static int set_queue(struct load *load, const json_t *object, const char *queue,
		     struct tq_queue_opts *opts)
{
	struct tq *tq = load->cli->tq;
	const bool late = load->pass == LOAD_FINISH;
	const char *flag = late ? "draining" : "paused";
	const uint64_t depth_max = opts->depth_max;
	int r;

	if (late)
		*opts = (struct tq_queue_opts){ .size = sizeof(*opts) };
	opts->depth_max = late ? depth_max : 0;
	r = tq_queue_set(tq, queue, opts);
	if (r == 0 && !late)
		r = set_servers(load, object, queue);
	if (r == 0 && json_is_true(json_object_get(object, flag)))
		r = tq_queue_steer(tq, queue, late ? TQ_QUEUE_DRAIN : TQ_QUEUE_PAUSE);
	return r;
}

bool load_queue(struct load *load, const json_t *object)
{
	struct tq_queue_opts opts = { .size = sizeof(opts) };
	const char *queue;
	int r = 0;

	if (!read_name(load, object, "queue", name_ok, &queue) ||
	    !read_settings(load, object, queue_settings, &opts) ||
	    !read_bands(load, object, &opts) || !check_servers(load, object))
		return false;
	if (load->settings && (load->pass == LOAD_SETTINGS || load->pass == LOAD_FINISH))
		r = set_queue(load, object, queue, &opts);
	return r == 0 || load_failed(load, r, ABOUT_QUEUE, "a queue");
}

bool load_kind(struct load *load, const json_t *object)
{
	struct tq_kind_opts opts = { .size = sizeof(opts) };
	const char *kind;
	int r = 0;

	if (!read_name(load, object, "kind", name_ok, &kind) ||
	    !read_settings(load, object, kind_settings, &opts))
		return false;
	if (load->settings && load->pass == LOAD_SETTINGS)
		r = tq_kind_set(load->cli->tq, kind, &opts);
	return r == 0 || load_failed(load, r, ABOUT_QUEUE, "a kind");
}

bool load_limit(struct load *load, const json_t *object)
{
	struct tq_limit_opts opts = { .size = sizeof(opts) };
	const char *key;
	int r = 0;

	if (!read_name(load, object, "key", key_ok, &key) ||
	    !read_settings(load, object, limit_settings, &opts))
		return false;
	if (load->settings && load->pass == LOAD_SETTINGS)
		r = tq_limit_set(load->cli->tq, key, &opts);
	return r == 0 || load_failed(load, r, ABOUT_LIMIT, "a limit");
}
