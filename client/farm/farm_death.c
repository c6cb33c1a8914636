/* SPDX-License-Identifier: MIT */
/* The end of workers: why they died, what is left of them, and their tasks. */
#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "client/farm/farm.h"
#include "client/farm/oom.h"
#include "scheduler/task/depart.h"
#include "shm/ident.h"

#define MEMBERS_PAUSE_NS 2000000ull /* 2 ms: processes that got SIGKILL are gone soon ... */
#define MEMBERS_LONG_NS 50000000ull /* 50 ms: ... or are in the kernel for long, or zombies */

/* What is left of a worker in the segment. */
struct remains {
	uint32_t tasks_begun;
	uint32_t attempts;
	uint32_t stopping; /* of these, attempts that were being stopped */
	struct {
		uint64_t id;
		uint32_t stop_cause;
	} ends[TQI_GROUPS_MAX]; /* of the first ones */
	uint32_t command_count;
	struct {
		pid_t pgid;
		struct tqi_mark mark;
	} commands[TQI_GROUPS_MAX]; /* groups of those that run */
};

static void note_attempt(const struct tqi_attempt *attempt, struct remains *remains)
{
	uint32_t pgid = tqi_load_acquire32(&attempt->pgid), i = remains->command_count;

	if (remains->attempts < TQI_GROUPS_MAX) {
		remains->ends[remains->attempts].id = attempt->id;
		remains->ends[remains->attempts].stop_cause = attempt->stop_cause;
	}
	remains->attempts++;
	remains->stopping += attempt->phase != TQI_PHASE_NONE;
	if (!pgid || i == TQI_GROUPS_MAX)
		return;
	remains->commands[i].pgid = (pid_t)pgid;
	remains->commands[i].mark.id = attempt->id;
	remains->commands[i].mark.pgid = pgid;
	remains->commands[i].mark.start = tqi_load_relaxed64(&attempt->pgid_start);
	remains->command_count++;
}

static void find_record(struct tqi_farm *farm, struct tqi_child *child)
{
	const struct tqi_board *board = tqi_farm_board(farm, child);

	child->record = tqi_load_acquire32(&board->worker);
	child->generation = tqi_load_relaxed64(&board->generation);
}

/* One that died after it had registered, and before it could say so. */
static void search_record(struct tqi_tx *tx, struct tqi_farm *farm, struct tqi_child *child)
{
	if (child->record)
		return;
	child->record = tqi_worker_of(tx, farm->self->index, (uint32_t)child->pid);
	if (child->record)
		child->generation = tqi_worker_at(tx, child->record)->generation;
}

/*
 * A worker that left has given its record back, and another one may have it by now:
 * nothing of that one must get here, for what is found is killed.  In a hold, or in a
 * lost segment, where nobody changes anything any more.
 */
static void find_remains(struct tqi_farm *farm, const struct tqi_child *child, struct remains *ret)
{
	const struct tqi_segment *seg = &farm->tq->seg;
	const struct tqi_worker *worker =
		child->record ? tqi_table_peek(seg, TQI_WORKERS, child->record) : NULL;

	if (!worker || worker->state == TQI_WORKER_FREE || worker->generation != child->generation)
		return;
	ret->tasks_begun = (uint32_t)worker->tasks;
	for (uint32_t a = worker->attempts; a && ret->attempts < TQ_CLAIMS_MAX;) {
		const struct tqi_attempt *attempt = tqi_table_peek(seg, TQI_ATTEMPTS, a);

		if (!attempt)
			return;
		note_attempt(attempt, ret);
		a = attempt->next;
	}
}

/*
 * A group whose leader is not there any more was killed by its worker, before it
 * reaped the leader; its number may be another's by now.
 */
static void kill_group(pid_t pgid, uint64_t leader_start)
{
	uint64_t start;
	char state;

	if (tqi_pid_start((uint32_t)pgid, &start, &state) == 0 && start == leader_start)
		kill(-pgid, SIGKILL);
}

static void note_group(struct tqi_child *child, pid_t pgid)
{
	child->groups[child->group_count++] = pgid;
}

/*
 * With what a handler had forked.  It leads this group from its fork on, whether it
 * came to register or not.
 */
static void kill_own_group(struct tqi_child *child)
{
	uint64_t start;
	char state;

	/* No number is given again while a group has it: then the group was empty. */
	if (child->snatched && tqi_pid_start((uint32_t)child->pid, &start, &state) == 0)
		return;
	note_group(child, child->pid);
	kill(-child->pid, SIGKILL);
}

/* FM-1: while the worker is a zombie, and its commands' leaders are ours to reap. */
static void kill_remains(struct tqi_child *child, const struct remains *remains)
{
	child->group_count = 0;
	child->mark_count = remains->command_count;
	kill_own_group(child);
	for (uint32_t i = 0; i < remains->command_count; i++) {
		note_group(child, remains->commands[i].pgid);
		child->marks[i] = remains->commands[i].mark;
		kill_group(remains->commands[i].pgid, child->marks[i].start);
	}
}

static bool was_oom(struct tqi_farm *farm, const struct tqi_child *child, int status)
{
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL || child->killed ||
	    child->sacrificed)
		return false;
	const uint64_t before = farm->oom_kills;

	farm->oom_kills = tqi_oom_kills();
	return farm->oom_kills > before;
}

/* The cause that its attempts get, unless they were being stopped. */
static void judge(struct tqi_farm *farm, struct tqi_child *child, int status,
		  const struct tqi_usage *usage, const struct remains *remains)
{
	struct tqi_death *death = &child->death;

	if (child->killed)
		death->cause = TQ_CAUSE_RELEASED;
	else if (status < 0)
		death->cause = TQ_CAUSE_WORKER_DIED;
	else if (was_oom(farm, child, status))
		death->cause = TQ_CAUSE_OOM;
	else if (WIFSIGNALED(status))
		*death = (struct tqi_death){ TQ_CAUSE_SIGNAL, WTERMSIG(status), 0, 0 };
	else
		*death = (struct tqi_death){ TQ_CAUSE_EXIT, WEXITSTATUS(status), 0, 0 };
	/* Of a handler's attempt the worker's figures speak only if it was the first. */
	death->max_rss_bytes = usage->max_rss_bytes;
	death->cpu_ns = remains->tasks_begun == 1 ? usage->cpu_ns : 0;
}

/* Attempts that ended with their worker; what they were is told by the tasks. */
static void report_ends(const struct tqi_farm *farm, const struct tqi_child *child,
			const struct remains *remains, uint64_t now)
{
	for (uint32_t i = 0; i < remains->attempts && i < TQI_GROUPS_MAX; i++) {
		struct tq_task_info info = { .size = sizeof(info) };
		const uint32_t stop = remains->ends[i].stop_cause;

		if (!tqi_farm_reports_attempts(farm) ||
		    tq_task_info(farm->tq, remains->ends[i].id, &info) < 0)
			return;
		tqi_farm_report_attempt(
			farm, &(struct tq_farm_event){
				      .worker_pid = (uint32_t)child->pid,
				      .id = info.id,
				      .label = info.label,
				      .run_ns = now > info.started_ns ? now - info.started_ns : 0,
				      .attempt = info.attempt,
				      .cause = stop ? stop : child->death.cause,
				      .cause_arg = stop ? 0 : child->death.cause_arg,
			      });
	}
}

static void log_end(struct tqi_farm *farm, const struct tqi_child *child,
		    const struct remains *remains)
{
	char cause[32], id[TQ_ID_TEXT_MAX];
	const struct tqi_board *board = tqi_farm_board(farm, child);
	int error = (int)tqi_load_relaxed32(&board->error);

	if (error)
		tqi_farm_log(farm, "worker %d cannot register: %s", (int)child->pid,
			     tq_strerror(error));
	else if (child->leave != TQI_LEAVE_NOT)
		tqi_farm_log(farm, "worker %d left", (int)child->pid);
	else
		tqi_farm_log(farm, "worker %d ended: %s%s%s%s", (int)child->pid,
			     tq_cause_format(child->death.cause, child->death.cause_arg, cause),
			     remains->attempts ? ", while it ran task " : "",
			     remains->attempts ? tq_task_id_format(remains->ends[0].id, id) : "",
			     child->sacrificed ? ", which was to be stopped" : "");
}

/* It has ended; only now is it reaped.  False: the lock could not be had, come again. */
static bool bury(struct tqi_farm *farm, struct tqi_child *child, uint64_t now)
{
	const struct tqi_board *board = tqi_farm_board(farm, child);
	struct tqi_usage usage = { 0 };
	struct remains remains = { 0 };
	struct tqi_tx tx;
	int r = tqi_hold_begin(farm->tq, &tx);

	if (r == TQ_ELOCKED)
		return false;
	find_record(farm, child);
	if (r == 0)
		search_record(&tx, farm, child);
	find_remains(farm, child, &remains);
	if (r == 0)
		(void)tqi_hold_end(farm->tq, &tx, 0);
	child->leave = tqi_load_acquire32(&board->leave);
	child->sacrificed = remains.stopping > 0;
	child->worked = remains.tasks_begun > 0;
	kill_remains(child, &remains);
	int status = child->snatched ? -1 : tqi_reap_leader(child->pid, &usage);

	judge(farm, child, status, &usage, &remains);
	if (child->killed)
		farm->given_back += (int)(remains.attempts - remains.stopping);
	child->state = TQI_CHILD_ENDING;
	child->buried_ns = now;
	log_end(farm, child, &remains);
	report_ends(farm, child, &remains, now);
	return true;
}

static bool takes_long(const struct tqi_child *child, uint64_t now)
{
	return now - child->buried_ns >= MEMBERS_LONG_NS;
}

/* FM-2. */
static bool groups_are_empty(struct tqi_child *child, uint64_t now)
{
	bool (*reap)(pid_t, struct tqi_usage *) = takes_long(child, now) ? tqi_reap_rest
									 : tqi_reap_some;
	struct tqi_usage others = { 0 };

	for (; child->group_count > 0; child->group_count--) {
		uint32_t last = child->group_count - 1; /* 0 is the worker's own */

		if (!reap(child->groups[last], last ? &child->command_usage : &others))
			break;
	}
	return child->group_count == 0;
}

/* Orphans that were outside of the groups are ours since the worker, or what it ran, ended. */
static bool leftovers_are_gone(const struct tqi_farm *farm, struct tqi_child *child)
{
	if (child->mark_count &&
	    tqi_marked_end(farm->tq->seg.path, child->marks, child->mark_count) == 0)
		child->mark_count = 0;
	return child->mark_count == 0;
}

static bool give_back(struct tqi_farm *farm, const struct tqi_child *child)
{
	struct tqi_death death = child->death;
	uint32_t tries = 0;
	bool done = false;

	if (child->command_usage.max_rss_bytes) { /* it ran a command: that is the task */
		death.max_rss_bytes = child->command_usage.max_rss_bytes;
		death.cpu_ns = child->command_usage.cpu_ns;
	}
	while (!done) {
		struct tqi_tx tx;
		int r = tqi_hold_begin(farm->tq, &tx);

		if (r < 0)
			return r != TQ_ELOCKED; /* a segment that is lost gets nothing back */
		done = tqi_worker_dead(&tx, child->record, child->generation, &death);
		if (tqi_hold_again(farm->tq, &tx, &tries))
			done = false;
		else if (tqi_hold_end(farm->tq, &tx, 0) < 0)
			return true;
	}
	return true;
}

/* All that is left of its groups belongs to others, as of a command that has become root. */
static bool is_out_of_reach(const struct tqi_child *child)
{
	bool some = false;

	for (uint32_t i = 0; i < child->group_count; i++) {
		if (kill(-child->groups[i], 0) == 0)
			return false;
		some |= errno == EPERM;
	}
	return some;
}

/* Its record stays until somebody proves that nothing is left. */
static void abandon(struct tqi_farm *farm, struct tqi_child *child)
{
	tqi_farm_log(farm,
		     "process group %d of worker %d goes on: it runs as another user, and may not "
		     "be ended",
		     (int)child->groups[child->group_count - 1], (int)child->pid);
	child->state = TQI_CHILD_NONE;
}

static void go_on(struct tqi_farm *farm, struct tqi_child *child, uint64_t now)
{
	if (groups_are_empty(child, now) && leftovers_are_gone(farm, child) &&
	    give_back(farm, child))
		tqi_farm_replace(farm, child, now);
	else if (farm->killing && takes_long(child, now) && is_out_of_reach(child))
		abandon(farm, child);
	else
		tqi_farm_appoint(
			farm, now + (takes_long(child, now) ? MEMBERS_LONG_NS : MEMBERS_PAUSE_NS));
}

static bool has_ended(struct tqi_child *child)
{
	siginfo_t info = { 0 };

	if (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0)
		return info.si_pid == child->pid;
	child->snatched = errno == ECHILD;
	return child->snatched;
}

static void look_at(struct tqi_farm *farm, struct tqi_child *child, uint64_t now)
{
	if (child->state == TQI_CHILD_LIVE && has_ended(child) && !bury(farm, child, now))
		tqi_farm_appoint(farm, now + MEMBERS_PAUSE_NS);
	if (child->state == TQI_CHILD_ENDING)
		go_on(farm, child, now);
}

static void look_at_all(struct tqi_farm *farm, uint64_t now)
{
	for (uint32_t i = 0; i < farm->child_count; i++)
		look_at(farm, &farm->children[i], now);
}

static bool is_ours(const struct tqi_farm *farm, pid_t pid)
{
	for (uint32_t i = 0; i < farm->child_count; i++) {
		const struct tqi_child *child = &farm->children[i];

		if (child->state == TQI_CHILD_LIVE && child->pid == pid)
			return true;
		for (uint32_t g = 0; child->state == TQI_CHILD_ENDING && g < child->group_count;
		     g++)
			if (child->groups[g] == pid)
				return true;
	}
	return false;
}

/*
 * A worker whose first thread is a zombie has no children any more, and yet it cannot be
 * reaped before its last thread is gone.
 */
static bool is_going(const struct tqi_farm *farm)
{
	uint64_t start;
	char state;

	for (uint32_t i = 0; i < farm->child_count; i++) {
		const struct tqi_child *child = &farm->children[i];

		if (child->state == TQI_CHILD_LIVE &&
		    tqi_pid_start((uint32_t)child->pid, &start, &state) == 0 && state == 'Z')
			return true;
	}
	return false;
}

/*
 * An orphan comes to us with its parent's death, so a worker whose death gave us a
 * command's leader has ended, or is going, when we have seen the leader.
 */
static void reap_strangers(struct tqi_farm *farm, uint64_t now)
{
	pid_t pid;

	while ((pid = tqi_host_stranger(&farm->host))) {
		look_at_all(farm, now);
		if (is_ours(farm, pid) || is_going(farm))
			return; /* its turn comes with its worker's */
		waitpid(pid, NULL, WNOHANG);
	}
}

void tqi_farm_reap(struct tqi_farm *farm, uint64_t now)
{
	look_at_all(farm, now);
	reap_strangers(farm, now);
}
