/* SPDX-License-Identifier: MIT */
/* Operations that steer a task. */
#include <errno.h>

#include "scheduler/task/steer.h"
#include "tests/property/world.h"

#define MS 1000000ull

struct steering {
	uint64_t id;
	bool hold;
	bool dooms;
	struct tq_task_update update;
};

static int cancel_core(struct world *w, void *arg)
{
	const struct steering *s = arg;

	return s->dooms ? tqi_steer_cancel_dependants(&w->tx, s->id)
			: tqi_steer_cancel(&w->tx, s->id);
}

static int hold_core(struct world *w, void *arg)
{
	const struct steering *s = arg;

	return tqi_steer_hold(&w->tx, s->id, s->hold);
}

static int retry_core(struct world *w, void *arg)
{
	return tqi_steer_retry(&w->tx, ((struct steering *)arg)->id);
}

static int forget_core(struct world *w, void *arg)
{
	return tqi_steer_forget(&w->tx, ((struct steering *)arg)->id);
}

static int update_core(struct world *w, void *arg)
{
	const struct steering *s = arg;

	return tqi_steer_update(&w->tx, s->id, &s->update);
}

/* Room for what is asked of it may have been made of its own record. */
static bool is_there(struct world *w, uint32_t task, uint64_t id)
{
	return id_of(w, task) == id;
}

void op_cancel(struct world *w)
{
	uint32_t task = pick_task(w, chance(w, 2) ? TQ_RUNNING : TQ_STATE_COUNT);
	struct steering s = { .id = id_of(w, task), .dooms = chance(w, 4) };

	if (!task)
		return;
	int r = perform(w, cancel_core, &s, false);

	note(w, "cancel %u%s: %d", task, s.dooms ? " and dependants" : "", r);
	expect(w, r, is_there(w, task, s.id) ? model_cancel(w->m, task, s.dooms) : TQ_EGONE,
	       "cancel");
}

void op_hold(struct world *w)
{
	uint32_t task = pick_task(w, chance(w, 2) ? TQ_READY : TQ_STATE_COUNT);
	struct steering s = { .id = id_of(w, task), .hold = chance(w, 2) };

	if (!task)
		return;
	if (!s.hold) /* held ones are rare: look for one */
		for (uint32_t i = 0; i < w->m->task_slots && !w->m->tasks[task].held; i++)
			task = pick_task(w, TQ_STATE_COUNT);
	s.id = id_of(w, task);
	int r = perform(w, hold_core, &s, false);

	note(w, "%s %u: %d", s.hold ? "hold" : "unhold", task, r);
	expect(w, r, is_there(w, task, s.id) ? model_hold(w->m, task, s.hold) : TQ_EGONE, "hold");
}

void op_retry(struct world *w)
{
	static const uint32_t states[] = { TQ_FAILED, TQ_CANCELLED, TQ_EXPIRED, TQ_STATE_COUNT };
	uint32_t task = pick_task(w, states[below(w, 4)]);
	struct steering s = { .id = id_of(w, task) };

	if (!task)
		return;
	int r = perform(w, retry_core, &s, false);

	note(w, "retry %u: %d", task, r);
	if (r == NO_ROOM)
		return;
	expect(w, r, is_there(w, task, s.id) ? model_retry(w->m, task) : TQ_EGONE, "retry");
}

void op_forget(struct world *w)
{
	uint32_t task = pick_task(w, chance(w, 2) ? TQ_DONE : TQ_STATE_COUNT);
	struct steering s = { .id = id_of(w, task) };

	if (!task)
		return;
	int r = perform(w, forget_core, &s, false);

	note(w, "forget %u: %d", task, r);
	expect(w, r, is_there(w, task, s.id) ? model_forget(w->m, task) : TQ_EGONE, "forget");
}

void op_update(struct world *w)
{
	uint32_t task = pick_task(w, chance(w, 2) ? TQ_READY : TQ_STATE_COUNT);
	struct model_update u = { .fields = 1 + below(w, 1023),
				  .queue = 1 + below(w, MODEL_STAYING_QUEUES),
				  .priority = (int32_t)below(w, 5) * 30,
				  .delay_ns = chance(w, 4) ? 0 : some_time(w),
				  .at_ns = w->m->wall_ns + below(w, 8000) * MS - 1000 * MS,
				  .deadline_ns = chance(w, 4) ? NEVER : 1 + some_time(w),
				  .label = pattern_make(w, chance(w, 3) ? TQ_LABEL_MAX : 0),
				  .timeout_ns = chance(w, 2) ? NEVER : 1 + some_time(w),
				  .timeout_total_ns = chance(w, 2) ? NEVER : 1 + some_time(w),
				  .attempts_max = 1 + below(w, 4) };
	char label[TQ_LABEL_MAX + 1];
	struct chosen_limits limits;

	u.limits = choose_limits(w, &limits, u.weight);
	pattern_fill(u.label, label);
	label[u.label.bytes] = '\0';
	if (u.fields & TQ_UPDATE_DELAY)
		u.fields &= ~TQ_UPDATE_AT;
	struct steering s = { .id = id_of(w, task),
			      .update = { .fields = u.fields,
					  .queue = queue_name(u.queue),
					  .priority = u.priority,
					  .delay_ns = u.delay_ns,
					  .at_ns = u.at_ns,
					  .deadline_ns = u.deadline_ns,
					  .label = label,
					  .timeout_ns = u.timeout_ns,
					  .timeout_total_ns = u.timeout_total_ns,
					  .attempts_max = u.attempts_max,
					  .limits = limits.keys,
					  .limit_weights = limits.weights,
					  .limit_count = limits.count } };

	if (!task)
		return;
	int r = perform(w, update_core, &s, false);

	note(w, "update %u fields %u queue %u: %d", task, u.fields, u.queue, r);
	if (r != NO_ROOM)
		expect(w, r, is_there(w, task, s.id) ? model_update(w->m, task, &u) : TQ_EGONE,
		       "update");
}

/* Ids of freed tasks, and ids that never were. */
void op_unknown(struct world *w)
{
	uint32_t slot = 1 + below(w, w->m->task_slots);
	const struct model_task *t = &w->m->tasks[slot];
	uint64_t generation = below(w, (uint32_t)t->generation + 3);
	struct steering s = { .id = tqi_id_make(slot, generation) };
	bool ahead = slot >= w->m->task_slots || generation == 0 || generation > t->generation;

	if (!ahead && generation == t->generation && t->state != TQ_FREE)
		return;
	note(w, "forget of unknown %u-%llu", slot, (unsigned long long)generation);
	expect(w, perform(w, forget_core, &s, false),
	       !ahead && generation < t->generation ? TQ_EGONE : -ENOENT, "unknown id");
}
