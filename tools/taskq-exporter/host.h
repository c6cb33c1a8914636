/* SPDX-License-Identifier: MIT */
/*
 * Names that requests may be to.  A page of some other site can make a browser here ask
 * us, when it has its own name resolve to our address (DNS rebinding); but then the
 * request has that name in it.
 */
#ifndef TASKQ_EXPORTER_HOST_H
#define TASKQ_EXPORTER_HOST_H

#include <stdbool.h>

#include "exporter.h"

bool host_name_ok(const char *name);

/* Whether a request may have this Host header: addresses, localhost, the name that we
 * listen at, and those of --allow-host.  NULL, of HTTP/1.0, may be; no browser does that. */
bool host_is_allowed(const struct exporter *exporter, const char *header);

enum {
	HOST_MAX = 254,	     /* bytes of a name, with a dot at its end */
	AUTHORITY_MAX = 320, /* of a name and a port */
};

/*
 * What a request is to, when it says so before its path: "http://localhost:8275/healthz".
 * Puts "localhost:8275" to @authority and returns the path; NULL it has no such beginning.
 */
const char *host_of_target(const char *target, char authority[AUTHORITY_MAX]);

#endif
