/* SPDX-License-Identifier: MIT */
/* Running a command. */
#include "client/farm/exec_command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/farm/launch.h"
#include "client/farm/leftovers.h"
#include "client/farm/oom.h"
#include "client/farm/output.h"
#include "client/farm/reap.h"
#include "client/core/stopper.h"
#include "taskq/farm.h"

#define EXIT_NOT_FOUND 127
#define EXIT_NOT_EXECUTABLE 126
#define TOLD_NS 100000000ull /* 100 ms: one that signals all processes does so at once */

/* A command under way. */
struct command {
	struct tq_worker *worker;
	const struct tq_claim *claim;
	struct tqi_attempt *attempt;
	struct tqi_output output;
	struct tqi_leftovers leftovers;
	pid_t pid;
	int pidfd;
	uint64_t oom_kills; /* before it began */
	int status;	    /* of wait4() */
	struct tqi_usage usage;
};

/* ST-2: the leader's zombie keeps the number of the group until all others are doomed. */
static void end_group(struct command *c)
{
	siginfo_t info;

	while (waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	tqi_group_close(c->worker);
	kill(-c->pid, SIGKILL);
	c->status = tqi_reap_leader(c->pid, &c->usage);
	tqi_reap_group(c->pid, &c->usage);
}

/* From now on the group is known to the segment to be gone. */
static void forget_group(struct command *c)
{
	tqi_store_release32(&c->attempt->pgid, 0);
}

static void follow(struct command *c)
{
	tqi_leftovers_watch(&c->leftovers);
	while (!tqi_output_follow(&c->output, c->pidfd, &c->leftovers.open))
		tqi_leftovers_reap(&c->usage, c->pid);
	tqi_leftovers_unwatch(&c->leftovers);
	end_group(c);
	tqi_leftovers_end(&c->leftovers, &c->usage);
	tqi_output_drain(&c->output);
	forget_group(c);
}

static void explain_fault(const struct tqi_launch *launch, const struct tqi_launch_fault *fault,
			  struct tqi_outcome *outcome)
{
	const struct tq_exec *exec = launch->exec;
	const char *why = tq_strerror(-fault->error);
	int code = fault->error == ENOENT || fault->error == ENOTDIR ? EXIT_NOT_FOUND
								     : EXIT_NOT_EXECUTABLE;

	switch (fault->step) {
	case TQI_LAUNCH_EXEC:
		tqi_outcome_set(outcome, TQ_VERDICT_FAIL, TQ_CAUSE_EXIT, code, "%s: %s",
				exec->argv[0], why);
		return;
	case TQI_LAUNCH_CWD:
		tqi_outcome_set(outcome, TQ_VERDICT_FAIL, TQ_CAUSE_ERROR, -fault->error,
				"cannot change to directory %s: %s", exec->cwd, why);
		return;
	case TQI_LAUNCH_OUTPUT:
		tqi_outcome_set(outcome, TQ_VERDICT_FAIL, TQ_CAUSE_ERROR, -fault->error,
				"cannot write to %s: %s", launch->output_path, why);
		return;
	case TQI_LAUNCH_INPUT:
		tqi_outcome_set(outcome, TQ_VERDICT_FAIL, TQ_CAUSE_ERROR, -fault->error,
				"cannot read the standard input of process %u: %s",
				(unsigned)(exec->reader >> 32), why);
		return;
	case TQI_LAUNCH_NULL:
		tqi_outcome_release(outcome, "cannot start a command: /dev/null", -fault->error);
		return;
	default:
		tqi_outcome_release(outcome, "cannot start a command", -fault->error);
	}
}

static bool was_oom(const struct command *c)
{
	return WTERMSIG(c->status) == SIGKILL && c->attempt->phase == TQI_PHASE_NONE &&
	       tqi_oom_kills() > c->oom_kills;
}

/*
 * A service manager that sends SIGTERM to every process of a farm: the farm would have let
 * the command finish, or given it back.
 */
static bool was_told_to_end(const struct command *c)
{
	const bool by_signal = WIFSIGNALED(c->status) && WTERMSIG(c->status) == SIGTERM;
	const bool by_code = WIFEXITED(c->status) && WEXITSTATUS(c->status) == 128 + SIGTERM;

	return (by_signal || by_code) && c->attempt->phase == TQI_PHASE_NONE &&
	       c->worker->heartbeat && tqi_heartbeat_is_told(c->worker->heartbeat, TOLD_NS);
}

static void explain_end(const struct command *c, struct tqi_outcome *outcome)
{
	if (was_told_to_end(c))
		tqi_outcome_set(outcome, TQ_VERDICT_RELEASE, TQ_CAUSE_RELEASED, 0,
				"it got SIGTERM together with its farm");
	else if (WIFEXITED(c->status))
		tqi_outcome_set(outcome, WEXITSTATUS(c->status) ? TQ_VERDICT_FAIL : TQ_VERDICT_DONE,
				TQ_CAUSE_EXIT, WEXITSTATUS(c->status), NULL);
	else if (was_oom(c))
		tqi_outcome_set(outcome, TQ_VERDICT_FAIL, TQ_CAUSE_OOM, 0, NULL);
	else
		tqi_outcome_set(outcome, TQ_VERDICT_FAIL, TQ_CAUSE_SIGNAL, WTERMSIG(c->status),
				NULL);
}

static bool may_go_again(const struct command *c)
{
	struct tq_task_info info = { .size = sizeof(info) };

	return c->output.head && tq_task_info(c->worker->tq, c->claim->id, &info) == 0 &&
	       info.attempts_max > info.failures + 1;
}

static void report(const struct command *c, uint64_t tail_bytes, struct tqi_outcome *outcome)
{
	uint64_t bytes = c->output.head < tail_bytes ? c->output.head : tail_bytes;

	if (bytes > c->output.room)
		bytes = c->output.room;
	if (bytes && tqi_outcome_room(outcome, bytes)) {
		tqi_output_tail(&c->output, outcome->buffer, bytes);
		outcome->verdict.result = outcome->buffer;
		outcome->verdict.result_bytes = bytes;
	}
	outcome->verdict.output_bytes = c->output.head;
	outcome->verdict.max_rss_bytes = c->usage.max_rss_bytes;
	outcome->verdict.cpu_ns = c->usage.cpu_ns;
}

/* Not to be started after all: its child sees the end of the pipe. */
static void call_off(struct command *c, struct tqi_launch *launch, int error,
		     struct tqi_outcome *outcome)
{
	tqi_launch_close(&launch->go[1]);
	kill(c->pid, SIGKILL);
	tqi_reap_leader(c->pid, &c->usage);
	if (error == -ECANCELED || error == TQ_ELEASE)
		tqi_outcome_set(outcome, TQ_VERDICT_FAIL, TQ_CAUSE_ERROR, -ECANCELED,
				"stopped before it began");
	else
		tqi_outcome_release(outcome, "cannot start a command", error);
}

static void run_launched(struct command *c, struct tqi_launch *launch, uint64_t tail_bytes,
			 struct tqi_outcome *outcome)
{
	struct tqi_launch_fault fault;
	int r;

	c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	r = c->pidfd < 0 ? -errno : tqi_group_open(c->worker, c->claim, c->pid);
	if (r < 0) {
		call_off(c, launch, r, outcome);
		return;
	}
	c->attempt = tqi_claim_record(c->worker, c->claim);
	c->output.fd = launch->output[0];
	tqi_output_begin(&c->output, c->worker, c->attempt, tail_bytes, launch->exec->reader);
	r = tqi_launch_go(launch, &fault);
	follow(c);
	if (r == 1)
		explain_fault(launch, &fault, outcome);
	else
		explain_end(c, outcome);
	if (outcome->verdict.kind == TQ_VERDICT_FAIL && may_go_again(c))
		tqi_output_settle(&c->output);
	report(c, tail_bytes, outcome);
}

static void run_decoded(struct tq_worker *worker, const struct tq_claim *claim,
			const struct tq_exec *exec, uint64_t tail_bytes,
			struct tqi_outcome *outcome)
{
	struct command c = {
		.worker = worker,
		.claim = claim,
		.pidfd = -1,
		.oom_kills = tqi_oom_kills(),
	};
	struct tqi_launch launch;
	int r = tqi_launch_prepare(&launch, worker, claim, exec);

	tqi_leftovers_begin(&c.leftovers, worker->tq->seg.path, claim->id,
			    exec->flags & TQ_EXEC_LEFTOVERS);
	if (r == 0)
		r = c.pid = tqi_launch_fork(&launch);
	if (r < 0)
		tqi_outcome_release(outcome, "cannot start a command", r);
	else
		run_launched(&c, &launch, tail_bytes, outcome);
	tqi_leftovers_finish(&c.leftovers);
	tqi_launch_free(&launch);
	tqi_launch_close(&c.pidfd);
}

void tqi_command_run(struct tq_worker *worker, const struct tq_claim *claim, uint64_t tail_bytes,
		     struct tqi_outcome *outcome)
{
	struct tq_exec *exec;
	int r = tq_exec_decode(claim->payload, claim->payload_bytes, &exec);

	tqi_outcome_begin(outcome);
	if (r == -ENOMEM)
		tqi_outcome_release(outcome, "cannot start a command", r);
	else if (r < 0)
		tqi_outcome_set(outcome, TQ_VERDICT_FATAL, TQ_CAUSE_ERROR, r,
				"the payload is not a command");
	else
		run_decoded(worker, claim, exec, tail_bytes, outcome);
	if (r == 0)
		free(exec);
}
