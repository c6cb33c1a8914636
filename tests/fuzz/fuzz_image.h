/* SPDX-License-Identifier: MIT */
/* A scene whose bytes a fuzzer changes, and that is as it was before each time. */
#ifndef TQT_FUZZ_IMAGE_H
#define TQT_FUZZ_IMAGE_H

#include "client/core/handle.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/scene.h"

struct fuzz_image {
	struct tqt_scene scene;
	unsigned char *bytes; /* as it was made, so far as it has memory */
	uint64_t count;
	uint32_t *words; /* offsets of those that are not zero */
	uint32_t word_count;
};

/* The scene as it was made; made at the first call, and removed as the program ends. */
struct fuzz_image *fuzz_image_fresh(void);

/*
 * The same, damaged as the input says, FUZZ_PATCH_BYTES a patch.  Never the bytes of a
 * mutex, whose links to others of its thread the C library follows without looking: whoever
 * can write them can do all that this process can.
 */
#define FUZZ_PATCH_BYTES 13
struct fuzz_image *fuzz_image_damaged(const uint8_t *bytes, size_t count);

#endif
