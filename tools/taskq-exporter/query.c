/* SPDX-License-Identifier: MIT */
/* The arguments of a request. */
#include "query.h"

#include <microhttpd.h>
#include <stdio.h>
#include <string.h>

#include "parse.h"

struct reading {
	struct argument *arguments;
	struct answer *answer;
	bool is_wrong;
};

static enum MHD_Result wrong(struct reading *r, const char *name, const char *what)
{
	if (!r->is_wrong)
		*r->answer = answer_error(MHD_HTTP_BAD_REQUEST, NULL, "argument \"%.64s\": %s",
					  name, what);
	r->is_wrong = true;
	return MHD_NO;
}

static enum MHD_Result take(void *ctx, enum MHD_ValueKind kind, const char *name, size_t name_bytes,
			    const char *value, size_t bytes)
{
	struct reading *r = ctx;
	struct argument *to = r->arguments;

	(void)kind;
	if (strlen(name) != name_bytes)
		return wrong(r, name, "its name has a NUL in it");
	while (to->name && strcmp(to->name, name) != 0)
		to++;
	if (!to->name)
		return wrong(r, name, "there is none of that name here");
	if (to->is_given)
		return wrong(r, name, "it is given twice");
	if (!value || !bytes)
		return wrong(r, name, "it has no value");
	if (bytes >= sizeof(to->value) || strlen(value) != bytes)
		return wrong(r, name, "its value is too long, or has a NUL in it");
	memcpy(to->value, value, bytes + 1);
	to->is_given = true;
	return MHD_YES;
}

bool query_read(struct MHD_Connection *connection, struct argument *arguments,
		struct answer *ret_answer)
{
	struct reading reading = { arguments, ret_answer, false };

	MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, take, &reading);
	return !reading.is_wrong;
}

bool query_refuse(const struct argument *argument, const char *form, struct answer *ret_answer)
{
	char hint[300];

	snprintf(hint, sizeof(hint), "give %s", form);
	*ret_answer = answer_error(MHD_HTTP_BAD_REQUEST, hint,
				   "argument \"%s\": \"%.80s\" is not accepted", argument->name,
				   argument->value);
	return false;
}

bool query_page(const struct argument *arguments, uint32_t limit_default, struct page *ret_page,
		struct answer *ret_answer)
{
	const struct argument *limit = &arguments[0], *cursor = &arguments[1];
	uint64_t value = limit_default;

	*ret_page = (struct page){ 0 };
	if (limit->is_given &&
	    (parse_count(limit->value, &value) < 0 || value == 0 || value > PAGE_MAX))
		return query_refuse(limit, "a whole number from 1 to 1000", ret_answer);
	if (cursor->is_given && parse_count(cursor->value, &ret_page->cursor) < 0)
		return query_refuse(cursor, "what an answer before had as \"next\"", ret_answer);
	ret_page->limit = (uint32_t)value;
	return true;
}
