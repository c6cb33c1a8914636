/* SPDX-License-Identifier: MIT */
/* One attempt of kind "exec", in a worker process of our farm. */
#ifndef TQI_CLIENT_FARM_EXEC_COMMAND_H
#define TQI_CLIENT_FARM_EXEC_COMMAND_H

#include "client/farm/outcome.h"
#include "client/worker/worker_api.h"

/*
 * Run the command of a claim to its end; when this returns, nothing of its process
 * group is left.  The calling process is a subreaper.  `tail_bytes` of its output
 * are kept.
 */
void tqi_command_run(struct tq_worker *worker, const struct tq_claim *claim, uint64_t tail_bytes,
		     struct tqi_outcome *outcome);

#endif
