/* SPDX-License-Identifier: MIT */
/* One sentence for each reason, with what to do about it where something can be done. */
#include "why.h"

#include <stdio.h>
#include <string.h>

#include "outcome.h"
#include "server_text.h"

struct sentence {
	struct tq *tq;
	const struct tq_task_info *info;
	const struct tq_why *why;
	const struct clocks *clocks;
	char *buf;
};

#define BEFORE_MAX 80 /* bytes of what is added about other tasks */
#define SAY(s, ...) snprintf((s)->buf, WHY_MAX, __VA_ARGS__)

static char *ago(const struct sentence *s, char text[FORMAT_MAX])
{
	return format_duration(ns_between(s->why->since_ns, s->clocks->now_ns), text);
}

static char *left(const struct sentence *s, char text[FORMAT_MAX])
{
	return format_duration(ns_between(s->clocks->now_ns, s->why->until_ns), text);
}

static void say_ended(const struct sentence *s)
{
	char outcome[OUTCOME_MAX];

	SAY(s, "it has ended: %s", outcome_format(s->info, outcome));
}

static void say_dying(const struct sentence *s)
{
	const char *then = s->why->is_last ? "the task ends, as it may have no other,"
					   : "the next starts";
	char of[48] = "it";

	if (s->why->pgid)
		snprintf(of, sizeof(of), "its command's group %u", s->why->pgid);
	SAY(s,
	    "attempt %u is not proved over: its worker %u (pid %u) has died, and %s when no "
	    "process of %s is left",
	    s->info->attempt, s->why->worker, s->why->pid, then, of);
}

static void say_stopping(const struct sentence *s)
{
	const char *cause = tq_cause_name(s->why->stop_cause);
	const uint32_t pid = s->why->pgid ? s->why->pgid : s->why->pid;
	char text[FORMAT_MAX];

	if (s->why->foreign_pid)
		SAY(s,
		    "attempt %u is being ended (%s): its farm may not signal pid %u, which runs as "
		    "uid %u; %s was sent %s ago",
		    s->info->attempt, cause, s->why->foreign_pid, s->why->foreign_uid,
		    s->why->signal == 9 ? "SIGKILL" : "SIGTERM", ago(s, text));
	else if (s->why->signal)
		SAY(s, "attempt %u is being ended (%s): pid %u got %s %s ago and has not ended",
		    s->info->attempt, cause, pid, s->why->signal == 9 ? "SIGKILL" : "SIGTERM",
		    ago(s, text));
	else
		SAY(s,
		    "attempt %u is being ended (%s): worker %u (pid %u) was asked %s ago and has "
		    "not given it back",
		    s->info->attempt, cause, s->why->worker, s->why->pid, ago(s, text));
}

/* ", and pid 3 is stopped; `kill -CONT 3` lets it go on", or nothing. */
static void add_stopped(const struct sentence *s, size_t at)
{
	if (s->why->stopped_pid)
		snprintf(s->buf + at, WHY_MAX - at,
			 ", and pid %u is stopped; `kill -CONT %u` lets it go on",
			 s->why->stopped_pid, s->why->stopped_pid);
}

static void say_running(const struct sentence *s)
{
	char text[FORMAT_MAX];

	const int n = SAY(s, "it is running: attempt %u, on worker %u (pid %u), for %s",
			  s->info->attempt, s->why->worker, s->why->pid, ago(s, text));

	add_stopped(s, (size_t)n);
}

/* The group whose completion task it is. */
static void say_group(const struct sentence *s)
{
	const uint32_t n = s->why->others;
	char id[TQ_ID_TEXT_MAX];

	tq_group_id_format(s->info->completes, id);
	if (s->why->is_open && !n)
		SAY(s, "group %s is open: `taskq group seal %s` says that no more members come", id,
		    id);
	else if (s->why->is_open)
		SAY(s,
		    "it waits for %u %s of group %s, which is open: `taskq group seal %s` says "
		    "that no more come",
		    n, format_plural(n, "member", "members"), id, id);
	else
		SAY(s, "it waits for the last end in group %s: %u %s still to end", id, n,
		    format_plural(n, "member is", "members are"));
}

/* "17-3 (running, pid 3) and 4 others" */
static void say_holder(const struct sentence *s, uint32_t pid_of_holder)
{
	char id[TQ_ID_TEXT_MAX], pid[32] = "";

	if (!s->why->holder && s->info->completes) {
		say_group(s);
		return;
	}
	if (!s->why->holder) {
		SAY(s, "it waits for other tasks");
		return;
	}
	if (pid_of_holder)
		snprintf(pid, sizeof(pid), ", pid %u", pid_of_holder);
	int n = SAY(s, "it waits for %s (%s%s%s)", tq_task_id_format(s->why->holder, id),
		    tq_task_state_name(s->why->holder_state), s->why->holder_held ? ", held" : "",
		    pid);

	if (s->why->others)
		snprintf(s->buf + n, WHY_MAX - (size_t)n, " and %u %s", s->why->others,
			 format_plural(s->why->others, "other", "others"));
	if (s->why->is_successor)
		snprintf(s->buf + n, WHY_MAX - (size_t)n, ", the task that has its key");
}

static void say_waiting(const struct sentence *s)
{
	char text[FORMAT_MAX];

	say_holder(s, 0);
	size_t n = strlen(s->buf);

	n += (size_t)snprintf(s->buf + n, WHY_MAX - n,
			      ": attempt %u, on worker %u (pid %u), for %s", s->info->attempt,
			      s->why->worker, s->why->pid, ago(s, text));
	add_stopped(s, n);
}

static void say_held(const struct sentence *s)
{
	char id[TQ_ID_TEXT_MAX];

	SAY(s, "it is held; `taskq unhold %s` lets it start", tq_task_id_format(s->info->id, id));
}

/* "; attempt 2 was given back: cannot start a command: ...", also why it is delayed. */
static void add_refusal(const struct sentence *s)
{
	const size_t n = strlen(s->buf);

	if (s->info->state == TQ_RUNNING || s->info->cause != TQ_CAUSE_RELEASED)
		return;
	if (s->info->error_text[0])
		snprintf(s->buf + n, WHY_MAX - n, "; attempt %u was given back: %s",
			 s->info->attempt, s->info->error_text);
	else if (s->why->reason == TQ_WHY_DELAYED)
		snprintf(s->buf + n, WHY_MAX - n, "; attempt %u was given back", s->info->attempt);
}

static void say_backoff(const struct sentence *s)
{
	char text[FORMAT_MAX], cause[32];

	SAY(s, "it backs off for %s more before attempt %u; attempt %u ended with %s",
	    left(s, text), s->info->attempt + 1, s->info->attempt,
	    tq_cause_format(s->info->cause, s->info->cause_arg, cause));
}

static void say_restarting(const struct sentence *s)
{
	SAY(s,
	    "no worker serves queue %s now: the farm of pid %u starts one, after a pause when they "
	    "end early; its log says why",
	    s->info->queue, s->why->pid);
}

static void say_delayed(const struct sentence *s)
{
	char text[FORMAT_MAX], wall[FORMAT_MAX];

	if (s->why->until_wall_ns) {
		SAY(s, "it waits for the wall clock: in %s, at %s",
		    format_duration(ns_between(s->clocks->unix_now_ns, s->why->until_wall_ns),
				    text),
		    format_local(s->why->until_wall_ns, wall));
		return;
	}
	SAY(s, "it is not due: in %s, at %s", left(s, text),
	    format_local(clocks_unix_ns(s->clocks, s->why->until_ns), wall));
}

static void say_no_worker(const struct sentence *s)
{
	SAY(s, "no live worker serves queue %s: start one with `taskq work -q %s`", s->info->queue,
	    s->info->queue);
}

static void say_no_kind(const struct sentence *s)
{
	if (s->why->queue_workers == 1)
		SAY(s,
		    "the one live worker of queue %s does not serve kind %s: start the program "
		    "that does",
		    s->info->queue, s->info->kind);
	else
		SAY(s,
		    "none of the %u live workers of queue %s serves kind %s: start the program "
		    "that does",
		    s->why->queue_workers, s->info->queue, s->info->kind);
}

/* ", and about 12 tasks are before it", or nothing. */
static const char *before(const struct sentence *s, char text[BEFORE_MAX])
{
	const uint32_t n = s->why->before;

	text[0] = '\0';
	if (s->why->before_more)
		snprintf(text, BEFORE_MAX, ", and %u tasks or more are before it", n);
	else if (n)
		snprintf(text, BEFORE_MAX, ", and about %u %s %s before it", n,
			 format_plural(n, "task", "tasks"), format_plural(n, "is", "are"));
	return text;
}

static void say_stopped(const struct sentence *s)
{
	char text[BEFORE_MAX];

	if (s->why->workers == 1)
		SAY(s,
		    "the one worker that serves it is stopped, as pid %u is%s; `kill -CONT %u` "
		    "lets it "
		    "go on",
		    s->why->pid, before(s, text), s->why->pid);
	else if (s->why->stopped >= s->why->workers)
		SAY(s,
		    "all %u workers that serve it are stopped, as pid %u is%s; `kill -CONT %u` "
		    "lets it go on",
		    s->why->workers, s->why->pid, before(s, text), s->why->pid);
	else
		SAY(s,
		    "%u of the %u workers that serve it %s stopped, as pid %u is, and the others "
		    "are busy%s; `kill -CONT %u` lets it go on",
		    s->why->stopped, s->why->workers, format_plural(s->why->stopped, "is", "are"),
		    s->why->pid, before(s, text), s->why->pid);
}

static void say_busy(const struct sentence *s)
{
	char text[BEFORE_MAX];

	if (s->why->workers == 1)
		SAY(s, "the one worker that serves it is busy%s", before(s, text));
	else
		SAY(s, "all %u workers that serve it are busy%s", s->why->workers, before(s, text));
}

static void say_substitutes(const struct sentence *s)
{
	char text[BEFORE_MAX];

	SAY(s,
	    "all %u workers that serve it are busy, and %u tasks of the farm of pid %u wait for "
	    "others: it has no more than %u substitutes for those%s; another worker lets it go on",
	    s->why->workers, s->why->others, s->why->pid, TQ_SUBSTITUTES_MAX, before(s, text));
}

static void say_next(const struct sentence *s)
{
	const uint32_t free = s->why->workers - s->why->busy;
	char text[BEFORE_MAX];

	if (s->why->workers == 1)
		SAY(s, "it may start any moment: the one worker that serves it is free%s",
		    before(s, text));
	else
		SAY(s, "it may start any moment: %u of the %u workers that serve it %s free%s",
		    free, s->why->workers, format_plural(free, "is", "are"), before(s, text));
}

/* Full, or without as many places as it takes, or as another one takes (LM-10). */
static int say_full(const struct sentence *s)
{
	const struct tq_why *why = s->why;
	const uint32_t room =
		why->limit_used < why->limit_slots ? why->limit_slots - why->limit_used : 0;

	if (why->limit_weight > why->limit_slots)
		return SAY(s, "needs all %u of limit %s, which are fewer than its %u: %u free",
			   why->limit_slots, why->limit, why->limit_weight, room);
	if (why->limit_weight > room && why->limit_weight > 1)
		return SAY(s, "needs %u of limit %s: %u of %u free", why->limit_weight, why->limit,
			   room, why->limit_slots);
	if (why->limit_needed > room && room)
		return SAY(s,
			   "limit %s waits until %u of its %u are free, for a task that needs "
			   "as many: %u are",
			   why->limit, why->limit_needed, why->limit_slots, room);
	return SAY(s, "limit %s is full (%u of %u)", why->limit, why->limit_used, why->limit_slots);
}

static void say_throttled(const struct sentence *s)
{
	char text[BEFORE_MAX], id[TQ_ID_TEXT_MAX], wait[FORMAT_MAX];

	if (s->why->until_ns) {
		SAY(s, "limit %s has used up its rate: the next token comes in %s%s", s->why->limit,
		    left(s, wait), before(s, text));
		return;
	}
	int n = say_full(s);

	if (s->why->holder)
		n += snprintf(s->buf + n, WHY_MAX - (size_t)n,
			      ": held by task %s of worker %u (pid %u)",
			      tq_task_id_format(s->why->holder, id), s->why->worker, s->why->pid);
	snprintf(s->buf + n, WHY_MAX - (size_t)n, "%s", before(s, text));
}

static void say_servers(const struct sentence *s)
{
	char text[BEFORE_MAX], servers[WHY_MAX - 256];

	if (!s->why->servers) {
		SAY(s,
		    "queue %s has no server left; `taskq server add -q %s SERVER` adds one, "
		    "`taskq server remove -q %s --all` does without",
		    s->info->queue, s->info->queue, s->info->queue);
		return;
	}
	servers_format(s->tq, s->info->queue, servers, sizeof(servers));
	if (s->why->servers == 1)
		SAY(s, "the one server of queue %s is full: %s%s", s->info->queue, servers,
		    before(s, text));
	else
		SAY(s, "all %u servers of queue %s are full: %s%s", s->why->servers, s->info->queue,
		    servers, before(s, text));
}

char *why_format(struct tq *tq, const struct tq_task_info *info, const struct tq_why *why,
		 const struct clocks *clocks, char buf[WHY_MAX])
{
	const struct sentence s = { tq, info, why, clocks, buf };
	char text[BEFORE_MAX];

	switch ((enum tq_why_reason)why->reason) {
	case TQ_WHY_ENDED:
		say_ended(&s);
		break;
	case TQ_WHY_DYING:
		say_dying(&s);
		break;
	case TQ_WHY_STOPPING:
		say_stopping(&s);
		break;
	case TQ_WHY_RUNNING:
		say_running(&s);
		break;
	case TQ_WHY_WAITING:
		say_waiting(&s);
		break;
	case TQ_WHY_BLOCKED:
		say_holder(&s, why->pid);
		break;
	case TQ_WHY_CANCELLED:
		SAY(&s,
		    "it has been cancelled by a purge or a shutdown, which is about to reach it");
		break;
	case TQ_WHY_EXPIRED:
		SAY(&s, "its deadline has passed: it expires as soon as anybody looks");
		break;
	case TQ_WHY_HELD:
		say_held(&s);
		break;
	case TQ_WHY_BACKOFF:
		say_backoff(&s);
		break;
	case TQ_WHY_DELAYED:
		say_delayed(&s);
		break;
	case TQ_WHY_PAUSED:
		SAY(&s, "queue %s is paused; `taskq resume %s` lets it go on", info->queue,
		    info->queue);
		break;
	case TQ_WHY_NO_WORKER:
		say_no_worker(&s);
		break;
	case TQ_WHY_RESTARTING:
		say_restarting(&s);
		break;
	case TQ_WHY_NO_KIND:
		say_no_kind(&s);
		break;
	case TQ_WHY_ASSIGNED:
		SAY(&s, "worker %u (pid %u) has taken it, and runs others first%s", why->worker,
		    why->pid, before(&s, text));
		break;
	case TQ_WHY_SERVERS:
		say_servers(&s);
		break;
	case TQ_WHY_THROTTLED:
		say_throttled(&s);
		break;
	case TQ_WHY_STOPPED:
		say_stopped(&s);
		break;
	case TQ_WHY_SUBSTITUTES:
		say_substitutes(&s);
		break;
	case TQ_WHY_BUSY:
		say_busy(&s);
		break;
	case TQ_WHY_NEXT:
		say_next(&s);
		break;
	}
	add_refusal(&s);
	return buf;
}
