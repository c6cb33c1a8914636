/* SPDX-License-Identifier: MIT */
/* What can be done to the picked line. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "act.h"
#include "model.h"
#include "signals.h"
#include "worker_kill.h"

#define LOCK_TIMEOUT_NS 1000000000ull /* somebody is looking at the screen */

/* "task 17-3 (label)" */
static const char *labelled(const char *what, const char *id, const struct action *action,
			    char buf[ACT_TEXT_MAX])
{
	snprintf(buf, ACT_TEXT_MAX, "%s %s%s%s%s", what, id, action->label[0] ? " (" : "",
		 action->label, action->label[0] ? ")" : "");
	return buf;
}

static const char *task_text(const struct action *action, char buf[ACT_TEXT_MAX])
{
	char id[TQ_ID_TEXT_MAX];

	return labelled("task", tq_task_id_format(action->id, id), action, buf);
}

static void ask_cancel(const struct action *action, char question[ACT_TEXT_MAX])
{
	char task[ACT_TEXT_MAX];

	snprintf(question, ACT_TEXT_MAX, "Cancel %.300s?", task_text(action, task));
}

static int run_cancel(struct tq *tq, const struct action *action)
{
	return tq_task_steer(tq, action->id, TQ_TASK_ACTION_CANCEL);
}

static void ask_retry(const struct action *action, char question[ACT_TEXT_MAX])
{
	char task[ACT_TEXT_MAX];

	snprintf(question, ACT_TEXT_MAX, "Run %.300s again?", task_text(action, task));
}

static int run_retry(struct tq *tq, const struct action *action)
{
	return tq_task_steer(tq, action->id, TQ_TASK_ACTION_RETRY);
}

static void ask_hold(const struct action *action, char question[ACT_TEXT_MAX])
{
	char task[ACT_TEXT_MAX];

	snprintf(question, ACT_TEXT_MAX, action->is_on ? "Let %.300s go on?" : "Hold %.300s back?",
		 task_text(action, task));
}

static int run_hold(struct tq *tq, const struct action *action)
{
	return tq_task_steer(tq, action->id,
			     action->is_on ? TQ_TASK_ACTION_UNHOLD : TQ_TASK_ACTION_HOLD);
}

static void ask_priority(const struct action *action, char question[ACT_TEXT_MAX])
{
	char task[ACT_TEXT_MAX];

	snprintf(question, ACT_TEXT_MAX, "Priority of %.300s: ", task_text(action, task));
}

static int run_priority(struct tq *tq, const struct action *action)
{
	const struct tq_task_update update = { .size = sizeof(update),
					       .fields = TQ_UPDATE_PRIORITY,
					       .priority = action->priority };

	return tq_task_update(tq, action->id, &update);
}

static void ask_pause(const struct action *action, char question[ACT_TEXT_MAX])
{
	snprintf(question, ACT_TEXT_MAX, "%s queue %s?", action->is_on ? "Resume" : "Pause",
		 action->name);
}

static int run_pause(struct tq *tq, const struct action *action)
{
	return tq_queue_steer(tq, action->name, action->is_on ? TQ_QUEUE_RESUME : TQ_QUEUE_PAUSE);
}

static const char *group_text(const struct action *action, char buf[ACT_TEXT_MAX])
{
	char id[TQ_ID_TEXT_MAX];

	return labelled("group", tq_group_id_format(action->id, id), action, buf);
}

static void ask_cancel_group(const struct action *action, char question[ACT_TEXT_MAX])
{
	char group[ACT_TEXT_MAX];

	snprintf(question, ACT_TEXT_MAX, "Cancel %.200s, and its %u unfinished members?",
		 group_text(action, group), action->unfinished);
}

static int run_cancel_group(struct tq *tq, const struct action *action)
{
	return tq_group_cancel(tq, action->id);
}

static void ask_seal(const struct action *action, char question[ACT_TEXT_MAX])
{
	char group[ACT_TEXT_MAX];

	snprintf(question, ACT_TEXT_MAX, "Seal %.200s, so that it takes no more members?",
		 group_text(action, group));
}

static int run_seal(struct tq *tq, const struct action *action)
{
	return tq_group_seal(tq, action->id);
}

static void ask_signal(const struct action *action, const char *what, char question[ACT_TEXT_MAX])
{
	if (action->worker.flags & TQ_WORKER_IS_MASTER) {
		snprintf(question, ACT_TEXT_MAX, "%s master pid %u: it ends all of farm %s?", what,
			 action->worker.pid, action->worker.name);
		return;
	}
	snprintf(question, ACT_TEXT_MAX, "%s worker %u (pid %u%s%s), which runs %u %s?", what,
		 action->worker.number, action->worker.pid, action->worker.name[0] ? ", " : "",
		 action->worker.name, action->worker.claims,
		 format_plural(action->worker.claims, "task", "tasks"));
}

static void ask_terminate(const struct action *action, char question[ACT_TEXT_MAX])
{
	ask_signal(action, "Send SIGTERM to", question);
}

static void ask_kill(const struct action *action, char question[ACT_TEXT_MAX])
{
	ask_signal(action, "KILL", question);
}

static int run_terminate(struct tq *tq, const struct action *action)
{
	return worker_terminate(tq, &action->worker);
}

static int run_kill(struct tq *tq, const struct action *action)
{
	return worker_kill(tq, &action->worker);
}

const struct action_kind action_kinds[] = {
	{ 'C', SUBJECT_TASK, "Cancel", ask_cancel, run_cancel, false },
	{ 'R', SUBJECT_TASK, "Retry", ask_retry, run_retry, false },
	{ 'H', SUBJECT_TASK, "Hold", ask_hold, run_hold, false },
	{ 'N', SUBJECT_TASK, "Priority", ask_priority, run_priority, true },
	{ 'P', SUBJECT_QUEUE, "Pause", ask_pause, run_pause, false },
	{ 'T', SUBJECT_WORKER, "Term", ask_terminate, run_terminate, false },
	{ 'K', SUBJECT_WORKER, "Kill", ask_kill, run_kill, false },
	{ 'C', SUBJECT_GROUP, "Cancel", ask_cancel_group, run_cancel_group, false },
	{ 'S', SUBJECT_GROUP, "Seal", ask_seal, run_seal, false },
	{ .key = 0 },
};

static void take_task(const struct task_row *row, struct action *action)
{
	action->id = row->info.id;
	action->priority = row->info.priority;
	action->is_on = row->info.flags & TQ_INFO_HELD;
	memcpy(action->label, row->info.label, sizeof(action->label));
}

static void take_queue(const struct queue_row *row, struct action *action)
{
	action->is_on = row->info.flags & TQ_QUEUE_PAUSED;
	memcpy(action->name, row->info.name, sizeof(action->name));
}

static void take_group(const struct tq_group_info *info, struct action *action)
{
	action->id = info->id;
	action->unfinished = info->unfinished;
	memcpy(action->label, info->label, sizeof(action->label));
}

bool act_find(int key, enum subject subject, const void *row, struct action *ret_action)
{
	const struct action_kind *kind = action_kinds;

	while (kind->key && (kind->key != key || kind->subject != subject))
		kind++;
	if (!kind->key || !row)
		return false;
	*ret_action = (struct action){ .kind = kind };
	if (subject == SUBJECT_TASK)
		take_task(row, ret_action);
	else if (subject == SUBJECT_QUEUE)
		take_queue(row, ret_action);
	else if (subject == SUBJECT_GROUP)
		take_group(row, ret_action);
	else
		ret_action->worker = ((const struct worker_row *)row)->info;
	return true;
}

static void say_failed(const struct action *action, struct tq *tq, int r, char said[ACT_TEXT_MAX])
{
	struct tq_lock_holder lock = { .size = sizeof(lock) };

	if (r == TQ_ELOCKED && tq && tq_lock_blame(tq, &lock) == 0 && lock.tid)
		snprintf(said, ACT_TEXT_MAX, "%s: not done, lock held by pid %u (state %c)",
			 action->kind->hint, lock.pid ? lock.pid : lock.tid,
			 lock.state ? (int)lock.state : '?');
	else if (r == TQ_ESTATE)
		snprintf(said, ACT_TEXT_MAX, "%s: its state does not allow it", action->kind->hint);
	else if (r == -ESRCH)
		snprintf(said, ACT_TEXT_MAX, "%s: that worker is gone", action->kind->hint);
	else
		snprintf(said, ACT_TEXT_MAX, "%s: %s", action->kind->hint, tq_strerror(r));
}

bool act_run(const struct source *source, const struct action *action, char said[ACT_TEXT_MAX])
{
	const struct tq_open_opts opts = { .size = sizeof(opts),
					   .flags = source->foreign ? TQ_OPEN_FOREIGN : 0,
					   .lock_timeout_ns = LOCK_TIMEOUT_NS };
	struct tq *tq = NULL;
	int r;

	signals_hold();
	r = tq_open(source->name, &opts, &tq);
	if (r == 0)
		r = action->kind->run(tq, action);
	if (r < 0)
		say_failed(action, tq, r, said);
	else
		snprintf(said, ACT_TEXT_MAX, "%s: done", action->kind->hint);
	tq_close(tq);
	signals_release();
	return r >= 0;
}
