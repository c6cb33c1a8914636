/* SPDX-License-Identifier: MIT */
/* JSON of a task with all that belongs to it: past attempts, dependencies, dependants. */
#include <stdlib.h>

#include "json.h"
#include "outcome.h"
#include "text.h"

enum {
	EDGES_MAX = 1024 /* dependencies, and dependants, that are named */
};

static void set_edges(json_t *object, const char *name, const struct tq_dependency_info *infos,
		      int n)
{
	json_t *array = json_array();

	for (int i = 0; i < n; i++)
		json_array_append_new(array,
				      json_pack("{s:o,s:s,s:s,s:b}", "id", json_id(infos[i].id),
						"kind", after_short(infos[i].kind), "state",
						tq_task_state_name(infos[i].state), "decided",
						infos[i].decided));
	if (n > 0)
		json_object_set_new(object, name, array);
	else
		json_decref(array);
}

static void add_edges(json_t *object, struct tq *tq, const struct tq_task_info *info)
{
	struct tq_dependency_info *infos = calloc(EDGES_MAX, sizeof(*infos));

	if (!infos)
		return;
	set_edges(object, "dependencies", infos,
		  tq_task_dependencies(tq, info->id, infos, EDGES_MAX));
	set_edges(object, "dependants", infos, tq_task_dependants(tq, info->id, infos, EDGES_MAX));
	if (info->unmet)
		json_object_set_new(object, "unmet", json_integer(info->unmet));
	free(infos);
}

static int add_history(json_t *object, struct tq *tq, uint64_t id, const struct clocks *clocks)
{
	struct tq_attempt_info attempts[TQ_HISTORY_MAX];
	const int n = tq_task_history(tq, id, attempts);
	json_t *history;

	if (n < 0)
		return n;
	history = json_array();
	for (int i = 0; i < n; i++) {
		json_t *attempt = json_of_attempt(&attempts[i], clocks);

		json_object_set_new(attempt, "output",
				    json_string(outcome_of_output(tq, id, attempts[i].number)));
		json_array_append_new(history, attempt);
	}
	json_object_set_new(object, "history", history);
	return 0;
}

int json_of_task_whole(struct tq *tq, uint64_t id, const struct clocks *clocks,
		       uint64_t payload_max, json_t **ret_object)
{
	struct tq_task_info info = { .size = sizeof(info) };
	int r = tq_task_info(tq, id, &info);
	json_t *object;

	if (r < 0)
		return r;
	object = json_of_task_within(tq, &info, clocks, payload_max);
	r = add_history(object, tq, id, clocks);
	if (r < 0) {
		json_decref(object);
		return r;
	}
	add_edges(object, tq, &info);
	*ret_object = object;
	return 0;
}
