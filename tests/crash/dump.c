/* SPDX-License-Identifier: MIT */
/* Text of tasks, queues, workers and counts, read through the public functions. */
#include "tests/crash/dump.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char is_set(uint64_t time_ns)
{
	return time_ns ? '+' : '-';
}

static void dump_task(FILE *f, const struct tq_task_info *t, uint32_t but)
{
	fprintf(f,
		"task %" PRIx64 " seq %" PRIu64 " %s flags %x pri %d att %u/%u f%u c%u/%u l%u/%u",
		t->id, t->sequence, tq_task_state_name(t->state),
		t->flags & ~(TQ_INFO_UNSERVED | but), t->priority, t->attempt, t->attempts_max,
		t->failures, t->crashes, t->crashes_max, t->losses, t->losses_max);
	fprintf(f, " cause %u:%d q %s k %s l '%s' e '%s' p '%s' %u%%", t->cause, t->cause_arg,
		t->queue, t->kind, t->label, t->error_text, t->progress_text, t->progress_percent);
	fprintf(f,
		" bytes %" PRIu64 "/%" PRIu64 "/%" PRIu64 " times %c%c%c%c worker %u due %" PRIu64
		" at %" PRIu64 " of %" PRIx64 " server '%s'\n",
		t->payload_bytes, t->result_bytes, t->output_bytes, is_set(t->ready_ns),
		is_set(t->started_ns), is_set(t->ended_ns), is_set(t->submitted_ns), t->worker,
		t->due_ns, t->at_ns, t->schedule, t->server);
}

static void dump_tasks(FILE *f, struct tq *tq, uint32_t but)
{
	struct tq_task_info infos[16];
	uint64_t cursor = 0;
	int n;

	do {
		infos[0].size = sizeof(infos[0]);
		n = tq_task_list(tq, NULL, &cursor, infos, 16);
		for (int i = 0; i < n; i++)
			dump_task(f, &infos[i], but);
	} while (n > 0);
	if (n < 0)
		fprintf(f, "tasks: %s\n", tq_error_name(n));
}

static void dump_queue(FILE *f, const struct tq_queue_info *q)
{
	const struct tq_counters *c = &q->counters;

	fprintf(f,
		"queue %s/%s flags %x max %" PRIu64 " to %" PRIu64 " bo %" PRIu64 " cap %" PRIu64
		" att %u",
		q->name, q->kind, q->flags & ~TQ_QUEUE_REORDERING, q->depth_max, q->timeout_ns,
		q->backoff_ns, q->backoff_cap_ns, q->attempts_max);
	for (uint32_t b = 0; b < TQ_BANDS; b++)
		fprintf(f, " age %u", q->ageing[b]);
	fprintf(f, " hybrid %u fair %u", q->hybrid, q->fair);
	fprintf(f,
		" sub %" PRIu64 " start %" PRIu64 " end %" PRIu64 ",%" PRIu64 ",%" PRIu64
		",%" PRIu64,
		c->submitted, c->started, c->done, c->failed, c->cancelled, c->expired);
	fprintf(f, " retry %" PRIu64 " crash %" PRIu64 " lost %" PRIu64 " depth", c->retried,
		c->crashed, c->reclaimed);
	for (uint32_t s = 0; s < TQ_STATE_COUNT; s++)
		fprintf(f, " %u", c->depth[s]);
	fprintf(f, "\n");
}

static void dump_queues(FILE *f, struct tq *tq, uint32_t flags)
{
	struct tq_queue_info info = { .size = sizeof(info) };
	uint64_t cursor = 0;

	while (tq_queue_list(tq, flags, &cursor, &info, 1) > 0) {
		dump_queue(f, &info);
		info.size = sizeof(info);
	}
}

static void dump_limits(FILE *f, struct tq *tq)
{
	struct tq_limit_info i = { .size = sizeof(i) };
	uint64_t cursor = 0;

	while (tq_limit_list(tq, &cursor, &i, 1) > 0) {
		fprintf(f, "limit '%s' %u of %u, %u wait, %u tasks, rate %u, %u of %u tokens\n",
			i.key, i.used, i.slots, i.waiting, i.tasks, i.rate, i.tokens, i.burst);
		i.size = sizeof(i);
	}
}

static void dump_kinds(FILE *f, struct tq *tq)
{
	struct tq_kind_info i = { .size = sizeof(i) };
	uint64_t cursor = 0;

	for (; tq_kind_list(tq, &cursor, &i, 1) > 0; i.size = sizeof(i))
		fprintf(f, "kind '%s' %llu of %llu, %llu to %llu, %u\n", i.name,
			(unsigned long long)i.timeout_ns, (unsigned long long)i.timeout_total_ns,
			(unsigned long long)i.backoff_ns, (unsigned long long)i.backoff_cap_ns,
			i.attempts_max);
}

static void dump_servers(FILE *f, struct tq *tq)
{
	struct tq_server_limit_info l = { .size = sizeof(l) };
	struct tq_server_info i = { .size = sizeof(i) };
	uint64_t cursor = 0;

	for (; tq_server_list(tq, NULL, &cursor, &i, 1) > 0; i.size = sizeof(i))
		fprintf(f, "server '%s' of %s flags %x used %u at '%s' %u of %u\n", i.name, i.queue,
			i.flags, i.used, i.limit, i.limit_used, i.limit_slots);
	cursor = 0;
	for (; tq_server_limit_list(tq, NULL, &cursor, &l, 1) > 0; l.size = sizeof(l))
		fprintf(f, "servers '%s' of %s %u of %u, %u\n", l.pattern, l.queue, l.used, l.slots,
			l.servers);
}

static void dump_workers(FILE *f, struct tq *tq)
{
	struct tq_worker_info w = { .size = sizeof(w) };
	uint64_t cursor = 0;

	while (tq_worker_list(tq, &cursor, &w, 1) > 0) {
		fprintf(f,
			"worker %u flags %x pid %u master %u claims %u tasks %" PRIu64
			" '%s' %s lease %" PRIu64 "\n",
			w.number, w.flags & ~TQ_WORKER_IS_DYING, w.pid, w.master, w.claims, w.tasks,
			w.name, w.queues, w.lease_ns);
		w.size = sizeof(w);
	}
}

static void dump_schedules(FILE *f, struct tq *tq)
{
	struct tq_schedule_info s = { .size = sizeof(s) };
	uint64_t cursor = 0;

	while (tq_schedule_list(tq, &cursor, &s, 1) > 0) {
		fprintf(f,
			"schedule %" PRIx64 " flags %x every %" PRIu64 " '%s' '%s' next %" PRIu64
			" runs %" PRIu64 " skipped %" PRIu64 " owed %u error %d last %" PRIx64
			" %s %s '%s' %d\n",
			s.id, s.flags, s.every_ns, s.cron, s.zone, s.next_ns, s.runs, s.skipped,
			s.owed, s.last_error, s.last_run, s.queue, s.kind, s.label, s.priority);
		s.size = sizeof(s);
	}
}

static void dump_answers(FILE *f, struct tq *tq, uint64_t id)
{
	struct tq_command_answer a = { .size = sizeof(a) };
	uint64_t cursor = 0;

	while (tq_command_answers(tq, id, &cursor, &a, 1) > 0) {
		fprintf(f, " %u %s by %u takes %u '%s' %c\n", a.worker, tq_answer_name(a.state),
			a.pid, a.takes, a.text, is_set(a.changed_ns));
		a.size = sizeof(a);
	}
}

static void dump_commands(FILE *f, struct tq *tq)
{
	struct tq_command_info c = { .size = sizeof(c) };
	uint64_t cursor = 0;

	while (tq_command_list(tq, &cursor, &c, 1) > 0) {
		fprintf(f, "command %" PRIx64 " %s '%s' q %s to %u by %u times %c%c\n", c.id,
			c.name, c.argument, c.queue, c.to, c.sender_pid, is_set(c.sent_ns),
			is_set(c.ended_ns));
		dump_answers(f, tq, c.id);
		c.size = sizeof(c);
	}
}

static void dump_groups(FILE *f, struct tq *tq)
{
	struct tq_group_info g = { .size = sizeof(g) };
	uint64_t cursor = 0;

	while (tq_group_list(tq, &cursor, &g, 1) > 0) {
		fprintf(f,
			"group %" PRIx64 " %s '%s' flags %x completion %" PRIx64 " when %u culprit"
			" %" PRIx64 " members %u unfinished %u times %c%c states",
			g.id, tq_group_state_name(g.state), g.label, g.flags, g.completion,
			g.condition, g.culprit, g.members, g.unfinished, is_set(g.created_ns),
			is_set(g.ended_ns));
		for (uint32_t s = 0; s < TQ_STATE_COUNT; s++)
			fprintf(f, " %u", g.states[s]);
		fprintf(f, "\n");
		g.size = sizeof(g);
	}
}

char *tqt_dump(struct tq *tq, uint32_t but)
{
	struct tq_segment_info i = { .size = sizeof(i) };
	char *text = NULL;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);

	if (!f || tq_segment_info(tq, &i) < 0) {
		perror("dump");
		exit(1);
	}
	fprintf(f,
		"tasks %" PRIu64 " unfinished %" PRIu64 " workers %u shutdown %u reclaimed %" PRIu64
		"\n",
		i.tasks_count, i.tasks_unfinished, i.workers, i.shutting_down, i.reclaimed);
	dump_tasks(f, tq, but);
	dump_queues(f, tq, 0);
	dump_queues(f, tq, TQ_QUEUE_BY_KIND);
	dump_limits(f, tq);
	dump_kinds(f, tq);
	dump_servers(f, tq);
	dump_workers(f, tq);
	dump_schedules(f, tq);
	dump_commands(f, tq);
	dump_groups(f, tq);
	fclose(f);
	return text;
}

void tqt_dump_differs(const char *a, const char *b)
{
	const char *line_a = a, *line_b = b;

	for (; *a && *a == *b; a++, b++)
		if (*a == '\n')
			line_a = a + 1, line_b = b + 1;
	a = line_a;
	b = line_b;
	printf("      %.*s\n  not %.*s\n", (int)strcspn(a, "\n"), a, (int)strcspn(b, "\n"), b);
}
