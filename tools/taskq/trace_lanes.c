/* SPDX-License-Identifier: MIT */
/* The tables of tasks and lanes. */
#include "trace_lanes.h"

#include <stdlib.h>

enum {
	PLACES_FIRST = 1024
};

static size_t place_of(const struct trace_task *tasks, size_t places, uint64_t id)
{
	size_t at = (size_t)(id * 0x9e3779b97f4a7c15ull >> 32) & (places - 1);

	while (tasks[at].id && tasks[at].id != id)
		at = (at + 1) & (places - 1);
	return at;
}

static bool grow(struct trace_lanes *lanes)
{
	const size_t places = lanes->task_places ? 2 * lanes->task_places : PLACES_FIRST;
	struct trace_task *tasks = calloc(places, sizeof(*tasks));

	if (!tasks)
		return false;
	for (size_t i = 0; i < lanes->task_places; i++)
		if (lanes->tasks[i].id)
			tasks[place_of(tasks, places, lanes->tasks[i].id)] = lanes->tasks[i];
	free(lanes->tasks);
	lanes->tasks = tasks;
	lanes->task_places = places;
	return true;
}

struct trace_task *trace_task_at(struct trace_lanes *lanes, uint64_t id)
{
	struct trace_task *task;

	if (2 * lanes->task_count >= lanes->task_places && !grow(lanes))
		return NULL;
	task = &lanes->tasks[place_of(lanes->tasks, lanes->task_places, id)];
	if (!task->id) {
		task->id = id;
		lanes->task_count++;
	}
	return task;
}

uint32_t trace_lane_take(struct trace_lanes *lanes, uint32_t pid, uint32_t worker, bool *ret_new)
{
	struct trace_lane *grown;

	*ret_new = false;
	for (size_t i = 0; i < lanes->lane_count; i++)
		if (lanes->lanes[i].pid == pid && lanes->lanes[i].worker == worker &&
		    !lanes->lanes[i].busy)
			return (uint32_t)i;
	grown = reallocarray(lanes->lanes, lanes->lane_count + 1, sizeof(*grown));
	if (!grown)
		return UINT32_MAX;
	lanes->lanes = grown;
	grown[lanes->lane_count] = (struct trace_lane){ .pid = pid, .worker = worker };
	*ret_new = true;
	return (uint32_t)lanes->lane_count++;
}

void trace_lanes_free(struct trace_lanes *lanes)
{
	free(lanes->tasks);
	free(lanes->lanes);
}
