/* SPDX-License-Identifier: MIT */
/* Lists in JSON. */
#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>

#include "api.h"
#include "json.h"
#include "percentiles.h"
#include "query.h"
#include "times.h"
#include "watch.h"

enum {
	CHUNK = 16 /* rows read at a time; schedules have payloads of up to 64 KiB */
};

/* What there is a list of. */
struct list {
	const char *key;
	size_t bytes; /* of a row; its first field is .size */
	int (*read)(struct tq *tq, uint64_t *cursor, void *infos, uint32_t count);
	json_t *(*object)(struct tq *tq, const void *info, const struct clocks *clocks);
};

struct answer api_failure(const struct request *request, int r)
{
	return answer_error(MHD_HTTP_SERVICE_UNAVAILABLE, "/healthz says more",
			    "segment \"%s\": %s", request->exporter->options->cli.segment,
			    error_text(r, ABOUT_CONTENT));
}

struct answer api_page(const char *key, json_t *rows, bool is_full, uint64_t cursor)
{
	json_t *object = json_object();
	char next[24];

	json_object_set_new(object, key, rows);
	if (is_full) {
		snprintf(next, sizeof(next), "%llu", (unsigned long long)cursor);
		json_object_set_new(object, "next", json_string(next));
	}
	return answer_json(MHD_HTTP_OK, object);
}

size_t api_add_row(json_t *rows, json_t *row)
{
	const size_t bytes = json_dumpb(row, NULL, 0, JSON_COMPACT);

	json_array_append_new(rows, row);
	return bytes;
}

/* Reads until the page is full, by rows or by bytes, or the list is at its end. */
static int read_rows(struct tq *tq, const struct list *list, struct page *page, json_t *rows,
		     bool *ret_more)
{
	const struct clocks clocks = clocks_read();
	char *infos = calloc(CHUNK, list->bytes);
	uint32_t left = page->limit, room;
	size_t bytes = 0;
	int n;

	if (!infos)
		return -ENOMEM;
	do {
		room = left < CHUNK ? left : CHUNK;
		*(uint64_t *)infos = list->bytes;
		n = list->read(tq, &page->cursor, infos, room);
		for (int i = 0; i < n; i++)
			bytes += api_add_row(
				rows, list->object(tq, infos + (size_t)i * list->bytes, &clocks));
		left -= n > 0 ? (uint32_t)n : 0;
		*ret_more = n > 0 && (uint32_t)n == room;
	} while (*ret_more && left > 0 && bytes < ROWS_BYTES);
	free(infos);
	return n;
}

static struct answer read_page(const struct request *request, const struct list *list,
			       struct page *page, struct tq *tq)
{
	json_t *rows = json_array();
	bool has_more = false;
	const int r = read_rows(tq, list, page, rows, &has_more);

	if (r >= 0)
		return api_page(list->key, rows, has_more, page->cursor);
	json_decref(rows);
	return api_failure(request, r);
}

static struct answer answer_list(const struct request *request, const struct list *list)
{
	struct argument arguments[] = { { .name = "limit" }, { .name = "cursor" }, { 0 } };
	struct answer answer;
	struct page page;
	struct tq *tq;

	if (!query_read(request->connection, arguments, &answer) ||
	    !query_page(arguments, PAGE_MAX, &page, &answer))
		return answer;
	tq = watch_open(request->exporter->options, &answer);
	if (!tq)
		return answer;
	answer = read_page(request, list, &page, tq);
	tq_close(tq);
	return answer;
}

static int read_queues(struct tq *tq, uint64_t *cursor, void *infos, uint32_t count)
{
	return tq_queue_list(tq, TQ_QUEUE_QUICK, cursor, infos, count);
}

/* With times, as `taskq stats --json`. */
static json_t *object_of_queue(struct tq *tq, const void *info, const struct clocks *clocks)
{
	json_t *object = json_of_queue(info);
	struct tq_times times;

	(void)clocks;
	times_read(tq, info, &times);
	json_add_times(object, &times);
	return object;
}

struct answer api_queues(const struct request *request)
{
	static const struct list list = { "queues", sizeof(struct tq_queue_info), read_queues,
					  object_of_queue };

	return answer_list(request, &list);
}

static int read_workers(struct tq *tq, uint64_t *cursor, void *infos, uint32_t count)
{
	return tq_worker_list(tq, cursor, infos, count);
}

static json_t *object_of_worker(struct tq *tq, const void *info, const struct clocks *clocks)
{
	(void)tq;
	return json_of_worker(info, clocks);
}

struct answer api_workers(const struct request *request)
{
	static const struct list list = { "workers", sizeof(struct tq_worker_info), read_workers,
					  object_of_worker };

	return answer_list(request, &list);
}

static int read_limits(struct tq *tq, uint64_t *cursor, void *infos, uint32_t count)
{
	return tq_limit_list(tq, cursor, infos, count);
}

static json_t *object_of_limit(struct tq *tq, const void *info, const struct clocks *clocks)
{
	(void)tq;
	(void)clocks;
	return json_of_limit(info);
}

struct answer api_limits(const struct request *request)
{
	static const struct list list = { "limits", sizeof(struct tq_limit_info), read_limits,
					  object_of_limit };

	return answer_list(request, &list);
}

static int read_groups(struct tq *tq, uint64_t *cursor, void *infos, uint32_t count)
{
	return tq_group_list(tq, cursor, infos, count);
}

static json_t *object_of_group(struct tq *tq, const void *info, const struct clocks *clocks)
{
	(void)tq;
	return json_of_group(info, clocks);
}

struct answer api_groups(const struct request *request)
{
	static const struct list list = { "groups", sizeof(struct tq_group_info), read_groups,
					  object_of_group };

	return answer_list(request, &list);
}

static int read_schedules(struct tq *tq, uint64_t *cursor, void *infos, uint32_t count)
{
	return tq_schedule_list(tq, cursor, infos, count);
}

static json_t *object_of_schedule(struct tq *tq, const void *info, const struct clocks *clocks)
{
	return json_of_schedule(tq, info, clocks);
}

struct answer api_schedules(const struct request *request)
{
	static const struct list list = { "schedules", sizeof(struct tq_schedule_info),
					  read_schedules, object_of_schedule };

	return answer_list(request, &list);
}
