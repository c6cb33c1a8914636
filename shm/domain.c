/* SPDX-License-Identifier: MIT */
/* Sleepers by what stops together, and who of them are the keepers. */
#include "shm/domain.h"

#include "shm/list.h"
#include "shm/lock.h"

#define SHARED_LOOKS 16 /* slots of a list looked at for another domain: some 200 ns */

TQI_LINKS(links_of, tqi_waiter_at, tqi_waiter, domain_older, domain_newer)

static inline struct tqi_list list_of(struct tqi_tx *tx, uint32_t list)
{
	struct tqi_waiter_list *of = &tx->core->waiter_domains[list];

	return (struct tqi_list){ links_of, &of->oldest, &of->newest };
}

uint32_t tqi_waiter_keeper(struct tqi_tx *tx, uint32_t w)
{
	uint32_t place = 0;

	while (place < TQI_KEEPERS && tx->core->waiter_keepers[place] != w)
		place++;
	return place;
}

static uint32_t domain_of(struct tqi_tx *tx, uint32_t w)
{
	return tqi_waiter_at(tx, w)->domain;
}

/* Whether a keeper at another place is of this domain. */
static bool is_kept(struct tqi_tx *tx, uint32_t domain, uint32_t but)
{
	for (uint32_t i = 0; i < TQI_KEEPERS; i++) {
		uint32_t w = tx->core->waiter_keepers[i];

		if (i != but && w && domain_of(tx, w) == domain)
			return true;
	}
	return false;
}

/* The last place of two with keepers of one domain; TQI_KEEPERS there is none. */
static uint32_t spare_place(struct tqi_tx *tx)
{
	for (uint32_t i = TQI_KEEPERS - 1; i > 0; i--)
		if (is_kept(tx, domain_of(tx, tx->core->waiter_keepers[i]), i))
			return i;
	return TQI_KEEPERS;
}

static void keeper_enter(struct tqi_tx *tx, uint32_t w)
{
	uint32_t place = tqi_waiter_keeper(tx, 0);

	if (place == TQI_KEEPERS && !is_kept(tx, domain_of(tx, w), TQI_KEEPERS))
		place = spare_place(tx);
	if (place < TQI_KEEPERS)
		TQI_SET(tx, tx->core->waiter_keepers[place], w);
}

/* The first on a list without a keeper, leaving out the one at `place`; 0 none. */
static uint32_t first_elsewhere(struct tqi_tx *tx, uint32_t place)
{
	uint64_t kept[TQI_DOMAIN_LISTS / 64] = { 0 };

	for (uint32_t i = 0; i < TQI_KEEPERS; i++) {
		uint32_t w = i == place ? 0 : tx->core->waiter_keepers[i];
		uint32_t list = tqi_domain_list(w ? domain_of(tx, w) : 0);

		if (w)
			kept[list / 64] |= 1ull << list % 64;
	}
	for (uint32_t i = 0; i < TQI_DOMAIN_LISTS / 64; i++) {
		uint64_t others = tx->core->waiter_domains_in_use[i] & ~kept[i];

		if (others)
			return tx->core->waiter_domains[i * 64 + (uint32_t)__builtin_ctzll(others)]
				.oldest;
	}
	return 0;
}

/* Of one list: the first that is of another domain than the keepers, else the first. */
static uint32_t first_beside(struct tqi_tx *tx, uint32_t list, uint32_t place)
{
	uint32_t w = tx->core->waiter_domains[list].oldest, first = 0;

	for (uint32_t i = 0; i < SHARED_LOOKS && w; i++) {
		if (tqi_waiter_keeper(tx, w) == TQI_KEEPERS) {
			if (!is_kept(tx, domain_of(tx, w), place))
				return w;
			first = first ? first : w;
		}
		w = tqi_waiter_at(tx, w)->domain_newer;
	}
	return first;
}

/* Who follows the keeper at this place; all other lists have keepers. */
static uint32_t first_of_kept(struct tqi_tx *tx, uint32_t place)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < TQI_KEEPERS; i++) {
		uint32_t w = i == place ? 0 : tx->core->waiter_keepers[i];
		uint32_t next = w ? first_beside(tx, tqi_domain_list(domain_of(tx, w)), place) : 0;

		if (next && !is_kept(tx, domain_of(tx, next), place))
			return next;
		first = first ? first : next;
	}
	return first;
}

static void keeper_leave(struct tqi_tx *tx, uint32_t w)
{
	uint32_t place = tqi_waiter_keeper(tx, w);

	if (place == TQI_KEEPERS)
		return;
	uint32_t next = first_elsewhere(tx, place);

	TQI_SET(tx, tx->core->waiter_keepers[place], next ? next : first_of_kept(tx, place));
}

void tqi_domain_enter(struct tqi_tx *tx, uint32_t w)
{
	uint32_t list = tqi_domain_list(domain_of(tx, w));
	uint64_t *in_use = &tx->core->waiter_domains_in_use[list / 64], bit = 1ull << list % 64;

	tqi_list_append(tx, list_of(tx, list), w);
	if (!(*in_use & bit))
		TQI_SET(tx, *in_use, *in_use | bit);
	keeper_enter(tx, w);
}

void tqi_domain_leave(struct tqi_tx *tx, uint32_t w)
{
	uint32_t list = tqi_domain_list(domain_of(tx, w));
	uint64_t *in_use = &tx->core->waiter_domains_in_use[list / 64], bit = 1ull << list % 64;

	tqi_list_remove(tx, list_of(tx, list), w);
	if (!tx->core->waiter_domains[list].oldest)
		TQI_SET(tx, *in_use, *in_use & ~bit);
	keeper_leave(tx, w);
}

bool tqi_stalls_have(const struct tqi_stalls *stalls, uint32_t domain)
{
	for (uint32_t i = 0; i < stalls->count; i++)
		if (stalls->domains[i] == domain)
			return true;
	return false;
}

static bool is_stalled(struct tqi_tx *tx, const struct tqi_waiter *s)
{
	return tx->now_ns - s->popped_ns > TQI_STALL_NS;
}

void tqi_stalls_find(struct tqi_tx *tx, struct tqi_stalls *ret_stalls)
{
	uint32_t w = tx->core->waiter_transit.oldest;

	ret_stalls->count = 0;
	for (uint32_t i = 0; i < TQI_STALL_LOOKS && w && ret_stalls->count < TQI_STALLS; i++) {
		const struct tqi_waiter *s = tqi_waiter_at(tx, w);

		if (!is_stalled(tx, s))
			return;
		if (!tqi_mutex_owner_died(&s->mutex) && !tqi_stalls_have(ret_stalls, s->domain))
			ret_stalls->domains[ret_stalls->count++] = s->domain;
		w = s->list_newer;
	}
}

/* The first popped come first; behind TQI_STALL_LOOKS of them that stall nobody is believed in. */
uint32_t tqi_waiter_cover(struct tqi_tx *tx)
{
	uint32_t w = tx->core->waiter_transit.oldest, coming = tx->core->waiter_coming;

	for (uint32_t i = 0; w && coming; i++) {
		const struct tqi_waiter *s = tqi_waiter_at(tx, w);

		if (!is_stalled(tx, s))
			return coming;
		if (i == TQI_STALL_LOOKS)
			return 0;
		coming -= s->interest == TQI_WAITER_FOR_WORK;
		w = s->list_newer;
	}
	return coming;
}
