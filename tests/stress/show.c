/* SPDX-License-Identifier: MIT */
/* Who and what is there, for people who look for what is stuck. */
#include <errno.h>
#include <stdio.h>

#include "drain.h"

#define PAGE 64u
#define UNFINISHED (1u << TQ_DELAYED | 1u << TQ_READY | 1u << TQ_RUNNING)

static void show_tasks(struct tq *tq)
{
	const struct tq_task_filter filter = { .size = sizeof(filter), .states = UNFINISHED };
	struct tq_task_info infos[PAGE] = { { .size = sizeof(infos[0]) } };
	uint64_t cursor = 0;
	int n = tq_task_list(tq, &filter, &cursor, infos, PAGE);

	for (int i = 0; i < n; i++)
		printf("  %s: %s %s/%s flags %x attempt %u worker %u pid %u\n", infos[i].label,
		       tq_task_state_name(infos[i].state), infos[i].queue, infos[i].kind,
		       infos[i].flags, infos[i].attempt, infos[i].worker, infos[i].worker_pid);
}

static void show_workers(struct tq *tq)
{
	struct tq_worker_info infos[PAGE] = { { .size = sizeof(infos[0]) } };
	uint64_t cursor = 0;
	int n = tq_worker_list(tq, &cursor, infos, PAGE);

	for (int i = 0; i < n; i++)
		printf("  worker %u: pid %u (%c) flags %x master %u claims %u\n", infos[i].number,
		       infos[i].pid, who_state((pid_t)infos[i].pid), infos[i].flags,
		       infos[i].master, infos[i].claims);
}

static void show_segment(struct tq *tq)
{
	struct tq_lock_holder holder = { .size = sizeof(holder) };
	struct tq_segment_info info = { .size = sizeof(info) };

	if (tq_segment_info(tq, &info) == 0)
		printf("  unfinished %llu of %llu tasks, workers %u, sleepers %u, rollbacks %llu, "
		       "%s\n",
		       (unsigned long long)info.tasks_unfinished,
		       (unsigned long long)info.tasks_count, info.workers, info.sleepers,
		       (unsigned long long)info.rollbacks,
		       info.shutting_down ? "shutting down" : "open");
	if (tq_lock_blame(tq, &holder) == 0 && holder.tid)
		printf("  lock: tid %u pid %u (%c) for %.1f s\n", holder.tid, holder.pid,
		       holder.state ? (int)holder.state : '?', (double)holder.held_ns / 1e9);
}

static void show_finding(void *arg, const char *text)
{
	(void)arg;
	printf("  check: %s\n", text);
}

static void show_child(pid_t pid, void *arg)
{
	(void)arg;
	printf("  child %d (%c)\n", (int)pid, who_state(pid));
}

void drain_show(struct cast *c)
{
	show_segment(c->storm->tq);
	cast_print(c);
	who_children(show_child, NULL);
	show_workers(c->storm->tq);
	show_tasks(c->storm->tq);
	(void)!tq_check(c->storm->tq, 0, show_finding, NULL);
	fflush(stdout);
}
