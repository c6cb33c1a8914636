/* SPDX-License-Identifier: MIT */
/* A repair, and its preparation: a little of most that it makes anew. */
#include "scheduler/record/records.h"
#include "tests/crash/operations.h"

#define NO_LANE 99

/* Of what is derived, a count and a link. */
static void damage(struct tqt_world *w)
{
	struct tqi_root *root = tqi_segment_root(&w->seg);
	struct tqi_task *task = tqi_table_peek(&w->seg, TQI_TASKS, tqi_id_index(w->ids[0]));

	root->ready = 0;
	task->lane = NO_LANE;
}

/* And a journal that cannot be believed: others are refused from the beginning on. */
static void damage_journal(struct tqt_world *w)
{
	damage(w);
	tqi_segment_core(&w->seg)->undo = 1;
}

static uint64_t submit(struct tqt_world *w, struct tq_task_spec spec)
{
	static const char *const limits[] = { "one" };

	spec.size = sizeof(spec);
	spec.kind = "k";
	spec.payload = "payload";
	spec.payload_bytes = 7;
	spec.limits = limits;
	spec.limit_count = 1;
	return tqt_submit(w, &spec);
}

static void set_queue(struct tqt_world *w, const char *name, struct tq_queue_opts opts)
{
	opts.size = sizeof(opts);
	tqt_must(tq_queue_set(w->other, name, &opts), name);
}

/* One runs, for which others wait; tenants, a limit, a group, schedules. */
void tqt_prepare_repairable(struct tqt_world *w)
{
	set_queue(w, "default", (struct tq_queue_opts){ .fair = 1 });
	tqt_prepare_family(w);
	tqt_prepare_limit(w);
	tqt_prepare_group(w);
	tqt_prepare_schedules(w);
	w->id_count = 0;
	w->ids[w->id_count++] = submit(w, (struct tq_task_spec){ .fair_key = "a" });
	submit(w, (struct tq_task_spec){ .fair_key = "b" });
	submit(w, (struct tq_task_spec){ .fair_key = "a" });
	w->damage = damage_journal;
}

/* Ours runs one, and has taken another one beforehand. */
static void prepare_assigned(struct tqt_world *w)
{
	set_queue(w, "default", (struct tq_queue_opts){ .batch = 2 });
	tqt_serve(w, 0);
	tqt_fill(w, 2);
	tqt_claim(w);
}

/* It waits for the one that runs, has a key, and is in a group. */
static void prepare_dependant(struct tqt_world *w)
{
	const struct tq_dependency after = { .id = w->ids[0], .kind = TQ_AFTER_OK };
	const struct tq_group_opts opts = { .size = sizeof(opts), .flags = TQ_GROUP_DETACHED };
	struct tq_task_spec spec = { .unique_key = "key", .after = &after, .after_count = 1 };

	tqt_must(tq_group_new(w->other, &opts, &spec.group), "group");
	submit(w, spec);
}

static void prepare_schedule(struct tqt_world *w)
{
	const struct tq_task_spec run = { .size = sizeof(run), .kind = "k" };
	const struct tq_schedule_spec spec = { .size = sizeof(spec),
					       .task = &run,
					       .every_ns = TQT_LONG_NS };

	tqt_must(tq_schedule_create(w->other, &spec, NULL), "schedule");
}

/*
 * One of each, and no more: whoever repairs after a killed repair is killed as well.
 * The sleeper was woken for the task of a tenant, and has not come yet.
 */
void tqt_prepare_repairable_few(struct tqt_world *w)
{
	prepare_assigned(w);
	prepare_dependant(w);
	tqt_prepare_limit(w);
	prepare_schedule(w);
	set_queue(w, "other", (struct tq_queue_opts){ .fair = 1 });
	tqt_foreign_worker(w, TQT_PID_OTHER, 0, true);
	w->ids[0] = submit(w, (struct tq_task_spec){ .queue = "other", .fair_key = "a" });
	w->damage = damage;
}

void tqt_run_repair(struct tqt_world *w)
{
	w->result = tq_check(w->tq, TQ_CHECK_REPAIR, NULL, NULL);
}

void tqt_run_repair_few(struct tqt_world *w)
{
	tqt_run_repair(w);
}
