/* SPDX-License-Identifier: MIT */
/*
 * Images of a segment, to see whether an aborted transaction left everything as
 * it was.  What no committed state refers to may differ: free records but for
 * their link and generation, free blocks but for their link, positions of records
 * in no heap, the journal's used entries, words written without the journal.
 */
#ifndef TQT_IMAGE_H
#define TQT_IMAGE_H

#include "shm/tx.h"

struct tqt_image {
	unsigned char *bytes;
	uint64_t size; /* up to the end of the last extent with memory */
};

void tqt_image_take(struct tqt_image *image, const struct tqi_segment *seg);
void tqt_image_restore(const struct tqt_image *image, const struct tqi_segment *seg);
void tqt_image_free(struct tqt_image *image);

/* True when the segment is as in the image; else `why` names the first difference. */
bool tqt_image_same(const struct tqt_image *image, const struct tqi_segment *seg, char why[160]);
/* The same for the bytes from `from` to `end`, when the rest is known. */
bool tqt_image_same_in(const struct tqt_image *image, const struct tqi_segment *seg, uint64_t from,
		       uint64_t end, char why[160]);

#endif
