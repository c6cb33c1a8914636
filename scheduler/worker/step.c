/* SPDX-License-Identifier: MIT */
/* A commit inside a hold. */
#include "scheduler/worker/step.h"

#include "scheduler/worker/keepers.h"

void tqi_step(struct tqi_tx *tx)
{
	if (tx->corrupt)
		return;
	if (tqi_wake_keepers_must(tx))
		tqi_wake_keepers(tx);
	tqi_tx_commit(tx);
	if (!tx->corrupt)
		tqi_tx_begin(tx, tx->now_ns);
}
