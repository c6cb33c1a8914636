/* SPDX-License-Identifier: MIT */
/* The feeding half of `map`: lines in, tasks handed in. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "signals.h"
#include "text.h"
#include "tools/taskq/run/map.h"

/* @arg with each {} replaced by @line; freed by free(). */
static char *replaced(const char *arg, const char *line)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	const char *hole;

	if (!out)
		return NULL;
	while ((hole = strstr(arg, "{}"))) {
		fwrite(arg, 1, (size_t)(hole - arg), out);
		fputs(line, out);
		arg = hole + 2;
	}
	fputs(arg, out);
	return fclose(out) == 0 ? text : NULL;
}

static bool has_hole(const struct map *map)
{
	for (int i = 0; i < map->argc; i++)
		if (strstr(map->argv[i], "{}"))
			return true;
	return false;
}

static void argv_free(char **argv)
{
	for (char **arg = argv; arg && *arg; arg++)
		free(*arg);
	free(argv);
}

/* The command for one line; NULL out of memory. */
static char **make_argv(const struct map *map, const char *line)
{
	const int argc = map->argc + !has_hole(map);
	char **argv = calloc((size_t)argc + 1, sizeof(*argv));

	for (int i = 0; argv && i < argc; i++) {
		argv[i] = i < map->argc ? replaced(map->argv[i], line) : strdup(line);
		if (!argv[i]) {
			argv_free(argv);
			return NULL;
		}
	}
	return argv;
}

/* Waits for room in the window; false when everything is to stop. */
static bool enter_window(struct map *map)
{
	bool go_on;

	mtx_lock(&map->lock);
	signals_release();
	while (map->count == map->window && !map->is_stopping)
		cnd_wait(&map->changed, &map->lock);
	signals_hold();
	go_on = !map->is_stopping;
	map->has_tasks = map->count > 0;
	map->is_submitting = go_on;
	mtx_unlock(&map->lock);
	return go_on;
}

/* @line is NULL when there is no task after all. */
static void leave_window(struct map *map, uint64_t id, char *line)
{
	bool is_late;

	mtx_lock(&map->lock);
	if (line)
		map->tasks[map->count++] = (struct map_task){ id, map->line_number, line, NULL };
	map->is_submitting = false;
	is_late = line && map->is_stopping;
	cnd_broadcast(&map->changed);
	mtx_unlock(&map->lock);
	if (is_late)
		map_cancel(map, id);
}

static bool submit_line(struct map *map, const char *line, uint64_t *ret_id)
{
	struct task_options options = *map->options;
	char **argv = make_argv(map, line);
	const char **words = calloc((size_t)map->argc + 2, sizeof(*words));
	void *payload = NULL;
	uint64_t bytes;
	int r = -ENOMEM;

	/* Tasks of ours, also cancelled ones, make room with their ends. */
	if (map->has_tasks && !options.spec.full_timeout_ns)
		options.spec.full_timeout_ns = TQ_FOREVER_NS;
	for (int i = 0; argv && words && argv[i]; i++)
		words[i] = argv[i];
	if (argv && words)
		r = task_options_command(map->cli, map->options, words, &payload, &bytes);
	if (r == 0)
		r = task_options_submit(map->cli, &options, payload, bytes, ret_id);
	free(payload);
	free(words);
	argv_free(argv);
	return r == 0;
}

static int fail_feeding(struct map *map, int code)
{
	mtx_lock(&map->lock);
	map->feed_code = code;
	mtx_unlock(&map->lock);
	return -1;
}

static int bad_input(struct map *map, const char *why)
{
	progress_pause(&map->progress);
	complain("map: standard input: %s", why);
	progress_go_on(&map->progress);
	return fail_feeding(map, CLI_NOTHING);
}

/* One that no command can be given: the others are run. */
static void refuse_line(struct map *map, size_t bytes)
{
	progress_pause(&map->progress);
	complain("map: line %llu: an argument of %zu bytes, over the limit of %d: not run",
		 (unsigned long long)map->line_number, bytes, MAP_ARG_BYTES);
	progress_go_on(&map->progress);
	mtx_lock(&map->lock);
	map->feed_code = worse(map->feed_code, CLI_NOTHING);
	mtx_unlock(&map->lock);
}

/* Bytes of the longest argument that the line makes. */
static size_t longest_argument(const struct map *map, size_t line_bytes)
{
	size_t longest = has_hole(map) ? 0 : line_bytes;

	for (int i = 0; i < map->argc; i++) {
		size_t bytes = strlen(map->argv[i]);

		for (const char *at = map->argv[i]; (at = strstr(at, "{}")); at += 2)
			bytes += line_bytes - 2;
		longest = bytes > longest ? bytes : longest;
	}
	return longest;
}

/* As reader_next(), without those that make an argument too long, or are done. */
static int next_line(struct map *map, char **ret_text, size_t *ret_bytes)
{
	for (;;) {
		const int r = reader_next(&map->reader, ret_text, ret_bytes);

		map->line_number += r != 0;
		const size_t bytes = r == -E2BIG ? map->reader.too_long
				     : r > 0	 ? longest_argument(map, *ret_bytes)
						 : 0;

		if (bytes > MAP_ARG_BYTES)
			refuse_line(map, bytes);
		else if (r <= 0 || !joblog_has(&map->joblog, map->line_number, *ret_text))
			return r;
	}
}

/* 1 and the next line that is to be run, in the reader's memory; 0 at the end; -1 reported. */
static int good_line(struct map *map, char **ret_text)
{
	size_t bytes;
	const int r = next_line(map, ret_text, &bytes);

	if (r < 0)
		return bad_input(map, strerror(-r));
	if (r > 0 && strlen(*ret_text) != bytes)
		return bad_input(map, "a line has a NUL in it\nsay -0 when NULs end the lines");
	return r;
}

int map_print(struct map *map)
{
	char *text;
	int r;

	while ((r = good_line(map, &text)) > 0) {
		char **argv = make_argv(map, text);

		if (!argv)
			r = bad_input(map, strerror(ENOMEM));
		for (int i = 0; argv && argv[i]; i++) {
			if (i)
				putchar(' ');
			text_put_quoted(stdout, argv[i]);
		}
		argv_free(argv);
		if (r < 0)
			break;
		putchar('\n');
	}
	return map->feed_code;
}

int map_feed_one(struct map *map)
{
	char *text, *line;
	uint64_t id = 0;
	const int r = good_line(map, &text);

	if (r <= 0)
		return r;
	line = strdup(text);
	if (!line)
		return bad_input(map, strerror(ENOMEM));
	if (!enter_window(map)) {
		free(line);
		return 0;
	}
	if (submit_line(map, line, &id)) {
		leave_window(map, id, line);
		return 1;
	}
	free(line);
	leave_window(map, 0, NULL);
	return fail_feeding(map, map->cli->exit_code);
}

int map_feed(void *arg)
{
	struct map *map = arg;

	signals_hold(); /* this thread's own; the main thread has another */
	while (map_feed_one(map) > 0)
		;
	signals_release();
	mtx_lock(&map->lock);
	map->at_end = true;
	cnd_broadcast(&map->changed);
	mtx_unlock(&map->lock);
	return 0;
}
