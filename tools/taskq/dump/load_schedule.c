/* SPDX-License-Identifier: MIT */
/* Schedules of a dump. */
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "tools/taskq/dump/load.h"

/* What a schedule has, and its tasks have not. */
static const char *const own_fields[] = { "record", "name",    "every_ns", "cron",
					  "tz",	    "overlap", "catch_up", "paused" };

static const char *text_of(const json_t *object, const char *field)
{
	return json_string_value(json_object_get(object, field));
}

static bool read_times(struct load *load, const json_t *object, struct tq_schedule_spec *spec)
{
	const json_int_t every_ns = json_integer_value(json_object_get(object, "every_ns"));
	const json_int_t catch_up = json_integer_value(json_object_get(object, "catch_up"));
	const char *overlap = text_of(object, "overlap");
	char why[TQ_TEXT_MAX + 1];

	spec->cron = text_of(object, "cron");
	spec->zone = text_of(object, "tz");
	spec->name = text_of(object, "name");
	spec->every_ns = every_ns > 0 ? (uint64_t)every_ns : 0;
	spec->overlap = overlap && !strcmp(overlap, tq_overlap_name(TQ_OVERLAP_QUEUE))
				? TQ_OVERLAP_QUEUE
				: TQ_OVERLAP_SKIP;
	spec->catch_up = catch_up > 0 && catch_up <= TQ_CATCH_UP_MAX ? (uint32_t)catch_up : 1;
	if (!spec->cron == !spec->every_ns)
		return load_bad(load, "one of \"every_ns\" and \"cron\" says when it is");
	if (spec->cron && tq_cron_check(spec->cron, why) < 0)
		return load_bad(load, "\"cron\": %s", why);
	return true;
}

static bool read_task(struct load *load, struct batch_line *line, const json_t *object)
{
	json_t *rest = json_copy((json_t *)(uintptr_t)object);

	for (size_t i = 0; rest && i < sizeof(own_fields) / sizeof(own_fields[0]); i++)
		json_object_del(rest, own_fields[i]);
	return batch_line_take(line, rest, &load->defaults) || load_bad(load, "%s", line->error);
}

static bool is_same(struct load *load, const struct tq_schedule_info *info, const json_t *object)
{
	struct dump dump = { .cli = load->cli, .clocks = clocks_read() };
	json_t *there = dump_schedule(&dump, info),
	       *wanted = json_copy((json_t *)(uintptr_t)object);
	bool same;

	json_object_del(there, "paused"); /* in a step of its own */
	json_object_del(wanted, "paused");
	same = json_equal(there, wanted);
	json_decref(there);
	json_decref(wanted);
	return same;
}

/* One that an earlier run has made of such a line; 0 none.  One that has a name is replaced. */
static uint64_t find(struct load *load, const json_t *object)
{
	struct tq_schedule_info info = { .size = sizeof(info) };
	uint64_t cursor = 0, other;

	while (tq_schedule_list(load->cli->tq, &cursor, &info, 1) > 0) {
		if (!info.name[0] && info.made_ns >= load->gate_ns &&
		    !id_map_get(&load->schedules, info.id, &other) && is_same(load, &info, object))
			return info.id;
		info.size = sizeof(info);
	}
	return 0;
}

static bool make(struct load *load, const json_t *object, const struct tq_schedule_spec *spec)
{
	uint64_t id = spec->name ? 0 : find(load, object);
	int r = 0;

	if (!id)
		r = tq_schedule_create(load->cli->tq, spec, &id);
	if (r >= 0 && !id_map_set(&load->schedules, id, 1))
		return load_bad(load, "out of memory");
	if (r >= 0 && json_is_true(json_object_get(object, "paused")))
		r = tq_schedule_steer(load->cli->tq, id, TQ_SCHEDULE_PAUSE);
	return r >= 0 || load_failed(load, r, ABOUT_SCHEDULE, "a schedule");
}

bool load_schedule(struct load *load, const json_t *object)
{
	struct tq_schedule_spec spec = { .size = sizeof(spec) };
	struct batch_line line;
	bool ok;

	if (load->pass != LOAD_CHECK && load->pass != LOAD_FINISH)
		return true;
	ok = read_task(load, &line, object) && read_times(load, object, &spec);
	spec.task = &line.spec;
	load->schedule_count += load->pass == LOAD_CHECK;
	if (ok && load->pass == LOAD_FINISH)
		ok = make(load, object, &spec);
	batch_line_free(&line);
	return ok;
}
