/* SPDX-License-Identifier: MIT */
/*
 * From EOWNERDEAD to the lock in order: what the next process does when the holder was
 * killed in mid-transaction.  The lock has no public face, so this one bench looks inside.
 *
 * Measured is tqi_lock() as a whole, from before its first try, which is the one that
 * answers EOWNERDEAD, until the journal is undone and the mutex consistent.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "client/core/handle.h"
#include "scheduler/record/records.h"

#define RESCUES 200
#define DEATHS_MAX 5000 /* more than half of the killed are in a transaction */
#define LIFE_US 2000	/* of a victim, at least; then a random bit more */
#define LIFE_SPREAD_US 200
#define LOCK_TIMEOUT_NS 1000000000ull
#define BOUND_US 100

/* In what a victim is killed. */
enum death {
	DEATH_IN_LIFE = 'l',	 /* wherever a kill hits it */
	DEATH_FULL_JOURNAL = 'f' /* with as many entries as there may be */
};

struct rescues {
	uint32_t count;
	uint64_t ns[RESCUES];
	uint64_t entries[RESCUES]; /* of the journal that was undone */
};

/*
 * Who makes victims and kills them.  Not the rescuer itself: for a while after a fork
 * each first store to a page is a fault, and its lock would be slower for that.
 */
struct killer {
	pid_t pid;
	int ask, answer; /* a byte each */
};

static _Noreturn void live(struct tq *tq)
{
	struct tq_task_spec spec = bench_spec();
	struct tq_claim claim = { .size = sizeof(claim) };
	struct tq_worker *worker;

	bench_must(tq_worker_open(tq, NULL, &worker), "worker");
	for (;;) {
		spec.priority = bench_priority();
		bench_must(tq_submit(tq, &spec, NULL), "submit");
		bench_must(tq_claim(worker, 0, &claim), "claim");
		bench_must(tq_complete(worker, &claim, NULL, 0), "complete");
	}
}

/* Each entry of another record, where there are so many: memory that nobody has at hand. */
static _Noreturn void die_with_full_journal(struct tq *tq)
{
	uint32_t records = tqi_segment_core(&tq->seg)->tables[TQI_TASKS].count;
	struct tqi_tx tx;

	bench_must(tqi_hold_begin(tq, &tx), "hold");
	for (uint32_t i = 0; i < TQI_JOURNAL_MAX; i++) {
		uint32_t index = records > 1 ? 1 + (uint32_t)rand() % (records - 1) : 0;
		struct tqi_task *task = tqi_table_peek(&tq->seg, TQI_TASKS, index);

		if (task)
			TQI_SET(&tx, task->priority, task->priority ^ 1);
		else
			TQI_SET(&tx, tx.core->spans_hint, i);
	}
	raise(SIGKILL);
	for (;;)
		pause();
}

static void kill_one(struct tq *tq, enum death death)
{
	uint32_t seed = (uint32_t)rand();
	pid_t victim = fork();

	if (victim == 0) {
		srand(seed);
		if (death == DEATH_FULL_JOURNAL)
			die_with_full_journal(tq);
		live(tq);
	}
	if (death == DEATH_IN_LIFE) {
		bench_pause(LIFE_US + rand() % LIFE_SPREAD_US);
		kill(victim, SIGKILL);
	}
	waitpid(victim, NULL, 0);
}

static _Noreturn void serve(struct tq *tq, int ask, int answer)
{
	char death;

	while (read(ask, &death, 1) == 1) {
		kill_one(tq, (enum death)death);
		if (write(answer, &death, 1) != 1)
			break;
	}
	_exit(0);
}

static void killer_start(struct killer *k, struct tq *tq)
{
	int ask[2], answer[2];

	if (pipe(ask) < 0 || pipe(answer) < 0) {
		perror("taskq-bench: pipe");
		exit(1);
	}
	k->pid = fork();
	if (k->pid == 0) {
		close(ask[1]); /* the end of the pipe is the end of the killer */
		serve(tq, ask[0], answer[1]);
	}
	close(ask[0]);
	close(answer[1]);
	k->ask = ask[1];
	k->answer = answer[0];
}

static void killer_stop(struct killer *k)
{
	close(k->ask);
	close(k->answer);
	waitpid(k->pid, NULL, 0);
}

/* The next one takes the lock.  Only a journal that was left counts. */
static void rescue(struct tq *tq, struct rescues *r)
{
	uint32_t entries = tqi_segment_core(&tq->seg)->undo_count;
	const struct tqi_thread *self = &tqi_self(tq)->thread;
	uint64_t begin = bench_now();
	int locked = tqi_lock(&tq->seg, self, LOCK_TIMEOUT_NS);
	uint64_t end = bench_now();

	bench_must(locked, "rescue");
	tqi_unlock(&tq->seg);
	if (entries == 0)
		return;
	r->entries[r->count] = entries;
	r->ns[r->count++] = end - begin;
}

static void collect(struct tq *tq, struct killer *k, char death, struct rescues *r)
{
	for (uint32_t i = 0; i < DEATHS_MAX && r->count < bench_scaled(RESCUES); i++) {
		char done;

		if (write(k->ask, &death, 1) != 1 || read(k->answer, &done, 1) != 1) {
			fprintf(stderr, "taskq-bench: the killer is gone\n");
			return;
		}
		rescue(tq, r);
	}
}

static void report(const char *death, uint32_t depth, struct rescues *r)
{
	char name[80];

	snprintf(name, sizeof(name), "EOWNERDEAD to order, %s, %u waiting, median", death, depth);
	if (r->count == 0) {
		bench_not_measured(name, "no kill hit a transaction");
		return;
	}
	bench_report(name, (double)bench_quantile(r->ns, r->count, 0.5) / 1000, "us", BOUND_US);
	snprintf(name, sizeof(name), "EOWNERDEAD to order, %s, %u waiting, p99", death, depth);
	bench_report(name, (double)bench_quantile(r->ns, r->count, 0.99) / 1000, "us", 0);
	snprintf(name, sizeof(name), "journal that was undone, %s, %u waiting, median", death,
		 depth);
	bench_report(name, (double)bench_quantile(r->entries, r->count, 0.5), "entries", 0);
}

static void at_depth(uint32_t depth)
{
	static struct rescues lives, full;
	struct tq *tq = bench_open();
	struct killer killer;

	lives.count = full.count = 0;
	bench_fill(tq, depth);
	killer_start(&killer, tq);
	collect(tq, &killer, DEATH_IN_LIFE, &lives);
	collect(tq, &killer, DEATH_FULL_JOURNAL, &full);
	killer_stop(&killer);
	report("in a life", depth, &lives);
	report("full journal", depth, &full);
	bench_must(tq_check(tq, TQ_CHECK_EXACT, NULL, NULL), "check");
	bench_close(tq);
}

void bench_lock(void)
{
	at_depth(0);
	at_depth(bench_scaled(100000));
}
