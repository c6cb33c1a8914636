/* SPDX-License-Identifier: MIT */
/* Open addressing. */
#include "tests/crash/seen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACES_FIRST 4096

static void allocate(struct tqt_seen *seen, uint32_t places)
{
	seen->places = places;
	seen->keys = calloc(places, sizeof(*seen->keys));
	seen->marks = calloc(places, 1);
	if (!seen->keys || !seen->marks) {
		perror("calloc");
		exit(1);
	}
}

void tqt_seen_clear(struct tqt_seen *seen)
{
	if (!seen->places)
		allocate(seen, PLACES_FIRST);
	memset(seen->keys, 0, seen->places * sizeof(*seen->keys));
	memset(seen->marks, 0, seen->places);
	seen->count = 0;
}

static uint32_t place_of(const struct tqt_seen *seen, uint64_t key)
{
	uint32_t at = (uint32_t)(key ^ key >> 32) & (seen->places - 1);

	while (seen->keys[at] && seen->keys[at] != key)
		at = (at + 1) & (seen->places - 1);
	return at;
}

static void grow(struct tqt_seen *seen)
{
	struct tqt_seen old = *seen;

	allocate(seen, old.places * 2);
	for (uint32_t i = 0; i < old.places; i++) {
		if (!old.keys[i])
			continue;
		uint32_t at = place_of(seen, old.keys[i]);

		seen->keys[at] = old.keys[i];
		seen->marks[at] = old.marks[i];
	}
	free(old.keys);
	free(old.marks);
}

uint8_t *tqt_seen_at(struct tqt_seen *seen, uint64_t key, bool *ret_new)
{
	if (key == 0)
		key = 1;
	if (seen->count * 2 >= seen->places)
		grow(seen);
	uint32_t at = place_of(seen, key);

	*ret_new = seen->keys[at] == 0;
	if (*ret_new)
		seen->count++;
	seen->keys[at] = key;
	return &seen->marks[at];
}
