/* SPDX-License-Identifier: MIT */
/* Payloads: commands into them, and whole ones out of the segment. */
#include <errno.h>
#include <stdlib.h>

#include <taskq/taskq.h>

#include "payload.h"

int payload_read(struct tq *tq, uint64_t id, void **ret_payload, uint64_t *ret_bytes)
{
	uint64_t bytes = 0, room;
	char *payload = NULL;
	int r = tq_task_payload(tq, id, NULL, 0, &bytes);

	if (r < 0)
		return r;
	room = bytes;
	payload = malloc(room + 1);
	if (!payload)
		return -ENOMEM;
	r = tq_task_payload(tq, id, payload, room, &bytes);
	if (r < 0 || bytes > room) {
		free(payload);
		return r < 0 ? r : TQ_ECORRUPT; /* payloads do not change */
	}
	payload[bytes] = '\0';
	*ret_payload = payload;
	*ret_bytes = bytes;
	return 0;
}

int command_encode(const struct tq_exec *exec, void **ret_payload, uint64_t *ret_bytes)
{
	uint64_t bytes = 0;
	void *payload;
	int r = tq_exec_encode(exec, NULL, 0, &bytes);

	if (r < 0 && r != -ENOBUFS)
		return r;
	payload = malloc(bytes);
	if (!payload)
		return -ENOMEM;
	r = tq_exec_encode(exec, payload, bytes, &bytes);
	if (r < 0) {
		free(payload);
		return r;
	}
	*ret_payload = payload;
	*ret_bytes = bytes;
	return 0;
}
