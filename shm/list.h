/* SPDX-License-Identifier: MIT */
/*
 * Doubly linked lists of records, journalled: 0 ends them on either side.
 *
 * A member has two words next to each other, its neighbours: prev, then next.  Where they
 * are says a function that is a constant wherever a list is used, so all of this costs what
 * it would written out.
 */
#ifndef TQI_SHM_LIST_H
#define TQI_SHM_LIST_H

#include "shm/tx.h"

typedef uint32_t *tqi_links_of(struct tqi_tx *tx, uint32_t record);

struct tqi_list {
	tqi_links_of *links;
	uint32_t *first;
	uint32_t *last; /* NULL: nobody keeps it */
};

/* Such a function, of the word before `next` in what `at` resolves. */
#define TQI_LINKS(name, at, type, prev, next)                                                      \
	static inline uint32_t *name(struct tqi_tx *tx, uint32_t record)                           \
	{                                                                                          \
		_Static_assert(offsetof(struct type, next) ==                                      \
				       offsetof(struct type, prev) + sizeof(uint32_t),             \
			       "prev, then next");                                                 \
		return &at(tx, record)->prev;                                                      \
	}

/* What follows `prev` and what is before `next`; with 0 for one, that end of the list. */
TQI_TWICE void tqi_list_set(struct tqi_tx *tx, struct tqi_list list, uint32_t prev, uint32_t after,
			    uint32_t next, uint32_t before)
{
	if (prev)
		TQI_SET(tx, list.links(tx, prev)[1], after);
	else
		TQI_SET(tx, *list.first, after);
	if (next)
		TQI_SET(tx, list.links(tx, next)[0], before);
	else if (list.last)
		TQI_SET(tx, *list.last, before);
}

/* Take a member out; its own words stay as they are. */
TQI_TWICE void tqi_list_remove(struct tqi_tx *tx, struct tqi_list list, uint32_t record)
{
	const uint32_t *own = list.links(tx, record), prev = own[0], next = own[1];

	tqi_list_set(tx, list, prev, next, next, prev);
}

/* Put one between two neighbours. */
TQI_TWICE void tqi_list_put(struct tqi_tx *tx, struct tqi_list list, uint32_t record, uint32_t prev,
			    uint32_t next)
{
	uint32_t *own = list.links(tx, record);

	TQI_SET(tx, own[0], prev);
	TQI_SET(tx, own[1], next);
	tqi_list_set(tx, list, prev, record, next, record);
}

/* As the first, or as the last. */
TQI_TWICE void tqi_list_push(struct tqi_tx *tx, struct tqi_list list, uint32_t record)
{
	tqi_list_put(tx, list, record, 0, *list.first);
}
TQI_TWICE void tqi_list_append(struct tqi_tx *tx, struct tqi_list list, uint32_t record)
{
	tqi_list_put(tx, list, record, *list.last, 0);
}

#endif
