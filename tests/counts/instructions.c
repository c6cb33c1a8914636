/* SPDX-License-Identifier: MIT */
/*
 * Instructions, by callgrind: it counts between the begin and the end of tqt_counted(), and
 * writes a file each time that tqt_row_ends() returns.
 */
#include "tests/counts/counts.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NO_VALGRIND 127
#define LINE_BYTES 512
#define PATH_BYTES 256

/* What callgrind looks for by name: not inlined; not cloned, as no argument is constant. */
__attribute__((noinline)) void tqt_counted(tqt_operation *op, void *arg);
__attribute__((noinline)) void tqt_row_ends(void);

void tqt_counted(tqt_operation *op, void *arg)
{
	op(arg);
	__asm__ volatile("" : : : "memory"); /* no tail call: it would end here */
}

void tqt_row_ends(void)
{
	__asm__ volatile("");
}

static void end_row(struct tqt_row *ret)
{
	(void)ret; /* the file has them */
	tqt_row_ends();
}

/* What the preparation has cost ends in a file of its own. */
static void watch(struct tq *tq)
{
	(void)tq;
	tqt_row_ends();
}

const struct tqt_meter tqt_meter_instructions = { watch, tqt_counted, end_row };

/*
 * The string functions of libc are chosen by the processor: here always the oldest ones,
 * so that all machines count the same.
 */
#define OLDEST_STRINGS                                                                             \
	"glibc.cpu.hwcaps=-AVX2,-AVX512F,-AVX512VL,-AVX512BW,-AVX_Fast_Unaligned_Load,-BMI2,"      \
	"-ERMS,-FSRM,-SSE4_2,-SSE4_1,-SSSE3,-RTM"

static _Noreturn void run_valgrind(const char *out)
{
	char out_option[PATH_BYTES + 32], self[1024];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int null = open("/dev/null", O_RDWR);

	self[length > 0 ? length : 0] = '\0';
	snprintf(out_option, sizeof(out_option), "--callgrind-out-file=%s", out);
	setenv("GLIBC_TUNABLES", OLDEST_STRINGS, 1);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	execlp("valgrind", "valgrind", "--tool=callgrind", "--toggle-collect=tqt_counted",
	       "--dump-after=tqt_row_ends", out_option, self, TQT_INSIDE, (char *)NULL);
	_exit(NO_VALGRIND);
}

/* "totals: COUNT" of one file, which goes. */
static bool read_totals(const char *path, double *ret)
{
	char line[LINE_BYTES];
	bool found = false;
	FILE *f = fopen(path, "r");

	if (!f)
		return false;
	while (fgets(line, sizeof(line), f))
		found = sscanf(line, "totals: %lf", ret) == 1 || found;
	fclose(f);
	unlink(path);
	return found;
}

/* One file a row, numbered from 1; a situation begins with its preparation, and with nothing. */
static bool read_rows(const char *out, struct tqt_table *table)
{
	char path[PATH_BYTES + 32];
	const char *situation = "";
	double nothing = 0, totals = 0;
	uint32_t file = 0;

	for (uint32_t i = 0; i < table->count; i++) {
		struct tqt_row *r = &table->rows[i];
		const uint32_t more = strcmp(situation, r->situation) == 0 ? 0 : 2;

		situation = r->situation;
		for (uint32_t k = 0; k <= more; k++) {
			nothing = k == more && more ? totals / TQT_CALLS : nothing;
			snprintf(path, sizeof(path), "%s.%u", out, ++file);
			if (!read_totals(path, &totals))
				return false;
		}
		r->of[TQT_INSTRUCTIONS] = totals / r->calls - nothing;
	}
	return true;
}

static void name_files(char out[PATH_BYTES])
{
	const char *dir = getenv("TASKQ_TEST_TMP");

	if (!dir)
		dir = getenv("TMPDIR");
	snprintf(out, PATH_BYTES, "%.200s/counts.%d", dir ? dir : "/tmp", (int)getpid());
}

const char *tqt_count_instructions(struct tqt_table *table)
{
	char out[PATH_BYTES];
	int status;

	name_files(out);
	pid_t pid = fork();

	if (pid == 0)
		run_valgrind(out);
	waitpid(pid, &status, 0);
	unlink(out); /* of what comes behind the last row */
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_VALGRIND)
		return "no valgrind";
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return "it failed under valgrind";
	return read_rows(out, table) ? NULL : "callgrind counted something else";
}
