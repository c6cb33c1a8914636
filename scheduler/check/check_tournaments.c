/* SPDX-License-Identifier: MIT */
/* Tournaments of kinds against the heads of their classes and streams: TN-1, TN-2, TN-4. */
#include "scheduler/check/check_state.h"
#include "scheduler/order/tournament.h"

/* Whose they are: a queue's classes, a tenant's, or a queue's streams. */
struct owner {
	const char *record;
	uint32_t index;
};

/* Whether a kind has a head that comes before the one that is said to be the best. */
static bool is_beaten(const struct tqi_tournament *t, uint32_t order, uint32_t kind, uint32_t best)
{
	return t->ready[kind / TQI_TOURNAMENT_GROUP] >> (kind % TQI_TOURNAMENT_GROUP) & 1 &&
	       (!best || tqi_entry_before(&t->first[order][kind], &t->first[order][best]));
}

/* In one order: the best of each group, and of all. */
static void check_best(struct tqi_check *c, const struct owner *o, const struct tqi_tournament *t,
		       uint32_t order)
{
	for (uint32_t g = 0; g < TQI_TOURNAMENT_GROUPS; g++) {
		uint32_t best = t->best[order][g];

		if ((t->ready[g] != 0) != (best != 0) || (best && best / TQI_TOURNAMENT_GROUP != g))
			tqi_check_fault(c, "%s %u: kind %u is said to lead group %u", o->record,
					o->index, best, g);
		if ((t->ready[g] != 0) != (t->groups >> g & 1))
			tqi_check_fault(c, "%s %u: group %u of kinds, work or none", o->record,
					o->index, g);
	}
	for (uint32_t k = 0; k < TQI_TOURNAMENT_KINDS; k++)
		if (is_beaten(t, order, k, t->best[order][k / TQI_TOURNAMENT_GROUP]) ||
		    is_beaten(t, order, k, t->winner[order]))
			tqi_check_fault(c, "%s %u: kind %u has a better head than the best",
					o->record, o->index, k);
	if ((t->groups != 0) != (t->winner[order] != 0))
		tqi_check_fault(c, "%s %u: kind %u leads", o->record, o->index, t->winner[order]);
}

static bool is_ready(const struct tqi_tournament *t, uint32_t kind)
{
	return t->ready[kind / TQI_TOURNAMENT_GROUP] >> (kind % TQI_TOURNAMENT_GROUP) & 1;
}

/* A class's place, with its head. */
static void check_place(struct tqi_check *c, uint32_t k, const struct tqi_class *class,
			const struct tqi_tournament *t)
{
	uint32_t kind = class->kind % TQI_TOURNAMENT_KINDS;

	if (t->of[kind] != k || !class->watched) {
		tqi_check_fault(c, "class %u: has no place among the kinds of queue %u", k,
				class->queue);
		return;
	}
	tqi_check_equal(c, "class", k, "work by its queue", is_ready(t, kind),
			class->open.length != 0);
	for (uint32_t o = 0; o < t->orders; o++)
		if (!tqi_entry_is(&t->first[o][kind], tqi_class_head(class, o)))
			tqi_check_fault(c, "class %u: queue %u has another head of it", k,
					class->queue);
}

/* Its memory, and what follows from itself; NULL: it must not be read. */
static const struct tqi_tournament *check_one(struct tqi_check *c, const struct owner *owner,
					      uint32_t block, uint32_t orders)
{
	if (!tqi_check_block(c, block, tqi_tournament_bytes(orders == TQI_ORDERS), owner->record,
			     owner->index, "tournament"))
		return NULL;
	const struct tqi_tournament *t = tqi_unit(c->tx, block);

	if (t->orders != orders) {
		tqi_check_fault(c, "%s %u: tournament of %u orders", owner->record, owner->index,
				t->orders);
		return NULL;
	}
	for (uint32_t o = 0; o < t->orders; o++)
		check_best(c, owner, t, o);
	return t;
}

static uint32_t count_places(const struct tqi_tournament *t)
{
	uint32_t places = 0;

	for (uint32_t k = 0; t && k < TQI_TOURNAMENT_KINDS; k++)
		places += t->of[k] != 0;
	return places;
}

/* Each class of the era has a place, and nobody else has one. */
static void check_places(struct tqi_check *c, const struct owner *owner, uint32_t chain,
			 uint32_t era, const struct tqi_tournament *const bands[TQ_BANDS])
{
	uint32_t limit = c->count[TQI_CLASSES], places = 0; /* the chain may be a ring */

	for (uint32_t k = chain; k && limit--;) {
		const struct tqi_class *class = tqi_check_record_in_use(c, TQI_CLASSES, k);

		if (!class)
			break;
		if (class->era == era && class->band < TQ_BANDS) {
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
		places -= count_places(bands[b]);
	tqi_check_equal(c, owner->record, owner->index, "kinds with a place", 0, places);
}

/* Of a chain of classes, as far as it is of this era. */
static void check_chain(struct tqi_check *c, const struct owner *owner, uint32_t tournaments,
			uint32_t chain, uint32_t era, uint32_t orders)
{
	const struct tqi_tournament *bands[TQ_BANDS] = { NULL };

	if (!tournaments || !tqi_check_block(c, tournaments, sizeof(struct tqi_tournaments),
					     owner->record, owner->index, "tournaments"))
		return;
	const struct tqi_tournaments *all = tqi_unit(c->tx, tournaments);

	for (uint32_t b = 0; b < TQ_BANDS; b++)
		if (all->bands[b])
			bands[b] = check_one(c, owner, all->bands[b], orders);
	check_places(c, owner, chain, era, bands);
}

/* TN-3: a tenant's is of the era of its newest class. */
static void check_tenant(struct tqi_check *c, uint32_t t)
{
	const struct tqi_tenant *tenant = tqi_check_record_in_use(c, TQI_TENANTS, t);
	const struct tqi_class *newest =
		tenant ? tqi_check_record_in_use(c, TQI_CLASSES, tenant->classes) : NULL;

	if (newest)
		check_chain(c, &(struct owner){ "tenant", t }, tenant->tournaments, tenant->classes,
			    newest->era, tqi_class_orders(newest));
	else if (tenant && tenant->tournaments)
		tqi_check_fault(c, "tenant %u: tournaments without classes", t);
}

/* TN-4. */
static void check_contest(struct tqi_check *c, uint32_t q, const struct tqi_queue *queue)
{
	const struct owner owner = { "contest of queue", q };
	const struct tqi_tournament *t = queue->contest ? check_one(c, &owner, queue->contest, 1)
							: NULL;
	uint32_t places = 0;

	for (uint32_t s = 1; t && s < c->count[TQI_STREAMS]; s++) {
		const struct tqi_stream *stream = tqi_check_record_in_use(c, TQI_STREAMS, s);

		if (!stream || tqi_check_stream_of(c, q, stream->kind) != s)
			continue;
		uint32_t kind = stream->kind % TQI_TOURNAMENT_KINDS;

		places += t->of[kind] == s;
		if (is_ready(t, kind) != (stream->tenants.length != 0) ||
		    (stream->tenants.length && t->of[kind] != s) ||
		    !tqi_entry_is(&t->first[0][kind], tqi_stream_head(stream)))
			tqi_check_fault(c, "stream %u: queue %u has another head of it", s, q);
	}
	tqi_check_equal(c, owner.record, q, "kinds with a place", count_places(t), places);
}

void tqi_check_tournaments(struct tqi_check *c)
{
	for (uint32_t q = 1; q < c->count[TQI_QUEUES]; q++) {
		const struct tqi_queue *queue = tqi_check_record(c, TQI_QUEUES, q);

		if (!queue)
			continue;
		check_chain(c, &(struct owner){ "queue", q }, queue->tournaments, queue->classes,
			    queue->era, queue->max_wait_ns != UINT64_MAX ? TQI_ORDERS : 1);
		check_contest(c, q, queue);
	}
	for (uint32_t t = 1; t < c->count[TQI_TENANTS]; t++)
		check_tenant(c, t);
}
