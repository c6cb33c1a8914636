/* SPDX-License-Identifier: MIT */
/* Waiting for tasks. */
#include <errno.h>
#include <string.h>

#include "client/core/current_attempt.h"
#include "client/core/handle.h"
#include "client/observe/info.h"
#include "client/core/options.h"
#include "client/core/sleeper.h"
#include "client/submit/wait_api.h"
#include "scheduler/graph/cycle.h"
#include "scheduler/graph/edge.h"
#include "scheduler/task/task.h"

#define SLICE 8		/* edges made, or ids looked at, in one hold: journal space */
#define OUTPUT_LOOK_NS 50000000ull /* 50 ms: as tq_output_read() looks */
#define WAIT_MAX 65536 /* ids of one call */

struct wait {
	const uint64_t *ids;
	uint32_t count;
	uint32_t cursor; /* ids that have their edge */
	uint32_t scan;	 /* ids looked at since enough of them were final */
	bool any;
	bool urgent; /* `priority` counts */
	int32_t priority;
	uint32_t states; /* those that are wanted; 0 the final ones */
	const struct tqi_word32 *word; /* a change of this one will do as well; NULL none */
	uint32_t value;
	bool for_output; /* or that the running task writes any */
	uint32_t index;	 /* which one it was */
	struct tqi_task task; /* its record, copied under the lock: eviction cannot take it */
	bool with_texts;      /* these as well: their blocks may be another's right afterwards */
	char label[TQ_LABEL_MAX + 1];
	char error_text[TQ_TEXT_MAX + 1];
};

/* Under the lock; an impossible reference gives no text. */
static void copy_text(struct tqi_tx *tx, uint32_t block, uint64_t at, uint32_t bytes, char *to)
{
	uint64_t offset = ((uint64_t)block << TQI_UNIT_SHIFT) + at;

	if (!block || offset + bytes > tx->seg->geometry.max_bytes)
		offset = bytes = 0;
	memcpy(to, tx->base + offset, bytes);
	to[bytes] = '\0';
}

static void copy_texts(struct tqi_tx *tx, struct wait *w)
{
	const struct tqi_task *t = &w->task;

	copy_text(tx, t->payload, t->payload_bytes,
		  t->label_bytes <= TQ_LABEL_MAX ? t->label_bytes : 0, w->label);
	copy_text(tx, t->error, 0, t->error_bytes <= TQ_TEXT_MAX ? t->error_bytes : 0,
		  w->error_text);
}

/* 0 over, -EAGAIN not yet, or an error. */
static int look_at(struct tqi_tx *tx, struct wait *w, uint32_t i)
{
	uint32_t index;
	int r = tqi_task_find(tx, w->ids[i], &index);

	if (r < 0)
		return r;
	const struct tqi_task *task = tqi_task_at(tx, index);

	if (!tqi_state_is_final(task->state) && !(w->states >> task->state & 1))
		return -EAGAIN;
	w->index = i;
	w->task = *task;
	if (w->with_texts)
		copy_texts(tx, w);
	return 0;
}

/* Without a slot yet: is it over already?  One id, or the first few. */
static int first_look(struct tqi_tx *tx, struct wait *w)
{
	if (w->count == 1)
		return look_at(tx, w, 0);
	return -EAGAIN;
}

/* Edges, a slice in each hold; each pins its record until the waiter has read it. */
static int add_edges(struct tqi_tx *tx, struct tqi_sleeper *s, struct wait *w)
{
	for (uint32_t i = 0; i < SLICE && w->cursor < w->count; i++) {
		uint32_t index;
		int r = tqi_task_find(tx, w->ids[w->cursor], &index);

		if (r < 0)
			return r;
		if (!tqi_edge_add(tx, s->waiter, index))
			return -ENOMEM;
		w->cursor++;
	}
	return w->cursor < w->count ? -EINPROGRESS : 0;
}

/*
 * The edges count how many are final.  One that was, and has been retried before we
 * came, has spent its edge: -ERESTART, all edges anew.
 */
static int many_over(struct tqi_tx *tx, struct tqi_sleeper *s, struct wait *w)
{
	if (tqi_waiter_at(tx, s->waiter)->told < (w->any ? 1 : w->count)) {
		w->scan = 0;
		return -EAGAIN;
	}
	for (uint32_t i = 0; i < SLICE * 8; i++) {
		if (w->scan >= w->count)
			return w->any ? -ERESTART : 0;
		int r = look_at(tx, w, w->scan++);

		if (r == -EAGAIN && !w->any)
			return -ERESTART;
		if (r != -EAGAIN && (w->any || r < 0))
			return r;
	}
	return -EINPROGRESS;
}

static bool has_output(struct tqi_tx *tx, const struct wait *w)
{
	uint32_t index;

	if (tqi_task_find(tx, w->ids[0], &index) < 0 || !tqi_task_at(tx, index)->attempt)
		return false;
	const struct tqi_attempt *a = tqi_attempt_at(tx, tqi_task_at(tx, index)->attempt);
	const struct tqi_worker *worker = tqi_worker_at(tx, a->worker);

	return worker->output_bytes && tqi_load_acquire32(&worker->output_serial) == a->serial;
}

static int attempt(struct tqi_tx *tx, struct tqi_sleeper *s)
{
	struct wait *w = s->arg;

	if (w->word ? tqi_load_acquire32(w->word) != w->value : w->for_output && has_output(tx, w))
		return 0;
	if (w->for_output && !w->word) /* the worker tells nobody when it begins to write */
		s->wake_ns = tx->now_ns + OUTPUT_LOOK_NS;
	if (!s->waiter)
		return first_look(tx, w);
	if (w->cursor < w->count) {
		int r = add_edges(tx, s, w);

		if (r < 0)
			return r;
		tqi_cycle_ready(tx, s->waiter);
		if (tqi_cycle_closes(tx, s->waiter))
			return -EDEADLK;
	}
	if (w->count > 1)
		return many_over(tx, s, w);
	int r = look_at(tx, w, 0);

	/* It was final, and has been retried before we came: its edge is spent. */
	return r == -EAGAIN && tqi_waiter_at(tx, s->waiter)->told ? -ERESTART : r;
}

static uint32_t watch(struct tqi_sleeper *s, struct tqi_futex *words, uint32_t room)
{
	const struct wait *w = s->arg;

	if (!w->word || room == 0)
		return 0;
	words[0] = (struct tqi_futex){ w->word, w->value };
	return 1;
}

static int wait_until(struct tq *tq, struct wait *w, uint64_t deadline_ns, bool looks_only)
{
	struct tqi_sleeper s = {
		.interest = TQI_INTEREST_TASKS,
		.subject = w->states | (w->any ? TQI_WAIT_ANY | TQI_WAIT_ADDING : 0),
		.deadline_ns = deadline_ns,
		.wake_ns = UINT64_MAX,
		.attempt = attempt,
		.words = watch,
		.arg = w,
		.lends = w->urgent,
		.priority = w->priority,
		.on_behalf = !looks_only,
		.again = !looks_only || w->count > 1, /* else without a slot */
		.handle_intr = tqi_behalf_is_farms(tq),
	};
	int r;

	do {
		w->cursor = w->scan = 0;
		r = tqi_block_in_time(tq, &s);
		if (r == -ENOMEM)
			r = tqi_make_room(tq, 0) < 0 ? TQ_EFULL : -ENOMEM;
	} while (r == -ENOMEM || r == -ERESTART);
	return r;
}

int tqi_wait_output(struct tq *tq, uint64_t id, const struct tqi_word32 *word, uint32_t value,
		    uint64_t deadline_ns)
{
	struct wait w = {
		.ids = &id, .count = 1, .word = word, .value = value, .for_output = true
	};

	return wait_until(tq, &w, deadline_ns, false);
}

/* What was copied under the lock; the record may be gone already. */
static void give_info(struct tq *tq, const struct wait *w, uint64_t room,
		      struct tq_task_info *ret_info)
{
	struct tqi_around around = { .queue = 0 };
	struct tq_task_info info;

	tqi_info_fill(&tq->seg, tqi_id_index(w->ids[w->index]), &w->task, &around, &info);
	memcpy(info.label, w->label, sizeof(info.label));
	memcpy(info.error_text, w->error_text, sizeof(info.error_text));
	tqi_snapshot_out(ret_info, room, &info, sizeof(info));
}

/* What @opts say of @w, or an error; each default is a zero. */
static int take_opts(struct wait *w, const struct tq_wait_opts *opts)
{
	struct tq_wait_opts o;
	int r = tqi_options_in(&o, sizeof(o), sizeof(o), opts);

	if (r < 0)
		return r;
	if (o.reserved0 || (o.flags & ~(TQ_WAIT_ANY | TQ_WAIT_PRIORITY)) ||
	    o.states >> TQ_STATE_COUNT || (o.states && w->count > 1))
		return -EINVAL;
	w->any = w->count > 1 && (o.flags & TQ_WAIT_ANY);
	w->urgent = o.flags & TQ_WAIT_PRIORITY;
	w->priority = o.priority;
	w->states = o.states;
	return 0;
}

int tq_wait(struct tq *tq, const uint64_t *ids, uint32_t count, uint64_t timeout_ns,
	    const struct tq_wait_opts *opts, struct tq_task_info *ret_info)
{
	if (!tq)
		return -EINVAL;
	struct wait w = { .ids = ids, .count = count, .with_texts = ret_info };
	uint64_t room = 0;
	int r = take_opts(&w, opts);

	if (r == 0 && (!ids || count == 0 || count > WAIT_MAX || (ret_info && count > 1 && !w.any)))
		r = -EINVAL;
	if (r == 0 && ret_info)
		r = tqi_snapshot_room(ret_info, &room);
	if (r == 0)
		r = wait_until(tq, &w, tqi_deadline(tq, timeout_ns), timeout_ns == 0);
	if (r < 0)
		return r;
	if (ret_info)
		give_info(tq, &w, room, ret_info);
	if (w.states && !(w.states >> w.task.state & 1))
		return TQ_ESTATE;
	return w.any ? (int)w.index : 0;
}
