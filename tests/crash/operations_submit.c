/* SPDX-License-Identifier: MIT */
/* Submits that are swept. */
#include "shm/extent.h"
#include "tests/crash/operations.h"

static void submit(struct tqt_world *w, struct tq_task_spec spec)
{
	uint64_t id;

	spec.size = sizeof(spec);
	w->result = tq_submit(w->tq, &spec, &id);
}

void tqt_run_submit(struct tqt_world *w)
{
	submit(w, (struct tq_task_spec){
			  .kind = "k", .label = "new", .payload = "x", .payload_bytes = 1 });
}

void tqt_run_submit_names(struct tqt_world *w)
{
	submit(w, (struct tq_task_spec){ .queue = "new", .kind = "new", .priority = 5 });
}

/* The name of a queue is the first that its index has no bucket for. */
void tqt_run_submit_bucket(struct tqt_world *w)
{
	tqt_run_submit_names(w);
}

void tqt_run_submit_delayed(struct tqt_world *w)
{
	submit(w, (struct tq_task_spec){ .kind = "k", .delay_ns = TQT_SECOND_NS });
}

void tqt_run_submit_held(struct tqt_world *w)
{
	submit(w, (struct tq_task_spec){ .kind = "k", .flags = TQ_TASK_HOLD });
}

void tqt_run_submit_large(struct tqt_world *w)
{
	submit(w, (struct tq_task_spec){
			  .kind = "k", .payload = tqt_large, .payload_bytes = TQT_LARGE_BYTES });
}

void tqt_run_submit_run(struct tqt_world *w)
{
	submit(w, (struct tq_task_spec){
			  .kind = "k", .payload = tqt_large, .payload_bytes = sizeof(tqt_large) });
}

static void make_room(struct tqt_world *w)
{
	tqt_must(tq_task_steer(w->other, w->ids[0], TQ_TASK_ACTION_CANCEL), "cancel");
}

void tqt_run_submit_waiting(struct tqt_world *w)
{
	tqt_meanwhile(w, make_room);
	submit(w, (struct tq_task_spec){ .kind = "k", .full_timeout_ns = TQT_LONG_NS });
}

static void growth_ends(struct tqt_world *w)
{
	struct tqi_tx tx;

	tqt_must(tqi_hold_begin(w->other, &tx), "hold");
	tqi_extent_grow_end(&tx, w->ids[0], true);
	tqt_must(tqi_hold_end(w->other, &tx, 0), "grow");
}

void tqt_run_submit_growing(struct tqt_world *w)
{
	tqt_meanwhile(w, growth_ends);
	tqt_run_submit(w);
	tqt_must(w->result, "submit while another process grows");
}

void tqt_run_submit_batch(struct tqt_world *w)
{
	struct tq_task_spec specs[4];
	uint64_t ids[4];

	for (int i = 0; i < 4; i++)
		specs[i] = (struct tq_task_spec){ .size = sizeof(specs[i]),
						  .kind = "k",
						  .payload = tqt_large,
						  .payload_bytes = i == 2 ? TQT_LARGE_BYTES : 8 };
	w->result = tq_submit_many(w->tq, specs, 4, ids);
}

/* A queue that takes one. */
void tqt_prepare_bounded(struct tqt_world *w)
{
	const struct tq_queue_opts opts = { .size = sizeof(opts), .depth_max = 1 };

	tqt_must(tq_queue_set(w->other, "bounded", &opts), "bounded");
}

/* The second of a transaction is refused, and the first is made again (BA-2). */
void tqt_run_submit_batch_refused(struct tqt_world *w)
{
	struct tq_task_spec specs[2];

	for (int i = 0; i < 2; i++)
		specs[i] = (struct tq_task_spec){ .size = sizeof(specs[i]),
						  .queue = "bounded",
						  .kind = "k",
						  .payload = tqt_large,
						  .payload_bytes = 8 };
	w->result = tq_submit_many(w->tq, specs, 2, NULL);
}
