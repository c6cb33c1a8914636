/* SPDX-License-Identifier: MIT */
/*
 * The linear harness.  A victim is stepped once through an operation; each image of
 * the segment on the way is a crash state, examined in a lab (tests/crash/lab.h).
 *
 *   linear_test [--share I/N] [--seed S] [--seconds T] [--only OPERATION[/STATE]]
 *               [--levels 1..3] [--thorough] [--every] [--verbose] [--stepped FILE]
 *               [--list | --functions]
 *
 * --seconds stops after that time, also within a sweep, in an order that depends on
 * the seed; without a seed, one is taken from the clock and printed.  --thorough steps every rescue to
 * its end, and checks after each.  --every steps each instruction of the victim, and not only
 * those that store into the segment or belong to an operation on a lock.  --table prints what
 * was swept, for the documents.
 * --stepped writes the addresses of the instructions that were stepped, for stores.sh.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "scheduler/order/ready.h"
#include "tests/crash/dump.h"
#include "tests/crash/lab.h"
#include "tests/crash/operations.h"
#include "tests/crash/world.h"

struct options {
	uint32_t share, shares;
	uint64_t seed;
	double seconds; /* 0 no limit */
	const char *only;
	const char *stepped;
	uint32_t levels;
	bool thorough;
	bool every;
	bool verbose;
	bool table;
};

/* One operation from one state, in the thread that is the victim. */
struct run {
	const struct tqt_operation *operation;
	const struct tqt_state *state;
	struct tqt_world world;
	struct tqt_sweep sweep;
	struct tqt_lab labs[TQT_LEVELS_MAX];
	bool labs_are_open;
	bool every;
	uint32_t levels;
	struct tqt_thread thread;
	struct tqt_stepper stepper;
	uintptr_t robust_seen[2];
	uint32_t undo_before;
	char *before, *after;
	bool is_stranded; /* from the start */
};

static void image_of(struct tqt_image *image, const struct tqi_segment *seg)
{
	image->size = seg->geometry.max_bytes;
	image->bytes = realloc(image->bytes, image->size);
	if (!image->bytes)
		exit(1);
	memcpy(image->bytes, seg->base, image->size);
}

static void note_stable(struct run *run)
{
	const struct tqt_map *map = &run->world.map;

	for (uint32_t i = 0; i < map->count; i++) {
		uint64_t at = (uint64_t)map->pages[i] * TQT_PAGE;

		memcpy(run->sweep.stable.bytes + at, map->base + at, TQT_PAGE);
	}
}

/* After each instruction of the victim. */
static bool look(struct tqt_stepper *stepper)
{
	struct run *run = stepper->arg;

	/* Both are asked: each remembers what it saw. */
	bool bytes = tqt_map_changed(&run->world.map);
	bool locks = tqt_robust_changed(&run->thread, run->robust_seen);

	if (!bytes && !locks)
		return true;
	uint32_t undo = tqi_segment_core(&run->world.seg)->undo_count;

	run->sweep.boundary = undo == 0 && run->undo_before != 0;
	run->sweep.steps[0] = stepper->steps;
	run->undo_before = undo;
	if (undo == 0)
		note_stable(run);
	tqt_lab_examine(&run->labs[0], &run->thread);
	return !tqt_time_is_over(&run->sweep);
}

/* A worker that sleeps beside a startable task from the start. */
static bool is_stranded(const struct tqi_segment *seg)
{
	struct tqi_tx tx;

	tqi_tx_view(&tx, seg);
	for (uint32_t w = 1; w < tx.core->tables[TQI_WAITERS].count; w++) {
		const struct tqi_waiter *s = tqi_waiter_at(&tx, w);

		if (s->state == TQI_WAITER_LISTED && s->interest == TQI_INTEREST_WORK &&
		    tqt_can_start(&tx, tqi_worker_at(&tx, s->subject)))
			return true;
	}
	return false;
}

static bool is_repair(const struct run *run)
{
	return run->operation->rule == TQT_REPAIRS;
}

static void begin(struct run *run)
{
	struct tqt_world *w = &run->world;
	struct tqt_sweep *sweep = &run->sweep;

	image_of(&sweep->start, &w->seg);
	image_of(&sweep->stable, &w->seg);
	sweep->operation = run->operation->name;
	sweep->state = run->state->name;
	sweep->words = run->operation->rule == TQT_WORDS;
	sweep->system = &w->system;
	sweep->map = &w->map;
	sweep->intact = is_repair(run) ? run->before : NULL;
	run->is_stranded = is_stranded(&w->seg);
	sweep->sleeper = run->is_stranded || strstr(run->operation->name, "claim");
	w->system.woken_count = 0;
	tqt_seen_clear(&sweep->seen);
	tqt_seen_clear(&sweep->passed);
	if (!run->labs_are_open)
		tqt_labs_open(run->labs, run->levels, &w->seg, sweep);
	run->labs_are_open = true;
	tqt_labs_begin(run->labs, run->levels, &w->seg);
	tqt_map_watch(&w->map);
	tqt_thread_here(&run->thread, &w->map);
	tqt_robust_changed(&run->thread, run->robust_seen);
	run->undo_before = 0;
	run->stepper = (struct tqt_stepper){ .look = look,
					     .arg = run,
					     .stores = run->every ? NULL : &w->map };
}

/* Killed as soon as it has said what it did: that stands. */
static void end(struct run *run)
{
	note_stable(run);
	run->sweep.boundary = true;
	run->sweep.returned = run->world.result >= 0;
	run->sweep.sleeper = run->is_stranded; /* it passes no wake on any more */
	tqt_lab_examine(&run->labs[0], &run->thread);
	run->sweep.returned = false;
}

static void *victim(void *arg)
{
	struct run *run = arg;
	const struct tqt_world_options options = { .tasks_max = run->state->tasks_max };

	tqt_step_thread();
	tqt_world_open(&run->world, &options);
	run->operation->prepare(&run->world);
	run->state->fill(&run->world);
	/* A repair takes it back from whoever has not begun with it. */
	run->sweep.unseen = is_repair(run) ? TQ_INFO_ASSIGNED : 0;
	run->before = tqt_dump(run->world.tq, run->sweep.unseen);
	if (run->world.damage)
		run->world.damage(&run->world);
	begin(run);
	tqt_step_begin(&run->stepper);
	run->operation->run(&run->world);
	tqt_step_end();
	end(run);
	tqt_map_unwatch(&run->world.map);
	run->sweep.steps[0] = run->stepper.steps;
	run->after = tqt_dump(run->world.tq, run->sweep.unseen);
	return NULL;
}

/* Wholly or not at all. */
static void judge(struct run *run)
{
	struct tqt_sweep *sweep = &run->sweep;

	if (run->operation->rule == TQT_STEPS || run->state->rule != TQT_WHOLE)
		return;
	if (sweep->words && run->world.result >= 0 && !strstr(run->after, TQT_REPORTED))
		tqt_fault(sweep, 0, "it succeeded, yet nobody sees it");
	if (sweep->intact && (run->world.result < 0 || strcmp(run->before, run->after) != 0))
		tqt_fault(sweep, 0, "the repair itself: %s", tq_error_name(run->world.result));
	if (run->world.result < 0 && strcmp(run->before, run->after) != 0) {
		tqt_fault(sweep, 0, "it failed (%s), yet something changed",
			  tq_error_name(run->world.result));
		tqt_dump_differs(run->after, run->before);
	}
	for (uint32_t i = 0; i < sweep->dump_count; i++) {
		const char *dump = sweep->dumps[i];

		if (strcmp(dump, run->before) == 0 || strcmp(dump, run->after) == 0)
			continue;
		tqt_fault(sweep, 0, "commit %u shows half of it", i);
		tqt_dump_differs(dump, run->before);
		tqt_dump_differs(dump, run->after);
	}
}

static void finish(struct run *run)
{
	struct tqt_sweep *sweep = &run->sweep;

	for (uint32_t i = 0; i < sweep->dump_count; i++)
		free(sweep->dumps[i]);
	free(run->before);
	free(run->after);
	sweep->dump_count = 0;
	sweep->faults = 0;
	memset(sweep->states, 0, sizeof(sweep->states));
	memset(sweep->steps, 0, sizeof(sweep->steps));
	tqt_world_close(&run->world);
}

struct totals {
	uint64_t runs, faults, states[2], steps;
};

static void sweep_one(struct run *run, const struct options *o, struct totals *totals)
{
	struct tqt_sweep *sweep = &run->sweep;
	double start = tqt_seconds();
	pthread_t thread;

	sweep->thorough = o->thorough;
	if (pthread_create(&thread, NULL, victim, run))
		exit(1);
	pthread_join(thread, NULL);
	judge(run);
	totals->runs++;
	totals->faults += sweep->faults;
	totals->states[0] += sweep->states[0];
	for (uint32_t l = 1; l < TQT_LEVELS_MAX; l++)
		totals->states[1] += sweep->states[l];
	for (uint32_t l = 0; l <= TQT_LEVELS_MAX; l++)
		totals->steps += sweep->steps[l];
	if (o->verbose)
		printf("%-18s %-9s %6d %7llu steps %5llu states %6llu nested %3u commits %5.2f s\n",
		       run->operation->name, run->state->name, run->world.result,
		       (unsigned long long)sweep->steps[0], (unsigned long long)sweep->states[0],
		       (unsigned long long)(sweep->states[1] + sweep->states[2]), sweep->dump_count,
		       tqt_seconds() - start);
	fflush(stdout);
	finish(run);
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull; /* splitmix64 */
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* A row of the documents' table: all states of one operation. */
static void print_row(const struct tqt_operation *op, const struct totals *from,
		      const struct totals *to)
{
	printf("| `%s` | %s%s%s |", op->name, op->function[0] == 't' ? "`" : "", op->function,
	       op->function[0] == 't' ? "()`" : "");
	for (uint32_t s = 0; s < TQT_STATE_TOTAL; s++)
		if (op->states >> s & 1)
			printf(" %s", tqt_states[s].name);
	printf(" | %llu | %llu | %llu |\n", (unsigned long long)(to->states[0] - from->states[0]),
	       (unsigned long long)(to->states[1] - from->states[1]),
	       (unsigned long long)(to->faults - from->faults));
}

/* One line of the table in one state. */
struct choice {
	uint64_t rank;
	uint32_t op, state;
};

static bool is_wanted(const struct options *o, const struct choice *c)
{
	const struct tqt_operation *op = &tqt_operations[c->op];
	char name[64];

	if (!(op->states >> c->state & 1))
		return false;
	if (!o->only)
		return c->rank % o->shares == o->share;
	snprintf(name, sizeof(name), "%s/%s", op->name, tqt_states[c->state].name);
	return strcmp(o->only, op->name) == 0 || strcmp(o->only, name) == 0;
}

static int by_rank(const void *a, const void *b)
{
	const struct choice *x = a, *y = b;

	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static uint32_t choose(const struct options *o, struct choice *choices)
{
	uint32_t n = 0;

	for (uint32_t op = 0; op < tqt_operation_count; op++) {
		for (uint32_t s = 0; s < TQT_STATE_TOTAL; s++) {
			struct choice c = { mix(o->seed ^ mix(op * TQT_STATE_TOTAL + s + 1)), op,
					    s };

			if (is_wanted(o, &c))
				choices[n++] = c;
		}
	}
	if (o->seconds > 0)
		qsort(choices, n, sizeof(*choices), by_rank);
	return n;
}

static void list(bool functions)
{
	for (uint32_t op = 0; op < tqt_operation_count; op++) {
		if (functions)
			printf("%s\n", tqt_operations[op].function);
		for (uint32_t s = 0; s < TQT_STATE_TOTAL && !functions; s++)
			if (tqt_operations[op].states >> s & 1)
				printf("%s/%s\n", tqt_operations[op].name, tqt_states[s].name);
	}
	exit(0);
}

static void parse(int argc, char **argv, struct options *o)
{
	*o = (struct options){ .shares = 1, .levels = 2 };
	for (int i = 1; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : "";

		if (strcmp(argv[i], "--list") == 0 || strcmp(argv[i], "--functions") == 0) {
			list(argv[i][2] == 'f');
		} else if (strcmp(argv[i], "--thorough") == 0) {
			o->thorough = true;
		} else if (strcmp(argv[i], "--every") == 0) {
			o->every = true;
		} else if (strcmp(argv[i], "--table") == 0) {
			o->table = true;
		} else if (strcmp(argv[i], "--verbose") == 0) {
			o->verbose = true;
		} else if (strcmp(argv[i], "--share") == 0) {
			i += sscanf(value, "%u/%u", &o->share, &o->shares) == 2;
		} else if (strcmp(argv[i], "--seed") == 0) {
			o->seed = strtoull(value, NULL, 0), i++;
		} else if (strcmp(argv[i], "--seconds") == 0) {
			o->seconds = strtod(value, NULL), i++;
		} else if (strcmp(argv[i], "--only") == 0) {
			o->only = value, i++;
		} else if (strcmp(argv[i], "--stepped") == 0) {
			o->stepped = value, i++;
		} else if (strcmp(argv[i], "--levels") == 0) {
			o->levels = (uint32_t)atoi(value), i++;
		} else {
			o->shares = 0; /* not known: it would sweep everything */
		}
	}
	if (o->seconds > 0 && o->seed == 0)
		o->seed = (uint64_t)time(NULL);
	if (o->levels < 1 || o->levels > TQT_LEVELS_MAX || o->shares == 0) {
		fprintf(stderr, "linear_test: see the head of tests/crash/linear_test.c\n");
		exit(2);
	}
}

int main(int argc, char **argv)
{
	static struct run run;
	struct totals totals = { 0 }, printed = { 0 };
	struct options o;

	parse(argc, argv, &o);
	tqt_step_install();
	if (o.stepped)
		tqt_step_note();
	run.levels = o.levels;
	run.every = o.every;
	double start = tqt_seconds();

	run.sweep.end_s = o.seconds > 0 ? start + o.seconds : 0;
	struct choice *choices = calloc(tqt_operation_count * TQT_STATE_TOTAL, sizeof(*choices));
	uint32_t count = choices ? choose(&o, choices) : 0;

	if (o.seconds > 0)
		printf("linear: --seconds %.0f --seed %llu\n", o.seconds,
		       (unsigned long long)o.seed);
	if (o.table)
		printf("| operation | function | start states | crash states | inside rescues | "
		       "faults |\n"
		       "|---|---|---|---:|---:|---:|\n");
	for (uint32_t i = 0; i < count && !tqt_time_is_over(&run.sweep); i++) {
		run.operation = &tqt_operations[choices[i].op];
		run.state = &tqt_states[choices[i].state];
		sweep_one(&run, &o, &totals);
		if (!o.table || (i + 1 < count && choices[i + 1].op == choices[i].op))
			continue;
		print_row(run.operation, &printed, &totals);
		printed = totals;
	}
	free(choices);
	if (run.labs_are_open)
		tqt_labs_close(run.labs, run.levels);
	if (o.stepped)
		tqt_step_write(o.stepped);
	printf("linear: %llu of %u sweeps, %llu crash states, %llu inside rescues, %llu "
	       "instructions, %llu faults, %.1f s\n",
	       (unsigned long long)totals.runs, count, (unsigned long long)totals.states[0],
	       (unsigned long long)totals.states[1], (unsigned long long)totals.steps,
	       (unsigned long long)totals.faults, tqt_seconds() - start);
	return totals.faults || !totals.runs;
}
