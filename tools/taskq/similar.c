/* SPDX-License-Identifier: MIT */
/* "Did you mean": the nearest of some names. */
#include "similar.h"

#include <string.h>

enum {
	BYTES_MAX = 64 /* longer names are not compared */
};

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Bytes to be put in, taken out or replaced; a row of the table at a time. */
static unsigned distance(const char *a, const char *b)
{
	const size_t length = strlen(b);
	unsigned row[BYTES_MAX + 1];

	for (unsigned j = 0; j <= length; j++)
		row[j] = j;
	for (unsigned i = 1; *a; i++, a++) {
		unsigned diagonal = row[0];

		row[0] = i;
		for (unsigned j = 1; j <= length; j++) {
			const unsigned replaced = diagonal + (*a != b[j - 1]);

			diagonal = row[j];
			row[j] = least(replaced, least(row[j], row[j - 1]) + 1);
		}
	}
	return row[length];
}

const char *similar_key(json_t *object, const char *word)
{
	const size_t length = strlen(word);
	unsigned best = (unsigned)length / 3 + 1; /* more is another word */
	const char *key, *found = NULL;
	const json_t *value;

	if (length > BYTES_MAX)
		return NULL;
	json_object_foreach(object, key, value)
	{
		const unsigned d = strlen(key) > BYTES_MAX ? best + 1 : distance(word, key);

		if (d < best || (d == best && !found)) {
			best = d;
			found = key;
		}
	}
	return found;
}
