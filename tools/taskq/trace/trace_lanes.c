/* SPDX-License-Identifier: MIT */
/* The tables of tasks, of what they came after, and of lanes. */
#include "tools/taskq/trace/trace_lanes.h"

#include <stdlib.h>

enum {
	ROOM_FIRST = 1024
};

static size_t place_of(const struct trace_place *places, size_t room, uint64_t key)
{
	size_t at = (size_t)(key * 0x9e3779b97f4a7c15ull >> 32) & (room - 1);

	while (places[at].key && places[at].key != key)
		at = (at + 1) & (room - 1);
	return at;
}

static bool grow_index(struct trace_index *index)
{
	const size_t room = index->room ? 2 * index->room : ROOM_FIRST;
	struct trace_place *places = calloc(room, sizeof(*places));

	if (!places)
		return false;
	for (size_t i = 0; i < index->room; i++)
		if (index->places[i].key)
			places[place_of(places, room, index->places[i].key)] = index->places[i];
	free(index->places);
	index->places = places;
	index->room = room;
	return true;
}

/* The number of a key, the next one when it is new; 0 no memory. */
static uint32_t number_of(struct trace_index *index, uint64_t key)
{
	struct trace_place *place;

	if (2 * index->count >= index->room && !grow_index(index))
		return 0;
	place = &index->places[place_of(index->places, index->room, key)];
	if (!place->key) {
		place->key = key;
		place->number = (uint32_t)++index->count;
	}
	return place->number;
}

/* Room for one more of @count; false: no memory. */
static bool grow(void **rows, size_t count, size_t *room, size_t bytes)
{
	const size_t more = *room ? 2 * *room : ROOM_FIRST;
	void *grown = count < *room ? *rows : reallocarray(*rows, more, bytes);

	if (!grown)
		return false;
	*room = count < *room ? *room : more;
	*rows = grown;
	return true;
}

struct trace_task *trace_task_at(struct trace_lanes *lanes, uint64_t id)
{
	const size_t count = lanes->task_index.count;
	uint32_t number;

	if (!grow((void **)&lanes->tasks, count, &lanes->task_room, sizeof(*lanes->tasks)))
		return NULL;
	number = number_of(&lanes->task_index, id);
	if (!number)
		return NULL;
	if (number > count)
		lanes->tasks[number - 1] = (struct trace_task){ .id = id };
	return &lanes->tasks[number - 1];
}

bool trace_after_add(struct trace_lanes *lanes, uint64_t id, uint64_t on)
{
	struct trace_task *task = trace_task_at(lanes, id);

	if (!task || !grow((void **)&lanes->afters, lanes->after_count, &lanes->after_room,
			   sizeof(*lanes->afters)))
		return false;
	lanes->afters[lanes->after_count++] = (struct trace_after){ on, task->after };
	task->after = (uint32_t)lanes->after_count;
	return true;
}

/* The place of a worker's first lane; NULL no memory. */
static uint32_t *first_lane(struct trace_lanes *lanes, uint32_t pid, uint32_t worker)
{
	const size_t count = lanes->worker_index.count;
	uint32_t number;

	if (!grow((void **)&lanes->firsts, count, &lanes->worker_room, sizeof(*lanes->firsts)))
		return NULL;
	number = number_of(&lanes->worker_index, ((uint64_t)pid << 32 | worker) + 1);
	if (!number)
		return NULL;
	if (number > count)
		lanes->firsts[number - 1] = UINT32_MAX;
	return &lanes->firsts[number - 1];
}

uint32_t trace_lane_take(struct trace_lanes *lanes, uint32_t pid, uint32_t worker, bool *ret_new)
{
	uint32_t *link = first_lane(lanes, pid, worker), *first = link, last = UINT32_MAX;

	*ret_new = false;
	if (!link)
		return UINT32_MAX;
	for (; *link != UINT32_MAX; link = &lanes->lanes[last].next) {
		last = *link;
		if (!lanes->lanes[last].busy)
			return last;
	}
	if (!grow((void **)&lanes->lanes, lanes->lane_count, &lanes->lane_room,
		  sizeof(*lanes->lanes)))
		return UINT32_MAX;
	lanes->lanes[lanes->lane_count] = (struct trace_lane){ .next = UINT32_MAX };
	link = last == UINT32_MAX ? first : &lanes->lanes[last].next; /* the table may have moved */
	*link = (uint32_t)lanes->lane_count;
	*ret_new = true;
	return (uint32_t)lanes->lane_count++;
}

void trace_lanes_free(struct trace_lanes *lanes)
{
	free(lanes->task_index.places);
	free(lanes->worker_index.places);
	free(lanes->tasks);
	free(lanes->afters);
	free(lanes->firsts);
	free(lanes->lanes);
}
