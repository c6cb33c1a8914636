/* SPDX-License-Identifier: MIT */
/* Observers: read-only, they look at everything and disturb nobody. */
#include <errno.h>
#include <string.h>

#include "storm.h"

#define PAGE 32u

static void look_at_task(struct player *p, uint32_t slot, const struct tq_task_info *info)
{
	struct tq_attempt_info attempts[TQ_HISTORY_MAX];
	unsigned char buf[400];
	uint64_t bytes;
	uint32_t of;

	if (info->state == TQ_DONE)
		outcome_check_result(p, slot, info);
	int r = tq_task_payload(p->tq, info->id, buf, sizeof(buf), &bytes);

	if (r != -ENOENT)
		player_accepts(p, "tq_task_payload", r);
	if (r == 0 && bytes <= sizeof(buf) && strcmp(info->kind, "exec") != 0 &&
	    (!paper_read(buf, bytes, &of) || of != slot))
		ledger_fault(p->ledger, FAULT_MIXED, slot, "its payload of %llu bytes",
			     (unsigned long long)bytes);
	r = tq_task_history(p->tq, info->id, attempts);
	if (r != -ENOENT)
		player_accepts(p, "tq_task_history", r);
	for (int i = 1; i < r; i++)
		if (attempts[i].number <= attempts[i - 1].number)
			ledger_fault(p->ledger, FAULT_ANSWER, slot, "history: %u after %u",
				     attempts[i].number, attempts[i - 1].number);
}

static void look_at_tasks(struct player *p)
{
	struct tq_task_info infos[PAGE] = { { .size = sizeof(infos[0]) } };
	uint64_t cursor = 0;
	uint32_t slot;
	int n;

	while ((n = tq_task_list(p->tq, NULL, &cursor, infos, PAGE)) > 0)
		for (int i = 0; i < n; i++) {
			slot = UINT32_MAX;
			(void)outcome_see(p, &infos[i], &slot);
			if (slot != UINT32_MAX && chance_percent(&p->chance, 5))
				look_at_task(p, slot, &infos[i]);
			infos[i].size = sizeof(infos[i]);
		}
	player_accepts(p, "tq_task_list", n);
}

static void look_at_all(struct player *p)
{
	struct tq_task_brief briefs[PAGE] = { { .size = sizeof(briefs[0]) } };
	uint64_t cursor = 0, left = 1;
	int n = 0;

	while (n >= 0 && left > 0) {
		n = tq_task_scan(p->tq, TQ_SCAN_LABELS, &cursor, &left, briefs, PAGE);
		briefs[0].size = sizeof(briefs[0]);
	}
	player_accepts(p, "tq_task_scan", n);
}

static void look_at_commands(struct player *p)
{
	struct tq_command_info info = { .size = sizeof(info) };
	struct tq_command_answer answer = { .size = sizeof(answer) };
	uint64_t cursor = 0, next;

	while (tq_command_list(p->tq, &cursor, &info, 1) > 0) {
		uint32_t answers = 0;

		for (uint32_t a = TQ_ANSWER_WAITING; a < TQ_ANSWER_COUNT; a++)
			answers += info.answers[a];
		if (answers != info.recipients)
			ledger_fault(p->ledger, FAULT_ANSWER, UINT32_MAX, "%u answers of %u",
				     answers, info.recipients);
		next = 0;
		player_accepts(p, "tq_command_answers",
			       tq_command_answers(p->tq, info.id, &next, &answer, 1));
		answer.size = sizeof(answer);
	}
}

/* A kill leaves samples out; it adds none. */
static void look_at_times(struct player *p, const struct tq_queue_info *queue)
{
	struct tq_queue_info later = { .size = sizeof(later) };
	struct tq_times times = { .size = sizeof(times) };

	if (!queue->name[0])
		return;
	player_accepts(p, "tq_times_read", tq_times_read(p->tq, queue->name, NULL, &times));
	player_accepts(p, "tq_queue_info", tq_queue_info(p->tq, queue->name, &later));
	if (times.wait.count > later.counters.started ||
	    times.life.count > later.counters.done + later.counters.failed)
		ledger_fault(p->ledger, FAULT_ANSWER, UINT32_MAX,
			     "%llu waits of %llu starts, %llu lives",
			     (unsigned long long)times.wait.count,
			     (unsigned long long)later.counters.started,
			     (unsigned long long)times.life.count);
}

static void look_at_the_rest(struct player *p)
{
	struct tq_queue_info queues[PAGE] = { { .size = sizeof(queues[0]) } };
	struct tq_worker_info workers[PAGE] = { { .size = sizeof(workers[0]) } };
	struct tq_server_info servers[PAGE] = { { .size = sizeof(servers[0]) } };
	struct tq_server_limit_info limits[PAGE] = { { .size = sizeof(limits[0]) } };
	struct tq_segment_info info = { .size = sizeof(info) };
	uint64_t cursor = 0;

	player_accepts(p, "tq_segment_info", tq_segment_info(p->tq, &info));
	player_accepts(p, "tq_queue_list",
		       tq_queue_list(p->tq, TQ_QUEUE_BY_KIND, &cursor, queues, PAGE));
	cursor = 0;
	player_accepts(p, "tq_worker_list", tq_worker_list(p->tq, &cursor, workers, PAGE));
	cursor = 0;
	player_accepts(p, "tq_server_list", tq_server_list(p->tq, NULL, &cursor, servers, PAGE));
	cursor = 0;
	player_accepts(p, "tq_server_limit_list",
		       tq_server_limit_list(p->tq, NULL, &cursor, limits, PAGE));
	look_at_commands(p);
	look_at_times(p, &queues[0]);
	look_at_trace(p);
}

static void finding(void *arg, const char *text)
{
	struct player *p = arg;

	ledger_fault(p->ledger, FAULT_UNSOUND, UINT32_MAX, "%s", text);
}

int play_observer(struct player *p)
{
	if (!player_open(p, TQ_OPEN_READONLY))
		return 0;
	while (!player_phase_is(p, PHASE_END)) {
		player_does(p, DOING_LOOK, UINT32_MAX);
		look_at_the_rest(p);
		look_at_tasks(p);
		look_at_all(p);
		if (chance_percent(&p->chance, 5))
			player_accepts(p, "tq_check", tq_check(p->tq, 0, finding, p));
		player_work(chance_in(&p->chance, 1, 30) * MS);
	}
	return 0;
}
