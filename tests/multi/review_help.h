/* SPDX-License-Identifier: MIT */
/* What the review_*_test.c share: children that are ended by pid, and what to wait for. */
#ifndef REVIEW_HELP_H
#define REVIEW_HELP_H

#include "client/core/handle.h"
#include "farm_box.h"

#define PROMPT_NS (60 * S) /* a limit for what needs one look of a keeper, a second apart */

/* Memory that a test shares with its children. */
void *share(size_t bytes);
void give_up(void *memory, size_t bytes);

/* A child that runs this and exits with what it returns; it dies with the test. */
typedef int child_main(struct farm_box *box, void *arg);
pid_t start_child(struct farm_box *box, child_main *run, void *arg);
/* It sleeps in a claim of a queue that nobody uses: the keeper, if it was first. */
pid_t start_keeper(struct farm_box *box);
void kill_child(pid_t pid);
/* SIGSTOP, and seen stopped. */
void stop_child(pid_t pid);
/* Its exit code within `bound_ns`; otherwise it is killed and the test fails. */
int join_child(pid_t pid, uint64_t bound_ns);
/* The same for a thread. */
void join_thread(pthread_t thread, uint64_t bound_ns);

/* Bounded waits; each fails the test when the time is over. */
void wait_live(struct farm_box *box, uint32_t table, uint32_t count);
void wait_asleep(struct farm_box *box, enum tqi_interest interest, uint32_t count);
/* Until one sleeps without a limit. */
void wait_asleep_for_good(struct farm_box *box, enum tqi_interest interest);
/* Until a child has slept for some milliseconds on end: it has done all that it can. */
void wait_settled(pid_t pid);
/* Until keepers have looked at all that is due so many times more. */
void wait_looks(struct farm_box *box, int count);
void wait_set(const struct tqi_word32 *word);
uint32_t state_of(struct farm_box *box, uint64_t id);
void wait_state(struct farm_box *box, uint64_t id, uint32_t state);

struct tq_worker *open_worker(struct tq *tq, const char *queue);
uint64_t submit_to(struct farm_box *box, const char *queue, uint32_t flags);
/* The next task of that worker, which must be there. */
struct tq_claim claim_now(struct tq_worker *worker);
/*
 * More waiters, each for all of some tasks of "q", than one transaction can undo and
 * wake: tasks, then the waiters once what is to be done with the tasks is prepared.
 */
#define MANY_TASKS 8
#define MANY_WAITERS 32
struct many {
	struct tq *tq;
	uint64_t ids[MANY_TASKS];
	pthread_t threads[MANY_WAITERS];
	struct tqi_word32 good; /* waits that answered 0 */
};
void many_submit(struct farm_box *box, struct many *many, uint32_t flags);
void many_wait(struct farm_box *box, struct many *many);
/* All waits have answered 0 promptly, and the tasks are in this state. */
void many_end(struct farm_box *box, struct many *many, uint32_t state);

uint64_t cpu_ns(void);
void assert_sound(struct farm_box *box);

#endif
