/* SPDX-License-Identifier: MIT */
/* D2, D4, D5: groups and graphs: what counts, who waits, and what is undone. */
#include <errno.h>
#include <time.h>

#include "tests/unit/fixture.h"

#include "scheduler/graph/group.h"
#include "scheduler/rebuild/rebuild.h"
#include "scheduler/order/worth.h"
#include "scheduler/task/group_make.h"
#include "scheduler/wake/called.h"

enum {
	GROUPS = 100,	    /* more than one hold closes */
	DEPENDENCIES = 300, /* more than one hold gives up */
	WAITED = 20,	    /* complete groups: more than one look passes over */
};

static const struct tqi_ident builder = { .pid = 9, .tid = 9, .start = 9 };

struct made {
	uint64_t id;
	uint64_t completion;
};

static struct made make(struct fixture *f, struct tqi_group_request request,
			const struct tq_task_spec *completion)
{
	struct tqi_submit s = { .spec = completion };
	struct made made;

	request.completion = completion ? &s : NULL;
	begin(f);
	assert_int_equal(tqi_group_make(&f->tx, &request, &made.id, &made.completion), 0);
	commit(f);
	return made;
}

static const struct tq_task_spec after = { .queue = "default", .kind = "exec", .label = "after" };

static struct made make_with(struct fixture *f, uint32_t condition)
{
	return make(f, (struct tqi_group_request){ .condition = condition }, &after);
}

static uint64_t member(struct fixture *f, uint64_t group)
{
	return submit(f, (struct tq_task_spec){ .group = group });
}

static int seal(struct fixture *f, uint64_t group)
{
	begin(f);
	int r = tqi_group_seal(&f->tx, group);

	commit(f);
	return r;
}

static int cancel(struct fixture *f, uint64_t group)
{
	begin(f);
	int r = tqi_group_cancel(&f->tx, group);

	commit(f);
	return r;
}

static struct tqi_group *group_of(struct fixture *f, uint64_t id)
{
	return tqi_table_peek(&f->box.seg, TQI_GROUPS, tqi_id_index(id));
}

/* Slices until nothing is left; returns how many it took. */
static uint32_t sweep(struct fixture *f)
{
	uint32_t slices = 0;

	for (bool more = true; more; slices++) {
		begin(f);
		more = tqi_sweep_slice(&f->tx);
		commit(f);
		assert_sound(f);
	}
	return slices;
}

static void run(struct one_worker *s, uint64_t id, struct tqi_verdict verdict)
{
	assert_int_equal(claim(&s->f, s->worker, &s->c), id);
	assert_int_equal(end(&s->f, s->worker, &s->c, verdict), 0);
}

static void rebuild(struct fixture *f)
{
	void *scratch = calloc(1, tqi_check_scratch_bytes(&f->box.seg.geometry));

	begin(f);
	assert_int_equal(tqi_rebuild(&f->tx, scratch), 0);
	commit(f);
	free(scratch);
	assert_sound(f);
}

static void close_sound(struct one_worker *s)
{
	assert_sound(&s->f);
	close_fixture(&s->f);
}

/* It starts after the last end, and only when no more can come. */
static void test_d5_completion_after_the_last(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	struct made g = make_with(&s.f, 0);
	uint64_t a = member(&s.f, g.id), b = member(&s.f, g.id);

	run(&s, a, DONE);
	run(&s, b, FATAL);
	assert_int_equal(task_of(&s.f, g.completion)->state, TQ_BLOCKED);
	assert_sound(&s.f);
	uint64_t c = member(&s.f, g.id);

	assert_int_equal(seal(&s.f, g.id), 0);
	assert_int_equal(seal(&s.f, g.id), 0);
	assert_int_equal(group_of(&s.f, g.id)->state, TQI_GROUP_SEALED);
	assert_sound(&s.f);
	run(&s, c, DONE);
	assert_int_equal(group_of(&s.f, g.id)->state, TQI_GROUP_COMPLETE);
	assert_int_equal(seal(&s.f, g.id), TQ_ESTATE);
	assert_int_equal(group_of(&s.f, g.id)->states[TQ_DONE], 2);
	assert_int_equal(group_of(&s.f, g.id)->states[TQ_FAILED], 1);
	run(&s, g.completion, DONE);
	sweep(&s.f);
	close_sound(&s);
}

static void test_d5_conditions(void **state)
{
	/* How two members end, and whether the completion task starts. */
	static const struct {
		uint32_t condition;
		bool ok[2], starts;
	} rows[] = {
		{ TQ_GROUP_ANY, { true, false }, true },  { TQ_GROUP_ANY, { true, true }, true },
		{ TQ_GROUP_OK, { true, true }, true },	  { TQ_GROUP_OK, { true, false }, false },
		{ TQ_GROUP_OK, { false, false }, false }, { TQ_GROUP_FAIL, { true, true }, false },
		{ TQ_GROUP_FAIL, { true, false }, true }, { TQ_GROUP_FAIL, { false, true }, true },
	};
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct made g = make_with(&s.f, rows[i].condition);
		uint64_t ids[2] = { member(&s.f, g.id), member(&s.f, g.id) };
		uint64_t culprit = rows[i].condition == TQ_GROUP_FAIL ? ids[1]
				   : rows[i].ok[0]		      ? ids[1]
								      : ids[0];

		for (uint32_t k = 0; k < 2; k++)
			run(&s, ids[k], rows[i].ok[k] ? DONE : FATAL);
		assert_int_equal(seal(&s.f, g.id), 0);
		sweep(&s.f);
		const struct tqi_task *t = task_of(&s.f, g.completion);

		assert_int_equal(t->state, rows[i].starts ? TQ_READY : TQ_CANCELLED);
		if (rows[i].starts) {
			run(&s, g.completion, DONE);
			continue;
		}
		assert_int_equal(t->cause, TQ_CAUSE_DEPENDENCY);
		begin(&s.f);
		assert_int_equal(tqi_task_extra(&s.f.tx, t)->culprit, culprit);
		commit(&s.f);
	}
	close_sound(&s);
}

/* Nothing is all of nothing, and no failure. */
static void test_d5_empty(void **state)
{
	static const uint32_t ends[] = { TQ_READY, TQ_READY, TQ_CANCELLED };
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	for (uint32_t condition = TQ_GROUP_ANY; condition <= TQ_GROUP_FAIL; condition++) {
		struct made g = make_with(&s.f, condition);

		assert_int_equal(seal(&s.f, g.id), 0);
		assert_int_equal(group_of(&s.f, g.id)->state, TQI_GROUP_COMPLETE);
		sweep(&s.f);
		assert_int_equal(task_of(&s.f, g.completion)->state, ends[condition - 1]);
	}
	close_sound(&s);
}

/* A retry is a new life: counted once, waited for by nobody. */
static void test_d5_retry_counts_once(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	struct made g = make_with(&s.f, TQ_GROUP_OK);
	uint64_t a = member(&s.f, g.id), b = member(&s.f, g.id);

	run(&s, a, FATAL);
	begin(&s.f);
	assert_int_equal(tqi_steer_retry(&s.f.tx, a), 0);
	commit(&s.f);
	assert_sound(&s.f);
	run(&s, a, DONE); /* it has kept its place */
	run(&s, b, DONE);
	assert_int_equal(group_of(&s.f, g.id)->ends, 2);
	assert_int_equal(group_of(&s.f, g.id)->states[TQ_FAILED], 1);
	assert_sound(&s.f);
	assert_int_equal(seal(&s.f, g.id), 0);
	sweep(&s.f);
	assert_int_equal(task_of(&s.f, g.completion)->state, TQ_CANCELLED);
	close_sound(&s);
}

static void test_d5_refused(void **state)
{
	const struct tq_task_spec spec = { .queue = "default", .kind = "exec" };
	struct one_worker s;
	uint64_t id;

	(void)state;
	open_one_worker(&s);
	struct made g = make(&s.f, (struct tqi_group_request){ .condition = 0 }, NULL);
	struct tq_task_spec in = spec;
	struct tqi_submit sub = { .spec = &in };
	const uint64_t never = g.id + (1ull << TQI_INDEX_BITS);

	assert_int_equal(seal(&s.f, never), -ENOENT);
	assert_int_equal(cancel(&s.f, tqi_id_make(77, 1)), -ENOENT);
	in.group = never;
	begin(&s.f);
	assert_int_equal(tqi_submit(&s.f.tx, &sub, &id), -ENOENT);
	tqi_tx_abort(&s.f.tx);
	assert_int_equal(seal(&s.f, g.id), 0);
	in.group = g.id;
	begin(&s.f);
	assert_int_equal(tqi_submit(&s.f.tx, &sub, &id), TQ_ESTATE);
	tqi_tx_abort(&s.f.tx);
	assert_int_equal(cancel(&s.f, g.id), TQ_ESTATE);
	sweep(&s.f);
	s.f.box.system.now_ns += 3601 * SECOND;
	begin(&s.f);
	assert_int_equal(tqi_group_retire(&s.f.tx, 4, false), 1);
	commit(&s.f);
	assert_int_equal(seal(&s.f, g.id), TQ_EGONE);
	close_sound(&s);
}

/* A4: members stay as long as the group is not complete, whatever their own flags say. */
static void test_a4_members_are_pinned(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	struct made g = make(&s.f, (struct tqi_group_request){ .condition = 0 }, NULL);
	uint64_t kept = member(&s.f, g.id);
	uint64_t forgotten =
		submit(&s.f, (struct tq_task_spec){ .group = g.id, .flags = TQ_TASK_FORGET });

	run(&s, kept, DONE);
	run(&s, forgotten, DONE);
	begin(&s.f);
	assert_int_equal(tqi_task_evict(&s.f.tx, 8), 0);
	commit(&s.f);
	assert_int_equal(task_of(&s.f, forgotten)->state, TQ_DONE);
	assert_int_equal(seal(&s.f, g.id), 0);
	sweep(&s.f);
	assert_int_equal(task_of(&s.f, forgotten)->state, TQ_FREE);
	begin(&s.f);
	assert_int_equal(tqi_task_evict(&s.f.tx, 8), 1);
	commit(&s.f);
	assert_sound(&s.f);
	assert_int_equal(group_of(&s.f, g.id)->first, 0);
	assert_int_equal(group_of(&s.f, g.id)->members, 2);
	assert_int_equal(group_of(&s.f, g.id)->states[TQ_DONE], 2);
	close_sound(&s);
}

static uint64_t member_after(struct fixture *f, uint64_t group, uint64_t on)
{
	const struct tq_dependency dependency = { .id = on };

	return submit(
		f, (struct tq_task_spec){ .group = group, .after = &dependency, .after_count = 1 });
}

static int forget(struct fixture *f, uint64_t id)
{
	begin(f);
	int r = tqi_steer_forget(&f->tx, id);

	commit(f);
	return r;
}

static const struct tqi_extra *extra_of(struct fixture *f, uint64_t id)
{
	return tqi_task_extra(&f->tx, task_of(f, id));
}

/* D2, A4: a member knows afterwards what it came after, until its record goes. */
static void test_d2_members_keep_dependencies(void **state)
{
	struct one_worker s;
	uint64_t ids[4];

	(void)state;
	open_one_worker(&s);
	struct made g = make(&s.f, (struct tqi_group_request){ .condition = 0 }, NULL);

	ids[0] = member(&s.f, g.id);
	for (uint32_t i = 1; i < 4; i++)
		ids[i] = member_after(&s.f, g.id, ids[i - 1]);
	for (uint32_t i = 0; i < 4; i++)
		run(&s, ids[i], DONE);
	assert_int_equal(seal(&s.f, g.id), 0);
	sweep(&s.f);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(extra_of(&s.f, ids[i])->after_count, i > 0);
		assert_int_equal(task_of(&s.f, ids[i])->pins, i < 3);
	}
	rebuild(&s.f);
	assert_int_equal(extra_of(&s.f, ids[3])->after_count, 1);
	assert_int_equal(forget(&s.f, ids[2]), 0); /* goes with its dependant */
	assert_int_equal(task_of(&s.f, ids[2])->state, TQ_DONE);
	assert_int_equal(forget(&s.f, ids[3]), 0);
	sweep(&s.f);
	assert_int_equal(task_of(&s.f, ids[3])->state, TQ_FREE);
	assert_int_equal(task_of(&s.f, ids[2])->state, TQ_FREE);
	begin(&s.f);
	assert_int_equal(tqi_task_evict(&s.f.tx, 8), 2); /* the last one first */
	commit(&s.f);
	close_sound(&s);
}

/* D4: decided at once, carried out in slices; a running one is asked, its success counts. */
static void test_d4_cancel(void **state)
{
	struct one_worker s;
	struct tqi_claimed c;

	(void)state;
	open_one_worker(&s);
	struct made g = make_with(&s.f, TQ_GROUP_ANY);
	uint64_t ids[40];

	for (uint32_t i = 0; i < 40; i++)
		ids[i] = member(&s.f, g.id);
	assert_int_equal(claim(&s.f, s.worker, &s.c), ids[0]);
	assert_int_equal(claim(&s.f, s.worker, &c), ids[1]);
	assert_int_equal(cancel(&s.f, g.id), 0);
	begin(&s.f);
	assert_true(tqi_task_is_condemned(&s.f.tx, task_of(&s.f, ids[39])));
	commit(&s.f);
	assert_int_equal(claim(&s.f, s.worker, &(struct tqi_claimed){ 0 }), 0);
	assert_true(sweep(&s.f) > 2);
	assert_int_equal(task_of(&s.f, ids[39])->state, TQ_CANCELLED);
	assert_true(task_of(&s.f, ids[0])->flags & TQI_TASK_CANCEL);
	assert_int_equal(end(&s.f, s.worker, &s.c, DONE), 0);
	assert_int_equal(end(&s.f, s.worker, &c, FAIL), 0);
	assert_int_equal(task_of(&s.f, ids[0])->state, TQ_DONE);
	assert_int_equal(task_of(&s.f, ids[1])->state, TQ_CANCELLED);
	sweep(&s.f);
	assert_int_equal(group_of(&s.f, g.id)->states[TQ_CANCELLED], 39);
	run(&s, g.completion, DONE);
	close_sound(&s);
}

/* Nobody looks between the cancel and a failure: the one word counts for it, too. */
static void test_d4_cancel_before_the_walk(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	struct made g = make(&s.f, (struct tqi_group_request){ .condition = 0 }, NULL);
	uint64_t id = submit(&s.f, (struct tq_task_spec){ .group = g.id, .attempts_max = 5 });

	assert_int_equal(claim(&s.f, s.worker, &s.c), id);
	assert_int_equal(cancel(&s.f, g.id), 0);
	assert_int_equal(end(&s.f, s.worker, &s.c, FAIL), 0);
	assert_int_equal(task_of(&s.f, id)->state, TQ_CANCELLED);
	sweep(&s.f);
	close_sound(&s);
}

/* The completion task may be cancelled itself; the group completes without it. */
static void test_d5_completion_cancelled(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	struct made g = make_with(&s.f, TQ_GROUP_ANY);

	begin(&s.f);
	assert_int_equal(tqi_steer_cancel(&s.f.tx, g.completion), 0);
	commit(&s.f);
	assert_sound(&s.f);
	assert_int_equal(seal(&s.f, g.id), 0);
	sweep(&s.f);
	assert_int_equal(task_of(&s.f, g.completion)->state, TQ_CANCELLED);
	close_sound(&s);
}

/* A completion task may be a member: a chain of groups, each by its own slice. */
static void test_d5_chain_of_groups(void **state)
{
	struct one_worker s;
	uint64_t group, ids[30];

	(void)state;
	open_one_worker(&s);
	group = make(&s.f, (struct tqi_group_request){ .condition = 0 }, NULL).id;
	for (uint32_t i = 0; i < 30; i++) {
		const struct tq_task_spec inner = { .queue = "default",
						    .kind = "exec",
						    .group = group };
		struct made g = make(&s.f,
				     (struct tqi_group_request){
					     .condition = i < 29 ? TQ_GROUP_OK : TQ_GROUP_FAIL },
				     &inner);

		assert_int_equal(seal(&s.f, group), 0);
		ids[i] = g.completion;
		group = g.id;
	}
	assert_int_equal(seal(&s.f, group), 0);
	assert_true(sweep(&s.f) >= 30);
	for (uint32_t i = 0; i < 30; i++)
		assert_int_equal(task_of(&s.f, ids[i])->state, TQ_CANCELLED);
	close_sound(&s);
}

/* A completion task that a dependency refuses at once ends before its group, as by a cancel. */
static void test_d5_completion_refused_at_once(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t failed = submit(&s.f, (struct tq_task_spec){ 0 });
	const struct tq_dependency on = { .id = failed };
	struct tq_task_spec refused = after;

	refused.after = &on;
	refused.after_count = 1;
	run(&s, failed, FATAL);
	struct made g = make(&s.f, (struct tqi_group_request){ 0 }, &refused);

	assert_int_equal(task_of(&s.f, g.completion)->state, TQ_CANCELLED);
	assert_int_equal(group_of(&s.f, g.id)->completion_id, g.completion);
	assert_int_equal(group_of(&s.f, g.id)->completion, 0);
	assert_sound(&s.f);
	uint64_t a = member(&s.f, g.id);

	assert_int_equal(seal(&s.f, g.id), 0);
	run(&s, a, DONE);
	assert_int_equal(group_of(&s.f, g.id)->state, TQI_GROUP_COMPLETE);
	sweep(&s.f);
	close_sound(&s);
}

/* Graphs. */

static uint64_t shut_member(struct fixture *f, uint64_t graph, struct tq_task_spec spec)
{
	struct tqi_submit s = { .spec = &spec, .shut = true };
	uint64_t id;

	spec.queue = "default";
	spec.kind = "exec";
	begin(f);
	assert_int_equal(tqi_graph_find(&f->tx, graph, &s.group), 0);
	assert_int_equal(tqi_submit(&f->tx, &s, &id), 0);
	commit(f);
	return id;
}

static uint64_t build(struct fixture *f)
{
	return make(f, (struct tqi_group_request){ .owner = &builder, .building = true }, NULL).id;
}

static void publish(struct fixture *f, uint64_t graph)
{
	uint64_t completion;

	begin(f);
	assert_int_equal(tqi_graph_publish(&f->tx, graph, NULL, &completion), 0);
	commit(f);
}

/* All or none, by one store; who meets one before the walk has come by makes it real. */
static void test_d2_published_at_once(void **state)
{
	struct one_worker s;
	uint32_t index;

	(void)state;
	open_one_worker(&s);
	uint64_t graph = build(&s.f), ids[40];

	for (uint32_t i = 0; i < 40; i++)
		ids[i] = shut_member(&s.f, graph, (struct tq_task_spec){ .deadline_ns = SECOND });
	assert_sound(&s.f);
	begin(&s.f);
	assert_int_equal(tqi_task_find(&s.f.tx, ids[7], &index), -ENOENT);
	assert_int_equal(tqi_group_find(&s.f.tx, graph, &index), -ENOENT);
	assert_int_equal(tqi_group_seal(&s.f.tx, graph), -ENOENT);
	commit(&s.f);
	assert_int_equal(claim(&s.f, s.worker, &s.c), 0);
	const struct tqi_stream *stream = tqi_table_peek(&s.f.box.seg, TQI_STREAMS, 1);

	assert_int_equal(stream->submitted, 0);
	assert_int_equal(stream->depth[TQ_BLOCKED], 0);
	publish(&s.f, graph);
	assert_sound(&s.f);
	begin(&s.f);
	assert_int_equal(tqi_task_find(&s.f.tx, ids[39], &index), 0);
	commit(&s.f);
	assert_sound(&s.f);
	assert_int_equal(claim(&s.f, s.worker, &s.c), ids[39]);
	assert_true(sweep(&s.f) > 2);
	assert_int_equal(stream->submitted, 40);
	assert_int_equal(stream->depth[TQ_READY], 39);
	assert_int_equal(stream->depth[TQ_FREE], 0);
	assert_int_equal(claim(&s.f, s.worker, &s.c), ids[0]);
	close_sound(&s);
}

/* Its builder dies, or gives it up: nothing is left of it. */
static void test_d2_nothing_is_left(void **state)
{
	for (uint32_t dead = 0; dead < 2; dead++) {
		struct one_worker s;
		struct tqi_group_suspect suspects[TQI_GROUP_SUSPECTS];

		(void)state;
		open_one_worker(&s);
		uint64_t graph = build(&s.f), id = 0;

		for (uint32_t i = 0; i < 40; i++)
			id = shut_member(&s.f, graph,
					 (struct tq_task_spec){ .delay_ns = SECOND,
								.fair_key = i % 2 ? "a" : NULL });
		begin(&s.f);
		assert_int_equal(tqi_group_suspects(&s.f.tx, suspects), 1);
		assert_int_equal(suspects[0].owner.pid, builder.pid);
		if (dead)
			tqi_group_orphaned(&s.f.tx, &suspects[0]);
		else
			assert_int_equal(tqi_graph_drop(&s.f.tx, graph), 0);
		commit(&s.f);
		assert_sound(&s.f);
		begin(&s.f);
		assert_int_equal(tqi_graph_find(&s.f.tx, graph, &(uint32_t){ 0 }), TQ_EGONE);
		tqi_group_orphaned(&s.f.tx, &suspects[0]); /* again: it is on its way */
		commit(&s.f);
		assert_true(sweep(&s.f) > 2);
		assert_int_equal(task_of(&s.f, id)->state, TQ_FREE);
		assert_int_equal(group_of(&s.f, graph)->state, TQI_GROUP_FREE);
		begin(&s.f);
		assert_int_equal(tqi_root(&s.f.tx)->unfinished, 0);
		assert_int_equal(s.f.tx.core->tables[TQI_TASKS].live, 0);
		commit(&s.f);
		const struct tqi_stream *stream = tqi_table_peek(&s.f.box.seg, TQI_STREAMS, 1);

		assert_int_equal(stream->submitted, 0);
		close_sound(&s);
	}
}

/* The same of a graph, and of a completion task that is a member of another group. */
static void test_d2_completion_refused_at_once(void **state)
{
	struct one_worker s;
	uint64_t completion;

	(void)state;
	open_one_worker(&s);
	uint64_t failed = submit(&s.f, (struct tq_task_spec){ 0 });
	const struct tq_dependency on = { .id = failed };
	struct tq_task_spec refused = after;
	struct tqi_submit submission = { .spec = &refused };

	refused.after = &on;
	refused.after_count = 1;
	refused.group = make(&s.f, (struct tqi_group_request){ 0 }, NULL).id;
	run(&s, failed, FATAL);
	uint64_t graph = build(&s.f), id = shut_member(&s.f, graph, (struct tq_task_spec){ 0 });

	begin(&s.f);
	assert_int_equal(tqi_graph_publish(&s.f.tx, graph, &submission, &completion), 0);
	commit(&s.f);
	assert_int_equal(task_of(&s.f, completion)->state, TQ_CANCELLED);
	sweep(&s.f);
	run(&s, id, DONE);
	sweep(&s.f);
	assert_int_equal(group_of(&s.f, graph)->state, TQI_GROUP_COMPLETE);
	close_sound(&s);
}

static struct tq_task_spec waits_for(const struct tq_dependency *on, uint32_t count)
{
	return (struct tq_task_spec){ .after = on, .after_count = count, .priority = 100 };
}

/* What a shut member waits for fails, and more than one: it is the first one's, when it is shown. */
static void test_d1_refused_while_shut(void **state)
{
	struct one_worker s;
	struct tq_dependency on[4] = { { 0 } };

	(void)state;
	open_one_worker(&s);
	for (uint32_t i = 0; i < 4; i++)
		on[i].id = submit(&s.f, (struct tq_task_spec){ 0 });
	uint64_t graph = build(&s.f), id = shut_member(&s.f, graph, waits_for(on, 4));

	run(&s, on[0].id, FATAL);
	assert_sound(&s.f);
	run(&s, on[1].id, FATAL);
	uint64_t late = shut_member(&s.f, graph, waits_for(on, 1));

	assert_sound(&s.f);
	rebuild(&s.f);
	publish(&s.f, graph);
	run(&s, on[2].id, FATAL); /* before the walk has come by */
	assert_sound(&s.f);
	sweep(&s.f);
	begin(&s.f);
	assert_int_equal(tqi_task_extra(&s.f.tx, task_of(&s.f, id))->culprit, on[0].id);
	assert_int_equal(tqi_task_extra(&s.f.tx, task_of(&s.f, late))->culprit, on[0].id);
	commit(&s.f);
	assert_int_equal(task_of(&s.f, id)->state, TQ_CANCELLED);
	assert_int_equal(task_of(&s.f, late)->cause, TQ_CAUSE_DEPENDENCY);
	assert_int_equal(group_of(&s.f, graph)->state, TQI_GROUP_COMPLETE);
	close_sound(&s);
}

/* Nor does a cancel of the graph, before the walk has come by, take that back. */
static void test_d4_cancel_of_refused_while_shut(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	const struct tq_dependency on = { .id = submit(&s.f, (struct tq_task_spec){ 0 }) };
	uint64_t graph = build(&s.f), id = shut_member(&s.f, graph, waits_for(&on, 1));
	uint64_t other = shut_member(&s.f, graph, (struct tq_task_spec){ 0 });

	run(&s, on.id, FATAL);
	publish(&s.f, graph);
	assert_int_equal(cancel(&s.f, graph), 0);
	sweep(&s.f);
	assert_int_equal(task_of(&s.f, id)->cause, TQ_CAUSE_DEPENDENCY);
	assert_int_equal(task_of(&s.f, other)->cause, TQ_CAUSE_CANCELLED);
	close_sound(&s);
}

/* A shut member that has been refused lends nothing, when what refused it lives again. */
static void test_b7_refused_while_shut(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	const struct tq_dependency on = { .id = submit(&s.f, (struct tq_task_spec){ 0 }) };
	uint64_t graph = build(&s.f), id = shut_member(&s.f, graph, waits_for(&on, 1));

	sweep(&s.f);
	begin(&s.f);
	assert_int_equal(tqi_worth_of(&s.f.tx, task_of(&s.f, on.id)).priority, 100);
	commit(&s.f);
	run(&s, on.id, FATAL);
	begin(&s.f);
	assert_int_equal(tqi_steer_retry(&s.f.tx, on.id), 0);
	commit(&s.f);
	sweep(&s.f);
	begin(&s.f);
	assert_int_equal(tqi_worth_of(&s.f.tx, task_of(&s.f, on.id)).priority, 0);
	commit(&s.f);
	publish(&s.f, graph);
	sweep(&s.f);
	assert_int_equal(task_of(&s.f, id)->state, TQ_CANCELLED);
	close_sound(&s);
}

/* One with more dependencies than a hold gives up is undone in slices, each of which is sound. */
static void test_d2_undone_in_slices(void **state)
{
	struct one_worker s;

	(void)state;
	open_fixture(&s.f, DEPENDENCIES + 10);
	uint64_t graph = build(&s.f), ids[DEPENDENCIES];

	for (uint32_t i = 0; i < DEPENDENCIES; i++)
		ids[i] = shut_member(&s.f, graph, (struct tq_task_spec){ 0 });
	uint32_t last = tqi_id_index(shut_member(&s.f, graph, (struct tq_task_spec){ 0 }));

	for (uint32_t i = 0; i < DEPENDENCIES; i++) {
		begin(&s.f);
		assert_int_equal(tqi_graph_depend(&s.f.tx, last, tqi_id_index(ids[i]), TQ_AFTER_OK),
				 0);
		commit(&s.f);
	}
	begin(&s.f);
	assert_int_equal(tqi_graph_drop(&s.f.tx, graph), 0);
	commit(&s.f);
	sweep(&s.f);
	assert_int_equal(group_of(&s.f, graph)->state, TQI_GROUP_FREE);
	close_sound(&s);
}

/* A purge is about what was there; a graph that comes later is not, though it was begun before. */
static void test_d2_purge_spares_what_is_built(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	for (uint32_t late = 0; late < 2; late++) {
		uint64_t graph = build(&s.f);
		uint64_t id = shut_member(&s.f, graph, (struct tq_task_spec){ 0 });

		if (late)
			publish(&s.f, graph);
		begin(&s.f);
		uint32_t queue = tqi_queue_find(&s.f.tx, "default");

		tqi_queue_purge(&s.f.tx, queue);
		commit(&s.f);
		sweep(&s.f);
		assert_int_equal(task_of(&s.f, id)->state, late ? TQ_CANCELLED : TQ_BLOCKED);
		if (!late) {
			publish(&s.f, graph);
			sweep(&s.f);
			run(&s, id, DONE);
		}
		const struct tqi_queue *q = tqi_table_peek(&s.f.box.seg, TQI_QUEUES, queue);

		assert_int_equal(q->waiting, 0);
	}
	close_sound(&s);
}

/* An API group whose creator dies is cancelled; a sealed one, or a detached one, is not. */
static void test_d5_owner_dies(void **state)
{
	struct tqi_group_suspect suspects[TQI_GROUP_SUSPECTS];
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	const struct tqi_group_request owned = { .owner = &builder };
	uint64_t open = make(&s.f, owned, NULL).id, sealed = make(&s.f, owned, NULL).id;
	uint64_t detached = make(&s.f, (struct tqi_group_request){ .owner = NULL }, NULL).id;
	uint64_t a = member(&s.f, open), b = member(&s.f, sealed), c = member(&s.f, detached);

	assert_int_equal(seal(&s.f, sealed), 0);
	begin(&s.f);
	assert_int_equal(tqi_group_suspects(&s.f.tx, suspects), 1);
	tqi_group_orphaned(&s.f.tx, &suspects[0]);
	assert_int_equal(tqi_group_suspects(&s.f.tx, suspects), 0);
	commit(&s.f);
	sweep(&s.f);
	assert_int_equal(task_of(&s.f, a)->state, TQ_CANCELLED);
	assert_int_equal(group_of(&s.f, open)->state, TQI_GROUP_COMPLETE);
	run(&s, b, DONE);
	run(&s, c, DONE);
	assert_int_equal(group_of(&s.f, detached)->state, TQI_GROUP_OPEN);
	close_sound(&s);
}

static uint32_t wait_for(struct fixture *f, uint64_t id)
{
	static const struct tqi_ident self = { .pid = 7, .tid = 7, .start = 7 };
	bool full;
	uint32_t w = tqi_sleep_enter(&f->tx, &self, TQI_INTEREST_GROUP, tqi_id_index(id), &full);

	tqi_called_seen(&f->tx, w, TQI_GROUP_LAST);
	tqi_sleep_again(&f->tx, w, UINT64_MAX);
	return w;
}

/* Somebody waits for it: it is woken, and the record stays until it was read. */
static void test_d5_waited(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t id = make(&s.f, (struct tqi_group_request){ .condition = 0 }, NULL).id;

	begin(&s.f);
	uint32_t w = wait_for(&s.f, id);

	commit(&s.f);
	const struct tqi_waiter *slot = tqi_table_peek(&s.f.box.seg, TQI_WAITERS, w);
	uint64_t m = member(&s.f, id);

	run(&s, m, DONE);
	assert_int_equal(slot->state, TQI_WAITER_LISTED);
	assert_int_equal(seal(&s.f, id), 0);
	assert_int_equal(slot->state, TQI_WAITER_TRANSIT);
	sweep(&s.f);
	begin(&s.f);
	assert_int_equal(tqi_group_retire(&s.f.tx, 4, true), 0);
	tqi_sleep_leave(&s.f.tx, w);
	commit(&s.f);
	assert_sound(&s.f);
	begin(&s.f);
	assert_int_equal(tqi_group_retire(&s.f.tx, 4, true), 1);
	commit(&s.f);
	close_sound(&s);
}

#define NOWHERE 0x7fffffffu /* a slot that nobody could look at */
#define OTHERS 40	    /* who wait for other things than for what comes */

static bool is_popped(struct fixture *f, uint32_t w)
{
	return sleeper_of(f, w)->state == TQI_WAITER_TRANSIT;
}

static uint32_t wait_until(struct fixture *f, uint64_t id, uint32_t ends)
{
	begin(f);
	uint32_t w = wait_for(f, id);

	tqi_called_seen(&f->tx, w, ends);
	commit(f);
	return w;
}

/* Their lists lead nowhere, or where they led. */
static void lead(struct fixture *f, const uint32_t *w, bool nowhere)
{
	for (uint32_t i = 0; i < OTHERS; i++) {
		sleeper_of(f, w[i])->peer_newer = nowhere ? NOWHERE : i + 1 < OTHERS ? w[i + 1] : 0;
		sleeper_of(f, w[i])->peer_older = nowhere ? NOWHERE : i ? w[i - 1] : 0;
	}
}

/* CA-1: an end finds those that wait for it, and meets nobody who waits for another group, or
 * for the last end; there are more of those than are popped at once. */
static void test_ends_meet_no_others(void **state)
{
	uint32_t of_other[OTHERS], of_last[OTHERS], next[2], last = 0;
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t id = make(&s.f, (struct tqi_group_request){ .condition = 0 }, NULL).id;
	uint64_t other = make(&s.f, (struct tqi_group_request){ .condition = 0 }, NULL).id;
	uint64_t m = member(&s.f, id);

	for (uint32_t i = 0; i < OTHERS; i++) {
		of_other[i] = wait_until(&s.f, other, TQI_GROUP_LAST);
		of_last[i] = wait_until(&s.f, id, TQI_GROUP_LAST);
	}
	next[0] = wait_until(&s.f, id, 0);
	assert_sound(&s.f);
	lead(&s.f, of_other, true);
	lead(&s.f, of_last, true);
	run(&s, m, DONE);
	assert_true(is_popped(&s.f, next[0]));
	lead(&s.f, of_last, false);
	next[1] = wait_until(&s.f, id, 1);
	assert_int_equal(seal(&s.f, id), 0);
	for (uint32_t i = 0; i < OTHERS; i++)
		last += is_popped(&s.f, of_last[i]);
	assert_int_equal(last, TQI_WAKE_POPS);
	for (uint32_t n = last + is_popped(&s.f, next[1]); n < OTHERS + 1; n++) {
		begin(&s.f);
		assert_true(tqi_wake_any(&s.f.tx));
		commit(&s.f);
	}
	begin(&s.f);
	assert_false(tqi_wake_any(&s.f.tx));
	commit(&s.f);
	for (uint32_t i = 0; i < OTHERS; i++) {
		assert_true(is_popped(&s.f, of_last[i]));
		assert_false(is_popped(&s.f, of_other[i]));
	}
	assert_true(is_popped(&s.f, next[1]));
	lead(&s.f, of_other, false);
	close_sound(&s);
}

static uint32_t retire(struct fixture *f, uint32_t count, bool evict)
{
	begin(f);
	uint32_t n = tqi_group_retire(&f->tx, count, evict);

	commit(f);
	assert_sound(f);
	return n;
}

/* Complete ones with waiters that do not come, and then as many that nobody waits for. */
static void make_complete(struct fixture *f, uint32_t waited, uint32_t others)
{
	for (uint32_t i = 0; i < waited + others; i++) {
		uint64_t id = make(f, (struct tqi_group_request){ .condition = 0 }, NULL).id;

		if (i < waited) {
			begin(f);
			wait_for(f, id);
			commit(f);
		}
		assert_int_equal(seal(f, id), 0);
	}
	sweep(f);
}

/* A4: more stopped waiters than a look passes over keep nothing but their own groups. */
static void test_a4_stopped_waiters_keep_their_own(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	make_complete(&s.f, WAITED, 3);
	assert_int_equal(retire(&s.f, 4, false), 0);
	s.f.box.system.now_ns += 3601 * SECOND;
	uint32_t freed = 0;

	for (uint32_t looks = 0; looks < 4; looks++)
		freed += retire(&s.f, 4, false);
	assert_int_equal(freed, 3);
	close_sound(&s);
}

/* A4: they make no room, but do not hide those that can. */
static void test_a4_stopped_waiters_hide_no_room(void **state)
{
	const struct tqi_group_request request = { .condition = 0 };
	struct one_worker s;
	uint64_t id, none;

	(void)state;
	open_one_worker(&s);
	make_complete(&s.f, WAITED, 1);
	s.f.box.seg.geometry.tables[TQI_GROUPS].max =
		tqi_segment_core(&s.f.box.seg)->tables[TQI_GROUPS].count;
	make(&s.f, request, NULL);
	assert_sound(&s.f);
	begin(&s.f);
	assert_int_equal(tqi_group_make(&s.f.tx, &request, &id, &none), TQ_EFULL);
	tqi_tx_abort(&s.f.tx);
	close_sound(&s);
}

/* A repair counts all again, in the order in which they ended. */
static void test_h6_rebuild(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	struct made g = make_with(&s.f, TQ_GROUP_ANY);
	uint64_t ids[9], graph = build(&s.f);

	for (uint32_t i = 0; i < 9; i++)
		ids[i] = member(&s.f, g.id);
	for (uint32_t i = 0; i < 8; i++)
		shut_member(&s.f, graph, (struct tq_task_spec){ 0 });
	for (uint32_t i = 9; i-- > 5;) {
		begin(&s.f);
		assert_int_equal(tqi_steer_cancel(&s.f.tx, ids[i]), 0);
		commit(&s.f);
	}
	struct tqi_group *group = group_of(&s.f, g.id);

	group->first = group->unfinished = 3;
	group->states[TQ_DONE] = 7;
	group->completion = 0;
	rebuild(&s.f);
	assert_int_equal(group->first, tqi_id_index(ids[8]));
	assert_int_equal(group->ended_last, tqi_id_index(ids[5]));
	assert_int_equal(group->unfinished, 5);
	assert_int_equal(group->completion_id, g.completion);
	for (uint32_t i = 0; i < 5; i++)
		run(&s, ids[i], DONE);
	assert_int_equal(seal(&s.f, g.id), 0);
	sweep(&s.f);
	run(&s, g.completion, DONE);
	publish(&s.f, graph);
	rebuild(&s.f);
	sweep(&s.f);
	assert_int_not_equal(claim(&s.f, s.worker, &s.c), 0);
	close_sound(&s);
}

/*
 * Anything in any order, against what a group is: members that have not ended, ends by
 * state, and a completion task that starts once, when it may.
 */

#define GROUPS 6
#define TRIED 200 /* members of a group */
#define STEPS 6000

struct expected {
	struct made made;
	uint64_t ids[TRIED];
	uint32_t count, condition;
	bool sealed, building, over;
};

struct random_world {
	struct one_worker s;
	struct expected groups[GROUPS];
	struct tqi_claimed claims[4];
	uint32_t claim_count;
	uint64_t seed;
};

static uint32_t pick(struct random_world *w, uint32_t n)
{
	return tqt_below(&w->seed, n);
}

static void renew(struct random_world *w, struct expected *e)
{
	const bool building = pick(w, 3) == 0;

	*e = (struct expected){ .condition = TQ_GROUP_ANY + pick(w, 3), .building = building };
	if (building)
		e->made.id = build(&w->s.f);
	else
		e->made = make_with(&w->s.f, e->condition);
}

/* In a graph, each may depend on an earlier one. */
static void add_member(struct random_world *w, struct expected *e)
{
	struct tq_task_spec spec = { .group = e->building ? 0 : e->made.id,
				     .flags = pick(w, 4) ? 0 : TQ_TASK_FORGET,
				     .attempts_max = 1 + pick(w, 2),
				     .delay_ns = pick(w, 5) ? 0 : SECOND,
				     .deadline_ns = pick(w, 6) ? 0 : 3 * SECOND };

	if (e->sealed || e->count == TRIED)
		return;
	uint64_t id = e->building ? shut_member(&w->s.f, e->made.id, spec) : submit(&w->s.f, spec);

	if (e->building && e->count && pick(w, 2)) {
		begin(&w->s.f);
		assert_int_equal(tqi_graph_depend(&w->s.f.tx, tqi_id_index(id),
						  tqi_id_index(e->ids[pick(w, e->count)]),
						  TQ_AFTER_OK + pick(w, 3)),
				 0);
		commit(&w->s.f);
	}
	e->ids[e->count++] = id;
}

static void finish_building(struct random_world *w, struct expected *e)
{
	begin(&w->s.f);
	if (pick(w, 3)) {
		struct tq_task_spec spec = after;
		struct tqi_submit sub = { .spec = &spec };

		assert_int_equal(
			tqi_graph_publish(&w->s.f.tx, e->made.id, &sub, &e->made.completion), 0);
		e->building = false;
		e->sealed = true;
		e->condition = TQ_GROUP_ANY; /* as build() made it */
	} else {
		assert_int_equal(tqi_graph_drop(&w->s.f.tx, e->made.id), 0);
		e->over = true;
	}
	commit(&w->s.f);
}

static void end_one(struct random_world *w)
{
	const struct tqi_verdict verdicts[] = { DONE, FAIL, FATAL, RELEASE };

	if (w->claim_count == 0)
		return;
	end(&w->s.f, w->s.worker, &w->claims[--w->claim_count], verdicts[pick(w, 4)]);
}

static void claim_one(struct random_world *w)
{
	if (w->claim_count < 4 && claim(&w->s.f, w->s.worker, &w->claims[w->claim_count]))
		w->claim_count++;
}

/* Any member, as an operator might. */
static void steer_one(struct random_world *w, struct expected *e)
{
	if (!e->count)
		return;
	uint64_t id = e->ids[pick(w, e->count)];

	begin(&w->s.f);
	int r = pick(w, 2) ? tqi_steer_cancel(&w->s.f.tx, id) : tqi_steer_retry(&w->s.f.tx, id);

	if (r < 0 && r != -ENOMEM)
		tqi_tx_abort(&w->s.f.tx);
	else
		commit(&w->s.f);
}

static void verify(struct random_world *w, const struct expected *e)
{
	const struct tqi_group *g = group_of(&w->s.f, e->made.id);
	uint32_t waits = 0;

	assert_int_equal(g->generation, tqi_id_generation(e->made.id));
	assert_int_equal(g->members, e->count);
	for (uint32_t s = TQ_FREE; s <= TQ_RUNNING; s++)
		waits += g->states[s];
	assert_int_equal(waits, g->unfinished);
	assert_true(e->building ? g->state == TQI_GROUP_BUILDING && g->unfinished == e->count
				: (g->state == TQI_GROUP_COMPLETE) ==
					  (e->sealed && g->unfinished == 0));
	const struct tqi_task *t = e->made.completion ? task_of(&w->s.f, e->made.completion) : NULL;
	bool same = t && t->generation == tqi_id_generation(e->made.completion);

	if (same && t->attempts) /* it has started: all had ended, as it wants them */
		assert_true(g->state == TQI_GROUP_COMPLETE &&
			    (g->condition == TQ_GROUP_ANY ||
			     (g->states[TQ_DONE] == g->members) == (g->condition == TQ_GROUP_OK)));
}

static void step_randomly(struct random_world *w)
{
	struct expected *e = &w->groups[pick(w, GROUPS)];
	const struct tqi_group *g = e->made.id ? group_of(&w->s.f, e->made.id) : NULL;

	if (!g || e->over ||
	    (g->state == TQI_GROUP_COMPLETE && g->work == TQI_GROUP_IDLE && pick(w, 4) == 0)) {
		renew(w, e);
		return;
	}
	switch (pick(w, 24)) {
	case 0:
		if (e->building) {
			finish_building(w, e);
		} else if (!e->sealed) {
			assert_int_equal(seal(&w->s.f, e->made.id), 0);
			e->sealed = true;
		}
		break;
	case 1:
		if (!e->building && pick(w, 3) == 0) {
			assert_true(cancel(&w->s.f, e->made.id) == 0 ||
				    g->state == TQI_GROUP_COMPLETE);
			e->sealed = true;
		}
		break;
	case 2:
	case 3:
		if (!e->building)
			steer_one(w, e);
		break;
	case 4:
		begin(&w->s.f);
		tqi_task_evict(&w->s.f.tx, 2);
		commit(&w->s.f);
		break;
	case 5:
		w->s.f.box.system.now_ns += SECOND;
		begin(&w->s.f);
		tqi_tend(&w->s.f.tx);
		commit(&w->s.f);
		break;
	case 6:
		if (w->claim_count == 0 && pick(w, 20) == 0)
			rebuild(&w->s.f);
		break;
	case 7:
	case 8:
	case 9:
		begin(&w->s.f);
		tqi_sweep_slice(&w->s.f.tx);
		commit(&w->s.f);
		break;
	case 10:
	case 11:
	case 12:
	case 13:
		claim_one(w);
		break;
	case 14:
	case 15:
	case 16:
	case 17:
		end_one(w);
		break;
	default:
		add_member(w, e);
	}
	if (!e->over)
		verify(w, e);
}

static void test_d5_anything_in_any_order(void **state)
{
	static struct random_world w;
	const char *seed = getenv("TASKQ_SEED");

	(void)state;
	memset(&w, 0, sizeof(w));
	open_fixture(&w.s.f, 4000);
	assert_true(tqt_box_grow(&w.s.f.box, 8));
	w.s.worker = add_worker(&w.s.f, "default", 0);
	w.seed = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL);
	print_message("TASKQ_SEED=%llu\n", (unsigned long long)w.seed);
	for (uint32_t i = 0; i < STEPS; i++) {
		step_randomly(&w);
		if (i % 20 == 0)
			assert_sound(&w.s.f);
	}
	sweep(&w.s.f);
	close_sound(&w.s);
}

/* Nobody can join any more: what is open is sealed, in slices, and may be complete. */
static void test_h1_shutdown_seals(void **state)
{
	struct one_worker s;
	struct made groups[GROUPS];

	(void)state;
	open_one_worker(&s);
	for (uint32_t i = 0; i < GROUPS; i++)
		groups[i] = make_with(&s.f, 0);
	uint64_t last = submit(&s.f, (struct tq_task_spec){ .group = groups[0].id, .priority = 1 });

	begin(&s.f);
	tqi_steer_shutdown(&s.f.tx, 0);
	assert_false(tqi_worker_is_idle(&s.f.tx, tqi_worker_at(&s.f.tx, s.worker)));
	commit(&s.f);
	assert_true(sweep(&s.f) > GROUPS / 64);
	assert_int_equal(group_of(&s.f, groups[0].id)->state, TQI_GROUP_SEALED);
	run(&s, last, DONE);
	sweep(&s.f);
	for (uint32_t i = 0; i < GROUPS; i++) {
		assert_int_equal(group_of(&s.f, groups[i].id)->state, TQI_GROUP_COMPLETE);
		assert_int_equal(task_of(&s.f, groups[i].completion)->state, TQ_READY);
	}
	close_sound(&s);
}

/* As by a cancel of each; after an undo they stay so, and others can be made. */
static void test_h1_shutdown_cancels(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	struct made open = make_with(&s.f, 0), sealed = make_with(&s.f, 0);

	member(&s.f, open.id);
	member(&s.f, sealed.id);
	assert_int_equal(seal(&s.f, sealed.id), 0);
	begin(&s.f);
	tqi_steer_shutdown(&s.f.tx, TQ_SHUTDOWN_CANCEL);
	commit(&s.f);
	sweep(&s.f);
	begin(&s.f);
	tqi_steer_shutdown(&s.f.tx, TQ_SHUTDOWN_UNDO);
	commit(&s.f);
	for (int i = 0; i < 2; i++) {
		const struct tqi_group *g = group_of(&s.f, i ? open.id : sealed.id);

		assert_int_equal(g->state, TQI_GROUP_COMPLETE);
		assert_int_equal(g->cancelled, 1);
	}
	make_with(&s.f, 0);
	sweep(&s.f);
	close_sound(&s);
}

/* One that stands open while the walk has not come by stays open after an undo. */
static void test_h1_undo_stops_the_walk(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	struct made g = make_with(&s.f, 0);

	begin(&s.f);
	tqi_steer_shutdown(&s.f.tx, 0);
	tqi_steer_shutdown(&s.f.tx, TQ_SHUTDOWN_UNDO);
	commit(&s.f);
	sweep(&s.f);
	assert_int_equal(group_of(&s.f, g.id)->state, TQI_GROUP_OPEN);
	close_sound(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_d5_completion_after_the_last),
		cmocka_unit_test(test_d5_conditions),
		cmocka_unit_test(test_d5_empty),
		cmocka_unit_test(test_d5_retry_counts_once),
		cmocka_unit_test(test_d5_refused),
		cmocka_unit_test(test_a4_members_are_pinned),
		cmocka_unit_test(test_d2_members_keep_dependencies),
		cmocka_unit_test(test_d4_cancel),
		cmocka_unit_test(test_d4_cancel_before_the_walk),
		cmocka_unit_test(test_d5_completion_cancelled),
		cmocka_unit_test(test_d5_chain_of_groups),
		cmocka_unit_test(test_d5_completion_refused_at_once),
		cmocka_unit_test(test_d2_published_at_once),
		cmocka_unit_test(test_d2_nothing_is_left),
		cmocka_unit_test(test_d2_completion_refused_at_once),
		cmocka_unit_test(test_d1_refused_while_shut),
		cmocka_unit_test(test_d4_cancel_of_refused_while_shut),
		cmocka_unit_test(test_b7_refused_while_shut),
		cmocka_unit_test(test_d2_undone_in_slices),
		cmocka_unit_test(test_d2_purge_spares_what_is_built),
		cmocka_unit_test(test_d5_owner_dies),
		cmocka_unit_test(test_d5_waited),
		cmocka_unit_test(test_ends_meet_no_others),
		cmocka_unit_test(test_a4_stopped_waiters_keep_their_own),
		cmocka_unit_test(test_a4_stopped_waiters_hide_no_room),
		cmocka_unit_test(test_h1_shutdown_seals),
		cmocka_unit_test(test_h1_shutdown_cancels),
		cmocka_unit_test(test_h1_undo_stops_the_walk),
		cmocka_unit_test(test_h6_rebuild),
		cmocka_unit_test(test_d5_anything_in_any_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
