/* SPDX-License-Identifier: MIT */
/* Workers and masters that die: what is given back, why, and what is left behind. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "review_help.h"

/* The second attempt itself looks whether anything of the first is still there. */
static const char *const tree_script =
	"if [ $TASKQ_ATTEMPT = 1 ]; then\n"
	"	trap '' TERM HUP\n"
	"	(trap '' TERM HUP; exec sleep 1000) & echo $! >child; echo $$ >leader\n"
	"	wait; exit 1\n"
	"fi\n"
	"for pid in $(cat leader child); do\n"
	"	case $(cut -d' ' -f3 /proc/$pid/stat 2>/dev/null) in ''|Z) ;; *) echo alive; esac\n"
	"done\n"
	"echo gone\n";

static void e3_killed_worker_s_task_starts_again_after_its_group_is_gone(void **state)
{
	struct farm_box *box = *state;

	farm_start(box);
	uint64_t id = submit_script(box, tree_script, NULL);

	wait_number(box, "leader");
	struct tq_task_info info = wait_running(box, id);
	uint64_t killed_ns = now_ns();

	kill((pid_t)info.worker_pid, SIGKILL);
	info = wait_final(box, id);
	assert_int_equal(info.state, TQ_DONE);
	assert_string_equal(result_of(box, id), "gone\n");
	assert_int_equal(info.attempt, 2);
	assert_int_equal(info.crashes, 1);
	assert_int_equal(info.failures, 0);
	assert_true(info.started_ns - killed_ns < S);
	assert_int_equal(farm_stop(box), 0);
}

static void e3_cause_of_the_first_attempt_is_remembered(void **state)
{
	struct farm_box *box = *state;
	struct tq_attempt_info history[TQ_HISTORY_MAX];
	char cause[32];

	farm_start(box);
	uint64_t id = submit_script(box, tree_script, NULL);

	wait_number(box, "leader");
	kill((pid_t)wait_running(box, id).worker_pid, SIGKILL);
	wait_final(box, id);
	assert_int_equal(tq_task_history(box->tq, id, history), 2);
	assert_string_equal(tq_cause_format(history[0].cause, history[0].cause_arg, cause),
			    "signal:KILL");
	assert_int_equal(farm_stop(box), 0);
}

static int crash(struct tq_run *run, void *arg)
{
	(void)run;
	(void)arg;
	signal(SIGSEGV, SIG_DFL); /* a sanitizer's handler would end it otherwise */
	kill(getpid(), SIGSEGV);
	return TQ_RUN_DONE;
}

static int leave(struct tq_run *run, void *arg)
{
	(void)run;
	(void)arg;
	_exit(7);
}

/* Leaves a process behind in the worker's group, then dies. */
static int fork_and_crash(struct tq_run *run, void *arg)
{
	const struct tq_claim *claim = tq_run_claim(run);
	char text[32];

	(void)arg;
	if (claim->attempt > 1) {
		if (claim->progress_percent != 50 || strcmp(claim->progress_text, "half") != 0)
			return TQ_RUN_FATAL;
		snprintf(text, sizeof(text), "%.*s", (int)claim->checkpoint_bytes,
			 (const char *)claim->checkpoint);
		return tq_run_result(run, text, strlen(text));
	}
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	int n = snprintf(text, sizeof(text), "%d", (int)pid);

	if (tq_claim_checkpoint(tq_run_worker(run), claim, text, (uint64_t)n) < 0 ||
	    tq_claim_progress(tq_run_worker(run), claim, 50, "half") < 0)
		return TQ_RUN_FATAL;
	return crash(run, NULL);
}

static void crashing_handlers(struct tq *tq)
{
	if (tq_handler_set(tq, "crash", crash, NULL) < 0 ||
	    tq_handler_set(tq, "leave", leave, NULL) < 0 ||
	    tq_handler_set(tq, "fork", fork_and_crash, NULL) < 0)
		_exit(FARM_FAILED);
}

static void e5_poison_task_fails_after_three_crashes(void **state)
{
	struct farm_box *box = *state;

	box->handlers = crashing_handlers;
	farm_start(box);
	uint64_t id = submit_kind(box, "crash", NULL);
	struct tq_task_info info = wait_final(box, id);

	assert_int_equal(info.state, TQ_FAILED);
	assert_cause(&info, "signal:SEGV");
	assert_int_equal(info.crashes, 3);
	assert_int_equal(info.attempt, 3);
	/* The farm goes on. */
	info = wait_final(box, submit_script(box, "true", NULL));
	assert_int_equal(info.state, TQ_DONE);
	assert_int_equal(farm_stop(box), 0);
}

static void e11_exit_code_of_a_worker_is_the_cause(void **state)
{
	struct farm_box *box = *state;
	const struct tq_task_spec once = { .crashes_max = 1 };

	box->handlers = crashing_handlers;
	farm_start(box);
	struct tq_task_info info = wait_final(box, submit_kind(box, "leave", &once));

	assert_int_equal(info.state, TQ_FAILED);
	assert_cause(&info, "exit:7");
	assert_int_equal(info.crashes, 1);
	assert_int_equal(farm_stop(box), 0);
}

static void f1_what_a_handler_forked_dies_with_its_worker(void **state)
{
	struct farm_box *box = *state;

	box->handlers = crashing_handlers;
	farm_start(box);
	uint64_t id = submit_kind(box, "fork", NULL);
	struct tq_task_info info = wait_final(box, id);
	long pid = 0;

	assert_int_equal(info.state, TQ_DONE);
	assert_int_equal(sscanf(result_of(box, id), "%ld", &pid), 1);
	assert_false(process_is_there(pid));
	assert_int_equal(farm_stop(box), 0);
}

static int succeed(struct tq_run *run, void *arg)
{
	(void)run;
	(void)arg;
	return TQ_RUN_DONE;
}

static void set_crashing(struct tq *tq)
{
	assert_int_equal(tq_handler_set(tq, "crash", crash, NULL), 0);
	assert_int_equal(tq_handler_set(tq, "good", succeed, NULL), 0);
}

/* 24 crashes would have taken a minute of pauses, more than is waited for. */
static void crashing_tasks_hold_no_others_up(void **state)
{
	struct farm_box *box = *state;

	box->opts.workers = 2;
	box->handlers = set_crashing;
	for (int i = 0; i < 8; i++)
		submit_kind(box, "crash", NULL);
	uint64_t good = submit_kind(box, "good", NULL);

	farm_start(box);
	assert_int_equal(wait_final(box, good).state, TQ_DONE);
	assert_int_equal(farm_stop(box), 0);
}

static void f1_killed_idle_worker_is_replaced(void **state)
{
	struct farm_box *box = *state;

	box->opts.workers = 2;
	farm_start(box);
	wait_workers(box, 2);
	pid_t worker = any_worker(box);

	kill(worker, SIGKILL);
	wait_gone(worker);
	struct tq_task_info info = wait_final(box, submit_script(box, "true", NULL));

	assert_int_equal(info.state, TQ_DONE);
	wait_workers(box, 2);
	assert_int_not_equal(any_worker(box), worker);
	assert_int_equal(farm_stop(box), 0);
}

static void e3_killed_master_s_worker_finishes_its_task(void **state)
{
	struct farm_box *box = *state;

	farm_start(box);
	uint64_t id = submit_script(box, "echo $$ >leader; sleep 0.3; echo done", NULL);

	wait_number(box, "leader");
	pid_t worker = (pid_t)wait_running(box, id).worker_pid;

	kill(box->farm, SIGKILL);
	assert_int_equal(farm_join(box), 128 + SIGKILL);
	struct tq_task_info info = wait_final(box, id);

	assert_int_equal(info.state, TQ_DONE);
	assert_int_equal(info.attempt, 1);
	wait_gone(worker);
	wait_workers(box, 0);
}

static void e3_orphaned_worker_gives_back_after_the_grace_time(void **state)
{
	struct farm_box *box = *state;

	box->opts.grace_ns = 300 * MS;
	farm_start(box);
	uint64_t id = submit_script(box, tree_script, NULL);

	wait_number(box, "leader");
	pid_t worker = (pid_t)wait_running(box, id).worker_pid;

	kill(box->farm, SIGKILL);
	farm_join(box);
	wait_gone(worker);
	farm_start(box);
	struct tq_task_info info = wait_final(box, id);

	assert_int_equal(info.state, TQ_DONE);
	assert_int_equal(info.attempt, 2);
	assert_int_equal(info.crashes, 0); /* no fault of the task */
	assert_int_equal(info.failures, 0);
	assert_string_equal(result_of(box, id), "gone\n");
	assert_int_equal(farm_stop(box), 0);
}

/* Master and worker at once: the next farm ends what is left of the group. */
static void e3_master_and_worker_killed_at_once(void **state)
{
	struct farm_box *box = *state;

	farm_start(box);
	uint64_t id = submit_script(box, tree_script, NULL);
	long leader = wait_number(box, "leader"), child = wait_number(box, "child");
	pid_t worker = (pid_t)wait_running(box, id).worker_pid;

	kill(box->farm, SIGKILL);
	kill(worker, SIGKILL);
	farm_join(box);
	wait_gone(leader); /* its parent-death signal */
	assert_true(process_is_there(child));
	farm_start(box);
	struct tq_task_info info = wait_final(box, id);

	assert_int_equal(info.state, TQ_DONE);
	assert_int_equal(info.attempt, 2);
	assert_false(process_is_there(child));
	assert_string_equal(result_of(box, id), "gone\n");
	assert_int_equal(farm_stop(box), 0);
}

/* A tree that nothing but SIGKILL ends, in a segment that is destroyed. */
struct doomed {
	long leader, child;
	pid_t worker;
};

static struct doomed start_doomed(struct farm_box *box)
{
	struct doomed d;

	box->opts.grace_ns = 300 * MS;
	farm_start(box);
	uint64_t id = submit_script(box,
				    "trap '' TERM; sleep 1000 & echo $! >child; echo $$ >leader\n"
				    "while :; do sleep 0.01; done\n",
				    NULL);

	d.leader = wait_number(box, "leader");
	d.child = wait_number(box, "child");
	d.worker = (pid_t)wait_running(box, id).worker_pid;
	return d;
}

static void wait_doomed(const struct doomed *d)
{
	wait_gone(d->leader);
	wait_gone(d->child);
	wait_gone(d->worker);
}

static void f1_destroyed_segment_leaves_no_process(void **state)
{
	struct farm_box *box = *state;
	struct doomed d = start_doomed(box);

	assert_int_equal(tq_destroy(box->name, TQ_DESTROY_FORCE), 0);
	assert_int_equal(farm_join(box), FARM_FAILED);
	wait_doomed(&d);
}

static void f1_orphaned_worker_of_a_destroyed_segment_ends(void **state)
{
	struct farm_box *box = *state;
	struct doomed d = start_doomed(box);

	kill(box->farm, SIGKILL);
	farm_join(box);
	assert_int_equal(tq_destroy(box->name, TQ_DESTROY_FORCE), 0);
	wait_doomed(&d);
}

static void f1_worker_of_a_destroyed_segment_ends_without_its_master(void **state)
{
	struct farm_box *box = *state;
	struct doomed d = start_doomed(box);

	assert_int_equal(tq_destroy(box->name, TQ_DESTROY_FORCE), 0);
	kill(box->farm, SIGKILL);
	farm_join(box);
	wait_doomed(&d);
}

/* Of this pid, or with this number; zeros when there is none. */
static struct tq_worker_info find_worker(struct farm_box *box, pid_t pid, uint32_t number)
{
	struct tq_worker_info infos[16] = { { .size = sizeof(infos[0]) } };
	const struct tq_worker_info none = { 0 };
	uint64_t cursor = 0;

	for (int i = tq_worker_list(box->tq, &cursor, infos, 16) - 1; i >= 0; i--)
		if (infos[i].pid == (uint32_t)pid || infos[i].number == number)
			return infos[i];
	return none;
}

static void on_usr1(int signal)
{
	(void)signal;
	tq_farm_stop();
}

static void stop_by_usr1(struct tq *tq)
{
	(void)tq;
	signal(SIGUSR1, on_usr1);
}

/*
 * A worker that left gives its record back before it is reaped; a worker of another
 * farm takes the record, and must not be taken for what the first one left behind.
 */
static void inherit_a_record(struct farm_box *box)
{
	struct farm_box other = *box;

	other.opts.flags = 0;
	box->handlers = stop_by_usr1;
	farm_start(box);
	wait_workers(box, 1);
	wait_asleep_for_good(box, TQI_INTEREST_MASTER);
	const struct tq_worker_info first = find_worker(box, any_worker(box), 0);

	farm_start(&other);
	wait_workers(box, 2);
	stop_child(box->farm);
	kill((pid_t)first.pid, SIGTERM);
	wait_workers(box, 1);
	kill(other.farm, SIGTTIN); /* one worker more */
	wait_workers(box, 2);
	pid_t heir = (pid_t)find_worker(box, 0, first.number).pid;

	assert_true(heir != 0 && heir != (pid_t)first.pid);
	kill(box->farm, SIGCONT);
	wait_workers(box, 3); /* the first one was reaped, and replaced */
	assert_int_equal(find_worker(box, 0, first.number).pid, heir);
	assert_true(process_is_there(heir));
	assert_int_equal(farm_stop(&other), 0);
	kill(box->farm, SIGUSR1);
	assert_int_equal(farm_join(box), 0);
}

static void f1_worker_with_the_record_of_one_that_left_is_spared(void **state)
{
	inherit_a_record(*state);
}

/* The master is told by life locks, and this one is held, by the wrong worker. */
static void f1_record_of_one_that_left_hides_its_end_from_nobody(void **state)
{
	struct farm_box *box = *state;

	box->opts.flags = TQ_FARM_KEEP_SIGNALS;
	inherit_a_record(box);
}

/*
 * One process leaves the group and its child stays: killed, that one is a zombie which
 * nobody reaps as long as its parent lives.
 */
static const char *const zombie_script =
	"(sleep 60 >/dev/null & exec setsid sleep 60 >/dev/null 2>&1) &\n"
	"echo $! >escaped\n"
	"while [ \"$(cut -d' ' -f5 /proc/$!/stat)\" = $$ ]; do sleep 0.01; done\n";

static void f2_zombies_of_others_do_not_hold_a_command_up(void **state)
{
	struct farm_box *box = *state;

	farm_start(box);
	uint64_t id = submit_leaving(box, zombie_script);
	struct tq_task_info info = wait_final(box, id);
	pid_t escaped = (pid_t)wait_number(box, "escaped");

	assert_int_equal(info.state, TQ_DONE);
	assert_true(process_is_there(escaped));
	kill(escaped, SIGKILL);
	assert_int_equal(farm_stop(box), 0);
}

static void f2_zombies_of_others_do_not_hold_a_burial_up(void **state)
{
	struct farm_box *box = *state;
	char script[512];

	farm_start(box);
	snprintf(script, sizeof(script), "[ $TASKQ_ATTEMPT = 1 ] || exit 0\n%skill -KILL $PPID\n",
		 zombie_script);
	uint64_t id = submit_leaving(box, script);
	struct tq_task_info info = wait_final(box, id);
	pid_t escaped = (pid_t)wait_number(box, "escaped");

	assert_int_equal(info.state, TQ_DONE);
	assert_int_equal(info.attempt, 2);
	assert_true(process_is_there(escaped));
	kill(escaped, SIGKILL);
	assert_int_equal(farm_stop(box), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, farm_box_setup, farm_box_teardown)
	const struct CMUnitTest tests[] = {
		TEST(e3_killed_worker_s_task_starts_again_after_its_group_is_gone),
		TEST(e3_cause_of_the_first_attempt_is_remembered),
		TEST(e5_poison_task_fails_after_three_crashes),
		TEST(e11_exit_code_of_a_worker_is_the_cause),
		TEST(f1_what_a_handler_forked_dies_with_its_worker),
		{ "fault.X13: crashing tasks hold no others up", crashing_tasks_hold_no_others_up,
		  farm_box_setup, farm_box_teardown, NULL },
		TEST(f1_killed_idle_worker_is_replaced),
		TEST(f1_worker_with_the_record_of_one_that_left_is_spared),
		TEST(f1_record_of_one_that_left_hides_its_end_from_nobody),
		TEST(f2_zombies_of_others_do_not_hold_a_command_up),
		TEST(f2_zombies_of_others_do_not_hold_a_burial_up),
		TEST(e3_killed_master_s_worker_finishes_its_task),
		TEST(e3_orphaned_worker_gives_back_after_the_grace_time),
		TEST(e3_master_and_worker_killed_at_once),
		TEST(f1_destroyed_segment_leaves_no_process),
		TEST(f1_orphaned_worker_of_a_destroyed_segment_ends),
		TEST(f1_worker_of_a_destroyed_segment_ends_without_its_master),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
