/* SPDX-License-Identifier: MIT */
/* Names that requests may be to. */
#include "host.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

bool host_name_ok(const char *name)
{
	const size_t bytes = strlen(name);

	return bytes > 0 && bytes < HOST_MAX &&
	       strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_") ==
		       bytes;
}

static bool is_port(const char *text)
{
	return *text == '\0' ||
	       (*text == ':' && strspn(text + 1, "0123456789") == strlen(text + 1));
}

/* The name alone; false when the header is not name and port. */
static bool read_name(const char *header, char name[HOST_MAX + 1])
{
	const bool is_v6 = *header == '[';
	const size_t bytes = strcspn(header + is_v6, is_v6 ? "]" : ":");
	const char *end = header + is_v6 + bytes;

	if (bytes == 0 || bytes > HOST_MAX || (is_v6 && *end != ']') || !is_port(end + is_v6))
		return false;
	snprintf(name, HOST_MAX + 1, "%.*s", (int)bytes, header + is_v6);
	return true;
}

static bool is_address(const char *name)
{
	unsigned char address[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1;
}

const char *host_of_target(const char *target, char authority[AUTHORITY_MAX])
{
	static const char scheme[] = "http://";

	if (strncasecmp(target, scheme, strlen(scheme)) != 0)
		return NULL;
	target += strlen(scheme);
	const size_t bytes = strcspn(target, "/");

	/* One that is cut has a longer name than any that is allowed. */
	snprintf(authority, AUTHORITY_MAX, "%.*s", (int)bytes, target);
	return target[bytes] ? target + bytes : "/";
}

bool host_is_allowed(const struct exporter *exporter, const char *header)
{
	const struct options *options = exporter->options;
	char name[HOST_MAX + 1];

	if (!header)
		return true;
	if (!read_name(header, name))
		return false;
	if (name[strlen(name) - 1] == '.')
		name[strlen(name) - 1] = '\0';
	if (is_address(name) || !strcasecmp(name, "localhost") ||
	    !strcasecmp(name, exporter->listen_name))
		return true;
	for (unsigned i = 0; i < options->host_count; i++)
		if (!strcasecmp(name, options->hosts[i]))
			return true;
	return false;
}
