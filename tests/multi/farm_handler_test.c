/* SPDX-License-Identifier: MIT */
/* Handlers: results, errors, and being replaced while they are used. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/farm/handler.h"
#include "farm_box.h"

static int reply(struct tq_run *run, void *arg)
{
	const struct tq_claim *claim = tq_run_claim(run);
	char text[256];
	int n = snprintf(text, sizeof(text), "%s %s %s %.*s", (const char *)arg, claim->kind,
			 claim->queue, (int)claim->payload_bytes, (const char *)claim->payload);

	return tq_run_result(run, text, (uint64_t)n);
}

static int fail_for_good(struct tq_run *run, void *arg)
{
	tq_run_error(run, arg);
	return TQ_RUN_FATAL;
}

static int fail_with_errno(struct tq_run *run, void *arg)
{
	(void)run;
	(void)arg;
	return -EIO;
}

/* C3: numbers that a handler may return by mistake, each for a kind of its own. */
static const struct {
	const char *kind;
	int number;
	const char *cause;
} numbers[] = {
	{ "exit", 77, "error:77" },
	{ "one", 1, "error:1" },
	{ "state", TQ_DONE, "error:5" },
	{ "answer", TQ_ANSWER_DONE, "error:2" },
	{ "verdict", TQ_VERDICT_DONE, "error:201" },
	{ "fatal-verdict", TQ_VERDICT_FATAL, "error:203" },
};
#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static int give_number(struct tq_run *run, void *arg)
{
	const int *number = arg;

	(void)run;
	return *number;
}

static void number_handlers(struct tq *tq)
{
	for (unsigned i = 0; i < NUMBERS; i++)
		if (tq_handler_set(tq, numbers[i].kind, give_number,
				   (void *)(uintptr_t)&numbers[i].number) < 0)
			_exit(FARM_FAILED);
}

/* Replaces itself and brings a new kind while it runs; a handler's thread may do that. */
static void *replace(void *arg)
{
	struct tq *tq = arg;
	static char second[] = "second";

	return tq_handler_set(tq, "self", reply, second) < 0 ||
			       tq_handler_set(tq, "new", reply, second) < 0
		       ? NULL
		       : tq;
}

static int replace_self(struct tq_run *run, void *arg)
{
	pthread_t thread;
	void *done = NULL;

	if (pthread_create(&thread, NULL, replace, arg) || pthread_join(thread, &done) || !done)
		return TQ_RUN_FATAL;
	return tq_run_result(run, "first", 5);
}

static void all_handlers(struct tq *tq)
{
	static char first[] = "first", text[] = "no hope";

	if (tq_handler_set(tq, "reply", reply, first) < 0 ||
	    tq_handler_set(tq, "fatal", fail_for_good, text) < 0 ||
	    tq_handler_set(tq, "errno", fail_with_errno, NULL) < 0 ||
	    tq_handler_set(tq, "self", replace_self, tq) < 0)
		_exit(FARM_FAILED);
}

static void f3_handler_gets_its_claim_and_gives_a_result(void **state)
{
	struct farm_box *box = *state;
	const struct tq_task_spec spec = { .payload = "abc", .payload_bytes = 3, .queue = "other" };
	const char *queues[] = { "default", "other" };

	box->opts.queues = queues;
	box->opts.queue_count = 2;
	box->handlers = all_handlers;
	farm_start(box);
	uint64_t id = submit_kind(box, "reply", &spec);
	struct tq_task_info info = wait_final(box, id);

	assert_int_equal(info.state, TQ_DONE);
	assert_string_equal(result_of(box, id), "first reply other abc");
	assert_int_equal(farm_stop(box), 0);
}

static void f3_handler_results_are_mapped(void **state)
{
	struct farm_box *box = *state;
	const struct tq_task_spec thrice = { .attempts_max = 3, .backoff_ns = 1 };

	box->handlers = all_handlers;
	farm_start(box);
	struct tq_task_info info = wait_final(box, submit_kind(box, "fatal", &thrice));

	assert_int_equal(info.state, TQ_FAILED);
	assert_cause(&info, "error");
	assert_int_equal(info.attempt, 1);
	assert_string_equal(info.error_text, "no hope");
	info = wait_final(box, submit_kind(box, "errno", &thrice));
	assert_int_equal(info.state, TQ_FAILED);
	assert_int_equal(info.attempt, 3);
	assert_int_equal(info.cause_arg, -EIO);
	assert_string_equal(info.error_text, tq_strerror(-EIO));
	assert_int_equal(farm_stop(box), 0);
}

static void number_of_a_handler_is_kept(void **state)
{
	struct farm_box *box = *state;
	const struct tq_task_spec twice = { .attempts_max = 2, .backoff_ns = 1 };

	box->handlers = number_handlers;
	farm_start(box);
	for (unsigned i = 0; i < NUMBERS; i++) {
		struct tq_task_info info =
			wait_final(box, submit_kind(box, numbers[i].kind, &twice));

		assert_int_equal(info.state, TQ_FAILED);
		assert_int_equal(info.attempt, 2); /* not for good at once */
		assert_int_equal(info.cause_arg, numbers[i].number);
		assert_cause(&info, numbers[i].cause);
	}
	assert_int_equal(farm_stop(box), 0);
}

static void f3_handler_is_replaced_while_it_runs(void **state)
{
	struct farm_box *box = *state;

	box->handlers = all_handlers;
	farm_start(box);
	uint64_t id = submit_kind(box, "self", NULL);

	wait_final(box, id);
	assert_string_equal(result_of(box, id), "first"); /* the one that ran went on */
	id = submit_kind(box, "self", NULL);
	wait_final(box, id);
	assert_string_equal(result_of(box, id), "second self default ");
	id = submit_kind(box, "new", NULL); /* the worker now serves it */
	wait_final(box, id);
	assert_string_equal(result_of(box, id), "second new default ");
	assert_int_equal(farm_stop(box), 0);
}

static void f3_kind_without_handler_waits(void **state)
{
	struct farm_box *box = *state;
	struct tq_task_info info = { .size = sizeof(info) };

	box->handlers = all_handlers;
	farm_start(box);
	uint64_t id = submit_kind(box, "unheard-of", NULL);

	wait_final(box, submit_kind(box, "reply", NULL));
	assert_int_equal(tq_task_info(box->tq, id, &info), 0);
	assert_int_equal(info.state, TQ_READY);
	assert_int_equal(info.attempt, 0);
	assert_int_equal(farm_stop(box), 0);
}

static void f3_set_refuses_nonsense(void **state)
{
	struct farm_box *box = *state;

	assert_int_equal(tq_handler_set(box->tq, "exec", reply, NULL), -EINVAL);
	assert_int_equal(tq_handler_set(box->tq, "bad name", reply, NULL), -EINVAL);
	assert_int_equal(tq_handler_set(box->tq, "absent", NULL, NULL), -ENOENT);
	assert_int_equal(tq_handler_set(box->tq, "present", reply, NULL), 0);
	assert_int_equal(tq_handler_set(box->tq, "present", NULL, NULL), 0);
	assert_int_equal(tq_handler_set(box->tq, "present", NULL, NULL), -ENOENT);
}

#define READERS 2
#define CHANGES 2000

struct race {
	struct tq *tq;
	struct tqi_word32 least; /* handlers older than this may not be found any more */
	struct tqi_word32 done;
	struct tqi_word32 stale;
};

static void *look_up(void *arg)
{
	struct race *race = arg;

	while (!tqi_load_acquire32(&race->done)) {
		uint32_t least = tqi_load_acquire32(&race->least);
		struct tqi_handler handler;

		if (!tqi_handler_find(race->tq, "raced", &handler) ||
		    (uint32_t)(uintptr_t)handler.arg < least)
			tqi_add_release32(&race->stale, 1);
	}
	return NULL;
}

static void f3_no_lookup_finds_a_replaced_handler(void **state)
{
	struct farm_box *box = *state;
	struct race race = { .tq = box->tq };
	pthread_t threads[READERS];

	assert_int_equal(tq_handler_set(box->tq, "raced", reply, NULL), 0);
	for (int i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, look_up, &race), 0);
	for (uint32_t i = 1; i <= CHANGES; i++) {
		assert_int_equal(tq_handler_set(box->tq, "raced", reply, (void *)(uintptr_t)i), 0);
		tqi_store_release32(&race.least, i);
	}
	tqi_store_release32(&race.done, 1);
	for (int i = 0; i < READERS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(tqi_load_acquire32(&race.stale), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, farm_box_setup, farm_box_teardown)
	const struct CMUnitTest tests[] = {
		TEST(f3_handler_gets_its_claim_and_gives_a_result),
		TEST(f3_handler_results_are_mapped),
		{ "fault.C3: a number that a handler returns is kept, and is never done",
		  number_of_a_handler_is_kept, farm_box_setup, farm_box_teardown, NULL },
		TEST(f3_handler_is_replaced_while_it_runs),
		TEST(f3_kind_without_handler_waits),
		TEST(f3_set_refuses_nonsense),
		TEST(f3_no_lookup_finds_a_replaced_handler),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
