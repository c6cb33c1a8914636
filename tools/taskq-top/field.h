/* SPDX-License-Identifier: MIT */
/* What stands in a cell of a table. */
#ifndef TASKQ_TOP_FIELD_H
#define TASKQ_TOP_FIELD_H

#include "table_view.h"

void field_text(struct field *field, enum role role, const char *text);
/* What is zero is of no interest: dim, others in `role`. */
void field_count(struct field *field, enum role role, uint64_t count);
void field_rate(struct field *field, enum role role, double per_second);
void field_duration(struct field *field, enum role role, uint64_t ns); /* 0: "-" */

/* A column whose figure is an expression of `row`: how it is ranked, and how shown. */
#define RANK_COLUMN(name, expression)                                                              \
	static struct rank rank_##name(const struct model *model, const void *row)                 \
	{                                                                                          \
		(void)model;                                                                       \
		return rank_of_number(expression);                                                 \
	}

#define NUMBER_COLUMN(name, role, expression)                                                      \
	RANK_COLUMN(name, expression)                                                              \
	static void put_##name(const struct model *model, const void *row, struct field *field)    \
	{                                                                                          \
		(void)model;                                                                       \
		field_count(field, role, expression);                                              \
	}

/* The same of a figure per second. */
#define RATE_COLUMN(name, role, expression)                                                        \
	static void put_##name(const struct model *model, const void *row, struct field *field)    \
	{                                                                                          \
		if (!model->has_rates) { /* the first look knows none */                          \
			field_text(field, ROLE_DIM, "-");                                         \
			return;                                                                   \
		}                                                                                  \
		field_rate(field, role, expression);                                               \
	}                                                                                          \
	static struct rank rank_##name(const struct model *model, const void *row)                 \
	{                                                                                          \
		(void)model;                                                                       \
		return rank_of_real(expression);                                                   \
	}

/* The same of a text. */
#define TEXT_RANK(name, expression)                                                                \
	static struct rank rank_##name(const struct model *model, const void *row)                 \
	{                                                                                          \
		(void)model;                                                                       \
		return rank_of_text(expression);                                                   \
	}

#endif
