/* SPDX-License-Identifier: MIT */
/* What no queue between processes gets below: copying, locking, waking, starting a program. */
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define BATCHES 15 /* the median of them */
#define LOCKS 100000u
#define PINGS 2000u
#define PROGRAMS 20u
#define COPIED_BYTES (64u << 20) /* in a batch */

static double median(double (*once)(uint32_t of), uint32_t of)
{
	uint64_t samples[BATCHES];

	for (uint32_t i = 0; i < BATCHES; i++)
		samples[i] = (uint64_t)(once(of) * 1000); /* thousandths: sorted as integers */
	return (double)bench_quantile(samples, BATCHES, 0.5) / 1000;
}

/* Nanoseconds of one copy. */
static double copy(uint32_t bytes)
{
	static char from[TQ_PAYLOAD_MAX], to[TQ_PAYLOAD_MAX];
	const uint32_t copies = bench_scaled(COPIED_BYTES / 64) / bytes + 1;
	const uint64_t begin = bench_now();

	for (uint32_t i = 0; i < copies; i++) {
		memcpy(to, from, bytes);
		__asm__ volatile("" : : "r"(to) : "memory");
	}
	return (double)(bench_now() - begin) / copies;
}

static double lock_robust(uint32_t times)
{
	pthread_mutex_t *lock = bench_share(sizeof(*lock));
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(lock, &attr);
	const uint64_t begin = bench_now();

	for (uint32_t i = 0; i < times; i++) {
		pthread_mutex_trylock(lock);
		pthread_mutex_unlock(lock);
	}
	const double ns = (double)(bench_now() - begin) / times;

	bench_unshare(lock, sizeof(*lock));
	return ns;
}

/* Wait until it is this side's turn, then hand over. */
static void take_turns(_Atomic uint32_t *turn, uint32_t side, uint32_t times)
{
	for (uint32_t i = 0; i < times; i++) {
		uint32_t now;

		while ((now = atomic_load(turn)) % 2 != side)
			syscall(SYS_futex, turn, FUTEX_WAIT, now, NULL, NULL, 0);
		atomic_store(turn, now + 1);
		syscall(SYS_futex, turn, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
}

/* There and back. */
static double ping_pong(uint32_t times)
{
	_Atomic uint32_t *turn = bench_share(sizeof(*turn));
	const uint64_t begin = bench_now();
	const pid_t pid = fork();

	take_turns(turn, pid == 0, times);
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	const double ns = (double)(bench_now() - begin) / times;

	bench_unshare(turn, sizeof(*turn));
	return ns;
}

static double fork_and_exec(uint32_t times)
{
	const uint64_t begin = bench_now();

	for (uint32_t i = 0; i < times; i++) {
		const pid_t pid = fork();

		if (pid == 0) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(127);
		}
		waitpid(pid, NULL, 0);
	}
	return (double)(bench_now() - begin) / times;
}

/* Beside the peers: a payload is copied once in and once out. */
static void report_copies(void)
{
	static const uint32_t sizes[] = { 64, 1024, 8000, 65536, 1u << 20, TQ_PAYLOAD_MAX };
	struct bench_point point = {
		.plot = "peers-payload", .series = "limit: memcpy", .what = "bytes", .unit = "us"
	};

	for (uint32_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint64_t samples[BATCHES];

		for (uint32_t b = 0; b < BATCHES; b++)
			samples[b] = (uint64_t)(copy(sizes[i]) * 1000);
		point.x = sizes[i];
		bench_point_of(&point, samples, BATCHES, 1000 * 1000);
		bench_report_point(&point);
	}
}

void bench_limits(void)
{
	report_copies();
	bench_report("limit: robust lock, taken and given back",
		     median(lock_robust, bench_scaled(LOCKS)), "ns", 0);
	bench_report("limit: futex, there and back between two processes",
		     median(ping_pong, bench_scaled(PINGS)) / 1000, "us", 0);
	bench_report("limit: fork and exec of true",
		     median(fork_and_exec, bench_scaled(PROGRAMS)) / 1000, "us", 0);
}
