/* SPDX-License-Identifier: MIT */
/* Tournaments: what follows from themselves, and places against heads: TN-1, TN-2. */
#include "scheduler/check/check_state.h"
#include "scheduler/order/tournament.h"

/* Whether a kind has a head that comes before the one that is said to be the best. */
static bool is_beaten(const struct tqi_tournament *t, uint32_t order, uint32_t kind, uint32_t best)
{
	return t->ready[kind / TQI_TOURNAMENT_GROUP] >> (kind % TQI_TOURNAMENT_GROUP) & 1 &&
	       (!best || tqi_entry_before(&t->first[order][kind], &t->first[order][best]));
}

/* In one order: the best of each group, and of all. */
static void check_best(struct tqi_check *c, const struct tqi_check_owner *o,
		       const struct tqi_tournament *t, uint32_t order)
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

void tqi_check_place(struct tqi_check *c, const struct tqi_check_owner *o,
		     const struct tqi_tournament *t, uint32_t kind, uint32_t who,
		     const struct tqi_heap_entry *const heads[])
{
	kind %= TQI_TOURNAMENT_KINDS;
	bool ready = t->ready[kind / TQI_TOURNAMENT_GROUP] >> (kind % TQI_TOURNAMENT_GROUP) & 1;
	bool same = t->of[kind] == who && ready == (heads[TQI_BY_KEY]->tag != 0);

	for (uint32_t order = 0; order < t->orders; order++)
		same &= tqi_entry_is(&t->first[order][kind], heads[order]);
	if (!same)
		tqi_check_fault(c, "%s %u: kind %u is not in its place, of %u", o->record, o->index,
				kind, who);
}

uint32_t tqi_check_count_places(const struct tqi_tournament *t)
{
	uint32_t places = 0;

	for (uint32_t k = 0; t && k < TQI_TOURNAMENT_KINDS; k++)
		places += t->of[k] != 0;
	return places;
}

const struct tqi_tournament *tqi_check_tournament(struct tqi_check *c,
						  const struct tqi_check_owner *o, uint32_t block,
						  uint32_t orders)
{
	if (!tqi_check_block(c, block, tqi_tournament_bytes(orders == TQI_ORDERS), o->record,
			     o->index, "tournament"))
		return NULL;
	const struct tqi_tournament *t = tqi_unit(c->tx, block);

	if (t->orders != orders) {
		tqi_check_fault(c, "%s %u: tournament of %u orders", o->record, o->index,
				t->orders);
		return NULL;
	}
	for (uint32_t order = 0; order < t->orders; order++)
		check_best(c, o, t, order);
	return t;
}

void tqi_check_bands(struct tqi_check *c, const struct tqi_check_owner *o, uint32_t tournaments,
		     uint32_t orders, const struct tqi_tournament *ret_bands[TQ_BANDS])
{
	if (!tournaments || !tqi_check_block(c, tournaments, sizeof(struct tqi_tournaments),
					     o->record, o->index, "tournaments"))
		return;
	const struct tqi_tournaments *all = tqi_unit(c->tx, tournaments);

	for (uint32_t b = 0; b < TQ_BANDS; b++)
		if (all->bands[b])
			ret_bands[b] = tqi_check_tournament(c, o, all->bands[b], orders);
}
