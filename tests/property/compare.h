/* SPDX-License-Identifier: MIT */
/* Core and model side by side. */
#ifndef TQT_COMPARE_H
#define TQT_COMPARE_H

#include "tests/property/model.h"
#include "tests/support/box.h"

struct comparison {
	struct tqi_tx tx; /* only resolves */
	struct model *m;
	bool tight;	 /* memory was short: what may be dropped then is learnt, not compared */
	bool filling;	 /* the last transactions came to use up what a look for work may use */
	bool filled;	 /* the last transaction did */
	bool unsettled;	 /* the claim that is compared answered -EINPROGRESS */
	uint32_t sample; /* bytes are compared of every 16th task, beginning here */
	uint32_t pins[MODEL_TASKS];
	char text[256];	 /* the first difference; "" none */
};

/* Take over the jitter of tasks that back off. */
bool compare_jitter(struct comparison *c);
/* Answers the model's questions (model_did). */
model_did compare_did;
/* Totals and gauges only. */
bool compare_gauges(struct comparison *c);
/* Everything observable. */
bool compare_all(struct comparison *c);

const char *limit_name(uint32_t limit);
#define TENANT_NAME "t-%u"
void pattern_fill(struct pattern p, void *to);

#endif
