/* SPDX-License-Identifier: MIT */
/* One attempt inside a handler. */
#ifndef TQI_CLIENT_FARM_RUN_H
#define TQI_CLIENT_FARM_RUN_H

#include "client/farm/handler.h"
#include "client/farm/outcome.h"

/* Call the handler of the claim's kind; without one, the claim is to be released. */
void tqi_run_handler(struct tq *tq, struct tq_worker *worker, const struct tq_claim *claim,
		     struct tqi_outcome *outcome);

#endif
