/* SPDX-License-Identifier: MIT */
/*
 * What an observer reads of a crash state, before anybody has rescued it: the bytes of
 * each task and schedule are those of the last commit, and all that is said of a task or a
 * queue is what is said of it after the rescue.
 */
#include <stdio.h>
#include <string.h>

#include "client/observe/reading.h"
#include "scheduler/record/records.h"
#include "scheduler/record/extra.h"
#include "tests/crash/lab.h"

#define OBSERVED_MAX 24u /* records of a table: the first ones, which operations are about */
#define ROOM 512u

static const void *stable_at(const struct tqt_lab *lab, uint64_t offset)
{
	return lab->sweep->stable.bytes + offset;
}

static const void *stable_block(const struct tqt_lab *lab, uint32_t block)
{
	return stable_at(lab, (uint64_t)block << TQI_UNIT_SHIFT);
}

/* A record as of the last commit; NULL its table had no memory there. */
static const void *stable_record(const struct tqt_lab *lab, uint32_t table, uint32_t index)
{
	const struct tqi_table_geometry *g = &lab->seg.geometry.tables[table];
	const uint32_t *directory = stable_at(lab, g->directory);
	uint32_t span = directory[index >> g->shift];

	return span ? stable_at(lab, ((uint64_t)span << TQI_SPAN_SHIFT) +
					     (uint64_t)(index & ((1u << g->shift) - 1)) *
						     g->record_bytes)
		    : NULL;
}

static uint32_t observed_count(const struct tqt_lab *lab, uint32_t table)
{
	const struct tqi_core *core = stable_at(lab, lab->seg.geometry.core);
	uint32_t count = core->tables[table].count;

	return count < OBSERVED_MAX ? count : OBSERVED_MAX;
}

static void compare(struct tqt_lab *lab, const char *what, uint32_t index, int r, const void *seen,
		    const void *truth, uint64_t bytes)
{
	if (r < 0)
		tqt_fault(lab->sweep, lab->level, "an observer of %s %u: %s", what, index,
			  tq_error_name(r));
	else if (bytes && memcmp(seen, truth, bytes) != 0)
		tqt_fault(lab->sweep, lab->level, "an observer reads others' bytes as %s %u", what,
			  index);
}

static uint64_t within_room(uint64_t bytes)
{
	return bytes < ROOM ? bytes : ROOM;
}

/* All that is said of a thing, before the rescue; only the lab of level 1 observes. */
struct said {
	int r;
	union {
		struct tq_task_info task;
		struct tq_queue_info queue;
	} info;
};
static struct said said[2][OBSERVED_MAX];

static void ask_task(struct tqt_lab *lab, struct tq *tq, uint32_t index, struct said *ret_said)
{
	const struct tqi_task *t = stable_record(lab, TQI_TASKS, index);

	if (!t || t->state == TQ_FREE)
		return;
	ret_said->info.task.size = sizeof(ret_said->info.task);
	ret_said->r = tq_task_info(tq, tqi_id_make(index, t->generation), &ret_said->info.task);
}

static void observe_blocks(struct tqt_lab *lab, uint32_t index, const struct tqi_task *t)
{
	const uint64_t id = tqi_id_make(index, t->generation);
	unsigned char buf[ROOM];

	compare(lab, "the payload of task", index, tq_task_payload(lab->tq, id, buf, ROOM, NULL),
		buf, stable_block(lab, t->payload), within_room(t->payload_bytes));
	if (tqi_state_is_final(t->state))
		compare(lab, "the result of task", index,
			tq_task_result(lab->tq, id, buf, ROOM, NULL), buf,
			stable_block(lab, t->result), within_room(t->result_bytes));
}

/* Of the attempts that are in its history. */
static void observe_outputs(struct tqt_lab *lab, uint32_t index, const struct tqi_task *t)
{
	const struct tqi_history *history = (const void *)stable_block(lab, t->history);
	const uint64_t id = tqi_id_make(index, t->generation);
	unsigned char buf[ROOM];
	uint64_t offset;

	for (uint32_t i = 0; t->history && i < TQ_HISTORY_MAX; i++) {
		const struct tqi_earlier *output = &history->outputs[i];

		if (output->block)
			compare(lab, "an attempt's output of task", index,
				tq_output_read_attempt(lab->tq, id, history->attempts[i].number, 0,
						       buf, ROOM, &offset),
				buf, stable_block(lab, output->block), within_room(output->bytes));
	}
}

static void observe_texts(struct tqt_lab *lab, uint32_t index, const struct tqi_task *t)
{
	const unsigned char *label = stable_block(lab, t->payload);
	struct tq_attempt_info attempts[TQ_HISTORY_MAX];
	const struct tq_task_info *info = &said[0][index].info.task;
	int r = said[0][index].r;

	compare(lab, "the label of task", index, r, info->label, label + t->payload_bytes,
		t->payload ? t->label_bytes : 0);
	compare(lab, "the error of task", index, r, info->error_text, stable_block(lab, t->error),
		t->error ? t->error_bytes : 0);
	r = tq_task_history(lab->tq, tqi_id_make(index, t->generation), attempts);
	compare(lab, "the history of task", index, r, attempts, stable_block(lab, t->history),
		r > 0 && t->history_count <= TQ_HISTORY_MAX ? (uint64_t)r * sizeof(attempts[0])
							    : 0);
}

/* A member of a graph that has not been published. */
static bool is_hidden(const struct tqt_lab *lab, const struct tqi_task *t)
{
	const unsigned char *payload = stable_block(lab, t->payload);
	const struct tqi_extra *extra =
		(const void *)(payload + tqi_extra_at(t->payload_bytes, t->label_bytes));

	if (!(t->flags & TQI_TASK_EXTRA) || !extra->shut)
		return false;
	const struct tqi_group *group = stable_record(lab, TQI_GROUPS, extra->group);

	return group && group->state == TQI_GROUP_BUILDING;
}

static void observe_tasks(struct tqt_lab *lab)
{
	for (uint32_t i = 1; i < observed_count(lab, TQI_TASKS); i++) {
		const struct tqi_task *t = stable_record(lab, TQI_TASKS, i);

		if (!t || t->state == TQ_FREE || is_hidden(lab, t))
			continue;
		observe_blocks(lab, i, t);
		observe_texts(lab, i, t);
		observe_outputs(lab, i, t);
	}
}

static void observe_schedules(struct tqt_lab *lab)
{
	unsigned char buf[ROOM];

	for (uint32_t i = 1; i < observed_count(lab, TQI_SCHEDULES); i++) {
		const struct tqi_schedule *s = stable_record(lab, TQI_SCHEDULES, i);

		if (!s || !(s->flags & TQI_SCHEDULE_LIVE))
			continue;
		int r = tq_schedule_payload(lab->tq, tqi_id_make(i, s->generation), buf, ROOM,
					    NULL);

		compare(lab, "the payload of schedule", i, r, buf, stable_block(lab, s->block),
			within_room(s->payload_bytes));
	}
}

/* Links of lists, which neighbours change: they say nothing of the task itself. */
static bool is_link(uint64_t at)
{
	return at < sizeof(((struct tqi_task *)0)->link) ||
	       (at >= offsetof(struct tqi_task, prev) && at < offsetof(struct tqi_task, pins));
}

/* RD-4: since the operation began. */
static void observe_stamp(struct tqt_lab *lab, uint32_t index)
{
	const unsigned char *then = lab->sweep->start.bytes, *now = stable_at(lab, 0);
	const unsigned char *record = stable_record(lab, TQI_TASKS, index);
	const struct tqi_task *t = (const void *)record;
	uint64_t offset = record ? (uint64_t)(record - now) : 0;

	if (!record || ((const struct tqi_task *)(const void *)(then + offset))->stamp != t->stamp)
		return;
	for (uint64_t at = 0; at < sizeof(*t); at++)
		if (record[at] != then[offset + at] && !is_link(at)) {
			tqt_fault(lab->sweep, lab->level,
				  "task %u has changed at +%llu, its stamp has not", index,
				  (unsigned long long)at);
			return;
		}
}

static void observe_stamps(struct tqt_lab *lab)
{
	for (uint32_t i = 1; lab->sweep->boundary && i < observed_count(lab, TQI_TASKS); i++)
		observe_stamp(lab, i);
}

/* But for what is gathered from lanes, which are read as they are: no view has room for all. */
static void ask_queue(struct tqt_lab *lab, uint32_t index, struct said *ret_said)
{
	const struct tqi_queue *q = stable_record(lab, TQI_QUEUES, index);
	struct tq_counters *counters = &ret_said->info.queue.counters;

	if (!q || !q->name[0])
		return;
	ret_said->info.queue.size = sizeof(ret_said->info.queue);
	ret_said->r = tq_queue_info(lab->tq, q->name, &ret_said->info.queue);
	counters->throttled = 0;
	counters->oldest_ready_ns = 0;
}

struct asked {
	struct tqt_lab *lab;
	struct said *tasks;
};

static void ask_tasks(const struct tqi_segment *seg, void *arg)
{
	const struct asked *asked = arg;
	struct tq reader = *asked->lab->tq;

	reader.seg = *seg;
	memset(asked->tasks, 0, OBSERVED_MAX * sizeof(*asked->tasks));
	for (uint32_t i = 1; i < observed_count(asked->lab, TQI_TASKS); i++)
		ask_task(asked->lab, &reader, i, &asked->tasks[i]);
}

/* Of all tasks in one reading: where somebody is inside, a view for each takes most of the time. */
static void ask_all(struct tqt_lab *lab, struct said all[2][OBSERVED_MAX])
{
	struct asked asked = { lab, all[0] };

	if (tqi_read(lab->tq, ask_tasks, &asked) != TQI_VIEW_WHOLE)
		ask_tasks(&lab->tq->seg, &asked);
	memset(all[1], 0, sizeof(all[1]));
	for (uint32_t i = 1; i < observed_count(lab, TQI_QUEUES); i++)
		ask_queue(lab, i, &all[1][i]);
}

void tqt_observe(struct tqt_lab *lab)
{
	observe_stamps(lab);
	ask_all(lab, said);
	observe_tasks(lab);
	observe_schedules(lab);
}

void tqt_observe_rescued(struct tqt_lab *lab)
{
	static struct said now[2][OBSERVED_MAX];

	ask_all(lab, now);
	for (uint32_t i = 1; i < OBSERVED_MAX; i++) {
		if (memcmp(&now[0][i], &said[0][i], sizeof(now[0][i])) != 0)
			tqt_fault(lab->sweep, lab->level,
				  "an observer was told of task %u what is not", i);
		if (memcmp(&now[1][i], &said[1][i], sizeof(now[1][i])) != 0)
			tqt_fault(lab->sweep, lab->level,
				  "an observer was told of queue %u what is not", i);
	}
}
