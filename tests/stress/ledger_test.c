/* SPDX-License-Identifier: MIT */
/*
 * The judge of the storm can see: every kind of violation, planted in a ledger, turns it
 * red; and what only looks like one does not.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "judge.h"
#include "usage.h"
#include "who.h"

#define ID 0x1000001u
#define FAILURES_MAX 2u

struct book {
	struct ledger *l;
	int fd;
	uint64_t self;
	uint32_t slot; /* of a task that was accepted */
};

static int open_book(void **state)
{
	struct book *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	b->l = ledger_create(&b->fd);
	assert_non_null(b->l);
	b->self = who_am_i();
	b->slot = ledger_offer(b->l, 1);
	ledger_describe(b->l, b->slot, 0, FAILURES_MAX);
	ledger_accepted(b->l, b->slot, ID);
	*state = b;
	return 0;
}

static int close_book(void **state)
{
	struct book *b = *state;

	munmap(b->l, sizeof(*b->l));
	close(b->fd);
	free(b);
	return 0;
}

/* Exactly this fault, and no other; FAULT_COUNT none. */
static void assert_fault(struct book *b, enum fault fault)
{
	for (int i = 0; i < FAULT_COUNT; i++)
		if ((b->l->faults[i] > 0) != (i == (int)fault)) {
			ledger_print_faults(b->l);
			fail_msg("fault %d: %u", i, b->l->faults[i]);
		}
}

static void set_traits(struct book *b, uint32_t traits)
{
	b->l->task[b->slot].traits = traits;
}

static void begin(struct book *b, uint32_t attempt)
{
	ledger_begin(b->l, b->slot, ID, attempt, b->self);
}

static void say(struct book *b, uint32_t said)
{
	ledger_say(b->l, b->slot, said, b->self);
}

static void judge(struct book *b, uint32_t state)
{
	const struct tq_task_info info = { .size = sizeof(info),
					   .state = state,
					   .attempts_max = FAILURES_MAX,
					   .crashes_max = 3,
					   .losses_max = 3 };

	judge_task(b->l, b->slot, 0, &info);
}

static void judge_gone(struct book *b, int r)
{
	judge_task(b->l, b->slot, r, NULL);
}

static void sound_lives_are_sound(void **state)
{
	struct book *b = *state;

	begin(b, 1);
	say(b, SAID_FAIL);
	ledger_hear(b->l, b->slot, SAID_FAIL);
	begin(b, 2);
	say(b, SAID_DONE);
	ledger_hear(b->l, b->slot, SAID_DONE);
	ledger_outcome(b->l, b->slot, TQ_DONE);
	judge(b, TQ_DONE);
	judge_gone(b, TQ_EGONE);
	assert_fault(b, FAULT_COUNT);
}

static void a_kept_record_that_is_gone_is_lost(void **state)
{
	struct book *b = *state;

	set_traits(b, TRAIT_KEEP);
	begin(b, 1);
	say(b, SAID_DONE);
	judge_gone(b, TQ_EGONE);
	assert_fault(b, FAULT_LOST);
}

static void a_kept_record_goes_when_asked(void **state)
{
	struct book *b = *state;

	set_traits(b, TRAIT_KEEP);
	begin(b, 1);
	say(b, SAID_DONE);
	ledger_ask(b->l, b->slot, ASKED_FORGET);
	judge_gone(b, TQ_EGONE);
	assert_fault(b, FAULT_COUNT);
}

static void an_id_that_never_was_is_lost(void **state)
{
	struct book *b = *state;

	begin(b, 1);
	say(b, SAID_DONE);
	judge_gone(b, -ENOENT);
	assert_fault(b, FAULT_LOST);
}

static void a_record_freed_before_any_attempt_is_lost(void **state)
{
	struct book *b = *state;

	judge_gone(b, TQ_EGONE);
	assert_fault(b, FAULT_LOST);
}

static void a_record_freed_before_its_budget_is_spent_is_lost(void **state)
{
	struct book *b = *state;

	begin(b, 1);
	say(b, SAID_FAIL);
	judge_gone(b, TQ_EGONE);
	assert_fault(b, FAULT_LOST);
}

static void a_record_freed_after_its_budget_is_not(void **state)
{
	struct book *b = *state;

	for (uint32_t attempt = 1; attempt <= FAILURES_MAX; attempt++) {
		begin(b, attempt);
		say(b, SAID_FAIL);
	}
	judge_gone(b, TQ_EGONE);
	assert_fault(b, FAULT_COUNT);
}

static void a_record_freed_when_its_attempt_died_is_lost(void **state)
{
	struct book *b = *state;

	begin(b, 1);
	judge_gone(b, TQ_EGONE);
	assert_fault(b, FAULT_LOST);
}

static void a_cancelled_record_may_go(void **state)
{
	struct book *b = *state;

	begin(b, 1);
	ledger_ask(b->l, b->slot, ASKED_CANCEL);
	judge_gone(b, TQ_EGONE);
	assert_fault(b, FAULT_COUNT);
}

static void a_killed_submitter_leaves_no_fault(void **state)
{
	struct book *b = *state;

	b->slot = ledger_offer(b->l, 1);
	ledger_describe(b->l, b->slot, TRAIT_KEEP, 1);
	judge_gone(b, TQ_EGONE);
	assert_fault(b, FAULT_COUNT);
}

static void what_a_killed_submitter_left_must_end(void **state)
{
	struct book *b = *state;

	b->slot = ledger_offer(b->l, 1);
	ledger_describe(b->l, b->slot, TRAIT_KEEP, 1);
	begin(b, 1);
	judge(b, TQ_READY);
	assert_fault(b, FAULT_UNENDED);
}

static void a_task_that_does_not_end(void **state)
{
	struct book *b = *state;

	judge(b, TQ_RUNNING);
	assert_fault(b, FAULT_UNENDED);
}

static void a_verdict_that_did_not_last(void **state)
{
	struct book *b = *state;

	begin(b, 1);
	say(b, SAID_FAIL | SAID_DONE);
	ledger_hear(b->l, b->slot, SAID_DONE);
	judge(b, TQ_FAILED);
	assert_fault(b, FAULT_UNHEARD);
}

static void an_end_that_nobody_said(void **state)
{
	struct book *b = *state;

	begin(b, 1);
	judge(b, TQ_DONE);
	assert_fault(b, FAULT_UNSAID);
}

static void a_cancel_that_nobody_asked_for(void **state)
{
	struct book *b = *state;

	b->l->purges = 1; /* of another queue */
	judge(b, TQ_CANCELLED);
	assert_fault(b, FAULT_UNSAID);
}

static void a_purge_cancels(void **state)
{
	struct book *b = *state;

	b->l->purges = 1;
	set_traits(b, TRAIT_PURGED);
	judge(b, TQ_CANCELLED);
	assert_fault(b, FAULT_COUNT);
}

/* A child that does nothing till it is killed. */
static pid_t start_sleeper(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		for (;;)
			pause();
	return pid;
}

static void end_sleeper(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void an_owner_that_runs_is_an_overlap(void **state)
{
	struct book *b = *state;
	pid_t pid = start_sleeper();

	ledger_begin(b->l, b->slot, ID, 1, who_of(pid));
	begin(b, 2);
	end_sleeper(pid);
	assert_fault(b, FAULT_OVERLAP);
}

static void an_owner_that_is_stopped_is_an_overlap(void **state)
{
	struct book *b = *state;
	pid_t pid = start_sleeper();
	int status;

	kill(pid, SIGSTOP);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	ledger_begin(b->l, b->slot, ID, 1, who_of(pid));
	begin(b, 2);
	end_sleeper(pid);
	assert_fault(b, FAULT_OVERLAP);
}

static void an_owner_that_is_dead_is_none(void **state)
{
	struct book *b = *state;
	pid_t pid = start_sleeper();

	ledger_begin(b->l, b->slot, ID, 1, who_of(pid));
	end_sleeper(pid);
	begin(b, 2);
	say(b, SAID_DONE);
	assert_fault(b, FAULT_COUNT);
	assert_int_equal(b->l->recoveries, 1);
}

static void an_owner_that_is_a_zombie_is_none(void **state)
{
	struct book *b = *state;
	pid_t pid = start_sleeper();
	siginfo_t info;

	ledger_begin(b->l, b->slot, ID, 1, who_of(pid));
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	begin(b, 2);
	end_sleeper(pid);
	assert_fault(b, FAULT_COUNT);
}

static void an_owner_whose_number_changed_hands_is_none(void **state)
{
	struct book *b = *state;
	const uint64_t earlier = 1ull << 32;

	ledger_begin(b->l, b->slot, ID, 1, b->self - earlier);
	begin(b, 2);
	assert_fault(b, FAULT_COUNT);
}

static void an_attempt_that_lost_its_place_is_an_overlap(void **state)
{
	struct book *b = *state;

	begin(b, 1);
	b->l->task[b->slot].owner = 0; /* a later one has begun, and ended */
	say(b, SAID_DONE);
	assert_fault(b, FAULT_OVERLAP);
}

static int lock_of_its_own(struct book *b)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", b->fd);
	int fd = open(path, O_RDWR | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

/* The attempt's own process is gone, a child of it is not. */
static void a_process_below_an_attempt_is_an_overlap(void **state)
{
	struct book *b = *state;
	int first = lock_of_its_own(b), second = lock_of_its_own(b);

	assert_true(ledger_lock(b->l, first, b->slot));
	pid_t child = start_sleeper();

	close(first);
	assert_false(ledger_lock(b->l, second, b->slot));
	assert_fault(b, FAULT_OVERLAP);
	end_sleeper(child);
	assert_true(ledger_lock(b->l, second, b->slot));
	close(second);
}

static void a_number_that_comes_twice(void **state)
{
	struct book *b = *state;

	begin(b, 1);
	say(b, SAID_FAIL);
	begin(b, 1);
	assert_fault(b, FAULT_TWICE);
}

static void an_at_most_once_task_that_starts_twice(void **state)
{
	struct book *b = *state;

	set_traits(b, TRAIT_ONCE | TRAIT_KEEP);
	begin(b, 1);
	say(b, SAID_BACK);
	begin(b, 2);
	assert_fault(b, FAULT_TWICE);
}

static void an_attempt_after_the_end(void **state)
{
	struct book *b = *state;

	begin(b, 1);
	say(b, SAID_DONE);
	ledger_hear(b->l, b->slot, SAID_DONE);
	begin(b, 2);
	assert_fault(b, FAULT_AFTERLIFE);
}

static void an_attempt_after_the_end_was_seen(void **state)
{
	struct book *b = *state;

	ledger_outcome(b->l, b->slot, TQ_CANCELLED);
	begin(b, 1);
	assert_fault(b, FAULT_AFTERLIFE);
}

static void a_final_state_that_changes(void **state)
{
	struct book *b = *state;

	ledger_outcome(b->l, b->slot, TQ_DONE);
	ledger_outcome(b->l, b->slot, TQ_FAILED);
	assert_fault(b, FAULT_CHANGED);
}

static void a_refused_task_that_runs(void **state)
{
	struct book *b = *state;

	b->slot = ledger_offer(b->l, 1);
	ledger_describe(b->l, b->slot, 0, 1);
	ledger_refused(b->l, b->slot, TQ_EFULL);
	begin(b, 1);
	assert_fault(b, FAULT_GHOST);
}

static void a_task_with_two_ids(void **state)
{
	struct book *b = *state;

	ledger_begin(b->l, b->slot, ID + 1, 1, b->self);
	assert_fault(b, FAULT_GHOST);
}

static void a_leak_shows(void **state)
{
	struct book *b = *state;
	const struct tq_open_opts opts = { .size = sizeof(opts),
					   .flags = TQ_OPEN_CREATE | TQ_OPEN_EXCLUSIVE,
					   .max_bytes = 8u << 20 };
	const struct tq_task_spec spec = {
		.size = sizeof(spec), .kind = "k", .payload = &opts, .payload_bytes = sizeof(opts)
	};
	struct usage before, after;
	char name[64];
	struct tq *tq;
	uint64_t id;

	snprintf(name, sizeof(name), "test-ledger-%d", (int)getpid());
	assert_int_equal(tq_open(name, &opts, &tq), 0);
	/* The first one brings names, whose index stays. */
	assert_int_equal(tq_submit(tq, &spec, &id), 0);
	assert_int_equal(tq_task_steer(tq, id, TQ_TASK_ACTION_CANCEL), 0);
	assert_int_equal(tq_task_steer(tq, id, TQ_TASK_ACTION_FORGET), 0);
	usage_read(tq, &before);
	assert_int_equal(tq_submit(tq, &spec, &id), 0);
	assert_int_equal(tq_task_steer(tq, id, TQ_TASK_ACTION_CANCEL), 0);
	usage_read(tq, &after);
	usage_compare(b->l, &before, &after);
	assert_fault(b, FAULT_LEAK);
	assert_int_equal(b->l->faults[FAULT_LEAK], 3); /* a record, a block, its bytes */
	assert_int_equal(tq_task_steer(tq, id, TQ_TASK_ACTION_FORGET), 0);
	usage_read(tq, &after);
	assert_memory_equal(&before, &after, sizeof(before));
	tq_close(tq);
	assert_int_equal(tq_destroy(name, TQ_DESTROY_FORCE), 0);
}

/* What waits for what. */

static uint32_t another(struct book *b)
{
	uint32_t slot = ledger_offer(b->l, 1);

	ledger_describe(b->l, slot, 0, FAILURES_MAX);
	ledger_accepted(b->l, slot, ID + slot);
	return slot;
}

static uint32_t dependant(struct book *b, uint32_t kind)
{
	uint32_t slot = another(b);

	assert_non_null(ledger_after(b->l, slot, b->slot, kind, true));
	return slot;
}

static void begin_other(struct book *b, uint32_t slot)
{
	ledger_begin(b->l, slot, ID + slot, 1, b->self);
}

static void end_as(struct book *b, uint32_t said)
{
	begin(b, 1);
	say(b, said);
	ledger_hear(b->l, b->slot, said);
}

static void a_dependant_of_one_that_runs_is_early(void **state)
{
	struct book *b = *state;
	uint32_t slot = dependant(b, TQ_AFTER_ANY);

	begin(b, 1);
	begin_other(b, slot);
	assert_fault(b, FAULT_EARLY);
}

static void a_dependant_of_one_that_failed_is_early(void **state)
{
	struct book *b = *state;
	uint32_t slot = dependant(b, TQ_AFTER_OK);

	end_as(b, SAID_FATAL);
	begin_other(b, slot);
	assert_fault(b, FAULT_EARLY);
}

static void a_dependant_on_failure_of_one_that_was_done_is_early(void **state)
{
	struct book *b = *state;
	uint32_t slot = dependant(b, TQ_AFTER_FAIL);

	end_as(b, SAID_DONE);
	begin_other(b, slot);
	assert_fault(b, FAULT_EARLY);
}

static void a_dependant_of_one_that_was_done_is_not(void **state)
{
	struct book *b = *state;
	uint32_t slot = dependant(b, TQ_AFTER_OK);

	end_as(b, SAID_DONE);
	begin_other(b, slot);
	assert_fault(b, FAULT_COUNT);
}

static void an_attempt_after_its_dependant_began(void **state)
{
	struct book *b = *state;

	begin_other(b, dependant(b, TQ_AFTER_ANY));
	begin(b, 1);
	assert_fault(b, FAULT_AFTERLIFE);
}

static const struct tq_task_info cancelled = { .size = sizeof(cancelled), .state = TQ_CANCELLED };

static void a_dependant_of_one_that_failed_is_cancelled(void **state)
{
	struct book *b = *state;
	uint32_t slot = dependant(b, TQ_AFTER_OK);

	end_as(b, SAID_FATAL);
	ledger_outcome(b->l, b->slot, TQ_FAILED);
	judge_task(b->l, slot, 0, &cancelled);
	assert_fault(b, FAULT_COUNT);
}

static void a_dependant_of_one_that_was_done_is_cancelled_by_nobody(void **state)
{
	struct book *b = *state;
	uint32_t slot = dependant(b, TQ_AFTER_OK);

	end_as(b, SAID_DONE);
	ledger_outcome(b->l, b->slot, TQ_DONE);
	judge_task(b->l, slot, 0, &cancelled);
	assert_fault(b, FAULT_UNSAID);
}

/* With the book's task as its member. */
static uint32_t completion(struct book *b, uint32_t condition, bool is_graph)
{
	uint32_t group = ledger_group_offer(b->l, condition, is_graph, b->self);
	uint32_t slot = another(b);

	ledger_join(b->l, b->slot, group);
	ledger_completes(b->l, slot, group);
	ledger_group_answered(b->l, group, 0, ID);
	return slot;
}

static void a_completion_before_the_last_end_is_early(void **state)
{
	struct book *b = *state;
	uint32_t slot = completion(b, TQ_GROUP_ANY, false);

	begin(b, 1);
	begin_other(b, slot);
	assert_fault(b, FAULT_EARLY);
}

static void a_completion_against_its_condition_is_early(void **state)
{
	struct book *b = *state;
	uint32_t slot = completion(b, TQ_GROUP_FAIL, false);

	end_as(b, SAID_DONE);
	begin_other(b, slot);
	assert_fault(b, FAULT_EARLY);
}

static void a_completion_that_was_to_start_is_cancelled_by_nobody(void **state)
{
	struct book *b = *state;
	uint32_t slot = completion(b, TQ_GROUP_OK, false);

	end_as(b, SAID_DONE);
	ledger_outcome(b->l, b->slot, TQ_DONE);
	judge_task(b->l, slot, 0, &cancelled);
	assert_fault(b, FAULT_UNSAID);
}

static void a_member_of_a_group_that_was_not_sealed_is_cancelled(void **state)
{
	struct book *b = *state;

	(void)completion(b, TQ_GROUP_ANY, false);
	judge(b, TQ_CANCELLED);
	assert_fault(b, FAULT_COUNT);
}

static void a_member_of_a_sealed_group_is_cancelled_by_nobody(void **state)
{
	struct book *b = *state;

	(void)completion(b, TQ_GROUP_ANY, false);
	b->l->group[0].sealed = 1;
	judge(b, TQ_CANCELLED);
	assert_fault(b, FAULT_UNSAID);
}

static void a_graph_that_is_there_in_part_is_torn(void **state)
{
	struct book *b = *state;
	uint32_t slot = ledger_offer(b->l, 1);

	(void)completion(b, TQ_GROUP_ANY, true);
	ledger_describe(b->l, slot, 0, FAILURES_MAX);
	ledger_join(b->l, slot, 0);
	judge_graph(b->l, 0);
	assert_fault(b, FAULT_TORN);
}

static void a_graph_that_is_whole_is_not(void **state)
{
	struct book *b = *state;

	(void)completion(b, TQ_GROUP_ANY, true);
	judge_graph(b->l, 0);
	assert_fault(b, FAULT_COUNT);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_book, close_book)
	const struct CMUnitTest tests[] = {
		TEST(sound_lives_are_sound),
		TEST(a_kept_record_that_is_gone_is_lost),
		TEST(a_kept_record_goes_when_asked),
		TEST(an_id_that_never_was_is_lost),
		TEST(a_record_freed_before_any_attempt_is_lost),
		TEST(a_record_freed_before_its_budget_is_spent_is_lost),
		TEST(a_record_freed_after_its_budget_is_not),
		TEST(a_record_freed_when_its_attempt_died_is_lost),
		TEST(a_cancelled_record_may_go),
		TEST(a_killed_submitter_leaves_no_fault),
		TEST(what_a_killed_submitter_left_must_end),
		TEST(a_task_that_does_not_end),
		TEST(a_verdict_that_did_not_last),
		TEST(an_end_that_nobody_said),
		TEST(a_cancel_that_nobody_asked_for),
		TEST(a_purge_cancels),
		TEST(an_owner_that_runs_is_an_overlap),
		TEST(an_owner_that_is_stopped_is_an_overlap),
		TEST(an_owner_that_is_dead_is_none),
		TEST(an_owner_that_is_a_zombie_is_none),
		TEST(an_owner_whose_number_changed_hands_is_none),
		TEST(an_attempt_that_lost_its_place_is_an_overlap),
		TEST(a_process_below_an_attempt_is_an_overlap),
		TEST(a_number_that_comes_twice),
		TEST(an_at_most_once_task_that_starts_twice),
		TEST(an_attempt_after_the_end),
		TEST(an_attempt_after_the_end_was_seen),
		TEST(a_final_state_that_changes),
		TEST(a_refused_task_that_runs),
		TEST(a_task_with_two_ids),
		TEST(a_leak_shows),
		TEST(a_dependant_of_one_that_runs_is_early),
		TEST(a_dependant_of_one_that_failed_is_early),
		TEST(a_dependant_on_failure_of_one_that_was_done_is_early),
		TEST(a_dependant_of_one_that_was_done_is_not),
		TEST(an_attempt_after_its_dependant_began),
		TEST(a_dependant_of_one_that_failed_is_cancelled),
		TEST(a_dependant_of_one_that_was_done_is_cancelled_by_nobody),
		TEST(a_completion_before_the_last_end_is_early),
		TEST(a_completion_against_its_condition_is_early),
		TEST(a_completion_that_was_to_start_is_cancelled_by_nobody),
		TEST(a_member_of_a_group_that_was_not_sealed_is_cancelled),
		TEST(a_member_of_a_sealed_group_is_cancelled_by_nobody),
		TEST(a_graph_that_is_there_in_part_is_torn),
		TEST(a_graph_that_is_whole_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
