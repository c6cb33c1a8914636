/* SPDX-License-Identifier: MIT */
/* G3: the operations of the sweep on commands, and their preparations. */
#include "client/core/sleeper.h"
#include "tests/crash/operations.h"

#define CROWD 20 /* more than are woken in one hold */
#define MANY 60	 /* more than are answered in one hold */

static int send(struct tq *tq, uint32_t to, uint32_t worker)
{
	const struct tq_command_spec spec = { .size = sizeof(spec),
					      .name = "reload",
					      .argument = "argument",
					      .argument_bytes = 8,
					      .to = to,
					      .worker = worker };

	return tq_command_send(tq, &spec, NULL);
}

static void serve(struct tqt_world *w)
{
	static const char *const queues[] = { "default", "other" };
	const struct tq_worker_opts opts = { .size = sizeof(opts),
					     .queues = queues,
					     .queue_count = 2,
					     .flags = TQ_WORKER_COMMANDS };

	tqt_must(tq_worker_open(w->tq, &opts, &w->worker), "worker");
}

/* A worker of somebody else that takes commands. */
static uint32_t foreign(struct tqt_world *w, uint32_t pid, bool asleep)
{
	uint32_t index = tqt_foreign_worker(w, pid, 0, asleep);
	struct tqi_worker *record = tqi_table_peek(&w->seg, TQI_WORKERS, index);

	record->flags |= TQI_WORKER_COMMANDS;
	return index;
}

/* It has taken what waited for it. */
static uint64_t take(struct tqt_world *w)
{
	struct tq_command command = { .size = sizeof(command) };

	tqt_must(tq_command_take(w->worker, &command), "take");
	return command.id;
}

/* The victim's worker, and two others that sleep. */
void tqt_prepare_commanded(struct tqt_world *w)
{
	serve(w);
	foreign(w, TQT_PID_OTHER, true);
	foreign(w, TQT_PID_OTHER, true);
}

void tqt_prepare_crowd(struct tqt_world *w)
{
	serve(w);
	for (int i = 0; i < CROWD; i++)
		foreign(w, TQT_PID_OTHER, true);
}

/* More have been called than were woken at once, the last ones by nobody yet (CO-1). */
void tqt_prepare_calls(struct tqt_world *w)
{
	tqt_prepare_crowd(w);
	tqt_must(send(w->tq, TQ_COMMAND_TO_ALL, 0), "send");
	tqt_must(send(w->tq, TQ_COMMAND_TO_ANY, 0), "send");
}

void tqt_prepare_told(struct tqt_world *w)
{
	tqt_prepare_commanded(w);
	tqt_must(send(w->tq, TQ_COMMAND_TO_ALL, 0), "send");
}

/* There is one, but not for the victim. */
void tqt_prepare_other_told(struct tqt_world *w)
{
	serve(w);
	tqt_must(send(w->tq, TQ_COMMAND_TO_WORKER, foreign(w, TQT_PID_OTHER, true)), "send");
}

/* Taken, and somebody waits for the answer. */
void tqt_prepare_taken(struct tqt_world *w)
{
	serve(w);
	tqt_must(send(w->tq, TQ_COMMAND_TO_ANY, 0), "send");
	w->ids[0] = take(w);
	tqt_foreign_sleeper(w, TQI_INTEREST_COMMAND, tqi_id_index(w->ids[0]));
}

/* One for all, which nobody has taken; somebody waits for the answers. */
void tqt_prepare_cancellable(struct tqt_world *w)
{
	const struct tq_command_spec spec = { .size = sizeof(spec),
					      .name = "reload",
					      .to = TQ_COMMAND_TO_ALL };

	tqt_prepare_commanded(w);
	tqt_must(tq_command_send(w->tq, &spec, &w->ids[0]), "send");
	tqt_foreign_sleeper(w, TQI_INTEREST_COMMAND, tqi_id_index(w->ids[0]));
}

/* It was taken back from all; another one waits. */
void tqt_prepare_taken_back(struct tqt_world *w)
{
	tqt_prepare_cancellable(w);
	tqt_must(tq_command_cancel(w->tq, w->ids[0]), "cancel");
	tqt_must(send(w->tq, TQ_COMMAND_TO_ANY, 0), "send");
}

/* As many are kept as may be. */
void tqt_prepare_kept_commands(struct tqt_world *w)
{
	serve(w);
	for (int i = 0; i < TQ_COMMANDS_KEPT; i++) {
		tqt_must(send(w->tq, TQ_COMMAND_TO_ANY, 0), "send");
		tqt_must(tq_command_ack(w->worker, take(w), TQ_ANSWER_DONE, NULL), "ack");
	}
	tqt_must(send(w->tq, TQ_COMMAND_TO_ANY, 0), "send");
	w->ids[0] = take(w);
}

/* Anybody's is taken, one for it alone and one for all wait. */
void tqt_prepare_busy(struct tqt_world *w)
{
	serve(w);
	tqt_must(send(w->tq, TQ_COMMAND_TO_ANY, 0), "send");
	take(w);
	foreign(w, TQT_PID_OTHER, true);
	tqt_must(send(w->tq, TQ_COMMAND_TO_WORKER, w->worker->index), "send");
	tqt_must(send(w->tq, TQ_COMMAND_TO_ALL, 0), "send");
}

void tqt_prepare_very_busy(struct tqt_world *w)
{
	serve(w);
	for (int i = 0; i < MANY; i++)
		tqt_must(send(w->tq, TQ_COMMAND_TO_WORKER, w->worker->index), "send");
	take(w);
}

/* The victim is a keeper; who had a command has died. */
void tqt_prepare_dead_commanded(struct tqt_world *w)
{
	uint32_t dead;

	serve(w);
	tqt_must(send(w->tq, TQ_COMMAND_TO_ANY, 0), "send");
	take(w);
	dead = w->worker->index;
	foreign(w, TQT_PID_OTHER, true);
	tqt_must(send(w->tq, TQ_COMMAND_TO_ALL, 0), "send");
	((struct tqi_worker *)tqi_table_peek(&w->seg, TQI_WORKERS, dead))->owner.pid = TQT_PID_DEAD;
	tqt_worker_dies(w, dead);
}

void tqt_run_command_one(struct tqt_world *w)
{
	w->result = send(w->tq, TQ_COMMAND_TO_WORKER, w->worker->index);
}

void tqt_run_command_any(struct tqt_world *w)
{
	w->result = send(w->tq, TQ_COMMAND_TO_ANY, 0);
}

void tqt_run_command_all(struct tqt_world *w)
{
	w->result = send(w->tq, TQ_COMMAND_TO_ALL, 0);
}

void tqt_run_command_farms(struct tqt_world *w)
{
	w->result = send(w->tq, TQ_COMMAND_TO_FARMS, 0);
}

void tqt_run_keep_calls(struct tqt_world *w)
{
	tqi_keep(w->tq);
}

void tqt_run_command_crowd(struct tqt_world *w)
{
	w->result = send(w->tq, TQ_COMMAND_TO_ALL, 0);
}

static void claim(struct tqt_world *w, uint64_t timeout_ns)
{
	tqt_claim_beside(w, timeout_ns);
	if (w->result == TQ_ECOMMAND)
		w->result = 0; /* it has been taken */
}

void tqt_run_claim_command(struct tqt_world *w)
{
	claim(w, 0);
}

void tqt_run_claim_other_told(struct tqt_world *w)
{
	claim(w, 0);
}

static void send_by_other(struct tqt_world *w)
{
	tqt_must(send(w->other, TQ_COMMAND_TO_ALL, 0), "send by another");
}

void tqt_run_claim_awaits_command(struct tqt_world *w)
{
	tqt_meanwhile(w, send_by_other);
	claim(w, TQT_LONG_NS);
}

/* The one woken for a task comes back for a command: the next sleeper has the task. */
static void submit_and_send(struct tqt_world *w)
{
	const struct tq_task_spec spec = { .size = sizeof(spec), .kind = "k" };

	tqt_must(tq_submit(w->other, &spec, NULL), "submit by another");
	tqt_must(send(w->other, TQ_COMMAND_TO_WORKER, w->worker->index), "send by another");
}

void tqt_run_claim_passes_on(struct tqt_world *w)
{
	tqt_meanwhile(w, submit_and_send);
	claim(w, TQT_LONG_NS);
}

void tqt_run_command_take(struct tqt_world *w)
{
	struct tq_command command = { .size = sizeof(command) };

	w->result = tq_command_take(w->worker, &command);
}

void tqt_run_command_ack(struct tqt_world *w)
{
	w->result = tq_command_ack(w->worker, w->ids[0], TQ_ANSWER_DONE, "as you say");
}

void tqt_run_command_cancel(struct tqt_world *w)
{
	w->result = tq_command_cancel(w->tq, w->ids[0]);
}

void tqt_run_command_cancel_taken(struct tqt_world *w)
{
	w->result = tq_command_cancel(w->tq, w->ids[0]);
}

void tqt_run_claim_taken_back(struct tqt_world *w)
{
	claim(w, 0);
}

void tqt_run_worker_leave_taken_back(struct tqt_world *w)
{
	w->worker = tq_worker_close(w->worker);
}

void tqt_run_command_ack_kept(struct tqt_world *w)
{
	w->result = tq_command_ack(w->worker, w->ids[0], TQ_ANSWER_REFUSED, NULL);
}

static void ack_meanwhile(struct tqt_world *w)
{
	tqt_must(tq_command_ack(w->worker, w->ids[0], TQ_ANSWER_DONE, NULL), "ack meanwhile");
}

void tqt_run_command_wait(struct tqt_world *w)
{
	tqt_meanwhile(w, ack_meanwhile);
	w->result = tq_command_wait(w->tq, w->ids[0], TQT_LONG_NS, NULL);
}

void tqt_run_command_wait_timeout(struct tqt_world *w)
{
	w->result = tq_command_wait(w->tq, w->ids[0], TQT_SECOND_NS, NULL);
}

void tqt_run_worker_leave_commands(struct tqt_world *w)
{
	w->worker = tq_worker_close(w->worker);
}

void tqt_run_worker_leave_many_commands(struct tqt_world *w)
{
	w->worker = tq_worker_close(w->worker);
}

void tqt_run_keep_dead_commands(struct tqt_world *w)
{
	tqt_run_keep_dead(w);
}
