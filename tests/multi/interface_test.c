/* SPDX-License-Identifier: MIT */
/* The interface as its callers see it: what is refused, and the short forms. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/multi/farm_box.h"

static const struct tq_task_spec junk = {
	.size = sizeof(junk), .kind = "exec", .payload = "junk", .payload_bytes = 4
};

/* T6 */

static struct tq_task_info info_of(struct farm_box *box, const struct tq_task_spec *spec)
{
	struct tq_task_info info = { .size = sizeof(info) };
	uint64_t id;

	assert_int_equal(tq_submit(box->tq, spec, &id), 0);
	assert_int_equal(tq_task_info(box->tq, id, &info), 0);
	return info;
}

/* Task over kind over queue over segment. */
static void kinds_have_defaults(void **state)
{
	struct farm_box *box = *state;
	const struct tq_queue_opts queue = {
		.size = sizeof(queue), .timeout_ns = 2 * S, .backoff_ns = 3 * S, .attempts_max = 4
	};
	const struct tq_kind_opts kind = { .size = sizeof(kind),
					   .timeout_ns = 5 * S,
					   .timeout_total_ns = 6 * S,
					   .backoff_cap_ns = 7 * S };
	const struct tq_task_spec silent = { .size = sizeof(silent), .queue = "q", .kind = "mail" };
	const struct tq_task_spec loud = { .size = sizeof(loud),
					   .queue = "q",
					   .kind = "mail",
					   .timeout_ns = S,
					   .timeout_total_ns = TQ_UNLIMITED };
	const struct tq_task_spec other = { .size = sizeof(other), .queue = "q", .kind = "other" };

	assert_int_equal(tq_queue_set(box->tq, "q", &queue), 0);
	const struct tq_task_info before = info_of(box, &silent);

	assert_int_equal(tq_kind_set(box->tq, "mail", &kind), 0);
	struct tq_task_info info = info_of(box, &silent);

	assert_int_equal(info.timeout_ns, 5 * S);
	assert_int_equal(info.timeout_total_ns, 6 * S);
	assert_int_equal(info.backoff_ns, 3 * S);
	assert_int_equal(info.backoff_cap_ns, 7 * S);
	assert_int_equal(info.attempts_max, 4);
	info = info_of(box, &loud);
	assert_int_equal(info.timeout_ns, S);
	assert_int_equal(info.timeout_total_ns, 0); /* none */
	info = info_of(box, &other);
	assert_int_equal(info.timeout_ns, 2 * S);
	assert_int_equal(info.timeout_total_ns, 0); /* none */
	assert_int_equal(tq_kind_clear(box->tq, "mail"), 0);
	info = info_of(box, &silent);
	assert_int_equal(info.timeout_ns, before.timeout_ns);
	assert_int_equal(info.timeout_total_ns, before.timeout_total_ns);
	assert_int_equal(info.backoff_cap_ns, before.backoff_cap_ns);
}

static void kinds_are_set_listed_and_cleared(void **state)
{
	struct farm_box *box = *state;
	struct tq_kind_opts opts = { .size = sizeof(opts), .attempts_max = 3 };
	struct tq_kind_info infos[3] = { { .size = sizeof(infos[0]) } };
	uint64_t cursor = 0;

	assert_int_equal(tq_kind_set(box->tq, "a", &opts), 0);
	opts.attempts_max = 0;
	assert_int_equal(tq_kind_set(box->tq, "a", &opts), -EINVAL);
	opts.timeout_ns = TQ_UNLIMITED;
	assert_int_equal(tq_kind_set(box->tq, "a", &opts), 0); /* and leaves the attempts */
	assert_int_equal(tq_kind_set(box->tq, "b", &opts), 0);
	assert_int_equal(tq_kind_clear(box->tq, "b"), 0);
	assert_int_equal(tq_kind_clear(box->tq, "b"), -ENOENT);
	assert_int_equal(tq_kind_clear(box->tq, "nobody"), -ENOENT);
	assert_int_equal(tq_kind_list(box->tq, &cursor, infos, 3), 1);
	assert_string_equal(infos[0].name, "a");
	assert_int_equal(infos[0].attempts_max, 3);
	assert_int_equal(infos[0].timeout_ns, TQ_UNLIMITED);
	opts.attempts_max = TQ_ATTEMPTS_MAX + 1;
	assert_int_equal(tq_kind_set(box->tq, "a", &opts), -EINVAL);
	assert_int_equal(tq_kind_set(box->tq, "no name", NULL), -EINVAL);
	assert_int_equal(tq_kind_set(box->tq, NULL, &opts), -EINVAL);
	assert_int_equal(tq_kind_clear(box->tq, NULL), -EINVAL);
}

/* C1 */

static void submit_refuses_what_is_no_command(void **state)
{
	struct farm_box *box = *state;
	const struct tq_task_spec empty = { .size = sizeof(empty), .label = "no payload" };
	const struct tq_task_spec plain = { .size = sizeof(plain),
					    .payload = "",
					    .payload_bytes = 1 };
	struct tq_task_spec older = junk;
	uint64_t id = 42;

	older.size -= 8; /* of a program that was built before its last field */
	assert_int_equal(tq_submit(box->tq, NULL, &id), -EINVAL);
	assert_int_equal(tq_submit(box->tq, &junk, &id), -EINVAL);
	assert_int_equal(tq_submit(box->tq, &empty, &id), -EINVAL);
	assert_int_equal(tq_submit(box->tq, &plain, &id), -EINVAL);
	assert_int_equal(tq_submit(box->tq, &older, &id), -EINVAL);
	assert_int_equal(id, 42);
}

/* L11 */

static void update_takes_limit_keys_as_a_submit_does(void **state)
{
	struct farm_box *box = *state;
	const struct tq_task_spec spec = { .size = sizeof(spec), .kind = "k" };
	char longer[TQ_KEY_MAX + 2];
	const char *keys[TQ_LIMITS_MAX + 1] = { "1", "2", "3", "4", "5" };
	struct tq_task_update u = { .size = sizeof(u),
				    .fields = TQ_UPDATE_LIMITS,
				    .limits = keys,
				    .limit_count = TQ_LIMITS_MAX + 1 };
	struct tq_task_info info = { .size = sizeof(info) };
	uint64_t id;

	memset(longer, 'x', sizeof(longer));
	longer[TQ_KEY_MAX + 1] = '\0';
	assert_int_equal(tq_submit(box->tq, &spec, &id), 0);
	assert_int_equal(tq_task_update(box->tq, id, &u), -EINVAL);
	u.limit_count = 1;
	keys[0] = "";
	assert_int_equal(tq_task_update(box->tq, id, &u), -EINVAL);
	keys[0] = longer;
	assert_int_equal(tq_task_update(box->tq, id, &u), -EINVAL);
	keys[0] = NULL;
	assert_int_equal(tq_task_update(box->tq, id, &u), -EINVAL);
	u.limits = NULL;
	assert_int_equal(tq_task_update(box->tq, id, &u), -EINVAL);
	u.limits = keys;
	keys[0] = longer + 1;
	assert_int_equal(tq_task_update(box->tq, id, &u), 0);
	u.fields = TQ_UPDATE_PRIORITY;
	u.size = offsetof(struct tq_task_update, limits); /* of a program that was built before */
	assert_int_equal(tq_task_update(box->tq, id, &u), 0);
	assert_int_equal(tq_task_info(box->tq, id, &info), 0);
	assert_int_equal(info.limit_count, 1);
	assert_string_equal(info.limits[0], longer + 1);
	u.fields = TQ_UPDATE_LIMITS; /* of which it knows nothing */
	assert_int_equal(tq_task_update(box->tq, id, &u), -EINVAL);
}

/* A command's bytes, each changed or left out in turn: taken if and only if it can be read. */
static void submit_takes_what_a_worker_can_read(void **state)
{
	struct farm_box *box = *state;
	const char *const argv[] = { "echo", "two words", "", NULL };
	const char *const env[] = { "NAME=value", NULL };
	const struct tq_exec exec = { .size = sizeof(exec),
				      .argv = argv,
				      .env = env,
				      .cwd = "/",
				      .output_path = "/tmp/%i",
				      .reader = 0xabc,
				      .reader_fd = 7,
				      .umask = 022,
				      .flags = TQ_EXEC_UMASK | TQ_EXEC_READER_FD };
	unsigned char whole[256], bytes[256];
	struct tq_task_spec spec = { .size = sizeof(spec), .payload = bytes };
	struct tq_exec *read;
	uint64_t count;

	assert_int_equal(tq_exec_encode(&exec, whole, sizeof(whole), &count), 0);
	for (uint64_t i = 0; i <= 2 * count; i++) {
		memcpy(bytes, whole, count);
		if (i < count)
			bytes[i] ^= i % 2 ? 0xff : 1;
		spec.payload_bytes = i <= count ? count : i - count - 1;
		int r = tq_exec_decode(bytes, spec.payload_bytes, &read);

		if (r == 0)
			free(read);
		assert_int_equal(tq_submit(box->tq, &spec, NULL), r);
	}
}

static void batches_refuse_what_is_no_command(void **state)
{
	struct farm_box *box = *state;
	const struct tq_task_spec good = { .size = sizeof(good), .kind = "k" };
	const struct tq_task_spec specs[] = { good, junk, good };
	uint64_t ids[3];

	assert_int_equal(tq_submit_many(box->tq, NULL, 1, ids), -EINVAL);
	assert_int_equal(tq_submit_many(box->tq, NULL, 0, ids), 0);
	assert_int_equal(tq_submit_many(box->tq, specs, 3, ids), 1);
	assert_int_equal(tq_submit_many(box->tq, specs + 1, 2, ids), -EINVAL);
}

static void all_who_make_tasks_refuse_what_is_no_command(void **state)
{
	struct farm_box *box = *state;
	const struct tq_group_opts after = { .size = sizeof(after), .completion = &junk };
	const struct tq_schedule_spec every = { .size = sizeof(every),
						.task = &junk,
						.every_ns = 1000000000 };
	struct tq_graph *graph;
	uint32_t node;
	uint64_t id;

	assert_int_equal(tq_graph_new(box->tq, NULL, &graph), 0);
	assert_int_equal(tq_graph_add(graph, &junk, NULL, 0, &node), -EINVAL);
	assert_int_equal(tq_graph_add(graph, NULL, NULL, 0, &node), -EINVAL);
	tq_graph_drop(graph);
	assert_int_equal(tq_graph_new(box->tq, &after, &graph), -EINVAL);
	assert_int_equal(tq_group_new(box->tq, &after, &id), -EINVAL);
	assert_int_equal(tq_schedule_create(box->tq, &every, &id), -EINVAL);
}

/* C4 */

static void a_command_is_handed_in_by_one_call(void **state)
{
	struct farm_box *box = *state;
	static char word[5000];
	const char *const argv[] = { "echo", "a", word, NULL };
	const char *const empty[] = { NULL };
	const struct tq_task_spec labelled = { .size = sizeof(labelled), .label = "its label" };
	const struct tq_task_spec other = { .size = sizeof(other), .kind = "k" };
	struct tq_task_info info;
	uint64_t id;

	farm_start(box);
	for (size_t bytes = 1; bytes < sizeof(word); bytes += sizeof(word) - 2) {
		memset(word, 'b', bytes); /* on the stack, and in memory of its own */
		assert_int_equal(tq_submit_exec(box->tq, argv, &labelled, &id), 0);
		info = wait_final(box, id);
		assert_int_equal(info.state, TQ_DONE);
		assert_string_equal(info.label, "its label");
		assert_int_equal(info.result_bytes, strlen("a \n") + bytes);
	}
	assert_int_equal(tq_submit_exec(box->tq, argv, NULL, NULL), 0);
	assert_int_equal(tq_submit_exec(box->tq, NULL, NULL, &id), -EINVAL);
	assert_int_equal(tq_submit_exec(box->tq, empty, NULL, &id), -EINVAL);
	assert_int_equal(tq_submit_exec(box->tq, argv, &other, &id), -EINVAL);
	assert_int_equal(tq_submit_exec(box->tq, argv, &junk, &id), -EINVAL);
	assert_int_equal(farm_stop(box), 0);
}

/* C5 */

static int reports(struct tq_run *run, void *arg)
{
	(void)arg;
	if (tq_run_claim(run)->checkpoint_bytes == 5 && !tq_run_stopping(run))
		return TQ_RUN_DONE;
	if (tq_run_progress(run, 42, "half-way") < 0 || tq_run_checkpoint(run, "saved", 5) < 0)
		return TQ_RUN_FATAL;
	while (!tq_run_stopping(run))
		tq_claim_wait_stop(tq_run_worker(run), tq_run_claim(run), TQ_FOREVER_NS);
	return tq_run_stopping(run) == TQ_CAUSE_TIMEOUT ? TQ_RUN_FAIL : TQ_RUN_FATAL;
}

static void reports_handler(struct tq *tq)
{
	if (tq_handler_set(tq, "reports", reports, NULL) < 0)
		_exit(FARM_FAILED);
}

static void a_handler_speaks_of_its_attempt(void **state)
{
	struct farm_box *box = *state;
	const struct tq_task_spec twice = { .attempts_max = 2,
					    .backoff_ns = 1,
					    .timeout_ns = 200000000 };

	box->handlers = reports_handler;
	farm_start(box);
	struct tq_task_info info = wait_final(box, submit_kind(box, "reports", &twice));

	assert_int_equal(info.state, TQ_DONE);
	assert_int_equal(info.attempt, 2);
	assert_int_equal(farm_stop(box), 0);
}

/* C3 */

static void a_verdict_is_no_state_and_no_result(void **state)
{
	struct farm_box *box = *state;
	static const uint32_t others[] = { 0,
					   TQ_DONE,
					   TQ_ANSWER_DONE,
					   TQ_RUN_FAIL,
					   TQ_RUN_FATAL,
					   TQ_VERDICT_DONE - 1,
					   TQ_VERDICT_RELEASE + 1 };
	const struct tq_task_spec spec = { .size = sizeof(spec), .kind = "any" };
	struct tq_worker_opts opts = { .size = sizeof(opts) };
	struct tq_verdict verdict = { .size = sizeof(verdict) };
	struct tq_task_info info = { .size = sizeof(info) };
	struct tq_claim claim = { .size = sizeof(claim) };
	struct tq_worker *worker;
	uint64_t id;

	assert_int_equal(tq_submit(box->tq, &spec, &id), 0);
	assert_int_equal(tq_worker_open(box->tq, &opts, &worker), 0);
	assert_int_equal(tq_claim(worker, 0, &claim), 0);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		verdict.kind = others[i];
		assert_int_equal(tq_end(worker, &claim, &verdict), -EINVAL);
	}
	assert_int_equal(tq_task_info(box->tq, id, &info), 0);
	assert_int_equal(info.state, TQ_RUNNING);
	verdict.kind = TQ_VERDICT_DONE;
	assert_int_equal(tq_end(worker, &claim, &verdict), 0);
	assert_null(tq_worker_close(worker));
}

int main(void)
{
#define TEST(name, f)                                                                              \
	{                                                                                          \
		name, f, farm_box_setup, farm_box_teardown, NULL                                   \
	}
	const struct CMUnitTest tests[] = {
		TEST("fault.T6: task over kind over queue over segment", kinds_have_defaults),
		TEST("fault.T6: defaults of kinds are set, listed and taken away",
		     kinds_are_set_listed_and_cleared),
		TEST("fault.C1: no spec, and no command, are refused",
		     submit_refuses_what_is_no_command),
		TEST("fault.C1: what is accepted can be read", submit_takes_what_a_worker_can_read),
		TEST("fault.C1: also in batches", batches_refuse_what_is_no_command),
		TEST("fault.C1: also in graphs, groups and schedules",
		     all_who_make_tasks_refuse_what_is_no_command),
		TEST("fault.C3: a verdict is no state and no handler's result",
		     a_verdict_is_no_state_and_no_result),
		TEST("fault.C4: a command is handed in by one call",
		     a_command_is_handed_in_by_one_call),
		TEST("fault.C5: a handler speaks of its attempt", a_handler_speaks_of_its_attempt),
		TEST("fault.L11: update takes limit keys as a submit does",
		     update_takes_limit_keys_as_a_submit_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
