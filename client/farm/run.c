/* SPDX-License-Identifier: MIT */
/* Calling handlers, and what they may ask of their attempt. */
#include "client/farm/run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct tq_run {
	struct tq_worker *worker;
	const struct tq_claim *claim;
	struct tqi_outcome *outcome;
	char error[TQ_TEXT_MAX + 1]; /* "" none */
};

const struct tq_claim *tq_run_claim(const struct tq_run *run)
{
	if (!run)
		return NULL;
	return run->claim;
}

struct tq_worker *tq_run_worker(const struct tq_run *run)
{
	if (!run)
		return NULL;
	return run->worker;
}

int tq_run_result(struct tq_run *run, const void *data, uint64_t bytes)
{
	if (!run || (bytes && !data))
		return -EINVAL;
	if (bytes > TQ_PAYLOAD_MAX)
		return -E2BIG;
	void *buffer = tqi_outcome_room(run->outcome, bytes);

	if (!buffer)
		return -ENOMEM;
	if (bytes)
		memcpy(buffer, data, bytes);
	run->outcome->verdict.result = buffer;
	run->outcome->verdict.result_bytes = bytes;
	return 0;
}

int tq_run_progress(struct tq_run *run, uint32_t percent, const char *text)
{
	if (!run)
		return -EINVAL;
	return tq_claim_progress(run->worker, run->claim, percent, text);
}

int tq_run_checkpoint(struct tq_run *run, const void *data, uint64_t bytes)
{
	if (!run)
		return -EINVAL;
	return tq_claim_checkpoint(run->worker, run->claim, data, bytes);
}

int tq_run_stopping(struct tq_run *run)
{
	if (!run)
		return -EINVAL;
	return tq_claim_stopping(run->worker, run->claim);
}

void tq_run_error(struct tq_run *run, const char *text)
{
	if (!run)
		return;
	snprintf(run->error, sizeof(run->error), "%s", text ? text : "");
}

/* What says "done" in one family of values is nothing in another. */
_Static_assert(TQ_STATE_COUNT < (int)TQ_VERDICT_DONE && TQ_ANSWER_COUNT < (int)TQ_VERDICT_DONE &&
		       (int)TQ_VERDICT_RELEASE < (int)TQ_RUN_FAIL,
	       "states and answers, verdicts, results");

static void judge(struct tq_run *run, int r)
{
	const char *text = run->error[0] ? run->error : NULL;
	const bool is_result = r == TQ_RUN_FAIL || r == TQ_RUN_FATAL;
	const uint32_t kind = r == TQ_RUN_FATAL ? TQ_VERDICT_FATAL : TQ_VERDICT_FAIL;
	const int number = is_result ? 0 : r;

	if (r == TQ_RUN_DONE) {
		tqi_outcome_set(run->outcome, TQ_VERDICT_DONE, TQ_CAUSE_EXIT, 0, NULL);
		return;
	}
	if (!text && r < 0)
		text = tq_strerror(r);
	if (text)
		tqi_outcome_set(run->outcome, kind, TQ_CAUSE_ERROR, number, "%s", text);
	else
		tqi_outcome_set(run->outcome, kind, TQ_CAUSE_ERROR, number, NULL);
}

void tqi_run_handler(struct tq *tq, struct tq_worker *worker, const struct tq_claim *claim,
		     struct tqi_outcome *outcome)
{
	struct tq_run run = { .worker = worker, .claim = claim, .outcome = outcome };
	struct tqi_handler handler;

	tqi_outcome_begin(outcome);
	if (tqi_handler_find(tq, claim->kind, &handler))
		judge(&run, handler.function(&run, handler.arg));
	else
		tqi_outcome_set(outcome, TQ_VERDICT_RELEASE, TQ_CAUSE_RELEASED, 0, NULL);
}
