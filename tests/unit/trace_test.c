/* SPDX-License-Identifier: MIT */
/* The flight recorder: what is in it, what is not, and readers that are lapped (H5). */
#include "tests/unit/fixture.h"

#include <errno.h>

#include "scheduler/graph/after.h"
#include "scheduler/order/assign.h"
#include "scheduler/graph/edge.h"
#include "scheduler/task/depend.h"
#include "scheduler/task/end.h"
#include "scheduler/worker/stop.h"
#include "shm/ring.h"
#include "taskq/trace.h"
#include "tests/crash/handle.h"

#define ROOM 200

struct scene {
	struct fixture f;
	struct tq *tq;
	uint32_t worker;
	struct tqi_claimed c;
	struct tq_trace_entry entries[ROOM];
};

static void open_scene(struct scene *s)
{
	open_fixture(&s->f, 1000);
	s->tq = tqt_handle_new(&s->f.box.seg, &s->f.box.system, TQT_PID_VICTIM);
	s->worker = add_worker(&s->f, "default", 0);
}

static void close_scene(struct scene *s)
{
	tqt_handle_free(s->tq);
	close_fixture(&s->f);
}

static int read_from(struct scene *s, uint64_t *cursor, uint64_t *lost)
{
	s->entries[0].size = sizeof(s->entries[0]);
	return tq_trace_read(s->tq, cursor, s->entries, ROOM, lost);
}

static void assert_move(const struct tq_trace_entry *e, uint64_t id, uint32_t from, uint32_t to,
			uint32_t cause)
{
	assert_int_equal(e->event, TQ_TRACE_MOVE);
	assert_int_equal(e->task, id);
	assert_int_equal(e->from, from);
	assert_int_equal(e->to, to);
	assert_int_equal(e->cause, cause);
}

static void h5_a_life_is_recorded(void **state)
{
	uint64_t cursor = 0, lost = 9;
	struct scene s;

	(void)state;
	open_scene(&s);
	uint64_t id = submit(&s.f, (struct tq_task_spec){ .attempts_max = 2, .backoff_ns = 1 });

	claim(&s.f, s.worker, &s.c);
	s.f.box.system.now_ns += SECOND;
	assert_int_equal(end(&s.f, s.worker, &s.c, FAIL), 0);
	assert_int_equal(read_from(&s, &cursor, &lost), 3);
	assert_int_equal(lost, 0);
	assert_int_equal(cursor, 4);
	assert_move(&s.entries[0], id, TQ_FREE, TQ_READY, TQ_CAUSE_NONE);
	assert_move(&s.entries[1], id, TQ_READY, TQ_RUNNING, TQ_CAUSE_NONE);
	assert_int_equal(s.entries[1].worker, s.worker);
	assert_int_equal(s.entries[1].argument, 1);
	assert_move(&s.entries[2], id, TQ_RUNNING, TQ_DELAYED, TQ_CAUSE_ERROR);
	assert_int_equal(s.entries[2].number, 3);
	assert_int_equal(s.entries[2].time_ns, s.f.box.system.now_ns);
	assert_int_equal(s.entries[2].time_ns - s.entries[1].time_ns, SECOND);
	s.f.box.system.now_ns += SECOND;
	begin(&s.f);
	tqi_tend(&s.f.tx);
	commit(&s.f);
	claim(&s.f, s.worker, &s.c);
	assert_int_equal(end(&s.f, s.worker, &s.c, DONE), 0);
	assert_int_equal(read_from(&s, &cursor, &lost), 3);
	assert_move(&s.entries[0], id, TQ_DELAYED, TQ_READY, TQ_CAUSE_NONE);
	assert_int_equal(s.entries[1].argument, 2);
	assert_move(&s.entries[2], id, TQ_RUNNING, TQ_DONE, TQ_CAUSE_EXIT);
	assert_int_equal(read_from(&s, &cursor, &lost), 0);
	assert_sound(&s.f);
	close_scene(&s);
}

/* Stops, their signals, and attempts of the dead. */
static void h5_stops_and_deaths_are_recorded(void **state)
{
	static const struct tqi_death death = { .cause = TQ_CAUSE_SIGNAL, .cause_arg = 9 };
	uint64_t cursor = 0;
	struct scene s;

	(void)state;
	open_scene(&s);
	uint64_t id = submit(&s.f, (struct tq_task_spec){ .label = "" });

	claim(&s.f, s.worker, &s.c);
	begin(&s.f);
	tqi_stop_ask(&s.f.tx, s.c.attempt, TQ_CAUSE_TIMEOUT);
	assert_int_equal(tqi_stop_step(&s.f.tx, s.c.attempt), 15);
	commit(&s.f);
	begin(&s.f);
	tqi_end_by_death(&s.f.tx, s.c.attempt, &death);
	commit(&s.f);
	assert_int_equal(read_from(&s, &cursor, NULL), 6);
	assert_int_equal(s.entries[2].event, TQ_TRACE_STOP);
	assert_int_equal(s.entries[2].cause, TQ_CAUSE_TIMEOUT);
	assert_int_equal(s.entries[3].event, TQ_TRACE_SIGNAL);
	assert_int_equal(s.entries[3].argument, 15);
	assert_int_equal(s.entries[3].worker, s.worker);
	assert_int_equal(s.entries[4].event, TQ_TRACE_RECLAIM);
	assert_int_equal(s.entries[4].worker, s.worker);
	assert_move(&s.entries[5], id, TQ_RUNNING, TQ_FAILED, TQ_CAUSE_TIMEOUT);
	assert_string_equal(tq_trace_event_name(s.entries[4].event), "reclaim");
	assert_string_equal(tq_trace_event_name(99), "unknown");
	close_scene(&s);
}

static void h5_thefts_are_recorded(void **state)
{
	const struct tqi_queue_settings settings = { .batch = 4 };
	uint64_t cursor = 0;
	struct scene s;
	bool full;

	(void)state;
	open_scene(&s);
	begin(&s.f);
	assert_int_equal(
		tqi_queue_set(&s.f.tx, tqi_queue_make(&s.f.tx, "default", &full), &settings), 0);
	commit(&s.f);
	submit(&s.f, (struct tq_task_spec){ .label = "" });
	uint64_t second = submit(&s.f, (struct tq_task_spec){ .label = "" });
	uint32_t thief = add_worker(&s.f, "default", 0);
	struct tqi_worker *record = tqi_table_peek(&s.f.box.seg, TQI_WORKERS, thief);

	record->steal_max = 1;
	claim(&s.f, s.worker, &s.c);
	assert_int_equal(claim(&s.f, thief, &s.c), second);
	assert_int_equal(read_from(&s, &cursor, NULL), 5);
	assert_int_equal(s.entries[3].event, TQ_TRACE_STEAL);
	assert_int_equal(s.entries[3].task, second);
	assert_int_equal(s.entries[3].worker, thief);
	assert_int_equal(s.entries[3].argument, s.worker);
	close_scene(&s);
}

/* V4: undone by its own process, or by the next one, it was never there. */
static uint64_t submit_after(struct scene *s, uint64_t on, uint32_t kind)
{
	const struct tq_dependency after = { .id = on, .kind = kind };

	return submit(&s->f, (struct tq_task_spec){ .after = &after, .after_count = 1 });
}

static void assert_after(const struct tq_trace_entry *e, uint64_t id, uint64_t other)
{
	assert_int_equal(e->event, TQ_TRACE_AFTER);
	assert_int_equal(e->task, id);
	assert_int_equal(e->other, other);
	assert_int_equal(e->from, e->to);
	assert_int_equal(e->worker, 0);
	assert_int_equal(e->argument, 0);
}

/* Each dependency that is met, before it lets its task go; of one that was met when the
 * task came, behind that. */
static void h5_dependencies_are_recorded(void **state)
{
	uint64_t cursor = 0;
	struct scene s;

	(void)state;
	open_scene(&s);
	uint64_t first = submit(&s.f, (struct tq_task_spec){ .label = "" });
	uint64_t next = submit_after(&s, first, TQ_AFTER_OK);
	uint64_t refused = submit_after(&s, first, TQ_AFTER_FAIL);

	claim(&s.f, s.worker, &s.c);
	assert_int_equal(end(&s.f, s.worker, &s.c, DONE), 0);
	uint64_t late = submit_after(&s, first, TQ_AFTER_ANY);

	begin(&s.f);
	assert_int_equal(tqi_after_add(&s.f.tx, late, first, TQ_AFTER_OK), 0);
	commit(&s.f);
	while (conclude(&s.f, tqi_edge_tell_slice(&s.f.tx)))
		;
	const int n = read_from(&s, &cursor, NULL);
	int seen = 0;

	for (int i = 5; i < n; i++) {
		const struct tq_trace_entry *e = &s.entries[i];

		assert_int_not_equal(e->task == refused && e->event == TQ_TRACE_AFTER, 1);
		if (e->event != TQ_TRACE_AFTER)
			continue;
		assert_after(e, seen == 0 ? next : late, first);
		if (seen == 0)
			assert_move(e + 1, next, TQ_BLOCKED, TQ_READY, TQ_CAUSE_NONE);
		if (seen == 1)
			assert_move(e - 1, late, TQ_FREE, TQ_READY, TQ_CAUSE_NONE);
		seen++;
	}
	assert_int_equal(seen, 3);
	assert_sound(&s.f);
	close_scene(&s);
}

static void h5_undone_is_not_shown(void **state)
{
	uint64_t cursor = 0;
	struct scene s;

	(void)state;
	open_scene(&s);
	submit(&s.f, (struct tq_task_spec){ .label = "" });
	for (int killed = 0; killed < 2; killed++) {
		begin(&s.f);
		assert_int_equal(tqi_claim(&s.f.tx, s.worker, &s.c), 0);
		/* In the middle of it: an observer undoes what the journal says. */
		cursor = 0;
		assert_int_equal(read_from(&s, &cursor, NULL), 1);
		if (killed)
			tqi_tx_rollback(&s.f.box.seg);
		else
			tqi_tx_abort(&s.f.tx);
		cursor = 0;
		assert_int_equal(read_from(&s, &cursor, NULL), 1);
	}
	claim(&s.f, s.worker, &s.c);
	assert_int_equal(read_from(&s, &cursor, NULL), 1);
	assert_int_equal(s.entries[0].to, TQ_RUNNING);
	close_scene(&s);
}

/* V6: killed behind the commit, before the head was shown: the next look has it. */
static void h5_the_last_commit_is_shown(void **state)
{
	uint64_t cursor = 0;
	struct scene s;

	(void)state;
	open_scene(&s);
	struct tqi_core *core = tqi_segment_core(&s.f.box.seg);

	submit(&s.f, (struct tq_task_spec){ .label = "" });
	tqi_store_relaxed64(&core->ring_shown, 0);
	assert_sound(&s.f);
	assert_int_equal(read_from(&s, &cursor, NULL), 1);
	close_scene(&s);
}

/* V5: a reader that comes late gets the promised ones, and is told of the others. */
static void h5_lapped_readers_are_told(void **state)
{
	const uint64_t promised = TQI_RING_LEAST, count = 3 * promised + TQI_RING_SLACK;
	uint64_t cursor = 1, lost;
	struct scene s;

	(void)state;
	open_scene(&s);
	for (uint64_t i = 0; i < count; i++)
		submit(&s.f, (struct tq_task_spec){ .label = "" });
	assert_int_equal(read_from(&s, &cursor, &lost), promised);
	assert_int_equal(lost, count - promised);
	assert_int_equal(cursor, count + 1);
	for (uint32_t i = 0; i < promised; i++) {
		assert_int_equal(s.entries[i].number, count - promised + 1 + i);
		assert_int_equal(tqi_id_index(s.entries[i].task), s.entries[i].number);
	}
	cursor = 0; /* who asks for the oldest there is has lost nothing */
	assert_int_equal(read_from(&s, &cursor, &lost), promised);
	assert_int_equal(lost, 0);
	cursor = count; /* pages of one */
	s.entries[0].size = sizeof(s.entries[0]);
	assert_int_equal(tq_trace_read(s.tq, &cursor, s.entries, 1, &lost), 1);
	assert_int_equal(tq_trace_read(s.tq, &cursor, s.entries, 1, &lost), 0);
	close_scene(&s);
}

/* An aborted transaction writes over the oldest slots, never over the promised ones. */
static void h5_scratch_slots_are_not_promised(void **state)
{
	uint64_t cursor = 0;
	struct scene s;

	(void)state;
	open_scene(&s);
	for (uint32_t i = 0; i < TQI_RING_SLACK + 2 * TQI_RING_LEAST; i++)
		submit(&s.f, (struct tq_task_spec){ .label = "" });
	begin(&s.f);
	for (uint32_t i = 0; i < TQI_RING_SLACK; i++) {
		memset(tqi_ring_next(&s.f.tx), 0xff, TQI_RING_ENTRY_BYTES);
		tqi_ring_push(&s.f.tx);
	}
	assert_null(tqi_ring_next(&s.f.tx));
	assert_true(s.f.tx.corrupt);
	tqi_tx_abort(&s.f.tx);
	assert_int_equal(read_from(&s, &cursor, NULL), TQI_RING_LEAST);
	for (uint32_t i = 0; i < TQI_RING_LEAST; i++)
		assert_int_equal(s.entries[i].event, TQ_TRACE_MOVE);
	assert_sound(&s.f);
	close_scene(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(h5_a_life_is_recorded),
		cmocka_unit_test(h5_stops_and_deaths_are_recorded),
		cmocka_unit_test(h5_thefts_are_recorded),
		cmocka_unit_test(h5_dependencies_are_recorded),
		cmocka_unit_test(h5_undone_is_not_shown),
		cmocka_unit_test(h5_the_last_commit_is_shown),
		cmocka_unit_test(h5_lapped_readers_are_told),
		cmocka_unit_test(h5_scratch_slots_are_not_promised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
