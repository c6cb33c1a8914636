/* SPDX-License-Identifier: MIT */
/* Overview: the segment at a glance, what has been going on, and the queues. */
#include "draw.h"
#include "view.h"

enum {
	CAPTION = 11,	  /* columns of the captions at the left */
	FIGURE = 8,	  /* and of the figures beside them */
	PERCENTILE = 15,  /* of one with its name */
	GRAPHS_LEAST = 6, /* lines that graphs need */
	QUEUES_LEAST = 4  /* lines left for the queues */
};

struct pen {
	const struct model *model;
	struct cells *cells;
	int x, y;
};

static void begin_line(struct pen *pen, int y, const char *caption)
{
	pen->y = y;
	cells_put(pen->cells, 1, y, CAPTION, ROLE_DIM, caption);
	pen->x = CAPTION;
}

static void put_word(struct pen *pen, enum role role, const char *text)
{
	pen->x = cells_put(pen->cells, pen->x, pen->y, pen->cells->width, role, text);
}

/* "ready 812k  ": the figure in its colour when it is not zero. */
static void put_figure(struct pen *pen, const char *name, enum role role, uint64_t count)
{
	char text[FORMAT_MAX];

	put_word(pen, ROLE_DIM, name);
	put_word(pen, ROLE_DIM, " ");
	put_word(pen, count ? role : ROLE_DIM, format_count(count, text));
	put_word(pen, ROLE_DIM, "  ");
}

static void put_tasks(struct pen *pen, int y)
{
	const struct tq_counters *total = &pen->model->total;
	char share[FORMAT_MAX];

	begin_line(pen, y, "Tasks");
	put_figure(pen, "ready", ROLE_STRONG, total->depth[TQ_READY]);
	put_figure(pen, "running", ROLE_BUSY, total->depth[TQ_RUNNING]);
	put_figure(pen, "delayed", ROLE_STRONG, total->depth[TQ_DELAYED]);
	put_figure(pen, "blocked", ROLE_STRONG, total->depth[TQ_BLOCKED]);
	put_figure(pen, "held", ROLE_WARN, total->held);
	put_figure(pen, "throttled", ROLE_WARN, total->throttled);
	begin_line(pen, y + 1, "Ended");
	put_figure(pen, "done", ROLE_GOOD, total->done);
	put_figure(pen, "failed", ROLE_BAD, total->failed);
	put_figure(pen, "cancelled", ROLE_WARN, total->cancelled);
	put_figure(pen, "expired", ROLE_WARN, total->expired);
	cells_printf(pen->cells, pen->x, pen->y, pen->cells->width, ROLE_TEXT, "%s %% ok",
		     format_success(total->done, total->failed, share));
}

static void put_workers(struct pen *pen, int y)
{
	const struct model *model = pen->model;
	const struct tq_counters *total = &model->total;

	begin_line(pen, y, "Workers");
	put_figure(pen, "busy", ROLE_BUSY, model->busy);
	put_figure(pen, "idle", ROLE_STRONG, model->idle);
	put_figure(pen, "stopped", ROLE_BAD, model->stopped);
	put_figure(pen, "dead", ROLE_BAD, model->dead);
	put_figure(pen, "masters", ROLE_TEXT, model->masters);
	begin_line(pen, y + 1, "Attempts");
	put_figure(pen, "started", ROLE_STRONG, total->started);
	put_figure(pen, "retried", ROLE_TEXT, total->retried);
	put_figure(pen, "crashed", ROLE_BAD, total->crashed);
	put_figure(pen, "lost", ROLE_BAD, total->reclaimed);
	put_figure(pen, "stolen", ROLE_TEXT, total->stolen);
}

static void put_oldest(struct pen *pen, int y)
{
	const struct model *model = pen->model;
	char age[FORMAT_MAX];

	begin_line(pen, y, "Oldest");
	if (!model->total.oldest_ready_ns) {
		put_word(pen, ROLE_DIM, "nothing is ready");
		return;
	}
	put_word(pen, ROLE_STRONG, format_duration(model->total.oldest_ready_ns, age));
	put_word(pen, ROLE_DIM, " ready in ");
	put_word(pen, ROLE_STRONG, model->oldest_queue);
}

static void put_lock(struct pen *pen)
{
	const struct model *model = pen->model;
	char figure[FORMAT_MAX];

	pen->x = pen->cells->width / 2 > 44 ? pen->cells->width / 2 : 44;
	put_word(pen, ROLE_DIM, "lock ");
	put_word(pen, model->now.lock.tid ? ROLE_TEXT : ROLE_DIM,
		 model->now.lock.tid ? "held" : "free");
	put_word(pen, ROLE_DIM, "  changes ");
	if (model->has_rates)
		put_word(pen, ROLE_TEXT, format_rate(model->transactions, figure));
	else
		put_word(pen, ROLE_DIM, "-"); /* the first look knows none */
	put_word(pen, ROLE_DIM, "/s");
	if (model->now.segment.rollbacks)
		put_figure(pen, "  undone", ROLE_WARN, model->now.segment.rollbacks);
}

static void put_memory(struct pen *pen, int y)
{
	const struct tq_segment_info *info = &pen->model->now.segment;
	const int width = pen->cells->width > 100 ? 30 : 16;
	char used[FORMAT_MAX], max[FORMAT_MAX];

	begin_line(pen, y, "Memory");
	draw_gauge(pen->cells, pen->x, y, width, (double)info->used_bytes, (double)info->max_bytes);
	cells_printf(pen->cells, pen->x + width + 1, y, pen->cells->width, ROLE_TEXT, "%s of %s",
		     format_size(info->used_bytes, used), format_size(info->max_bytes, max));
	pen->x = pen->cells->width / 2 > 44 ? pen->cells->width / 2 : 44;
	put_word(pen, ROLE_DIM, "records ");
	put_word(pen, ROLE_TEXT, format_count(info->tasks_count, used));
	put_word(pen, ROLE_DIM, " of ");
	put_word(pen, ROLE_TEXT, format_count(info->tasks_max, max));
}

/* "Wait       p50 1.2ms   p90 3ms ..." of all queues together. */
static void put_latencies(struct pen *pen, int y)
{
	static const char *const captions[LATENCY_KINDS] = {
		[LATENCY_WAIT] = "Wait", [LATENCY_RUN] = "Run", [LATENCY_LIFE] = "In all"
	};

	for (int kind = 0; kind < LATENCY_KINDS; kind++) {
		const uint64_t *ns = pen->model->latencies.all.ns[kind];
		char text[FORMAT_MAX];

		begin_line(pen, y + kind, captions[kind]);
		for (int i = 0; i < PERCENTILE_COUNT; i++) {
			pen->x = CAPTION + i * PERCENTILE;
			put_word(pen, ROLE_DIM, percentiles[i].name);
			put_word(pen, ROLE_DIM, " ");
			put_word(pen, ns[i] ? ROLE_TEXT : ROLE_DIM,
				 ns[i] ? format_duration(ns[i], text) : "-");
		}
	}
}

static double peak(const double *values, unsigned count)
{
	double most = 0;

	for (unsigned i = 0; i < count; i++)
		most = values[i] > most ? values[i] : most;
	return most;
}

/* "done/s  12.1k  <graph>  peak 15k" */
static void put_graph(struct pen *pen, int y, int height, enum series series, const char *caption,
		      enum role role)
{
	const struct model *model = pen->model;
	const double *values = model->series[series];
	const int x = CAPTION + FIGURE + 1, width = pen->cells->width - x - 12;
	const unsigned shown = width > 0 && model->history > (unsigned)width ? (unsigned)width
									     : model->history;
	char now[FORMAT_MAX], most[FORMAT_MAX];

	begin_line(pen, y + height - 1, caption);
	if (!model->history || width < 1)
		return;
	const double last = values[model->history - 1],
		     top = peak(values + model->history - shown, shown);

	format_rate(last, now);
	format_rate(top, most);
	if (series == SERIES_READY) {
		format_count((uint64_t)last, now);
		format_count((uint64_t)top, most);
	}
	cells_field(pen->cells, CAPTION, pen->y, FIGURE - 1, true, last > 0 ? role : ROLE_DIM, now);
	draw_graph(pen->cells, x, y, width, height,
		   series == SERIES_FAILED ? ROLE_GRAPH_BAD : ROLE_GRAPH, values, model->history);
	cells_printf(pen->cells, x + width + 1, pen->y, pen->cells->width, ROLE_DIM, "max %s",
		     most);
}

static int put_graphs(struct pen *pen, int y, int room)
{
	static const struct {
		const char *caption;
		enum series series;
		enum role role;
	} rows[] = { { "in/s", SERIES_SUBMITTED, ROLE_STRONG },
		     { "started/s", SERIES_STARTED, ROLE_STRONG },
		     { "done/s", SERIES_DONE, ROLE_GOOD },
		     { "failed/s", SERIES_FAILED, ROLE_BAD },
		     { "ready", SERIES_READY, ROLE_STRONG } };
	const int count = (int)(sizeof(rows) / sizeof(rows[0]));
	const int height = room / count < 3 ? 1 : room / count > 4 ? 4 : 3;

	for (int i = 0; i < count; i++)
		put_graph(pen, y + i * height, height, rows[i].series, rows[i].caption,
			  rows[i].role);
	return count * height;
}

static int head(const struct model *model, const struct table_state *state, struct cells *cells,
		int y, int height)
{
	struct pen pen = { model, cells, 0, 0 };
	int used = 6;

	(void)state;
	put_tasks(&pen, y);
	put_workers(&pen, y + 2);
	put_oldest(&pen, y + 4);
	put_lock(&pen);
	put_memory(&pen, y + 5);
	if (height >= used + LATENCY_KINDS + 1 + QUEUES_LEAST) {
		put_latencies(&pen, y + used);
		used += LATENCY_KINDS;
	}
	/* As high as they may be while more than a third is left to the queues. */
	if (!model->is_printed && height >= used + GRAPHS_LEAST + QUEUES_LEAST)
		used += 1 + put_graphs(&pen, y + used + 1, height * 2 / 3 - used - 1);
	return used + 1;
}

const struct view view_overview = { "Overview", SUBJECT_QUEUE, &queues_table, head };
