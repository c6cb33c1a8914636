/* SPDX-License-Identifier: MIT */
/* Gives a fuzzer each file of the folders that are named, once: no libFuzzer is needed. */
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"
#include "tests/support/scene.h"

#define BYTES_MAX (1u << 20) /* as libFuzzer has it */

static void give(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *bytes = malloc(BYTES_MAX);

	tqt_require(file && bytes);
	printf("%s\n", path); /* the one that was at work, if it ends here */
	fflush(stdout);
	LLVMFuzzerTestOneInput(bytes, fread(bytes, 1, BYTES_MAX, file));
	free(bytes);
	fclose(file);
}

int main(int argc, char **argv)
{
	FTS *tree = argc > 1 ? fts_open(argv + 1, FTS_PHYSICAL | FTS_NOCHDIR, NULL) : NULL;
	unsigned given = 0;

	if (!tree)
		return 2;
	for (FTSENT *entry; (entry = fts_read(tree));)
		if (entry->fts_info == FTS_F) {
			give(entry->fts_accpath);
			given++;
		}
	fts_close(tree);
	return given ? 0 : 1;
}
