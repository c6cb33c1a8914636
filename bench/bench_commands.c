/* SPDX-License-Identifier: MIT */
/*
 * Commands that do nothing, one a line of input, so many at a time: taskq map beside what
 * people start commands with.  By the clock, start and end of the runner included; in turns.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define ROUNDS 5
#define NOT_THERE 127 /* what a shell ends with when there is no such program */
#define PATH_BYTES 1024

/* Each has $COUNT, $SLOTS, and a directory of its own, where HOME and TMPDIR are. */
static const struct runner {
	const char *name;
	const char *settings;
	const char *lacks;
	const char *script;
	uint32_t count; /* of commands in a round */
	double bound;	/* times taskq, at least; 0 none */
} runners[] = {
	{ "taskq map", "taskq map -j SLOTS -- true", "nothing of this",
	  "seq $COUNT | taskq map -j $SLOTS -- true", 1000, 0 },
	{ "xargs", "xargs -P SLOTS -n 1 true",
	  "a queue, leases, crash safety, priorities, results apart",
	  "seq $COUNT | xargs -P $SLOTS -n 1 true", 1000, 1 },
	{ "GNU parallel", "parallel -j SLOTS true", "a queue, leases, crash safety, priorities",
	  "seq $COUNT | parallel -j $SLOTS true", 400, 10 },
	{ "task-spooler", "tsp -S SLOTS, tsp -n true for each, tsp -w for the last",
	  "leases, crash safety, priorities",
	  "tsp -S $SLOTS && for i in $(seq $COUNT); do tsp -n true >last; done && "
	  "tsp -w $(cat last); tsp -K",
	  200, 0 },
};
#define RUNNERS (sizeof(runners) / sizeof(runners[0]))

/* The spooler's server still writes there, for a moment after its end was answered. */
static const char clean_up[] = "for i in $(seq 100); do rm -rf -- \"$HOME\" && exit 0; "
			       "sleep 0.1; done; exit 1";

static const uint32_t slots[] = { 1, 2, 8 };
#define SLOTS (sizeof(slots) / sizeof(slots[0]))
#define SLOTS_BOUND 2u /* where the bounds count */

static char segment[32]; /* in which taskq map makes its tasks */

struct result {
	const char *why; /* there is none */
	uint64_t ns[ROUNDS];
};

static void set_number(const char *name, uint32_t value)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	setenv(name, text, 1);
}

/* This program's directory comes first: there is the taskq that belongs to it. */
static void set_path(void)
{
	char self[PATH_BYTES], path[2 * PATH_BYTES];
	const char *rest = getenv("PATH");

	bench_self(self, sizeof(self));
	*strrchr(self, '/') = '\0';
	snprintf(path, sizeof(path), "%s:%.1000s", self, rest ? rest : "/usr/bin:/bin");
	setenv("PATH", path, 1);
}

static _Noreturn void be_shell(const char *script, const char *directory)
{
	const int null = open("/dev/null", O_RDWR);

	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	if (chdir(directory) < 0)
		_exit(1);
	setenv("TASKQ_SEGMENT", segment, 1);
	setenv("HOME", directory, 1);
	setenv("TMPDIR", directory, 1);
	set_path();
	execl("/bin/sh", "sh", "-c", script, (char *)NULL);
	_exit(NOT_THERE);
}

/* How it ended. */
static int run_shell(const char *script, const char *directory)
{
	const pid_t pid = fork();
	int status = -1;

	if (pid == 0)
		be_shell(script, directory);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Nanoseconds of a command. */
static const char *measure(const struct runner *r, const char *directory, uint64_t *ret_ns)
{
	const uint32_t count = bench_scaled(r->count);

	set_number("COUNT", count);
	const uint64_t begin = bench_now();
	const int ended = run_shell(r->script, directory);

	*ret_ns = (bench_now() - begin) / count;
	return ended == 0	    ? NULL
	       : ended == NOT_THERE ? "its program is not there"
				    : "its program failed";
}

static void report(const struct runner *r, uint32_t at, struct result *result)
{
	struct bench_point point = { .plot = "commands",
				     .series = r->name,
				     .x = at,
				     .what = at == 1 ? "slot" : "slots",
				     .unit = "us" };

	if (result->why) {
		bench_not_measured(r->name, result->why);
		return;
	}
	bench_point_of(&point, result->ns, ROUNDS, 1000);
	bench_report_point(&point);
}

static void report_ratio(const struct runner *r, uint32_t at, const struct result *result,
			 const struct result *ours)
{
	uint64_t ratios[ROUNDS];
	char name[96];

	if (result->why || ours->why)
		return;
	for (uint32_t i = 0; i < ROUNDS; i++)
		ratios[i] = 1000 * result->ns[i] / ours->ns[i];
	const double ratio = (double)bench_quantile(ratios, ROUNDS, 0.5) / 1000;

	snprintf(name, sizeof(name), "a command by %s, %u at a time, times taskq map", r->name, at);
	if (r->bound > 0 && at == SLOTS_BOUND)
		bench_report_least(name, ratio, "times", r->bound);
	else
		bench_report(name, ratio, "times", 0);
}

static void compare(uint32_t at, const char *directory)
{
	struct result results[RUNNERS] = { 0 };

	set_number("SLOTS", at);
	for (uint32_t round = 0; round < ROUNDS; round++)
		for (uint32_t i = 0; i < RUNNERS; i++)
			if (!results[i].why)
				results[i].why =
					measure(&runners[i], directory, &results[i].ns[round]);
	for (uint32_t i = 1; i < RUNNERS; i++)
		report_ratio(&runners[i], at, &results[i], &results[0]);
	for (uint32_t i = 0; i < RUNNERS; i++)
		report(&runners[i], at, &results[i]);
}

void bench_commands(void)
{
	const char *tmp = getenv("TMPDIR");
	char directory[128];

	snprintf(directory, sizeof(directory), "%.80s/taskq-bench.XXXXXX", tmp ? tmp : "/tmp");
	bench_must(mkdtemp(directory) ? 0 : -errno, "directory");
	snprintf(segment, sizeof(segment), "bench-map.%d", (int)getpid());
	for (uint32_t i = 0; i < RUNNERS; i++)
		bench_report_peer(runners[i].name, runners[i].settings, runners[i].lacks);
	for (uint32_t i = 0; i < SLOTS; i++)
		compare(slots[i], directory);
	const int gone = tq_destroy(segment, TQ_DESTROY_FORCE);

	bench_must(gone == -ENOENT ? 0 : gone, "destroy"); /* taskq may have failed, too */
	bench_must(run_shell(clean_up, directory) == 0 ? 0 : -EIO, "clean up");
}
