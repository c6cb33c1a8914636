/* SPDX-License-Identifier: MIT */
/*
 * The trace event format: one object, an array of events.  Attempts are complete events
 * ("X"), so that none lacks its end; arrows are flow events ("s", "f"), marks are instant
 * ones ("i"), names are metadata ("M").  Times are in microseconds.
 */
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "tools/taskq/trace/trace.h"
#include "tools/taskq/trace/trace_lanes.h"
#include "trace_text.h"

#define PROCESS 1 /* all lanes are threads of one process: the segment */

struct trace_chrome {
	FILE *to;
	struct tq *tq;
	struct trace_lanes lanes;
	bool comma;
	uint64_t begin_ns;  /* of the first entry: times are counted from it */
	uint64_t last_ns;   /* of the last one */
	uint64_t arrows;    /* each has an id of its own */
	uint64_t headless;  /* attempts whose start had been written over */
	uint64_t lost;	    /* entries written over while we read */
	uint64_t ended;	    /* the task that ended last, */
	uint64_t ended_ns;  /* when, */
	uint32_t ended_pid; /* and by whom */
};

static void put(struct trace_chrome *c, json_t *event)
{
	fputs(c->comma ? ",\n" : "\n", c->to);
	c->comma = true;
	if (event)
		json_dumpf(event, c->to, JSON_COMPACT | JSON_REAL_PRECISION(15));
	json_decref(event);
}

static double us_of(const struct trace_chrome *c, uint64_t at_ns)
{
	return (double)(at_ns - c->begin_ns) / 1000;
}

static json_t *event_at(const struct trace_chrome *c, const char *phase, uint64_t at_ns,
			uint32_t lane)
{
	return json_pack("{s:s, s:i, s:i, s:f}", "ph", phase, "pid", PROCESS, "tid", (int)lane + 1,
			 "ts", us_of(c, at_ns));
}

static void put_name(struct trace_chrome *c, const char *what, uint32_t lane, const char *name)
{
	put(c, json_pack("{s:s, s:i, s:i, s:s, s:{s:o}}", "ph", "M", "pid", PROCESS, "tid",
			 (int)lane + 1, "name", what, "args", "name", json_text(name)));
}

/* A free lane, named when it is new; UINT32_MAX no memory. */
static uint32_t lane_of(struct trace_chrome *c, uint32_t pid, uint32_t worker)
{
	char name[64];
	bool is_new;
	const uint32_t lane = trace_lane_take(&c->lanes, pid, worker, &is_new);

	if (!is_new)
		return lane;
	if (worker)
		snprintf(name, sizeof(name), "worker %u, pid %u", worker, pid);
	else
		snprintf(name, sizeof(name), "clients and keepers");
	put_name(c, "thread_name", lane, name);
	return lane;
}

/* What no worker is concerned in has one lane: there may be thousands of clients. */
static uint32_t lane_of_others(struct trace_chrome *c)
{
	return lane_of(c, 0, 0);
}

struct trace_chrome *trace_chrome_begin(FILE *to, const char *segment, struct tq *tq)
{
	struct trace_chrome *c = calloc(1, sizeof(*c));
	char name[300];

	if (!c)
		return NULL;
	c->to = to;
	c->tq = tq;
	fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[", to);
	snprintf(name, sizeof(name), "taskq %.200s", segment);
	put_name(c, "process_name", 0, name);
	return c;
}

/* From the end of a task's last slice, as far as that is inside, to the begin of another's. */
static void put_arrow(struct trace_chrome *c, const char *name, const struct trace_task *before,
		      const struct trace_task *task)
{
	const uint64_t from_ns = before->last_end_ns - (before->last_end_ns > before->last_ns);
	json_t *from = event_at(c, "s", from_ns, before->last_lane);
	json_t *to = event_at(c, "f", task->started_ns, task->lane);

	c->arrows++;
	json_object_set_new(from, "id", json_u64(c->arrows));
	json_object_set_new(from, "cat", json_string("arrow"));
	json_object_set_new(from, "name", json_string(name));
	json_object_set_new(to, "id", json_u64(c->arrows));
	json_object_set_new(to, "cat", json_string("arrow"));
	json_object_set_new(to, "name", json_string(name));
	json_object_set_new(to, "bp", json_string("e"));
	put(c, from);
	put(c, to);
}

static void put_instant(struct trace_chrome *c, const struct tq_trace_entry *e, uint32_t lane,
			const char *category)
{
	char text[TRACE_TEXT_MAX], id[TQ_ID_TEXT_MAX], name[TRACE_TEXT_MAX + TQ_ID_TEXT_MAX];
	json_t *event = event_at(c, "i", e->time_ns, lane);

	snprintf(name, sizeof(name), "%s %s", tq_task_id_format(e->task, id), trace_text(e, text));
	json_object_set_new(event, "s", json_string("t"));
	json_object_set_new(event, "cat", json_string(category));
	json_object_set_new(event, "name", json_text(name));
	json_object_set_new(event, "args", json_pack("{s:i}", "pid", (int)e->pid));
	put(c, event);
}

static bool put_arrow_after(struct trace_chrome *c, uint64_t id, const struct trace_task *task)
{
	const struct trace_task *before = trace_task_at(&c->lanes, id);

	if (before && before->last_ns)
		put_arrow(c, "after", before, task);
	return before;
}

/* Arrows into an attempt that begins: from the one before, and from all that it waited for. */
static bool put_arrows_to(struct trace_chrome *c, struct trace_task *task)
{
	const struct trace_task self = *task; /* the table may move */

	task->after = 0;
	task->waited_for = 0;
	if (self.last_ns)
		put_arrow(c, "again", &self, &self);
	for (uint32_t a = self.after; a; a = c->lanes.afters[a - 1].next)
		if (!put_arrow_after(c, c->lanes.afters[a - 1].id, &self))
			return false;
	return !self.waited_for || put_arrow_after(c, self.waited_for, &self);
}

static bool begin_attempt(struct trace_chrome *c, const struct tq_trace_entry *e)
{
	struct trace_task *task = trace_task_at(&c->lanes, e->task);
	const uint32_t lane = lane_of(c, e->pid, e->worker);

	if (!task || lane == UINT32_MAX)
		return false;
	c->lanes.lanes[lane].busy = true;
	task->started_ns = e->time_ns;
	task->lane = lane;
	task->attempt = e->argument;
	return put_arrows_to(c, task);
}

static void add_label(const struct trace_chrome *c, json_t *args, uint64_t id)
{
	struct tq_task_info info = { .size = sizeof(info) };

	if (tq_task_info(c->tq, id, &info) == 0 && info.label[0])
		json_object_set_new(args, "label", json_text(info.label));
}

static void end_attempt(struct trace_chrome *c, struct trace_task *task, uint64_t at_ns,
			const char *how)
{
	json_t *event = event_at(c, "X", task->started_ns, task->lane);
	json_t *args = json_pack("{s:i, s:s}", "attempt", (int)task->attempt, "end", how);
	char id[TQ_ID_TEXT_MAX];

	add_label(c, args, task->id);
	json_object_set_new(event, "dur", json_real((double)(at_ns - task->started_ns) / 1000));
	json_object_set_new(event, "cat", json_string("attempt"));
	json_object_set_new(event, "name", json_string(tq_task_id_format(task->id, id)));
	json_object_set_new(event, "args", args);
	put(c, event);
	c->lanes.lanes[task->lane].busy = false;
	task->last_ns = task->started_ns;
	task->last_end_ns = at_ns;
	task->last_lane = task->lane;
	task->started_ns = 0;
}

static bool add_end(struct trace_chrome *c, const struct tq_trace_entry *e)
{
	struct trace_task *task = trace_task_at(&c->lanes, e->task);
	char how[TRACE_TEXT_MAX];
	uint32_t lane;

	if (!task)
		return false;
	if (task->started_ns) {
		end_attempt(c, task, e->time_ns, trace_text(e, how));
		return true;
	}
	c->headless++;
	lane = lane_of_others(c); /* whose it was is not known, but that it ended is */
	if (lane != UINT32_MAX)
		put_instant(c, e, lane, "end");
	return lane != UINT32_MAX;
}

/* Whether what ran before a gap has run on is not known: its slices end there. */
void trace_chrome_lose(struct trace_chrome *c, uint64_t lost)
{
	c->lost += lost;
	for (size_t i = 0; lost && i < c->lanes.task_index.count; i++)
		if (c->lanes.tasks[i].started_ns)
			end_attempt(c, &c->lanes.tasks[i], c->last_ns, "not known: entries lost");
}

/*
 * What becomes free in the same moment as a task ended, by the same process, waited for it:
 * a unique key, or a group.  Dependencies have entries of their own, so that one that has
 * such an entry waited for what that says.
 */
static bool add_release(struct trace_chrome *c, const struct tq_trace_entry *e)
{
	struct trace_task *task = trace_task_at(&c->lanes, e->task);

	if (task && c->ended && c->ended_ns == e->time_ns && c->ended_pid == e->pid && !task->after)
		task->waited_for = c->ended;
	return task;
}

static bool add_move(struct trace_chrome *c, const struct tq_trace_entry *e)
{
	uint32_t lane;

	if (e->to == TQ_RUNNING)
		return begin_attempt(c, e);
	if (e->from == TQ_BLOCKED && !add_release(c, e))
		return false;
	if (e->from == TQ_RUNNING && !add_end(c, e))
		return false;
	if (e->to >= TQ_DONE) {
		c->ended = e->task;
		c->ended_ns = e->time_ns;
		c->ended_pid = e->pid;
	}
	if (e->from != TQ_FREE)
		return true;
	lane = lane_of_others(c);
	if (lane != UINT32_MAX)
		put_instant(c, e, lane, "submit");
	return lane != UINT32_MAX;
}

/* What befalls an attempt stands in its lane, a theft in the thief's. */
static bool add_mark(struct trace_chrome *c, const struct tq_trace_entry *e)
{
	const struct trace_task *task = trace_task_at(&c->lanes, e->task);
	uint32_t lane;

	if (!task)
		return false;
	lane = task->started_ns		    ? task->lane
	       : e->event == TQ_TRACE_STEAL ? lane_of(c, e->pid, e->worker)
					    : lane_of_others(c);
	if (lane != UINT32_MAX)
		put_instant(c, e, lane, tq_trace_event_name(e->event));
	return lane != UINT32_MAX;
}

bool trace_chrome_add(struct trace_chrome *c, const struct tq_trace_entry *e)
{
	if (!c->begin_ns)
		c->begin_ns = e->time_ns;
	c->last_ns = e->time_ns;
	if (e->event == TQ_TRACE_AFTER)
		return trace_after_add(&c->lanes, e->task, e->other);
	return e->event == TQ_TRACE_MOVE ? add_move(c, e) : add_mark(c, e);
}

/* What viewers do not show: when it began, and what is not in it. */
static void put_other(const struct trace_chrome *c, const struct clocks *clocks)
{
	char begin[FORMAT_MAX];

	fputs("\n],\"otherData\":{", c->to);
	if (c->begin_ns)
		fprintf(c->to, "\"begin\":\"%s\",",
			format_utc(clocks_unix_ns(clocks, c->begin_ns), begin));
	fprintf(c->to, "\"attempts_without_start\":%llu,\"lost\":%llu}}\n",
		(unsigned long long)c->headless, (unsigned long long)c->lost);
}

void trace_chrome_end(struct trace_chrome *c, const struct clocks *clocks)
{
	const uint64_t end_ns = clocks->now_ns > c->last_ns ? clocks->now_ns : c->last_ns;

	for (size_t i = 0; i < c->lanes.task_index.count; i++)
		if (c->lanes.tasks[i].started_ns)
			end_attempt(c, &c->lanes.tasks[i], end_ns, "running");
	put_other(c, clocks);
	trace_lanes_free(&c->lanes);
	free(c);
}
