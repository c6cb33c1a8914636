/* SPDX-License-Identifier: MIT */
/* The file of a dump, line by line. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "tools/taskq/dump/load.h"
#include "tools/taskq/submit/reader.h"

enum {
	LINE_MAX_BYTES = 128 << 20, /* the longest payload, each byte an escape, and the rest */
};

bool load_bad(struct load *load, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(load->error, sizeof(load->error), format, args);
	va_end(args);
	return false;
}

bool load_failed(struct load *load, int r, enum about about, const char *what)
{
	char line[48] = "";

	if (load->number)
		snprintf(line, sizeof(line), "line %llu: ", (unsigned long long)load->number);
	load->cli->exit_code = fail(load->cli, r, about, "load %s: %s%s", load->path, line, what);
	return false;
}

static bool read_head(struct load *load, const json_t *object)
{
	const json_int_t format = json_integer_value(json_object_get(object, "format"));
	const char *name = json_string_value(json_object_get(object, "dump"));

	if (format != DUMP_FORMAT)
		return load_bad(load, "a dump of format %lld; this program reads %d",
				(long long)format, DUMP_FORMAT);
	if (!name || !*name || strlen(name) >= sizeof(load->name) ||
	    strspn(name, "0123456789abcdef") != strlen(name))
		return load_bad(load, "\"dump\" is not the name of one");
	snprintf(load->name, sizeof(load->name), "%s", name);
	return true;
}

static bool read_end(struct load *load, const json_t *object)
{
	load->told_lines = (uint64_t)json_integer_value(json_object_get(object, "lines"));
	load->told_tasks = (uint64_t)json_integer_value(json_object_get(object, "tasks"));
	return true;
}

static const struct {
	const char *name;
	bool (*read)(struct load *load, const json_t *object);
} records[] = {
	{ "dump", read_head },	 { "queue", load_queue },	{ "kind", load_kind },
	{ "limit", load_limit }, { "schedule", load_schedule }, { "group", load_group },
	{ "end", read_end },
};

static bool take_record(struct load *load, const json_t *object, const char *record)
{
	for (unsigned i = 0; i < sizeof(records) / sizeof(records[0]); i++)
		if (!strcmp(records[i].name, record))
			return records[i].read(load, object);
	return load_bad(load, "a record \"%.40s\", which this program does not know", record);
}

static bool take_object(struct load *load, const json_t *object)
{
	const json_t *record = json_object_get(object, "record");
	const char *name = json_string_value(record);

	if (!json_is_object(object) || (record && !name))
		return load_bad(load, "not a line of a dump");
	if ((load->number == 1) != (name && !strcmp(name, "dump")))
		return load_bad(load, load->number == 1
					      ? "not the first line of a dump"
					      : "another dump begins before this one has ended");
	if (load->told_lines)
		return load_bad(load, "more behind the end");
	return record ? take_record(load, object, name) : load_task(load, object);
}

static bool take_line(struct load *load, const char *text, size_t bytes)
{
	json_error_t error;
	json_t *object = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);
	bool ok;

	if (!object)
		return load_bad(load, "not JSON: %s", json_error_reason(&error));
	ok = take_object(load, object);
	json_decref(object);
	return ok;
}

/* A file that was cut off has no end, and is not mistaken for a shorter one. */
static bool is_whole(struct load *load)
{
	if (!load->told_lines)
		return load_bad(load, "the file ends before the dump does: it is not whole");
	if (load->pass != LOAD_CHECK ||
	    (load->told_lines == load->number && load->told_tasks == load->task_count))
		return true;
	return load_bad(load, "%llu lines with %llu tasks, but its end says %llu and %llu",
			(unsigned long long)load->number, (unsigned long long)load->task_count,
			(unsigned long long)load->told_lines, (unsigned long long)load->told_tasks);
}

static void forget_groups(struct load *load)
{
	for (uint32_t i = 0; i < load->group_count; i++)
		free(load->groups[i]);
	load->group_count = 0;
	id_map_free(&load->group_numbers);
}

/* What was learnt of ids is another thing in the next pass. */
static void begin(struct load *load, enum load_pass pass)
{
	load->pass = pass;
	load->number = 0;
	load->told_lines = 0;
	if (pass != LOAD_CHECK && pass != LOAD_TASKS)
		return;
	load->task_count = 0;
	id_map_free(&load->tasks);
	forget_groups(load);
}

bool load_read(struct load *load, enum load_pass pass)
{
	struct reader reader;
	size_t bytes;
	char *text;
	bool ok = true;
	int r = 0;

	begin(load, pass);
	if (lseek(load->fd, 0, SEEK_SET) < 0)
		return load_failed(load, -errno, ABOUT_CONTENT, "reading it");
	reader_init(&reader, load->fd, '\n', LINE_MAX_BYTES);
	while (ok && (r = reader_next(&reader, &text, &bytes)) > 0) {
		load->number++;
		ok = take_line(load, text, bytes);
	}
	reader_free(&reader);
	if (ok && r < 0) {
		load->number++;
		ok = load_bad(load, "%s", strerror(-r));
	}
	return ok && is_whole(load) && load_flush(load);
}

void load_free(struct load *load)
{
	for (unsigned i = 0; i < load->chunk_count; i++)
		load_line_free(&load->chunk[i]);
	load->chunk_count = 0;
	forget_groups(load);
	free(load->groups);
	free(load->loaded);
	json_decref(load->keyed);
	id_map_free(&load->tasks);
	id_map_free(&load->schedules);
}
