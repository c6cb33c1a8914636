/* SPDX-License-Identifier: MIT */
/* Compares what can be observed of the core with the model. */
#include "tests/property/compare_parts.h"

#include "scheduler/graph/behalf.h"
#include "scheduler/order/fair.h"
#include "scheduler/order/queue.h"
#include "scheduler/record/stream.h"
#include "scheduler/limit/limit.h"
#include "scheduler/limit/server.h"
#include "scheduler/order/worth.h"
#include "scheduler/worker/command.h"
#include "scheduler/task/task.h"
#include "tests/support/trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void pattern_fill(struct pattern p, void *to)
{
	for (uint32_t i = 0; i < p.bytes; i++)
		((unsigned char *)to)[i] = pattern_byte(p.seed, p.from + i);
}

bool differ(struct comparison *c, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(c->text, sizeof(c->text), format, ap);
	va_end(ap);
	return false;
}

bool same(struct comparison *c, const char *record, uint32_t index, const char *field,
	  uint64_t core, uint64_t model)
{
	if (core == model)
		return true;
	return differ(c, "%s %u: %s is %llu, model says %llu", record, index, field,
		      (unsigned long long)core, (unsigned long long)model);
}

static bool is_pattern(struct comparison *c, uint32_t block, uint32_t at, struct pattern p)
{
	if (!p.bytes)
		return true;
	const unsigned char *bytes = (const unsigned char *)tqi_unit(&c->tx, block) + at;

	for (uint32_t i = 0; i < p.bytes; i++)
		if (bytes[i] != pattern_byte(p.seed, p.from + i))
			return false;
	return true;
}

static bool same_bytes(struct comparison *c, uint32_t index, const char *field, uint32_t block,
		       uint32_t at, struct pattern p)
{
	if (index % 16 != c->sample % 16 || is_pattern(c, block, at, p))
		return true;
	return differ(c, "task %u: other bytes in %s", index, field);
}

static bool compare_state(struct comparison *c, uint32_t index, const struct tqi_task *t,
			  const struct model_task *m)
{
	const char *record = "task";
	const uint32_t flags =
		(m->held ? TQI_TASK_HELD : 0u) | (m->forget ? TQI_TASK_FORGET : 0u) |
		(m->keep ? TQI_TASK_KEEP : 0u) | (m->once ? TQI_TASK_ONCE : 0u) |
		(m->cancel ? TQI_TASK_CANCEL : 0u) | (m->stalled ? TQI_TASK_STALLED : 0u) |
		(m->look_ns != NEVER ? TQI_TASK_DUE : 0u) | (m->listed ? TQI_TASK_LISTED : 0u) |
		(m->telling ? TQI_TASK_TELLING : 0u) | (m->dooms ? TQI_TASK_DOOMS : 0u) |
		(m->extra ? TQI_TASK_EXTRA : 0u) | (m->late ? TQI_TASK_LATE : 0u) |
		(m->server ? TQI_TASK_SERVED : 0u) | (m->assigned ? TQI_TASK_ASSIGNED : 0u) |
		(m->state == TQ_DELAYED && m->due_ns == NEVER ? TQI_TASK_AT : 0u);

	return SAME(t, m, state) &&
	       same(c, record, index, "flags but cut", t->flags & ~TQI_TASK_CUT, flags) &&
	       SAME(t, m, cause) && SAME(t, m, cause_arg) && SAME(t, m, sequence) &&
	       SAME(t, m, wait_sequence) && SAME(t, m, priority) && SAME(t, m, queue) &&
	       SAME(t, m, kind) && same(c, record, index, "pins", t->pins, c->pins[index]);
}

static bool compare_worth(struct comparison *c, uint32_t index, const struct tqi_task *t,
			  const struct model_task *m)
{
	const struct tqi_worth is = tqi_worth_of(&c->tx, t), *a = &is;
	const struct model_worth should_be = model_worth(m), *b = &should_be;
	const char *record = "worth of task";

	return tqi_state_is_final(m->state) ||
	       (SAME(a, b, priority) && SAME(a, b, hops) && SAME(a, b, deadline_ns) &&
		SAME(a, b, deadline_hops));
}

/* When it may start, if that is ahead: what has passed may be anything. */
static bool compare_due(struct comparison *c, uint32_t index, const struct tqi_task *t,
			const struct model_task *m)
{
	const char *record = "task";
	bool passed = t->due_ns <= c->m->now_ns && m->due_ns <= c->m->now_ns;

	return m->state == TQ_DELAYED ? SAME(t, m, due_ns)
				      : m->state != TQ_BLOCKED || passed || SAME(t, m, due_ns);
}

static bool compare_numbers(struct comparison *c, uint32_t index, const struct tqi_task *t,
			    const struct model_task *m)
{
	const char *record = "task";

	return SAME(t, m, failures) && SAME(t, m, crashes) && SAME(t, m, losses) &&
	       SAME(t, m, attempts) && SAME(t, m, epoch) && SAME(t, m, attempts_max) &&
	       SAME(t, m, crashes_max) && SAME(t, m, losses_max) && SAME(t, m, submitted_ns) &&
	       SAME(t, m, ready_ns) && SAME(t, m, started_ns) && SAME(t, m, first_started_ns) &&
	       SAME(t, m, ended_ns) && SAME(t, m, timeout_ns) && SAME(t, m, timeout_total_ns) &&
	       SAME(t, m, progress_timeout_ns) && SAME(t, m, backoff_ns) &&
	       SAME(t, m, backoff_cap_ns) && SAME(t, m, max_rss_bytes) && SAME(t, m, cpu_ns) &&
	       (!m->server || same(c, record, index, "server", (uint64_t)t->key, m->server)) &&
	       compare_worth(c, index, t, m) &&
	       (m->state != TQ_READY ||
		same(c, record, index, "key", (uint64_t)t->key, (uint64_t)model_key(m))) &&
	       same(c, record, index, "deadline_ns", tqi_task_deadline(&c->tx, t),
		    m->deadline_ns) &&
	       (!m->extra ||
		same(c, record, index, "at_ns", tqi_task_extra(&c->tx, t)->at_ns, m->at_ns)) &&
	       (!m->extra || same(c, record, index, "schedule", tqi_task_extra(&c->tx, t)->schedule,
				  m->schedule)) &&
	       compare_due(c, index, t, m);
}

/* Shorter because memory was short, or in pieces: the tail must be right. */
static void learn_result(struct comparison *c, const struct tqi_task *t, struct model_task *m)
{
	bool may_be_short = c->tight || m->result.bytes > TQI_SPAN_BYTES;

	if (!may_be_short || t->result_bytes >= m->result.bytes)
		return;
	m->result.from += m->result.bytes - t->result_bytes;
	m->result.bytes = t->result_bytes;
	m->cut = true;
}

static bool compare_result(struct comparison *c, uint32_t index, const struct tqi_task *t,
			   struct model_task *m)
{
	const char *record = "task";

	learn_result(c, t, m);
	return SAME(t, m, output_bytes) &&
	       same(c, record, index, "cut", !!(t->flags & TQI_TASK_CUT), m->cut) &&
	       same(c, record, index, "result_bytes", t->result_bytes, m->result.bytes) &&
	       same(c, record, index, "has result", !!t->result, !!m->result.bytes) &&
	       same_bytes(c, index, "result", t->result, 0, m->result);
}

static bool compare_texts(struct comparison *c, uint32_t index, const struct tqi_task *t,
			  struct model_task *m)
{
	const char *record = "task";

	if (c->tight && !t->error)
		m->error.bytes = 0;
	return same(c, record, index, "error_bytes", t->error_bytes, m->error.bytes) &&
	       same(c, record, index, "payload_bytes", t->payload_bytes, m->payload.bytes) &&
	       same(c, record, index, "label_bytes", t->label_bytes, m->label.bytes) &&
	       same_bytes(c, index, "error", t->error, 0, m->error) &&
	       same_bytes(c, index, "payload", t->payload, 0, m->payload) &&
	       same_bytes(c, index, "label", t->payload, m->payload.bytes, m->label);
}

static bool same_attempt(const struct tq_attempt_info *a, const struct model_attempt_info *b)
{
	return a->started_ns == b->started_ns && a->ended_ns == b->ended_ns &&
	       a->number == b->number && a->worker == b->worker && a->cause == b->cause &&
	       a->cause_arg == b->cause_arg;
}

static struct model_attempt_info attempt_info(const struct tq_attempt_info *a)
{
	return (struct model_attempt_info){ a->started_ns, a->ended_ns, a->number,
					    a->worker,	   a->cause,	a->cause_arg,
					    { 0 },	   0,		false };
}

/* As learn_result(); what is shorter leaves room for others. */
static void learn_output(const struct tqi_earlier *output, struct model_attempt_info *m)
{
	m->is_dropped = m->output.bytes && !output->block;
	if (output->bytes >= m->output.bytes)
		return;
	m->output.from += m->output.bytes - output->bytes;
	m->output.bytes = output->bytes;
}

/* HY-1, HY-2.  `learn`: one of them may be short. */
static bool compare_output(struct comparison *c, uint32_t index, const struct tqi_earlier *output,
			   struct model_attempt_info *m, bool learn)
{
	const char *record = "output of task";

	if (learn)
		learn_output(output, m);
	const struct pattern none = { 0 }, kept = m->is_dropped ? none : m->output;

	return same(c, record, index, "bytes", output->bytes, kept.bytes) &&
	       SAME(output, m, output_bytes) &&
	       same_bytes(c, index, "output", output->block, 0, kept);
}

static bool may_be_short(const struct comparison *c, const struct model_task *m)
{
	bool may = c->tight;

	for (uint32_t i = 0; i < m->history_count; i++)
		may |= m->history[i].output.bytes > TQI_SPAN_BYTES;
	return may;
}

/* Entries may be dropped for want of memory; then the rest is taken as it is. */
static bool compare_history(struct comparison *c, uint32_t index, const struct tqi_task *t,
			    struct model_task *m)
{
	uint32_t n = !t->history ? 0 : t->history_count;
	uint32_t count = n < TQ_HISTORY_MAX ? n : TQ_HISTORY_MAX;
	bool learn = c->tight && count < m->history_count, short_ones = may_be_short(c, m);

	if (learn)
		m->history_count = count;
	if (count != m->history_count)
		return same(c, "task", index, "history", count, m->history_count);
	if (!count)
		return true;
	const struct tqi_history *history = tqi_unit(&c->tx, t->history);

	for (uint32_t i = 0; i < count; i++) {
		const uint32_t at = (n - count + i) % TQ_HISTORY_MAX;
		const struct tq_attempt_info *a = &history->attempts[at];

		if (learn)
			m->history[i] = attempt_info(a);
		if (!same_attempt(a, &m->history[i]))
			return differ(c, "task %u: history entry %u", index, i);
		if (!compare_output(c, index, &history->outputs[at], &m->history[i], short_ones))
			return false;
	}
	return true;
}

/* A block that attempts have left, or 0. */
static bool is_kept(struct comparison *c, uint32_t block, uint32_t bytes,
		    const struct model_kept *m)
{
	const struct tqi_kept *kept;

	if (!block)
		return !m->saved && !m->reported;
	kept = tqi_unit(&c->tx, block);
	if (bytes != sizeof(*kept) + (m->saved ? m->checkpoint.bytes : 0) ||
	    kept->saved != m->saved || kept->reported != m->reported)
		return false;
	if (m->reported && (kept->report.percent != m->percent ||
			    kept->report.text[0] != model_report_text(m->percent)))
		return false;
	return !m->saved || is_pattern(c, block, sizeof(*kept), m->checkpoint);
}

/* The next attempt may have begun already: with what was kept instead. */
static void learn_inherited(struct comparison *c, const struct tqi_task *t, struct model_task *m)
{
	struct model_attempt *b = &m->attempt;

	if (!c->tight || !t->attempt || !m->has_older)
		return;
	const struct tqi_attempt *a = tqi_attempt_at(&c->tx, t->attempt);

	if (!is_kept(c, a->inherited, a->inherited_bytes, &b->inherited))
		b->inherited = m->older;
}

static bool compare_kept(struct comparison *c, uint32_t index, const struct tqi_task *t,
			 struct model_task *m)
{
	if (c->tight && m->has_older && !t->attempt &&
	    !is_kept(c, t->kept, t->kept_bytes, &m->kept))
		m->kept = m->older;
	learn_inherited(c, t, m);
	m->has_older = false;
	return is_kept(c, t->kept, t->kept_bytes, &m->kept) ||
	       differ(c, "task %u: other things are kept", index);
}

static bool compare_key(struct comparison *c, uint32_t index, const struct tqi_task *t,
			const struct model_task *m)
{
	const char *record = "key of task";
	uint32_t k = m->extra ? tqi_task_extra(&c->tx, t)->key : 0;

	if (!same(c, record, index, "record", !!k, !!m->unique) || !k)
		return !c->text[0];
	const struct tqi_key *key = tqi_key_at(&c->tx, k);
	bool leads = m->holds && m->scope == TQ_UNIQUE_COALESCE;

	return SAME(key, m, queue) && SAME(key, m, scope) &&
	       same(c, record, index, "held", key->held, m->holds) &&
	       same(c, record, index, "name", (unsigned char)key->name[0], 'a' + m->unique) &&
	       same(c, record, index, "successor", key->successor,
		    leads ? model_successor(c->m, index) : 0);
}

/* The names of its limits, as bits. */
static bool compare_limits_of(struct comparison *c, uint32_t index, const struct tqi_task *t,
			      const struct model_task *m)
{
	const uint32_t *limits = tqi_limits_of(&c->tx, t);
	uint32_t bits = 0;

	for (uint32_t i = 0; limits && i < TQ_LIMITS_MAX && limits[i]; i++)
		for (uint32_t x = 1; x <= MODEL_LIMITS; x++)
			if (strcmp(tqi_limit_at(&c->tx, tqi_need_limit(limits[i]))->name,
				   limit_name(x)) == 0 &&
			    tqi_need_weight(limits[i]) == m->weight[x])
				bits |= 1u << x;
	return same(c, "task", index, "limits", bits, m->limits);
}

static bool compare_limit(struct comparison *c, uint32_t x)
{
	const char *name = limit_name(x);
	uint32_t index = tqi_limit_find(&c->tx, name, (uint32_t)strlen(name));
	const struct model_limit sum = model_limit(c->m, x), *m = &sum;
	uint32_t size = c->m->limit_size[x];
	const char *record = "limit";
	uint64_t part;

	if (!index)
		return same(c, record, x, "record",
			    sum.tasks || size != UINT32_MAX || c->m->buckets[x].rate.rate, 0);
	const struct tqi_limit *limit = tqi_limit_at(&c->tx, index);

	return SAME(limit, m, tasks) && SAME(limit, m, used) && SAME(limit, m, waiting) &&
	       same(c, record, x, "size", limit->size, size) &&
	       same(c, record, x, "needed", limit->needed, c->m->limit_needed[x]) &&
	       same(c, record, x, "rate", limit->rate, c->m->buckets[x].rate.rate) &&
	       same(c, record, x, "tokens",
		    limit->rate ? (uint64_t)tqi_bucket_tokens(limit, c->m->now_ns, &part) : 0,
		    (uint64_t)model_tokens(c->m, x)) &&
	       same(c, record, x, "empty", limit->next_ns != 0, c->m->buckets[x].empty);
}

/* Its tenant's name, and whether it is in a class of it. */
static bool compare_tenant_of(struct comparison *c, uint32_t index, const struct tqi_task *t,
			      const struct model_task *m)
{
	uint32_t named = tqi_tenant_of(&c->tx, t), number = 0;
	const char *record = "task";

	for (uint32_t x = 1; named && x <= MODEL_TENANTS; x++) {
		char name[8];

		snprintf(name, sizeof(name), TENANT_NAME, x);
		if (strcmp(tqi_tenant_at(&c->tx, named)->name, name) == 0)
			number = x;
	}
	return same(c, record, index, "tenant", number, m->tenant) &&
	       (m->state >= TQ_DONE || same(c, record, index, "in a tenant's class",
					    !!tqi_class_of(&c->tx, t)->tenant, m->fair));
}

static bool compare_tenant(struct comparison *c, uint32_t q, uint32_t x)
{
	const struct model_tenant *m = &c->m->tenants[q][x];
	uint32_t tasks = x ? model_tenant_tasks(c->m, q, x) : 0;
	const char *record = "tenant";
	char name[8] = "";

	if (x)
		snprintf(name, sizeof(name), TENANT_NAME, x);
	uint32_t index = tqi_tenant_find(&c->tx, q, name, (uint32_t)strlen(name));

	if (!same(c, record, q * 10 + x, "record", !!index,
		  x ? tasks != 0 : c->m->queues[q].has_tenant) ||
	    !index)
		return !c->text[0];
	const struct tqi_tenant *tenant = tqi_tenant_at(&c->tx, index);

	return SAME(tenant, m, sequence) && SAME(tenant, m, tag_us) && SAME(tenant, m, credit_us) &&
	       SAME(tenant, m, overdue_turn) &&
	       same(c, record, index, "tasks", tenant->tasks, tasks);
}

static bool compare_attempt(struct comparison *c, uint32_t index, const struct tqi_task *t,
			    const struct model_task *m)
{
	const char *record = "attempt of task";

	if (!same(c, record, index, "record", t->attempt, m->attempt.record) || !t->attempt)
		return !c->text[0];
	const struct tqi_attempt *a = tqi_attempt_at(&c->tx, t->attempt);
	const struct model_attempt *b = &m->attempt;

	return SAME(a, b, worker) && SAME(a, b, charged_us) && SAME(a, b, server) &&
	       SAME(a, b, started_ns) && SAME(a, b, phase) && SAME(a, b, phase_ns) &&
	       SAME(a, b, stop_cause) && SAME(a, m, epoch) &&
	       same(c, record, index, "task", a->task, index) &&
	       (is_kept(c, a->inherited, a->inherited_bytes, &b->inherited) ||
		differ(c, "task %u: inherited other things", index));
}

static bool compare_task(struct comparison *c, uint32_t index)
{
	const struct tqi_task *t = tqi_task_at(&c->tx, index);
	struct model_task *m = &c->m->tasks[index];
	const char *record = "task";

	if (m->generation && !SAME(t, m, generation))
		return false;
	if (m->state == TQ_FREE)
		return SAME(t, m, state);
	return compare_state(c, index, t, m) && compare_numbers(c, index, t, m) &&
	       compare_result(c, index, t, m) && compare_texts(c, index, t, m) &&
	       compare_history(c, index, t, m) && compare_kept(c, index, t, m) &&
	       compare_key(c, index, t, m) && compare_limits_of(c, index, t, m) &&
	       compare_tenant_of(c, index, t, m) && compare_attempt(c, index, t, m) &&
	       compare_after(c, index) && compare_member(c, index);
}

static bool compare_kind(struct comparison *c, uint32_t index, const struct tqi_stream *stream,
			 const struct model_class *m)
{
	const char *record = "stream of queue";

	for (uint32_t s = 0; s < TQ_STATE_COUNT; s++)
		if (!same(c, record, index, "depth", stream->depth[s], m->depth[s]))
			return false;
	for (uint32_t i = 0; i < 4; i++)
		if (!same(c, record, index, "ended", stream->ended[i], m->ended[i]))
			return false;
	return SAME(stream, m, submitted) && SAME(stream, m, started) && SAME(stream, m, retried) &&
	       SAME(stream, m, crashed) && SAME(stream, m, reclaimed) && SAME(stream, m, stolen) &&
	       SAME(stream, m, moved) && SAME(stream, m, throttled);
}

/* Nobody is killed here, so that no sample is left out; a repair may have had no memory. */
static bool compare_times(struct comparison *c, uint32_t index, const struct tqi_stream *stream,
			  const struct model_class *m)
{
	for (uint32_t w = 0; w < TQI_TIMED_COUNT && stream->times; w++) {
		const struct tqi_histogram *h = &tqi_times_at(&c->tx, stream->times)->of[w];
		uint64_t count = 0;

		for (uint32_t i = 0; i < TQI_HISTOGRAM_BUCKETS; i++)
			count += h->buckets[i];
		if (!same(c, "times of queue", index, "count", count, m->timed[w]) ||
		    !same(c, "times of queue", index, "sum", h->sum_ns, m->timed_ns[w]))
			return false;
	}
	return true;
}

static bool compare_policy(struct comparison *c, uint32_t index, const struct tqi_queue *q,
			   const struct model_queue *m)
{
	const char *record = "queue";

	for (uint32_t b = 0; b < TQ_BANDS; b++)
		if (!same(c, record, index, "ageing", q->ageing[b], m->ageing[b]))
			return false;
	for (uint32_t b = 0; b < TQ_BANDS - 1; b++)
		if (!same(c, record, index, "band", (uint32_t)q->band_from[b],
			  (uint32_t)m->band_from[b]))
			return false;
	for (uint32_t x = 0; x <= MODEL_TENANTS; x++)
		if (!compare_tenant(c, index, x))
			return false;
	return SAME(q, m, fair) && SAME(q, m, fair_time_us) && SAME(q, m, era) &&
	       SAME(q, m, hybrid) && SAME(q, m, hybrid_count) && SAME(q, m, edf) &&
	       SAME(q, m, max_wait_ns) && SAME(q, m, overdue_turn);
}

static bool compare_server(struct comparison *c, uint32_t index)
{
	const struct tqi_server *s = tqi_server_at(&c->tx, index);
	const struct model_server *m = &c->m->servers[index];
	const char *record = "server", *pattern = server_pattern(m->pattern);

	if (!SAME(s, m, queue) || !m->queue)
		return !c->text[0];
	const struct tqi_pool *pool = tqi_pool_at(&c->tx, s->pool);
	uint32_t bytes = (uint32_t)strcspn(pattern, "*");

	return SAME(s, m, leaving) && SAME(s, m, turn) && SAME(s, m, sequence) &&
	       same(c, record, index, "name", (uint64_t)strcmp(s->name, server_name(m->name)), 0) &&
	       same(c, record, index, "used", s->used, model_server_used(c->m, index)) &&
	       same(c, record, index, "pattern",
		    pool->bytes == bytes && memcmp(pool->pattern, pattern, bytes) == 0 &&
			    pool->is_prefix == !!strchr(pattern, '*'),
		    true) &&
	       same(c, record, index, "size of pool", pool->size,
		    c->m->queues[m->queue].pool_size[m->pattern]) &&
	       same(c, record, index, "used of pool", pool->used,
		    model_pool_used(c->m, m->queue, m->pattern));
}

static bool compare_servers(struct comparison *c)
{
	uint32_t carrying = 0;

	for (uint32_t s = 1; s < c->m->server_slots; s++)
		if (!compare_server(c, s))
			return false;
	for (uint32_t q = 1; q <= MODEL_QUEUES; q++) {
		const struct tqi_queue *queue = tqi_queue_at(&c->tx, q);

		carrying += c->m->queues[q].carry_at != 0;
		if (!same(c, "queue", q, "servers", queue->servers, model_servers_of(c->m, q)) ||
		    !same(c, "queue", q, "carry_at", queue->carry_at, c->m->queues[q].carry_at) ||
		    !same(c, "queue", q, "turn", queue->turn, c->m->queues[q].turn))
			return false;
	}
	return same(c, "root", 0, "carrying", tqi_root(&c->tx)->carrying.count, carrying);
}

static bool compare_queue(struct comparison *c, uint32_t index)
{
	const struct tqi_queue *q = tqi_queue_at(&c->tx, index);
	const struct model_queue *m = &c->m->queues[index];
	static const struct tqi_stream nothing;
	const char *record = "queue";

	for (uint32_t k = 1; k <= MODEL_KINDS; k++) {
		uint32_t s = tqi_stream_find(&c->tx, q, k);
		const struct tqi_stream *stream = s ? tqi_stream_at(&c->tx, s) : &nothing;

		if (!compare_kind(c, index, stream, &c->m->classes[index][k]) ||
		    !compare_times(c, index, stream, &c->m->classes[index][k]))
			return false;
	}
	return same(c, record, index, "flags", q->flags,
		    m->flags | (m->configured ? TQI_QUEUE_CONFIGURED : 0u)) &&
	       SAME(q, m, waiting) && SAME(q, m, purge_before) && compare_policy(c, index, q, m);
}

static bool compare_worker(struct comparison *c, uint32_t index)
{
	const struct tqi_worker *w = tqi_worker_at(&c->tx, index);
	const struct model_worker *m = &c->m->workers[index];
	const char *record = "worker";

	if (!SAME(w, m, state) || m->state == TQI_WORKER_FREE)
		return !c->text[0];
	return SAME(w, m, generation) && SAME(w, m, flags) && SAME(w, m, tasks) &&
	       SAME(w, m, command) &&
	       (!(m->flags & TQI_WORKER_SUSPECT) || SAME(w, m, suspect_ns)) &&
	       (m->state != TQI_WORKER_DYING || SAME(w, m, dying_ns)) &&
	       same(c, record, index, "attempt_count", w->attempt_count,
		    model_attempt_count(c->m, index)) &&
	       same(c, record, index, "waiting", w->waiting, model_waiting_count(c->m, index)) &&
	       same(c, record, index, "assigned", w->assigned, model_assigned_first(c->m, index)) &&
	       same(c, record, index, "assigned_last", w->assigned_last,
		    model_assigned_last(c->m, index)) &&
	       same(c, record, index, "assigned_count", w->assigned_count,
		    model_assigned_count(c->m, index)) &&
	       SAME(w, m, stolen);
}

static bool compare_schedule(struct comparison *c, uint32_t index)
{
	const struct tqi_schedule *s = tqi_schedule_at(&c->tx, index);
	const struct model_schedule *m = &c->m->schedules[index];
	const char *record = "schedule";

	if (!SAME(s, m, generation) ||
	    !same(c, record, index, "live", !!(s->flags & TQI_SCHEDULE_LIVE), m->live))
		return false;
	return !m->live ||
	       (same(c, record, index, "paused", !!(s->flags & TQI_SCHEDULE_PAUSED), m->paused) &&
		SAME(s, m, sequence) && SAME(s, m, next_ns) && SAME(s, m, retry_ns) &&
		SAME(s, m, owed) && SAME(s, m, last_run) && SAME(s, m, runs) &&
		SAME(s, m, skipped) && SAME(s, m, last_error));
}

static bool compare_command(struct comparison *c, uint32_t index)
{
	const struct tqi_command *command = tqi_command_at(&c->tx, index);
	const struct model_command *m = &c->m->commands[index];
	const char *record = "command";

	if (!SAME(command, m, state) || m->state == TQI_COMMAND_FREE)
		return !c->text[0];
	const struct tqi_delivery *d = tqi_command_deliveries(&c->tx, command);

	if (!SAME(command, m, generation) || !SAME(command, m, queue) || !SAME(command, m, to) ||
	    !SAME(command, m, sent_ns) ||
	    !same(c, record, index, "recipients", command->delivery_count, m->count))
		return false;
	for (uint32_t i = 0; i < m->count; i++)
		if (!same(c, record, index, "answer", tqi_delivery_answer(command, &d[i]),
			  m->d[i].state) ||
		    !same(c, record, index, "takes", d[i].takes, m->d[i].takes) ||
		    !same(c, record, index, "worker", d[i].worker, m->d[i].worker))
			return false;
	return m->state == TQI_COMMAND_OPEN || SAME(command, m, ended_ns);
}

static bool compare_commands(struct comparison *c)
{
	uint32_t count = c->tx.core->tables[TQI_COMMANDS].count;

	for (uint32_t i = 1; i < MODEL_COMMANDS; i++)
		if (i < count ? !compare_command(c, i)
			      : !same(c, "command", i, "state", 0, c->m->commands[i].state))
			return false;
	return true;
}

/* States, and that the chain is in the model's order. */
static bool compare_waiters(struct comparison *c)
{
	uint32_t listed = 0, used = 0, steps = 0;
	uint64_t order = 0;

	for (uint32_t s = 1; s < c->m->waiter_slots; s++) {
		const struct model_waiter *m = &c->m->waiters[s];

		if (!same(c, "waiter", s, "state", tqi_waiter_at(&c->tx, s)->state, m->state))
			return false;
		if (m->state != TQI_WAITER_FREE &&
		    !same(c, "waiter", s, "attempt", tqi_behalf_of(&c->tx, s),
			  m->behalf ? c->m->tasks[m->behalf].attempt.record : 0))
			return false;
		listed += m->state == TQI_WAITER_LISTED;
		used += m->state != TQI_WAITER_FREE;
	}
	for (uint32_t s = c->tx.core->waiter_oldest; s && steps <= used; steps++) {
		if (c->m->waiters[s].entered <= order)
			return differ(c, "waiter %u: place in the chain", s);
		order = c->m->waiters[s].entered;
		s = tqi_waiter_at(&c->tx, s)->newer;
	}
	return same(c, "chain", 0, "length", steps, used) &&
	       same(c, "core", 0, "waiter_count", c->tx.core->waiter_count, listed);
}

/* WT-6: no keeper sleeps longer than it may. */
static bool compare_keepers(struct comparison *c)
{
	for (uint32_t place = 0; place < TQI_KEEPERS; place++) {
		uint32_t s = c->tx.core->waiter_keepers[place];

		if (!s)
			continue;
		if (tqi_waiter_at(&c->tx, s)->until_ns > model_keeper_until(c->m, place))
			return differ(c, "waiter %u: keeper %u sleeps too long", s, place);
		if (tqi_waiter_at(&c->tx, s)->until_wall_ns > model_keeper_until_wall(c->m, place))
			return differ(c, "waiter %u: keeper %u misses the wall clock", s, place);
	}
	return true;
}

/* The finished list is in the model's order. */
static bool compare_finished(struct comparison *c)
{
	uint32_t steps = 0, limit = model_finished(c->m);
	uint64_t order = 0;

	for (uint32_t t = tqi_root(&c->tx)->finished.oldest; t && steps <= limit; steps++) {
		if (c->m->tasks[t].listed <= order)
			return differ(c, "task %u: place on the finished list", t);
		order = c->m->tasks[t].listed;
		t = tqi_task_at(&c->tx, t)->next;
	}
	return same(c, "finished list", 0, "length", steps, limit);
}

static bool is_unfinished(uint32_t state)
{
	return state != TQ_FREE && state < TQ_DONE;
}

bool compare_gauges(struct comparison *c)
{
	const struct tqi_root *r = tqi_root(&c->tx);
	const struct model *m = c->m;
	const char *record = "root";
	uint32_t index = 0, ready = 0, running = 0, unfinished = 0, dying = 0, set_kinds = 0;

	for (uint32_t i = 1; i < m->task_slots; i++) {
		const struct model_task *t = &m->tasks[i];

		ready += t->state == TQ_READY && !t->held && !t->assigned;
		running += t->state == TQ_RUNNING;
		unfinished += is_unfinished(t->state);
	}
	for (uint32_t w = 1; w < m->worker_slots; w++)
		dying += m->workers[w].state == TQI_WORKER_DYING;
	for (uint32_t k = 1; k <= MODEL_KINDS; k++)
		set_kinds += model_has_defaults(m, k);
	return SAME(r, m, sequence) &&
	       same(c, record, 0, "flags", r->flags, m->flags | (set_kinds ? TQI_ROOT_KINDS : 0)) &&
	       same(c, record, 0, "set_kinds", r->set_kinds, set_kinds) &&
	       same(c, record, 0, "sweep.cancel_before", r->sweep.cancel_before,
		    m->cancel_before) &&
	       same(c, record, 0, "sweep.left", r->sweep.left, m->sweep_left) &&
	       SAME(r, m, reclaimed) && SAME(r, m, evicted) && SAME(r, m, unbroken_ns) &&
	       same(c, record, 0, "ready", r->ready, ready) &&
	       same(c, record, 0, "running", r->running, running) &&
	       same(c, record, 0, "unfinished", r->unfinished, unfinished) &&
	       same(c, record, 0, "dying_workers", r->dying_workers, dying) &&
	       same(c, record, 0, "moving.count", r->moving.count, model_moving(m)) &&
	       same(c, record, 0, "finished.count", r->finished.count, model_finished(m));
}

/* The due time that the core has for a task; NEVER when it has none. */
static uint64_t core_due(struct comparison *c, uint32_t index, const struct tqi_task *t)
{
	struct tqi_heap *due = &tqi_root(&c->tx)->time.due;

	if (!(t->flags & TQI_TASK_DUE))
		return NEVER;
	uint32_t place = tqi_heap_position(&c->tx, TQI_FAMILY_DUE, index);

	return (uint64_t)tqi_heap_at(&c->tx, due, place).key;
}

static uint32_t core_edges(struct comparison *c, uint32_t waiter)
{
	const struct tqi_waiter *s = tqi_waiter_at(&c->tx, waiter);
	uint32_t n = 0;

	for (uint32_t e = s->state == TQI_WAITER_FREE ? 0 : s->edges; e; n++)
		e = tqi_edge_at(&c->tx, e)->next_of_waiter;
	return n;
}

/* Lanes are moved until the journal fills: with few of them it does not, unless it was full. */
static bool may_be_unsettled(const struct comparison *c)
{
	return c->filling || tqi_root(&c->tx)->named.lanes.count > 8;
}

/* Without a token as far as has been noted: tokens are counted when somebody asks. */
static bool core_is_empty(struct comparison *c, uint32_t x)
{
	const char *name = limit_name(x);
	uint32_t index = tqi_limit_find(&c->tx, name, (uint32_t)strlen(name));

	return index && tqi_limit_at(&c->tx, index)->next_ns;
}

static bool core_carried(struct comparison *c, uint32_t queue, uint32_t server)
{
	uint32_t at = tqi_queue_at(&c->tx, queue)->carry_at;

	return !at || at > server;
}

static bool is_dropped(struct comparison *c, uint32_t index)
{
	const struct tqi_command *command = tqi_command_at(&c->tx, index);

	return command->state == TQI_COMMAND_FREE ||
	       command->generation != c->m->commands[index].generation;
}

/* Whether this worker, or nobody any more, has left the command. */
static bool core_answered(struct comparison *c, uint32_t index, uint32_t worker)
{
	const struct tqi_command *command = tqi_command_at(&c->tx, index);
	const struct model_worker *m = &c->m->workers[worker];

	if (is_dropped(c, index))
		return true;
	const struct tqi_delivery *d = tqi_command_delivery(&c->tx, command, worker, m->generation);

	return !d || tqi_delivery_answer(command, d) > TQ_ANSWER_TAKEN;
}

/* Edges of a waiter on a task that have not been told, in the core and in the model. */
static bool core_told(struct comparison *c, uint32_t e)
{
	const struct model_edge *edge = &c->m->edges[e];
	uint32_t n = 0;

	for (uint32_t i = tqi_waiter_at(&c->tx, edge->waiter)->edges; i;) {
		const struct tqi_edge *other = tqi_edge_at(&c->tx, i);

		n += other->task == edge->task && other->told == TQI_EDGE_OPEN;
		i = other->next_of_waiter;
	}
	for (uint32_t i = 0; i < c->m->edge_slots; i++)
		n -= c->m->edges[i].waiter == edge->waiter && c->m->edges[i].task == edge->task &&
		     !c->m->edges[i].told;
	return n != 0;
}

bool compare_did(void *ctx, enum model_unit unit, uint32_t index, uint32_t left)
{
	struct comparison *c = ctx;

	if (unit == MODEL_BURIED)
		return tqi_waiter_at(&c->tx, index)->state == TQI_WAITER_FREE;
	if (unit == MODEL_CARRIED)
		return core_carried(c, index, left);
	if (unit == MODEL_DROPPED)
		return is_dropped(c, index);
	if (unit == MODEL_ANSWERED)
		return core_answered(c, index, left);
	if (unit == MODEL_LEFT)
		return tqi_worker_at(&c->tx, index)->state == TQI_WORKER_FREE;
	if (unit == MODEL_TOLD)
		return core_told(c, index);
	if (unit == MODEL_DECIDED || unit == MODEL_RELEASED)
		return compare_did_after(c, unit, index);
	if (unit >= MODEL_PASSED && unit <= MODEL_CLOSED)
		return compare_did_group(c, unit, index, left);
	if (unit == MODEL_EDGE)
		return core_edges(c, index) < left;
	if (unit == MODEL_UNSETTLED)
		return c->unsettled;
	if (unit == MODEL_THROUGH)
		return !(tqi_queue_at(&c->tx, index)->flags & TQI_QUEUE_MOVING);
	if (unit == MODEL_POPPED)
		return may_be_unsettled(c) &&
		       tqi_waiter_at(&c->tx, index)->state == TQI_WAITER_TRANSIT;
	if (unit == MODEL_FILLED)
		return !core_is_empty(c, index);
	if (unit == MODEL_WOKEN)
		return tqi_waiter_at(&c->tx, index)->state == TQI_WAITER_TRANSIT;
	if (unit == MODEL_WENT_ROUND)
		return !tqi_root(&c->tx)->leaving_at;
	if (unit == MODEL_FOUND_ROOM)
		return !tqi_root(&c->tx)->room.again;
	if (unit == MODEL_CALLED)
		return !c->filled || tqi_waiter_at(&c->tx, index)->state == TQI_WAITER_TRANSIT;
	const struct tqi_task *t = tqi_task_at(&c->tx, index);
	const struct model_task *m = &c->m->tasks[index];

	if (t->generation != m->generation)
		return true;
	switch (unit) {
	case MODEL_DUE:
		return t->state != m->state || core_due(c, index, t) != m->look_ns;
	case MODEL_WALL:
		return t->state != m->state;
	case MODEL_CANCELLED:
		return tqi_state_is_final(t->state);
	case MODEL_SETTLED:
		return !(t->flags & TQI_TASK_TELLING);
	case MODEL_ENDED:
		return t->attempt != m->attempt.record;
	case MODEL_ASSIGNED:
		return t->flags & TQI_TASK_ASSIGNED;
	case MODEL_MOVED:
		return tqi_class_at(&c->tx, tqi_lane_at(&c->tx, t->lane)->class_)->era ==
		       c->m->queues[m->queue].era;
	case MODEL_STOPPED:
		return tqi_attempt_at(&c->tx, m->attempt.record)->phase != TQI_PHASE_NONE;
	default:
		return false; /* the same generation: not freed */
	}
}

bool compare_jitter(struct comparison *c)
{
	for (uint32_t i = 1; c->m->jittered && i < c->m->task_slots; i++) {
		struct model_task *m = &c->m->tasks[i];
		const struct tqi_task *t = tqi_task_at(&c->tx, i);

		if (!m->jitter_ns)
			continue;
		if (t->due_ns < m->due_ns ||
		    (t->due_ns >= m->due_ns + m->jitter_ns && t->due_ns != INT64_MAX))
			return differ(c, "task %u: back-off out of d .. 2d", i);
		m->due_ns = t->due_ns;
		m->look_ns = model_least(m->due_ns, model_watched(m));
		m->jitter_ns = 0;
		c->m->jittered--;
	}
	return true;
}

static void count_pins(struct comparison *c)
{
	memset(c->pins, 0, sizeof(c->pins));
	for (uint32_t e = 0; e < c->m->edge_slots; e++)
		if (c->m->edges[e].waiter)
			c->pins[c->m->edges[e].task]++;
	for (uint32_t d = 1; d < c->m->dependency_slots; d++)
		if (c->m->dependencies[d].task)
			c->pins[c->m->dependencies[d].on]++;
	for (uint32_t i = 1; i < c->m->task_slots; i++)
		c->pins[i] += c->m->tasks[i].pinned;
}

bool compare_all(struct comparison *c)
{
	count_pins(c);
	if (!compare_gauges(c))
		return false;
	for (uint32_t i = 1; i < c->m->task_slots; i++)
		if (!compare_task(c, i))
			return false;
	for (uint32_t q = 1; q <= MODEL_QUEUES; q++)
		if (!compare_queue(c, q))
			return false;
	for (uint32_t k = 1; k <= MODEL_KINDS; k++)
		if (!same(c, "kind", k, "mean", (uint64_t)tqi_kind_at(&c->tx, k)->mean_us,
			  (uint64_t)c->m->mean_us[k]))
			return false;
	for (uint32_t x = 1; x <= MODEL_LIMITS; x++)
		if (!compare_limit(c, x))
			return false;
	for (uint32_t w = 1; w < c->m->worker_slots; w++)
		if (!compare_worker(c, w))
			return false;
	for (uint32_t i = 1; i < c->m->schedule_slots; i++)
		if (!compare_schedule(c, i))
			return false;
	if (!compare_groups(c) || !compare_servers(c) || !compare_commands(c) ||
	    !compare_waiters(c) || !compare_keepers(c) || !compare_finished(c))
		return false;
	const uint64_t strayed = tqt_trace_differs(&c->tx);

	if (strayed)
		return differ(c, "task %u: not in the state of its last trace",
			      tqi_id_index(strayed));
	c->sample++;
	c->tight = false;
	return !c->tx.corrupt || differ(c, "a reference out of range");
}
