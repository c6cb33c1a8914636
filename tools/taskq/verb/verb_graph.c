/* SPDX-License-Identifier: MIT */
/* taskq graph: what depends on what, as text, JSON or a picture. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "format.h"
#include "json.h"
#include "parse.h"
#include "text.h"
#include "tools/taskq/graph/graph_view.h"
#include "tools/taskq/options/options.h"
#include "tools/taskq/options/verbs.h"
#include "tools/taskq/print/table.h"

enum {
	NODES_DEFAULT = 10000,
	NAMES_SHOWN = 4 /* of what a task comes after */
};

enum key {
	KEY_DOT = OPTION_OWN,
	KEY_SVG,
	KEY_PNG,
	KEY_MAX
};

static const struct option_row rows[] = {
	{ KEY_DOT, "dot", NULL, "as a text that Graphviz reads" },
	{ KEY_SVG, "svg", "FILE|-", "as a picture, made by Graphviz" },
	{ KEY_PNG, "png", "FILE|-", "as a picture, made by Graphviz" },
	{ KEY_MAX, "max", "N", "at most N tasks, default 10000; of a task's, the nearest" },
	{ 0, NULL, NULL, NULL },
};

struct graph_options {
	bool dot;
	const char *picture; /* its format; NULL none */
	const char *path;
	uint64_t max;
};

static bool take_option(struct cli *cli, void *ctx, int key, const char *arg)
{
	struct graph_options *o = ctx;

	switch (key) {
	case KEY_DOT:
		o->dot = true;
		return true;
	case KEY_SVG:
	case KEY_PNG:
		o->picture = key == KEY_SVG ? "svg" : "png";
		o->path = arg;
		return *arg || refuse(cli, key == KEY_SVG ? "--svg" : "--png", arg, "empty",
				      "a path, or -");
	case KEY_MAX:
		return option_count(cli, "--max", arg, 1, TQ_GRAPH_MEMBERS_MAX, &o->max);
	default:
		return option_global(cli, NULL, key, arg);
	}
}

/* Edges are by the node that waits: those of each in one piece. */
static uint32_t edges_end(const struct graph_view *view, uint32_t node, uint32_t from)
{
	while (from < view->edge_count && view->edges[from].node == node)
		from++;
	return from;
}

static void print_json(const struct graph_view *view)
{
	for (uint32_t i = 0, e = 0; i < view->count; i++) {
		const struct graph_view_node *node = &view->nodes[i];
		const uint32_t end = edges_end(view, i, e);
		json_t *object = json_object(), *after = json_array();

		json_object_set_new(object, "id", json_id(node->id));
		json_object_set_new(object, "text", json_text(node->text));
		json_object_set_new(object, "state", json_string(tq_task_state_name(node->state)));
		json_object_set_new(object, "outcome", json_text(node->outcome));
		json_object_set_new(object, "layer", json_integer(node->layer));
		if (node->run_ns)
			json_object_set_new(object, "run_ns", json_u64(node->run_ns));
		for (; e < end; e++) {
			json_t *on = json_object();

			json_object_set_new(on, "id", json_id(view->nodes[view->edges[e].on].id));
			json_object_set_new(on, "when",
					    json_string(after_short(view->edges[e].kind)));
			json_array_append_new(after, on);
		}
		json_object_set_new(object, "after", after);
		if (node->elsewhere)
			json_object_set_new(object, "after_elsewhere",
					    json_integer(node->elsewhere));
		json_line(object);
	}
}

/* "prepare, lint (any), 3 more" */
static void put_after(FILE *out, const struct graph_view *view, uint32_t node, uint32_t from,
		      uint32_t end)
{
	const char *comma = "";
	const uint32_t elsewhere = view->nodes[node].elsewhere;
	char id[TQ_ID_TEXT_MAX];

	for (uint32_t e = from; e < end && e < from + NAMES_SHOWN; e++) {
		const struct graph_view_node *on = &view->nodes[view->edges[e].on];

		fprintf(out, "%s%s", comma, *on->text ? on->text : tq_task_id_format(on->id, id));
		if (view->edges[e].kind != TQ_AFTER_OK)
			fprintf(out, " (%s)", after_short(view->edges[e].kind));
		comma = ", ";
	}
	if (end - from > NAMES_SHOWN) {
		fprintf(out, "%s%u more", comma, end - from - NAMES_SHOWN);
		comma = ", ";
	}
	if (elsewhere)
		fprintf(out, "%s%u elsewhere", comma, elsewhere);
}

/* Where each node stands in the text, and its edges. */
struct line {
	int32_t layer;
	uint32_t node;
	uint32_t edges_from, edges_end;
};

static int by_layer(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->layer != y->layer)
		return x->layer < y->layer ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static struct line *lines_of(const struct graph_view *view)
{
	struct line *lines = calloc(view->count, sizeof(*lines));

	for (uint32_t i = 0, e = 0; lines && i < view->count; i++) {
		const uint32_t end = edges_end(view, i, e);

		lines[i] = (struct line){ view->nodes[i].layer, i, e, end };
		e = end;
	}
	if (lines)
		qsort(lines, view->count, sizeof(*lines), by_layer);
	return lines;
}

static void add_row(struct table *table, const struct graph_view *view, const struct line *line)
{
	const struct graph_view_node *node = &view->nodes[line->node];
	char id[TQ_ID_TEXT_MAX], time[FORMAT_MAX], *after = NULL;
	size_t bytes;
	FILE *out = open_memstream(&after, &bytes);

	if (out) {
		put_after(out, view, line->node, line->edges_from, line->edges_end);
		fclose(out);
	}
	table_cell(table, "%d", line->layer);
	table_cell(table, "%s", tq_task_id_format(node->id, id));
	table_cell(table, "%s", node->outcome);
	table_cell(table, "%s", node->run_ns ? format_duration(node->run_ns, time) : "-");
	table_cell(table, "%s", node->text);
	table_cell(table, "%s", after ? after : "");
	free(after);
}

static int print_text(const struct graph_view *view)
{
	static const char *const headers[] = { "LAYER", "ID", "STATE", "TIME", "TASK", "AFTER" };
	struct table table = { .columns = 0 };
	struct line *lines = lines_of(view);

	if (!lines)
		return -ENOMEM;
	for (unsigned i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		table_column(&table, headers[i], i == 0 || i == 3);
	for (uint32_t i = 0; i < view->count; i++)
		add_row(&table, view, &lines[i]);
	table_end(&table, stdout);
	free(lines);
	return 0;
}

static int show(struct cli *cli, const struct graph_options *o, const struct graph_view *view)
{
	int code = CLI_OK;

	if (o->picture)
		code = graph_picture(cli, view, o->picture, o->path);
	else if (o->dot)
		graph_dot(view, stdout);
	else if (cli->json)
		print_json(view);
	else if (print_text(view) < 0)
		code = fail(cli, -ENOMEM, ABOUT_SEGMENT, "graph");
	if (view->cut)
		complain("%u %s shown, and there are more\n--max N shows others, too", view->count,
			 format_plural(view->count, "task is", "tasks are"));
	return code;
}

static int run(struct cli *cli, const struct graph_options *o)
{
	struct graph_view view = { .max = (uint32_t)o->max };
	const char *arg = cli->operands[0];
	uint64_t group = 0, id = 0;
	int r, code;

	if (tq_group_id_parse(arg, &group) < 0 && tq_task_id_parse(arg, &id) < 0) {
		refuse(cli, "ID", arg, "neither a task's nor a group's id",
		       "an id such as 17-3, or a group's such as g2-1");
		return CLI_USAGE;
	}
	if (!attach(cli, TQ_OPEN_READONLY))
		return cli->exit_code;
	view.tq = cli->tq;
	r = group ? graph_collect_group(&view, group) : graph_collect_task(&view, id);
	if (r < 0)
		code = fail(cli, r, group ? ABOUT_GROUP : ABOUT_TASK, "graph %s", arg);
	else
		code = view.count ? show(cli, o, &view) : CLI_NOTHING;
	graph_view_free(&view);
	return code;
}

int verb_graph(struct cli *cli, int argc, char **argv)
{
	struct graph_options o = { .max = NODES_DEFAULT };

	if (!options_parse(cli, rows, take_option, &o, argc, argv) ||
	    !operands_ok(cli, 1, 1, "the id of a task or a group"))
		return cli->exit_code;
	if (o.dot + (o.picture != NULL) + cli->json > 1)
		return usage(cli, "--dot, --json and a picture exclude each other");
	return run(cli, &o);
}
