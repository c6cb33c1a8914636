/* SPDX-License-Identifier: MIT */
/* Which tasks have a slot of a limit, and which wait for one. */
#include "tools/taskq/print/limit_tasks.h"

#include <stdio.h>
#include <string.h>

#include "json.h"
#include "text.h"

enum {
	CHUNK = 32, /* tasks in memory at a time */
	NAMED = 32  /* that are named; there may be very many */
};

struct named {
	json_t *array; /* NULL: for people */
	const char *title;
	uint32_t state;
	uint32_t flag; /* all of its flags */
	unsigned count;
};

/* Places of the key that it takes; 0 it does not have that key. */
static uint32_t weight_of(const struct tq_task_info *info, const char *key)
{
	for (uint32_t i = 0; i < info->limit_count && i < TQ_LIMITS_MAX; i++)
		if (!strcmp(info->limits[i], key))
			return info->limit_weights[i];
	return 0;
}

static void name_one(struct named *named, const struct tq_task_info *info, uint32_t weight)
{
	char id[TQ_ID_TEXT_MAX], places[24] = "";

	if (named->count++ >= NAMED)
		return;
	if (named->array) {
		json_array_append_new(named->array, json_id(info->id));
		return;
	}
	if (weight > 1)
		snprintf(places, sizeof(places), " (%u places)", weight);
	printf("%-10s %s%s  ", named->count == 1 ? named->title : "",
	       tq_task_id_format(info->id, id), places);
	text_put_safe_bytes(stdout, info->label, strlen(info->label));
	putchar('\n');
}

static int name_all(struct tq *tq, const char *key, struct named *named)
{
	const struct tq_task_filter filter = { .size = sizeof(filter),
					       .states = 1u << named->state };
	struct tq_task_info infos[CHUNK];
	uint64_t cursor = 0;
	int n;

	do {
		infos[0].size = sizeof(infos[0]);
		n = tq_task_list(tq, &filter, &cursor, infos, CHUNK);
		for (int i = 0; i < n; i++) {
			const uint32_t weight = weight_of(&infos[i], key);

			if (weight && (infos[i].flags & named->flag) == named->flag)
				name_one(named, &infos[i], weight);
		}
	} while (n > 0);
	if (n == 0 && !named->array && named->count > NAMED)
		printf("%-10s and %u more\n", "", named->count - NAMED);
	return n;
}

int limit_tasks_put(struct tq *tq, const char *key, json_t *object)
{
	struct named named[] = {
		{ .title = "running", .state = TQ_RUNNING },
		{ .title = "waiting", .state = TQ_READY, .flag = TQ_INFO_THROTTLED }
	};
	static const char *const fields[] = { "holders", "waiters" };
	int r = 0;

	for (unsigned i = 0; i < 2 && r == 0; i++) {
		if (object)
			json_object_set_new(object, fields[i], named[i].array = json_array());
		r = name_all(tq, key, &named[i]);
	}
	return r;
}
