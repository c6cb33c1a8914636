/* SPDX-License-Identifier: MIT */
/* What is wrong, in plain words, gravest first. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "errors.h"
#include "model.h"

#define HELD_LONG_NS 1000000000ull /* holds of the lock last microseconds */
#define KEPT_BYTES (512u << 10) /* of a small segment; submits leave them to those who drain it */

static void add(struct model *model, bool is_grave, const char *format, ...) PRINTF_LIKE(3, 4);
static void add(struct model *model, bool is_grave, const char *format, ...)
{
	struct trouble *trouble = &model->troubles[model->trouble_count];
	va_list args;

	if (model->trouble_count == TROUBLES_MAX)
		return;
	va_start(args, format);
	vsnprintf(trouble->text, sizeof(trouble->text), format, args);
	va_end(args);
	trouble->is_grave = is_grave;
	model->trouble_count++;
}

static void find_no_segment(struct model *model)
{
	switch (model->now.error) {
	case 0:
		if (model->now.removed)
			add(model, true,
			    "the segment was removed: this is what it was like at the "
			    "end; waiting for another of its name");
		return;
	case -ENOENT:
		add(model, true, "there is no segment \"%s\"; waiting for it to appear",
		    model->segment);
		return;
	case TQ_ECORRUPT:
		add(model, true,
		    "the segment's file is cut off or overwritten: nothing in it can "
		    "be used; `taskq destroy --force` removes it");
		return;
	case TQ_ELAYOUT:
		add(model, true,
		    "segment \"%s\" is not of this version, build or boot: use the "
		    "taskq-top that came with it",
		    model->segment);
		return;
	case -EPERM:
		add(model, true,
		    "segment \"%s\" belongs to another user, or is open to others: if "
		    "you trust whoever may write it, say --foreign",
		    model->segment);
		return;
	case -EMFILE:
	case -ENFILE:
		add(model, true,
		    "cannot look: this program, or the machine, has no file descriptors left "
		    "(%s); that says nothing of the segment",
		    tq_strerror(model->now.error));
		return;
	default:
		add(model, true, "segment \"%s\": %s", model->segment,
		    tq_strerror(model->now.error));
	}
}

static bool is_stopped(const struct tq_lock_holder *lock)
{
	return lock->state == 'T' || lock->state == 't';
}

/* One that is caught holding the lock for a moment is no trouble; the same one again,
 * with nothing committed in between, is. */
static bool is_stuck(const struct model *model, const struct sample *before)
{
	const struct tq_lock_holder *lock = &model->now.lock;

	return lock->tid && lock->held_ns >= HELD_LONG_NS && before->lock.tid == lock->tid &&
	       before->segment.transactions == model->now.segment.transactions;
}

static void find_lock(struct model *model, const struct sample *before)
{
	const struct tq_lock_holder *lock = &model->now.lock;
	const uint32_t pid = lock->pid ? lock->pid : lock->tid;
	char held[FORMAT_MAX];

	if (lock->tid && is_stopped(lock))
		add(model, true,
		    "lock held by stopped pid %u for %s: `kill -CONT %u` lets it go "
		    "on (-KILL does no harm either)",
		    pid, format_duration(lock->held_ns, held), pid);
	else if (is_stuck(model, before))
		add(model, true,
		    "lock held by pid %u (state %c) for %s: if it is stuck, "
		    "`kill -KILL %u` does no harm",
		    pid, lock->state ? (int)lock->state : '?', format_duration(lock->held_ns, held),
		    pid);
}

static const char *tasks_are(uint32_t count)
{
	return format_plural(count, "task is", "tasks are");
}

static void find_workers(struct model *model)
{
	const uint32_t waits = model->total.depth[TQ_READY], runs = model->total.depth[TQ_RUNNING];
	const bool is_halted = model->busy + model->idle == 0 && waits + runs > 0;

	if (is_halted && model->stopped == 0)
		add(model, true,
		    "no live worker: %u %s ready, %u %s running; `taskq work` starts some", waits,
		    tasks_are(waits), runs, format_plural(runs, "was", "were"));
	if (model->stopped > 0)
		add(model, is_halted,
		    "%u of the workers %s stopped (SIGSTOP or Ctrl-Z): see Workers", model->stopped,
		    format_plural(model->stopped, "is", "are"));
	if (model->dead > 0)
		add(model, false, "%u dead %s not been cleared away yet", model->dead,
		    format_plural(model->dead, "worker has", "workers have"));
}

/* Queues with the same trouble: one line, however many they are. */
struct queues {
	const char *first;
	uint32_t count, ready;
};

static void count_queue(struct queues *queues, const struct tq_queue_info *info)
{
	queues->first = queues->count++ ? queues->first : info->name;
	queues->ready += info->counters.depth[TQ_READY];
}

static void add_unserved(struct model *model, const struct queues *queues)
{
	const char *tasks = tasks_are(queues->ready);

	if (queues->count == 1)
		add(model, false, "no live worker serves queue %s: %u %s ready", queues->first,
		    queues->ready, tasks);
	else if (queues->count > 1)
		add(model, false, "no live worker serves %u queues, %s among them: %u %s ready",
		    queues->count, queues->first, queues->ready, tasks);
}

static void add_unserved_kinds(struct model *model)
{
	const struct unserved *unserved = &model->now.unserved;
	const char *tasks = tasks_are(unserved->ready);

	if (unserved->kinds == 1)
		add(model, false, "no live worker of queue %s runs kind %s: %u %s ready",
		    unserved->queue, unserved->kind, unserved->ready, tasks);
	else if (unserved->kinds > 1)
		add(model, false,
		    "no live worker runs %u kinds of their queues, %s in queue %s among them: "
		    "%u %s ready",
		    unserved->kinds, unserved->kind, unserved->queue, unserved->ready, tasks);
}

static void add_paused(struct model *model, const struct queues *queues)
{
	const char *tasks = tasks_are(queues->ready);

	if (queues->count == 1)
		add(model, false, "queue %s is paused: %u %s ready", queues->first, queues->ready,
		    tasks);
	else if (queues->count > 1)
		add(model, false, "%u queues are paused, %s among them: %u %s ready", queues->count,
		    queues->first, queues->ready, tasks);
}

static void find_queues(struct model *model)
{
	struct queues paused = { .count = 0 }, unserved = { .count = 0 };

	for (uint32_t i = 0; i < model->now.queue_count; i++) {
		const struct tq_queue_info *info = &model->now.queues[i].info;

		if (!info->counters.depth[TQ_READY])
			continue;
		if (info->flags & TQ_QUEUE_PAUSED)
			count_queue(&paused, info);
		else if (!info->workers && model->busy + model->idle > 0)
			count_queue(&unserved, info);
	}
	add_unserved(model, &unserved);
	add_unserved_kinds(model);
	add_paused(model, &paused);
}

/* Records of ended tasks are thrown out when memory is wanted: then it is short when there
 * are few of them. */
static bool is_short_of_memory(const struct tq_segment_info *info)
{
	const uint64_t ended = info->tasks_count > info->tasks_unfinished
				       ? info->tasks_count - info->tasks_unfinished
				       : 0;

	return info->used_bytes + KEPT_BYTES > info->max_bytes / 10 * 9 &&
	       ended <= info->tasks_unfinished / 10;
}

static void find_memory(struct model *model)
{
	const struct tq_segment_info *info = &model->now.segment;
	char used[FORMAT_MAX], most[FORMAT_MAX];

	if (is_short_of_memory(info))
		add(model, false,
		    "%s of %s of memory are in use, and few ended tasks can make room: submits "
		    "may be refused",
		    format_size(info->used_bytes, used), format_size(info->max_bytes, most));
	if (info->tasks_unfinished * 10 > info->tasks_max * 9)
		add(model, false, "%llu of %llu task records are taken by unfinished tasks",
		    (unsigned long long)info->tasks_unfinished,
		    (unsigned long long)info->tasks_max);
	if (info->shutting_down)
		add(model, false, "the segment is shutting down: it takes no more tasks");
}

void trouble_find(struct model *model, const struct sample *before)
{
	model->trouble_count = 0;
	find_no_segment(model);
	if (!model->now.error && !model->now.removed)
		find_lock(model, before);
	model->is_blocked = model->trouble_count > 0;
	if (model->now.error || model->now.removed)
		return;
	find_workers(model);
	find_queues(model);
	find_memory(model);
}
