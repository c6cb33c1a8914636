/* SPDX-License-Identifier: MIT */
/* Tasks of a dump, handed in. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "signals.h"
#include "tools/taskq/dump/load.h"

/* From here on others may come after it. */
bool load_note(struct load *load, struct load_line *line, uint64_t id)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < line->more_count; i++)
		r = tq_task_after(load->cli->tq, id, line->more[i].id, line->more[i].kind);
	if (r < 0)
		return load_failed(load, r, ABOUT_TASK, "what it is to come after");
	if (line->old && !id_map_set(&load->tasks, line->old, id))
		return load_failed(load, -ENOMEM, ABOUT_TASK, "its id");
	load->task_count++;
	if (load->cli->json && line->old)
		json_line(json_pack("{s:o, s:o}", "dump", json_id(line->old), "id", json_id(id)));
	return true;
}

bool load_flush(struct load *load)
{
	struct tq_task_spec specs[LOAD_CHUNK];
	uint64_t ids[LOAD_CHUNK];
	unsigned done = 0;
	int r = 0;

	for (unsigned i = 0; i < load->chunk_count; i++) {
		specs[i] = load->chunk[i].line.spec;
		specs[i].after = load->chunk[i].line.after.list;
		specs[i].limits = load->chunk[i].line.limits;
		specs[i].limit_weights = load->chunk[i].line.limit_weights;
	}
	signals_sleep_begin();
	while (done < load->chunk_count && (r >= 0 || r == -EINTR)) {
		r = tq_submit_many(load->cli->tq, specs + done, load->chunk_count - done,
				   ids + done);
		done += r > 0 ? (unsigned)r : 0;
	}
	signals_sleep_end();
	const bool all = done == load->chunk_count;

	if (!all)
		load->number = load->chunk[done].line.number;
	for (unsigned i = 0; i < load->chunk_count; i++) {
		if (i < done && !load_note(load, &load->chunk[i], ids[i]))
			r = -ENOMEM;
		load_line_free(&load->chunk[i]);
	}
	load->chunk_count = 0;
	return all ? r >= 0 : load_failed(load, r, ABOUT_TASK, "a task");
}

static bool is_text(const char *given, const char *is)
{
	return !strcmp(given ? given : "", is);
}

static bool is_of(const struct tq_task_spec *spec, const struct tq_task_info *info)
{
	return is_text(spec->queue, info->queue) && is_text(spec->kind, info->kind) &&
	       is_text(spec->label, info->label) && spec->priority == info->priority &&
	       spec->payload_bytes == info->payload_bytes;
}

int load_next(struct load *load, const struct tq_task_spec *spec, struct tq_task_info *ret_info)
{
	char id[TQ_ID_TEXT_MAX];

	if (load->loaded_at == load->loaded_count)
		return 0;
	*ret_info = (struct tq_task_info){ .size = sizeof(*ret_info) };
	if (tq_task_info(load->cli->tq, load->loaded[load->loaded_at].id, ret_info) == 0 &&
	    is_of(spec, ret_info)) {
		load->loaded_at++;
		return 1;
	}
	load_bad(load,
		 "a task of it that was loaded before has ended, or was changed\n"
		 "`taskq cancel --dependants %s` and `taskq forget` of that, then load it anew",
		 tq_task_id_format(load->gate, id));
	return -1;
}

bool load_submit(struct load *load, struct load_line *line, uint64_t *ret_id)
{
	int r;

	signals_sleep_begin();
	do
		r = tq_submit(load->cli->tq, &line->line.spec, ret_id);
	while (r == -EINTR);
	signals_sleep_end();
	if (r < 0)
		return load_failed(load, r, ABOUT_TASK, "a task");
	load->twin_count += r > 0;
	return true;
}

/* Whether many can be handed in by one call; of one with a key it would not say which it is. */
static bool is_plain(const struct load_line *line)
{
	return !line->line.spec.unique_key && !line->more_count;
}

static bool add(struct load *load, struct load_line *line)
{
	uint64_t id;

	if (is_plain(line)) {
		line->line.number = load->number;
		if (line->old && !id_map_set(&load->tasks, line->old, 0))
			return load_bad(load, "out of memory");
		load->chunk[load->chunk_count++] = *line;
		*line = (struct load_line){ .old = 0 };
		return load->chunk_count < LOAD_CHUNK || load_flush(load);
	}
	return load_flush(load) && load_submit(load, line, &id) && load_note(load, line, id);
}

void load_key(const char *queue, const char *key, char text[LOAD_KEY_MAX])
{
	snprintf(text, LOAD_KEY_MAX, "%s/%s", queue ? queue : "default", key);
}

/* The task that an earlier run has loaded for a line with a key; 1, or 0 there is none. */
static int find_keyed(const struct load *load, const struct tq_task_spec *spec,
		      struct tq_task_info *ret_info)
{
	char key[LOAD_KEY_MAX];
	const char *text;
	uint64_t id;

	load_key(spec->queue, spec->unique_key, key);
	text = json_string_value(json_object_get(load->keyed, key));
	*ret_info = (struct tq_task_info){ .size = sizeof(*ret_info) };
	return text && tq_task_id_parse(text, &id) == 0 &&
	       tq_task_info(load->cli->tq, id, ret_info) == 0;
}

static bool take(struct load *load, struct load_line *line)
{
	const struct tq_task_spec *spec = &line->line.spec;
	struct tq_task_info info;
	const int there = spec->unique_key ? find_keyed(load, spec, &info)
					   : load_next(load, spec, &info);

	if (there < 0)
		return false;
	if (line->group && !load_group_need(load, line->group, there ? info.group : 0))
		return false;
	line->line.spec.group = line->group ? line->group->id : 0;
	return there ? load_note(load, line, info.id) : add(load, line);
}

bool load_task(struct load *load, const json_t *object)
{
	struct load_line line;
	bool ok;

	if (load->pass != LOAD_CHECK && load->pass != LOAD_TASKS)
		return true;
	ok = load_line_read(load, &line, object);
	if (ok && load->pass == LOAD_CHECK) {
		ok = !line.old || id_map_set(&load->tasks, line.old, 1);
		load->task_count++;
	} else if (ok) {
		ok = take(load, &line);
	}
	load_line_free(&line);
	return ok;
}
