/* SPDX-License-Identifier: MIT */
/* What stands in a cell of a table. */
#include "draw.h"
#include "field.h"

void field_text(struct field *field, enum role role, const char *text)
{
	snprintf(field->text, sizeof(field->text), "%s", text);
	field->role = role;
}

void field_count(struct field *field, enum role role, uint64_t count)
{
	char text[FORMAT_MAX];

	field_text(field, count ? role : ROLE_DIM, format_count(count, text));
}

void field_rate(struct field *field, enum role role, double per_second)
{
	char text[FORMAT_MAX];

	field_text(field, per_second > 0 ? role : ROLE_DIM, format_rate(per_second, text));
}

void field_duration(struct field *field, enum role role, uint64_t ns)
{
	char text[FORMAT_MAX];

	field_text(field, ns ? role : ROLE_DIM, ns ? format_duration(ns, text) : "-");
}
