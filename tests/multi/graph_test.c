/* SPDX-License-Identifier: MIT */
/* D2: whole graphs, submitted at once or not at all; their builders killed. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/core/sleeper.h"
#include "review_help.h"

#define NODES 3000u /* of a graph whose builder is killed: some dozens of holds */
#define ROUNDS 25
#define LARGE 20000u /* TASKQ_GRAPH_NODES: another number */
#define MEMBERS_MAX 8

static const struct tq_task_spec task = { .size = sizeof(task), .queue = "q", .kind = "k" };

static struct tq_graph *begin(struct farm_box *box, const struct tq_group_opts *opts)
{
	struct tq_graph *graph;

	assert_int_equal(tq_graph_new(box->tq, opts, &graph), 0);
	return graph;
}

/* It waits for one other member, if there is one, with this kind. */
static uint32_t add(struct tq_graph *graph, uint32_t on, uint32_t kind)
{
	const struct tq_graph_dependency after = { .member = on, .kind = kind };
	uint32_t member;

	assert_int_equal(tq_graph_add(graph, &task, &after, on == TQ_GRAPH_NONE ? 0 : 1, &member),
			 0);
	return member;
}

static void claim_is(struct tq_worker *worker, uint64_t id, int fails)
{
	struct tq_claim claim = { .size = sizeof(claim) };

	assert_int_equal(tq_claim(worker, 0, &claim), 0);
	assert_int_equal(claim.id, id);
	if (fails)
		assert_int_equal(tq_fail(worker, &claim, 1, "bad"), 0);
	else
		assert_int_equal(tq_complete(worker, &claim, NULL, 0), 0);
}

static void nothing_to_claim(struct tq_worker *worker)
{
	struct tq_claim claim = { .size = sizeof(claim) };

	assert_int_equal(tq_claim(worker, 0, &claim), -ETIMEDOUT);
}

/* a, then b and c, then d; a waits for a task that was there before.  Added the wrong way round. */
static void d2_diamond(void **state)
{
	struct farm_box *box = *state;
	const struct tq_group_opts opts = { .size = sizeof(opts),
					    .label = "diamond",
					    .completion = &task,
					    .condition = TQ_GROUP_OK };
	struct tq_graph *graph = begin(box, &opts);
	struct tq_worker *worker = open_worker(box->tq, "q");
	const struct tq_graph_dependency on[] = { { .member = 1 }, { .member = 2 } };
	const struct tq_dependency before = { .id = submit_to(box, "q", 0) };
	struct tq_group_info info = { .size = sizeof(info) };
	struct tq_task_spec first = task;
	uint64_t ids[4], group;
	uint32_t d, b = 1, c = 2, a = 3;

	first.after = &before;
	first.after_count = 1;
	assert_int_equal(tq_graph_add(graph, &task, on, 2, &d), 0);
	assert_int_equal(d, 0);
	assert_int_equal(add(graph, a, TQ_AFTER_OK), b);
	assert_int_equal(add(graph, a, TQ_AFTER_OK), c);
	assert_int_equal(tq_graph_add(graph, &first, NULL, 0, NULL), 0);
	assert_int_equal(tq_graph_submit(graph, ids, &group), 0);
	assert_int_equal(tq_graph_submit(graph, ids, &group), TQ_ESTATE);
	tq_graph_drop(graph);
	claim_is(worker, before.id, 0);
	claim_is(worker, ids[a], 0);
	claim_is(worker, ids[b], 0);
	claim_is(worker, ids[c], 0);
	claim_is(worker, ids[d], 0);
	assert_int_equal(tq_group_wait(box->tq, group, 0, &info), 0);
	assert_string_equal(info.label, "diamond");
	assert_int_equal(info.states[TQ_DONE], 4);
	claim_is(worker, info.completion, 0);
	nothing_to_claim(worker);
	tq_worker_close(worker);
}

/* What cannot be met any more is cancelled, and so on down; the rest goes on. */
static void d2_failure(void **state)
{
	struct farm_box *box = *state;
	const struct tq_group_opts opts = { .size = sizeof(opts),
					    .completion = &task,
					    .condition = TQ_GROUP_OK };
	struct tq_graph *graph = begin(box, &opts);
	struct tq_worker *worker = open_worker(box->tq, "q");
	struct tq_group_cursor cursor = { .number = 0 };
	struct tq_task_info end = { .size = sizeof(end) };
	uint64_t ids[4], group;
	uint32_t a = add(graph, TQ_GRAPH_NONE, 0), b = add(graph, a, TQ_AFTER_OK);
	uint32_t c = add(graph, b, TQ_AFTER_OK), d = add(graph, a, TQ_AFTER_FAIL);

	assert_int_equal(tq_graph_submit(graph, ids, &group), 0);
	tq_graph_drop(graph);
	claim_is(worker, ids[a], 1);
	claim_is(worker, ids[d], 0);
	assert_int_equal(wait_final(box, ids[c]).cause_id, ids[b]);
	const uint64_t ends[] = { ids[a], ids[b] };

	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(tq_group_next(box->tq, group, &cursor, 0, &end), 0);
		assert_int_equal(end.id, ends[i]);
	}
	assert_int_equal(tq_group_next(box->tq, group, &cursor, 0, NULL), 0);
	assert_int_equal(tq_group_next(box->tq, group, &cursor, 0, NULL), 0);
	assert_int_equal(tq_group_next(box->tq, group, &cursor, PATIENCE_NS, NULL), -ENODATA);
	struct tq_group_info info = { .size = sizeof(info) };

	assert_int_equal(tq_group_info(box->tq, group, &info), 0);
	assert_int_equal(wait_final(box, info.completion).cause_id, ids[a]);
	tq_worker_close(worker);
}

/* A cycle is told by its members; an unknown one by who waits for it; then nothing is there. */
static void d2_refused(void **state)
{
	struct farm_box *box = *state;
	struct tq_graph *graph = begin(box, NULL);
	struct tq_graph_dependency on = { .member = 2 };
	struct tq_task_spec keyed = task;
	uint32_t cycle[MEMBERS_MAX];

	for (uint32_t i = 0; i < 4; i++)
		add(graph, i ? i - 1 : TQ_GRAPH_NONE, 0);
	assert_int_equal(tq_graph_after(graph, 1, &on, 1), 0);
	assert_int_equal(tq_graph_submit(graph, NULL, NULL), TQ_ECYCLE);
	assert_int_equal(tq_graph_cycle(graph, cycle, MEMBERS_MAX), 2);
	assert_true((cycle[0] == 1 && cycle[1] == 2) || (cycle[0] == 2 && cycle[1] == 1));
	tq_graph_drop(graph);
	graph = begin(box, NULL);
	add(graph, TQ_GRAPH_NONE, 0);
	add(graph, 7, 0);
	assert_int_equal(tq_graph_submit(graph, NULL, NULL), -EINVAL);
	assert_int_equal(tq_graph_failed(graph), 1);
	keyed.unique_key = "key";
	assert_int_equal(tq_graph_add(graph, &keyed, NULL, 0, NULL), -EINVAL);
	on.kind = 9;
	assert_int_equal(tq_graph_add(graph, &task, &on, 1, NULL), -EINVAL);
	assert_int_equal(tq_graph_after(graph, 9, NULL, 0), -EINVAL);
	tq_graph_drop(graph);
	tq_graph_drop(NULL);
	graph = begin(box, NULL);
	for (uint32_t i = 0; i < 70; i++)
		add(graph, i ? i - 1 : TQ_GRAPH_NONE, 0);
	const struct tq_dependency never = { .id = 1ull << 40 | 5 };

	keyed = task;
	keyed.after = &never;
	keyed.after_count = 1;
	assert_int_equal(tq_graph_add(graph, &keyed, NULL, 0, NULL), 0);
	assert_int_equal(tq_graph_submit(graph, NULL, NULL), -ENOENT);
	assert_int_equal(tq_graph_failed(graph), 70);
	tq_graph_drop(graph);
	struct tq_segment_info info = { .size = sizeof(info) };

	assert_int_equal(tq_segment_info(box->tq, &info), 0);
	assert_int_equal(info.tasks_count, 0);
}

/* Each node waits for up to three others. */
static void add_nodes(struct tq_graph *graph, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct tq_graph_dependency after[] = { { .member = i / 2 },
							     { .member = i * 2 / 3 },
							     { .member = i - 1 } };

		if (tq_graph_add(graph, &task, after, i > 2 ? 3 : 0, NULL) < 0)
			abort();
	}
}

struct building {
	struct tqi_word32 begun;
	struct tqi_word32 done;
};

static int build(struct farm_box *box, void *arg)
{
	struct building *shared = arg;
	struct tq_graph *graph;

	if (tq_graph_new(box->tq, NULL, &graph) < 0)
		return 1;
	add_nodes(graph, NODES);
	tqi_store_release32(&shared->begun, 1);
	int r = tq_graph_submit(graph, NULL, NULL);

	tqi_store_release32(&shared->done, 1);
	tq_graph_drop(graph);
	return r < 0;
}

static uint64_t unfinished(struct farm_box *box)
{
	struct tq_segment_info info = { .size = sizeof(info) };

	assert_int_equal(tq_segment_info(box->tq, &info), 0);
	return info.tasks_unfinished;
}

static uint32_t listed(struct farm_box *box)
{
	struct tq_task_info *infos = calloc(64, sizeof(*infos));
	uint64_t cursor = 0;
	uint32_t count = 0;
	int n;

	do {
		infos[0].size = sizeof(infos[0]);
		n = tq_task_list(box->tq, NULL, &cursor, infos, 64);
		count += n > 0 ? (uint32_t)n : 0;
	} while (n > 0);
	free(infos);
	return count;
}

static uint32_t scanned(struct farm_box *box)
{
	static struct tq_task_brief briefs[64];
	uint64_t cursor = 0, left = 1;
	uint32_t count = 0;

	while (left > 0) {
		briefs[0].size = sizeof(briefs[0]);
		int n = tq_task_scan(box->tq, 0, &cursor, &left, briefs, 64);

		assert_true(n >= 0);
		count += (uint32_t)n;
	}
	return count;
}

/* Killed at any moment: all of them are there, or none is and nothing is left. */
static void d2_killed_builder(void **state)
{
	struct farm_box *box = *state;
	struct building *shared = share(sizeof(*shared));
	uint32_t whole = 0, none = 0;

	srand((unsigned)time(NULL));
	for (uint32_t i = 0; i < ROUNDS; i++) {
		tqi_store_release32(&shared->begun, 0);
		pid_t pid = start_child(box, build, shared);

		wait_set(&shared->begun);
		uint64_t until = now_ns() + (uint64_t)(unsigned)rand() % (12 * MS);

		while (now_ns() < until)
			;
		kill_child(pid);
		uint32_t seen = listed(box);

		assert_true(seen == 0 || seen == NODES); /* nobody has rescued it yet */
		assert_int_equal(scanned(box), seen);
		tqi_keep(box->tq);
		assert_true(unfinished(box) == seen);
		assert_int_equal(listed(box), seen);
		whole += seen != 0;
		none += seen == 0;
		if (seen) {
			assert_int_equal(tq_queue_steer(box->tq, "q", TQ_QUEUE_PURGE) >= 0, 1);
			tqi_keep(box->tq);
			for (uint64_t cursor = 0;;) {
				struct tq_task_info info = { .size = sizeof(info) };

				if (tq_task_list(box->tq, NULL, &cursor, &info, 1) <= 0)
					break;
				assert_int_equal(info.state, TQ_CANCELLED);
				assert_int_equal(
					tq_task_steer(box->tq, info.id, TQ_TASK_ACTION_FORGET), 0);
			}
			tqi_keep(box->tq);
		}
		assert_int_equal(tq_check(box->tq, TQ_CHECK_EXACT, NULL, NULL), 0);
	}
	print_message("%u whole, %u without a trace\n", whole, none);
	give_up(shared, sizeof(*shared));
}

/* An open group of a process that dies is cancelled. */
static int open_group(struct farm_box *box, void *arg)
{
	struct tq_task_spec member = task;
	uint64_t *id = arg;

	return tq_group_new(box->tq, NULL, id) < 0 || ((member.group = *id), 0) ||
	       tq_submit(box->tq, &member, &id[1]) < 0;
}

static void d5_owner_dies(void **state)
{
	struct farm_box *box = *state;
	uint64_t *ids = share(2 * sizeof(*ids));

	assert_int_equal(join_child(start_child(box, open_group, ids), PATIENCE_NS), 0);
	tqi_keep(box->tq);
	assert_int_equal(state_of(box, ids[1]), TQ_CANCELLED);
	assert_int_equal(tq_group_wait(box->tq, ids[0], PATIENCE_NS, NULL), 0);
	give_up(ids, 2 * sizeof(*ids));
}

static double ms_since(uint64_t from)
{
	return (double)(now_ns() - from) / 1e6;
}

/* All of a large one run, each after those that it waits for. */
static void d2_large(void **state)
{
	struct farm_box own = *(struct farm_box *)*state, *box = &own;
	const char *text = getenv("TASKQ_GRAPH_NODES");
	uint32_t count = text ? (uint32_t)atoi(text) : LARGE, ran = 0;
	const struct tq_open_opts opts = { .size = sizeof(opts),
					   .flags = TQ_OPEN_CREATE,
					   .max_bytes = (64ull << 20) + count * 1024ull };
	char name[sizeof(box->name) + sizeof("-large")];

	snprintf(name, sizeof(name), "%.64s-large", box->name);
	assert_int_equal(tq_open(name, &opts, &box->tq), 0);
	struct tq_graph *graph = begin(box, NULL);
	struct tq_worker *worker = open_worker(box->tq, "q");
	struct tq_claim claim = { .size = sizeof(claim) };
	struct tq_segment_info info = { .size = sizeof(info) };
	uint64_t group, from = now_ns();

	add_nodes(graph, count);
	double added = ms_since(from);

	from = now_ns();
	assert_int_equal(tq_graph_submit(graph, NULL, &group), 0);
	double submitted = ms_since(from);

	tq_graph_drop(graph);
	assert_int_equal(tq_segment_info(box->tq, &info), 0);
	from = now_ns();
	while (tq_claim(worker, 0, &claim) == 0) {
		assert_int_equal(tq_complete(worker, &claim, NULL, 0), 0);
		ran++;
	}
	print_message("%u nodes: added in %.0f ms, submitted in %.0f ms, run in %.0f ms, %u MiB\n",
		      count, added, submitted, ms_since(from), (unsigned)(info.used_bytes >> 20));
	assert_int_equal(ran, count);
	assert_int_equal(tq_group_wait(box->tq, group, 0, NULL), 0);
	tq_worker_close(worker);
	tq_close(box->tq);
	assert_int_equal(tq_destroy(name, 0), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, farm_box_setup, farm_box_teardown)
	const struct CMUnitTest tests[] = {
		TEST(d2_diamond),	 TEST(d2_failure),    TEST(d2_refused),
		TEST(d2_killed_builder), TEST(d5_owner_dies), TEST(d2_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
