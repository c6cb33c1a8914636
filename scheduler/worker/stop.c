/* SPDX-License-Identifier: MIT */
/* Phases of a stop. */
#include "scheduler/worker/stop.h"

#include <signal.h>

#include "scheduler/record/task_record.h"
#include "scheduler/record/trace.h"
#include "scheduler/wake/wake.h"

static void enter(struct tqi_tx *tx, struct tqi_attempt *attempt, enum tqi_phase phase)
{
	TQI_SET(tx, attempt->phase, (uint8_t)phase);
	TQI_SET(tx, attempt->phase_ns, tx->now_ns);
}

void tqi_stop_ask(struct tqi_tx *tx, uint32_t a, uint32_t cause)
{
	struct tqi_attempt *attempt = tqi_attempt_at(tx, a);

	if (attempt->phase != TQI_PHASE_NONE)
		return;
	enter(tx, attempt, TQI_PHASE_ASKED);
	TQI_SET(tx, attempt->stop_cause, (uint8_t)cause);
	tqi_trace_attempt(tx, attempt, TQ_TRACE_STOP, cause, 0);
	tqi_task_touch(tx, tqi_task_at(tx, attempt->task));
	tqi_wake_stoppers(tx, attempt->worker);
}

uint64_t tqi_stop_next(struct tqi_tx *tx, uint32_t a)
{
	const struct tqi_attempt *attempt = tqi_attempt_at(tx, a);

	if (attempt->phase == TQI_PHASE_ASKED)
		return tx->now_ns;
	if (attempt->phase == TQI_PHASE_TERM)
		return attempt->phase_ns + tqi_worker_at(tx, attempt->worker)->grace_ns;
	return UINT64_MAX;
}

int tqi_stop_step(struct tqi_tx *tx, uint32_t a)
{
	struct tqi_attempt *attempt = tqi_attempt_at(tx, a);
	const bool asked = attempt->phase == TQI_PHASE_ASKED;
	const int signal = asked ? SIGTERM : SIGKILL;

	if (tqi_stop_next(tx, a) > tx->now_ns)
		return 0;
	enter(tx, attempt, asked ? TQI_PHASE_TERM : TQI_PHASE_KILL);
	tqi_trace_attempt(tx, attempt, TQ_TRACE_SIGNAL, attempt->stop_cause, signal);
	return signal;
}
