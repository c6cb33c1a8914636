/* SPDX-License-Identifier: MIT */
/* A segment whose processes have all ended: what is in it, and what must not be. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "drain.h"
#include "judge.h"

#define PAGE 64u
#define FILL_BYTES (100u << 10)
#define FILL_MAX 4096u /* more than fit into any segment of a storm */

/* Before tasks are counted: they make new ones. */
static void remove_schedules(struct storm *storm)
{
	struct tq_schedule_info info = { .size = sizeof(info) };
	uint64_t cursor = 0;

	while (tq_schedule_list(storm->tq, &cursor, &info, 1) > 0) {
		(void)!tq_schedule_steer(storm->tq, info.id, TQ_SCHEDULE_REMOVE);
		info.size = sizeof(info);
	}
}

void rest_bury(struct cast *c)
{
	static const char *const queue = QUEUE_PLAIN;
	const struct tq_worker_opts opts = { .size = sizeof(opts),
					     .queues = &queue,
					     .queue_count = 1 };
	struct tq_segment_info info = { .size = sizeof(info) };
	struct tq_claim claim = { .size = sizeof(claim) };
	uint64_t until = now_ns() + drain_patience(c);
	struct tq_worker *self = NULL;

	remove_schedules(c->storm);
	int r = tq_worker_open(c->storm->tq, &opts, &self);

	if (r < 0)
		ledger_fault(c->storm->ledger, FAULT_ANSWER, UINT32_MAX, "tq_worker_open: %s",
			     tq_strerror(r));
	while (self && tq_claim(self, SLICE_NS, &claim) == -ETIMEDOUT &&
	       tq_segment_info(c->storm->tq, &info) == 0 && (info.workers > 1 || info.sleepers))
		if (now_ns() > until) {
			drain_stuck(c, "the dead are not buried");
			break;
		}
	tq_worker_close(self);
}

/* Tasks whose submitters died before they knew: those whose records are there were. */
static void see_all(struct storm *storm)
{
	struct tq_task_info infos[PAGE] = { { .size = sizeof(infos[0]) } };
	struct ledger *l = storm->ledger;
	uint64_t cursor = 0;
	int n;

	while ((n = tq_task_list(storm->tq, NULL, &cursor, infos, PAGE)) > 0)
		for (int i = 0; i < n; i++) {
			uint32_t slot = paper_label_slot(infos[i].label);

			if (slot < l->tasks && l->task[slot].state == LEDGER_OFFERED)
				ledger_seen(l, slot, infos[i].id);
			infos[i].size = sizeof(infos[i]);
		}
}

void rest_groups(struct storm *storm)
{
	struct tq_group_info info = { .size = sizeof(info) };
	struct ledger *l = storm->ledger;
	uint64_t cursor = 0;
	int n;

	for (uint32_t g = 0; g < l->groups; g++)
		judge_graph(l, g);
	while ((n = tq_group_list(storm->tq, &cursor, &info, 1)) > 0) {
		if (info.state != TQ_GROUP_COMPLETE || info.unfinished)
			ledger_fault(l, FAULT_LEAK, UINT32_MAX, "group %llx is %s, %u unfinished",
				     (unsigned long long)info.id, tq_group_state_name(info.state),
				     info.unfinished);
		info.size = sizeof(info);
	}
	if (n < 0)
		ledger_fault(l, FAULT_ANSWER, UINT32_MAX, "tq_group_list: %s", tq_strerror(n));
}

void rest_judge(struct storm *storm)
{
	struct ledger *l = storm->ledger;

	see_all(storm);

	for (uint32_t slot = 0; slot < l->tasks; slot++) {
		struct tq_task_info info = { .size = sizeof(info) };
		uint64_t id = l->task[slot].id;

		judge_task(l, slot, id ? tq_task_info(storm->tq, id, &info) : TQ_EGONE, &info);
	}
}

/* Records that should not be there any more, or never were anybody's. */
static void look_at(struct storm *storm, const struct tq_task_info *info)
{
	struct ledger *l = storm->ledger;
	uint32_t slot = paper_label_slot(info->label);

	if (slot >= l->tasks || (l->task[slot].id && l->task[slot].id != info->id))
		ledger_fault(l, FAULT_GHOST, UINT32_MAX, "id %llx, label '%.40s'",
			     (unsigned long long)info->id, info->label);
	else if (l->task[slot].state == LEDGER_REFUSED)
		ledger_fault(l, FAULT_GHOST, slot, "it was refused, and is there");
	else if ((info->flags & TQ_INFO_FORGET) && info->state >= TQ_DONE &&
		 !l->task[slot].is_parent)
		ledger_fault(l, FAULT_LEAK, slot, "it was to be forgotten, and is there");
	/* One that a dependency has cancelled pins what it came after (D3). */
	if ((info->flags & TQ_INFO_PINNED) && !(info->flags & TQ_INFO_KEEP) &&
	    !(slot < l->tasks && l->task[slot].is_parent))
		ledger_fault(l, FAULT_LEAK, UINT32_MAX, "task %llx is pinned by nobody",
			     (unsigned long long)info->id);
}

void rest_forget(struct storm *storm)
{
	struct tq_task_info infos[PAGE] = { { .size = sizeof(infos[0]) } };
	uint64_t cursor = 0;
	int n;

	while ((n = tq_task_list(storm->tq, NULL, &cursor, infos, PAGE)) > 0)
		for (int i = 0; i < n; i++) {
			look_at(storm, &infos[i]);
			(void)!tq_task_steer(storm->tq, infos[i].id, TQ_TASK_ACTION_FORGET);
			infos[i].size = sizeof(infos[i]);
		}
}

void rest_squeeze(struct storm *storm)
{
	const struct tq_task_spec spec = { .size = sizeof(spec),
					   .queue = QUEUE_PLAIN,
					   .kind = KIND_WORK,
					   .flags = TQ_TASK_FORGET,
					   .payload = calloc(1, FILL_BYTES),
					   .payload_bytes = FILL_BYTES };
	uint64_t *ids = calloc(FILL_MAX, sizeof(*ids));
	uint32_t count = 0;
	int r = 0;

	while (spec.payload && ids && count < FILL_MAX && r == 0) {
		r = tq_submit(storm->tq, &spec, &ids[count]);
		count += r == 0;
	}
	if (r != TQ_EFULL && r != -ENOSPC)
		ledger_fault(storm->ledger, FAULT_ANSWER, UINT32_MAX, "filling up: %s after %u",
			     tq_strerror(r), count);
	for (uint32_t i = 0; i < count; i++)
		if (tq_task_steer(storm->tq, ids[i], TQ_TASK_ACTION_CANCEL) != 0)
			ledger_fault(storm->ledger, FAULT_LEAK, UINT32_MAX, "cancel of %llx",
				     (unsigned long long)ids[i]);
	free(ids);
	free((void *)(uintptr_t)spec.payload);
}

void rest_limits(struct storm *storm)
{
	struct tq_limit_info i = { .size = sizeof(i) };
	uint64_t cursor = 0;
	int n;

	while ((n = tq_limit_list(storm->tq, &cursor, &i, 1)) > 0) {
		if (i.used || i.waiting)
			ledger_fault(storm->ledger, FAULT_LEAK, UINT32_MAX,
				     "limit %s: %u used, %u wait", i.key, i.used, i.waiting);
		i.size = sizeof(i);
	}
	if (n < 0)
		ledger_fault(storm->ledger, FAULT_ANSWER, UINT32_MAX, "tq_limit_list: %s",
			     tq_strerror(n));
}

void rest_servers(struct storm *storm)
{
	struct tq_server_info i = { .size = sizeof(i) };
	uint64_t cursor = 0;
	int n;

	while ((n = tq_server_list(storm->tq, NULL, &cursor, &i, 1)) > 0)
		ledger_fault(storm->ledger, FAULT_LEAK, UINT32_MAX, "server %s is left: %u used",
			     i.name, i.used);
	if (n < 0)
		ledger_fault(storm->ledger, FAULT_ANSWER, UINT32_MAX, "tq_server_list: %s",
			     tq_strerror(n));
}

static void finding(void *arg, const char *text)
{
	ledger_fault(arg, FAULT_UNSOUND, UINT32_MAX, "at rest: %s", text);
}

void rest_check(struct storm *storm)
{
	int r = tq_check(storm->tq, TQ_CHECK_EXACT, finding, storm->ledger);

	if (r < 0)
		ledger_fault(storm->ledger, FAULT_ANSWER, UINT32_MAX, "tq_check: %s",
			     tq_strerror(r));
}
