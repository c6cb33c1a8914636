/* SPDX-License-Identifier: MIT */
/* Wake-ups of a sleeping worker, beside those of a bare futex. */
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define PINGS 5000
#define ROUNDS 5 /* the two take turns: what the machine does meanwhile meets both */
#define ASLEEP_US 50

struct ping {
	_Atomic uint32_t word;
	_Atomic uint64_t sent;
	uint32_t count; /* of samples so far */
	uint64_t samples[PINGS];
};

static void futex(_Atomic uint32_t *word, int op, uint32_t value)
{
	syscall(SYS_futex, word, op, value, NULL, NULL, 0);
}

static void arrived(struct ping *p)
{
	p->samples[p->count++] = bench_now() - atomic_load(&p->sent);
}

/* The floor: one process sleeps on a word, the other bumps and wakes it. */
static void futex_pings(struct ping *p, uint32_t count)
{
	uint32_t from = atomic_load(&p->word);
	pid_t sleeper = fork();

	if (sleeper == 0) {
		for (uint32_t i = from; i < from + count; i++) {
			while (atomic_load(&p->word) == i)
				futex(&p->word, FUTEX_WAIT, i);
			arrived(p);
		}
		_exit(0);
	}
	for (uint32_t i = from; i < from + count; i++) {
		bench_pause(ASLEEP_US); /* long enough for the other to be asleep again */
		atomic_store(&p->sent, bench_now());
		atomic_store(&p->word, i + 1);
		futex(&p->word, FUTEX_WAKE, 1);
	}
	waitpid(sleeper, NULL, 0);
}

static void sleeping_worker(struct tq *tq, struct ping *p, uint32_t count)
{
	struct tq_claim claim = { .size = sizeof(claim) };
	struct tq_worker *worker;

	bench_must(tq_worker_open(tq, NULL, &worker), "worker");
	for (uint32_t i = 0; i < count; i++) {
		bench_must(tq_claim(worker, TQ_FOREVER_NS, &claim), "claim");
		arrived(p);
		bench_must(tq_complete(worker, &claim, NULL, 0), "complete");
	}
	tq_worker_close(worker);
	_exit(0);
}

static void taskq_pings(struct ping *p, uint32_t count)
{
	struct tq *tq = bench_open();
	struct tq_task_spec spec = bench_spec();
	pid_t sleeper = fork();

	if (sleeper == 0)
		sleeping_worker(tq, p, count);
	for (uint32_t i = 0; i < count; i++) {
		bench_pause(ASLEEP_US);
		atomic_store(&p->sent, bench_now());
		bench_must(tq_submit(tq, &spec, NULL), "submit");
	}
	waitpid(sleeper, NULL, 0);
	bench_close(tq);
}

static double median_us(struct ping *p)
{
	return (double)bench_quantile(p->samples, p->count, 0.5) / 1000;
}

void bench_wake(void)
{
	struct ping *bare = bench_share(sizeof(*bare)), *ours = bench_share(sizeof(*ours));

	for (int i = 0; i < ROUNDS; i++) {
		futex_pings(bare, PINGS / ROUNDS);
		taskq_pings(ours, PINGS / ROUNDS);
	}
	bench_report("wake-up of a sleeper on a bare futex, median", median_us(bare), "us", 0);
	bench_report("wake-up of a sleeping worker by a submit, median", median_us(ours), "us", 0);
	bench_report("wake-up of a worker, times that on a bare futex",
		     median_us(ours) / median_us(bare), "times", 1.5);
	bench_unshare(bare, sizeof(*bare));
	bench_unshare(ours, sizeof(*ours));
}
