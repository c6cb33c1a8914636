/* SPDX-License-Identifier: MIT */
/* The tasks of a dump, and the groups that they are in. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "json.h"
#include "tools/taskq/dump/dump.h"

enum {
	CHUNK = 1024, /* slots looked at in one call */
};

/* All that have not ended. */
struct waiting {
	struct entry {
		uint64_t sequence;
		uint64_t id;
	} * entries;
	size_t count;
	size_t room;
};

static bool waiting_add(struct waiting *waiting, const struct tq_task_brief *brief)
{
	if (waiting->count == waiting->room) {
		const size_t room = waiting->room ? 2 * waiting->room : CHUNK;
		struct entry *entries =
			reallocarray(waiting->entries, room, sizeof(*waiting->entries));

		if (!entries)
			return false;
		waiting->entries = entries;
		waiting->room = room;
	}
	waiting->entries[waiting->count++] = (struct entry){ brief->sequence, brief->id };
	return true;
}

static int by_sequence(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

/* Each that is there from the first look to the last is found once. */
static int find(struct dump *dump, struct waiting *waiting)
{
	struct tq_task_brief *briefs = calloc(CHUNK, sizeof(*briefs));
	uint64_t cursor = 0, left = briefs ? 1 : 0;
	int n = briefs ? 0 : -ENOMEM;

	while (left && n >= 0) {
		briefs[0].size = sizeof(*briefs);
		n = tq_task_scan(dump->cli->tq, 0, &cursor, &left, briefs, CHUNK);
		for (int i = 0; i < n; i++)
			if (briefs[i].state < TQ_DONE && !waiting_add(waiting, &briefs[i]))
				n = -ENOMEM;
	}
	free(briefs);
	if (waiting->count)
		qsort(waiting->entries, waiting->count, sizeof(*waiting->entries), by_sequence);
	return n < 0 ? n : 0;
}

static bool note(struct dump *dump, uint64_t id, enum dump_fate fate)
{
	return id_map_set(&dump->tasks, id, fate);
}

/* The task that its end starts, if that is still to be. */
static bool set_completion(struct dump *dump, json_t *object, const struct tq_group_info *group)
{
	struct tq_task_info info = { .size = sizeof(info) };

	if (!group->completion || tq_task_info(dump->cli->tq, group->completion, &info) < 0 ||
	    info.state >= TQ_DONE)
		return true;
	json_object_set_new(object, "when", json_string(tq_group_condition_name(group->condition)));
	json_object_set_new(object, "completion", dump_task(dump, &info));
	return note(dump, info.id, DUMP_WRITTEN);
}

/* Whether a member has ended otherwise than done. */
static bool has_failed(const struct tq_group_info *group)
{
	return group->states[TQ_FAILED] || group->states[TQ_CANCELLED] || group->states[TQ_EXPIRED];
}

/* Once, in front of the first that is in it.  One that is complete waits for nobody any more. */
static int put_group(struct dump *dump, const struct tq_group_info *group)
{
	const bool is_there = group->state != TQ_GROUP_COMPLETE;
	json_t *object;
	char id[TQ_ID_TEXT_MAX];

	if (!id_map_set(&dump->groups, group->id, is_there))
		return -ENOMEM;
	if (!is_there)
		return 0;
	object = json_pack("{s:s, s:s, s:b}", "record", "group", "id",
			   tq_group_id_format(group->id, id), "sealed",
			   group->state == TQ_GROUP_SEALED);
	if (group->label[0])
		json_object_set_new(object, "label", json_text(group->label));
	if (has_failed(group))
		json_object_set_new(object, "failed", json_true());
	if (!set_completion(dump, object, group)) {
		json_decref(object);
		return -ENOMEM;
	}
	dump_line(dump, object);
	return 0;
}

static int put_group_of(struct dump *dump, uint64_t id)
{
	struct tq_group_info group = { .size = sizeof(group) };
	uint64_t is_there;

	if (!id || id_map_get(&dump->groups, id, &is_there) ||
	    tq_group_info(dump->cli->tq, id, &group) < 0)
		return 0;
	return put_group(dump, &group);
}

static int put_task(struct dump *dump, uint64_t id)
{
	struct tq_task_info info = { .size = sizeof(info) };
	uint64_t fate;
	int r;

	if (tq_task_info(dump->cli->tq, id, &info) < 0 || info.state >= TQ_DONE)
		return 0; /* it has ended meanwhile */
	if (dump_is_private(info.queue)) {
		dump->followed++;
		return 0;
	}
	if (!dump_may_start(dump, &info))
		return note(dump, id, DUMP_REFUSED) ? 0 : -ENOMEM;
	r = put_group_of(dump, info.group);
	if (r == 0)
		r = put_group_of(dump, info.completes);
	if (r < 0 || id_map_get(&dump->tasks, id, &fate))
		return r; /* it stands with the group that it completes */
	dump_line(dump, dump_task(dump, &info));
	return note(dump, id, DUMP_WRITTEN) ? 0 : -ENOMEM;
}

/* Those that wait for members; an empty one of a process that lives is that one's alone. */
static int put_open_groups(struct dump *dump)
{
	struct tq_group_info group = { .size = sizeof(group) };
	uint64_t cursor = 0, is_there;
	int n, r = 0;

	while (r == 0 && (n = tq_group_list(dump->cli->tq, &cursor, &group, 1)) != 0) {
		if (n < 0)
			return n;
		if (!id_map_get(&dump->groups, group.id, &is_there) && !group.owner_pid)
			r = put_group(dump, &group);
		group.size = sizeof(group);
	}
	return r;
}

int dump_tasks(struct dump *dump)
{
	struct waiting waiting = { .entries = NULL };
	int r = find(dump, &waiting);

	for (size_t i = 0; r == 0 && i < waiting.count && !ferror(stdout); i++)
		r = put_task(dump, waiting.entries[i].id);
	free(waiting.entries);
	return r < 0 ? r : put_open_groups(dump);
}
