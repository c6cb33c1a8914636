/* SPDX-License-Identifier: MIT */
/* Which path is answered by whom. */
#include "routes.h"

#include <microhttpd.h>
#include <string.h>

#include "accept.h"
#include "page.h"
#include "watch.h"

#define API "/api/"
#define TASK "/api/tasks/"

static struct answer metrics(const struct request *request)
{
	const char *accept = MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND,
							 MHD_HTTP_HEADER_ACCEPT);

	return watch_metrics(request->exporter->watch, accept_metrics(accept));
}

static struct answer health(const struct request *request)
{
	return watch_health(request->exporter->watch);
}

static struct answer overview(const struct request *request)
{
	return watch_overview(request->exporter->watch);
}

static const struct {
	const char *path;
	answer_fn *answer;
} routes[] = {
	{ "/", page_answer },
	{ "/metrics", metrics },
	{ "/healthz", health },
	{ "/api/overview", overview },
	{ "/api/queues", api_queues },
	{ "/api/tasks", api_tasks },
	{ "/api/workers", api_workers },
	{ "/api/limits", api_limits },
	{ "/api/groups", api_groups },
	{ "/api/schedules", api_schedules },
};

struct answer route_error(const char *path, unsigned status, const char *hint, const char *error)
{
	if (!strncmp(path, API, strlen(API)))
		return answer_error(status, hint, "%s", error);
	return answer_text(status, "%s\n%s", error, hint);
}

struct answer route(const struct request *request)
{
	for (unsigned i = 0; i < sizeof(routes) / sizeof(routes[0]); i++)
		if (!strcmp(request->path, routes[i].path))
			return routes[i].answer(request);
	if (!strncmp(request->path, TASK, strlen(TASK)))
		return api_task(request);
	return route_error(request->path, MHD_HTTP_NOT_FOUND,
			   "there are /, /metrics, /healthz, /api/overview, /api/queues, "
			   "/api/tasks, /api/tasks/ID, /api/tasks/ID/why, "
			   "/api/tasks/ID/output, /api/workers, /api/limits, /api/groups and "
			   "/api/schedules",
			   "there is nothing of that name");
}
