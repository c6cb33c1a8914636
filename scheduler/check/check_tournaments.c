/* SPDX-License-Identifier: MIT */
/* Tournaments of kinds against the heads of their classes: TN-1, TN-2. */
#include "scheduler/check/check_state.h"
#include "scheduler/order/tournament.h"

/* Whether a kind has a head that comes before the one that is said to be the best. */
static bool is_beaten(const struct tqi_tournament *t, uint32_t order, uint32_t kind, uint32_t best)
{
	return t->ready[kind / TQI_TOURNAMENT_GROUP] >> (kind % TQI_TOURNAMENT_GROUP) & 1 &&
	       (!best || tqi_entry_before(&t->first[order][kind], &t->first[order][best]));
}

/* In one order: the best of each group, and of all. */
static void check_best(struct tqi_check *c, uint32_t q, const struct tqi_tournament *t,
		       uint32_t order)
{
	for (uint32_t g = 0; g < TQI_TOURNAMENT_GROUPS; g++) {
		uint32_t best = t->best[order][g];

		if ((t->ready[g] != 0) != (best != 0) || (best && best / TQI_TOURNAMENT_GROUP != g))
			tqi_check_fault(c, "queue %u: kind %u is said to lead group %u", q, best,
					g);
		if ((t->ready[g] != 0) != (t->groups >> g & 1))
			tqi_check_fault(c, "queue %u: group %u of kinds, work or none", q, g);
	}
	for (uint32_t k = 0; k < TQI_TOURNAMENT_KINDS; k++)
		if (is_beaten(t, order, k, t->best[order][k / TQI_TOURNAMENT_GROUP]) ||
		    is_beaten(t, order, k, t->winner[order]))
			tqi_check_fault(c, "queue %u: kind %u has a better head than the best", q,
					k);
	if ((t->groups != 0) != (t->winner[order] != 0))
		tqi_check_fault(c, "queue %u: kind %u leads", q, t->winner[order]);
}

/* A class's place, with its head. */
static void check_place(struct tqi_check *c, uint32_t k, const struct tqi_class *class,
			const struct tqi_tournament *t)
{
	uint32_t kind = class->kind % TQI_TOURNAMENT_KINDS;
	bool ready = t->ready[kind / TQI_TOURNAMENT_GROUP] >> (kind % TQI_TOURNAMENT_GROUP) & 1;

	if (t->classes[kind] != k || !class->watched) {
		tqi_check_fault(c, "class %u: has no place among the kinds of queue %u", k,
				class->queue);
		return;
	}
	tqi_check_equal(c, "class", k, "work by its queue", ready, class->open.length != 0);
	for (uint32_t o = 0; o < t->orders; o++)
		if (!tqi_entry_is(&t->first[o][kind], tqi_class_head(class, o)))
			tqi_check_fault(c, "class %u: queue %u has another head of it", k,
					class->queue);
}

/* Its memory, and what follows from itself; NULL: it must not be read. */
static const struct tqi_tournament *check_one(struct tqi_check *c, uint32_t q, uint32_t block,
					      bool aged)
{
	if (!tqi_check_block(c, block, tqi_tournament_bytes(aged), "queue", q, "tournament"))
		return NULL;
	const struct tqi_tournament *t = tqi_unit(c->tx, block);

	if (t->orders != 1u + aged) {
		tqi_check_fault(c, "queue %u: tournament of %u orders", q, t->orders);
		return NULL;
	}
	for (uint32_t o = 0; o < t->orders; o++)
		check_best(c, q, t, o);
	return t;
}

/* Each class of the era has a place, and nobody else has one. */
static void check_places(struct tqi_check *c, uint32_t q, const struct tqi_queue *queue,
			 const struct tqi_tournament *const bands[TQ_BANDS])
{
	uint32_t limit = c->count[TQI_CLASSES], places = 0; /* the chain may be a ring */

	for (uint32_t k = queue->classes; k && limit--;) {
		const struct tqi_class *class = tqi_check_record_in_use(c, TQI_CLASSES, k);

		if (!class)
			break;
		if (class->era == queue->era && class->band < TQ_BANDS) {
			if (bands[class->band])
				check_place(c, k, class, bands[class->band]);
			else
				tqi_check_fault(c, "class %u: no tournament of band %u", k,
						class->band);
			places++;
		}
		k = class->next;
	}
	for (uint32_t b = 0; b < TQ_BANDS; b++)
		for (uint32_t k = 0; bands[b] && k < TQI_TOURNAMENT_KINDS; k++)
			places -= bands[b]->classes[k] != 0;
	tqi_check_equal(c, "queue", q, "kinds with a place", 0, places);
}

void tqi_check_tournaments(struct tqi_check *c)
{
	for (uint32_t q = 1; q < c->count[TQI_QUEUES]; q++) {
		const struct tqi_queue *queue = tqi_check_record(c, TQI_QUEUES, q);
		const struct tqi_tournament *bands[TQ_BANDS] = { NULL };

		if (!queue || !queue->tournaments ||
		    !tqi_check_block(c, queue->tournaments, sizeof(struct tqi_tournaments), "queue",
				     q, "tournaments"))
			continue;
		const struct tqi_tournaments *all = tqi_unit(c->tx, queue->tournaments);

		for (uint32_t b = 0; b < TQ_BANDS; b++)
			if (all->bands[b])
				bands[b] = check_one(c, q, all->bands[b],
						     queue->max_wait_ns != UINT64_MAX);
		check_places(c, q, queue, bands);
	}
}
