/* SPDX-License-Identifier: MIT */
/* What a task's flags and its end mean to people. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "outcome.h"

int outcome_code(const struct tq_task_info *info)
{
	if (info->state == TQ_DONE)
		return CLI_OK;
	if (info->state != TQ_FAILED)
		return CLI_SELF;
	switch (info->cause) {
	case TQ_CAUSE_EXIT:
		return info->cause_arg > 0 && info->cause_arg < 256 ? info->cause_arg : CLI_SELF;
	case TQ_CAUSE_SIGNAL:
		return CLI_SIGNALLED + info->cause_arg;
	case TQ_CAUSE_OOM:
		return CLI_SIGNALLED + SIGKILL;
	case TQ_CAUSE_TIMEOUT:
		return CLI_TIMED_OUT;
	default:
		return CLI_SELF;
	}
}

bool outcome_is_plain(const struct tq_task_info *info)
{
	return info->state == TQ_DONE ||
	       (info->state == TQ_FAILED && info->cause == TQ_CAUSE_EXIT &&
		info->error_text[0] == '\0');
}

char *outcome_cause(const struct tq_task_info *info, char buf[CAUSE_MAX])
{
	char id[TQ_ID_TEXT_MAX];

	tq_cause_format(info->cause, info->cause_arg, buf);
	if (info->cause_id) {
		const size_t length = strlen(buf);

		snprintf(buf + length, CAUSE_MAX - length, ":%s",
			 tq_task_id_format(info->cause_id, id));
	}
	return buf;
}

char *outcome_format(const struct tq_task_info *info, char buf[OUTCOME_MAX])
{
	char cause[CAUSE_MAX];

	/* "cancelled, cancelled" would say it twice. */
	if (info->cause == TQ_CAUSE_NONE ||
	    (info->state == TQ_CANCELLED && info->cause == TQ_CAUSE_CANCELLED))
		cause[0] = '\0';
	else
		outcome_cause(info, cause);
	snprintf(buf, OUTCOME_MAX, "%s%s%s%s%s", tq_task_state_name(info->state),
		 *cause ? ", " : "", cause, *info->error_text ? ": " : "", info->error_text);
	return buf;
}

const struct outcome_flag outcome_flags[] = {
	{ TQ_INFO_HELD, "held", "it does not start until `taskq unhold`", true },
	{ TQ_INFO_STOPPING, "stopping", "its attempt is being ended", true },
	{ TQ_INFO_STALLED, "stalled", "no progress has been reported for too long", true },
	{ TQ_INFO_LATE, "late", "its deadline passed while it ran", false },
	{ TQ_INFO_CANCEL, "cancelling", "a cancel has been asked for", true },
	{ TQ_INFO_THROTTLED, "throttled",
	  "one of its limits, or every server of its queue, is full", true },
	{ TQ_INFO_ASSIGNED, "assigned", "a worker has taken it, and runs others first", true },
	{ TQ_INFO_WAITING, "waiting", "it waits for another task", true },
	{ TQ_INFO_PAUSED, "paused", "its queue starts nothing until `taskq resume`", true },
	{ TQ_INFO_UNSERVED, "unserved", NULL, true }, /* show names queue and kind */
	{ TQ_INFO_AT_MOST_ONCE, "at-most-once", "its first start is its only one", false },
	{ TQ_INFO_FORGET, "forget", "its record goes as soon as it ends", false },
	{ TQ_INFO_KEEP, "keep", "its record stays until `taskq forget`", false },
	{ TQ_INFO_PINNED, "pinned", "its record cannot go while somebody needs it", false },
	{ TQ_INFO_CUT, "cut", "only the tail of its output was kept", false },
	{ 0, NULL, NULL, false },
};

uint64_t outcome_run_ns(const struct tq_task_info *info, const struct clocks *clocks)
{
	return info->state == TQ_RUNNING ? ns_between(info->started_ns, clocks->now_ns)
					 : info->run_ns;
}

const char *outcome_of_output(struct tq *tq, uint64_t id, uint32_t attempt)
{
	uint64_t offset = 0;
	char first;
	const int r = tq_output_read_attempt(tq, id, attempt, 0, &first, sizeof(first), &offset);

	if (r > 0)
		return offset ? "tail" : "kept";
	return r == -ENODATA ? "none" : "gone";
}
