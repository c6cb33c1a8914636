/* SPDX-License-Identifier: MIT */
/* B5: deadlines: what has not started by then expires, what runs goes on and is late. */
#include "tests/unit/fixture.h"

#include "scheduler/worker/stop.h"
#include "taskq/error.h"

static void elapse(struct one_worker *s, uint64_t ns)
{
	bool more = true;

	s->f.box.system.now_ns += ns;
	while (more) {
		begin(&s->f);
		more = tqi_due_run(&s->f.tx, 8);
		commit(&s->f);
	}
}

static uint64_t next_due(struct one_worker *s)
{
	begin(&s->f);
	uint64_t due = tqi_due_next(&s->f.tx);

	commit(&s->f);
	return due;
}

static void assert_expired(struct one_worker *s, uint64_t id)
{
	assert_int_equal(task_of(&s->f, id)->state, TQ_EXPIRED);
	assert_int_equal(task_of(&s->f, id)->cause, TQ_CAUSE_DEADLINE);
	assert_int_equal(task_of(&s->f, id)->ended_ns, s->f.box.system.now_ns);
	assert_false(task_of(&s->f, id)->flags & TQI_TASK_DUE);
}

/* At that moment, whatever it waits for; never before. */
static void test_waiting_expires(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t ready = submit(&s.f, (struct tq_task_spec){ .deadline_ns = SECOND });
	uint64_t held =
		submit(&s.f, (struct tq_task_spec){ .deadline_ns = SECOND, .flags = TQ_TASK_HOLD });
	uint64_t delayed = submit(
		&s.f, (struct tq_task_spec){ .deadline_ns = SECOND, .delay_ns = 5 * SECOND });
	uint64_t paused =
		submit(&s.f, (struct tq_task_spec){ .queue = "paused", .deadline_ns = SECOND });

	begin(&s.f);
	tqi_queue_flag(&s.f.tx, tqi_queue_find(&s.f.tx, "paused"), TQ_QUEUE_PAUSED, true);
	commit(&s.f);
	assert_int_equal(next_due(&s), s.f.box.system.now_ns + SECOND);
	elapse(&s, SECOND - 1);
	assert_int_equal(task_of(&s.f, ready)->state, TQ_READY);
	assert_int_equal(task_of(&s.f, delayed)->state, TQ_DELAYED);
	elapse(&s, 1);
	assert_expired(&s, ready);
	assert_expired(&s, held);
	assert_expired(&s, delayed);
	assert_expired(&s, paused);
	assert_int_equal(next_due(&s), UINT64_MAX);
	close_fixture(&s.f);
}

/* Nobody has looked since: a claim itself starts nothing after its deadline. */
static void test_claim_expires(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t id = submit(&s.f, (struct tq_task_spec){ .deadline_ns = 1, .priority = 9 });
	uint64_t other = submit(&s.f, (struct tq_task_spec){ .priority = 1 });

	s.f.box.system.now_ns += 1;
	assert_int_equal(claim(&s.f, s.worker, &s.c), other);
	assert_expired(&s, id);
	close_fixture(&s.f);
}

/* A delay that ends before the deadline: it starts, and the deadline is still watched. */
static void test_delay_then_deadline(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t id = submit(
		&s.f, (struct tq_task_spec){ .deadline_ns = 9 * SECOND, .delay_ns = 5 * SECOND });

	elapse(&s, 5 * SECOND);
	assert_int_equal(task_of(&s.f, id)->state, TQ_READY);
	assert_int_equal(next_due(&s), s.f.box.system.now_ns + 4 * SECOND);
	elapse(&s, 4 * SECOND);
	assert_expired(&s, id);
	close_fixture(&s.f);
}

/* Running: it goes on, flagged, and its success counts; time-outs are still watched. */
static void test_running_is_late(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t id = submit(
		&s.f, (struct tq_task_spec){ .deadline_ns = 2 * SECOND, .timeout_ns = 3 * SECOND });

	elapse(&s, SECOND);
	assert_int_equal(claim(&s.f, s.worker, &s.c), id);
	assert_int_equal(s.c.timeout_at_ns, s.f.box.system.now_ns + 3 * SECOND);
	elapse(&s, SECOND);
	assert_true(task_of(&s.f, id)->flags & TQI_TASK_LATE);
	assert_int_equal(task_of(&s.f, id)->state, TQ_RUNNING);
	assert_int_equal(next_due(&s), s.f.box.system.now_ns + 2 * SECOND);
	end(&s.f, s.worker, &s.c, DONE);
	assert_int_equal(task_of(&s.f, id)->state, TQ_DONE);
	assert_true(task_of(&s.f, id)->flags & TQI_TASK_LATE);
	close_fixture(&s.f);
}

/* Late, too, when nobody has looked between the deadline and the verdict. */
static void test_late_at_the_verdict(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t id = submit(&s.f, (struct tq_task_spec){ .deadline_ns = SECOND });

	claim(&s.f, s.worker, &s.c);
	s.f.box.system.now_ns += SECOND;
	end(&s.f, s.worker, &s.c, DONE);
	assert_true(task_of(&s.f, id)->flags & TQI_TASK_LATE);
	close_fixture(&s.f);
}

static uint64_t run_past_deadline(struct one_worker *s, struct tq_task_spec spec,
				  struct tqi_verdict verdict)
{
	spec.deadline_ns = SECOND;
	uint64_t id = submit(&s->f, spec);

	assert_int_equal(claim(&s->f, s->worker, &s->c), id);
	elapse(s, SECOND);
	end(&s->f, s->worker, &s->c, verdict);
	return id;
}

/* No attempt starts after it; the attempt's own cause is in the history. */
static void test_no_attempt_after(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t failed = run_past_deadline(&s, (struct tq_task_spec){ .attempts_max = 5 }, FAIL);

	assert_expired(&s, failed);
	assert_int_equal(task_of(&s.f, failed)->history_count, 1);
	const struct tq_attempt_info *info =
		(void *)(s.f.box.seg.base +
			 ((uint64_t)task_of(&s.f, failed)->history << TQI_UNIT_SHIFT));

	assert_int_equal(info->cause, TQ_CAUSE_ERROR);
	assert_expired(&s, run_past_deadline(&s, (struct tq_task_spec){ .priority = 1 }, RELEASE));
	close_fixture(&s.f);
}

/* A used-up budget is the nearer reason: it fails by that. */
static void test_budget_before_deadline(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t last = run_past_deadline(&s, (struct tq_task_spec){ .attempts_max = 1 }, FAIL);
	uint64_t fatal = run_past_deadline(&s, (struct tq_task_spec){ .attempts_max = 5 }, FATAL);

	assert_int_equal(task_of(&s.f, last)->state, TQ_FAILED);
	assert_int_equal(task_of(&s.f, last)->cause, TQ_CAUSE_ERROR);
	assert_int_equal(task_of(&s.f, fatal)->state, TQ_FAILED);
	close_fixture(&s.f);
}

/* E5: a crash or a back-off does not carry it over the deadline. */
static void test_crash_and_backoff(void **state)
{
	const struct tqi_death segv = { .cause = TQ_CAUSE_SIGNAL, .cause_arg = 11 };
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t id = submit(&s.f, (struct tq_task_spec){ .deadline_ns = SECOND });
	struct tqi_worker *w = tqi_table_peek(&s.f.box.seg, TQI_WORKERS, s.worker);

	claim(&s.f, s.worker, &s.c);
	s.f.box.system.now_ns += 2 * SECOND;
	tqt_mutex_die(&w->life);
	begin(&s.f);
	assert_true(tqi_worker_dead(&s.f.tx, s.worker, w->generation, &segv));
	commit(&s.f);
	assert_expired(&s, id);
	s.worker = add_worker(&s.f, "default", 0);
	id = submit(&s.f, (struct tq_task_spec){ .deadline_ns = SECOND,
						 .attempts_max = 3,
						 .backoff_ns = 9 * SECOND });
	claim(&s.f, s.worker, &s.c);
	end(&s.f, s.worker, &s.c, FAIL);
	assert_int_equal(task_of(&s.f, id)->state, TQ_DELAYED);
	elapse(&s, SECOND);
	assert_expired(&s, id);
	close_fixture(&s.f);
}

static void retry(struct one_worker *s, uint64_t id)
{
	begin(&s->f);
	assert_int_equal(tqi_steer_retry(&s->f.tx, id), 0);
	commit(&s->f);
}

/* E10: a new life is rid of a deadline that has passed, and keeps one that is ahead. */
static void test_retry(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t id = submit(&s.f, (struct tq_task_spec){ .deadline_ns = SECOND });

	elapse(&s, SECOND);
	assert_expired(&s, id);
	retry(&s, id);
	elapse(&s, 100 * SECOND);
	assert_int_equal(claim(&s.f, s.worker, &s.c), id);
	end(&s.f, s.worker, &s.c, DONE);
	id = submit(&s.f, (struct tq_task_spec){ .deadline_ns = SECOND });
	claim(&s.f, s.worker, &s.c);
	end(&s.f, s.worker, &s.c, FAIL);
	retry(&s, id);
	elapse(&s, SECOND);
	assert_expired(&s, id);
	close_fixture(&s.f);
}

/* Hold, unhold and update leave it as it is. */
static void test_steered(void **state)
{
	const struct tq_task_update later = { .fields = TQ_UPDATE_DELAY, .delay_ns = 5 * SECOND };
	const struct tq_task_update urgent = { .fields = TQ_UPDATE_PRIORITY, .priority = 5 };
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t a = submit(&s.f, (struct tq_task_spec){ .deadline_ns = SECOND });
	uint64_t b = submit(&s.f, (struct tq_task_spec){ .deadline_ns = SECOND });

	begin(&s.f);
	assert_int_equal(tqi_steer_update(&s.f.tx, a, &later), 0);
	assert_int_equal(tqi_steer_update(&s.f.tx, b, &urgent), 0);
	assert_int_equal(tqi_steer_hold(&s.f.tx, b, true), 0);
	assert_int_equal(tqi_steer_hold(&s.f.tx, b, false), 0);
	commit(&s.f);
	elapse(&s, SECOND);
	assert_expired(&s, a);
	assert_expired(&s, b);
	close_fixture(&s.f);
}

static void set_deadline(struct one_worker *s, uint64_t id, uint64_t ns)
{
	const struct tq_task_update u = { .fields = TQ_UPDATE_DEADLINE, .deadline_ns = ns };

	begin(&s->f);
	assert_int_equal(tqi_steer_update(&s->f.tx, id, &u), 0);
	commit(&s->f);
}

/* It is given, put off, taken away; to tasks that came in with one, and without. */
static void test_updated(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t a = submit(&s.f, (struct tq_task_spec){ 0 });
	uint64_t b = submit(&s.f, (struct tq_task_spec){ .deadline_ns = SECOND });
	uint64_t c = submit(&s.f, (struct tq_task_spec){ .deadline_ns = SECOND });

	set_deadline(&s, a, SECOND);
	set_deadline(&s, b, 3 * SECOND);
	set_deadline(&s, c, TQ_UNLIMITED);
	elapse(&s, SECOND);
	assert_expired(&s, a);
	assert_int_equal(task_of(&s.f, b)->state, TQ_READY);
	elapse(&s, 2 * SECOND);
	assert_expired(&s, b);
	assert_int_equal(task_of(&s.f, c)->state, TQ_READY);
	assert_sound(&s.f);
	close_fixture(&s.f);
}

/* Earliest deadline first: another deadline is another place. */
static void test_updated_order(void **state)
{
	const struct tqi_policy edf = { .edf = 1 };
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t a = submit(&s.f, (struct tq_task_spec){ .deadline_ns = 2 * SECOND });

	begin(&s.f);
	assert_int_equal(tqi_policy_set(&s.f.tx, task_of(&s.f, a)->queue, &edf), 0);
	commit(&s.f);
	submit(&s.f, (struct tq_task_spec){ .deadline_ns = 3 * SECOND });
	uint64_t c = submit(&s.f, (struct tq_task_spec){ 0 });

	set_deadline(&s, c, SECOND);
	assert_int_equal(claim(&s.f, s.worker, &s.c), c);
	end(&s.f, s.worker, &s.c, DONE);
	set_deadline(&s, a, 4 * SECOND);
	assert_int_not_equal(claim(&s.f, s.worker, &s.c), a);
	assert_sound(&s.f);
	close_fixture(&s.f);
}

/* What a purge has decided comes first. */
static void test_purged_is_cancelled(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t id = submit(&s.f, (struct tq_task_spec){ .deadline_ns = SECOND });

	begin(&s.f);
	tqi_queue_purge(&s.f.tx, 1);
	commit(&s.f);
	elapse(&s, SECOND);
	assert_int_equal(task_of(&s.f, id)->state, TQ_CANCELLED);
	close_fixture(&s.f);
}

/* Payload and label keep their place, whatever their length; the rest is behind them. */
static void test_payload_keeps_its_place(void **state)
{
	char bytes[300];
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	memset(bytes, 'p', sizeof(bytes));
	for (uint32_t n = 0; n < 20; n++) {
		uint64_t id = submit(&s.f, (struct tq_task_spec){ .payload = bytes,
								  .payload_bytes = n * 13,
								  .label = n % 2 ? "label" : NULL,
								  .deadline_ns = SECOND + n });
		const struct tqi_task *t = task_of(&s.f, id);
		const char *block =
			(const void *)(s.f.box.seg.base + ((uint64_t)t->payload << TQI_UNIT_SHIFT));

		assert_memory_equal(block, bytes, n * 13);
		assert_int_equal(t->label_bytes, n % 2 ? 5 : 0);
		assert_memory_equal(block + n * 13, "label", t->label_bytes);
		begin(&s.f);
		assert_int_equal(tqi_task_deadline(&s.f.tx, t), s.f.box.system.now_ns + SECOND + n);
		commit(&s.f);
	}
	close_fixture(&s.f);
}

/* Attempts together have had their time while it waited for the next one, in whatever state. */
static void no_attempt_after_the_time_in_all(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	const struct tq_task_spec spec = { .timeout_total_ns = SECOND,
					   .attempts_max = 9,
					   .backoff_ns = 10 * SECOND };
	uint64_t delayed = submit(&s.f, spec);

	assert_int_equal(next_due(&s), UINT64_MAX);
	assert_int_equal(claim(&s.f, s.worker, &s.c), delayed);
	assert_int_equal(end(&s.f, s.worker, &s.c, FAIL), 0);
	uint64_t ready = submit(&s.f, spec);

	assert_int_equal(claim(&s.f, s.worker, &s.c), ready);
	assert_int_equal(end(&s.f, s.worker, &s.c, RELEASE), 0);
	assert_int_equal(task_of(&s.f, ready)->state, TQ_READY);
	assert_int_equal(next_due(&s), s.f.box.system.now_ns + SECOND);
	elapse(&s, SECOND - 1);
	assert_int_equal(task_of(&s.f, delayed)->state, TQ_DELAYED);
	s.f.box.system.now_ns += 1;
	assert_int_equal(claim(&s.f, s.worker, &s.c), 0);
	elapse(&s, 0);
	for (int i = 0; i < 2; i++) {
		const struct tqi_task *t = task_of(&s.f, i ? ready : delayed);

		assert_int_equal(t->state, TQ_FAILED);
		assert_int_equal(t->cause, TQ_CAUSE_TIMEOUT);
		assert_int_equal(t->attempts, 1);
	}
	assert_int_equal(next_due(&s), UINT64_MAX);
	close_fixture(&s.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "fault.T2: no attempt after the time in all", no_attempt_after_the_time_in_all,
		  NULL, NULL, NULL },
		cmocka_unit_test(test_waiting_expires),
		cmocka_unit_test(test_claim_expires),
		cmocka_unit_test(test_delay_then_deadline),
		cmocka_unit_test(test_running_is_late),
		cmocka_unit_test(test_late_at_the_verdict),
		cmocka_unit_test(test_no_attempt_after),
		cmocka_unit_test(test_budget_before_deadline),
		cmocka_unit_test(test_crash_and_backoff),
		cmocka_unit_test(test_retry),
		cmocka_unit_test(test_steered),
		cmocka_unit_test(test_updated),
		cmocka_unit_test(test_updated_order),
		cmocka_unit_test(test_purged_is_cancelled),
		cmocka_unit_test(test_payload_keeps_its_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
