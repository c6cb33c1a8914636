/* SPDX-License-Identifier: MIT */
/* A7: unique keys: who has one, until when, and what a second submit gets. */
#include "tests/unit/fixture.h"

#include <errno.h>

#include "taskq/error.h"

static int keyed(struct one_worker *s, uint32_t scope, uint64_t *ret_id)
{
	return try_submit(
		&s->f, (struct tq_task_spec){ .unique_key = "key", .unique_scope = scope }, ret_id);
}

static void forget(struct one_worker *s, uint64_t id)
{
	begin(&s->f);
	assert_int_equal(tqi_steer_forget(&s->f.tx, id), 0);
	commit(&s->f);
}

static void test_queued_is_free_at_start(void **state)
{
	uint64_t first, second;
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	assert_int_equal(keyed(&s, TQ_UNIQUE_QUEUED, &first), 0);
	assert_int_equal(keyed(&s, TQ_UNIQUE_QUEUED, &second), 1);
	assert_int_equal(first, second);
	assert_int_equal(claim(&s.f, s.worker, &s.c), first);
	assert_int_equal(keyed(&s, TQ_UNIQUE_QUEUED, &second), 0);
	assert_int_not_equal(first, second);
	close_fixture(&s.f);
}

static void test_active_is_free_at_the_end(void **state)
{
	uint64_t first, second;
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	assert_int_equal(keyed(&s, 0, &first), 0); /* the default */
	assert_int_equal(claim(&s.f, s.worker, &s.c), first);
	assert_int_equal(keyed(&s, TQ_UNIQUE_ACTIVE, &second), 1);
	assert_int_equal(first, second);
	end(&s.f, s.worker, &s.c, DONE);
	assert_int_equal(keyed(&s, TQ_UNIQUE_ACTIVE, &second), 0);
	assert_int_not_equal(first, second);
	close_fixture(&s.f);
}

static void test_kept_is_free_when_the_record_goes(void **state)
{
	uint64_t first, second;
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	assert_int_equal(keyed(&s, TQ_UNIQUE_KEPT, &first), 0);
	assert_int_equal(claim(&s.f, s.worker, &s.c), first);
	end(&s.f, s.worker, &s.c, DONE);
	assert_int_equal(keyed(&s, TQ_UNIQUE_KEPT, &second), 1);
	assert_int_equal(first, second);
	forget(&s, first);
	assert_int_equal(keyed(&s, TQ_UNIQUE_KEPT, &second), 0);
	close_fixture(&s.f);
}

static int coalesce(struct one_worker *s, const char *payload, uint64_t *ret_id)
{
	return try_submit(&s->f,
			  (struct tq_task_spec){ .unique_key = "key",
						 .unique_scope = TQ_UNIQUE_COALESCE,
						 .payload = payload,
						 .payload_bytes = strlen(payload),
						 .deadline_ns = 1000 * SECOND },
			  ret_id);
}

static void assert_payload(struct one_worker *s, uint64_t id, const char *payload)
{
	const struct tqi_task *t = task_of(&s->f, id);

	assert_int_equal(t->payload_bytes, strlen(payload));
	assert_memory_equal(s->f.box.seg.base + ((uint64_t)t->payload << TQI_UNIT_SHIFT), payload,
			    strlen(payload));
}

/* The newest payload runs; during a run one waits, and starts when that one has ended. */
static void test_coalesce(void **state)
{
	uint64_t first, twin, next, deadline;
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	assert_int_equal(coalesce(&s, "one", &first), 0);
	s.f.box.system.now_ns += SECOND;
	assert_int_equal(coalesce(&s,
				  "the second one, which is longer than a block of 64 bytes "
				  "can hold together with what is behind it",
				  &twin),
			 1);
	assert_int_equal(coalesce(&s, "three", &twin), 1);
	assert_int_equal(first, twin);
	assert_payload(&s, first, "three");
	begin(&s.f);
	deadline = tqi_task_deadline(&s.f.tx, task_of(&s.f, first));
	commit(&s.f);
	assert_int_equal(deadline, s.f.box.system.now_ns + 999 * SECOND); /* the first one's */
	assert_int_equal(claim(&s.f, s.worker, &s.c), first);
	assert_int_equal(coalesce(&s, "four", &next), 0);
	assert_int_not_equal(first, next);
	assert_int_equal(coalesce(&s, "five", &twin), 1);
	assert_int_equal(next, twin);
	assert_payload(&s, first, "three"); /* it is being read */
	assert_payload(&s, next, "five");
	assert_int_equal(task_of(&s.f, next)->state, TQ_BLOCKED);
	struct tqi_claimed other;

	assert_int_equal(claim(&s.f, s.worker, &other), 0);
	end(&s.f, s.worker, &s.c, DONE);
	assert_int_equal(task_of(&s.f, next)->state, TQ_READY);
	assert_int_equal(claim(&s.f, s.worker, &other), next);
	close_fixture(&s.f);
}

/* A successor that ends before its turn leaves the place to another. */
static void test_successor_cancelled(void **state)
{
	uint64_t first, next, other;
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	assert_int_equal(coalesce(&s, "one", &first), 0);
	claim(&s.f, s.worker, &s.c);
	assert_int_equal(coalesce(&s, "two", &next), 0);
	assert_int_equal(steer_task(&s.f, tqi_steer_cancel, next), 0);
	assert_int_equal(coalesce(&s, "three", &other), 0);
	assert_int_not_equal(next, other);
	s.f.box.system.now_ns += 1000 * SECOND; /* its deadline */
	begin(&s.f);
	tqi_due_run(&s.f.tx, 8);
	commit(&s.f);
	assert_int_equal(task_of(&s.f, other)->state, TQ_EXPIRED);
	close_fixture(&s.f);
}

/* Its delay counts from the submit, whenever its turn comes. */
static void test_successor_delayed(void **state)
{
	uint64_t first, next;
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	assert_int_equal(coalesce(&s, "one", &first), 0);
	claim(&s.f, s.worker, &s.c);
	assert_int_equal(try_submit(&s.f,
				    (struct tq_task_spec){ .unique_key = "key",
							   .unique_scope = TQ_UNIQUE_COALESCE,
							   .delay_ns = 5 * SECOND },
				    &next),
			 0);
	s.f.box.system.now_ns += SECOND;
	end(&s.f, s.worker, &s.c, DONE);
	assert_int_equal(task_of(&s.f, next)->state, TQ_DELAYED);
	assert_int_equal(task_of(&s.f, next)->due_ns, s.f.box.system.now_ns + 4 * SECOND);
	close_fixture(&s.f);
}

/* Another kind's handler could not read the payload; another scope changes nothing. */
static void test_coalesce_only_alike(void **state)
{
	uint64_t first, id;
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	assert_int_equal(coalesce(&s, "one", &first), 0);
	assert_int_equal(try_submit(&s.f,
				    (struct tq_task_spec){ .kind = "other",
							   .unique_key = "key",
							   .unique_scope = TQ_UNIQUE_COALESCE },
				    &id),
			 -EEXIST);
	assert_int_equal(try_submit(&s.f,
				    (struct tq_task_spec){ .unique_key = "key",
							   .unique_scope = TQ_UNIQUE_ACTIVE,
							   .payload = "two",
							   .payload_bytes = 3 },
				    &id),
			 1);
	assert_int_equal(id, first);
	assert_payload(&s, first, "one");
	close_fixture(&s.f);
}

/* Keys are the queue's own, and differ in each byte. */
static void test_other_queue_and_name(void **state)
{
	char name[TQ_KEY_MAX + 1];
	uint64_t id;
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	assert_int_equal(keyed(&s, TQ_UNIQUE_ACTIVE, &id), 0);
	assert_int_equal(
		try_submit(&s.f, (struct tq_task_spec){ .queue = "b", .unique_key = "key" }, &id),
		0);
	memset(name, 'n', sizeof(name));
	name[TQ_KEY_MAX] = '\0';
	assert_int_equal(try_submit(&s.f, (struct tq_task_spec){ .unique_key = name }, &id), 0);
	name[TQ_KEY_MAX - 1] = 'm';
	assert_int_equal(try_submit(&s.f, (struct tq_task_spec){ .unique_key = name }, &id), 0);
	assert_int_equal(try_submit(&s.f, (struct tq_task_spec){ .unique_key = name }, &id), 1);
	close_fixture(&s.f);
}

/* What a purge, or a deadline, has decided about is in nobody's way. */
static void test_over_is_no_twin(void **state)
{
	uint64_t first, id;
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	assert_int_equal(keyed(&s, TQ_UNIQUE_ACTIVE, &first), 0);
	begin(&s.f);
	tqi_queue_purge(&s.f.tx, 1);
	commit(&s.f);
	assert_int_equal(keyed(&s, TQ_UNIQUE_ACTIVE, &id), 0);
	assert_int_equal(task_of(&s.f, first)->state, TQ_CANCELLED);
	assert_int_equal(steer_task(&s.f, tqi_steer_cancel, id), 0);
	assert_int_equal(try_submit(&s.f,
				    (struct tq_task_spec){ .unique_key = "key", .deadline_ns = 1 },
				    &first),
			 0);
	s.f.box.system.now_ns += 1;
	assert_int_equal(keyed(&s, TQ_UNIQUE_ACTIVE, &id), 0);
	assert_int_equal(task_of(&s.f, first)->state, TQ_EXPIRED);
	close_fixture(&s.f);
}

/* A new life asks for its key again. */
static void test_retry(void **state)
{
	uint64_t first, second;
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	assert_int_equal(keyed(&s, TQ_UNIQUE_ACTIVE, &first), 0);
	claim(&s.f, s.worker, &s.c);
	end(&s.f, s.worker, &s.c, FAIL);
	assert_int_equal(keyed(&s, TQ_UNIQUE_ACTIVE, &second), 0);
	assert_int_equal(steer_task(&s.f, tqi_steer_retry, first), -EEXIST);
	assert_int_equal(task_of(&s.f, first)->state, TQ_FAILED);
	assert_int_equal(steer_task(&s.f, tqi_steer_cancel, second), 0);
	assert_int_equal(steer_task(&s.f, tqi_steer_retry, first), 0);
	assert_int_equal(keyed(&s, TQ_UNIQUE_ACTIVE, &second), 1);
	assert_int_equal(first, second);
	close_fixture(&s.f);
}

/* A death ends the activity as a verdict does. */
static void test_dies_with_the_activity(void **state)
{
	const struct tqi_death killed = { .cause = TQ_CAUSE_SIGNAL, .cause_arg = 9 };
	uint64_t first, second;
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	assert_int_equal(try_submit(&s.f,
				    (struct tq_task_spec){ .unique_key = "key", .crashes_max = 1 },
				    &first),
			 0);
	struct tqi_worker *w = tqi_table_peek(&s.f.box.seg, TQI_WORKERS, s.worker);

	claim(&s.f, s.worker, &s.c);
	tqt_mutex_die(&w->life);
	begin(&s.f);
	assert_true(tqi_worker_dead(&s.f.tx, s.worker, w->generation, &killed));
	commit(&s.f);
	assert_int_equal(keyed(&s, TQ_UNIQUE_ACTIVE, &second), 0);
	close_fixture(&s.f);
}

static int move(struct one_worker *s, uint64_t id, const char *queue)
{
	const struct tq_task_update update = { .fields = TQ_UPDATE_QUEUE, .queue = queue };

	begin(&s->f);
	return conclude(&s->f, tqi_steer_update(&s->f.tx, id, &update));
}

/* The key goes with its task; there it must be free. */
static void test_update_queue(void **state)
{
	uint64_t first, other, id;
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	assert_int_equal(keyed(&s, TQ_UNIQUE_ACTIVE, &first), 0);
	assert_int_equal(try_submit(&s.f,
				    (struct tq_task_spec){ .queue = "b", .unique_key = "key" },
				    &other),
			 0);
	assert_int_equal(move(&s, first, "b"), -EEXIST);
	assert_int_equal(steer_task(&s.f, tqi_steer_cancel, other), 0);
	assert_int_equal(move(&s, first, "b"), 0);
	assert_int_equal(
		try_submit(&s.f, (struct tq_task_spec){ .queue = "b", .unique_key = "key" }, &id),
		1);
	assert_int_equal(id, first);
	assert_int_equal(keyed(&s, TQ_UNIQUE_ACTIVE, &id), 0);
	close_fixture(&s.f);
}

/* A twin needs no room: a full queue and a full table answer with its id. */
static void test_twin_of_a_full_queue(void **state)
{
	const struct tqi_queue_settings settings = { .depth_max = 1 };
	uint64_t first, id;
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	assert_int_equal(keyed(&s, TQ_UNIQUE_ACTIVE, &first), 0);
	begin(&s.f);
	tqi_queue_set(&s.f.tx, 1, &settings);
	commit(&s.f);
	assert_int_equal(keyed(&s, TQ_UNIQUE_ACTIVE, &id), 1);
	assert_int_equal(try_submit(&s.f, (struct tq_task_spec){ .priority = 1 }, &id), TQ_EFULL);
	close_fixture(&s.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_queued_is_free_at_start),
		cmocka_unit_test(test_active_is_free_at_the_end),
		cmocka_unit_test(test_kept_is_free_when_the_record_goes),
		cmocka_unit_test(test_coalesce),
		cmocka_unit_test(test_successor_cancelled),
		cmocka_unit_test(test_successor_delayed),
		cmocka_unit_test(test_coalesce_only_alike),
		cmocka_unit_test(test_other_queue_and_name),
		cmocka_unit_test(test_over_is_no_twin),
		cmocka_unit_test(test_retry),
		cmocka_unit_test(test_dies_with_the_activity),
		cmocka_unit_test(test_update_queue),
		cmocka_unit_test(test_twin_of_a_full_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
