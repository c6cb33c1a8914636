/* SPDX-License-Identifier: MIT */
/* The one place where structs cross the boundary. */
#include "client/core/options.h"

#include <errno.h>
#include <string.h>

int tqi_options_in(void *to, uint64_t known, uint64_t least, const void *from)
{
	uint64_t size;

	if (!from) {
		memset(to, 0, known);
		return 0;
	}
	memcpy(&size, from, sizeof(size));
	if (size < least)
		return -EINVAL;
	if (size < known)
		memset((unsigned char *)to + size, 0, known - size);
	memcpy(to, from, size < known ? size : known);
	for (uint64_t i = known; i < size; i++)
		if (((const unsigned char *)from)[i])
			return -E2BIG;
	return 0;
}

int tqi_snapshot_room(const void *to, uint64_t *ret_room)
{
	if (!to)
		return -EINVAL;
	memcpy(ret_room, to, sizeof(*ret_room));
	return *ret_room >= sizeof(*ret_room) ? 0 : -EINVAL;
}

void tqi_snapshot_out(void *to, uint64_t room, const void *from, uint64_t known)
{
	uint64_t filled = room < known ? room : known;

	memcpy(to, from, filled);
	memcpy(to, &filled, sizeof(filled));
}
