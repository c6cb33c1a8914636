/* SPDX-License-Identifier: MIT */
/* Servers of queues, as observers see them. */
#ifndef TQI_CLIENT_OBSERVE_SERVER_INFO_H
#define TQI_CLIENT_OBSERVE_SERVER_INFO_H

#include "client/observe/snapshot.h"

/* The attempt that has been under way for longest at a server, or at any of a queue. */
struct tqi_holder {
	uint32_t server; /* 0 any */
	uint32_t queue;
	uint64_t task; /* id; 0 none */
	uint64_t since_ns;
	uint32_t worker;
};
/* For each of them, in one pass over all attempts. */
void tqi_find_holders(const struct tqi_segment *seg, struct tqi_holder *holders, uint32_t count);

/* The server of a task's attempt under way, or of its last one (SV-7); "" none, or not known. */
void tqi_peek_server_of(const struct tqi_segment *seg, const struct tqi_task *task,
			char name[TQ_SERVER_MAX + 1]);

#endif
