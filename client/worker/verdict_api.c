/* SPDX-License-Identifier: MIT */
/* Verdicts: checked and taken to the core, one or many. */
#include <errno.h>
#include <string.h>

#include "client/core/batch.h"
#include "client/core/hold.h"
#include "client/core/options.h"
#include "client/worker/worker_api.h"
#include "scheduler/task/claim.h"
#include "scheduler/task/look.h"
#include "scheduler/task/submit.h"

#define BATCH_HOLD 64 /* verdicts in one hold */

static int check_verdict(const struct tq_verdict *v)
{
	if (v->kind < TQ_VERDICT_DONE || v->kind > TQ_VERDICT_RELEASE || v->reserved0 ||
	    v->cause > TQ_CAUSE_RELEASED || v->result_bytes > TQ_PAYLOAD_MAX ||
	    (v->result_bytes && !v->result) || v->delay_ns > TQI_NS_MAX)
		return -EINVAL;
	return 0;
}

static uint32_t default_cause(uint32_t kind)
{
	if (kind == TQ_VERDICT_DONE)
		return TQ_CAUSE_EXIT;
	return kind == TQ_VERDICT_RELEASE ? TQ_CAUSE_RELEASED : TQ_CAUSE_ERROR;
}

/* A large result is copied outside the lock; when memory is short, less of its tail is kept. */
static void place_result(struct tq *tq, const struct tq_verdict *v, struct tqi_verdict *ret_v)
{
	uint64_t bytes = v->result_bytes;
	const unsigned char *from = v->result;
	void *block;

	while (bytes > TQI_COPY_MAX) {
		if (tqi_block_begin(tq, bytes, TQI_SPARES_HALF, &ret_v->result_token, &block) ==
		    0) {
			memcpy(block, from, bytes);
			break;
		}
		from += bytes - bytes / 2;
		bytes /= 2;
	}
	ret_v->result = from;
	ret_v->result_bytes = (uint32_t)bytes;
	if (ret_v->output_bytes < v->result_bytes)
		ret_v->output_bytes = v->result_bytes;
}

/* Done without a result, as most are: nothing to check. */
static const struct tqi_verdict just_done = { .kind = TQ_VERDICT_DONE, .cause = TQ_CAUSE_EXIT };

static inline bool is_done(const struct tq_verdict *v)
{
	const uint64_t figures = v->result_bytes | v->output_bytes | v->max_rss_bytes | v->cpu_ns |
				 v->delay_ns;

	return v->kind == TQ_VERDICT_DONE && !figures && !v->text &&
	       !(v->cause | (uint32_t)v->cause_arg | v->reserved0);
}

int tqi_verdict_take(struct tq_worker *worker, const struct tq_verdict *v,
		     struct tqi_verdict *ret_v)
{
	if (is_done(v)) {
		*ret_v = just_done;
		return tqi_worker_usable(worker);
	}
	int r = check_verdict(v);

	if (r == 0)
		r = tqi_worker_usable(worker);
	if (r < 0)
		return r;
	*ret_v = (struct tqi_verdict){
		.kind = v->kind,
		.cause = v->cause ? v->cause : default_cause(v->kind),
		.cause_arg = v->cause_arg,
		.output_bytes = v->output_bytes,
		.max_rss_bytes = v->max_rss_bytes,
		.cpu_ns = v->cpu_ns,
		.delay_ns = v->delay_ns,
		.text = v->text,
	};
	place_result(worker->tq, v, ret_v);
	return 0;
}

/* By a verdict that has been checked; on an error its result in flight goes. */
static int end_by(struct tq_worker *worker, const struct tq_claim *claim,
		  const struct tqi_verdict *v)
{
	struct tqi_tx tx;
	uint32_t tries = 0;
	int r;

	do {
		r = tqi_hold_begin_inline(worker->tq, &tx);
		if (r < 0)
			break;
		tqi_tend(&tx);
		r = tqi_end(&tx, worker->index, claim->slot, claim->id, claim->epoch, v);
	} while (r == 0 && tqi_hold_again(worker->tq, &tx, &tries));
	if (r == 0 || r == TQ_ELEASE)
		r = tqi_hold_end_inline(worker->tq, &tx, r);
	if (r < 0)
		tqi_block_cancel(worker->tq, v->result_token);
	return r;
}

static int end(struct tq_worker *worker, const struct tq_claim *claim,
	       const struct tq_verdict *verdict)
{
	struct tqi_verdict v;
	int r = tqi_verdict_take(worker, verdict, &v);

	return r < 0 ? r : end_by(worker, claim, &v);
}

static int end_done(struct tq_worker *worker, const struct tq_claim *claim)
{
	int r = tqi_worker_usable(worker);

	return r < 0 ? r : end_by(worker, claim, &just_done);
}

int tq_end(struct tq_worker *worker, const struct tq_claim *claim, const struct tq_verdict *verdict)
{
	if (!worker || !claim)
		return -EINVAL;
	struct tq_verdict copy;
	int r = tqi_verdict_in(&copy, &verdict);

	return r < 0 ? r : end(worker, claim, verdict);
}

int tq_complete(struct tq_worker *worker, const struct tq_claim *claim, const void *result,
		uint64_t result_bytes)
{
	if (!worker || !claim || (result_bytes && !result))
		return -EINVAL;
	if (!result_bytes)
		return end_done(worker, claim);
	const struct tq_verdict v = { .size = sizeof(v),
				      .kind = TQ_VERDICT_DONE,
				      .result = result,
				      .result_bytes = result_bytes };

	return end(worker, claim, &v);
}

int tq_fail(struct tq_worker *worker, const struct tq_claim *claim, int fatal, const char *text)
{
	if (!worker || !claim)
		return -EINVAL;
	const struct tq_verdict v = { .size = sizeof(v),
				      .kind = fatal ? TQ_VERDICT_FATAL : TQ_VERDICT_FAIL,
				      .text = text };

	return end(worker, claim, &v);
}

int tq_release(struct tq_worker *worker, const struct tq_claim *claim, uint64_t delay_ns)
{
	if (!worker || !claim)
		return -EINVAL;
	const struct tq_verdict v = { .size = sizeof(v),
				      .kind = TQ_VERDICT_RELEASE,
				      .delay_ns = delay_ns };

	return end(worker, claim, &v);
}

/* Of one hold.  How many were made, or will be with the next commit; 0: why not even the first. */
static uint32_t end_each(struct tqi_tx *tx, uint32_t worker, const struct tq_claim *claims,
			 const struct tqi_verdict *verdicts, uint32_t count, bool may_lack,
			 struct tqi_batch *batch, int *ret_results)
{
	uint32_t n = 0;

	while (n < count && !tx->corrupt) {
		const int r = tqi_end(tx, worker, claims[n].slot, claims[n].id, claims[n].epoch,
				      &verdicts[n]);
		const bool lacks = r == 0 && tx->lacked && !may_lack;

		tqi_batch_tried(batch, tx, n);
		if (lacks && batch->alone)
			break;
		if (ret_results && !lacks)
			ret_results[n] = r;
		n = lacks ? tqi_batch_again(batch, tx) : tqi_batch_made(batch, tx, n);
	}
	return n;
}

/* The one that finds no room for its result is undone, and the first of the next hold. */
static int end_some(struct tq_worker *worker, const struct tq_claim *claims,
		    const struct tqi_verdict *verdicts, uint32_t count, int *ret_results)
{
	struct tqi_batch batch;
	uint32_t n, tries = 0;
	struct tqi_tx tx;
	int r;

	do {
		r = tqi_hold_begin(worker->tq, &tx);
		if (r < 0)
			return r;
		tqi_tend(&tx);
		batch = tqi_batch_begin(&tx);
		n = end_each(&tx, worker->index, claims, verdicts, count, tries >= TQI_ROOM_TRIES,
			     &batch, ret_results);
	} while (n == 0 && tqi_hold_again(worker->tq, &tx, &tries));
	r = tqi_hold_end(worker->tq, &tx, n < count ? -ENOMEM : 0);
	if (tx.corrupt)
		n = batch.kept;
	return n ? (int)n : r;
}

/* A run of verdicts whose results are small; one that is not goes alone. */
static uint32_t take_some(struct tq_worker *worker, const struct tq_verdict *verdicts,
			  uint32_t count, struct tqi_verdict *ret_verdicts, int *ret_r)
{
	uint32_t n = 0;

	*ret_r = 0;
	for (; n < count && n < BATCH_HOLD; n++) {
		if (verdicts[n].size != sizeof(verdicts[n])) {
			*ret_r = -EINVAL; /* an array has one stride */
			break;
		}
		if (verdicts[n].result_bytes > TQI_COPY_MAX)
			break;
		*ret_r = tqi_verdict_take(worker, &verdicts[n], &ret_verdicts[n]);
		if (*ret_r < 0)
			break;
	}
	return n;
}

static int end_alone(struct tq_worker *worker, const struct tq_claim *claim,
		     const struct tq_verdict *verdict, int *ret_result)
{
	int r = end(worker, claim, verdict);

	if (r < 0 && r != TQ_ELEASE)
		return r;
	if (ret_result)
		*ret_result = r;
	return 1;
}

int tq_end_many(struct tq_worker *worker, const struct tq_claim *claims,
		const struct tq_verdict *verdicts, uint32_t count, int *ret_results)
{
	if (!worker)
		return -EINVAL;
	struct tqi_verdict taken[BATCH_HOLD];
	uint32_t done = 0;
	int r = 0;

	if (count && (!claims || !verdicts))
		return -EINVAL;
	while (done < count && r >= 0) {
		int *results = ret_results ? ret_results + done : NULL;
		uint32_t n = take_some(worker, verdicts + done, count - done, taken, &r);

		if (n)
			r = end_some(worker, claims + done, taken, n, results);
		else if (r == 0)
			r = end_alone(worker, claims + done, verdicts + done, results);
		if (r > 0)
			done += (uint32_t)r;
	}
	return done ? (int)done : r;
}
