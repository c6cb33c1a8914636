/* SPDX-License-Identifier: MIT */
/* What a farm does to a number that is somebody else's by now; who is told of a claim. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "client/worker/worker_api.h"
#include "farm_box.h"
#include "scheduler/record/records.h"

#define WAITERS 4 /* more than there are keepers, who look at everything anyway */
#define LEASE_NS (3 * S)

static struct tqi_attempt *attempt_of(struct farm_box *box, uint64_t id)
{
	const struct tqi_segment *seg = &box->tq->seg;

	for (uint32_t a = 1; a < tqi_segment_core(seg)->tables[TQI_ATTEMPTS].count; a++) {
		struct tqi_attempt *attempt = tqi_table_peek(seg, TQI_ATTEMPTS, a);

		if (attempt && attempt->id == id)
			return attempt;
	}
	return NULL;
}

static void wait_reaped(pid_t pid)
{
	for (uint64_t end = now_ns() + PATIENCE_NS; kill(pid, 0) == 0; pause_ms())
		assert_true(now_ns() < end);
	assert_int_equal(errno, ESRCH);
}

/*
 * F1.  The group that a dead worker's command led has a leader with another start time, as
 * if the number had been given again: it is not ended.
 */
static void a_group_with_another_leader_is_not_killed(void **state)
{
	struct farm_box *box = *state;

	farm_start(box);
	uint64_t id = submit_script(box,
				    "[ $TASKQ_ATTEMPT = 1 ] || exit 0\n"
				    "sh -c 'trap \"echo 1 >answer\" USR1; echo $$ >child; "
				    "while :; do sleep 0.1; done' &\n"
				    "wait\n",
				    NULL);
	pid_t child = (pid_t)wait_number(box, "child");
	pid_t worker = (pid_t)wait_running(box, id).worker_pid;
	struct tqi_attempt *attempt = attempt_of(box, id);

	assert_non_null(attempt);
	tqi_store_relaxed64(&attempt->pgid_start, tqi_load_relaxed64(&attempt->pgid_start) - 1);
	kill(worker, SIGKILL);
	wait_reaped(worker); /* what is killed is killed before that */
	kill(child, SIGUSR1);
	assert_int_equal(wait_number(box, "answer"), 1);
	kill(child, SIGKILL);
	assert_int_equal(wait_final(box, id).state, TQ_DONE);
	assert_int_equal(farm_stop(box), 0);
}

struct client {
	struct tq *tq;
	uint64_t id;
	pthread_t thread;
	int result;
};

static void *wait_for_it(void *arg)
{
	struct client *c = arg;

	c->result = tq_wait(c->tq, &c->id, 1, UINT64_MAX, NULL, NULL);
	return NULL;
}

/* A slot in use of this interest, sleeping without limit; how many. */
static uint32_t sleep_on(struct farm_box *box, enum tqi_interest interest)
{
	const struct tqi_segment *seg = &box->tq->seg;
	uint32_t n = 0;

	for (uint32_t w = 1; w < tqi_segment_core(seg)->tables[TQI_WAITERS].count; w++) {
		const volatile struct tqi_waiter *s = tqi_table_peek(seg, TQI_WAITERS, w);

		n += s && s->state == TQI_WAITER_LISTED && s->interest == interest &&
		     (interest == TQI_INTEREST_TASKS || s->until_ns == UINT64_MAX);
	}
	return n;
}

static void wait_sleepers(struct farm_box *box, enum tqi_interest interest, uint32_t count)
{
	for (uint64_t end = now_ns() + PATIENCE_NS; sleep_on(box, interest) != count; pause_ms())
		assert_true(now_ns() < end);
}

/* Its lease is renewed before anybody has suspected it. */
static void expect_renewal(struct tq_worker *worker, const struct tq_claim *claim)
{
	const struct tqi_worker *record = tqi_worker_record(worker);
	const uint64_t deadline_ns = tqi_load_acquire64(&record->lease_deadline_ns);
	uint64_t end = now_ns() + PATIENCE_NS;

	while (tqi_load_acquire64(&record->lease_deadline_ns) == deadline_ns) {
		assert_false(*(const volatile uint32_t *)&record->flags & TQI_WORKER_SUSPECT);
		assert_int_equal(tq_claim_stopping(worker, claim), TQ_CAUSE_NONE);
		assert_true(now_ns() < end);
		pause_ms();
	}
}

static void an_idle_heartbeat_is_told_of_a_claim(void **state)
{
	static const char *const queues[] = { "default" };
	const struct tq_worker_opts opts = { .size = sizeof(opts),
					     .queues = queues,
					     .queue_count = 1,
					     .lease_ns = LEASE_NS,
					     .flags = TQ_WORKER_HEARTBEAT };
	const struct tq_task_spec held = { .size = sizeof(held),
					   .kind = "k",
					   .flags = TQ_TASK_HOLD };
	const struct tq_task_spec spec = { .size = sizeof(spec), .kind = "k" };
	struct tq_claim claim = { .size = sizeof(claim) };
	struct farm_box *box = *state;
	struct client clients[WAITERS];
	struct tq_worker *worker;
	uint64_t id;

	assert_int_equal(tq_submit(box->tq, &held, &id), 0);
	for (int i = 0; i < WAITERS; i++) {
		clients[i] = (struct client){ .tq = box->tq, .id = id };
		assert_int_equal(pthread_create(&clients[i].thread, NULL, wait_for_it, &clients[i]),
				 0);
	}
	wait_sleepers(box, TQI_INTEREST_TASKS, WAITERS);
	assert_int_equal(tq_worker_open(box->tq, &opts, &worker), 0);
	wait_sleepers(box, TQI_INTEREST_STOPS, 1);
	assert_int_equal(tq_submit(box->tq, &spec, NULL), 0);
	assert_int_equal(tq_claim(worker, 0, &claim), 0);
	expect_renewal(worker, &claim);
	assert_int_equal(tq_complete(worker, &claim, NULL, 0), 0);
	assert_null(tq_worker_close(worker));
	assert_int_equal(tq_task_steer(box->tq, id, TQ_TASK_ACTION_CANCEL), 0);
	for (int i = 0; i < WAITERS; i++) {
		pthread_join(clients[i].thread, NULL);
		assert_int_equal(clients[i].result, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_group_with_another_leader_is_not_killed,
						farm_box_setup, farm_box_teardown),
		cmocka_unit_test_setup_teardown(an_idle_heartbeat_is_told_of_a_claim,
						farm_box_setup, farm_box_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
