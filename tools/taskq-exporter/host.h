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

#endif
