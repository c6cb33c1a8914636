/* SPDX-License-Identifier: MIT */
/* The first of very many in an order, in memory for so many only. */
#include "picks.h"

#include <stdlib.h>
#include <string.h>

enum {
	ROOM_LEAST = 256
};

static int compare_texts(const struct picks *picks, const char *a, const char *b)
{
	if (!a || !b)
		return (a == NULL) - (b == NULL);
	return picks->reverse ? strverscmp(b, a) : strverscmp(a, b);
}

int picks_compare(const struct picks *picks, const struct pick *a, const struct pick *b)
{
	const int order = picks->by_text ? compare_texts(picks, a->text, b->text)
					 : rank_compare(&a->rank, &b->rank);

	return order ? order : (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

static void drop(const struct picks *picks, struct pick *pick)
{
	if (picks->by_text)
		free(pick->text);
}

static void sink(const struct picks *picks, uint32_t count)
{
	struct pick *heap = picks->all;
	const struct pick pick = heap[0];
	uint32_t at = 0;

	for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
		if (child + 1 < count && picks_compare(picks, &heap[child + 1], &heap[child]) > 0)
			child++;
		if (picks_compare(picks, &heap[child], &pick) <= 0)
			break;
		heap[at] = heap[child];
	}
	heap[at] = pick;
}

static void rise(const struct picks *picks, uint32_t at)
{
	struct pick *heap = picks->all;
	const struct pick pick = heap[at];

	for (uint32_t parent; at > 0; at = parent) {
		parent = (at - 1) / 2;
		if (picks_compare(picks, &heap[parent], &pick) >= 0)
			break;
		heap[at] = heap[parent];
	}
	heap[at] = pick;
}

static bool make_room(struct picks *picks)
{
	const uint32_t room = picks->room ? 2 * picks->room : ROOM_LEAST;

	if (picks->count < picks->room)
		return true;
	struct pick *all = reallocarray(picks->all, room, sizeof(*all));

	if (!all)
		return false;
	picks->all = all;
	picks->room = room;
	return true;
}

bool picks_take(struct picks *picks, struct pick pick)
{
	if (picks->has_floor && picks_compare(picks, &pick, &picks->floor) <= 0) {
		drop(picks, &pick);
	} else if (picks->count < picks->most) {
		if (!make_room(picks)) {
			drop(picks, &pick);
			return false;
		}
		picks->all[picks->count] = pick;
		rise(picks, picks->count++);
	} else {
		picks->is_more = true;
		if (picks_compare(picks, &pick, &picks->all[0]) < 0) {
			const struct pick last = picks->all[0];

			picks->all[0] = pick;
			pick = last;
			sink(picks, picks->count);
		}
		drop(picks, &pick);
	}
	return true;
}

/* In place: qsort() may take as much memory again. */
void picks_sort(struct picks *picks)
{
	for (uint32_t left = picks->count; left > 1; left--) {
		const struct pick last = picks->all[0];

		picks->all[0] = picks->all[left - 1];
		sink(picks, left - 1);
		picks->all[left - 1] = last;
	}
}

void picks_clear(struct picks *picks)
{
	for (uint32_t i = 0; i < picks->count; i++)
		drop(picks, &picks->all[i]);
	if (picks->has_floor)
		drop(picks, &picks->floor);
	picks->count = 0;
	picks->is_more = picks->has_floor = false;
}

bool picks_go_on(struct picks *picks)
{
	const bool is_more = picks->is_more;

	if (!is_more || !picks->count)
		return false;
	const struct pick floor = picks->all[--picks->count];

	picks_clear(picks);
	picks->floor = floor;
	picks->has_floor = true;
	return true;
}

void picks_free(struct picks *picks)
{
	picks_clear(picks);
	free(picks->all);
	*picks = (struct picks){ 0 };
}
