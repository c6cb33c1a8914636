/* SPDX-License-Identifier: MIT */
/*
 * A mapping that knows which of its pages have been written: it begins read-only,
 * the fault of the first store to a page notes the page and lets it through.
 */
#ifndef TQT_MAP_H
#define TQT_MAP_H

#include <stdbool.h>
#include <stdint.h>

#define TQT_PAGE 4096u

struct tqt_map {
	unsigned char *base;
	uint32_t page_count;
	uint32_t count;	 /* pages written */
	uint32_t *pages; /* their numbers, in order of the first store */
	uint8_t *is_written;
	bool is_guarded; /* a page that has been written can be closed again */
	uint32_t open_count;
	uint32_t *open;	       /* pages that are writable now; those of a guarded map only */
	unsigned char *shadow; /* the bytes at the last comparison */
};

/* `base` is mapped already; from now on it is watched. */
void tqt_map_init(struct tqt_map *map, unsigned char *base, uint64_t bytes);
void tqt_map_free(struct tqt_map *map);
/* Nothing written yet; the shadow is what is there now. */
void tqt_map_watch(struct tqt_map *map);
void tqt_map_unwatch(struct tqt_map *map);
/* Its pages are read-only again: each store faults, and can be stepped (tests/crash/step.h); none. */
void tqt_map_close(struct tqt_map *map);
void tqt_map_open(struct tqt_map *map);
/* Whether any byte differs from the shadow; the shadow is brought up to date. */
bool tqt_map_changed(struct tqt_map *map);
/* Make `to` equal to `from`, its shadow too; both began as the same bytes. */
void tqt_map_copy(struct tqt_map *to, const struct tqt_map *from);

static inline const unsigned char *tqt_map_page(const struct tqt_map *map, uint32_t page)
{
	return map->base + (uint64_t)page * TQT_PAGE;
}

#endif
