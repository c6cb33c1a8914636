/* SPDX-License-Identifier: MIT */
/* The HTTP server. */
#ifndef TASKQ_EXPORTER_SERVER_H
#define TASKQ_EXPORTER_SERVER_H

#include "connections.h"
#include "exporter.h"

struct server {
	struct exporter exporter;
	struct connections connections;
	struct MHD_Daemon *daemon;
};

/* Answers what comes to @fd, in threads of its own; false: no memory or no threads. */
bool server_start(struct server *server, int fd);
/* Takes the descriptor along. */
void server_stop(struct server *server);

#endif
