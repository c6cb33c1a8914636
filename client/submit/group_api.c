/* SPDX-License-Identifier: MIT */
/* Groups: made, steered, waited for. */
#include "client/submit/group_api.h"

#include <errno.h>
#include <string.h>

#include "client/core/current_attempt.h"
#include "client/core/options.h"
#include "client/core/sleeper.h"
#include "scheduler/graph/cycle.h"
#include "scheduler/graph/group.h"
#include "scheduler/task/group_make.h"
#include "scheduler/task/task.h"
#include "scheduler/wake/called.h"

#define WALK_SLICE 256 /* members passed over in one hold to find where a reader is */

int tqi_group_opts_in(const struct tq_group_opts *from, uint32_t flags, struct tq_group_opts *to)
{
	int r = tqi_options_in(to, sizeof(*to), sizeof(*to), from);

	if (r < 0)
		return r;
	if ((to->flags & ~flags) || to->condition > TQ_GROUP_FAIL ||
	    (to->condition && !to->completion) ||
	    (to->label && strnlen(to->label, TQ_LABEL_MAX + 1) > TQ_LABEL_MAX) ||
	    (to->completion && to->completion->full_timeout_ns))
		return -EINVAL;
	return 0;
}

struct making {
	struct tqi_group_request request;
	struct tqi_entry completion;
	struct tqi_ident owner;
	uint64_t id;
};

static int make_op(struct tqi_tx *tx, void *arg)
{
	struct making *m = arg;

	m->completion.submit.attempt = tqi_behalf_here(m->completion.tq, tx);
	tqi_entry_begin(tx, &m->completion);
	return tqi_group_make(tx, &m->request, &m->id, &m->completion.id);
}

int tq_group_new(struct tq *tq, const struct tq_group_opts *opts, uint64_t *ret_id)
{
	if (!tq || !ret_id)
		return -EINVAL;
	struct making m = { .completion = { .tq = tq }, .owner = tqi_ident_self(tq) };
	struct tq_group_opts o;
	int r = tqi_group_opts_in(opts, TQ_GROUP_DETACHED, &o);

	if (r == 0 && o.completion)
		r = tqi_entry_prepare(tq, o.completion, &m.completion);
	if (r < 0)
		return r;
	m.request = (struct tqi_group_request){
		.owner = o.flags & TQ_GROUP_DETACHED ? NULL : &m.owner,
		.label = o.label,
		.condition = o.condition,
		.completion = o.completion ? &m.completion.submit : NULL,
	};
	r = tqi_run(tq, make_op, &m);
	if (r < 0) {
		tqi_entry_cancel(&m.completion);
		return r;
	}
	if (o.completion)
		tqi_entry_end(&m.completion, 0);
	*ret_id = m.id;
	return 0;
}

static int seal_op(struct tqi_tx *tx, void *arg)
{
	return tqi_group_seal(tx, *(const uint64_t *)arg);
}

int tq_group_seal(struct tq *tq, uint64_t id)
{
	if (!tq)
		return -EINVAL;
	return tqi_run(tq, seal_op, &id);
}

static int cancel_op(struct tqi_tx *tx, void *arg)
{
	return tqi_group_cancel(tx, *(const uint64_t *)arg);
}

int tq_group_cancel(struct tq *tq, uint64_t id)
{
	if (!tq)
		return -EINVAL;
	int r = tqi_run(tq, cancel_op, &id);

	if (r == 0)
		tqi_sweep_out(tq);
	return r;
}

/* Somebody who waits for ends in a group. */
struct wait {
	uint64_t id;
	bool for_all;
	struct tqi_group group;		 /* as it was last seen, under the lock */
	bool found;
	bool queued;			 /* its slot is there, and closes no cycle */
	struct tq_group_cursor cursor;	 /* of a reader */
};

/* The record of a member that a reader has had; 0 it is gone. */
static uint32_t reader_at(struct tqi_tx *tx, const struct wait *w, uint32_t group)
{
	uint32_t task;

	if (!w->cursor.last || tqi_task_find(tx, w->cursor.last, &task) < 0)
		return 0;
	const struct tqi_task *t = tqi_task_at(tx, task);
	const struct tqi_extra *extra = t->flags & TQI_TASK_EXTRA ? tqi_task_extra(tx, t) : NULL;

	return extra && extra->group == group && extra->counted ? task : 0;
}

/* The next end; -EAGAIN none yet; -EINPROGRESS it takes another hold to find it. */
static int find_next(struct tqi_tx *tx, struct wait *w, uint32_t group)
{
	const struct tqi_group *g = tqi_group_at(tx, group);
	uint32_t last = reader_at(tx, w, group);
	uint32_t task = last ? tqi_task_extra(tx, tqi_task_at(tx, last))->group_next : g->first;

	for (uint32_t i = 0; task && !tx->corrupt; i++) {
		const struct tqi_task *t = tqi_task_at(tx, task);
		const struct tqi_extra *extra = tqi_task_extra(tx, t);
		bool passed = extra->counted && extra->group_order <= w->cursor.number;

		if (!extra->counted)
			break;
		w->cursor.last = tqi_id_make(task, t->generation);
		if (!passed) {
			w->cursor.number = extra->group_order;
			return 0;
		}
		if (i == WALK_SLICE)
			return -EINPROGRESS;
		task = extra->group_next;
	}
	return g->state == TQI_GROUP_COMPLETE ? -ENODATA : -EAGAIN;
}

/* Its slot says how many ends it has seen: more of them wake it. */
static int attempt(struct tqi_tx *tx, struct tqi_sleeper *s)
{
	struct wait *w = s->arg;
	uint32_t index;
	int r = tqi_group_find(tx, w->id, &index);

	if (r < 0)
		return r;
	s->subject = index;
	w->group = *tqi_group_at(tx, index);
	w->found = true;
	if (w->for_all)
		r = w->group.state == TQI_GROUP_COMPLETE ? 0 : -EAGAIN;
	else
		r = find_next(tx, w, index);
	if (r != -EAGAIN || !s->waiter)
		return r;
	tqi_called_seen(tx, s->waiter, w->for_all ? TQI_GROUP_LAST : w->group.ends);
	if (!w->queued && tqi_cycle_closes(tx, s->waiter))
		return -EDEADLK;
	w->queued = true;
	return r;
}

static int wait_for(struct tq *tq, struct wait *w, uint64_t timeout_ns)
{
	struct tqi_sleeper s = {
		.interest = TQI_INTEREST_GROUP,
		.deadline_ns = timeout_ns ? tqi_deadline(tq, timeout_ns) : 0,
		.wake_ns = UINT64_MAX,
		.attempt = attempt,
		.arg = w,
		.on_behalf = timeout_ns != 0,
		.again = timeout_ns != 0,
		.handle_intr = tqi_behalf_is_farms(tq),
	};
	int r;

	do {
		w->queued = false;
		r = tqi_block_in_time(tq, &s);
		if (r == -ENOMEM)
			r = tqi_make_room(tq, 0) < 0 ? TQ_EFULL : -ENOMEM;
	} while (r == -ENOMEM);
	return r;
}

int tq_group_wait(struct tq *tq, uint64_t id, uint64_t timeout_ns, struct tq_group_info *ret_info)
{
	if (!tq)
		return -EINVAL;
	struct wait w = { .id = id, .for_all = true };
	uint64_t room = 0;
	int r = ret_info ? tqi_snapshot_room(ret_info, &room) : 0;

	if (r == 0)
		r = wait_for(tq, &w, timeout_ns);
	if (ret_info && w.found && (r == 0 || r == -ETIMEDOUT)) {
		struct tq_group_info info;

		tqi_group_fill(&w.group, tqi_id_index(id), &info);
		tqi_snapshot_out(ret_info, room, &info, sizeof(info));
	}
	return r;
}

int tq_group_next(struct tq *tq, uint64_t id, struct tq_group_cursor *cursor, uint64_t timeout_ns,
		  struct tq_task_info *ret_info)
{
	if (!tq || !cursor)
		return -EINVAL;
	struct wait w = { .id = id, .cursor = *cursor };
	int r;

	do {
		r = wait_for(tq, &w, timeout_ns);
		if (r == 0 && ret_info)
			r = tq_task_info(tq, w.cursor.last, ret_info);
	} while (r == TQ_EGONE && w.cursor.number > cursor->number &&
		 w.found); /* freed since it was found: the group is complete */
	if (r == 0)
		*cursor = w.cursor;
	return r;
}
