/* SPDX-License-Identifier: MIT */
/* A repair, and its preparation: a little of most that it makes anew. */
#include "scheduler/record/records.h"
#include "tests/crash/operations.h"

#define NO_LANE 99

static void submit_tenant(struct tqt_world *w, const char *key)
{
	static const char *const limits[] = { "one" };
	const struct tq_task_spec spec = { .size = sizeof(spec),
					   .kind = "k",
					   .payload = "payload",
					   .payload_bytes = 7,
					   .fair_key = key,
					   .limits = limits,
					   .limit_count = 1 };

	w->ids[w->id_count++] = tqt_submit(w, &spec);
}

/* One runs, for which others wait; tenants, a limit, a group, schedules. */
void tqt_prepare_repairable(struct tqt_world *w)
{
	const struct tq_queue_opts fair = { .size = sizeof(fair), .fair = 1 };

	tqt_must(tq_queue_set(w->other, "default", &fair), "fair");
	tqt_prepare_family(w);
	tqt_prepare_limit(w);
	tqt_prepare_group(w);
	tqt_prepare_schedules(w);
	w->id_count = 0;
	submit_tenant(w, "a");
	submit_tenant(w, "b");
	submit_tenant(w, "a");
}

/* Of what is derived, a count and a link are damaged. */
void tqt_run_repair(struct tqt_world *w)
{
	struct tqi_root *root = tqi_segment_root(&w->seg);
	struct tqi_task *task = tqi_table_peek(&w->seg, TQI_TASKS, tqi_id_index(w->ids[0]));

	root->ready = 0;
	task->lane = NO_LANE;
	w->result = tq_check(w->tq, TQ_CHECK_REPAIR, NULL, NULL);
}
