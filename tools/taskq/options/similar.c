/* SPDX-License-Identifier: MIT */
/* "Did you mean": the nearest of some names. */
#include "tools/taskq/options/similar.h"

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

struct similar similar_to(const char *word)
{
	/* Farther off is another word. */
	return (struct similar){ .word = word, .best = (unsigned)strlen(word) / 3 + 1 };
}

void similar_try(struct similar *similar, const char *name)
{
	unsigned d;

	if (strlen(similar->word) > BYTES_MAX || strlen(name) > BYTES_MAX)
		return;
	d = distance(similar->word, name);
	if (d < similar->best || (d == similar->best && !similar->found)) {
		similar->best = d;
		similar->found = name;
	}
}
