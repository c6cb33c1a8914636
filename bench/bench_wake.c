/* SPDX-License-Identifier: MIT */
/* Wake-ups of a sleeping worker, beside those of a bare futex. */
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define PINGS 5000
#define ROUNDS 5 /* the two take turns: what the machine does meanwhile meets both */
#define ASLEEP_US 50

/* Where the two run; the kernel often puts a waker and the woken on one processor. */
struct place {
	const char *name;
	cpu_set_t all, waker, sleeper;
};

struct ping {
	const struct place *place;
	_Atomic uint32_t word;
	_Atomic uint64_t sent;
	uint32_t count; /* of samples so far */
	uint64_t samples[PINGS];
};

static void futex(_Atomic uint32_t *word, int op, uint32_t value)
{
	syscall(SYS_futex, word, op, value, NULL, NULL, 0);
}

static pid_t fork_sleeper(const struct ping *p)
{
	pid_t pid = fork();

	sched_setaffinity(0, sizeof(cpu_set_t), pid ? &p->place->waker : &p->place->sleeper);
	return pid;
}

static void arrived(struct ping *p)
{
	p->samples[p->count++] = bench_now() - atomic_load(&p->sent);
}

/* The floor: one process sleeps on a word, the other bumps and wakes it. */
static void futex_pings(struct ping *p, uint32_t count)
{
	uint32_t from = atomic_load(&p->word);
	pid_t sleeper = fork_sleeper(p);

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
	pid_t sleeper = fork_sleeper(p);

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

static void report(const struct place *place, struct ping *bare, struct ping *ours)
{
	char name[80];

	snprintf(name, sizeof(name), "wake-up%s, bare futex, median", place->name);
	bench_report(name, median_us(bare), "us", 0);
	snprintf(name, sizeof(name), "wake-up%s, worker by a submit, median", place->name);
	bench_report(name, median_us(ours), "us", 0);
	snprintf(name, sizeof(name), "wake-up%s, times that of a bare futex", place->name);
	bench_report(name, median_us(ours) / median_us(bare), "times", 1.5);
}

static void measure(const struct place *place)
{
	struct ping *bare = bench_share(sizeof(*bare)), *ours = bench_share(sizeof(*ours));

	bare->place = ours->place = place;
	for (int i = 0; i < ROUNDS; i++) {
		futex_pings(bare, bench_scaled(PINGS / ROUNDS));
		taskq_pings(ours, bench_scaled(PINGS / ROUNDS));
	}
	sched_setaffinity(0, sizeof(cpu_set_t), &place->all);
	report(place, bare, ours);
	bench_unshare(bare, sizeof(*bare));
	bench_unshare(ours, sizeof(*ours));
}

/* The first and the last that this process may use; false when it is one. */
static bool two_processors(struct place *place)
{
	uint32_t first = CPU_SETSIZE, last = 0;

	for (uint32_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &place->all))
			continue;
		first = cpu < first ? cpu : first;
		last = cpu;
	}
	CPU_ZERO(&place->waker);
	CPU_ZERO(&place->sleeper);
	CPU_SET(first, &place->waker);
	CPU_SET(last, &place->sleeper);
	return first != last;
}

void bench_wake(void)
{
	struct place anywhere = { .name = "" }, apart = { .name = " on another processor" };

	sched_getaffinity(0, sizeof(cpu_set_t), &anywhere.all);
	anywhere.waker = anywhere.sleeper = apart.all = anywhere.all;
	measure(&anywhere);
	if (two_processors(&apart))
		measure(&apart);
	else
		bench_not_measured("wake-up on another processor", "there is one");
}
