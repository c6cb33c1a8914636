/* SPDX-License-Identifier: MIT */
/*
 * Connections, and for how long each has been without a request that was answered.  A
 * client that sends a byte now and then would keep one for ever; it is cut off.
 */
#ifndef TASKQ_EXPORTER_CONNECTIONS_H
#define TASKQ_EXPORTER_CONNECTIONS_H

#include <microhttpd.h>
#include <pthread.h>

struct connection;

struct connections {
	pthread_mutex_t mutex;
	struct connection *first;
};

/* Of MHD_OPTION_NOTIFY_CONNECTION and MHD_OPTION_NOTIFY_COMPLETED; @connections is a
 * struct connections. */
void connections_note(void *connections, struct MHD_Connection *connection, void **context,
		      enum MHD_ConnectionNotificationCode code);
void connections_answered(void *connections, struct MHD_Connection *connection, void **request,
			  enum MHD_RequestTerminationCode code);

/* To be called every second or so. */
void connections_cut(struct connections *connections);

#endif
