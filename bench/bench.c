/* SPDX-License-Identifier: MIT */
/*
 * Runs the benches; prints a table, or with --json one object a line.
 *
 *   taskq-bench [--json] [--quick] [PART...]   those in the table below
 *   taskq-bench --lives COUNT DEPTH [HOW]    what bench_count.c has counted
 *   taskq-bench --scene NAME NUMBER          what bench_flat.c has counted
 *   taskq-bench --sleepers SEGMENT SORT NUMBER ID    who waits beside it
 *
 * With BENCH_TRACE_OFF in the environment, in a segment without a flight recorder.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct part {
	const char *name;
	void (*run)(void);
	bool on_request; /* takes minutes */
} parts[] = {
	{ "alone", bench_alone, false },
	{ "pair", bench_pair, false },
	{ "crowd", bench_crowd, false },
	{ "wake", bench_wake, false },
	{ "death", bench_death, false },
	{ "lock", bench_lock, false },
	{ "memory", bench_memory, false },
	{ "observers", bench_observers, false },
	{ "scrape", bench_scrape, false },
	{ "count", bench_count, false },
	{ "count-deep", bench_count_deep, true },
	{ "policy", bench_policy, false },
	{ "policy-count", bench_policy_count, true },
	{ "policy-deep", bench_policy_deep, true },
	{ "steer", bench_steer, false },
	{ "flat", bench_flat, false },
	{ "herd", bench_herd, false },
	{ "idle", bench_idle, false },
	{ "repair", bench_repair, false },
	{ "peers", bench_peers, true },
	{ "commands", bench_commands, true },
	{ "growth", bench_growth, true },
	{ "graph", bench_graph, false },
	{ "graph-full", bench_graph_full, true },
	{ "parked", bench_parked, false },
	{ "hold", bench_hold, false },
};
#define PARTS (sizeof(parts) / sizeof(parts[0]))

static int usage(void)
{
	fprintf(stderr, "usage: taskq-bench [--json] [--quick] [PART...]\nparts:");
	for (uint32_t i = 0; i < PARTS; i++)
		fprintf(stderr, " %s%s", parts[i].name, parts[i].on_request ? " (minutes)" : "");
	fputc('\n', stderr);
	return 2;
}

static const struct part *part_of(const char *name)
{
	for (uint32_t i = 0; i < PARTS; i++)
		if (strcmp(parts[i].name, name) == 0)
			return &parts[i];
	return NULL;
}

static int lives(int argc, char **argv)
{
	if (argc < 4)
		return usage();
	bench_lives((uint32_t)atoi(argv[2]), (uint32_t)atoi(argv[3]), argc > 4 ? argv[4] : "");
	return 0;
}

/* What this program starts itself with; negative: it is none of these. */
static int run_inside(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "--lives") == 0)
		return lives(argc, argv);
	if (argc == 4 && strcmp(argv[1], "--scene") == 0)
		return bench_scene(argv[2], (uint32_t)atoi(argv[3])) ? 0 : usage();
	if (argc == 6 && strcmp(argv[1], "--sleepers") == 0)
		bench_sleepers(argv[2], argv[3], (uint32_t)atoi(argv[4]),
			       strtoull(argv[5], NULL, 10));
	return -1;
}

/* The first argument that is no option. */
static int take_options(int argc, char **argv)
{
	int at = 1;

	for (; at < argc; at++)
		if (strcmp(argv[at], "--json") == 0)
			bench_table_json();
		else if (strcmp(argv[at], "--quick") == 0)
			bench_quicken();
		else
			break;
	return at;
}

int main(int argc, char **argv)
{
	const int inside = run_inside(argc, argv);

	if (inside >= 0)
		return inside;
	const int first = take_options(argc, argv);

	for (int i = first; i < argc; i++)
		if (!part_of(argv[i]))
			return usage();
	bench_table_begin();
	for (int i = first; i < argc; i++)
		part_of(argv[i])->run();
	for (uint32_t i = 0; i < PARTS && first == argc; i++)
		if (!parts[i].on_request)
			parts[i].run();
	bench_table_end();
	return 0;
}
