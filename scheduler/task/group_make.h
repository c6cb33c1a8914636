/* SPDX-License-Identifier: MIT */
/* Groups and graphs come to be, each with its completion task. */
#ifndef TQI_SCHEDULER_TASK_GROUP_MAKE_H
#define TQI_SCHEDULER_TASK_GROUP_MAKE_H

#include "scheduler/graph/group.h"
#include "scheduler/task/submit.h"

/* A group to be made. */
struct tqi_group_request {
	const struct tqi_ident *owner; /* NULL nobody: it is open until it is sealed */
	const char *label;	       /* or NULL */
	uint32_t condition;	       /* enum tq_group_condition, of the completion task */
	bool building;		       /* a graph */
	struct tqi_submit *completion; /* of a group; NULL none */
};
/* 0; TQ_ESHUTDOWN; TQ_EFULL; -ENOMEM; as tqi_submit().  After an error the transaction must be aborted. */
int tqi_group_make(struct tqi_tx *tx, const struct tqi_group_request *request, uint64_t *ret_id,
		   uint64_t *ret_completion);
/* All members of a graph come to be, and its completion task (NULL none). */
int tqi_graph_publish(struct tqi_tx *tx, uint64_t id, struct tqi_submit *completion,
		      uint64_t *ret_completion);

#endif
