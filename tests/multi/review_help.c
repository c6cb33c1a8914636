/* SPDX-License-Identifier: MIT */
/* What the review_*_test.c share. */
#include "review_help.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SETTLED 20 /* looks at a process, a millisecond apart, that all find it asleep */

void *share(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	return memory;
}

void give_up(void *memory, size_t bytes)
{
	munmap(memory, bytes);
}

pid_t start_child(struct farm_box *box, child_main *run, void *arg)
{
	pid_t parent = getpid(), pid;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	_exit(run(box, arg));
}

static int keep(struct farm_box *box, void *arg)
{
	struct tq_worker *worker = open_worker(box->tq, "unused");
	struct tq_claim claim = { .size = sizeof(claim) };

	(void)arg;
	return worker ? tq_claim(worker, TQ_FOREVER_NS, &claim) : 1;
}

/* Who sleeps at least that long. */
static uint32_t count_asleep(struct farm_box *box, enum tqi_interest interest, uint64_t until_ns)
{
	uint32_t count = 0;
	struct tqi_tx tx;

	assert_int_equal(tqi_hold_begin(box->tq, &tx), 0);
	for (uint32_t w = 1; w < tx.core->tables[TQI_WAITERS].count; w++) {
		const struct tqi_waiter *slot = tqi_waiter_at(&tx, w);

		count += slot->state == TQI_WAITER_LISTED && slot->interest == interest &&
			 slot->until_ns >= until_ns;
	}
	assert_int_equal(tqi_hold_end(box->tq, &tx, 0), 0);
	return count;
}

pid_t start_keeper(struct farm_box *box)
{
	const uint32_t asleep = count_asleep(box, TQI_INTEREST_WORK, 0);
	pid_t pid = start_child(box, keep, NULL);

	wait_asleep(box, TQI_INTEREST_WORK, asleep + 1);
	return pid;
}

void kill_child(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

void stop_child(pid_t pid)
{
	int status;

	kill(pid, SIGSTOP);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
}

int join_child(pid_t pid, uint64_t bound_ns)
{
	uint64_t until = now_ns() + bound_ns;
	int status;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (now_ns() > until) {
			kill_child(pid);
			fail_msg("child %d did not end in time", (int)pid);
		}
		pause_ms();
	}
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void join_thread(pthread_t thread, uint64_t bound_ns)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += (time_t)(bound_ns / S);
	if (pthread_timedjoin_np(thread, NULL, &until))
		fail_msg("a thread did not end in time");
}

void wait_live(struct farm_box *box, uint32_t table, uint32_t count)
{
	uint64_t until = now_ns() + PATIENCE_NS;

	for (;;) {
		struct tqi_tx tx;

		assert_int_equal(tqi_hold_begin(box->tq, &tx), 0);
		uint32_t live = tx.core->tables[table].live;

		assert_int_equal(tqi_hold_end(box->tq, &tx, 0), 0);
		if (live == count)
			return;
		if (now_ns() > until)
			fail_msg("table %u: %u records, not %u", table, live, count);
		pause_ms();
	}
}

void wait_asleep(struct farm_box *box, enum tqi_interest interest, uint32_t count)
{
	uint64_t until = now_ns() + PATIENCE_NS;
	uint32_t asleep;

	while ((asleep = count_asleep(box, interest, 0)) != count) {
		if (now_ns() > until)
			fail_msg("%u sleepers of interest %d, not %u", asleep, (int)interest,
				 count);
		pause_ms();
	}
}

void wait_asleep_for_good(struct farm_box *box, enum tqi_interest interest)
{
	uint64_t until = now_ns() + PATIENCE_NS;

	while (count_asleep(box, interest, UINT64_MAX) == 0) {
		if (now_ns() > until)
			fail_msg("none of interest %d sleeps without a limit", (int)interest);
		pause_ms();
	}
}

void wait_settled(pid_t pid)
{
	uint64_t until = now_ns() + PROMPT_NS, start;
	int asleep = 0;
	char state;

	while (asleep < SETTLED) {
		assert_int_equal(tqi_pid_start((uint32_t)pid, &start, &state), 0);
		asleep = state == 'S' ? asleep + 1 : 0;
		if (now_ns() > until)
			fail_msg("child %d does not fall asleep", (int)pid);
		pause_ms();
	}
}

static uint64_t last_look(struct farm_box *box)
{
	struct tqi_tx tx;

	assert_int_equal(tqi_hold_begin(box->tq, &tx), 0);
	uint64_t look_ns = tqi_root(&tx)->look_ns;

	assert_int_equal(tqi_hold_end(box->tq, &tx, 0), 0);
	return look_ns;
}

void wait_looks(struct farm_box *box, int count)
{
	uint64_t until = now_ns() + PATIENCE_NS, last = last_look(box);

	while (count > 0) {
		uint64_t look = last_look(box);

		/* Looks that follow at once are one: they are parts of one keeping. */
		if (look > last + 100 * MS) {
			last = look;
			count--;
		}
		if (now_ns() > until)
			fail_msg("nobody looks");
		pause_ms();
	}
}

void wait_set(const struct tqi_word32 *word)
{
	uint64_t until = now_ns() + PATIENCE_NS;

	while (!tqi_load_acquire32(word)) {
		if (now_ns() > until)
			fail_msg("a child does not get there");
		pause_ms();
	}
}

uint32_t state_of(struct farm_box *box, uint64_t id)
{
	struct tq_task_info info = { .size = sizeof(info) };

	assert_int_equal(tq_task_info(box->tq, id, &info), 0);
	return info.state;
}

void wait_state(struct farm_box *box, uint64_t id, uint32_t state)
{
	uint64_t until = now_ns() + PATIENCE_NS;

	while (state_of(box, id) != state) {
		if (now_ns() > until)
			fail_msg("task is %s, not %s", tq_task_state_name(state_of(box, id)),
				 tq_task_state_name(state));
		pause_ms();
	}
}

struct tq_worker *open_worker(struct tq *tq, const char *queue)
{
	const struct tq_worker_opts opts = { .size = sizeof(opts),
					     .queues = &queue,
					     .queue_count = 1 };
	struct tq_worker *worker = NULL;

	return tq_worker_open(tq, &opts, &worker) < 0 ? NULL : worker;
}

uint64_t submit_to(struct farm_box *box, const char *queue, uint32_t flags)
{
	const struct tq_task_spec like = { .queue = queue, .flags = flags };

	return submit_kind(box, "k", &like);
}

struct tq_claim claim_now(struct tq_worker *worker)
{
	struct tq_claim claim = { .size = sizeof(claim) };

	assert_int_equal(tq_claim(worker, 0, &claim), 0);
	return claim;
}

void many_submit(struct farm_box *box, struct many *many, uint32_t flags)
{
	*many = (struct many){ .tq = box->tq };
	for (int i = 0; i < MANY_TASKS; i++)
		many->ids[i] = submit_to(box, "q", flags);
}

static void *wait_for_all(void *arg)
{
	struct many *many = arg;

	if (tq_wait(many->tq, many->ids, MANY_TASKS, TQ_FOREVER_NS, NULL, NULL) == 0)
		tqi_add_release32(&many->good, 1);
	return NULL;
}

void many_wait(struct farm_box *box, struct many *many)
{
	for (int i = 0; i < MANY_WAITERS; i++)
		assert_int_equal(pthread_create(&many->threads[i], NULL, wait_for_all, many), 0);
	wait_live(box, TQI_EDGES, MANY_TASKS * MANY_WAITERS);
	wait_asleep(box, TQI_INTEREST_TASKS, MANY_WAITERS);
}

void many_end(struct farm_box *box, struct many *many, uint32_t state)
{
	for (int i = 0; i < MANY_WAITERS; i++)
		join_thread(many->threads[i], PROMPT_NS);
	assert_int_equal(tqi_load_acquire32(&many->good), MANY_WAITERS);
	for (int i = 0; i < MANY_TASKS; i++)
		assert_int_equal(state_of(box, many->ids[i]), state);
}

uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * S + (uint64_t)ts.tv_nsec;
}

static void print_finding(void *arg, const char *text)
{
	(void)arg;
	print_message("check: %s\n", text);
}

void assert_sound(struct farm_box *box)
{
	assert_int_equal(tq_check(box->tq, TQ_CHECK_EXACT, print_finding, NULL), 0);
}
