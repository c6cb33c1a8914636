/* SPDX-License-Identifier: MIT */
/* The operations of the sweep on tasks that wait for the wall clock, and their preparations. */
#include "tests/crash/operations.h"

#include "client/core/sleeper.h"

#define AHEAD_NS (50 * TQT_SECOND_NS)

static struct tq_task_spec spec_at(const struct tqt_world *w, uint64_t from_now)
{
	return (struct tq_task_spec){ .size = sizeof(struct tq_task_spec),
				      .kind = "k",
				      .label = "label",
				      .priority = 2000, /* before all others */
				      .at_ns = w->system.now_ns + w->system.wall_offset_ns +
					       from_now };
}

/* More than one slice of what is due takes. */
void tqt_prepare_appointments(struct tqt_world *w)
{
	for (uint32_t i = 0; i < 10; i++) {
		const struct tq_task_spec spec = spec_at(w, AHEAD_NS - i);

		w->ids[w->id_count++] = tqt_submit(w, &spec);
	}
	if (!w->worker)
		tqt_serve(w, 0);
}

void tqt_prepare_appointed(struct tqt_world *w)
{
	const struct tq_task_spec spec = spec_at(w, AHEAD_NS);

	w->ids[w->id_count++] = tqt_submit(w, &spec);
}

void tqt_prepare_missed(struct tqt_world *w)
{
	tqt_prepare_appointed(w);
	tqt_must(tq_task_steer(w->other, w->ids[0], TQ_TASK_ACTION_CANCEL), "cancel");
}

void tqt_run_submit_at(struct tqt_world *w)
{
	const struct tq_task_spec spec = spec_at(w, AHEAD_NS);
	uint64_t id;

	w->result = tq_submit(w->tq, &spec, &id);
}

/* Its payload is written before the lock is taken, the time under it. */
void tqt_run_submit_at_large(struct tqt_world *w)
{
	struct tq_task_spec spec = spec_at(w, AHEAD_NS);
	uint64_t id;

	spec.payload = tqt_large;
	spec.payload_bytes = TQT_LARGE_BYTES;
	w->result = tq_submit(w->tq, &spec, &id);
}

/* The clock is set forward. */
void tqt_run_keep_appointments(struct tqt_world *w)
{
	w->system.wall_offset_ns += AHEAD_NS;
	tqi_keep(w->tq);
}

void tqt_run_claim_at(struct tqt_world *w)
{
	w->system.wall_offset_ns += AHEAD_NS;
	tqt_run_claim(w);
}

void tqt_run_cancel_at(struct tqt_world *w)
{
	w->result = tq_task_steer(w->tq, w->ids[0], TQ_TASK_ACTION_CANCEL);
}

void tqt_run_retry_at(struct tqt_world *w)
{
	w->result = tq_task_steer(w->tq, w->ids[0], TQ_TASK_ACTION_RETRY);
}

void tqt_run_update_at(struct tqt_world *w)
{
	const struct tq_task_update u = { .size = sizeof(u),
					  .fields = TQ_UPDATE_DELAY,
					  .delay_ns = TQT_LONG_NS };

	w->result = tq_task_update(w->tq, w->ids[0], &u);
}

static void appoint(struct tqt_world *w, uint64_t from_now)
{
	const struct tq_task_update u = { .size = sizeof(u),
					  .fields = TQ_UPDATE_AT,
					  .at_ns = w->system.now_ns + w->system.wall_offset_ns +
						   from_now };

	w->result = tq_task_update(w->tq, w->ids[0], &u);
}

/* One without rare settings, which gets another block for them. */
void tqt_run_update_to_at(struct tqt_world *w)
{
	appoint(w, AHEAD_NS);
}

void tqt_run_update_at_to_at(struct tqt_world *w)
{
	appoint(w, 2 * AHEAD_NS);
}

/* It is ready at once. */
void tqt_run_update_at_to_past(struct tqt_world *w)
{
	appoint(w, 0);
}

void tqt_run_move_at(struct tqt_world *w)
{
	const struct tq_task_update u = { .size = sizeof(u),
					  .fields = TQ_UPDATE_PRIORITY,
					  .priority = -2000 };

	w->result = tq_task_update(w->tq, w->ids[0], &u);
}
