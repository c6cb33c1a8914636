/* SPDX-License-Identifier: MIT */
/* The first of very many in an order, in memory for so many only. */
#ifndef TASKQ_TOOL_PICKS_H
#define TASKQ_TOOL_PICKS_H

#include <stdbool.h>
#include <stdint.h>

#include "rank.h"

struct pick {
	union {
		struct rank rank;
		char *text; /* where picks go by texts: allocated; NULL stands behind all others */
	};
	uint64_t sequence; /* decides between equal ones */
	uint64_t id;
};

struct picks {
	struct pick *all; /* the last of them first; in order after picks_sort() */
	uint32_t count;
	uint32_t most;	  /* so many are kept */
	uint32_t room;	  /* and so many have memory */
	bool by_text;	  /* numbers inside of them by their values */
	bool reverse;	  /* of texts; ranks and sequences come reversed */
	bool is_more;	  /* some that come behind these were refused */
	bool has_floor;	  /* those up to .floor are refused without a trace */
	struct pick floor;
};

/* Below, at or above 0, as for qsort(). */
int picks_compare(const struct picks *picks, const struct pick *a, const struct pick *b);

/* Keeps it, and its text, if it is among the first; false: no memory. */
bool picks_take(struct picks *picks, struct pick pick);

void picks_sort(struct picks *picks);

/* After picks_sort(): forgets them, and begins behind the last of them.  False: there was
 * none behind. */
bool picks_go_on(struct picks *picks);

/* Forgets all, but not how they are to be picked. */
void picks_clear(struct picks *picks);

/* The same, and frees what they own. */
void picks_free(struct picks *picks);

#endif
