/* SPDX-License-Identifier: MIT */
/* Tasks in JSON. */
#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "json.h"
#include "parse.h"
#include "query.h"
#include "states.h"
#include "submitted.h"
#include "watch.h"

#define SEARCH_NS 250000000ull /* so long an answer's tasks are looked for */

enum {
	TASKS_DEFAULT = 100,
	CHUNK = 64 /* slots looked at at a time */
};

enum argument_index {
	LIMIT,
	CURSOR,
	ORDER,
	QUEUE,
	KIND,
	LABEL,
	STATE,
	ARGUMENTS
};

enum order {
	NEWEST, /* first: what who looks wants to see */
	OLDEST,
	BY_ID,
};

static bool read_filter(const struct argument *arguments, struct tq_task_filter *filter,
			struct answer *ret_answer)
{
	const char **const names[] = { &filter->queue, &filter->kind, &filter->label };

	for (unsigned i = QUEUE; i <= LABEL; i++) {
		if (!arguments[i].is_given)
			continue;
		if (i != LABEL && !name_ok(arguments[i].value))
			return query_refuse(&arguments[i], FORM_NAME, ret_answer);
		*names[i - QUEUE] = arguments[i].value;
	}
	return !arguments[STATE].is_given ||
	       parse_states(arguments[STATE].value, &filter->states) ||
	       query_refuse(&arguments[STATE], "some of " FORM_STATES ", with commas", ret_answer);
}

/* A page that is being put together. */
struct search {
	struct tq *tq;
	const struct tq_task_filter *filter;
	enum order order;
	struct page *page;
	struct clocks clocks; /* of its beginning */
	json_t *rows;
	bool is_through;
	size_t bytes; /* of the rows */
};

/* As it is by now, if it is wanted then. */
static void add_task(struct search *search, uint64_t id)
{
	struct tq_task_info info = { .size = sizeof(info) };

	if (tq_task_info(search->tq, id, &info) < 0 ||
	    !submitted_matches(search->filter, info.state, info.queue, info.kind, info.label))
		return;
	search->bytes +=
		api_add_row(search->rows, json_of_task_within(search->tq, &info, &search->clocks,
							      ROW_PAYLOAD_MAX));
	search->page->limit--;
}

/* No more slots at a time than rows are wanted, so that none is left over.  0 or the
 * library's error. */
static int look_on(struct search *search)
{
	const struct tq_task_filter *f = search->filter;
	struct tq_task_brief briefs[CHUNK];
	const uint32_t room = search->page->limit;
	uint64_t left = 0;
	int n;

	briefs[0].size = sizeof(briefs[0]);
	n = tq_task_scan(search->tq, f->label ? TQ_SCAN_LABELS : 0, &search->page->cursor, &left,
			 briefs, room < CHUNK ? room : CHUNK);
	for (int i = 0; i < n; i++)
		if (submitted_matches(f, briefs[i].state, briefs[i].queue, briefs[i].kind,
				      briefs[i].label))
			add_task(search, briefs[i].id);
	search->is_through = left == 0;
	return n < 0 ? n : 0;
}

/* Until the page is full or all was looked at, but not for long: who asks may go on. */
static int search_slots(struct search *search)
{
	int r;

	do
		r = look_on(search);
	while (r == 0 && !search->is_through && search->page->limit > 0 &&
	       search->bytes < ROWS_BYTES &&
	       clocks_read().now_ns - search->clocks.now_ns < SEARCH_NS);
	return r;
}

/* Looks at all there are, however many: any may be the next one. */
static int search_submitted(struct search *search)
{
	struct submitted which = { search->tq, search->filter, search->order == NEWEST,
				   search->page->cursor, 0 };
	struct picks picks = { .most = search->page->limit };
	uint32_t i = 0;
	int r = submitted_pick(&which, &picks);

	picks_sort(&picks);
	for (; r == 0 && i < picks.count && search->bytes < ROWS_BYTES; i++) {
		add_task(search, picks.all[i].id);
		search->page->cursor = submitted_sequence(&which, &picks.all[i]);
	}
	search->is_through = i == picks.count && !picks.is_more;
	picks_free(&picks);
	return r;
}

static int search_tasks(struct search *search)
{
	return search->order == BY_ID ? search_slots(search) : search_submitted(search);
}

static bool read_order(const struct argument *argument, enum order *ret_order,
		       struct answer *ret_answer)
{
	static const char *const names[] = { "newest", "oldest", "id" };

	*ret_order = NEWEST;
	for (unsigned i = 0; argument->is_given && i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(argument->value, names[i])) {
			*ret_order = (enum order)i;
			return true;
		}
	return !argument->is_given || query_refuse(argument, "newest, oldest or id", ret_answer);
}

static struct answer list_tasks(const struct request *request, struct tq *tq,
				const struct tq_task_filter *filter, enum order order,
				struct page *page)
{
	struct tq_queue_info queue = { .size = sizeof(queue) };
	struct search search = { .tq = tq,
				 .filter = filter,
				 .order = order,
				 .page = page,
				 .clocks = clocks_read(),
				 .rows = json_array() };
	int r = filter->queue ? tq_queue_info(tq, filter->queue, &queue) : 0;
	const bool is_missing = r == -ENOENT;

	if (r == 0)
		r = search_tasks(&search);
	if (r == 0)
		return api_page("tasks", search.rows, !search.is_through, page->cursor);
	json_decref(search.rows);
	return is_missing ? answer_error(MHD_HTTP_NOT_FOUND, "/api/queues has those there are",
					 "no such queue: %s", filter->queue)
			  : api_failure(request, r);
}

struct answer api_tasks(const struct request *request)
{
	struct argument arguments[ARGUMENTS + 1] = {
		[LIMIT] = { .name = "limit" }, [CURSOR] = { .name = "cursor" },
		[ORDER] = { .name = "order" }, [QUEUE] = { .name = "queue" },
		[KIND] = { .name = "kind" },   [LABEL] = { .name = "label" },
		[STATE] = { .name = "state" },
	};
	struct tq_task_filter filter = { .size = sizeof(filter) };
	struct answer answer;
	struct page page;
	enum order order;
	struct tq *tq;

	if (!query_read(request->connection, arguments, &answer) ||
	    !query_page(arguments, TASKS_DEFAULT, &page, &answer) ||
	    !read_order(&arguments[ORDER], &order, &answer) ||
	    !read_filter(arguments, &filter, &answer))
		return answer;
	tq = watch_open(request->exporter->options, &answer);
	if (!tq)
		return answer;
	answer = list_tasks(request, tq, &filter, order, &page);
	tq_close(tq);
	return answer;
}

static int why_of(struct tq *tq, uint64_t id, json_t **ret_object)
{
	const struct clocks clocks = clocks_read();
	struct tq_task_info info = { .size = sizeof(info) };
	struct tq_why why = { .size = sizeof(why) };
	int r = tq_task_why(tq, id, &why);

	if (r == 0)
		r = tq_task_info(tq, id, &info);
	if (r == 0)
		*ret_object = json_of_why(tq, &info, &why, &clocks);
	return r;
}

struct answer api_task_failure(const struct request *request, uint64_t id, int r)
{
	char text[TQ_ID_TEXT_MAX];

	tq_task_id_format(id, text);
	if (r == TQ_EGONE)
		return answer_error(MHD_HTTP_GONE, NULL, "task %s: %s", text, tq_strerror(r));
	if (r == -ENOENT)
		return answer_error(MHD_HTTP_NOT_FOUND, "/api/tasks has those there are",
				    "no such task: %s", text);
	return api_failure(request, r);
}

static struct answer answer_task(const struct request *request, uint64_t id, bool why)
{
	const struct clocks clocks = clocks_read();
	struct argument none[] = { { 0 } };
	struct answer answer;
	json_t *object;
	struct tq *tq;

	if (!query_read(request->connection, none, &answer))
		return answer;
	tq = watch_open(request->exporter->options, &answer);
	if (!tq)
		return answer;
	const int r = why ? why_of(tq, id, &object)
			  : json_of_task_whole(tq, id, &clocks, TASK_PAYLOAD_MAX, &object);

	tq_close(tq);
	return r == 0 ? answer_json(MHD_HTTP_OK, object) : api_task_failure(request, id, r);
}

/* "17-3" and what is behind it, as "/why" or "". */
static bool read_path(const char *path, uint64_t *ret_id, const char **ret_rest)
{
	const size_t bytes = strcspn(path, "/");
	char id[TQ_ID_TEXT_MAX];

	if (bytes >= sizeof(id))
		return false;
	memcpy(id, path, bytes);
	id[bytes] = '\0';
	*ret_rest = path + bytes;
	return tq_task_id_parse(id, ret_id) == 0;
}

struct answer api_task(const struct request *request)
{
	const char *rest;
	uint64_t id;

	if (read_path(request->path + strlen("/api/tasks/"), &id, &rest)) {
		if (!strcmp(rest, "/output"))
			return api_output(request, id);
		if (!*rest || !strcmp(rest, "/why"))
			return answer_task(request, id, *rest);
	}
	return answer_error(
		MHD_HTTP_NOT_FOUND,
		"/api/tasks/ID, /api/tasks/ID/why or /api/tasks/ID/output, with " FORM_ID,
		"no task is meant by %.100s", request->path);
}
