/* SPDX-License-Identifier: MIT */
/* Snapshots of the segment, its queues and its workers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "client/core/handle.h"
#include "client/core/options.h"
#include "client/observe/ask.h"
#include "client/observe/info.h"
#include "client/observe/reading.h"
#include "client/observe/server_info.h"
#include "client/observe/snapshot.h"
#include "scheduler/limit/limit.h"
#include "scheduler/order/ready.h"
#include "scheduler/order/run.h"

#define RUN 64		 /* records copied at a time */
#define QUICK_LANES 4096 /* that TQ_QUEUE_QUICK looks at, at most */

int tq_segment_info(struct tq *tq, struct tq_segment_info *ret_info)
{
	if (!tq)
		return -EINVAL;
	struct tq_segment_info i = { .size = sizeof(i) };
	struct tqi_core core;
	struct tqi_root root;
	struct tqi_header header;
	struct stat st;
	uint64_t room;
	int r = tqi_snapshot_room(ret_info, &room);

	if (r < 0 || (r = tqi_peek_core(&tq->seg, &core)) < 0 ||
	    (r = tqi_peek_root(&tq->seg, &root)) < 0 ||
	    (r = tqi_peek(&tq->seg, 0, &header, sizeof(header))) < 0)
		return r;
	if (fstat(tq->seg.fd, &st) < 0)
		return -errno;
	i.max_bytes = header.max_bytes;
	i.reserved_bytes = (uint64_t)core.extents_reserved << TQI_EXTENT_SHIFT;
	i.used_bytes = i.reserved_bytes - ((uint64_t)core.spans_free << TQI_SPAN_SHIFT);
	i.tasks_max = header.tasks_max;
	i.tasks_count = core.tables[TQI_TASKS].live;
	i.tasks_unfinished = root.unfinished;
	i.retention_ns = root.retention_ns;
	i.transactions = tqi_load_relaxed64(&core.version) / 2;
	i.rollbacks = tqi_load_relaxed64(&core.rollbacks);
	i.reclaimed = root.reclaimed;
	i.created_unix_ns = header.created_unix_ns;
	i.workers = core.tables[TQI_WORKERS].live;
	i.sleepers = core.tables[TQI_WAITERS].live;
	i.lock_holder = tqi_mutex_owner(&core.lock);
	i.owner_uid = st.st_uid;
	i.shutting_down = root.flags & TQI_ROOT_SHUTDOWN ? 1 : 0;
	i.mode = st.st_mode & 0777;
	i.commands_open = root.command.open;
	i.schedules = root.time.schedules;
	i.trace_entries = (uint32_t)header.ring_entries;
	i.traced = core.ring_head;
	if (tqi_segment_is_named(&tq->seg))
		snprintf(i.path, sizeof(i.path), "%s", tq->seg.path);
	tqi_snapshot_out(ret_info, room, &i, sizeof(i));
	return 0;
}

static uint32_t count_in(const struct tqi_segment *seg, uint32_t table)
{
	uint32_t count;

	tqi_peek_count(seg, table, &count);
	return count;
}

static uint32_t count_of(struct tq *tq, uint32_t table)
{
	return count_in(&tq->seg, table);
}

static bool is_sweeping(const struct tqi_segment *seg)
{
	uint64_t offset = seg->geometry.root + offsetof(struct tqi_root, sweep.left);
	uint32_t left;

	return tqi_peek(seg, offset, &left, sizeof(left)) == 0 && left > 0;
}

/* The first task of a lane has not been ready longest, but its heap knows no age: with
 * strict order the head of the lane is looked at. */
static void add_oldest(struct tq *tq, const struct tqi_lane *lane, struct tq_counters *k)
{
	struct tqi_task task;
	uint64_t offset;

	if (lane->tasks.length == 0)
		return;
	offset = tqi_record_offset(&tq->seg, TQI_TASKS, tqi_tag_index(lane->tasks.root.tag));
	if (!offset || tqi_peek(&tq->seg, offset, &task, sizeof(task)) < 0 ||
	    task.state != TQ_READY)
		return;
	uint64_t now = tqi_now(tq), age = now > task.ready_ns ? now - task.ready_ns : 0;

	if (age > k->oldest_ready_ns)
		k->oldest_ready_ns = age;
}

/* Classes whose lanes with limits are counted, a bit each. */
struct classes {
	uint64_t bits[TQI_CLASSES_MAX / 64 + 1];
	bool any;
	bool no_room; /* nothing of them can start */
};

static bool is_full(struct tq *tq, const struct tqi_lane *lane)
{
	struct tqi_limit limit;

	for (uint32_t i = 0; i < TQ_LIMITS_MAX && lane->limits[i]; i++)
		if (tqi_peek_record(&tq->seg, TQI_LIMITS, tqi_need_limit(lane->limits[i]),
				    &limit) == 0 &&
		    tqi_limit_holds_back(&limit, tqi_need_weight(lane->limits[i]), tqi_now(tq)))
			return true;
	return false;
}

/* Their lanes are found in the table only: one pass, as many at a time as are side by side. */
static void add_lanes(struct tq *tq, const struct classes *classes, struct tq_counters *k)
{
	struct tqi_lane lanes[64];
	uint32_t count = classes->any ? count_of(tq, TQI_LANES) : 0;

	for (uint32_t first = 0; first < count && first < TQI_LANES_MAX; first += 64) {
		uint64_t offset = tqi_record_offset(&tq->seg, TQI_LANES, first ? first : 1);

		if (!offset || tqi_peek(&tq->seg, first ? offset : offset - sizeof(lanes[0]), lanes,
					sizeof(lanes)) < 0)
			continue;
		for (uint32_t i = first ? 0 : 1; i < 64 && first + i < count; i++) {
			const struct tqi_lane *l = &lanes[i];

			if (l->is_parking || !l->tasks.length || l->class_ > TQI_CLASSES_MAX ||
			    !(classes->bits[l->class_ / 64] >> (l->class_ % 64) & 1))
				continue;
			add_oldest(tq, l, k);
			k->throttled += classes->no_room || is_full(tq, l) ? tqi_run_tasks(l) : 0;
		}
	}
}

static void add_stream(const struct tqi_stream *s, struct tq_counters *k)
{
	k->submitted += s->submitted;
	k->started += s->started;
	k->done += s->ended[0];
	k->failed += s->ended[1];
	k->cancelled += s->ended[2];
	k->expired += s->ended[3];
	k->retried += s->retried;
	k->crashed += s->crashed;
	k->reclaimed += s->reclaimed;
	k->stolen += s->stolen;
	k->throttled_total += s->throttled;
	k->moved += s->moved;
	for (uint32_t i = 0; i < TQ_STATE_COUNT; i++)
		k->depth[i] += s->depth[i];
	const uint32_t held = s->held < s->depth[TQ_READY] ? s->held : s->depth[TQ_READY];

	k->depth[TQ_READY] -= held; /* of a copy that may be damaged */
	k->held += held;
}

/* Live workers that serve each queue; and copies of them, where kinds are asked for. */
struct served {
	uint16_t workers[TQI_QUEUES_MAX + 1];
	struct tqi_worker *copies; /* free() it */
	uint32_t count;
};

static bool is_named_before(const struct tqi_worker *w, uint32_t at)
{
	for (uint32_t i = 0; i < at; i++)
		if (w->queues[i] == w->queues[at])
			return true;
	return false;
}

static void count_worker(const struct tqi_worker *w, struct served *served)
{
	if (w->state != TQI_WORKER_LIVE || (w->flags & TQI_WORKER_MASTER) ||
	    tqi_worker_seems_dead(w))
		return;
	if (served->copies)
		served->copies[served->count++] = *w;
	for (uint32_t q = 0; q < w->queue_count && q < TQ_WORKER_QUEUES_MAX; q++)
		if (w->queues[q] <= TQI_QUEUES_MAX && !is_named_before(w, q))
			served->workers[w->queues[q]]++;
}

/* 0, or -ENOMEM. */
static int count_served(struct tq *tq, uint32_t flags, struct served *ret_served)
{
	uint32_t count = count_of(tq, TQI_WORKERS);
	struct tqi_worker workers[RUN];

	memset(ret_served, 0, sizeof(*ret_served));
	if (flags & TQ_QUEUE_BY_KIND) {
		ret_served->copies = calloc(count + 1u, sizeof(*ret_served->copies));
		if (!ret_served->copies)
			return -ENOMEM;
	}
	for (uint32_t i = 1, n; i < count && i < TQI_WORKERS_MAX; i += n) {
		n = tqi_peek_run(&tq->seg, TQI_WORKERS, i, RUN, workers);
		for (uint32_t k = 0; k < n && i + k < count; k++)
			count_worker(&workers[k], ret_served);
	}
	return 0;
}

/* Of those that serve a queue, the ones that run a kind. */
static uint32_t count_of_kind(const struct served *served, uint32_t q, uint32_t kind)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < served->count; i++)
		found += tqi_worker_serves_queue(&served->copies[i], q) &&
			 tqi_worker_serves_kind(&served->copies[i], kind);
	return found;
}

static void fill_queue(const struct tqi_queue *queue, bool sweeping, struct tq_queue_info *i)
{
	memset(i, 0, sizeof(*i));
	i->flags = queue->flags & (TQ_QUEUE_PAUSED | TQ_QUEUE_DRAINING);
	if (sweeping && queue->purge_before)
		i->flags |= TQ_QUEUE_PURGING;
	if (queue->flags & TQI_QUEUE_MOVING)
		i->flags |= TQ_QUEUE_REORDERING;
	i->depth_max = queue->depth_max;
	i->timeout_ns = queue->timeout_ns == UINT64_MAX ? 0 : queue->timeout_ns;
	i->backoff_ns = queue->backoff_ns;
	i->backoff_cap_ns = queue->backoff_cap_ns > queue->backoff_ns ? queue->backoff_cap_ns
								      : queue->backoff_ns;
	i->attempts_max = queue->attempts_max;
	memcpy(i->ageing, queue->ageing, sizeof(i->ageing));
	memcpy(i->band_from, queue->band_from, sizeof(i->band_from));
	i->hybrid = queue->hybrid;
	i->edf = queue->edf;
	i->batch = queue->batch;
	i->fair = queue->fair;
	i->servers = queue->servers;
	i->flags |= queue->flags & TQI_QUEUE_SERVED ? TQ_QUEUE_SERVED : 0;
	i->max_wait_ns = queue->max_wait_ns == UINT64_MAX ? 0 : queue->max_wait_ns;
	memcpy(i->name, queue->name, TQ_NAME_MAX);
}

static void add_class(struct tq *tq, uint32_t n, const struct tqi_class *c, struct tq_counters *k,
		      struct classes *classes)
{
	struct tqi_lane lane;

	if (tqi_peek_record(&tq->seg, TQI_LANES, c->plain, &lane) == 0)
		add_oldest(tq, &lane, k);
	if ((c->lane_count == 1 && !classes->no_room) || n > TQI_CLASSES_MAX)
		return;
	classes->bits[n / 64] |= 1ull << (n % 64);
	classes->any = true;
}

/* Tenants' classes in a fair queue: their lanes. */
static void add_guests(struct tq *tq, uint32_t q, uint32_t kind, struct classes *classes)
{
	uint32_t count = count_of(tq, TQI_CLASSES);
	struct tqi_class c;

	for (uint32_t n = 1; n < count && n <= TQI_CLASSES_MAX; n++) {
		if (tqi_peek_record(&tq->seg, TQI_CLASSES, n, &c) < 0 || !c.tenant ||
		    c.queue != q || (kind && c.kind != kind))
			continue;
		classes->bits[n / 64] |= 1ull << (n % 64);
		classes->any = true;
	}
}

static uint64_t count_waiting_states(const struct tq_counters *k)
{
	return (uint64_t)k->depth[TQ_READY] + k->held + k->depth[TQ_DELAYED] + k->depth[TQ_BLOCKED];
}

/*
 * What a purge has decided is counted as cancelled.  How many these are is known, and of
 * which states they were is not: ready ones first.
 */
static void count_decided(const struct tqi_queue *queue, struct tq_counters *k)
{
	const uint64_t waiting = count_waiting_states(k);
	uint64_t left = waiting > queue->waiting ? waiting - queue->waiting : 0;

	k->cancelled += left;
	k->depth[TQ_CANCELLED] += (uint32_t)left;
	uint32_t *const waiting_ones[] = { &k->depth[TQ_READY], &k->held, &k->depth[TQ_DELAYED],
					   &k->depth[TQ_BLOCKED] };

	for (uint32_t i = 0; i < sizeof(waiting_ones) / sizeof(*waiting_ones); i++) {
		const uint32_t n = left < *waiting_ones[i] ? (uint32_t)left : *waiting_ones[i];

		*waiting_ones[i] -= n;
		left -= n;
	}
}

/* What is counted of a queue, or (not 0) of one stream of it; its kind, 0 all. */
static int add_streams(const struct tqi_segment *seg, uint32_t q, const struct tqi_queue *queue,
		       uint32_t stream, struct tq_counters *k, uint32_t *ret_kind)
{
	uint32_t limit = count_in(seg, TQI_STREAMS); /* the chain may be a ring */
	struct tqi_stream s = { .next = 0 };

	*ret_kind = 0;
	for (uint32_t n = stream ? stream : queue->streams; n && limit-- > 0;
	     n = stream ? 0 : s.next) {
		if (tqi_peek_record(seg, TQI_STREAMS, n, &s) < 0)
			return TQ_ECORRUPT;
		if (s.queue != q)
			return -ENOENT; /* it has been given back */
		add_stream(&s, k);
	}
	if (stream)
		*ret_kind = s.kind;
	return 0;
}

/* What is in its classes, of one kind or (0) of all. */
static int add_classes(struct tq *tq, uint32_t q, const struct tqi_queue *queue, uint32_t kind,
		       struct tq_counters *k, struct classes *classes)
{
	uint32_t limit = count_of(tq, TQI_CLASSES), own = 0;
	struct tqi_class c;

	for (uint32_t e = 0; e < 2; e++)
		for (uint32_t n = queue->chains[e].first; n && limit-- > 0; n = c.next, own++) {
			if (tqi_peek_record(&tq->seg, TQI_CLASSES, n, &c) < 0)
				return TQ_ECORRUPT;
			if (!kind || c.kind == kind)
				add_class(tq, n, &c, k, classes);
		}
	if (queue->chains[0].left + queue->chains[1].left > own)
		add_guests(tq, q, kind, classes);
	return 0;
}

uint64_t tqi_queue_decided(struct tq *tq, const char *name)
{
	struct tq_counters k = { .submitted = 0 };
	struct tqi_queue queue;
	uint32_t kind, q = tqi_peek_queue_find(&tq->seg, name);

	if (tqi_peek_record(&tq->seg, TQI_QUEUES, q, &queue) < 0 ||
	    add_streams(&tq->seg, q, &queue, 0, &k, &kind) < 0)
		return 0;
	const uint64_t waiting = count_waiting_states(&k);

	return waiting > queue.waiting ? waiting - queue.waiting : 0;
}

/* The kind's name, as long as the stream is of it; false: either has been given back. */
static bool fill_kind(const struct tqi_segment *seg, uint32_t q, uint32_t stream, uint32_t kind,
		      struct tq_queue_info *i)
{
	struct tqi_stream s;

	tqi_peek_kind_name(seg, kind, i->kind);
	return tqi_peek_record(seg, TQI_STREAMS, stream, &s) == 0 && s.queue == q && s.kind == kind;
}

/* A row about a queue (stream 0), or a kind of it. */
struct row {
	uint32_t q, stream;
	int r;
	uint32_t kind; /* 0 all */
	struct tqi_queue queue;
	struct tq_queue_info info;
};

/* What its queue says, and what is counted. */
static void read_row(const struct tqi_segment *seg, void *arg)
{
	struct row *row = arg;
	struct tq_queue_info *i = &row->info;

	row->r = tqi_peek_record(seg, TQI_QUEUES, row->q, &row->queue);
	if (row->r == 0 && !row->queue.name[0])
		row->r = -ENOENT;
	if (row->r < 0)
		return;
	fill_queue(&row->queue, is_sweeping(seg), i);
	if (tqi_ask_lacks_room(seg, row->q, &row->queue))
		i->flags |= TQ_QUEUE_NO_ROOM;
	row->r = add_streams(seg, row->q, &row->queue, row->stream, &i->counters, &row->kind);
	if (row->r == 0 && !row->stream && (i->flags & TQ_QUEUE_PURGING))
		count_decided(&row->queue, &i->counters);
	if (row->r == 0 && row->stream && !fill_kind(seg, row->q, row->stream, row->kind, i))
		row->r = -ENOENT;
}

/* What is found by going through tables: workers, and lanes. */
static int complete_row(struct tq *tq, uint32_t flags, const struct served *served, struct row *row)
{
	struct tq_queue_info *i = &row->info;
	struct classes classes = { .no_room = i->flags & TQ_QUEUE_NO_ROOM };
	int r = row->r;

	if (r == 0)
		r = add_classes(tq, row->q, &row->queue, row->kind, &i->counters, &classes);
	if (r < 0)
		return r;
	i->workers = row->q <= TQI_QUEUES_MAX ? served->workers[row->q] : 0;
	if ((flags & TQ_QUEUE_QUICK) && classes.any && count_of(tq, TQI_LANES) > QUICK_LANES)
		i->flags |= TQ_QUEUE_PARTIAL;
	else
		add_lanes(tq, &classes, &i->counters);
	if (row->stream && i->workers)
		i->workers = count_of_kind(served, row->q, row->kind);
	return 0;
}

int tq_queue_info(struct tq *tq, const char *queue, struct tq_queue_info *ret_info)
{
	if (!tq || !queue)
		return -EINVAL;
	struct row row = { .q = tqi_peek_queue_find(&tq->seg, queue) };
	struct served served;
	uint64_t room;
	int r = tqi_snapshot_room(ret_info, &room);

	if (r == 0 && !row.q)
		r = -ENOENT;
	if (r == 0)
		r = count_served(tq, 0, &served);
	if (r < 0)
		return r;
	tqi_read(tq, read_row, &row);
	r = complete_row(tq, 0, &served, &row);
	if (r == 0 && strcmp(row.info.name, queue) != 0)
		r = -ENOENT; /* given back meanwhile */
	if (r == 0)
		tqi_snapshot_out(ret_info, room, &row.info, sizeof(row.info));
	return r;
}

/* Row number -> queue, or queue and stream; false at the end. */
static bool row_at(struct tq *tq, uint32_t flags, uint64_t row, uint32_t *ret_q, uint32_t *ret_s)
{
	struct tqi_stream s;

	*ret_s = 0;
	if (!(flags & TQ_QUEUE_BY_KIND)) {
		*ret_q = (uint32_t)row;
		return row < count_of(tq, TQI_QUEUES);
	}
	if (row >= count_of(tq, TQI_STREAMS) ||
	    tqi_peek_record(&tq->seg, TQI_STREAMS, (uint32_t)row, &s) < 0)
		return false;
	*ret_q = s.queue;
	*ret_s = (uint32_t)row;
	return true;
}

int tq_queue_list(struct tq *tq, uint32_t flags, uint64_t *cursor, struct tq_queue_info *infos,
		  uint32_t count)
{
	if (!tq || !cursor || (count && !infos))
		return -EINVAL;
	uint32_t n = 0, q, s;
	struct served served;

	if ((flags & ~(TQ_QUEUE_BY_KIND | TQ_QUEUE_QUICK)) ||
	    (count && infos->size != sizeof(*infos)))
		return -EINVAL;
	if (*cursor == 0)
		*cursor = 1;
	int r = count_served(tq, flags, &served);

	if (r < 0)
		return r;
	while (n < count && row_at(tq, flags, *cursor, &q, &s)) {
		struct row row = { .q = q, .stream = s };

		read_row(&tq->seg, &row);
		if (complete_row(tq, flags, &served, &row) == 0)
			tqi_snapshot_out(&infos[n++], sizeof(*infos), &row.info, sizeof(row.info));
		(*cursor)++;
	}
	free(served.copies);
	return (int)n;
}

/* Served queues, comma separated, cut with "...". */
static void fill_queues(struct tq *tq, const struct tqi_worker *w, char *to, size_t room)
{
	size_t used = 0;

	to[0] = '\0';
	for (uint32_t q = 0; q < w->queue_count && q < TQ_WORKER_QUEUES_MAX; q++) {
		char name[TQ_NAME_MAX + 1];

		tqi_peek_queue_name(&tq->seg, w->queues[q], name);
		int n = snprintf(to + used, room - used, "%s%s", q ? "," : "", name);

		if (n < 0 || (size_t)n >= room - used) {
			memcpy(to + room - 4, "...", 4);
			return;
		}
		used += (size_t)n;
	}
}

static uint32_t worker_flags(const struct tqi_worker *w, bool asleep)
{
	return (w->flags & TQI_WORKER_MASTER ? TQ_WORKER_IS_MASTER : 0) |
	       (w->flags & TQI_WORKER_SUSPECT ? TQ_WORKER_IS_SUSPECT : 0) |
	       (w->flags & TQI_WORKER_STOP ? TQ_WORKER_IS_STOPPING : 0) |
	       (w->flags & TQI_WORKER_COMMANDS ? TQ_WORKER_TAKES_COMMANDS : 0) |
	       (tqi_worker_seems_dead(w) ? TQ_WORKER_IS_DYING : 0) |
	       (w->waiting && w->waiting == w->attempt_count ? TQ_WORKER_IS_WAITING : 0) |
	       (asleep ? TQ_WORKER_IS_ASLEEP : 0);
}

/* Workers that wait for a task, a bit each. */
struct asleep {
	uint64_t bits[TQI_WORKERS_MAX / 64];
};

static void find_asleep(struct tq *tq, struct asleep *ret_asleep)
{
	uint32_t count = count_of(tq, TQI_WAITERS);
	struct tqi_waiter waiters[RUN];

	memset(ret_asleep, 0, sizeof(*ret_asleep));
	for (uint32_t i = 1, n; i < count && i < TQI_WAITERS_MAX; i += n) {
		n = tqi_peek_run(&tq->seg, TQI_WAITERS, i, RUN, waiters);
		for (uint32_t k = 0; k < n && i + k < count; k++) {
			const struct tqi_waiter *s = &waiters[k];

			if (s->state == TQI_WAITER_LISTED && s->interest == TQI_INTEREST_WORK &&
			    s->subject < TQI_WORKERS_MAX)
				ret_asleep->bits[s->subject / 64] |= 1ull << (s->subject % 64);
		}
	}
}

static bool worker_row(struct tq *tq, const struct asleep *asleep, uint32_t number,
		       struct tq_worker_info *i)
{
	struct tqi_worker w;
	struct tqi_attempt a;

	if (tqi_peek_record(&tq->seg, TQI_WORKERS, number, &w) < 0 || w.state == TQI_WORKER_FREE)
		return false;
	memset(i, 0, sizeof(*i));
	i->number = number;
	i->flags = worker_flags(&w, asleep->bits[number / 64] >> (number % 64) & 1);
	i->pid = w.owner.pid;
	i->master = w.master;
	i->claims = w.attempt_count;
	i->assigned = w.assigned_count;
	i->stolen = w.stolen;
	i->queue_count = w.queue_count;
	i->tasks = w.tasks;
	i->registered_ns = w.registered_ns;
	i->lease_ns = w.lease_ns;
	i->lease_deadline_ns = w.lease_ns ? tqi_load_relaxed64(&w.lease_deadline_ns) : 0;
	if (w.attempts && tqi_peek_record(&tq->seg, TQI_ATTEMPTS, w.attempts, &a) == 0)
		i->task = a.id;
	memcpy(i->name, w.name, TQ_NAME_MAX);
	fill_queues(tq, &w, i->queues, sizeof(i->queues));
	return true;
}

int tq_worker_list(struct tq *tq, uint64_t *cursor, struct tq_worker_info *infos, uint32_t count)
{
	if (!tq || !cursor || (count && !infos))
		return -EINVAL;
	uint32_t end = count_of(tq, TQI_WORKERS), n = 0;
	struct asleep asleep;

	if (count && infos->size != sizeof(*infos))
		return -EINVAL;
	if (*cursor == 0)
		*cursor = 1;
	find_asleep(tq, &asleep);
	while (n < count && *cursor < end && *cursor < TQI_WORKERS_MAX) {
		struct tq_worker_info i;

		if (worker_row(tq, &asleep, (uint32_t)*cursor, &i))
			tqi_snapshot_out(&infos[n++], sizeof(*infos), &i, sizeof(i));
		(*cursor)++;
	}
	return (int)n;
}
