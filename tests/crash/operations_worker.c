/* SPDX-License-Identifier: MIT */
/* What workers do: claims, verdicts, registration. */
#include <errno.h>
#include <string.h>
#include <string.h>

#include "tests/crash/operations.h"

void tqt_claim_beside(struct tqt_world *w, uint64_t timeout_ns)
{
	w->claims[TQT_IDS_MAX - 1].size = sizeof(struct tq_claim);
	w->result = tq_claim(w->worker, timeout_ns, &w->claims[TQT_IDS_MAX - 1]);
}

void tqt_run_claim(struct tqt_world *w)
{
	tqt_claim_beside(w, 0);
}

void tqt_run_claim_many(struct tqt_world *w)
{
	for (int i = 0; i < 4; i++)
		w->claims[i].size = sizeof(struct tq_claim);
	w->result = tq_claim_many(w->worker, 0, w->claims, 4);
}

static void submit_by_other(struct tqt_world *w)
{
	const struct tq_task_spec spec = { .size = sizeof(spec), .kind = "k" };

	tqt_must(tq_submit(w->other, &spec, NULL), "submit by another");
}

void tqt_run_claim_sleep(struct tqt_world *w)
{
	tqt_meanwhile(w, submit_by_other);
	tqt_claim_beside(w, TQT_LONG_NS);
}

void tqt_run_claim_timeout(struct tqt_world *w)
{
	tqt_claim_beside(w, TQT_SECOND_NS);
}

void tqt_run_claim_purged(struct tqt_world *w)
{
	tqt_claim_beside(w, 0);
}

void tqt_run_claim_saved(struct tqt_world *w)
{
	tqt_claim_beside(w, 0);
}

static void next(struct tqt_world *w, uint64_t bytes)
{
	const struct tq_verdict v = { .size = sizeof(v),
				      .kind = TQ_VERDICT_DONE,
				      .result = tqt_large,
				      .result_bytes = bytes };
	struct tq_claim *claim = &w->claims[TQT_IDS_MAX - 1];
	int verdict;

	claim->size = sizeof(*claim);
	w->result = tq_next(w->worker, w->claims, &v, 0, claim, &verdict);
	if (w->result == -ETIMEDOUT)
		w->result = verdict; /* nothing to claim: the verdict has been made */
}

void tqt_run_next(struct tqt_world *w)
{
	next(w, 0);
}

void tqt_run_next_large(struct tqt_world *w)
{
	next(w, TQT_LARGE_BYTES);
}

void tqt_run_renew(struct tqt_world *w)
{
	w->result = tq_renew(w->worker);
}

void tqt_run_complete(struct tqt_world *w)
{
	w->result = tq_complete(w->worker, w->claims, NULL, 0);
}

void tqt_run_complete_result(struct tqt_world *w)
{
	w->result = tq_complete(w->worker, w->claims, tqt_large, 100);
}

void tqt_run_complete_large(struct tqt_world *w)
{
	w->result = tq_complete(w->worker, w->claims, tqt_large, TQT_LARGE_BYTES);
}

void tqt_run_complete_waited(struct tqt_world *w)
{
	tqt_run_complete(w);
}

void tqt_run_complete_forget(struct tqt_world *w)
{
	tqt_run_complete(w);
}

void tqt_run_next_forget(struct tqt_world *w)
{
	next(w, 0);
}

/* One of each sort; the last one's claim has gone. */
void tqt_run_end_many(struct tqt_world *w)
{
	struct tq_claim claims[5];
	struct tq_verdict verdicts[5];

	memcpy(claims, w->claims, sizeof(claims));
	for (uint32_t i = 0; i < 5; i++)
		verdicts[i] =
			(struct tq_verdict){ .size = sizeof(verdicts[i]), .kind = TQ_VERDICT_DONE };
	verdicts[1].kind = TQ_VERDICT_FAIL;
	verdicts[1].text = "failed";
	verdicts[2].result = tqt_large;
	verdicts[2].result_bytes = 100;
	verdicts[3].result = tqt_large;
	verdicts[3].result_bytes = TQT_LARGE_BYTES;
	claims[4].epoch++;
	w->result = tq_end_many(w->worker, claims, verdicts, 5, NULL);
}

void tqt_run_end_stopped(struct tqt_world *w)
{
	const struct tq_verdict v = { .size = sizeof(v),
				      .kind = TQ_VERDICT_FAIL,
				      .cause = TQ_CAUSE_SIGNAL,
				      .cause_arg = 15,
				      .result = "tail",
				      .result_bytes = 4,
				      .output_bytes = 100,
				      .max_rss_bytes = 1,
				      .cpu_ns = 1,
				      .text = "stopped" };

	w->result = tq_end(w->worker, w->claims, &v);
}

void tqt_run_fail_output(struct tqt_world *w)
{
	const struct tq_verdict v = { .size = sizeof(v),
				      .kind = TQ_VERDICT_FAIL,
				      .result = "of the last attempt",
				      .result_bytes = 19 };

	w->result = tq_end(w->worker, w->claims, &v);
}

void tqt_run_fail_outputs(struct tqt_world *w)
{
	tqt_run_fail_output(w);
}

void tqt_run_fail_outputs_large(struct tqt_world *w)
{
	tqt_run_fail_output(w);
}

void tqt_run_fail_again(struct tqt_world *w)
{
	w->result = tq_fail(w->worker, w->claims, 0, "it failed again");
}

void tqt_run_fail_last(struct tqt_world *w)
{
	w->result = tq_fail(w->worker, w->claims, 1, "for good");
}

void tqt_run_fail_history(struct tqt_world *w)
{
	tqt_run_fail_again(w);
}

void tqt_run_fail_saved(struct tqt_world *w)
{
	tqt_run_fail_again(w);
}

void tqt_run_fail_reported(struct tqt_world *w)
{
	tqt_run_fail_again(w);
}

void tqt_run_fail_handed_on(struct tqt_world *w)
{
	tqt_run_fail_again(w);
}

void tqt_run_complete_reported(struct tqt_world *w)
{
	tqt_run_complete(w);
}

void tqt_run_release(struct tqt_world *w)
{
	w->result = tq_release(w->worker, w->claims, 0);
}

void tqt_run_release_later(struct tqt_world *w)
{
	w->result = tq_release(w->worker, w->claims, TQT_SECOND_NS);
}

void tqt_run_progress(struct tqt_world *w)
{
	w->result = tq_claim_progress(w->worker, w->claims, 42, "halfway");
}

void tqt_run_progress_next(struct tqt_world *w)
{
	tqt_run_progress(w);
}

void tqt_run_progress_third(struct tqt_world *w)
{
	tqt_run_progress(w);
}

void tqt_run_checkpoint(struct tqt_world *w)
{
	w->result = tq_claim_checkpoint(w->worker, w->claims, TQT_SAVED_NOW, strlen(TQT_SAVED_NOW));
}

void tqt_run_attempt_progress(struct tqt_world *w)
{
	w->result = tq_attempt_progress(w->tq, 42, "halfway");
}

void tqt_run_attempt_checkpoint(struct tqt_world *w)
{
	w->result = tq_attempt_checkpoint(w->tq, TQT_SAVED_NOW, strlen(TQT_SAVED_NOW));
}

void tqt_run_checkpoint_next(struct tqt_world *w)
{
	tqt_run_checkpoint(w);
}

static void cancel_by_other(struct tqt_world *w)
{
	tqt_must(tq_task_steer(w->other, w->ids[0], TQ_TASK_ACTION_CANCEL), "cancel by another");
}

void tqt_run_claim_stop(struct tqt_world *w)
{
	tqt_meanwhile(w, cancel_by_other);
	w->result = tq_claim_wait_stop(w->worker, w->claims, TQT_LONG_NS);
}

void tqt_run_worker_open(struct tqt_world *w)
{
	const struct tq_worker_opts opts = { .size = sizeof(opts), .lease_ns = TQT_SECOND_NS };

	w->result = tq_worker_open(w->tq, &opts, &w->opened);
}

void tqt_run_worker_kinds(struct tqt_world *w)
{
	static const char *const names[] = { "new1", "new2" };
	const struct tq_worker_opts opts = { .size = sizeof(opts),
					     .queues = names,
					     .kinds = names,
					     .queue_count = 2,
					     .kind_count = 2 };

	w->result = tq_worker_open(w->tq, &opts, &w->opened);
}

void tqt_run_worker_close(struct tqt_world *w)
{
	w->worker = tq_worker_close(w->worker);
}

void tqt_run_worker_leave(struct tqt_world *w)
{
	tqt_run_worker_close(w);
}

void tqt_run_worker_leave_many(struct tqt_world *w)
{
	tqt_run_worker_close(w);
}
