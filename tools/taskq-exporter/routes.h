/* SPDX-License-Identifier: MIT */
/* Which path is answered by whom. */
#ifndef TASKQ_EXPORTER_ROUTES_H
#define TASKQ_EXPORTER_ROUTES_H

#include "api.h"

struct answer route(const struct request *request);

/* An error, as JSON below /api and as text elsewhere. */
struct answer route_error(const char *path, unsigned status, const char *hint, const char *error);

#endif
