/* SPDX-License-Identifier: MIT */
/* Which format of metrics a client wants: an Accept header, as far as that is asked. */
#include "accept.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	HEADER_MAX = 1024,
	PARTS_MAX = 32
};

/* The next part of a text that is split at @mark, without blanks around it. */
static char *part(char **rest, const char *mark)
{
	char *begin = strsep(rest, mark);

	if (!begin)
		return NULL;
	begin += strspn(begin, " \t");
	for (size_t end = strlen(begin); end > 0 && strchr(" \t", begin[end - 1]); end--)
		begin[end - 1] = '\0';
	return begin;
}

/* From 0 to 1; 0 also for a version that is not ours. */
static double weight_of(char *parameters, const char *version)
{
	double weight = 1;
	char *parameter;

	while ((parameter = part(&parameters, ";"))) {
		if (!strncasecmp(parameter, "q=", 2))
			weight = strtod(parameter + 2, NULL);
		else if (!strncasecmp(parameter, "version=", 8) &&
			 strcmp(parameter + 8, version) != 0)
			return 0;
	}
	return weight;
}

enum metrics_form accept_metrics(const char *header)
{
	double open = 0, text = 0, weight;
	char copy[HEADER_MAX], *rest = copy, *range;

	if (!header || strlen(header) >= sizeof(copy))
		return METRICS_TEXT;
	memcpy(copy, header, strlen(header) + 1);
	for (unsigned i = 0; i < PARTS_MAX && (range = part(&rest, ",")); i++) {
		const char *type = part(&range, ";");

		if (!strcasecmp(type, "application/openmetrics-text")) {
			weight = weight_of(range, "1.0.0");
			open = weight > open ? weight : open;
		} else if (!strcasecmp(type, "text/plain")) {
			weight = weight_of(range, "0.0.4");
			text = weight > text ? weight : text;
		}
	}
	return open > 0 && open >= text ? METRICS_OPEN : METRICS_TEXT;
}
