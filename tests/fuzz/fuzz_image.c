/* SPDX-License-Identifier: MIT */
/* A scene that is damaged and mended. */
#include "tests/fuzz/fuzz_image.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/record/records.h"
#include "shm/table.h"

#define PATCHES_MAX 32
#define RECORDS_MAX 10 /* of a table: the scene has fewer of nearly all */
#define WORD sizeof(uint64_t)
#define WIDTH 3u    /* of what is changed, log2 of bytes */
#define FLIP 4u	    /* its bits, or else replace it */
#define ANYWHERE 8u /* where something is that is not zero, or else in a record */

static struct fuzz_image image;

static struct tqi_segment *segment(void)
{
	return &image.scene.tq->seg;
}

/* Everything that a thread of this process does once is done before the image is taken. */
static void warm_up(struct tqt_scene *s)
{
	struct tq_claim claim = { .size = sizeof(claim) };

	tqt_scene_look(s);
	tqt_require(tq_check(s->tq, TQ_CHECK_EXACT, NULL, NULL) == 0);
	(void)!tq_wait(s->tq, &s->ids[0], 1, 1, NULL, NULL);
	(void)!tq_claim(s->worker, 1, &claim);
}

/* Whether the byte at `offset` of the segment is of a mutex of this table's records. */
static bool is_in(uint64_t offset, uint32_t table, uint64_t at)
{
	const struct tqi_segment *seg = segment();
	const unsigned char *record;

	for (uint32_t i = 1; (record = tqi_table_peek(seg, table, i)); i++) {
		const uint64_t from = (uint64_t)(record - seg->base) + at;

		if (offset >= from && offset < from + sizeof(pthread_mutex_t))
			return true;
	}
	return false;
}

static bool is_mutex(uint64_t offset)
{
	return is_in(offset, TQI_WORKERS, offsetof(struct tqi_worker, life)) ||
	       is_in(offset, TQI_WAITERS, offsetof(struct tqi_waiter, mutex));
}

/* The words of which a segment consists, but for the lock and for what is zero. */
static void find_words(void)
{
	const uint64_t from = segment()->geometry.core + offsetof(struct tqi_core, version);

	image.words = malloc(image.count / WORD * sizeof(*image.words));
	tqt_require(image.words);
	for (uint64_t at = from; at < image.count; at += WORD) {
		uint64_t word;

		memcpy(&word, image.bytes + at, WORD);
		if (word && !is_mutex(at))
			image.words[image.word_count++] = (uint32_t)at;
	}
	tqt_require(image.word_count);
}

static void take(void)
{
	const struct tqi_segment *seg = segment();

	image.count = (uint64_t)tqi_segment_core(seg)->extents_reserved << TQI_EXTENT_SHIFT;
	image.bytes = malloc(image.count);
	tqt_require(image.bytes);
	memcpy(image.bytes, seg->base, image.count);
	find_words();
}

/* What it has grown by since is gone again. */
static void put_back(void)
{
	const struct tqi_segment *seg = segment();

	memcpy(seg->base, image.bytes, image.count);
	tqt_require(fallocate(seg->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			      (off_t)image.count,
			      (off_t)(seg->geometry.max_bytes - image.count)) == 0);
}

static void end(void)
{
	put_back();
	tqt_scene_close(&image.scene);
	free(image.words);
	free(image.bytes);
}

struct fuzz_image *fuzz_image_fresh(void)
{
	if (image.bytes) {
		put_back();
		return &image;
	}
	tqt_scene_open(&image.scene, "fuzz");
	warm_up(&image.scene);
	take();
	atexit(end);
	return &image;
}

/* A byte of a record, or of the root; 0: there is none. */
static uint64_t byte_of_record(uint32_t place)
{
	const struct tqi_segment *seg = segment();
	const uint32_t table = place % (seg->schema->table_count + 1);

	place /= seg->schema->table_count + 1;
	if (table == seg->schema->table_count)
		return seg->geometry.root + place % seg->schema->root_bytes;
	const unsigned char *record = tqi_table_peek(seg, table, 1 + place % RECORDS_MAX);

	return record ? (uint64_t)(record - seg->base) +
				place / RECORDS_MAX % seg->geometry.tables[table].record_bytes
		      : 0;
}

static uint64_t byte_of_word(uint32_t place)
{
	return image.words[place / WORD % image.word_count] + place % WORD;
}

/* Four bytes say where, one how (see the masks), eight with what. */
static void patch(const uint8_t *bytes)
{
	uint32_t place;

	memcpy(&place, bytes, sizeof(place));
	bytes += sizeof(place);
	const uint64_t width = 1u << (*bytes & WIDTH);
	const uint64_t at = (*bytes & ANYWHERE ? byte_of_word(place) : byte_of_record(place)) &
			    ~(width - 1);
	unsigned char *to = segment()->base + at;

	for (uint64_t i = 0; at && i < width && !is_mutex(at); i++)
		to[i] = (unsigned char)(*bytes & FLIP ? to[i] ^ bytes[1 + i] : bytes[1 + i]);
}

struct fuzz_image *fuzz_image_damaged(const uint8_t *bytes, size_t count)
{
	struct fuzz_image *damaged = fuzz_image_fresh();

	for (size_t i = 0; i < PATCHES_MAX && count >= FUZZ_PATCH_BYTES; i++) {
		patch(bytes);
		bytes += FUZZ_PATCH_BYTES;
		count -= FUZZ_PATCH_BYTES;
	}
	return damaged;
}
