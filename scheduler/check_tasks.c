/* SPDX-License-Identifier: MIT */
/* Tables, and the records of tasks: the truth that everything else is compared with. */
#include "scheduler/check_state.h"
#include "scheduler/task.h"

static void check_directory(struct tqi_check *c, uint32_t t)
{
	const struct tqi_table_geometry *g = &c->tx->seg->geometry.tables[t];
	const struct tqi_table *table = &c->tx->core->tables[t];
	const char *name = c->tx->seg->schema->tables[t].name;
	const uint32_t *directory = (const uint32_t *)(const void *)(c->tx->base + g->directory);
	uint32_t spans = 0;

	for (uint32_t i = 0; i <= (g->max - 1) >> g->shift; i++) {
		if (!directory[i])
			continue;
		spans++;
		if (directory[i] >= c->tx->seg->geometry.span_count)
			tqi_check_fault(c, "table %s: span %u lies outside", name, directory[i]);
		else if (c->spans[directory[i]]++)
			tqi_check_fault(c, "table %s: span %u is in two directories", name,
					directory[i]);
	}
	if (spans != table->spans)
		tqi_check_fault(c, "table %s: %u spans, counted %u", name, table->spans, spans);
	if (table->count > 1 && !tqi_table_peek(c->tx->seg, t, table->count - 1))
		tqi_check_fault(c, "table %s: its last record has no memory", name);
}

/* Slots whose generation is used up are neither free nor in use. */
static uint32_t count_retired(struct tqi_check *c)
{
	uint32_t retired = 0;

	for (uint32_t i = 1; i < c->tx->core->tables[TQI_TASKS].count; i++) {
		const struct tqi_task *task = tqi_table_peek(c->tx->seg, TQI_TASKS, i);

		if (task && task->state == TQ_FREE && task->generation >= TQI_GENERATION_MAX)
			retired++;
	}
	return retired;
}

static void check_free_list(struct tqi_check *c, uint32_t t)
{
	const struct tqi_table *table = &c->tx->core->tables[t];
	const char *name = c->tx->seg->schema->tables[t].name;
	uint32_t free = 0;

	for (uint32_t i = table->free; i;) {
		const uint32_t *link = i < table->count ? tqi_table_peek(c->tx->seg, t, i) : NULL;

		if (!link || (c->marks[t][i] & TQI_MARK_FREE)) {
			tqi_check_fault(c, "table %s: its free list is broken at %u", name, i);
			return;
		}
		c->marks[t][i] |= TQI_MARK_FREE;
		free++;
		i = *link;
	}
	if (t == TQI_TASKS)
		free += count_retired(c);
	if (table->live + free + 1 != table->count)
		tqi_check_fault(c, "table %s: %u in use and %u free of %u", name, table->live, free,
				table->count - 1);
}

void tqi_check_tables(struct tqi_check *c)
{
	for (uint32_t t = 0; t < TQI_TABLE_COUNT; t++) {
		const struct tqi_table *table = &c->tx->core->tables[t];

		if (table->count == 0 || table->count > c->tx->seg->geometry.tables[t].max ||
		    table->live >= table->count) {
			tqi_check_fault(c, "table %s: impossible counts",
					c->tx->seg->schema->tables[t].name);
			continue;
		}
		check_directory(c, t);
		check_free_list(c, t);
	}
}

static void check_blocks(struct tqi_check *c, const struct tqi_task *t, uint32_t i)
{
	if (t->payload)
		tqi_check_block(c, t->payload, "payload", i);
	if (t->result)
		tqi_check_block(c, t->result, "result", i);
	if (t->error)
		tqi_check_block(c, t->error, "error text", i);
	if (t->history)
		tqi_check_block(c, t->history, "history", i);
	if (t->checkpoint)
		tqi_check_block(c, t->checkpoint, "checkpoint", i);
}

static void check_attempt(struct tqi_check *c, const struct tqi_task *t, uint32_t i)
{
	if ((t->state == TQ_RUNNING) != (t->attempt != 0)) {
		tqi_check_fault(c, "task %u: %s with attempt %u (R2)", i, tq_state_name(t->state),
				t->attempt);
		return;
	}
	if (!t->attempt)
		return;
	const struct tqi_attempt *a = tqi_check_at(c, TQI_ATTEMPTS, t->attempt, "a task");

	if (a && (a->task != i || a->id != tqi_id_make(i, t->generation) || a->epoch != t->epoch))
		tqi_check_fault(c, "task %u: attempt %u is another's (R2)", i, t->attempt);
}

static void count_task(struct tqi_check *c, const struct tqi_task *t, uint32_t lane,
		       const struct tqi_queue *queue)
{
	const struct tqi_lane *l = tqi_table_peek(c->tx->seg, TQI_LANES, lane);
	bool waits = t->state == TQ_BLOCKED || t->state == TQ_DELAYED || t->state == TQ_READY;

	if (l && l->class_ < c->tx->core->tables[TQI_CLASSES].count)
		c->depth[(uint64_t)l->class_ * TQ_STATE_COUNT + t->state]++;
	if (waits && t->wait_sequence >= queue->purge_before)
		c->waiting[t->queue]++;
	if (tqi_state_is_final(t->state))
		return;
	c->members[lane]++;
	c->count.unfinished++;
	c->count.running += t->state == TQ_RUNNING;
	c->count.ready += t->state == TQ_READY && !(t->flags & TQI_TASK_HELD);
}

static void check_task(struct tqi_check *c, uint32_t i)
{
	const struct tqi_task *t = tqi_table_peek(c->tx->seg, TQI_TASKS, i);
	bool free = c->marks[TQI_TASKS][i] & TQI_MARK_FREE;

	if (t->state >= TQ_STATE_COUNT) {
		tqi_check_fault(c, "task %u: state %u", i, t->state);
		return;
	}
	if (free != (t->state == TQ_FREE) && t->generation < TQI_GENERATION_MAX)
		tqi_check_fault(c, "task %u: %s, and %son the free list", i,
				tq_state_name(t->state), free ? "" : "not ");
	if (t->state == TQ_FREE)
		return;
	const struct tqi_lane *lane = tqi_check_at(c, TQI_LANES, t->lane, "a task");
	const struct tqi_queue *queue = tqi_check_at(c, TQI_QUEUES, t->queue, "a task");

	if (!tqi_check_at(c, TQI_KINDS, t->kind, "a task") || !lane || !queue)
		return;
	check_blocks(c, t, i);
	check_attempt(c, t, i);
	count_task(c, t, t->lane, queue);
}

void tqi_check_tasks(struct tqi_check *c)
{
	for (uint32_t i = 1; i < c->tx->core->tables[TQI_TASKS].count; i++)
		check_task(c, i);
}
