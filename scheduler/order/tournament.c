/* SPDX-License-Identifier: MIT */
/* Tournaments: made, kept and asked. */
#include "scheduler/order/tournament.h"

#include <string.h>

#include "scheduler/order/fair.h"
#include "shm/pool.h"

#define GROUP TQI_TOURNAMENT_GROUP
#define GROUPS TQI_TOURNAMENT_GROUPS

/* Asking: kinds are numbered as their records, and 0 is none. */

/* Heads differ by their keys as a rule: then one comparison decides. */
static bool is_better(const struct tqi_heap_entry *a, const struct tqi_heap_entry *b)
{
	return a->key < b->key || (a->key == b->key && (int64_t)(a->tag - b->tag) < 0);
}

/* Of two kinds with heads, the first of which may be 0. */
static uint32_t better(const struct tqi_tournament *t, uint32_t order, uint32_t a, uint32_t b)
{
	return !a || (b && is_better(&t->first[order][b], &t->first[order][a])) ? b : a;
}

/* Of some kinds of a group, bits of those that have work; 0 none. */
static uint32_t best_of_kinds(const struct tqi_tournament *t, uint32_t order, uint32_t group,
			      uint32_t kinds)
{
	const struct tqi_heap_entry *row = t->first[order] + group * GROUP, *best;

	if (!kinds)
		return 0;
	best = row + __builtin_ctz(kinds);
	while (kinds &= kinds - 1)
		if (is_better(row + __builtin_ctz(kinds), best))
			best = row + __builtin_ctz(kinds);
	return (uint32_t)(best - t->first[order]);
}

static uint32_t best_of_groups(const struct tqi_tournament *t, uint32_t order)
{
	const struct tqi_heap_entry *row = t->first[order], *best;
	const uint8_t *of_group = t->best[order];
	uint32_t groups = t->groups;

	if (!groups)
		return 0;
	best = row + of_group[__builtin_ctz(groups)];
	while (groups &= groups - 1)
		if (is_better(row + of_group[__builtin_ctz(groups)], best))
			best = row + of_group[__builtin_ctz(groups)];
	return (uint32_t)(best - row);
}

static bool is_in(const uint64_t kinds[4], uint32_t kind)
{
	return kinds[kind / 64 % 4] >> (kind % 64) & 1;
}

/* Of a group those that are served, bits. */
static uint32_t served_of(const struct tqi_tournament *t, uint32_t group, const uint64_t kinds[4])
{
	return t->ready[group] & (uint32_t)(kinds[group * GROUP / 64] >> (group * GROUP % 64));
}

/* A group whose best one is worse than what was found has nothing better. */
static uint32_t best_served(const struct tqi_tournament *t, uint32_t order, const uint64_t kinds[4])
{
	const struct tqi_heap_entry *row = t->first[order], *best = NULL;

	for (uint32_t groups = t->groups; groups; groups &= groups - 1) {
		uint32_t g = (uint32_t)__builtin_ctz(groups), first = t->best[order][g];
		uint32_t served = served_of(t, g, kinds), of_group = first;

		if (!served || (best && is_better(best, &row[first])))
			continue;
		if (!(served >> (first % GROUP) & 1))
			of_group = best_of_kinds(t, order, g, served);
		if (!best || is_better(&row[of_group], best))
			best = &row[of_group];
	}
	return best ? (uint32_t)(best - row) : 0;
}

uint32_t tqi_tournament_best(const struct tqi_tournament *t, uint32_t order,
			     const uint64_t kinds[4])
{
	uint32_t best = t->winner[order];

	if (!t->groups)
		return 0;
	if (!is_in(kinds, best))
		best = best_served(t, order, kinds);
	return best ? t->classes[best] : 0;
}

/* Keeping. */

/* In one order the head of a kind has changed: its group, and what is best of all. */
static void replay(struct tqi_tx *tx, struct tqi_tournament *t, uint32_t order, uint32_t kind)
{
	uint32_t group = kind / GROUP, before = t->best[order][group], winner = t->winner[order];
	uint32_t best = before == kind ? best_of_kinds(t, order, group, t->ready[group])
			: t->first[order][kind].tag ? better(t, order, before, kind)
						    : before;

	if (best != before)
		TQI_SET(tx, t->best[order][group], (uint8_t)best);
	if (best == before && best != kind)
		return;
	winner = winner / GROUP == group ? best_of_groups(t, order)
		 : best			 ? better(t, order, winner, best)
					 : winner;
	if (winner != t->winner[order])
		TQI_SET(tx, t->winner[order], (uint8_t)winner);
}

static void set_ready(struct tqi_tx *tx, struct tqi_tournament *t, uint32_t kind, bool ready)
{
	uint32_t group = kind / GROUP, bit = 1u << (kind % GROUP), before = t->ready[group];
	uint32_t after = ready ? before | bit : before & ~bit;

	if (after == before)
		return;
	TQI_SET(tx, t->ready[group], (uint16_t)after);
	if (!before != !after)
		TQI_SET(tx, t->groups, (uint16_t)(t->groups ^ 1u << group));
}

static void follow(struct tqi_tx *tx, uint32_t c, const struct tqi_class *class)
{
	uint32_t kind = class->kind % TQI_TOURNAMENT_KINDS;
	struct tqi_tournament *t =
		tqi_tournament_at(tx, tqi_queue_at(tx, class->queue), class->band);

	if (!t || t->classes[kind] != c)
		return;
	set_ready(tx, t, kind, class->open.length);
	for (uint32_t o = 0; o < t->orders && o < TQI_ORDERS; o++) {
		const struct tqi_heap_entry *head = tqi_class_head(class, o);

		if (tqi_entry_is(head, &t->first[o][kind]))
			continue;
		TQI_SET(tx, t->first[o][kind].key, head->key);
		TQI_SET(tx, t->first[o][kind].tag, head->tag);
		replay(tx, t, o, kind);
	}
}

void tqi_class_follow(struct tqi_tx *tx, uint32_t c)
{
	const struct tqi_class *class = tqi_class_at(tx, c);

	if (class->tenant)
		tqi_guest_follow(tx, c);
	else
		follow(tx, c, class);
}

/* Making. */

static bool is_long(struct tqi_tx *tx, const struct tqi_queue *queue)
{
	uint32_t n = 0;

	for (uint32_t c = queue->classes; c && n <= TQI_CHAIN_SHORT && !tx->corrupt; n++)
		c = tqi_class_at(tx, c)->next;
	return n > TQI_CHAIN_SHORT;
}

/* That of a class's band, made where it is missing; NULL no memory. */
static struct tqi_tournament *take(struct tqi_tx *tx, const struct tqi_queue *queue,
				   const struct tqi_class *class)
{
	struct tqi_tournaments *all = tqi_unit(tx, queue->tournaments);
	uint32_t *at = &all->bands[class->band % TQ_BANDS];
	uint64_t bytes = tqi_tournament_bytes(class->aged);

	if (*at)
		return tqi_unit(tx, *at);
	uint32_t block = tqi_block_take(tx, bytes);

	if (!block)
		return NULL;
	struct tqi_tournament *t = tqi_unit(tx, block);

	memset(t, 0, bytes);
	TQI_INIT(t->orders, (uint8_t)tqi_class_orders(class));
	TQI_SET(tx, *at, block);
	return t;
}

/* A repair may have lost it for all of them, and has no journal. */
static void watch(struct tqi_tx *tx, struct tqi_class *class)
{
	if (tqi_root(tx)->flags & TQI_ROOT_REPAIR)
		class->watched = 1;
	else if (!class->watched)
		TQI_SET(tx, class->watched, 1);
}

/* Plain stores into one that was taken in this transaction (TX-3). */
static void place(struct tqi_tournament *t, uint32_t c, const struct tqi_class *class)
{
	uint32_t kind = class->kind % TQI_TOURNAMENT_KINDS, group = kind / GROUP;

	TQI_INIT(t->classes[kind], c);
	if (class->open.length) {
		TQI_INIT(t->ready[group], (uint16_t)(t->ready[group] | 1u << (kind % GROUP)));
		TQI_INIT(t->groups, (uint16_t)(t->groups | 1u << group));
	}
	for (uint32_t o = 0; o < t->orders; o++)
		TQI_INIT(t->first[o][kind], *tqi_class_head(class, o));
}

static void play(struct tqi_tournament *t)
{
	for (uint32_t o = 0; o < t->orders; o++) {
		for (uint32_t g = 0; g < GROUPS; g++)
			TQI_INIT(t->best[o][g], (uint8_t)best_of_kinds(t, o, g, t->ready[g]));
		TQI_INIT(t->winner[o], (uint8_t)best_of_groups(t, o));
	}
}

/* False: no memory. */
static bool place_all(struct tqi_tx *tx, const struct tqi_queue *queue)
{
	for (uint32_t c = queue->classes; c && !tx->corrupt;) {
		struct tqi_class *class = tqi_class_at(tx, c);

		if (class->era == queue->era) {
			struct tqi_tournament *t = take(tx, queue, class);

			if (!t)
				return false;
			place(t, c, class);
			watch(tx, class);
		}
		c = class->next;
	}
	for (uint32_t b = 0; b < TQ_BANDS; b++)
		if (tqi_tournament_at(tx, queue, b))
			play(tqi_tournament_at(tx, queue, b));
	return true;
}

void tqi_tournament_make(struct tqi_tx *tx, struct tqi_queue *queue)
{
	uint32_t block = is_long(tx, queue) ? tqi_block_take(tx, sizeof(struct tqi_tournaments))
					    : 0;

	if (!block)
		return;
	memset(tqi_unit(tx, block), 0, sizeof(struct tqi_tournaments));
	TQI_SET(tx, queue->tournaments, block);
	if (!place_all(tx, queue))
		tqi_tournament_drop(tx, queue);
}

void tqi_tournament_join(struct tqi_tx *tx, uint32_t c)
{
	struct tqi_class *class = tqi_class_at(tx, c);
	struct tqi_queue *queue = tqi_queue_at(tx, class->queue);

	if (tqi_root(tx)->flags & TQI_ROOT_REPAIR) /* all of them are made at its end */
		return;
	if (!queue->tournaments) {
		tqi_tournament_make(tx, queue);
		if (is_long(tx, queue))
			watch(tx, class); /* so that only few are left to whoever makes it later */
		return;
	}
	struct tqi_tournament *t = take(tx, queue, class);

	if (!t) {
		tqi_tournament_drop(tx, queue);
		return;
	}
	watch(tx, class);
	TQI_SET(tx, t->classes[class->kind % TQI_TOURNAMENT_KINDS], c);
}

void tqi_tournament_drop(struct tqi_tx *tx, struct tqi_queue *queue)
{
	if (!queue->tournaments)
		return;
	const struct tqi_tournaments *all = tqi_unit(tx, queue->tournaments);

	for (uint32_t b = 0; b < TQ_BANDS; b++)
		if (all->bands[b])
			tqi_block_give(tx, all->bands[b]);
	tqi_block_give(tx, queue->tournaments);
	TQI_SET(tx, queue->tournaments, 0u);
}
