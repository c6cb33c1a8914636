/* SPDX-License-Identifier: MIT */
/* A page of a listing. */
#include "client/observe/page.h"

#include <errno.h>

#include "client/core/handle.h"
#include "client/observe/snapshot.h"

#define RUN_BYTES 16384 /* copied at a time */

int tqi_page_read(struct tq *tq, const struct tqi_page *page, uint64_t *cursor, void *infos,
		  uint32_t count)
{
	if (!tq || !cursor || (count && !infos))
		return -EINVAL;
	const uint32_t record_bytes = tq->seg.geometry.tables[page->table].record_bytes;
	_Alignas(64) char records[RUN_BYTES];
	char *info = infos;
	uint32_t end, n = 0, run;

	if (count && *(const uint64_t *)infos != page->info_bytes)
		return -EINVAL;
	int r = tqi_peek_count(&tq->seg, page->table, &end);

	if (r < 0)
		return r;
	for (uint64_t at = *cursor ? *cursor : 1; n < count && at < end; *cursor = at += run) {
		const uint64_t left = end - at < count - n ? end - at : count - n;
		const uint32_t room = RUN_BYTES / record_bytes;

		run = tqi_peek_run(&tq->seg, page->table, (uint32_t)at,
				   left < room ? (uint32_t)left : room, records);
		for (uint32_t k = 0; k < run; k++) {
			if (!page->fill(tq, (uint32_t)at + k, records + k * record_bytes, info))
				continue;
			*(uint64_t *)info = page->info_bytes;
			info += page->info_bytes;
			n++;
		}
	}
	return (int)n;
}
