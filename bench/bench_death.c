/* SPDX-License-Identifier: MIT */
/* From SIGKILL of a worker to the start of the next attempt of its task. */
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define KILLS 200

/* Shared by all: when and by whom the task was started last. */
struct started {
	_Atomic uint64_t at_ns;
	_Atomic uint32_t number;
	_Atomic int pid;
};

static void worker_process(struct tq *tq, struct started *s)
{
	struct tq_claim claim = { .size = sizeof(claim) };
	struct tq_worker *worker;

	bench_must(tq_worker_open(tq, NULL, &worker), "worker");
	bench_must(tq_claim(worker, TQ_FOREVER_NS, &claim), "claim");
	atomic_store(&s->at_ns, bench_now());
	atomic_store(&s->pid, (int)getpid());
	atomic_fetch_add(&s->number, 1);
	for (;;)
		pause();
}

static pid_t start_worker(struct tq *tq, struct started *s)
{
	pid_t pid = fork();

	if (pid == 0)
		worker_process(tq, s);
	return pid;
}

static void await(struct started *s, uint32_t number)
{
	while (atomic_load(&s->number) < number)
		bench_pause(20);
}

/* Two workers: one runs the task, the other sleeps and takes it over. */
void bench_death(void)
{
	static uint64_t samples[KILLS];
	struct started *s = bench_share(sizeof(*s));
	struct tq *tq = bench_open();
	struct tq_task_spec spec = bench_spec();
	const uint32_t kills = bench_scaled(KILLS);
	pid_t sleeper = -1;

	spec.crashes_max = TQ_ATTEMPTS_MAX;
	bench_must(tq_submit(tq, &spec, NULL), "submit");
	start_worker(tq, s);
	await(s, 1);
	for (uint32_t i = 0; i < kills; i++) {
		pid_t victim = (pid_t)atomic_load(&s->pid);

		sleeper = start_worker(tq, s);
		bench_pause(
			20000); /* the other is asleep by then: this measures, it decides nothing */
		uint64_t killed = bench_now();

		kill(victim, SIGKILL);
		await(s, i + 2);
		samples[i] = atomic_load(&s->at_ns) - killed;
		waitpid(victim, NULL, 0);
	}
	if (sleeper > 0)
		kill(sleeper, SIGKILL);
	waitpid(sleeper, NULL, 0);
	bench_report("SIGKILL of a worker to the next attempt, median",
		     (double)bench_quantile(samples, kills, 0.5) / 1e6, "ms", 5);
	bench_report("SIGKILL of a worker to the next attempt, p99",
		     (double)bench_quantile(samples, kills, 0.99) / 1e6, "ms", 0);
	bench_unshare(s, sizeof(*s));
	bench_close(tq);
}
