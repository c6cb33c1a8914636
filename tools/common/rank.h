/* SPDX-License-Identifier: MIT */
/* Where a row stands in an order, as numbers: smaller ones come first. */
#ifndef TASKQ_TOOL_RANK_H
#define TASKQ_TOOL_RANK_H

#include <stdbool.h>
#include <stdint.h>

enum {
	FILTER_MAX = 128
};

struct rank {
	uint64_t major, minor;
};

struct rank rank_of_number(uint64_t number);
struct rank rank_of_signed(int64_t number);
struct rank rank_of_real(double number);    /* from 0 on, thousandths count */
struct rank rank_of_text(const char *text); /* its first 16 bytes, whatever their case */
struct rank rank_reverse(struct rank rank);

/* Below, at or above 0, as for qsort(). */
int rank_compare(const struct rank *a, const struct rank *b);

/* Whether each of the words in @filter is somewhere in one of the texts, in any case. */
bool words_match(const char *filter, const char *const *texts, unsigned count);

#endif
