/* SPDX-License-Identifier: MIT */
/*
 * Instructions of an operation, by callgrind: this program runs itself under it, and it
 * counts between the begin and the end of bench_counted(), whatever was prepared before.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define NO_VALGRIND 127
#define PATH_BYTES 1024
#define LINE_BYTES 512

/* What callgrind looks for by name: not inlined; not cloned, as no argument is constant. */
__attribute__((noinline)) void bench_counted(void (*op)(void *), void *arg)
{
	op(arg);
	__asm__ volatile("" : : : "memory"); /* no tail call: it would end here */
}

void bench_self(char *path, uint32_t bytes)
{
	const ssize_t length = readlink("/proc/self/exe", path, bytes - 1);

	path[length > 0 ? length : 0] = '\0';
}

static _Noreturn void run_valgrind(const char *out, const char *scene, uint32_t count)
{
	char self[PATH_BYTES], out_option[PATH_BYTES], text[16];
	const int null = open("/dev/null", O_RDWR);

	bench_self(self, sizeof(self));
	snprintf(out_option, sizeof(out_option), "--callgrind-out-file=%.900s", out);
	snprintf(text, sizeof(text), "%u", count);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	execlp("valgrind", "valgrind", "--tool=callgrind", "--toggle-collect=bench_counted",
	       out_option, self, "--scene", scene, text, (char *)NULL);
	_exit(NO_VALGRIND);
}

/* "totals: COUNT"; negative: there is none. */
static double read_totals(const char *path)
{
	char line[LINE_BYTES];
	double totals = -1;
	FILE *f = fopen(path, "r");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "totals: %lf", &totals) == 1)
			break;
	if (f)
		fclose(f);
	unlink(path);
	return totals;
}

const char *bench_count_scene(const char *scene, uint32_t count, double *ret_instructions)
{
	const char *tmp = getenv("TMPDIR");
	char out[PATH_BYTES];
	int status;

	snprintf(out, sizeof(out), "%.900s/taskq-bench.%d", tmp ? tmp : "/tmp", (int)getpid());
	const pid_t pid = fork();

	if (pid == 0)
		run_valgrind(out, scene, count);
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_VALGRIND)
		return "no valgrind";
	*ret_instructions = read_totals(out);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && *ret_instructions > 0)
		return NULL;
	bench_discard(pid);
	return "it failed under valgrind";
}
