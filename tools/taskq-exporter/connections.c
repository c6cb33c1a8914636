/* SPDX-License-Identifier: MIT */
/* Connections, and for how long each has been without a request that was answered. */
#include "connections.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "format.h"

/* From the first byte to the last of the answer, and to the next request. */
#define REQUEST_NS 30000000000ull

struct connection {
	struct connection *next, **link;
	int fd;
	uint64_t since_ns;
};

static void begin(struct connections *connections, struct MHD_Connection *of, void **context)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(of, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct connection *connection = info ? malloc(sizeof(*connection)) : NULL;

	*context = connection;
	if (!connection)
		return; /* the time-out of the library is all that is left */
	connection->fd = info->connect_fd;
	connection->since_ns = clocks_read().now_ns;
	connection->next = connections->first;
	connection->link = &connections->first;
	if (connection->next)
		connection->next->link = &connection->next;
	connections->first = connection;
}

static void end(struct connection *connection)
{
	if (!connection)
		return;
	*connection->link = connection->next;
	if (connection->next)
		connection->next->link = connection->link;
	free(connection);
}

void connections_note(void *arg, struct MHD_Connection *of, void **context,
		      enum MHD_ConnectionNotificationCode code)
{
	struct connections *connections = arg;

	pthread_mutex_lock(&connections->mutex);
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		begin(connections, of, context);
	} else {
		end(*context);
		*context = NULL;
	}
	pthread_mutex_unlock(&connections->mutex);
}

void connections_answered(void *arg, struct MHD_Connection *of, void **request,
			  enum MHD_RequestTerminationCode code)
{
	struct connections *connections = arg;
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(of, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct connection *connection = info ? info->socket_context : NULL;

	(void)request;
	(void)code;
	pthread_mutex_lock(&connections->mutex);
	if (connection)
		connection->since_ns = clocks_read().now_ns;
	pthread_mutex_unlock(&connections->mutex);
}

/* The descriptor is closed after connections_note(), so it is still that connection's. */
void connections_cut(struct connections *connections)
{
	const uint64_t now_ns = clocks_read().now_ns;

	pthread_mutex_lock(&connections->mutex);
	for (const struct connection *c = connections->first; c; c = c->next)
		if (now_ns - c->since_ns > REQUEST_NS)
			shutdown(c->fd, SHUT_RDWR);
	pthread_mutex_unlock(&connections->mutex);
}
