/* SPDX-License-Identifier: MIT */
/* Workers and masters killed at random while tasks flow: none is lost, none runs twice at once. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "farm_box.h"

#define TASKS 60
#define KILLS 60

/*
 * An attempt holds a file lock as long as any process of it lives; the next one
 * that finds it held has started too early.
 */
static const char *const exclusive =
	"exec 9>>lock.$TASKQ_ID; flock -n 9 || echo $TASKQ_ID >>overlaps\n"
	"(exec sleep 0.05) & sleep 0.02; wait\n"
	"echo x >>done.$TASKQ_ID\n";

static int exclusive_handler(struct tq_run *run, void *arg)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/lock.h%llu", (const char *)arg,
		 (unsigned long long)tq_run_claim(run)->id);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	int r = fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 ? TQ_RUN_FATAL : TQ_RUN_DONE;

	for (int i = 0; i < 20; i++)
		pause_ms();
	if (fd >= 0)
		close(fd);
	return r;
}

static char handler_dir[64]; /* a handler's argument outlives the call that sets it */

static void chaos_handlers(struct tq *tq)
{
	if (tq_handler_set(tq, "exclusive", exclusive_handler, handler_dir) < 0)
		_exit(FARM_FAILED);
}

static pid_t pick_worker(struct farm_box *box, unsigned *seed)
{
	struct tq_worker_info infos[16] = { { .size = sizeof(infos[0]) } };
	uint64_t cursor = 0;
	int n = tq_worker_list(box->tq, &cursor, infos, 16);
	pid_t pids[16];
	int count = 0;

	for (int i = 0; i < n; i++)
		if (!(infos[i].flags & (TQ_WORKER_IS_MASTER | TQ_WORKER_IS_DYING)))
			pids[count++] = (pid_t)infos[i].pid;
	return count ? pids[rand_r(seed) % count] : 0;
}

/* A worker, which is a child of the farm and not reaped before it is gone from the list. */
static void kill_some(struct farm_box *box, unsigned *seed, int signal)
{
	pid_t pid = pick_worker(box, seed);

	if (pid)
		kill(pid, signal);
}

static void submit_all(struct farm_box *box, uint64_t *ids)
{
	const struct tq_task_spec spec = { .crashes_max = 200, .losses_max = 200 };

	for (int i = 0; i < TASKS; i++)
		ids[i] = i % 2 ? submit_kind(box, "exclusive", &spec)
			       : submit_script(box, exclusive, &spec);
}

static void check_all(struct farm_box *box, const uint64_t *ids)
{
	char path[128];

	for (int i = 0; i < TASKS; i++) {
		struct tq_task_info info = wait_final(box, ids[i]);

		if (info.state != TQ_DONE)
			fail_msg("task %d: %s %s", i, cause_of(&info), info.error_text);
	}
	snprintf(path, sizeof(path), "%s/overlaps", box->dir);
	assert_int_not_equal(access(path, F_OK), 0);
}

static void e3_random_kills_of_workers(void **state)
{
	struct farm_box *box = *state;
	unsigned seed = (unsigned)getpid();
	uint64_t ids[TASKS];

	memcpy(handler_dir, box->dir, sizeof(handler_dir));
	box->handlers = chaos_handlers;
	box->opts.workers = 3;
	farm_start(box);
	submit_all(box, ids);
	for (int i = 0; i < KILLS; i++) {
		for (int k = 0; k < 20; k++)
			pause_ms();
		kill_some(box, &seed, SIGKILL);
	}
	check_all(box, ids);
	assert_int_equal(farm_stop(box), 0);
}

static void e3_random_ends_of_farms(void **state)
{
	struct farm_box *box = *state;
	unsigned seed = (unsigned)getpid();
	uint64_t ids[TASKS];

	memcpy(handler_dir, box->dir, sizeof(handler_dir));
	box->handlers = chaos_handlers;
	box->opts.workers = 3;
	box->opts.grace_ns = 10 * MS;
	submit_all(box, ids);
	for (int i = 0; i < 12; i++) {
		farm_start(box);
		for (int k = rand_r(&seed) % 60 + 10; k > 0; k--)
			pause_ms();
		kill(box->farm, i % 3 ? SIGTERM : SIGKILL);
		farm_join(box);
	}
	box->opts.grace_ns = S;
	farm_start(box);
	wait_workers(box, 3); /* nothing may be left to do: it must be there to be stopped */
	check_all(box, ids);
	assert_int_equal(farm_stop(box), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, farm_box_setup, farm_box_teardown)
	const struct CMUnitTest tests[] = {
		TEST(e3_random_kills_of_workers),
		TEST(e3_random_ends_of_farms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
