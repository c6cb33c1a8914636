/* SPDX-License-Identifier: MIT */
/* Counting what a segment holds: the one place of the storm that looks inside. */
#include "usage.h"

#include "client/core/handle.h"
#include "scheduler/order/tournament.h"
#include "shm/pool.h"
#include "shm/table.h"

static uint64_t live(const struct tqi_tx *tx, enum tqi_table_id table)
{
	return tx->core->tables[table].live;
}

static void count_span(const struct tqi_span *span, struct usage *u)
{
	if (span->use == TQI_SPAN_BLOCKS) {
		u->blocks += span->used;
		u->block_bytes += (uint64_t)span->used << (TQI_UNIT_SHIFT + span->class_);
	} else if (span->use == TQI_SPAN_RUN) {
		u->blocks++;
		u->block_bytes += (uint64_t)span->next << TQI_SPAN_SHIFT;
	}
}

/* A heap keeps its chunks; nor does an index shrink. */
static void leave_out_array(const struct tqi_array *array, struct usage *u)
{
	for (uint32_t k = 0; k < TQI_ARRAY_CHUNKS; k++) {
		if (!array->chunks[k])
			continue;
		u->blocks--;
		u->block_bytes -= tqi_array_chunk_bytes(k);
	}
}

static void leave_out(const struct tqi_heap *heap, struct usage *u)
{
	leave_out_array(&heap->array, u);
}

static void leave_out_index(const struct tqi_hash_index *index, struct usage *u)
{
	leave_out_array(&index->heads, u);
}

static void leave_out_block(uint64_t bytes, struct usage *u)
{
	u->blocks--;
	u->block_bytes -= tqi_block_bytes(bytes);
}

/* A queue keeps the index of its streams, their contest, and tournaments until its order changes. */
static void leave_out_kinds(struct tqi_tx *tx, const struct tqi_queue *queue, struct usage *u)
{
	if (queue->by_kind)
		leave_out_block(sizeof(struct tqi_by_kind), u);
	if (queue->contest)
		leave_out_block(tqi_tournament_bytes(false), u);
	const uint32_t tournaments = queue->chains[queue->era & 1].tournaments;

	if (!tournaments)
		return;
	leave_out_block(sizeof(struct tqi_tournaments), u);
	for (uint32_t band = 0; band < TQ_BANDS; band++) {
		const struct tqi_tournament *t = tqi_tournament_at(tx, tournaments, band);

		if (t)
			leave_out_block(tqi_tournament_bytes(t->orders == 2), u);
	}
}

static void count_blocks(struct tqi_tx *tx, struct usage *u)
{
	const struct tqi_geometry *g = &tx->seg->geometry;
	const struct tqi_span *spans = (const struct tqi_span *)(const void *)(tx->base + g->spans);

	for (uint32_t s = 0; s < g->span_count; s++)
		count_span(&spans[s], u);
	leave_out(&tqi_root(tx)->time.due, u);
	leave_out(&tqi_root(tx)->time.wall, u);
	leave_out(&tqi_root(tx)->limit.refills, u);
	leave_out_index(&tqi_root(tx)->named.limits, u);
	leave_out_index(&tqi_root(tx)->named.lanes, u);
	leave_out(&tqi_root(tx)->time.every, u);
	leave_out(&tqi_root(tx)->time.cron, u);
	leave_out_index(&tqi_root(tx)->named.tenants, u);
	leave_out_index(&tqi_root(tx)->named.servers, u);
	leave_out_index(&tqi_root(tx)->named.pools, u);
	leave_out_index(&tqi_root(tx)->named.queues, u);
	leave_out_index(&tqi_root(tx)->named.kinds, u);
	leave_out(&tqi_root(tx)->owners, u);
	for (uint32_t i = 1; i < tx->core->tables[TQI_QUEUES].count; i++)
		leave_out_kinds(tx, tqi_queue_at(tx, i), u);
	for (uint32_t i = 1; i < tx->core->tables[TQI_CLASSES].count; i++) {
		leave_out(&tqi_class_at(tx, i)->open, u);
		leave_out(&tqi_class_at(tx, i)->oldest, u);
	}
	for (uint32_t i = 1; i < tx->core->tables[TQI_STREAMS].count; i++)
		leave_out(&tqi_stream_at(tx, i)->tenants, u);
	for (uint32_t i = 1; i < tx->core->tables[TQI_POOLS].count; i++) {
		leave_out(&tqi_pool_at(tx, i)->load, u);
		leave_out(&tqi_pool_at(tx, i)->rooms, u);
	}
	for (uint32_t i = 1; i < tx->core->tables[TQI_LANES].count; i++) {
		leave_out(&tqi_lane_at(tx, i)->tasks, u);
		leave_out(&tqi_lane_at(tx, i)->ages, u);
	}
}

/* Some are kept with their answers; what is for anybody may wait for somebody to come. */
static void count_commands(struct tqi_tx *tx, struct usage *u)
{
	for (uint32_t i = 1; i < tx->core->tables[TQI_COMMANDS].count; i++) {
		const struct tqi_command *c = tqi_command_at(tx, i);

		if (c->state == TQI_COMMAND_FREE)
			continue;
		u->blocks--;
		u->block_bytes -=
			tqi_block_bytes((uint64_t)c->delivery_count * sizeof(struct tqi_delivery) +
					c->argument_bytes);
		if (c->to != TQ_COMMAND_TO_ANY || !c->waiting)
			u->owed += c->open;
	}
}

/* Complete ones stay until room is needed, with nothing to do. */
static void count_groups(struct tqi_tx *tx, struct usage *u)
{
	for (uint32_t i = 1; i < tx->core->tables[TQI_GROUPS].count; i++) {
		const struct tqi_group *g = tqi_group_at(tx, i);

		u->groups += g->state != TQI_GROUP_FREE &&
			     (g->state != TQI_GROUP_COMPLETE || g->work != TQI_GROUP_IDLE);
	}
}

void usage_read(struct tq *tq, struct usage *ret_usage)
{
	struct tqi_tx tx;

	*ret_usage = (struct usage){ 0 };
	if (tqi_hold_begin(tq, &tx) < 0)
		return;
	ret_usage->tasks = live(&tx, TQI_TASKS);
	ret_usage->attempts = live(&tx, TQI_ATTEMPTS);
	ret_usage->workers = live(&tx, TQI_WORKERS);
	ret_usage->waiters = live(&tx, TQI_WAITERS);
	ret_usage->edges = live(&tx, TQI_EDGES);
	count_blocks(&tx, ret_usage);
	count_commands(&tx, ret_usage);
	count_groups(&tx, ret_usage);
	for (uint32_t i = 0; i < TQI_INFLIGHT_MAX; i++)
		ret_usage->inflight += tx.core->inflight[i].kind != 0;
	(void)tqi_hold_end(tq, &tx, 0);
}

static void compare(struct ledger *l, const char *what, uint64_t before, uint64_t after)
{
	if (before != after)
		ledger_fault(l, FAULT_LEAK, UINT32_MAX, "%s: %llu before, %llu after", what,
			     (unsigned long long)before, (unsigned long long)after);
}

void usage_compare(struct ledger *l, const struct usage *before, const struct usage *after)
{
#define USAGE_COMPARE(name) compare(l, #name, before->name, after->name);
	USAGE_MAP(USAGE_COMPARE)
#undef USAGE_COMPARE
}
