/* SPDX-License-Identifier: MIT */
/* A group in lines, with its members. */
#include <stdlib.h>

#include "detail.h"
#include "group_text.h"
#include "outcome.h"

enum {
	CHUNK = 32,	  /* members asked for at a time */
	MEMBERS_MAX = 256 /* that are shown of each sort */
};

#define SCAN_NS 30000000ull /* of each look: reading a member takes some microseconds */

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
			  tq_task_id_format(info->completion, id),
			  info->condition == TQ_GROUP_OK     ? "all are done (ok)"
			  : info->condition == TQ_GROUP_FAIL ? "one is not done (fail)"
							     : "all have ended (any)");
	if (info->culprit)
		lines_add(lines, ROLE_WARN, "against it", "task %s",
			  tq_task_id_format(info->culprit, id));
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

	if (lines->count >= MEMBERS_MAX)
		return;
	outcome_format(info, outcome);
	lines_add(lines,
		  info->state == TQ_DONE      ? ROLE_GOOD
		  : info->state == TQ_RUNNING ? ROLE_BUSY
		  : info->state > TQ_DONE     ? ROLE_BAD
					      : ROLE_TEXT,
		  "", "%-11s %-20s %s", tq_task_id_format(info->id, id), outcome, info->label);
}

void group_scan_free(struct group_scan *scan)
{
	lines_free(&scan->bad);
	lines_free(&scan->done);
	*scan = (struct group_scan){ 0 };
}

/* Members from the first one on that has not ended for us; false: that is all of them. */
static bool take_members(struct group_scan *scan, struct lines *waiting,
			 const struct tq_task_info *infos, int count)
{
	for (int i = 0; i < count; i++) {
		if (infos[i].id == scan->last && scan->last)
			continue;
		if (infos[i].state < TQ_DONE) {
			add_member(waiting, &infos[i]);
			continue;
		}
		if (waiting->count) { /* has ended just now, or one before it runs again */
			if (infos[i].state != TQ_DONE)
				add_member(waiting, &infos[i]);
			continue;
		}
		add_member(infos[i].state == TQ_DONE ? &scan->done : &scan->bad, &infos[i]);
		scan->last = infos[i].id;
		scan->ended++;
	}
	return waiting->count < MEMBERS_MAX;
}

/*
 * Those that have ended come first, and stay where they are: each look goes on behind the
 * last of them that was met, so that a large group is gone through once.
 */
static void scan_members(struct group_scan *scan, struct lines *waiting, struct tq *tq, uint64_t id)
{
	struct tq_task_info *infos = calloc(CHUNK, sizeof(*infos));
	const uint64_t until_ns = clocks_read().now_ns + SCAN_NS;
	uint64_t cursor = scan->last;
	int n = infos ? 1 : 0;

	scan->is_through = false;
	while (n > 0 && clocks_read().now_ns < until_ns) {
		infos[0].size = sizeof(infos[0]);
		n = tq_group_members(tq, id, &cursor, infos, CHUNK);
		if (n > 0 && !take_members(scan, waiting, infos, n))
			break;
	}
	scan->is_through = n == 0 || waiting->count > 0;
	if (n == TQ_EGONE) /* the record at which we were: from the beginning */
		group_scan_free(scan);
	free(infos);
}

static void move_lines(struct lines *to, const struct lines *from)
{
	for (unsigned i = 0; i < from->count; i++)
		lines_add(to, from->at[i].role, "", "%s", from->at[i].value);
}

static void add_members(struct detail *detail, struct tq *tq, const struct tq_group_info *info)
{
	struct group_scan *scan = &detail->scan;
	struct lines waiting = { 0 }, *lines = &detail->lines;

	scan_members(scan, &waiting, tq, detail->id);
	const unsigned shown = waiting.count + scan->bad.count + scan->done.count;

	if (!scan->is_through)
		lines_add(lines, ROLE_WARN, "", "%u of those that have ended were looked at so far",
			  scan->ended);
	move_lines(lines, &waiting);
	move_lines(lines, &scan->bad);
	move_lines(lines, &scan->done);
	lines_free(&waiting);
	if (shown < info->members)
		lines_add(lines, ROLE_DIM, "", "%u more are not shown", info->members - shown);
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
	lines_add(&detail->lines, ROLE_HEAD, "", " members: unfinished, not done, done ");
	add_members(detail, tq, &info);
}
