/* SPDX-License-Identifier: MIT */
/* `submit --batch`: one task a line, in JSON. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "errors.h"
#include "format.h"
#include "signals.h"
#include "tools/taskq/submit/batch.h"
#include "tools/taskq/submit/batch_line.h"
#include "tools/taskq/submit/reader.h"

enum {
	CHUNK = 64,		   /* what the library takes in one lock hold */
	LINE_MAX_BYTES = 32 << 20, /* the largest payload in base64, and the rest */
};

struct batch {
	struct cli *cli;
	const struct task_options *defaults;
	const char *path;
	batch_ids_fn *take; /* NULL: only read through */
	void *arg;
	struct reader reader;
	uint64_t line_number;
	uint64_t submitted;
	struct batch_line lines[CHUNK];
	unsigned count;
};

static int submit_some(struct batch *batch, const struct tq_task_spec *specs, unsigned count,
		       uint64_t *ids)
{
	int r;

	signals_sleep_begin(); /* a full queue may keep us */
	do
		r = tq_submit_many(batch->cli->tq, specs, count, ids);
	while (r == -EINTR);
	signals_sleep_end();
	return r;
}

/*
 * The first of some: alone when it has a key, as only then is said whether its task is
 * new, or else as many as have none.
 */
static int submit_first(struct batch *batch, const struct tq_task_spec *specs, unsigned count,
			uint64_t *ids, bool *ret_twin)
{
	unsigned plain = 0;
	int r;

	*ret_twin = false;
	while (plain < count && !specs[plain].unique_key)
		plain++;
	if (plain)
		return submit_some(batch, specs, plain, ids);
	signals_sleep_begin();
	do
		r = tq_submit(batch->cli->tq, specs, ids);
	while (r == -EINTR);
	signals_sleep_end();
	*ret_twin = r > 0;
	return r < 0 ? r : 1;
}

static const char *tasks_were(const struct batch *batch)
{
	return format_plural(batch->submitted, "task was", "tasks were");
}

/* Hands in what has been collected. */
static int flush_lines(struct batch *batch)
{
	struct tq_task_spec specs[CHUNK];
	uint64_t ids[CHUNK];
	unsigned done = 0;
	bool twin;
	int r = 0;

	for (unsigned i = 0; i < batch->count; i++)
		specs[i] = batch->lines[i].spec;
	for (; batch->take && done < batch->count; done += (unsigned)r) {
		r = submit_first(batch, specs + done, batch->count - done, ids, &twin);
		if (r <= 0)
			break;
		batch->submitted += (unsigned)r;
		batch->take(batch->arg, ids, (unsigned)r, twin);
	}
	const uint64_t number = r < 0 ? batch->lines[done].number : 0;
	const bool blamed = r < 0 && after_blame(batch->cli, r, &specs[done]);

	for (unsigned i = 0; i < batch->count; i++)
		batch_line_free(&batch->lines[i]);
	batch->count = 0;
	if (r >= 0)
		return CLI_OK;
	if (blamed) {
		complain_more("%s: line %llu; %llu %s handed in before it", batch->path,
			      (unsigned long long)number, (unsigned long long)batch->submitted,
			      tasks_were(batch));
		return batch->cli->exit_code;
	}
	return fail(batch->cli, r, ABOUT_TASK, "submit --batch %s: line %llu, after %llu %s",
		    batch->path, (unsigned long long)number, (unsigned long long)batch->submitted,
		    format_plural(batch->submitted, "task", "tasks"));
}

static int bad_line(const struct batch *batch, const char *why)
{
	complain("submit --batch %s: line %llu: %s\n%llu %s handed in before it", batch->path,
		 (unsigned long long)batch->line_number, why, (unsigned long long)batch->submitted,
		 tasks_were(batch));
	return batch->cli->transparent ? CLI_SELF : CLI_USAGE;
}

static bool is_blank(const char *text)
{
	return text[strspn(text, " \t\r")] == '\0';
}

static int take_line(struct batch *batch, const char *text, size_t bytes)
{
	struct batch_line *line = &batch->lines[batch->count];

	batch->line_number++;
	if (is_blank(text))
		return CLI_OK;
	if (!batch_line_read(line, text, bytes, batch->defaults)) {
		char why[sizeof(line->error)];

		snprintf(why, sizeof(why), "%s", line->error);
		batch_line_free(line);

		const int code = flush_lines(batch);

		return code ? code : bad_line(batch, why);
	}
	line->number = batch->line_number;
	batch->count++;
	return batch->count == CHUNK ? flush_lines(batch) : CLI_OK;
}

/* Whether another line can be had without waiting for whoever writes them. */
static bool more_at_hand(const struct reader *reader)
{
	const size_t used = reader->end - reader->begin;

	return used && memchr(reader->data + reader->begin, reader->delimiter, used);
}

static int read_through(struct batch *batch)
{
	int code = CLI_OK, r = 0;
	size_t bytes;
	char *text;

	while (code == CLI_OK && (r = reader_next(&batch->reader, &text, &bytes)) > 0) {
		code = take_line(batch, text, bytes);
		if (code == CLI_OK && !more_at_hand(&batch->reader))
			code = flush_lines(batch);
	}
	if (code == CLI_OK)
		code = flush_lines(batch);
	if (r < 0) {
		batch->line_number++;
		return bad_line(batch, strerror(-r));
	}
	return code;
}

static int pass(struct batch *batch, int fd, batch_ids_fn *take)
{
	int code;

	batch->take = take;
	batch->line_number = 0;
	reader_init(&batch->reader, fd, '\n', LINE_MAX_BYTES);
	code = read_through(batch);
	reader_free(&batch->reader);
	return code;
}

static int submit_from(struct batch *batch, int fd, batch_ids_fn *take)
{
	struct stat status;
	const off_t start = lseek(fd, 0, SEEK_CUR);

	if (start >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
		const int code = pass(batch, fd, NULL);

		if (code != CLI_OK || lseek(fd, start, SEEK_SET) < 0)
			return code;
	}
	/* Not before: a bad file is not to leave a new segment behind. */
	if (!attach(batch->cli, TQ_OPEN_CREATE))
		return batch->cli->exit_code;
	return pass(batch, fd, take);
}

int batch_submit(struct cli *cli, const char *path, const struct task_options *defaults,
		 batch_ids_fn *take, void *arg)
{
	const bool is_input = !strcmp(path, "-");
	const int fd = is_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	struct batch *batch = fd >= 0 ? calloc(1, sizeof(*batch)) : NULL;
	int code = cli->transparent ? CLI_SELF : CLI_USAGE;

	if (fd < 0) {
		refuse(cli, "--batch", path, strerror(errno), "a file of JSON lines, or -");
		return code;
	}
	if (batch) {
		batch->cli = cli;
		batch->defaults = defaults;
		batch->path = path;
		batch->arg = arg;
		code = submit_from(batch, fd, take);
		free(batch);
	}
	if (!is_input)
		close(fd);
	return code;
}
