/* SPDX-License-Identifier: MIT */
/* A task as it is submitted, for the core and for the model. */
#ifndef TQT_SUBMISSION_H
#define TQT_SUBMISSION_H

#include "scheduler/task/submit.h"
#include "tests/property/world.h"

#define BIG_MAX 150000

struct submission {
	struct model_submit model;
	struct tqi_submit core;
	uint32_t by; /* running task that hands it in; 0 none */
	uint64_t id;
	unsigned char payload[BIG_MAX];
	char label[TQ_LABEL_MAX + 1];
	char unique[8];
	struct chosen_limits limits;
	char tenant[8];
};

/* Of payloads up to so many bytes; and what its spec's pointers point to. */
void submission_choose(struct world *w, struct submission *s, uint32_t payload_max);
void submission_point(struct submission *s);
/* The core submits it by this operation, which sets `id`; what it answered. */
int submission_do(struct world *w, struct submission *s, core_op *core, void *arg);

#endif
