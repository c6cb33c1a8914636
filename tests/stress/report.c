/* SPDX-License-Identifier: MIT */
/* Percentiles and the last line. */
#include "report.h"

#include <stdio.h>
#include <stdlib.h>

#include "judge.h"

/* Open addressing: the first kill of each process. */
#define KILL_SLOTS (2u * LEDGER_KILLS_MAX)

struct recovery {
	uint64_t ns;
	uint32_t slot;
};

struct times {
	struct recovery *all; /* by time */
	uint32_t count;
};

static uint32_t place_of(const struct ledger_kill *table, uint64_t who)
{
	uint32_t at = (uint32_t)((who * 0x9e3779b97f4a7c15ull) >> 32) % KILL_SLOTS;

	while (table[at].who && table[at].who != who)
		at = (at + 1) % KILL_SLOTS;
	return at;
}

static struct ledger_kill *index_kills(struct ledger *l)
{
	uint64_t count = l->kills < LEDGER_KILLS_MAX ? l->kills : LEDGER_KILLS_MAX;
	struct ledger_kill *table = calloc(KILL_SLOTS, sizeof(*table));

	for (uint64_t i = 0; table && i < count; i++) {
		struct ledger_kill *kill = &table[place_of(table, l->kill[i].who)];

		if (!kill->who) { /* a second one found it dead */
			kill->who = l->kill[i].who;
			kill->at_ns = l->kill[i].at_ns;
		}
	}
	return table;
}

static int by_time(const void *a, const void *b)
{
	const struct recovery *x = a, *y = b;

	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

/*
 * From the kill of the process that ran an attempt to the next attempt of its task; in
 * farms, or elsewhere.
 */
static struct times recoveries(struct ledger *l, bool farm)
{
	uint64_t count = l->recoveries < LEDGER_KILLS_MAX ? l->recoveries : LEDGER_KILLS_MAX;
	struct times times = { .all = calloc(count + 1, sizeof(*times.all)) };
	struct ledger_kill *table = index_kills(l);

	for (uint64_t i = 0; times.all && table && i < count; i++) {
		const struct ledger_recovery *r = &l->recovery[i];
		const struct ledger_kill *kill = &table[place_of(table, r->dead)];

		if (kill->who && r->at_ns > kill->at_ns &&
		    farm == !!(l->task[r->slot].traits & TRAIT_FARM))
			times.all[times.count++] =
				(struct recovery){ r->at_ns - kill->at_ns, r->slot };
	}
	free(table);
	if (times.all)
		qsort(times.all, times.count, sizeof(*times.all), by_time);
	return times;
}

static double percentile_ms(const struct times *t, uint32_t percent)
{
	return t->count ? (double)t->all[(uint64_t)(t->count - 1) * percent / 100].ns / 1e6 : 0;
}

static void report_times(const struct times *t)
{
	printf("p50 %.1f ms p90 %.1f ms p99 %.1f ms max %.1f ms", percentile_ms(t, 50),
	       percentile_ms(t, 90), percentile_ms(t, 99), percentile_ms(t, 100));
}

/* Farms wait before they replace a worker that died early: that is their policy. */
static void report_recoveries(struct ledger *l, const struct times *plain)
{
	struct times farm = recoveries(l, true);

	printf("storm: %u recoveries, the slowest of task %u; in farms %u: ", plain->count,
	       plain->count ? plain->all[plain->count - 1].slot : 0, farm.count);
	report_times(&farm);
	printf("\n");
	free(farm.all);
}

static uint32_t sum(struct ledger *l, uint32_t faults)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < FAULT_COUNT; i++)
		n += faults >> i & 1 ? l->faults[i] : 0;
	return n;
}

static uint32_t count_tasks(struct ledger *l)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < l->tasks; i++)
		count += judge_exists(&l->task[i]);
	return count;
}

static void report_kills(const struct cast *c)
{
	struct tq_segment_info info = { .size = sizeof(info) };
	uint32_t guests = c->kills;

	printf("storm: killed");
	for (uint32_t r = 0; r < ROLE_COUNT; r++) {
		printf(" %u %ss,", c->kill_count_by_role[r], role_name((enum role)r));
		guests -= c->kill_count_by_role[r];
	}
	printf(" %u of their children; by fuses %u killed, %u stopped; ", guests,
	       c->storm->ledger->fuses[0], c->storm->ledger->fuses[1]);
	if (tq_segment_info(c->storm->tq, &info) == 0)
		printf("%llu rollbacks in %llu transactions\n", (unsigned long long)info.rollbacks,
		       (unsigned long long)info.transactions);
}

static void report_outcomes(struct ledger *l)
{
	uint32_t counts[TQ_STATE_COUNT] = { 0 }, starts = 0;

	for (uint32_t i = 0; i < l->tasks; i++) {
		counts[l->task[i].outcome % TQ_STATE_COUNT] += judge_exists(&l->task[i]);
		starts += l->task[i].starts;
	}
	printf("storm: %u attempts; %u done, %u failed, %u cancelled, %u not seen in the end; "
	       "%u submits found no room\n",
	       starts, counts[TQ_DONE], counts[TQ_FAILED], counts[TQ_CANCELLED], counts[0],
	       l->full);
}

/* Graphs and groups that came to be; of killed makers', whole ones and ones of which nothing is. */
static void report_links(struct ledger *l)
{
	uint32_t graphs = 0, groups = 0, unheard = 0, cut = 0, dependants = 0, refused = 0,
		 started = 0;

	for (uint32_t i = 0; i < l->groups; i++) {
		const struct ledger_group *g = &l->group[i];
		bool is_there = g->state == LEDGER_ACCEPTED ||
				(g->first && judge_exists(&l->task[g->first - 1]));

		graphs += is_there && g->is_graph;
		groups += is_there && !g->is_graph;
		unheard += is_there && g->is_graph && g->state == LEDGER_OFFERED;
		cut += !is_there && g->is_graph && g->state == LEDGER_OFFERED;
	}
	for (uint32_t i = 0; i < l->tasks; i++) {
		const struct ledger_task *t = &l->task[i];

		dependants += t->after[0].kind && judge_exists(t);
		refused += t->after[0].kind && t->outcome == TQ_CANCELLED;
		started += t->completes && t->starts;
	}
	printf("storm: %u graphs, %u of them by makers that were killed, which left %u others "
	       "unfinished; %u groups, %u completion "
	       "tasks started; %u tasks with dependencies, %u of them cancelled\n",
	       graphs, unheard, cut, groups, started, dependants, refused);
}

void report(const struct cast *c, struct ledger *l, uint64_t storm_ns)
{
	const uint32_t lost = 1u << FAULT_LOST | 1u << FAULT_UNENDED | 1u << FAULT_UNHEARD;
	const uint32_t overlapping = 1u << FAULT_OVERLAP | 1u << FAULT_TWICE |
				     1u << FAULT_AFTERLIFE;
	const uint32_t early = 1u << FAULT_EARLY | 1u << FAULT_TORN;
	const uint32_t leaked = 1u << FAULT_LEAK, all = (1u << FAULT_COUNT) - 1;
	struct times times = recoveries(l, false);
	uint32_t others = sum(l, all & ~(lost | overlapping | early | leaked));

	report_kills(c);
	report_outcomes(l);
	report_links(l);
	report_recoveries(l, &times);
	printf("storm: %llu s, %u tasks, %u kills, %u stops, %u lost, %u overlapping, %u early or "
	       "torn, "
	       "%u leaked, ",
	       (unsigned long long)(storm_ns / S), count_tasks(l), c->kills + l->fuses[0],
	       c->stop_count, sum(l, lost), sum(l, overlapping), sum(l, early), sum(l, leaked));
	if (others)
		printf("%u other faults, ", others);
	printf("recovery ");
	report_times(&times);
	printf(", seed %llu\n", (unsigned long long)c->storm->seed);
	free(times.all);
}
