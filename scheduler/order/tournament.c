/* SPDX-License-Identifier: MIT */
/* Tournaments: made, kept and asked. */
#include "scheduler/order/tournament.h"

#include <string.h>

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

/* Of some groups with such kinds, bits, the best one's best; 0 none. */
static uint32_t best_of_groups(const struct tqi_tournament *t, uint32_t order, uint32_t groups)
{
	const struct tqi_heap_entry *row = t->first[order], *best;
	const uint8_t *of_group = t->best[order];

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

/* Groups with work that is served, bits. */
static uint32_t served_groups(const struct tqi_tournament *t, const uint64_t kinds[4])
{
	uint32_t served = 0;

	for (uint32_t groups = t->groups; groups; groups &= groups - 1) {
		uint32_t g = (uint32_t)__builtin_ctz(groups);

		served |= (uint32_t)(served_of(t, g, kinds) != 0) << g;
	}
	return served;
}

/*
 * Groups by their best ones: who serves half of the kinds looks at two or three.  One whose
 * best is served has the best of all that are left; one whose best is worse than what was
 * found has nothing better.
 */
static uint32_t best_served(const struct tqi_tournament *t, uint32_t order, const uint64_t kinds[4])
{
	uint32_t best = 0, groups = served_groups(t, kinds), first;

	while ((first = best_of_groups(t, order, groups)) &&
	       better(t, order, first, best) == first) {
		uint32_t g = first / GROUP, served = served_of(t, g, kinds);

		if (served >> (first % GROUP) & 1)
			return first;
		best = better(t, order, best, best_of_kinds(t, order, g, served));
		groups &= ~(1u << g);
	}
	return best;
}

uint32_t tqi_tournament_best(const struct tqi_tournament *t, uint32_t order,
			     const uint64_t kinds[4])
{
	uint32_t best = t->winner[order];

	if (!t->groups)
		return 0;
	if (!is_in(kinds, best))
		best = best_served(t, order, kinds);
	return best ? t->of[best] : 0;
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
	winner = winner / GROUP == group ? best_of_groups(t, order, t->groups)
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

static void set_head(struct tqi_tx *tx, struct tqi_tournament *t, uint32_t order, uint32_t kind,
		     const struct tqi_heap_entry *head)
{
	struct tqi_heap_entry *first = &t->first[order][kind];

	if (tqi_entry_is(head, first))
		return;
	TQI_SETS(tx, first, (key, head->key), (tag, head->tag));
	replay(tx, t, order, kind);
}

/* Who competes with these heads, by kind: a class, or a stream. */
static void follow(struct tqi_tx *tx, struct tqi_tournament *t, uint32_t kind,
		   const struct tqi_heap_entry *by_key, const struct tqi_heap_entry *by_age)
{
	kind %= TQI_TOURNAMENT_KINDS;
	set_ready(tx, t, kind, by_key->tag != 0);
	set_head(tx, t, TQI_BY_KEY, kind, by_key);
	if (t->orders == TQI_ORDERS)
		set_head(tx, t, TQI_BY_AGE, kind, by_age);
}

void tqi_tournament_follow(struct tqi_tx *tx, uint32_t c)
{
	const struct tqi_class *class = tqi_class_at(tx, c);
	struct tqi_tournament *t =
		tqi_tournament_at(tx, tqi_chain_of(tx, class)->tournaments, class->band);

	if (t && t->of[class->kind % TQI_TOURNAMENT_KINDS] == c)
		follow(tx, t, class->kind, tqi_class_head(class, TQI_BY_KEY),
		       tqi_class_head(class, TQI_BY_AGE));
}

/* Making. */

/* One without anybody; 0 no memory. */
static uint32_t take(struct tqi_tx *tx, uint32_t orders)
{
	uint64_t bytes = tqi_tournament_bytes(orders == TQI_ORDERS);
	uint32_t block = tqi_block_take(tx, bytes);

	if (!block)
		return 0;
	struct tqi_tournament *t = tqi_unit(tx, block);

	memset(t, 0, bytes);
	TQI_INIT(t->orders, (uint8_t)orders);
	return block;
}

/* That of a class's band, made where it is missing; NULL no memory. */
static struct tqi_tournament *band_of(struct tqi_tx *tx, uint32_t tournaments,
				      const struct tqi_class *class)
{
	struct tqi_tournaments *all = tqi_unit(tx, tournaments);
	uint32_t *at = &all->bands[class->band % TQ_BANDS];
	uint32_t block = *at ? *at : take(tx, tqi_class_orders(class));

	if (block != *at)
		TQI_SET(tx, *at, block);
	return block ? tqi_unit(tx, block) : NULL;
}

static void watch(struct tqi_tx *tx, struct tqi_class *class)
{
	if (!class->watched)
		TQI_SET(tx, class->watched, 1);
}

/* Plain stores into one that was taken in this transaction (TX-3). */
static void place(struct tqi_tournament *t, uint32_t k, uint32_t who,
		  const struct tqi_heap_entry *heads[TQI_ORDERS])
{
	uint32_t kind = k % TQI_TOURNAMENT_KINDS, group = kind / GROUP;

	TQI_INIT(t->of[kind], who);
	if (heads[0]->tag) {
		TQI_INIT(t->ready[group], (uint16_t)(t->ready[group] | 1u << (kind % GROUP)));
		TQI_INIT(t->groups, (uint16_t)(t->groups | 1u << group));
	}
	for (uint32_t o = 0; o < t->orders; o++)
		TQI_INIT(t->first[o][kind], *heads[o]);
}

static void play(struct tqi_tournament *t)
{
	for (uint32_t o = 0; o < t->orders; o++) {
		for (uint32_t g = 0; g < GROUPS; g++)
			TQI_INIT(t->best[o][g], (uint8_t)best_of_kinds(t, o, g, t->ready[g]));
		TQI_INIT(t->winner[o], (uint8_t)best_of_groups(t, o, t->groups));
	}
}

/* False: no memory. */
static bool place_all(struct tqi_tx *tx, const struct tqi_chain *chain)
{
	for (uint32_t c = chain->first, steps = 0; c;) {
		struct tqi_class *class = tqi_class_at(tx, c);
		struct tqi_tournament *t = band_of(tx, chain->tournaments, class);
		const struct tqi_heap_entry *heads[TQI_ORDERS] = {
			tqi_class_head(class, TQI_BY_KEY), tqi_class_head(class, TQI_BY_AGE)
		};

		if (!t)
			return false;
		place(t, class->kind, c, heads);
		watch(tx, class);
		c = tqi_class_next(tx, class, &steps);
	}
	for (uint32_t b = 0; b < TQ_BANDS; b++)
		if (tqi_tournament_at(tx, chain->tournaments, b))
			play(tqi_tournament_at(tx, chain->tournaments, b));
	return true;
}

static void drop(struct tqi_tx *tx, struct tqi_chain *chain)
{
	if (!chain->tournaments)
		return;
	const struct tqi_tournaments *all = tqi_unit(tx, chain->tournaments);

	for (uint32_t b = 0; b < TQ_BANDS; b++)
		if (all->bands[b])
			tqi_block_give(tx, all->bands[b]);
	tqi_block_give(tx, chain->tournaments);
	TQI_SET(tx, chain->tournaments, 0u);
}

void tqi_tournament_make(struct tqi_tx *tx, struct tqi_chain *chain)
{
	uint32_t block = chain->first && chain->left > TQI_CHAIN_SHORT
				 ? tqi_block_take(tx, sizeof(struct tqi_tournaments))
				 : 0;

	if (!block)
		return;
	memset(tqi_unit(tx, block), 0, sizeof(struct tqi_tournaments));
	TQI_SET(tx, chain->tournaments, block);
	if (!place_all(tx, chain))
		drop(tx, chain);
}

void tqi_tournament_join(struct tqi_tx *tx, uint32_t c)
{
	struct tqi_class *class = tqi_class_at(tx, c);
	struct tqi_chain *chain = tqi_chain_of(tx, class);

	if (tqi_root(tx)->flags & TQI_ROOT_REPAIR) /* all of them are made at its end */
		return;
	if (!chain->tournaments) {
		tqi_tournament_make(tx, chain);
		if (chain->left > TQI_CHAIN_SHORT)
			watch(tx, class); /* so that only few are left to whoever makes it later */
		return;
	}
	struct tqi_tournament *t = band_of(tx, chain->tournaments, class);

	if (!t) {
		drop(tx, chain);
		return;
	}
	watch(tx, class);
	TQI_SET(tx, t->of[class->kind % TQI_TOURNAMENT_KINDS], c);
}

void tqi_tournament_leave(struct tqi_tx *tx, const struct tqi_class *class)
{
	struct tqi_chain *chain = tqi_chain_of(tx, class);
	struct tqi_tournament *t = tqi_tournament_at(tx, chain->tournaments, class->band);

	if (chain->left <= 1)
		drop(tx, chain);
	else if (t)
		TQI_SET(tx, t->of[class->kind % TQI_TOURNAMENT_KINDS], 0u);
}

/* Contests. */

/* Whether a queue has so many streams. */
static bool has_many(struct tqi_tx *tx, const struct tqi_queue *queue)
{
	uint32_t n = 0;

	for (uint32_t s = queue->streams; s && n <= TQI_CHAIN_SHORT && !tx->corrupt; n++)
		s = tqi_stream_at(tx, s)->next;
	return n > TQI_CHAIN_SHORT;
}

void tqi_contest_make(struct tqi_tx *tx, struct tqi_queue *queue)
{
	uint32_t block = !queue->contest && has_many(tx, queue) ? take(tx, 1) : 0;

	if (!block)
		return;
	struct tqi_tournament *t = tqi_unit(tx, block);

	for (uint32_t s = queue->streams; s && !tx->corrupt;) {
		const struct tqi_stream *stream = tqi_stream_at(tx, s);
		const struct tqi_heap_entry *heads[TQI_ORDERS] = { tqi_stream_head(stream) };

		place(t, stream->kind, s, heads);
		s = stream->next;
	}
	play(t);
	TQI_SET(tx, queue->contest, block);
}

void tqi_contest_follow(struct tqi_tx *tx, const struct tqi_stream *stream)
{
	const struct tqi_queue *queue = tqi_queue_at(tx, stream->queue);
	uint32_t kind = stream->kind % TQI_TOURNAMENT_KINDS;

	if (!queue->contest)
		return;
	struct tqi_tournament *t = tqi_unit(tx, queue->contest);

	if (!t->of[kind]) /* it is younger */
		TQI_SET(tx, t->of[kind], tqi_stream_find(tx, queue, kind));
	follow(tx, t, kind, tqi_stream_head(stream), NULL);
}
