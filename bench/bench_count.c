/* SPDX-License-Identifier: MIT */
/*
 * Instructions and cache misses of one operation, by callgrind: the same on a quiet
 * machine and on a busy one.  This program runs itself under it twice, with different
 * numbers of lives; the difference is what the further lives cost, without the start.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define LIVES 1000 /* of the first run; the second has twice as many */
#define NO_VALGRIND 127
#define LINE_BYTES 512

/* A machine to simulate, the same everywhere: bytes, ways, line. */
#define CACHES "--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64"

struct counts {
	double instructions;
	double l1;   /* data that was not in the first cache ... */
	double last; /* ... and not in the last one */
};

/* The operations whose calls are added up. */
enum op {
	SUBMIT,
	CLAIM,
	COMPLETE,
	NEXT,
	OPS
};
static const char *const functions[OPS] = { "tq_submit", "tq_claim", "tq_complete", "tq_next" };
static const char *const of_floor[OPS] = { "sketch_submit", "sketch_claim", "sketch_complete",
					   "sketch_next" };

struct run {
	struct counts ops[OPS];
	char events[LINE_BYTES]; /* what the figures of a line are: "Ir Dr ..." */
};

/* Where an event counts; its names are callgrind's: reads and writes that missed. */
static double *place_of(struct counts *c, const char *event)
{
	if (strcmp(event, "Ir") == 0)
		return &c->instructions;
	if (strcmp(event, "D1mr") == 0 || strcmp(event, "D1mw") == 0)
		return &c->l1;
	if (strcmp(event, "DLmr") == 0 || strcmp(event, "DLmw") == 0)
		return &c->last;
	return NULL;
}

/* "LINE FIGURE...": what a call cost, with all that it called. */
static void add_line(const struct run *run, char *line, struct counts *ret)
{
	char events[LINE_BYTES], *events_at, *line_at;
	const char *event, *figure;

	memcpy(events, run->events, sizeof(events));
	event = strtok_r(events, " \n", &events_at);
	strtok_r(line, " \n", &line_at);
	figure = strtok_r(NULL, " \n", &line_at);
	while (event && figure) {
		double *place = place_of(ret, event);

		if (place)
			*place += strtod(figure, NULL);
		event = strtok_r(NULL, " \n", &events_at);
		figure = strtok_r(NULL, " \n", &line_at);
	}
}

static int op_of(char *name)
{
	name[strcspn(name, "\n")] = '\0';
	for (int i = 0; i < OPS; i++)
		if (strcmp(name, functions[i]) == 0 || strcmp(name, of_floor[i]) == 0)
			return i;
	return -1;
}

/* "cfn=CALLED", "calls=...", and the line of its costs. */
static bool read_file(const char *path, struct run *ret)
{
	char line[LINE_BYTES];
	FILE *f = fopen(path, "r");
	int op = -1;

	if (!f)
		return false;
	*ret = (struct run){ 0 };
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, "events: ", 8) == 0)
			snprintf(ret->events, sizeof(ret->events), "%s", line + 8);
		else if (strncmp(line, "cfn=", 4) == 0)
			op = op_of(line + 4);
		else if (strncmp(line, "calls=", 6) == 0 && fgets(line, sizeof(line), f) && op >= 0)
			add_line(ret, line, &ret->ops[op]);
	}
	fclose(f);
	return ret->ops[SUBMIT].instructions > 0;
}

/* In a child. */
static _Noreturn void run_valgrind(const char *out, uint32_t lives, uint32_t depth, const char *how)
{
	char out_option[160], count[16], waiting[16], self[1024];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int null = open("/dev/null", O_RDWR);

	self[length > 0 ? length : 0] = '\0';
	snprintf(out_option, sizeof(out_option), "--callgrind-out-file=%s", out);
	snprintf(count, sizeof(count), "%u", lives);
	snprintf(waiting, sizeof(waiting), "%u", depth);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	execlp("valgrind", "valgrind", "--tool=callgrind", "--cache-sim=yes", CACHES,
	       "--compress-strings=no", "--compress-pos=no", out_option, self, "--lives", count,
	       waiting, how, (char *)NULL);
	_exit(NO_VALGRIND);
}

/* NULL, or why there are no counts. */
static const char *run_lives(uint32_t lives, uint32_t depth, const char *how, struct run *ret)
{
	const char *tmp = getenv("TMPDIR");
	char out[128];
	int status;

	snprintf(out, sizeof(out), "%.80s/taskq-bench.%d", tmp ? tmp : "/tmp", (int)getpid());
	pid_t pid = fork();

	if (pid == 0)
		run_valgrind(out, lives, depth, how);
	waitpid(pid, &status, 0);
	bool done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
	bool counted = done && read_file(out, ret);

	unlink(out);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_VALGRIND)
		return "no valgrind";
	if (!done)
		bench_discard(pid);
	return counted ? NULL : "it failed under valgrind";
}

static const char *count(uint32_t depth, const char *how, struct counts *ret_ops)
{
	static struct run few, many;
	const uint32_t lives = bench_scaled(LIVES);
	const char *why = run_lives(lives, depth, how, &few);

	if (!why)
		why = run_lives(2 * lives, depth, how, &many);
	for (int i = 0; i < OPS && !why; i++) {
		const struct counts *a = &few.ops[i], *b = &many.ops[i];

		ret_ops[i] = (struct counts){ .instructions =
						      (b->instructions - a->instructions) / lives,
					      .l1 = (b->l1 - a->l1) / lives,
					      .last = (b->last - a->last) / lives };
	}
	return why;
}

static void report(const char *what, uint32_t depth, const struct counts *c, const char *why)
{
	char name[112];

	snprintf(name, sizeof(name), "%s, %u waiting", what, depth);
	if (why)
		bench_not_measured(name, why);
	else
		bench_report_count(name, c->instructions, c->l1, c->last);
}

static void add_counts(struct counts *sum, const struct counts *c)
{
	sum->instructions += c->instructions;
	sum->l1 += c->l1;
	sum->last += c->last;
}

static struct counts life_of(const struct counts ops[OPS])
{
	struct counts life = { 0 };

	for (int i = SUBMIT; i <= COMPLETE; i++)
		add_counts(&life, &ops[i]);
	return life;
}

/* Beside the floor, as deep. */
static void report_life(uint32_t depth, const struct counts *life, const char *why)
{
	struct counts ops[OPS] = { 0 };
	char name[80];

	report("life of a task, the sum", depth, life, why);
	why = why ? why : count(depth, "floor", ops);
	const struct counts floor = life_of(ops);

	report("life in the floor, the sum", depth, &floor, why);
	snprintf(name, sizeof(name), "life of a task, %u waiting, instructions, times the floor",
		 depth);
	if (why)
		bench_not_measured(name, why);
	else
		bench_report(name, life->instructions / floor.instructions, "times", 0);
}

static void at_depth(uint32_t depth)
{
	struct counts ops[OPS] = { 0 };
	const char *why = count(depth, "", ops);
	const struct counts life = life_of(ops);

	for (int i = SUBMIT; i <= COMPLETE; i++)
		report(functions[i], depth, &ops[i], why);
	report_life(depth, &life, why);
	if (!why)
		why = count(depth, "next", ops);
	report(functions[NEXT], depth, &ops[NEXT], why);
}

/* What the flight recorder costs is the difference. */
static void without_recorder(void)
{
	struct counts ops[OPS] = { 0 };

	setenv(BENCH_TRACE_OFF, "1", 1);
	const char *why = count(0, "", ops);
	const struct counts life = life_of(ops);

	unsetenv(BENCH_TRACE_OFF);
	report("life of a task without a recorder, the sum", 0, &life, why);
}

void bench_count_policy(const char *policy, uint32_t depth)
{
	static struct counts strict[OPS];
	static uint32_t strict_depth = UINT32_MAX;
	struct counts ops[OPS] = { 0 };
	const char *why = NULL;
	char name[80];

	if (strict_depth != depth)
		why = count(depth, "strict", strict);
	strict_depth = why ? UINT32_MAX : depth;
	if (!why)
		why = count(depth, policy, ops);
	for (int i = SUBMIT; i <= COMPLETE; i++) {
		snprintf(name, sizeof(name), "%s, %s", functions[i], policy);
		report(name, depth, &ops[i], why);
	}
	snprintf(name, sizeof(name), "tq_claim, %s, times strict, %u waiting", policy, depth);
	if (why)
		bench_not_measured(name, why);
	else
		bench_report(name, ops[CLAIM].instructions / strict[CLAIM].instructions, "times",
			     2);
}

void bench_count(void)
{
	at_depth(0);
	without_recorder();
	at_depth(1000);
}

void bench_count_deep(void)
{
	at_depth(1000000);
}
