/* SPDX-License-Identifier: MIT */
/* Graphs as Graphviz reads them, and the pictures that it makes. */
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "errors.h"
#include "format.h"
#include "text.h"
#include "tools/taskq/graph/graph_view.h"

extern char **environ;

enum {
	/* What Graphviz lays out takes it a second for 300 nodes, and hours for 10,000: larger
	 * ones have places from here, a column for each layer. */
	LAYOUT_NODES = 500,
	LAYOUT_EDGES = 2000,
	COLUMN_POINTS = 320,
	ROW_POINTS = 48,
};

#define PICTURE_INCHES "-Gsize=60,60" /* at most, of one made of dots */

static bool is_large(const struct graph_view *view)
{
	return view->count > LAYOUT_NODES || view->edge_count > LAYOUT_EDGES;
}

static const char *colour_of(uint32_t state)
{
	static const char *const colours[TQ_STATE_COUNT] = {
		[TQ_BLOCKED] = "#e8e8e8",   [TQ_DELAYED] = "#e4dcf4", [TQ_READY] = "#fff3b0",
		[TQ_RUNNING] = "#a8d0f5",   [TQ_DONE] = "#b6e3b0",    [TQ_FAILED] = "#f2a6a0",
		[TQ_CANCELLED] = "#e9c9b0", [TQ_EXPIRED] = "#d9b3d9",
	};

	return state < TQ_STATE_COUNT && colours[state] ? colours[state] : "white";
}

/* Inside of a quoted string; control characters are gone already. */
static void put_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putc('\\', out);
		putc(*text, out);
	}
}

/* Rows of a layer from the top, as they come; @rows counts them, by layer from the first. */
static void put_node(FILE *out, const struct graph_view *view, const struct graph_view_node *node,
		     int32_t first, uint32_t *rows)
{
	char id[TQ_ID_TEXT_MAX], time[FORMAT_MAX];

	tq_task_id_format(node->id, id);
	fprintf(out, "\t\"%s\" [label=\"", id);
	put_escaped(out, node->text);
	fprintf(out, "%s%s ", *node->text ? "\\n" : "", id);
	put_escaped(out, node->outcome);
	if (node->run_ns)
		fprintf(out, " %s", format_duration(node->run_ns, time));
	fprintf(out, "\", fillcolor=\"%s\"", colour_of(node->state));
	if (node->id == view->focus)
		fputs(", penwidth=3", out);
	if (rows)
		fprintf(out, ", pos=\"%d,-%u\"", (node->layer - first) * COLUMN_POINTS,
			rows[node->layer - first]++ * ROW_POINTS);
	fputs("];\n", out);
}

static void put_edge(FILE *out, const struct graph_view *view, const struct graph_view_edge *edge)
{
	char on[TQ_ID_TEXT_MAX], id[TQ_ID_TEXT_MAX];

	fprintf(out, "\t\"%s\" -> \"%s\"", tq_task_id_format(view->nodes[edge->on].id, on),
		tq_task_id_format(view->nodes[edge->node].id, id));
	if (edge->kind != TQ_AFTER_OK)
		fprintf(out, " [style=%s, label=\"%s\"]",
			edge->kind == TQ_AFTER_ANY ? "dashed" : "dotted", after_short(edge->kind));
	fputs(";\n", out);
}

void graph_dot(const struct graph_view *view, FILE *out)
{
	int32_t first = 0;
	uint32_t *rows;

	for (uint32_t i = 0; i < view->count; i++)
		first = view->nodes[i].layer < first ? view->nodes[i].layer : first;
	rows = is_large(view) ? calloc(view->count, sizeof(*rows)) : NULL;
	fputs("digraph taskq {\n\trankdir=LR;\n"
	      "\tnode [shape=box, style=filled, fontname=\"sans-serif\"];\n",
	      out);
	if (rows)
		fputs("\tsplines=line;\n", out);
	for (uint32_t i = 0; i < view->count; i++)
		put_node(out, view, &view->nodes[i], first, rows);
	for (uint32_t i = 0; i < view->edge_count; i++)
		put_edge(out, view, &view->edges[i]);
	fputs("}\n", out);
	free(rows);
}

/* `dot` with @in as its input; its exit code, or -errno. */
static int run_dot(FILE *in, const char *format, const char *path, bool placed)
{
	char type[16], *file = NULL, *argv[8] = { "dot", type, PICTURE_INCHES };
	posix_spawn_file_actions_t actions;
	int status, n = !strcmp(format, "png") ? 3 : 2;
	pid_t pid;

	snprintf(type, sizeof(type), "-T%s", format);
	if (strcmp(path, "-") != 0 && asprintf(&file, "-o%s", path) < 0)
		return -ENOMEM;
	if (file)
		argv[n++] = file;
	if (placed) {
		argv[n++] = "-Kneato";
		argv[n++] = "-n2";
	}
	argv[n] = NULL;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fileno(in), STDIN_FILENO);
	const int r = posix_spawnp(&pid, "dot", &actions, NULL, argv, environ);

	posix_spawn_file_actions_destroy(&actions);
	free(file);
	if (r != 0)
		return -r;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : CLI_SIGNALLED + WTERMSIG(status);
}

int graph_picture(struct cli *cli, const struct graph_view *view, const char *format,
		  const char *path)
{
	FILE *file = tmpfile();
	int r = file ? 0 : -errno;

	if (file) {
		graph_dot(view, file);
		if (fflush(file) == EOF || fseek(file, 0, SEEK_SET) < 0)
			r = -errno;
	}
	if (r == 0)
		r = run_dot(file, format, path, is_large(view));
	if (file)
		fclose(file);
	if (r == -ENOENT)
		complain("graph --%s: there is no program \"dot\"\n"
			 "install Graphviz, the package \"graphviz\"; or say --dot",
			 format);
	else if (r < 0)
		return fail(cli, r, ABOUT_SEGMENT, "graph --%s %s", format, path);
	else if (r > 0)
		complain("graph --%s %s: dot has failed, exit code %d", format, path, r);
	return r == 0 ? CLI_OK : CLI_NOTHING;
}
