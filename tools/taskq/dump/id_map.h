/* SPDX-License-Identifier: MIT */
/* A number for each of many ids. */
#ifndef TASKQ_TOOL_ID_MAP_H
#define TASKQ_TOOL_ID_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct id_map {
	struct id_map_entry {
		uint64_t id; /* 0 free */
		uint64_t value;
	} * entries;
	size_t room; /* a power of two */
	size_t count;
};

/* Sets what @id, which is not 0, stands for; false: out of memory. */
bool id_map_set(struct id_map *map, uint64_t id, uint64_t value);
/* Whether it is there; *@ret_value is untouched when not. */
bool id_map_get(const struct id_map *map, uint64_t id, uint64_t *ret_value);
void id_map_free(struct id_map *map);

#endif
