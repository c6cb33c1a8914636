/* SPDX-License-Identifier: MIT */
/* Waiters and sleepers: none is lost, spins, or returns too early (A5, A6, D7, E10, I1). */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "review_help.h"

/* One slice of a purge has more to undo and to wake than the journal holds at a time. */
static void a6_purge_with_many_waiters_for_all(void **state)
{
	struct farm_box *box = *state;
	struct many many;

	many_submit(box, &many, 0);
	many_wait(box, &many);
	assert_int_equal(tq_queue_steer(box->tq, "q", TQ_QUEUE_PURGE), MANY_TASKS);
	many_end(box, &many, TQ_CANCELLED);
	submit_to(box, "q", 0);
	assert_sound(box);
}

/* A waiter that is stopped while the first of its tasks ends and is retried. */
struct missed {
	uint64_t ids[2];
	uint32_t count;
	uint32_t flags; /* TQ_WAIT_* */
	uint64_t timeout_ns;
	/* What became of it. */
	int r;
	uint64_t took_ns;
	uint64_t cpu_ns;
};

static int wait_stopped(struct farm_box *box, void *arg)
{
	struct missed *m = arg;
	const struct tq_wait_opts opts = { .size = sizeof(opts), .flags = m->flags };
	uint64_t start = now_ns();

	m->r = tq_wait(box->tq, m->ids, m->count, m->timeout_ns, &opts, NULL);
	m->took_ns = now_ns() - start;
	m->cpu_ns = cpu_ns();
	return 0;
}

#define KEEPERS 3

struct missing {
	struct missed *waiter;
	pid_t pid;
	pid_t keepers[KEEPERS]; /* older sleepers: the waiter is no keeper */
	struct tq_worker *worker;
};

static int sleep_on_held(struct farm_box *box, void *arg)
{
	const uint64_t *id = arg;

	return tq_wait(box->tq, id, 1, TQ_FOREVER_NS, NULL, NULL);
}

/* Up to the retry; the waiter goes on, and finds its task ready again. */
static void miss_an_end(struct farm_box *box, struct missing *m, const struct missed *like)
{
	uint64_t held = submit_to(box, "held", TQ_TASK_HOLD);

	m->waiter = share(sizeof(*m->waiter));
	*m->waiter = *like;
	m->waiter->ids[0] = submit_to(box, "q", 0);
	m->waiter->ids[1] = submit_to(box, "r", 0);
	for (int i = 0; i < KEEPERS; i++)
		m->keepers[i] = start_child(box, sleep_on_held, &held);
	wait_asleep(box, TQI_INTEREST_TASKS, KEEPERS);
	m->pid = start_child(box, wait_stopped, m->waiter);
	wait_asleep(box, TQI_INTEREST_TASKS, KEEPERS + 1);
	wait_live(box, TQI_EDGES, KEEPERS + like->count);
	stop_child(m->pid);

	m->worker = open_worker(box->tq, "q");
	struct tq_claim claim = claim_now(m->worker);

	assert_int_equal(tq_fail(m->worker, &claim, 1, "no"), 0);
	assert_int_equal(tq_task_steer(box->tq, m->waiter->ids[0], TQ_TASK_ACTION_RETRY), 0);
	kill(m->pid, SIGCONT);
	wait_settled(m->pid);
}

static void end_missing(struct farm_box *box, struct missing *m)
{
	for (int i = 0; i < KEEPERS; i++)
		kill_child(m->keepers[i]);
	tq_worker_close(m->worker);
	give_up(m->waiter, sizeof(*m->waiter));
	assert_sound(box);
}

static void e10_waiter_that_missed_an_end_sees_the_next(void **state)
{
	const struct missed like = { .count = 1, .timeout_ns = TQ_FOREVER_NS };
	struct farm_box *box = *state;
	struct missing m;

	miss_an_end(box, &m, &like);
	struct tq_claim claim = claim_now(m.worker);

	assert_int_equal(tq_complete(m.worker, &claim, NULL, 0), 0);
	assert_int_equal(join_child(m.pid, PROMPT_NS), 0);
	assert_int_equal(m.waiter->r, 0);
	end_missing(box, &m);
}

static void e10_wait_any_that_missed_an_end_sees_the_next(void **state)
{
	const struct missed like = { .count = 2,
				     .flags = TQ_WAIT_ANY,
				     .timeout_ns = TQ_FOREVER_NS };
	struct farm_box *box = *state;
	struct missing m;

	miss_an_end(box, &m, &like);
	struct tq_claim claim = claim_now(m.worker);

	assert_int_equal(tq_complete(m.worker, &claim, NULL, 0), 0);
	assert_int_equal(join_child(m.pid, PROMPT_NS), 0);
	assert_int_equal(m.waiter->r, 0); /* its index */
	end_missing(box, &m);
}

static void d7_wait_any_keeps_its_timeout_after_a_missed_end(void **state)
{
	const struct missed like = { .count = 2, .flags = TQ_WAIT_ANY, .timeout_ns = 2 * S };
	struct farm_box *box = *state;
	struct missing m;

	miss_an_end(box, &m, &like);
	assert_int_equal(join_child(m.pid, like.timeout_ns + PROMPT_NS), 0);
	assert_int_equal(m.waiter->r, -ETIMEDOUT);
	assert_true(m.waiter->took_ns >= like.timeout_ns);
	assert_true(m.waiter->cpu_ns < S / 2); /* it slept */
	end_missing(box, &m);
}

static void d7_wait_all_does_not_return_while_one_runs(void **state)
{
	const struct missed like = { .count = 2, .timeout_ns = TQ_FOREVER_NS };
	struct farm_box *box = *state;
	struct missing m;

	miss_an_end(box, &m, &like);
	struct tq_worker *other = open_worker(box->tq, "r");
	struct tq_claim runs = claim_now(m.worker), ends = claim_now(other);

	assert_int_equal(tq_complete(other, &ends, NULL, 0), 0);
	wait_settled(m.pid);
	wait_looks(box, 2);
	assert_int_equal(waitpid(m.pid, NULL, WNOHANG), 0);
	assert_int_equal(tq_complete(m.worker, &runs, NULL, 0), 0);
	assert_int_equal(join_child(m.pid, PROMPT_NS), 0);
	assert_int_equal(m.waiter->r, 0);
	tq_worker_close(other);
	end_missing(box, &m);
}

#define CROWD 10

struct submitter {
	struct tq *tq;
	const char *queue;
	int r;
	pthread_t thread;
};

static void *submit_when_there_is_room(void *arg)
{
	struct submitter *s = arg;
	const struct tq_task_spec spec = { .size = sizeof(spec),
					   .queue = s->queue,
					   .kind = "k",
					   .flags = TQ_TASK_HOLD,
					   .full_timeout_ns = 60 * S };

	s->r = tq_submit(s->tq, &spec, NULL);
	return NULL;
}

static void start_submitter(struct farm_box *box, struct submitter *s, const char *queue)
{
	*s = (struct submitter){ .tq = box->tq, .queue = queue, .r = 1 };
	assert_int_equal(pthread_create(&s->thread, NULL, submit_when_there_is_room, s), 0);
}

static void join_submitter(struct submitter *s)
{
	join_thread(s->thread, PROMPT_NS);
	assert_int_equal(s->r, 0);
}

static void set_depth(struct farm_box *box, const char *queue, uint64_t depth_max)
{
	const struct tq_queue_opts opts = { .size = sizeof(opts), .depth_max = depth_max };

	assert_int_equal(tq_queue_set(box->tq, queue, &opts), 0);
}

/* Room in one queue wakes who waits for that one, however many older wait for another. */
static void a6_room_wakes_the_submitter_of_its_queue(void **state)
{
	struct farm_box *box = *state;
	struct submitter crowd[CROWD], one;

	set_depth(box, "a", 1);
	set_depth(box, "b", 1);
	submit_to(box, "a", TQ_TASK_HOLD);
	uint64_t full = submit_to(box, "b", TQ_TASK_HOLD);

	for (int i = 0; i < CROWD; i++)
		start_submitter(box, &crowd[i], "a");
	wait_asleep(box, TQI_INTEREST_ROOM, CROWD);
	start_submitter(box, &one, "b");
	wait_asleep(box, TQI_INTEREST_ROOM, CROWD + 1);
	assert_int_equal(tq_task_steer(box->tq, full, TQ_TASK_ACTION_CANCEL), 0);
	join_submitter(&one);

	start_submitter(box, &one, "b");
	wait_asleep(box, TQI_INTEREST_ROOM, CROWD + 1);
	set_depth(box, "b", 100);
	join_submitter(&one);
	set_depth(box, "a", TQ_UNLIMITED);
	for (int i = 0; i < CROWD; i++)
		join_submitter(&crowd[i]);
	assert_sound(box);
}

struct forgotten {
	uint64_t id;
	struct tq_task_info info;
};

static int wait_for_forgotten(struct farm_box *box, void *arg)
{
	struct forgotten *f = arg;

	f->info.size = sizeof(f->info);
	return tq_wait(box->tq, &f->id, 1, TQ_FOREVER_NS, NULL, &f->info);
}

/* The waiter is the last that pins the record: with its leave the texts' blocks are free. */
static void a5_texts_of_a_task_that_is_freed_with_the_wait(void **state)
{
	const struct tq_task_spec like = { .queue = "q",
					   .label = "its label, and nobody else's",
					   .flags = TQ_TASK_FORGET };
	struct farm_box *box = *state;
	struct forgotten *f = share(sizeof(*f));

	f->id = submit_kind(box, "k", &like);
	pid_t waiter = start_child(box, wait_for_forgotten, f);

	wait_asleep(box, TQI_INTEREST_TASKS, 1);
	struct tq_worker *worker = open_worker(box->tq, "q");
	struct tq_claim claim = claim_now(worker);

	assert_int_equal(tq_fail(worker, &claim, 1, "its error, and nobody else's"), 0);
	assert_int_equal(join_child(waiter, PROMPT_NS), 0);
	assert_int_equal(tq_task_info(box->tq, f->id, &f->info), TQ_EGONE);
	assert_string_equal(f->info.label, like.label);
	assert_string_equal(f->info.error_text, "its error, and nobody else's");
	tq_worker_close(worker);
	give_up(f, sizeof(*f));
	assert_sound(box);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, farm_box_setup, farm_box_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a6_purge_with_many_waiters_for_all),
		TEST(e10_waiter_that_missed_an_end_sees_the_next),
		TEST(e10_wait_any_that_missed_an_end_sees_the_next),
		TEST(d7_wait_any_keeps_its_timeout_after_a_missed_end),
		TEST(d7_wait_all_does_not_return_while_one_runs),
		TEST(a6_room_wakes_the_submitter_of_its_queue),
		TEST(a5_texts_of_a_task_that_is_freed_with_the_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
