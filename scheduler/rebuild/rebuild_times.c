/* SPDX-License-Identifier: MIT */
/* Histograms are believed where they can be, and emptied where not: nothing else knows. */
#include <string.h>

#include "scheduler/rebuild/rebuild_state.h"
#include "shm/table.h"

static bool is_of(struct tqi_check *c, uint32_t t, const struct tqi_class *class)
{
	const struct tqi_times *times = tqi_check_record(c, TQI_TIMES, t);

	return times && times->queue == class->queue && times->kind == class->kind;
}

/* The one that its siblings have already; else the class's own; else any that says so. */
static uint32_t find(struct tqi_check *c, const struct tqi_class *class)
{
	uint32_t t = 1, k = tqi_queue_at(c->tx, class->queue)->classes;

	for (; (k = tqi_check_sibling(c, k, class->kind)); k = tqi_class_at(c->tx, k)->next) {
		uint32_t shared = tqi_class_at(c->tx, k)->times;

		if (is_of(c, shared, class) && c->marks[TQI_TIMES][shared] & TQI_SEEN_LINKED)
			return shared;
	}
	if (is_of(c, class->times, class))
		return class->times;
	while (t < c->count[TQI_TIMES] && !is_of(c, t, class))
		t++;
	return t < c->count[TQI_TIMES] ? t : 0;
}

void tqi_rebuild_times_begin(struct tqi_check *c)
{
	for (uint32_t k = 1; k < c->count[TQI_CLASSES]; k++) {
		struct tqi_class *class = tqi_check_record(c, TQI_CLASSES, k);

		if (!class || !(c->marks[TQI_CLASSES][k] & TQI_SEEN_LINKED))
			continue;
		class->times = find(c, class);
		if (!class->times || c->marks[TQI_TIMES][class->times])
			continue;
		struct tqi_times *times = tqi_times_at(c->tx, class->times);

		c->marks[TQI_TIMES][class->times] |= TQI_SEEN_LINKED;
		for (uint32_t i = 0; i < TQI_TIMED_COUNT; i++)
			if (tqi_check_times_fault(c, times, i))
				memset(&times->of[i], 0, sizeof(times->of[i]));
	}
}

/* Empty ones for classes that lost theirs; none, when there is no memory. */
static void make(struct tqi_check *c, const struct tqi_class *class)
{
	bool full;
	uint32_t t = tqi_table_take(c->tx, TQI_TIMES, &full);
	uint32_t k = tqi_queue_at(c->tx, class->queue)->classes;

	if (!t)
		return;
	struct tqi_times *times = tqi_times_at(c->tx, t);

	memset((unsigned char *)times + sizeof(times->link), 0,
	       sizeof(*times) - sizeof(times->link));
	times->queue = class->queue;
	times->kind = class->kind;
	for (; (k = tqi_check_sibling(c, k, class->kind)); k = tqi_class_at(c->tx, k)->next)
		tqi_class_at(c->tx, k)->times = t;
	tqi_rebuild_keep(c);
}

void tqi_rebuild_times(struct tqi_check *c)
{
	for (uint32_t k = 1; k < c->count[TQI_CLASSES]; k++) {
		const struct tqi_class *class = tqi_check_record(c, TQI_CLASSES, k);

		if (class && (c->marks[TQI_CLASSES][k] & TQI_SEEN_LINKED) && !class->times)
			make(c, class);
	}
}
