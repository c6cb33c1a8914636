/* SPDX-License-Identifier: MIT */
/* What a task has written, a piece at a time, also while it writes. */
#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>

#include "api.h"
#include "output_file.h"
#include "parse.h"
#include "query.h"
#include "watch.h"

enum {
	OUTPUT_BYTES = BODY_SMALL /* of an answer; what is kept of an output by default */
};

enum argument_index {
	FROM,
	ATTEMPT,
	ARGUMENTS
};

/* A piece of an attempt's output. */
struct piece {
	uint64_t from, next; /* positions in all that the attempt has written */
	uint32_t attempt;    /* 0 none has begun */
	bool is_live;	     /* it may write more */
	bool is_full;	     /* there may be more by now */
	char *text;
	size_t bytes;
};

/* Bytes of it that are there; 0 none now, or -ENODATA none behind @from, or another error.  An
 * attempt that ended since it was looked at is read as one that has. */
static int read_some(struct tq *tq, uint64_t id, struct piece *p, uint64_t *ret_at)
{
	char *to = p->text + p->bytes;
	const uint32_t room = (uint32_t)(OUTPUT_BYTES - p->bytes);
	uint32_t attempt = p->attempt;

	if (p->is_live) {
		const int r = tq_output_read(tq, id, p->next, to, room, 0, ret_at, &attempt);

		if (r < 0 || attempt == p->attempt)
			return r == -ETIMEDOUT ? 0 : r;
	}
	return tq_output_read_attempt(tq, id, p->attempt, p->next, to, room, ret_at);
}

/* Up to its end, its bound, or a gap: of what a ring has lost meanwhile the next answer tells.
 * 0, or the error. */
static int read_piece(struct tq *tq, uint64_t id, struct piece *p)
{
	uint64_t at = p->next;
	int r;

	while (!p->is_full && (r = read_some(tq, id, p, &at)) != 0) {
		p->is_full = r == -EAGAIN || (r > 0 && p->bytes && at != p->next);
		if (r < 0 || p->is_full)
			return r == -ENODATA || r == -EAGAIN || p->bytes ? 0 : r;
		if (!p->bytes)
			p->from = at;
		p->bytes += (size_t)r;
		p->next = at + (uint64_t)r;
		p->is_full = p->bytes == OUTPUT_BYTES;
	}
	return 0;
}

static void add_header(struct answer *answer, const char *name, const char *value)
{
	struct header *header = answer->headers;

	while (header->name)
		header++;
	header->name = name;
	snprintf(header->value, sizeof(header->value), "%s", value);
}

static void add_number(struct answer *answer, const char *name, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	add_header(answer, name, text);
}

/* Takes its text over. */
static struct answer answer_piece(struct piece *p)
{
	struct answer answer = { .status = MHD_HTTP_OK, .type = TYPE_TEXT };

	answer.body = body_new(p->text, p->bytes);
	p->text = NULL;
	add_number(&answer, "Taskq-Attempt", p->attempt);
	add_number(&answer, "Taskq-From", p->from);
	add_number(&answer, "Taskq-Next", p->next);
	add_header(&answer, "Taskq-Output", p->is_full ? "more" : p->is_live ? "live" : "end");
	return answer;
}

static struct answer not_kept(const char *id, const struct piece *p)
{
	return answer_error(MHD_HTTP_GONE, "`taskq submit -o FILE.%a` gives each attempt a file",
			    "task %s: the output of attempt %u is not kept", id, p->attempt);
}

/* Of a task of which no byte is there. */
static struct answer answer_none(struct tq *tq, const struct tq_task_info *info, struct piece *p)
{
	char *path = output_file(tq, info, p->attempt);
	char id[TQ_ID_TEXT_MAX];
	struct answer answer;

	if (!path)
		return answer_piece(p);
	answer = answer_error(MHD_HTTP_NOT_FOUND, "read it there", "task %s: its output goes to %s",
			      tq_task_id_format(info->id, id), path);
	free(path);
	return answer;
}

/* Whether the attempt may write more is known before it is read: what is said to be at its end
 * is. */
static struct answer answer_output(const struct request *request, struct tq *tq,
				   const struct tq_task_info *info, struct piece *p)
{
	const bool is_last = p->attempt == info->attempt;
	char id[TQ_ID_TEXT_MAX];
	int r;

	p->is_live = is_last &&
		     (info->state == TQ_RUNNING || (!p->attempt && info->state < TQ_DONE));
	r = p->attempt ? read_piece(tq, info->id, p) : 0;
	if (r == -ESTALE)
		return not_kept(tq_task_id_format(info->id, id), p);
	if (r < 0)
		return api_task_failure(request, info->id, r);
	return p->next ? answer_piece(p) : answer_none(tq, info, p);
}

static struct answer answer_attempt(const struct request *request, struct tq *tq, uint64_t id,
				    struct piece *p)
{
	struct tq_task_info info = { .size = sizeof(info) };
	const int r = tq_task_info(tq, id, &info);
	char text[TQ_ID_TEXT_MAX];

	if (r < 0)
		return api_task_failure(request, id, r);
	if (p->attempt > info.attempt)
		return answer_error(MHD_HTTP_NOT_FOUND, NULL, "task %s: it has had %u %s",
				    tq_task_id_format(id, text), info.attempt,
				    format_plural(info.attempt, "attempt", "attempts"));
	if (!p->attempt)
		p->attempt = info.attempt;
	p->text = malloc(OUTPUT_BYTES);
	return p->text ? answer_output(request, tq, &info, p) : api_failure(request, -ENOMEM);
}

static bool read_arguments(const struct request *request, struct piece *p,
			   struct answer *ret_answer)
{
	struct argument arguments[ARGUMENTS + 1] = {
		[FROM] = { .name = "from" }, [ATTEMPT] = { .name = "attempt" }
	};
	const struct argument *from = &arguments[FROM], *attempt = &arguments[ATTEMPT];
	uint64_t number = 0;

	if (!query_read(request->connection, arguments, ret_answer))
		return false;
	if (from->is_given && parse_count(from->value, &p->from) < 0)
		return query_refuse(from, "what an answer before had as Taskq-Next", ret_answer);
	if (attempt->is_given &&
	    (parse_count(attempt->value, &number) < 0 || number == 0 || number > UINT32_MAX))
		return query_refuse(attempt, "a whole number from 1 on", ret_answer);
	p->next = p->from;
	p->attempt = (uint32_t)number;
	return true;
}

struct answer api_output(const struct request *request, uint64_t id)
{
	struct piece piece = { 0 };
	struct answer answer;
	struct tq *tq;

	if (!read_arguments(request, &piece, &answer))
		return answer;
	tq = watch_open(request->exporter->options, &answer);
	if (!tq)
		return answer;
	answer = answer_attempt(request, tq, id, &piece);
	free(piece.text);
	tq_close(tq);
	return answer;
}
