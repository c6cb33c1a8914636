/* SPDX-License-Identifier: MIT */
/* Hashed by multiplication, entries one behind another from there on. */
#include "tools/taskq/dump/id_map.h"

#include <stdlib.h>

enum {
	ROOM_FIRST = 64
};

/* The place of @id, or the free one where it would be. */
static struct id_map_entry *place(const struct id_map *map, uint64_t id)
{
	size_t at = (size_t)((id * 0x9e3779b97f4a7c15ull) >> 20) & (map->room - 1);

	while (map->entries[at].id && map->entries[at].id != id)
		at = (at + 1) & (map->room - 1);
	return &map->entries[at];
}

/* Room for one more, half of it free. */
static bool grow(struct id_map *map)
{
	struct id_map larger = { .room = map->room ? 2 * map->room : ROOM_FIRST,
				 .count = map->count };

	if (2 * (map->count + 1) <= map->room)
		return true;
	larger.entries = calloc(larger.room, sizeof(*larger.entries));
	if (!larger.entries)
		return false;
	for (size_t i = 0; i < map->room; i++)
		if (map->entries[i].id)
			*place(&larger, map->entries[i].id) = map->entries[i];
	free(map->entries);
	*map = larger;
	return true;
}

bool id_map_set(struct id_map *map, uint64_t id, uint64_t value)
{
	if (!grow(map))
		return false;
	struct id_map_entry *entry = place(map, id);

	map->count += !entry->id;
	*entry = (struct id_map_entry){ id, value };
	return true;
}

bool id_map_get(const struct id_map *map, uint64_t id, uint64_t *ret_value)
{
	const struct id_map_entry *entry = map->room ? place(map, id) : NULL;

	if (!entry || !entry->id)
		return false;
	*ret_value = entry->value;
	return true;
}

void id_map_free(struct id_map *map)
{
	free(map->entries);
	*map = (struct id_map){ .entries = NULL };
}
