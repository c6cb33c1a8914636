/* SPDX-License-Identifier: MIT */
/* `map --joblog`: a line for each task that has ended, by which --resume knows what is done. */
#include "tools/taskq/run/joblog.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "outcome.h"
#include "text.h"

#define HEADER "number\texit\tseconds\toutcome\tline\n"

static bool has_room(struct joblog *log, uint64_t number)
{
	uint64_t count = log->count ? log->count : 64;
	char **done;

	if (number < log->count)
		return true;
	while (count <= number)
		count *= 2;
	done = calloc(count, sizeof(*done)); /* of numbers that are missing no memory is touched */
	if (!done)
		return false;
	if (log->count)
		memcpy(done, log->done, log->count * sizeof(*done));
	free(log->done);
	log->done = done;
	log->count = count;
	return true;
}

/* A line that is no record, such as the header or one that was not written to its end, says
 * nothing; of several about the same task the last one counts. */
static bool read_line(struct joblog *log, char *text)
{
	enum {
		NUMBER_MOST = 1 << 30 /* lines of an input; keeps a damaged file from all memory */
	};
	unsigned long long number;
	int exit_code, at = 0;

	text[strcspn(text, "\n")] = '\0';
	if (sscanf(text, "%llu\t%d\t%*[^\t]\t%*[^\t]\t%n", &number, &exit_code, &at) != 2 || !at ||
	    number > NUMBER_MOST)
		return true;
	if (!has_room(log, number))
		return false;
	free(log->done[number]);
	log->done[number] = exit_code == 0 ? strdup(text + at) : NULL;
	return exit_code != 0 || log->done[number];
}

/* Its first line, be it cut by a kill: what is none is somebody's file, and is let alone. */
static bool is_header(const char *text)
{
	return strncmp(text, HEADER, strcspn(text, "\n")) == 0;
}

/* A last line without its end was written by a process that was killed: it does not count. */
static int read_done(struct joblog *log, FILE *file)
{
	size_t room = 0;
	char *text = NULL;
	int r = 0;

	if (getline(&text, &room, file) > 0 && !is_header(text))
		r = -EMEDIUMTYPE;
	while (r == 0 && getline(&text, &room, file) > 0)
		if (strchr(text, '\n') && !read_line(log, text))
			r = -ENOMEM;
	free(text);
	return ferror(file) ? -EIO : r;
}

static int load(struct joblog *log, const char *path)
{
	FILE *file = fopen(path, "re");
	int r;

	if (!file)
		return errno == ENOENT ? 0 : -errno;
	r = read_done(log, file);
	fclose(file);
	return r;
}

/* Ends what a killed process has left without an end. */
static int begin_writing(struct joblog *log, const char *path, bool resume)
{
	log->file = fopen(path, resume ? "a+e" : "we");
	if (!log->file)
		return -errno;
	if (fseek(log->file, 0, SEEK_END) == 0 && ftell(log->file) == 0)
		fputs(HEADER, log->file);
	else if (fseek(log->file, -1, SEEK_END) == 0 && getc(log->file) != '\n' &&
		 fseek(log->file, 0, SEEK_END) == 0) /* between reading and writing */
		fputs("\n", log->file);
	return fflush(log->file) == 0 ? 0 : -errno;
}

bool joblog_open(struct cli *cli, struct joblog *log, const char *path, bool resume, bool writes)
{
	int r = resume ? load(log, path) : 0;

	if (r == 0 && writes)
		r = begin_writing(log, path, resume);
	if (r == 0)
		return true;
	complain("map: --joblog %s: %s", path,
		 r == -EMEDIUMTYPE ? "its first line is not that of a job log" : strerror(-r));
	cli->exit_code = CLI_NOTHING;
	return false;
}

bool joblog_has(const struct joblog *log, uint64_t number, const char *line)
{
	char *text = NULL;
	bool same;

	if (number >= log->count || !log->done[number])
		return false;
	text = text_exact_copy(line, strlen(line));
	same = text && !strcmp(text, log->done[number]);
	free(text);
	return same;
}

int joblog_add(struct joblog *log, uint64_t number, const char *line,
	       const struct tq_task_info *info)
{
	char outcome[OUTCOME_MAX];

	fprintf(log->file, "%llu\t%d\t%.3f\t", (unsigned long long)number, outcome_code(info),
		(double)info->run_ns / 1e9);
	outcome_format(info, outcome);
	text_put_exact(log->file, outcome, strlen(outcome));
	putc('\t', log->file);
	text_put_exact(log->file, line, strlen(line));
	putc('\n', log->file);
	return fflush(log->file) == 0 ? 0 : -errno;
}
