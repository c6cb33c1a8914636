/* SPDX-License-Identifier: MIT */
/* Bringing everything to an end, in order. */
#include "drain.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>

#define PAGE 64u
#define UNFINISHED (1u << TQ_DELAYED | 1u << TQ_READY | 1u << TQ_RUNNING)
#define BIT(role) (1u << ROLE_##role)
#define SERVERS (BIT(WORKER) | BIT(FARM))
#define BEGINNERS (BIT(SUBMITTER) | BIT(STEERER) | BIT(JANITOR) | BIT(PLANNER))

#define PATIENCE_NS (60 * S)
#define PATIENCE_AT_FAULT_NS (5 * S)

uint64_t drain_patience(struct cast *c)
{
	return ledger_faults(c->storm->ledger) ? PATIENCE_AT_FAULT_NS : PATIENCE_NS;
}

void drain_stuck(struct cast *c, const char *what)
{
	ledger_fault(c->storm->ledger, FAULT_STUCK, UINT32_MAX, "%s", what);
	printf("stuck: %s\n", what);
	drain_show(c);
}

/* The steerer may have been killed before it could let go what it had stopped. */
static void release_queue(struct storm *storm)
{
	const struct tq_queue_opts opts = { .size = sizeof(opts), .depth_max = TQ_UNLIMITED };

	(void)!tq_queue_steer(storm->tq, QUEUE_STEERED, TQ_QUEUE_RESUME);
	(void)!tq_queue_steer(storm->tq, QUEUE_STEERED, TQ_QUEUE_UNDRAIN);
	(void)!tq_server_clear(storm->tq, QUEUE_STEERED);
	(void)!tq_queue_set(storm->tq, QUEUE_STEERED, &opts);
}

/* Sleeps until one ends of those that are unfinished now, or for a slice; how many are left. */
static uint64_t wait_for_tasks(struct cast *c)
{
	const struct tq_task_filter filter = { .size = sizeof(filter), .states = UNFINISHED };
	struct tq_task_info infos[PAGE] = { { .size = sizeof(infos[0]) } };
	struct tq_segment_info info = { .size = sizeof(info) };
	const struct tq_wait_opts any = { .size = sizeof(any), .flags = TQ_WAIT_ANY };
	struct tq *tq = c->storm->tq;
	uint64_t cursor = 0, ids[PAGE];
	int n = tq_task_list(tq, &filter, &cursor, infos, PAGE), r = -EAGAIN;

	for (int i = 0; i < n; i++) {
		ids[i] = infos[i].id;
		if (infos[i].flags & TQ_INFO_HELD)
			(void)!tq_task_steer(tq, ids[i], TQ_TASK_ACTION_UNHOLD);
	}
	if (n > 0)
		r = tq_wait(tq, ids, (uint32_t)n, SLICE_NS, &any, NULL);
	cast_wait(c, r >= 0 || r == -ETIMEDOUT ? 0 : SLICE_NS / 10);
	cast_continue(c, true); /* a last fuse */
	return tq_segment_info(tq, &info) == 0 ? info.tasks_unfinished : UINT64_MAX;
}

/* Until no task is unfinished; whoever serves and has ended comes again. */
static void finish_tasks(struct cast *c)
{
	uint64_t left, before = UINT64_MAX, until = 0;

	while ((left = wait_for_tasks(c)) > 0) {
		if (left != before)
			until = now_ns() + drain_patience(c);
		before = left;
		cast_restart(c, SERVERS);
		if (now_ns() > until) {
			drain_stuck(c, "tasks do not end");
			return;
		}
	}
}

static void dismiss(struct cast *c, uint32_t roles, const char *stuck)
{
	uint64_t until = now_ns() + drain_patience(c);

	while (cast_live(c, roles)) {
		cast_wait(c, SLICE_NS);
		cast_continue(c, true);
		if (now_ns() > until) {
			drain_stuck(c, stuck);
			return;
		}
	}
}

static void kill_child(pid_t pid, void *arg)
{
	(void)arg;
	kill(pid, SIGKILL); /* not reaped: the number is its own */
}

/* Whatever is left, of whatever parent, is the conductor's child by now. */
static void end_processes(struct cast *c)
{
	uint64_t until = now_ns() + drain_patience(c);

	while (cast_reap(c)) {
		cast_wait(c, SLICE_NS);
		if (now_ns() <= until)
			continue;
		drain_stuck(c, "processes do not end");
		who_children(kill_child, NULL);
		until = now_ns() + drain_patience(c);
	}
}

void drain(struct cast *c, const struct usage *before)
{
	struct storm *storm = c->storm;
	struct usage after;

	storm->ledger->phase = PHASE_DRAIN;
	cast_continue(c, true);
	dismiss(c, BEGINNERS, "submitters, planners, steerers or janitors do not return");
	release_queue(storm);
	finish_tasks(c);
	/* Children of workers may still submit: from now on they are refused. */
	(void)!tq_shutdown(storm->tq, 0);
	finish_tasks(c);
	dismiss(c, SERVERS, "workers do not see the shutdown");
	dismiss(c, BIT(WAITER), "waiters do not return, though all tasks have ended");
	storm->ledger->phase = PHASE_END;
	dismiss(c, (1u << ROLE_COUNT) - 1, "observers do not return");
	end_processes(c);
	(void)!tq_shutdown(storm->tq, TQ_SHUTDOWN_UNDO);
	rest_bury(c);
	rest_judge(storm);
	rest_groups(storm);
	rest_limits(storm);
	rest_servers(storm);
	rest_forget(storm);
	rest_squeeze(storm);
	rest_check(storm);
	usage_read(storm->tq, &after);
	usage_compare(storm->ledger, before, &after);
}
