/* SPDX-License-Identifier: MIT */
/* A task in lines: what it is, what keeps it, how its attempts ended. */
#include <string.h>

#include "detail.h"
#include "outcome.h"
#include "text.h"

static void add_time(struct lines *lines, const struct task_facts *facts, const char *name,
		     uint64_t at_ns)
{
	char moment[FORMAT_MAX];

	if (at_ns)
		lines_add(lines, ROLE_TEXT, name, "%s",
			  format_moment(&facts->clocks, at_ns, moment));
}

static void add_state(struct lines *lines, const struct task_facts *facts)
{
	const struct tq_task_info *info = &facts->info;
	char outcome[OUTCOME_MAX];

	if (info->state >= TQ_DONE)
		lines_add(lines, info->state == TQ_DONE ? ROLE_GOOD : ROLE_BAD, "ended", "%s",
			  outcome_format(info, outcome));
	else
		lines_add(lines, info->state == TQ_RUNNING ? ROLE_BUSY : ROLE_WARN,
			  tq_task_state_name(info->state), "%s", facts->why);
	if (info->error_text[0] && info->state < TQ_DONE)
		lines_add(lines, ROLE_WARN, "last error", "%s", info->error_text);
}

static void add_identity(struct lines *lines, const struct task_facts *facts)
{
	const struct tq_task_info *info = &facts->info;
	char limit[LIMIT_TEXT_MAX];

	if (info->effective_priority == info->priority)
		lines_add(lines, ROLE_TEXT, "queue", "%s, kind %s, priority %d", info->queue,
			  info->kind, info->priority);
	else
		lines_add(lines, ROLE_TEXT, "queue", "%s, kind %s, priority %d, counts as %d",
			  info->queue, info->kind, info->priority, info->effective_priority);
	if (info->label[0])
		lines_add(lines, ROLE_STRONG, "label", "%s", info->label);
	if (facts->command && facts->command[0])
		lines_add(lines, ROLE_STRONG, strcmp(info->kind, "exec") ? "payload" : "command",
			  "%s", facts->command);
	if (info->unique_key[0])
		lines_add(lines, ROLE_TEXT, "unique key", "%s", info->unique_key);
	for (uint32_t i = 0; i < info->limit_count && i < TQ_LIMITS_MAX; i++)
		lines_add(lines, ROLE_TEXT, "limit", "%s",
			  text_limit(info->limits[i], info->limit_weights[i], limit));
	if (info->fair_key[0])
		lines_add(lines, ROLE_TEXT, "fair key", "%s", info->fair_key);
}

static void add_progress(struct lines *lines, const struct tq_task_info *info)
{
	char cpu[FORMAT_MAX], memory[FORMAT_MAX];

	if (info->progress_percent || info->progress_text[0])
		lines_add(lines, ROLE_BUSY, "progress", "%u %% %s", info->progress_percent,
			  info->progress_text);
	lines_add(lines, ROLE_TEXT, "attempts",
		  "%u begun; %u of %u failed, %u of %u %s, %u of %u lost %s", info->attempt,
		  info->failures, info->attempts_max, info->crashes, info->crashes_max,
		  format_plural(info->crashes_max, "crash", "crashes"), info->losses,
		  info->losses_max, format_plural(info->losses_max, "lease", "leases"));
	if (info->max_rss_bytes || info->cpu_ns)
		lines_add(lines, ROLE_TEXT, "used", "%s CPU time, %s memory at most",
			  format_duration(info->cpu_ns, cpu),
			  format_size(info->max_rss_bytes, memory));
}

static void add_history(struct lines *lines, const struct task_facts *facts)
{
	for (int i = 0; i < facts->history_count; i++) {
		const struct tq_attempt_info *attempt = &facts->history[i];
		char cause[32], took[FORMAT_MAX];

		lines_add(lines, ROLE_TEXT, i ? " " : "earlier",
			  "attempt %u on worker %u (pid %u): %s after %s", attempt->number,
			  attempt->worker, attempt->worker_pid,
			  tq_cause_format(attempt->cause, attempt->cause_arg, cause),
			  format_duration(attempt->ended_ns - attempt->started_ns, took));
	}
}

void detail_task_lines(struct lines *lines, const struct task_facts *facts)
{
	const struct tq_task_info *info = &facts->info;
	char took[FORMAT_MAX];

	add_state(lines, facts);
	add_identity(lines, facts);
	add_time(lines, facts, "submitted", info->submitted_ns);
	add_time(lines, facts, "ready", info->ready_ns);
	if (info->state < TQ_RUNNING)
		add_time(lines, facts, "due", info->due_ns);
	add_time(lines, facts, "deadline", info->deadline_ns);
	add_time(lines, facts, "started", info->started_ns);
	add_time(lines, facts, "ended", info->ended_ns);
	if (info->ended_ns && info->started_ns)
		lines_add(lines, ROLE_TEXT, "took", "%s",
			  format_duration(info->ended_ns - info->started_ns, took));
	add_progress(lines, info);
	add_history(lines, facts);
}
