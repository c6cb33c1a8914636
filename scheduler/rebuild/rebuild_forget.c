/* SPDX-License-Identifier: MIT */
/* What is derived is forgotten before anything is made anew: nothing can be left of it. */
#include <string.h>

#include "scheduler/rebuild/rebuild_state.h"
#include "scheduler/record/fields.h"

#define RANGES_MAX 32 /* of derived bytes in a record, and hints; the root has most */

struct ranges {
	uint32_t count;
	struct tqi_field of[RANGES_MAX];
};

/* Neighbours become one. */
static void find_ranges(uint32_t list, struct ranges *ret)
{
	uint32_t count;
	const struct tqi_field *fields = tqi_fields_of(list, &count);

	ret->count = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct tqi_field *f = &fields[i];
		struct tqi_field *last = ret->count ? &ret->of[ret->count - 1] : NULL;

		if (f->sort != TQI_SORT_D && f->sort != TQI_SORT_H)
			continue;
		if (last && last->at + last->bytes == f->at)
			last->bytes = (uint16_t)(last->bytes + f->bytes);
		else if (ret->count < RANGES_MAX)
			ret->of[ret->count++] = *f;
	}
}

static void forget(const struct ranges *ranges, void *record)
{
	for (uint32_t i = 0; i < ranges->count; i++)
		memset((unsigned char *)record + ranges->of[i].at, 0, ranges->of[i].bytes);
}

void tqi_rebuild_forget_extra(struct tqi_extra *extra)
{
	struct ranges ranges;

	find_ranges(TQI_FIELDS_OF_EXTRA, &ranges);
	forget(&ranges, extra);
}

void tqi_rebuild_forget(struct tqi_check *c)
{
	struct ranges ranges;

	find_ranges(TQI_FIELDS_OF_ROOT, &ranges);
	forget(&ranges, tqi_root(c->tx));
	for (uint32_t t = 0; t < TQI_TABLE_COUNT; t++) {
		find_ranges(t, &ranges);
		for (uint32_t i = 1; i < c->count[t]; i++) {
			void *record = tqi_check_record(c, t, i);

			if (record)
				forget(&ranges, record);
		}
	}
}
