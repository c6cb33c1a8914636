/* SPDX-License-Identifier: MIT */
/* A group in lines, with its members. */
#include <stdlib.h>

#include "detail.h"
#include "group_text.h"
#include "outcome.h"

enum {
	CHUNK = 32,	  /* members asked for at a time */
	MEMBERS_MAX = 512 /* that are shown: reading one takes some microseconds */
};

static void add_moment(struct lines *lines, const struct model *model, const char *name,
		       uint64_t at_ns)
{
	char moment[FORMAT_MAX];

	if (at_ns)
		lines_add(lines, ROLE_TEXT, name, "%s",
			  format_moment(&model->now.clocks, at_ns, moment));
}

static void add_completion(struct lines *lines, const struct tq_group_info *info)
{
	char id[TQ_ID_TEXT_MAX];

	if (info->completion)
		lines_add(lines, ROLE_TEXT, "then", "task %s, when %s",
			  tq_id_format(info->completion, id),
			  info->condition == TQ_GROUP_OK     ? "all are done (ok)"
			  : info->condition == TQ_GROUP_FAIL ? "one is not done (fail)"
							     : "all have ended (any)");
	if (info->culprit)
		lines_add(lines, ROLE_WARN, "against it", "task %s",
			  tq_id_format(info->culprit, id));
}

static void add_facts(struct lines *lines, const struct model *model,
		      const struct tq_group_info *info)
{
	char states[GROUP_STATES_MAX];

	lines_add(lines, info->state == TQ_GROUP_COMPLETE ? ROLE_TEXT : ROLE_BUSY, "state", "%s%s",
		  tq_group_state_name(info->state),
		  info->flags & TQ_GROUP_INFO_CANCELLED ? ", cancelled" : "");
	if (info->label[0])
		lines_add(lines, ROLE_STRONG, "label", "%s", info->label);
	lines_add(lines, ROLE_TEXT, "members", "%u, %u unfinished: %s", info->members,
		  info->unfinished, group_states(info, states));
	add_completion(lines, info);
	if (info->owner_pid && info->state == TQ_GROUP_OPEN)
		lines_add(lines, ROLE_TEXT, "owner",
			  "pid %u: cancelled if that dies before it seals it", info->owner_pid);
	add_moment(lines, model, "created", info->created_ns);
	add_moment(lines, model, "complete", info->ended_ns);
}

static void add_member(struct lines *lines, const struct tq_task_info *info)
{
	char id[TQ_ID_TEXT_MAX], outcome[OUTCOME_MAX];

	outcome_format(info, outcome);
	lines_add(lines,
		  info->state == TQ_DONE      ? ROLE_GOOD
		  : info->state == TQ_RUNNING ? ROLE_BUSY
		  : info->state > TQ_DONE     ? ROLE_BAD
					      : ROLE_TEXT,
		  "", "%-11s %-20s %s", tq_id_format(info->id, id), outcome, info->label);
}

static void add_members(struct lines *lines, struct tq *tq, uint64_t id)
{
	struct tq_task_info *infos = calloc(CHUNK, sizeof(*infos));
	uint64_t cursor = 0;
	int shown = 0, n = infos ? 1 : 0;

	while (n > 0 && shown < MEMBERS_MAX) {
		infos[0].size = sizeof(infos[0]);
		n = tq_group_members(tq, id, &cursor, infos, CHUNK);
		for (int i = 0; i < n; i++)
			add_member(lines, &infos[i]);
		shown += n > 0 ? n : 0;
	}
	if (n > 0)
		lines_add(lines, ROLE_DIM, "", "these are the first %d", shown);
	free(infos);
}

void detail_group_read(struct detail *detail, const struct model *model, struct tq *tq)
{
	struct tq_group_info info = { .size = sizeof(info) };
	const int r = tq_group_info(tq, detail->id, &info);

	if (r < 0) {
		lines_add(&detail->lines, ROLE_BAD, "gone", "%s", tq_strerror(r));
		return;
	}
	detail_set_row(detail, SUBJECT_GROUP, &info, sizeof(info));
	add_facts(&detail->lines, model, &info);
	if (!info.members)
		return;
	lines_add(&detail->lines, ROLE_TEXT, "", "%s", "");
	lines_add(&detail->lines, ROLE_HEAD, "", " members, those that have ended first ");
	add_members(&detail->lines, tq, detail->id);
}
