/* SPDX-License-Identifier: MIT */
/* A repair that says that it mended everything has done so, whatever was damaged. */
#include <stdio.h>

#include "tests/fuzz/fuzz_image.h"

static void tell(void *arg, const char *text)
{
	fprintf(stderr, "%s: %s\n", (const char *)arg, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	const struct fuzz_image *image = fuzz_image_damaged(bytes, count);
	const struct tqt_scene *s = &image->scene;

	if (tq_check(s->tq, TQ_CHECK_REPAIR, NULL, NULL) >= 0)
		tqt_require(tq_check(s->tq, TQ_CHECK_EXACT, tell, "after the repair") == 0);
	tqt_scene_look(s);
	return 0;
}
