/* SPDX-License-Identifier: MIT */
/* A task as a line of a dump: what is left of it to do. */
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "payload.h"
#include "tools/taskq/dump/dump.h"

static const char *const after_fields[] = {
	[TQ_AFTER_OK] = "after", [TQ_AFTER_ANY] = "after_any", [TQ_AFTER_FAIL] = "after_fail"
};

void dump_line(struct dump *dump, json_t *object)
{
	dump->lines++;
	json_line(object);
}

bool dump_is_private(const char *queue)
{
	static const char begin[] = "private-";
	const char *number = queue + sizeof(begin) - 1;

	return !strncmp(queue, begin, sizeof(begin) - 1) && *number &&
	       strspn(number, "0123456789") == strlen(number);
}

/* What a task has been allowed, and has not used up. */
static void set_left(json_t *object, const char *key, uint32_t most, uint32_t used)
{
	json_object_set_new(object, key, json_integer(used < most ? most - used : 1));
}

/* Its time-outs: the queue's default is not meant where there is none. */
static void set_none(json_t *object, const char *key, uint64_t ns)
{
	if (ns == 0)
		json_object_set_new(object, key, json_null());
}

/* By the wall clock, as no other means the same elsewhere. */
static void set_times(json_t *object, const struct dump *dump, const struct tq_task_info *info)
{
	const struct clocks *clocks = &dump->clocks;
	char text[FORMAT_MAX];
	uint64_t at_ns = info->at_ns;

	if (info->due_ns > clocks->now_ns)
		at_ns = clocks_unix_ns(clocks, info->due_ns);
	if (at_ns)
		json_object_set_new(object, "at", json_string(format_utc(at_ns, text)));
	json_set_time(object, "deadline_at", clocks, info->deadline_ns);
}

static bool is_final(uint32_t state)
{
	return state >= TQ_DONE && state < TQ_STATE_COUNT;
}

/* Whether the end of a task is what the dependency asks for. */
static bool is_met(const struct tq_dependency_info *on)
{
	return on->kind == TQ_AFTER_ANY || (on->state == TQ_DONE) == (on->kind == TQ_AFTER_OK);
}

static bool refuses(const struct dump *dump, const struct tq_dependency_info *on)
{
	uint64_t fate = 0;

	if (on->decided)
		return false;
	id_map_get(&dump->tasks, on->id, &fate);
	if (fate == DUMP_WRITTEN)
		return false;
	if (fate == DUMP_REFUSED)
		return on->kind == TQ_AFTER_OK;
	return is_final(on->state) && !is_met(on);
}

/* How many there are; freed by free(). */
static int read_after(struct dump *dump, const struct tq_task_info *info,
		      struct tq_dependency_info **ret_infos)
{
	struct tq_dependency_info *infos = NULL;

	if (info->after_count)
		infos = calloc(TQ_DEPENDENCIES_MAX, sizeof(*infos));
	*ret_infos = infos;
	return infos ? tq_task_dependencies(dump->cli->tq, info->id, infos, TQ_DEPENDENCIES_MAX)
		     : 0;
}

bool dump_may_start(struct dump *dump, const struct tq_task_info *info)
{
	struct tq_dependency_info *infos;
	const int n = read_after(dump, info, &infos);
	bool may = true;

	for (int i = 0; i < n && may; i++)
		may = !refuses(dump, &infos[i]);
	free(infos);
	return may;
}

static void add_after(struct dump *dump, json_t *object, const struct tq_dependency_info *on)
{
	const char *field = on->kind <= TQ_AFTER_FAIL ? after_fields[on->kind] : NULL;
	uint64_t fate = 0;

	if (on->decided || !field) /* none: a damaged record */
		return;
	id_map_get(&dump->tasks, on->id, &fate);
	if (fate != DUMP_WRITTEN) {
		dump->lost += !fate && !is_final(on->state);
		return;
	}
	if (!json_object_get(object, field))
		json_object_set_new(object, field, json_array());
	json_array_append_new(json_object_get(object, field), json_id(on->id));
}

/* Oldest first, as they were given. */
static void set_after(struct dump *dump, json_t *object, const struct tq_task_info *info)
{
	struct tq_dependency_info *infos;

	for (int n = read_after(dump, info, &infos); n > 0; n--)
		add_after(dump, object, &infos[n - 1]);
	free(infos);
}

static void set_payload(struct dump *dump, json_t *object, const struct tq_task_info *info)
{
	void *payload = NULL;
	uint64_t bytes = 0;

	if (payload_read(dump->cli->tq, info->id, &payload, &bytes) == 0)
		dump_payload(object, info->kind, payload, bytes);
	free(payload);
}

/* What has begun already is to be done again, but for what is done at most once: whether that
 * is done only somebody who looks can tell. */
static void set_begun(struct dump *dump, json_t *object, const struct tq_task_info *info)
{
	if (info->attempt == 0)
		return;
	dump->running += info->state == TQ_RUNNING;
	dump->saved += info->checkpoint_bytes > 0;
	if (info->flags & TQ_INFO_AT_MOST_ONCE) {
		json_object_set_new(object, "hold", json_true());
		dump->begun++;
	}
	if (info->unique_scope == TQ_UNIQUE_QUEUED) { /* another one may have the key by now */
		json_object_del(object, "unique");
		json_object_del(object, "unique_scope");
	}
}

json_t *dump_task(struct dump *dump, const struct tq_task_info *info)
{
	json_t *object = json_object();
	char group[TQ_ID_TEXT_MAX];
	uint64_t is_there;

	json_object_set_new(object, "id", json_id(info->id));
	json_object_set_new(object, "state", json_string(tq_task_state_name(info->state)));
	json_set_work(object, info);
	set_left(object, "attempts_max", info->attempts_max, info->failures);
	set_left(object, "crashes_max", info->crashes_max, info->crashes);
	set_left(object, "losses_max", info->losses_max, info->losses);
	set_none(object, "timeout_ns", info->timeout_ns);
	set_times(object, dump, info);
	if (info->group && id_map_get(&dump->groups, info->group, &is_there) && is_there)
		json_object_set_new(object, "group",
				    json_string(tq_group_id_format(info->group, group)));
	set_after(dump, object, info);
	set_payload(dump, object, info);
	set_begun(dump, object, info);
	dump->count++;
	return object;
}
