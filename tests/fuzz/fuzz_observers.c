/* SPDX-License-Identifier: MIT */
/* fault.D2, fault.D3: a damaged segment crashes and hangs no observer, nor the check. */
#include "tests/fuzz/fuzz_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	const struct fuzz_image *image = fuzz_image_damaged(bytes, count);

	tqt_scene_look(&image->scene);
	(void)!tq_check(image->scene.tq, TQ_CHECK_EXACT, NULL, NULL);
	return 0;
}
