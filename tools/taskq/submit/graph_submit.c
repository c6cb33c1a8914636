/* SPDX-License-Identifier: MIT */
/* `submit --graph`. */
#include "tools/taskq/submit/graph_submit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "errors.h"
#include "json.h"
#include "outcome.h"
#include "signals.h"
#include "tools/taskq/print/unserved.h"
#include "tools/taskq/submit/graph_node.h"

enum {
	WARN_MAX = 64,	  /* nodes looked at for want of workers */
	CYCLE_SHOWN = 32, /* members of a cycle that are named */
	ENDS_SHOWN = 20	  /* bad ends that are named */
};

struct graph_submit {
	struct cli *cli;
	const char *path;
	const char *label;
	uint64_t bytes_max;
	struct graph_file file;
	struct tq_graph *graph;
	uint64_t group;
	uint64_t *ids; /* of the nodes */
};

bool graph_options_fit(const struct tq_task_spec *spec)
{
	return !spec->unique_key && !spec->unique_scope && !spec->group && !spec->full_timeout_ns;
}

static int usage_code(const struct cli *cli)
{
	return cli->transparent ? CLI_SELF : CLI_USAGE;
}

/* "a -> b -> c -> a" */
static int bad_cycle(const struct graph_submit *submit)
{
	const struct graph_file *file = &submit->file;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	for (uint32_t i = 0; out && i < file->cycle_count && i < CYCLE_SHOWN; i++)
		fprintf(out, "%s -> ", graph_file_name(file, file->cycle[i]));
	if (out && file->cycle_count > CYCLE_SHOWN)
		fprintf(out, "%u more -> ", file->cycle_count - CYCLE_SHOWN);
	if (out)
		fputs(graph_file_name(file, file->cycle[0]), out);
	if (out)
		fclose(out);
	complain("submit --graph %s: these wait for each other: %s\nnothing was handed in",
		 submit->path, text ? text : "");
	free(text);
	return usage_code(submit->cli);
}

static int bad_file(const struct graph_submit *submit)
{
	complain("submit --graph %s: %s\nnothing was handed in", submit->path, submit->file.error);
	return usage_code(submit->cli);
}

static int read_graph(struct graph_submit *submit, const struct task_options *defaults)
{
	const bool is_input = !strcmp(submit->path, "-");
	const int fd = is_input ? STDIN_FILENO : open(submit->path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, NULL, 0) < 0) { /* as a directory cannot be */
		refuse(submit->cli, "--graph", submit->path, strerror(errno),
		       "a file with {\"nodes\":[...]}, or -");
		if (fd > STDIN_FILENO)
			close(fd);
		return usage_code(submit->cli);
	}
	const bool ok = graph_file_read(&submit->file, fd, defaults, submit->bytes_max);

	if (!is_input)
		close(fd);
	return ok ? CLI_OK : submit->file.cycle ? bad_cycle(submit) : bad_file(submit);
}

/* The task outside of the graph that is missed by a node; 0 it is about something else. */
static uint64_t missed_task(struct graph_submit *submit, int r, uint32_t number)
{
	struct graph_node node;
	const uint64_t id = graph_node_read(&node, &submit->file, number)
				    ? after_culprit(submit->cli->tq, r, &node.line.spec)
				    : 0;

	graph_node_free(&node);
	return id;
}

static int failed(struct graph_submit *submit, int r, uint32_t number)
{
	if (number == TQ_GRAPH_NONE)
		return fail(submit->cli, r, ABOUT_TASK, "submit --graph %s", submit->path);
	const uint64_t id = missed_task(submit, r, number);
	char text[TQ_ID_TEXT_MAX];

	return fail(submit->cli, r, ABOUT_TASK, "submit --graph %s: nodes[%u] \"%s\"%s%s",
		    submit->path, number, graph_file_name(&submit->file, number),
		    id ? ": after " : "", id ? tq_task_id_format(id, text) : "");
}

static int hand_in(struct graph_submit *submit)
{
	const struct tq_group_opts opts = { .size = sizeof(opts), .label = submit->label };
	struct cli *cli = submit->cli;
	uint32_t number = TQ_GRAPH_NONE;
	int r = tq_graph_new(cli->tq, &opts, &submit->graph);

	if (r == 0)
		r = graph_file_build(&submit->file, submit->graph, &number);
	if (r < 0)
		return failed(submit, r, number);
	signals_sleep_begin();
	r = tq_graph_submit(submit->graph, submit->ids, &submit->group);
	signals_sleep_end();
	return r < 0 ? failed(submit, r, tq_graph_failed(submit->graph)) : CLI_OK;
}

static void print_ids(const struct graph_submit *submit)
{
	struct unserved unserved = { .count = 0 };
	char group[TQ_ID_TEXT_MAX];
	const uint32_t count = submit->file.count;

	tq_group_id_format(submit->group, group);
	if (!submit->cli->json)
		puts(group);
	for (uint32_t i = 0; submit->cli->json && i < count; i++) {
		json_t *object = json_object();

		json_object_set_new(object, "name", json_text(graph_file_name(&submit->file, i)));
		json_object_set_new(object, "id", json_id(submit->ids[i]));
		json_object_set_new(object, "group", json_string(group));
		json_line(object);
	}
	fflush(stdout); /* whoever reads the ids may act on them at once */
	for (uint32_t i = 0; i < count && i < WARN_MAX; i++)
		unserved_warn(submit->cli, &unserved, submit->ids[i]);
	unserved_end(&unserved);
}

/* Those that are not done; the ones that another's end has cancelled are counted only. */
static void report_ends(const struct graph_submit *submit, uint32_t bad)
{
	const struct clocks clocks = clocks_read();
	uint32_t told = 0, more = 0, followed = 0;

	for (uint32_t i = 0; i < submit->file.count && (bad || submit->cli->json); i++) {
		struct tq_task_info info = { .size = sizeof(info) };
		char id[TQ_ID_TEXT_MAX], outcome[OUTCOME_MAX];

		if (tq_task_info(submit->cli->tq, submit->ids[i], &info) < 0)
			continue; /* it was to be forgotten */
		if (submit->cli->json)
			json_line(json_of_task(submit->cli->tq, &info, &clocks));
		if (info.state == TQ_DONE)
			continue;
		if (info.cause == TQ_CAUSE_DEPENDENCY)
			followed++;
		else if (told == ENDS_SHOWN)
			more++;
		else if (++told)
			complain("%s \"%s\" %s", tq_task_id_format(info.id, id),
				 graph_file_name(&submit->file, i), outcome_format(&info, outcome));
	}
	if (more)
		complain("%u more are not done", more);
	if (followed)
		complain("%u %s cancelled, as what they were to come after did not end so",
			 followed, format_plural(followed, "other is", "others are"));
}

static int wait_for_all(const struct graph_submit *submit)
{
	struct tq_group_info info = { .size = sizeof(info) };
	char text[TQ_ID_TEXT_MAX];
	int r;

	do {
		signals_sleep_begin();
		r = tq_group_wait(submit->cli->tq, submit->group, TQ_FOREVER_NS, &info);
		signals_sleep_end();
	} while (r == -EINTR);
	if (r < 0)
		return fail(submit->cli, r, ABOUT_GROUP, "submit --wait: group %s",
			    tq_group_id_format(submit->group, text));
	report_ends(submit, info.members - info.states[TQ_DONE]);
	return info.members == info.states[TQ_DONE] ? CLI_OK : CLI_NOTHING;
}

static int submit_file(struct graph_submit *submit, const struct task_options *defaults, bool wait)
{
	int code = read_graph(submit, defaults);

	if (code != CLI_OK)
		return code;
	submit->ids = calloc(submit->file.count, sizeof(*submit->ids));
	if (!submit->ids)
		return fail(submit->cli, -ENOMEM, ABOUT_TASK, "submit --graph");
	/* Not before: a bad file is not to leave a new segment behind. */
	if (!attach(submit->cli, TQ_OPEN_CREATE))
		return submit->cli->exit_code;
	code = hand_in(submit);
	if (code != CLI_OK)
		return code;
	print_ids(submit);
	return wait ? wait_for_all(submit) : CLI_OK;
}

int graph_submit(struct cli *cli, const char *path, const struct task_options *defaults, bool wait,
		 uint64_t bytes_max)
{
	struct task_options options = *defaults;
	struct graph_submit submit = {
		.cli = cli, .path = path, .label = options.spec.label, .bytes_max = bytes_max
	};

	options.spec.label = NULL;

	const int code = submit_file(&submit, &options, wait);

	tq_graph_drop(submit.graph);
	graph_file_free(&submit.file);
	free(submit.ids);
	return code;
}
