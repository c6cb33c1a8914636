/* SPDX-License-Identifier: MIT */
/* The arguments of a request: which there may be, and what they are. */
#ifndef TASKQ_EXPORTER_QUERY_H
#define TASKQ_EXPORTER_QUERY_H

#include <stdbool.h>

#include "answer.h"

enum {
	ARGUMENT_MAX =
		256,	/* room for a value and its NUL: labels have at most TQ_LABEL_MAX bytes */
	PAGE_MAX = 1000	    /* rows of an answer */
};

/* One that a request may have. */
struct argument {
	const char *name; /* NULL behind the last */
	char value[ARGUMENT_MAX];
	bool is_given;
};

struct MHD_Connection;

/* Fills those that are given; false when there is another one, or one twice, or one that
 * is too long: @ret_answer then says so. */
bool query_read(struct MHD_Connection *connection, struct argument *arguments,
		struct answer *ret_answer);

/* Where a page begins and how many rows it has. */
struct page {
	uint64_t cursor;
	uint32_t limit;
};

/* Reads "limit" and "cursor", the first two of @arguments. */
bool query_page(const struct argument *arguments, uint32_t limit_default, struct page *ret_page,
		struct answer *ret_answer);

/* False: the value of @argument is wrong, @form is accepted. */
bool query_refuse(const struct argument *argument, const char *form, struct answer *ret_answer);

#endif
