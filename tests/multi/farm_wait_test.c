/* SPDX-License-Identifier: MIT */
/* Waiting inside tasks: substitutes for those who wait, and waits that would close a cycle. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "farm_box.h"

#define DEPTH 10
#define SUBSTITUTES 64 /* client/farm/farm_size.c */
#define KILLS 30

static char scratch_dir[64]; /* a handler's argument outlives the call that sets it */
static struct tq *handle;

static void path_of(char path[128], const char *file)
{
	snprintf(path, 128, "%s/%s", scratch_dir, file);
}

static bool is_there(const char *file)
{
	char path[128];

	path_of(path, file);
	return access(path, F_OK) == 0;
}

static void make(const char *file)
{
	char path[128];

	path_of(path, file);
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	close(fd);
}

/* The link of a chain below this one; an attempt that begins anew finds it made already. */
static int submit_link(struct tq *tq, int depth, uint64_t *ret_id)
{
	char text[16];
	const struct tq_task_spec spec = {
		.size = sizeof(spec),
		.kind = "link",
		.payload = text,
		.payload_bytes = (uint64_t)snprintf(text, sizeof(text), "%d", depth),
		.unique_key = text,
		.unique_scope = TQ_UNIQUE_KEPT,
		.crashes_max = 255,
		.losses_max = 255,
	};
	int r = tq_submit(tq, &spec, ret_id);

	return r < 0 ? r : 0;
}

/* Link N waits for link N-1; link 0 until the file "go" is there. */
static int run_link(struct tq_run *run, void *arg)
{
	const struct tq_claim *claim = tq_run_claim(run);
	struct tq_task_info info = { .size = sizeof(info) };
	char text[16] = "";
	uint64_t below;

	(void)arg;
	memcpy(text, claim->payload, claim->payload_bytes);
	int depth = atoi(text);

	while (depth == 0 && !is_there("go"))
		pause_ms();
	int r = depth ? submit_link(handle, depth - 1, &below) : 0;

	if (r == 0 && depth)
		r = tq_wait(handle, &below, 1, TQ_FOREVER_NS, NULL, &info);
	if (r < 0)
		return r;
	return !depth || info.state == TQ_DONE ? TQ_RUN_DONE : TQ_RUN_FATAL;
}

/* Waits for the task whose id is its payload, or for itself, and results in the answer. */
static int run_waiter(struct tq_run *run, void *arg)
{
	const struct tq_claim *claim = tq_run_claim(run);
	uint64_t id = claim->id;
	char text[16];

	(void)arg;
	if (claim->payload_bytes)
		memcpy(&id, claim->payload, sizeof(id));
	int n = snprintf(text, sizeof(text), "%d",
			 tq_wait(handle, &id, 1, TQ_FOREVER_NS, NULL, NULL));

	return tq_run_result(run, text, (uint64_t)n);
}

static void handlers(struct tq *tq)
{
	handle = tq;
	if (tq_handler_set(tq, "link", run_link, NULL) < 0 ||
	    tq_handler_set(tq, "waiter", run_waiter, NULL) < 0)
		_exit(FARM_FAILED);
}

static struct farm_box *begin(void **state)
{
	struct farm_box *box = *state;

	memcpy(scratch_dir, box->dir, sizeof(scratch_dir));
	box->handlers = handlers;
	return box;
}

static uint64_t submit_chain(struct farm_box *box, int depth)
{
	uint64_t id;

	assert_int_equal(submit_link(box->tq, depth, &id), 0);
	return id;
}

static void wait_in_state(struct farm_box *box, uint32_t state, uint32_t count)
{
	const uint64_t until = now_ns() + PATIENCE_NS;
	const struct tq_task_filter filter = { .size = sizeof(filter), .states = 1u << state };
	static struct tq_task_info infos[2 * SUBSTITUTES];
	uint64_t cursor;

	do {
		infos[0].size = sizeof(infos[0]);
		cursor = 0;
		if (now_ns() > until)
			fail_msg("not %u in state %s", count, tq_task_state_name(state));
		pause_ms();
	} while ((uint32_t)tq_task_list(box->tq, &filter, &cursor, infos, 2 * SUBSTITUTES) !=
		 count);
}

static void e9_one_worker_and_a_chain_of_handlers(void **state)
{
	struct farm_box *box = begin(state);

	farm_start(box);
	uint64_t id = submit_chain(box, DEPTH);

	wait_in_state(box, TQ_RUNNING, DEPTH + 1);
	wait_workers(box, DEPTH + 1); /* each link but the last has its substitute */
	make("go");
	assert_int_equal(wait_final(box, id).state, TQ_DONE);
	wait_workers(box, 1); /* and they go again */
	assert_int_equal(farm_stop(box), 0);
}

static void e9_a_worker_per_task_and_a_chain(void **state)
{
	struct farm_box *box = begin(state);

	box->opts.max_tasks = 1;
	box->opts.flags = TQ_FARM_UNTIL_EMPTY;
	make("go");
	uint64_t id = submit_chain(box, DEPTH);

	farm_start(box);
	assert_int_equal(wait_final(box, id).state, TQ_DONE);
	assert_int_equal(farm_join(box), 0);
}

/* H4: the one task that is ready is held up by so many that wait, once all of these do. */
static void assert_why_substitutes(struct farm_box *box, uint32_t waiting)
{
	const uint64_t until = now_ns() + PATIENCE_NS;
	const struct tq_task_filter ready = { .size = sizeof(ready), .states = 1u << TQ_READY };
	struct tq_task_info info = { .size = sizeof(info) };
	struct tq_why why = { .size = sizeof(why) };
	uint64_t cursor = 0;

	assert_int_equal(tq_task_list(box->tq, &ready, &cursor, &info, 1), 1);
	do {
		if (now_ns() > until)
			fail_msg("%s, %u wait", tq_why_name(why.reason), why.others);
		pause_ms();
		assert_int_equal(tq_task_why(box->tq, info.id, &why), 0);
	} while (why.reason != TQ_WHY_SUBSTITUTES || why.others != waiting);
	assert_int_equal(why.pid, box->farm);
	assert_int_equal(why.workers, waiting);
	assert_int_equal(why.busy, waiting);
}

/* The deepest substitutes that there are, and no more; a wider farm gets on. */
static void e9_sixty_four_substitutes(void **state)
{
	struct farm_box *box = begin(state);

	make("go");
	farm_start(box);
	uint64_t id = submit_chain(box, SUBSTITUTES + 2);

	wait_in_state(box, TQ_RUNNING, SUBSTITUTES + 1);
	wait_in_state(box, TQ_READY, 1);
	assert_why_substitutes(box, SUBSTITUTES + 1);
	kill(box->farm, SIGTTIN);
	wait_in_state(box, TQ_RUNNING, SUBSTITUTES + 2);
	wait_in_state(box, TQ_READY, 1);
	assert_why_substitutes(box, SUBSTITUTES + 2);
	kill(box->farm, SIGTTIN);
	assert_int_equal(wait_final(box, id).state, TQ_DONE);
	wait_workers(box, 3);
	assert_int_equal(farm_stop(box), 0);
}

/* F4: a handler that waits hears nothing of it, and has the grace time as any other. */
static void e9_a_farm_that_stops_lets_waits_end(void **state)
{
	struct farm_box *box = begin(state);

	box->opts.grace_ns = PATIENCE_NS;
	farm_start(box);
	uint64_t id = submit_chain(box, 3);

	wait_in_state(box, TQ_RUNNING, 4);
	kill(box->farm, SIGTERM);
	make("go");
	assert_int_equal(farm_join(box), 0);
	assert_int_equal(wait_final(box, id).state, TQ_DONE);
}

static void e9_a_farm_that_stops_gives_waiting_tasks_back(void **state)
{
	struct farm_box *box = begin(state);

	box->opts.grace_ns = 50 * MS;
	farm_start(box);
	submit_chain(box, 3);
	wait_in_state(box, TQ_RUNNING, 4);
	assert_int_equal(farm_stop(box), 4);
	wait_in_state(box, TQ_READY, 4);
	wait_workers(box, 0);
}

static pid_t pick_worker(struct farm_box *box, unsigned *seed)
{
	struct tq_worker_info infos[32] = { { .size = sizeof(infos[0]) } };
	uint64_t cursor = 0;
	int n = tq_worker_list(box->tq, &cursor, infos, 32);
	pid_t pids[32];
	int count = 0;

	for (int i = 0; i < n; i++)
		if (!(infos[i].flags & (TQ_WORKER_IS_MASTER | TQ_WORKER_IS_DYING)))
			pids[count++] = (pid_t)infos[i].pid;
	return count ? pids[rand_r(seed) % count] : 0;
}

static void e9_workers_are_killed_while_they_wait(void **state)
{
	struct farm_box *box = begin(state);
	unsigned seed = (unsigned)getpid();

	farm_start(box);
	uint64_t id = submit_chain(box, DEPTH);

	for (int i = 0; i < KILLS; i++) {
		for (int k = 0; k < 10; k++)
			pause_ms();
		pid_t pid = pick_worker(box, &seed);

		if (pid)
			kill(pid, SIGKILL);
	}
	make("go");
	assert_int_equal(wait_final(box, id).state, TQ_DONE);
	wait_workers(box, 1);
	assert_int_equal(farm_stop(box), 0);
}

/* E9: a task is not over before its own wait for it. */
static void e9_a_wait_for_itself_is_refused(void **state)
{
	struct farm_box *box = begin(state);
	char text[16];

	farm_start(box);
	uint64_t id = submit_kind(box, "waiter", NULL);

	wait_final(box, id);
	snprintf(text, sizeof(text), "%d", -EDEADLK);
	assert_string_equal(result_of(box, id), text);
	assert_int_equal(farm_stop(box), 0);
}

static struct tq_worker *open_foreign(struct farm_box *box, const char *queue)
{
	const struct tq_worker_opts opts = { .size = sizeof(opts),
					     .queues = &queue,
					     .queue_count = 1 };
	struct tq_worker *worker;

	assert_int_equal(tq_worker_open(box->tq, &opts, &worker), 0);
	return worker;
}

static uint64_t submit_foreign(struct farm_box *box, const char *queue)
{
	const struct tq_task_spec spec = { .size = sizeof(spec),
					   .queue = queue,
					   .kind = "foreign" };
	uint64_t id;

	assert_int_equal(tq_submit(box->tq, &spec, &id), 0);
	return id;
}

/* A process with a worker of its own, which runs one task and waits for another in it. */
struct host {
	pid_t pid;
	int answer; /* pipe: what tq_wait() answered */
};

static struct host start_host(struct farm_box *box, const char *queue, uint64_t other)
{
	struct tq_claim claim = { .size = sizeof(claim) };
	struct host host;
	int fds[2], r;

	assert_int_equal(pipe(fds), 0);
	fflush(NULL);
	host.pid = fork();
	assert_true(host.pid >= 0);
	if (host.pid == 0) {
		struct tq_worker *worker = open_foreign(box, queue);

		r = tq_claim(worker, PATIENCE_NS, &claim);
		r = r < 0 ? r : tq_wait(box->tq, &other, 1, PATIENCE_NS, NULL, NULL);
		if (write(fds[1], &r, sizeof(r)) != sizeof(r))
			_exit(1);
		r = tq_complete(worker, &claim, NULL, 0);
		tq_worker_close(worker);
		_exit(r < 0);
	}
	close(fds[1]);
	host.answer = fds[0];
	return host;
}

static int end_host(struct host *host)
{
	int r = 1, status;

	assert_int_equal(read(host->answer, &r, sizeof(r)), sizeof(r));
	close(host->answer);
	assert_int_equal(waitpid(host->pid, &status, 0), host->pid);
	assert_int_equal(status, 0);
	return r;
}

/* Whoever comes last to close the circle is refused, and the others get on. */
static void e9_foreign_workers_do_not_wait_in_a_circle(void **state)
{
	static const char *const queues[] = { "a", "b", "c" };
	struct farm_box *box = *state;
	struct host hosts[3];
	uint64_t ids[3];
	int refused = 0;

	for (int i = 0; i < 3; i++)
		ids[i] = submit_foreign(box, queues[i]);
	for (int i = 0; i < 3; i++)
		hosts[i] = start_host(box, queues[i], ids[(i + 1) % 3]);
	for (int i = 0; i < 3; i++) {
		int r = end_host(&hosts[i]);

		refused += r == -EDEADLK;
		assert_true(r == 0 || r == -EDEADLK);
		assert_int_equal(wait_final(box, ids[i]).state, TQ_DONE);
	}
	assert_int_equal(refused, 1);
}

struct adopter {
	struct tq_worker *worker;
	const struct tq_claim *claim;
	int answers[2];
};

static void *wait_in_thread(void *arg)
{
	struct adopter *a = arg;

	a->answers[0] = tq_wait(handle, &a->claim->id, 1, MS, NULL, NULL);
	if (tq_claim_adopt(a->worker, a->claim) == 0)
		a->answers[1] = tq_wait(handle, &a->claim->id, 1, PATIENCE_NS, NULL, NULL);
	return NULL;
}

/* Only who works on a claim waits on its behalf: not a child, not any thread. */
static void e9_who_works_on_a_claim(void **state)
{
	struct farm_box *box = *state;
	struct tq_claim claim = { .size = sizeof(claim) };
	struct adopter a = { .claim = &claim };
	pthread_t thread;
	int status;

	handle = box->tq;
	uint64_t id = submit_foreign(box, "a");

	a.worker = open_foreign(box, "a");
	assert_int_equal(tq_claim(a.worker, PATIENCE_NS, &claim), 0);
	assert_int_equal(tq_wait(box->tq, &id, 1, PATIENCE_NS, NULL, NULL), -EDEADLK);
	pid_t pid = fork();

	if (pid == 0)
		_exit(tq_wait(box->tq, &id, 1, MS, NULL, NULL) != -ETIMEDOUT ||
		      tq_claim_adopt(a.worker, &claim) != -ECHILD);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(pthread_create(&thread, NULL, wait_in_thread, &a), 0);
	pthread_join(thread, NULL);
	assert_int_equal(a.answers[0], -ETIMEDOUT);
	assert_int_equal(a.answers[1], -EDEADLK);
	assert_int_equal(tq_claim_adopt(a.worker, NULL), 0);
	assert_int_equal(tq_wait(box->tq, &id, 1, MS, NULL, NULL), -ETIMEDOUT);
	assert_int_equal(tq_claim_adopt(a.worker, &claim), 0);
	assert_int_equal(tq_complete(a.worker, &claim, NULL, 0), 0);
	assert_int_equal(tq_wait(box->tq, &id, 1, PATIENCE_NS, NULL, NULL), 0);
	tq_worker_close(a.worker);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, farm_box_setup, farm_box_teardown)
	const struct CMUnitTest tests[] = {
		TEST(e9_one_worker_and_a_chain_of_handlers),
		TEST(e9_a_worker_per_task_and_a_chain),
		TEST(e9_sixty_four_substitutes),
		TEST(e9_a_farm_that_stops_lets_waits_end),
		TEST(e9_a_farm_that_stops_gives_waiting_tasks_back),
		TEST(e9_workers_are_killed_while_they_wait),
		TEST(e9_a_wait_for_itself_is_refused),
		TEST(e9_foreign_workers_do_not_wait_in_a_circle),
		TEST(e9_who_works_on_a_claim),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
