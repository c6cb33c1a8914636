/* SPDX-License-Identifier: MIT */
/* Tasks, queues and segments that are steered. */
#include "tests/crash/operations.h"

static void cancel(struct tqt_world *w)
{
	w->result = tq_task_steer(w->tq, w->ids[0], TQ_TASK_ACTION_CANCEL);
}

void tqt_run_cancel_waiting(struct tqt_world *w)
{
	cancel(w);
}

void tqt_run_cancel_delayed(struct tqt_world *w)
{
	cancel(w);
}

void tqt_run_cancel_running(struct tqt_world *w)
{
	cancel(w);
}

static void task_steer(struct tqt_world *w, enum tq_task_action action)
{
	w->result = tq_task_steer(w->tq, w->ids[0], action);
}

void tqt_run_retry(struct tqt_world *w)
{
	task_steer(w, TQ_TASK_ACTION_RETRY);
}

void tqt_run_retry_done(struct tqt_world *w)
{
	tqt_run_retry(w);
}

void tqt_run_forget(struct tqt_world *w)
{
	task_steer(w, TQ_TASK_ACTION_FORGET);
}

void tqt_run_forget_outputs(struct tqt_world *w)
{
	tqt_run_forget(w);
}

void tqt_run_hold(struct tqt_world *w)
{
	task_steer(w, TQ_TASK_ACTION_HOLD);
}

void tqt_run_unhold(struct tqt_world *w)
{
	task_steer(w, TQ_TASK_ACTION_UNHOLD);
}

static void update(struct tqt_world *w, struct tq_task_update u)
{
	u.size = sizeof(u);
	w->result = tq_task_update(w->tq, w->ids[0], &u);
}

void tqt_run_update_priority(struct tqt_world *w)
{
	update(w, (struct tq_task_update){ .fields = TQ_UPDATE_PRIORITY, .priority = 7 });
}

void tqt_run_update_queue(struct tqt_world *w)
{
	update(w, (struct tq_task_update){ .fields = TQ_UPDATE_QUEUE, .queue = "other" });
}

void tqt_run_update_delay(struct tqt_world *w)
{
	update(w, (struct tq_task_update){ .fields = TQ_UPDATE_DELAY, .delay_ns = TQT_SECOND_NS });
}

void tqt_run_update_label(struct tqt_world *w)
{
	update(w, (struct tq_task_update){ .fields = TQ_UPDATE_LABEL, .label = "another label" });
}

void tqt_run_update_settings(struct tqt_world *w)
{
	update(w, (struct tq_task_update){ .fields = TQ_UPDATE_ATTEMPTS | TQ_UPDATE_TIMEOUT |
						     TQ_UPDATE_TIMEOUT_TOTAL,
					   .attempts_max = 7,
					   .timeout_ns = TQT_SECOND_NS,
					   .timeout_total_ns = TQ_UNLIMITED });
}

void tqt_steer_queue(struct tqt_world *w, enum tq_queue_action action)
{
	w->result = tq_queue_steer(w->tq, "default", action);
}

void tqt_run_queue_new(struct tqt_world *w)
{
	const struct tq_queue_opts opts = { .size = sizeof(opts), .depth_max = 5 };

	w->result = tq_queue_set(w->tq, "new", &opts);
}

void tqt_run_queue_set(struct tqt_world *w)
{
	const struct tq_queue_opts opts = { .size = sizeof(opts),
					    .depth_max = 5,
					    .timeout_ns = TQT_SECOND_NS,
					    .backoff_ns = 1,
					    .backoff_cap_ns = 2,
					    .attempts_max = 3 };

	w->result = tq_queue_set(w->tq, "default", &opts);
}

void tqt_run_pause(struct tqt_world *w)
{
	tqt_steer_queue(w, TQ_QUEUE_PAUSE);
}

void tqt_run_resume(struct tqt_world *w)
{
	tqt_steer_queue(w, TQ_QUEUE_RESUME);
}

void tqt_run_drain(struct tqt_world *w)
{
	tqt_steer_queue(w, TQ_QUEUE_DRAIN);
}

void tqt_run_undrain(struct tqt_world *w)
{
	tqt_steer_queue(w, TQ_QUEUE_UNDRAIN);
}

void tqt_run_purge(struct tqt_world *w)
{
	tqt_steer_queue(w, TQ_QUEUE_PURGE);
}

void tqt_run_shutdown(struct tqt_world *w)
{
	w->result = tq_shutdown(w->tq, 0);
}

void tqt_run_shutdown_cancel(struct tqt_world *w)
{
	w->result = tq_shutdown(w->tq, TQ_SHUTDOWN_CANCEL);
}

void tqt_run_shutdown_groups(struct tqt_world *w)
{
	w->result = tq_shutdown(w->tq, 0);
}

void tqt_run_shutdown_cancel_groups(struct tqt_world *w)
{
	w->result = tq_shutdown(w->tq, TQ_SHUTDOWN_CANCEL);
}

void tqt_run_shutdown_undo(struct tqt_world *w)
{
	w->result = tq_shutdown(w->tq, TQ_SHUTDOWN_UNDO);
}
