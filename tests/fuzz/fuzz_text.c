/* SPDX-License-Identifier: MIT */
/* Bytes as a string. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/scene.h"

char *fuzz_text(const uint8_t *bytes, size_t count)
{
	char *text = malloc(count + 1);

	tqt_require(text);
	if (count)
		memcpy(text, bytes, count);
	text[count] = '\0';
	return text;
}
