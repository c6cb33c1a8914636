/* SPDX-License-Identifier: MIT */
/* Histograms, and the classes that share them (RC-13). */
#include "scheduler/check/check_state.h"

static const char *const names[TQI_TIMED_COUNT] = { "waits", "runs", "lives" };

uint32_t tqi_check_sibling(struct tqi_check *c, uint32_t k, uint32_t kind)
{
	uint32_t limit = c->count[TQI_CLASSES]; /* the chain may be a ring */

	while (k && limit--) {
		const struct tqi_class *class = tqi_check_record(c, TQI_CLASSES, k);

		if (!class || class->kind == kind)
			return class ? k : 0;
		k = class->next;
	}
	return 0;
}

/* What its classes have counted: samples that there may be at most. */
static uint64_t counted(struct tqi_check *c, const struct tqi_times *times, uint32_t what)
{
	const struct tqi_queue *queue = tqi_check_record(c, TQI_QUEUES, times->queue);
	uint32_t limit = c->count[TQI_CLASSES];
	uint64_t sum = 0;

	for (uint32_t k = queue ? queue->classes : 0;
	     (k = tqi_check_sibling(c, k, times->kind)) && limit--;) {
		const struct tqi_class *class = tqi_class_at(c->tx, k);

		sum += what == TQI_TIMED_LIFE
			       ? class->ended[TQ_DONE - TQ_DONE] + class->ended[TQ_FAILED - TQ_DONE]
			       : class->started;
		k = class->next;
	}
	return sum;
}

const char *tqi_check_times_fault(struct tqi_check *c, const struct tqi_times *times, uint32_t what)
{
	const struct tqi_histogram *h = &times->of[what];
	const uint64_t most = counted(c, times, what);
	uint64_t count = 0;
	uint32_t last = 0;

	for (uint32_t i = 0; i < TQI_HISTOGRAM_BUCKETS; i++) {
		if (h->buckets[i] > most - count)
			return "more samples than were counted";
		count += h->buckets[i];
		last = h->buckets[i] ? i : last;
	}
	return h->longest_ns < tqi_histogram_least(last) ? "the longest is too short" : NULL;
}

static void check_histograms(struct tqi_check *c, uint32_t t, const struct tqi_times *times)
{
	for (uint32_t i = 0; i < TQI_TIMED_COUNT; i++) {
		const char *fault = tqi_check_times_fault(c, times, i);

		if (fault)
			tqi_check_fault(c, "times %u: %s: %s", t, names[i], fault);
	}
	c->marks[TQI_TIMES][t] |= TQI_SEEN_LINKED;
}

static void check_class(struct tqi_check *c, uint32_t k)
{
	const struct tqi_class *class = tqi_check_record_in_use(c, TQI_CLASSES, k);
	const struct tqi_times *times;

	if (!class)
		return;
	uint32_t next = class->home ? 0 : tqi_check_sibling(c, class->next, class->kind);

	if (next)
		tqi_check_equal(c, "class", k, "times", class->times,
				tqi_class_at(c->tx, next)->times);
	if (!class->times)
		return;
	times = tqi_check_record_in_use(c, TQI_TIMES, class->times);
	if (!times || class->home || times->queue != class->queue || times->kind != class->kind)
		tqi_check_fault(c, "class %u: times %u are not its own", k, class->times);
	else if (!(c->marks[TQI_TIMES][class->times] & TQI_SEEN_LINKED))
		check_histograms(c, class->times, times);
}

void tqi_check_times(struct tqi_check *c)
{
	for (uint32_t k = 1; k < c->count[TQI_CLASSES]; k++)
		check_class(c, k);
	for (uint32_t t = 1; t < c->count[TQI_TIMES]; t++)
		if (tqi_check_record_in_use(c, TQI_TIMES, t) &&
		    !(c->marks[TQI_TIMES][t] & TQI_SEEN_LINKED))
			tqi_check_fault(c, "times %u: of no class", t);
}
