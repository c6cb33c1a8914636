/* SPDX-License-Identifier: MIT */
/* Listings that show one table, a page at a time: records that lie side by side in one copy. */
#ifndef TQI_CLIENT_OBSERVE_PAGE_H
#define TQI_CLIENT_OBSERVE_PAGE_H

#include <stdbool.h>
#include <stdint.h>

struct tq;

/* Whether the record is shown; then all of the info but its size. */
typedef bool tqi_page_fill(struct tq *tq, uint32_t index, const void *record, void *info);

struct tqi_page {
	uint32_t table;
	uint64_t info_bytes;
	tqi_page_fill *fill;
};

/*
 * From *cursor on, 0 at first; `infos` begin with their sizes, which are to be the page's.
 * How many were filled, 0 the end; -EINVAL another size.
 */
int tqi_page_read(struct tq *tq, const struct tqi_page *page, uint64_t *cursor, void *infos,
		  uint32_t count);

#endif
