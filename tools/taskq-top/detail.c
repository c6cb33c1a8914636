/* SPDX-License-Identifier: MIT */
/* Details: read, and brought into lines. */
#include <stdlib.h>
#include <string.h>

#include "detail.h"
#include "policy_text.h"
#include "text.h"
#include "worker_text.h"

void detail_close(struct detail *detail)
{
	lines_free(&detail->lines);
	tail_free(&detail->tail);
	group_scan_free(&detail->scan);
	*detail = (struct detail){ 0 };
}

void detail_set_row(struct detail *detail, enum subject subject, const void *row, size_t bytes)
{
	memcpy(&detail->row, row, bytes);
	detail->acts_on = &detail->row;
	detail->subject = subject;
}

static void read_task(struct detail *detail, const struct model *model, struct tq *tq)
{
	struct task_facts facts = { .info = { .size = sizeof(facts.info) },
				    .clocks = model->now.clocks };
	struct tq_why why = { .size = sizeof(why) };
	int r = tq_task_info(tq, detail->id, &facts.info);

	if (r == 0)
		r = tq_task_why(tq, detail->id, &why);
	if (r == 0)
		why_format(tq, &facts.info, &why, &facts.clocks, facts.why);
	if (r == 0)
		facts.history_count = r = tq_task_history(tq, detail->id, facts.history);
	if (r < 0) {
		lines_add(&detail->lines, ROLE_BAD, "gone", "%s", tq_strerror(r));
		return;
	}
	char *command = text_of_task(tq, &facts.info);

	detail_set_row(detail, SUBJECT_TASK, &(struct task_row){ .info = facts.info },
		       sizeof(struct task_row));

	facts.command = command;
	detail_task_lines(&detail->lines, &facts);
	free(command);
	tail_read(&detail->tail, tq, detail->id);
	if (!detail->tail.bytes)
		return;
	lines_add(&detail->lines, ROLE_TEXT, "", "%s", "");
	lines_add(&detail->lines, ROLE_HEAD, "", " output of attempt %u ", detail->tail.attempt);
	tail_lines(&detail->tail, &detail->lines);
}

static void add_counters(struct lines *lines, const char *name, const struct tq_counters *k)
{
	lines_add(lines, ROLE_TEXT, name,
		  "submitted %llu, started %llu, done %llu, failed %llu, cancelled %llu, expired "
		  "%llu",
		  (unsigned long long)k->submitted, (unsigned long long)k->started,
		  (unsigned long long)k->done, (unsigned long long)k->failed,
		  (unsigned long long)k->cancelled, (unsigned long long)k->expired);
	lines_add(lines, ROLE_TEXT, " ",
		  "ready %u, running %u, delayed %u, blocked %u, held %u, throttled %u",
		  k->depth[TQ_READY], k->depth[TQ_RUNNING], k->depth[TQ_DELAYED],
		  k->depth[TQ_BLOCKED], k->held, k->throttled);
	lines_add(lines, ROLE_TEXT, " ",
		  "retried %llu, crashed %llu, lost leases %llu, stolen %llu",
		  (unsigned long long)k->retried, (unsigned long long)k->crashed,
		  (unsigned long long)k->reclaimed, (unsigned long long)k->stolen);
}

/* The rule that decides who is next, as `taskq queue show` prints it. */
static void add_policy(struct lines *lines, const struct tq_queue_info *info)
{
	char *text = NULL, *save = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return;
	policy_text_print(info, out);
	fclose(out);
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		lines_add(lines, ROLE_TEXT, "", "%s", line);
	free(text);
}

static void add_kinds(struct detail *detail, struct tq *tq)
{
	struct tq_queue_info info;
	uint64_t cursor = 0;

	for (;;) {
		info.size = sizeof(info);
		if (tq_queue_list(tq, TQ_QUEUE_BY_KIND | TQ_QUEUE_QUICK, &cursor, &info, 1) <= 0)
			return;
		if (strcmp(info.name, detail->name) != 0)
			continue;
		lines_add(&detail->lines, ROLE_STRONG, "kind", "%s", info.kind);
		add_counters(&detail->lines, " ", &info.counters);
	}
}

static void read_queue(struct detail *detail, struct tq *tq)
{
	struct tq_queue_info info = { .size = sizeof(info) };
	int r = tq_queue_info(tq, detail->name, &info);

	if (r < 0) {
		lines_add(&detail->lines, ROLE_BAD, "gone", "%s", tq_strerror(r));
		return;
	}
	detail_set_row(detail, SUBJECT_QUEUE, &(struct queue_row){ .info = info },
		       sizeof(struct queue_row));
	lines_add(&detail->lines, info.flags & TQ_QUEUE_PAUSED ? ROLE_WARN : ROLE_TEXT, "state",
		  "%s%s%s, %u %s", info.flags & TQ_QUEUE_PAUSED ? "paused" : "open",
		  info.flags & TQ_QUEUE_DRAINING ? ", draining" : "",
		  info.flags & TQ_QUEUE_PURGING ? ", being purged" : "", info.workers,
		  format_plural(info.workers, "worker", "workers"));
	add_counters(&detail->lines, "all", &info.counters);
	add_policy(&detail->lines, &info);
	add_kinds(detail, tq);
}

static const struct worker_row *find_worker(const struct detail *detail, const struct model *model)
{
	for (uint32_t i = 0; i < model->now.worker_count; i++)
		if (model->now.workers[i].info.number == detail->number &&
		    model->now.workers[i].info.registered_ns == detail->id)
			return &model->now.workers[i];
	return NULL;
}

static void read_worker(struct detail *detail, const struct model *model)
{
	const struct worker_row *row = find_worker(detail, model);
	struct lines *lines = &detail->lines;
	char id[TQ_ID_TEXT_MAX], time[FORMAT_MAX];

	if (!row) {
		lines_add(lines, ROLE_BAD, "gone", "it has left, or was cleared away");
		return;
	}
	const struct tq_worker_info *info = &row->info;

	detail_set_row(detail, SUBJECT_WORKER, row, sizeof(*row));
	lines_add(lines, ROLE_STRONG, "state", "%s", worker_state_name(info));
	lines_add(lines, row->process == 'T' ? ROLE_BAD : ROLE_TEXT, "process",
		  "pid %u, state %c%s", info->pid, row->process ? row->process : '?',
		  row->process == 'T' ? ": it is stopped; `kill -CONT` lets it go on" : "");
	if (info->name[0])
		lines_add(lines, ROLE_TEXT, "name", "%s", info->name);
	lines_add(lines, ROLE_TEXT, "queues", "%s", info->queues);
	if (info->task)
		lines_add(lines, ROLE_BUSY, "task", "%s, one of %u",
			  tq_task_id_format(info->task, id), info->claims);
	lines_add(lines, ROLE_TEXT, "attempts", "%llu begun, %u taken beforehand, %llu stolen",
		  (unsigned long long)info->tasks, info->assigned,
		  (unsigned long long)info->stolen);
	lines_add(lines, ROLE_TEXT, "up", "%s",
		  format_duration(model->now.clocks.now_ns - info->registered_ns, time));
	if (info->master)
		lines_add(lines, ROLE_TEXT, "master", "worker %u", info->master);
	if (info->lease_ns)
		lines_add(lines, ROLE_TEXT, "lease", "%s", format_duration(info->lease_ns, time));
}

static void read_limit(struct detail *detail, struct tq *tq)
{
	struct tq_limit_info info = { .size = sizeof(info) };
	const int r = tq_limit_info(tq, detail->name, &info);
	struct lines *lines = &detail->lines;
	char time[FORMAT_MAX];

	if (r < 0) {
		lines_add(lines, ROLE_BAD, "gone", "%s", tq_strerror(r));
		return;
	}
	if (info.slots == TQ_OFF)
		lines_add(lines, ROLE_TEXT, "slots", "any number, %u used", info.used);
	else
		lines_add(lines, info.used >= info.slots ? ROLE_WARN : ROLE_TEXT, "slots",
			  "%u of %u used", info.used, info.slots);
	if (info.rate)
		lines_add(lines, info.tokens ? ROLE_TEXT : ROLE_WARN, "rate",
			  "%u in %s, %u of %u %s left", info.rate,
			  format_duration(info.interval_ns, time), info.tokens, info.burst,
			  format_plural(info.burst, "token", "tokens"));
	lines_add(lines, ROLE_TEXT, "waiting", "%u ready %s of %u with this key", info.waiting,
		  format_plural(info.waiting, "task", "tasks"), info.tasks);
}

void detail_read(struct detail *detail, const struct model *model, struct tq *tq)
{
	if (!tq && detail->kind != DETAIL_HELP)
		return;
	lines_clear(&detail->lines);
	detail->acts_on = NULL;
	switch (detail->kind) {
	case DETAIL_HELP:
		detail_help_lines(&detail->lines);
		return;
	case DETAIL_TASK:
		read_task(detail, model, tq);
		return;
	case DETAIL_QUEUE:
		read_queue(detail, tq);
		return;
	case DETAIL_WORKER:
		read_worker(detail, model);
		return;
	case DETAIL_LIMIT:
		read_limit(detail, tq);
		return;
	case DETAIL_GROUP:
		detail_group_read(detail, model, tq);
		return;
	case DETAIL_NONE:
		return;
	}
}

void detail_title(const struct detail *detail, char *to, size_t room)
{
	char id[TQ_ID_TEXT_MAX];

	switch (detail->kind) {
	case DETAIL_HELP:
		snprintf(to, room, "Help");
		return;
	case DETAIL_TASK:
		snprintf(to, room, "Task %s%s", tq_task_id_format(detail->id, id),
			 detail->follow ? ", following its output" : "");
		return;
	case DETAIL_GROUP:
		snprintf(to, room, "Group %s", tq_group_id_format(detail->id, id));
		return;
	case DETAIL_WORKER:
		snprintf(to, room, "Worker %u", detail->number);
		return;
	default:
		snprintf(to, room, "%s %s", detail->kind == DETAIL_QUEUE ? "Queue" : "Limit",
			 detail->name);
	}
}
