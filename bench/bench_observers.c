/* SPDX-License-Identifier: MIT */
/* taskq-top: what a look costs, when the first screen is there, what many cost the queue. */
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

#define TASKS 1000000u
#define OBSERVERS 20
#define OBSERVER_DELAY "16666us" /* 60 looks a second */
#define ROUNDS 41
#define LIVES 20000
#define WARM_LOOKS 60 /* by then the first pass over the tasks is through */
#define LOOKS 60
#define FIRST_SCREENS 9

struct observer {
	pid_t pid;
	int terminal;
};

/* taskq-top beside this program, in a terminal of its own of 120 x 40. */
static struct observer start(const char *view, const char *delay, unsigned looks)
{
	struct winsize size = { .ws_row = 40, .ws_col = 120 };
	struct observer o = { .pid = -1 };
	char path[4096], segment[32], count[16];
	const ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 32);

	snprintf(segment, sizeof(segment), "bench.%d", (int)getpid());
	snprintf(count, sizeof(count), "%u", looks);
	if (n > 0) {
		path[n] = '\0';
		snprintf(strrchr(path, '/') + 1, 16, "taskq-top");
	}
	o.pid = forkpty(&o.terminal, NULL, NULL, &size);
	if (o.pid != 0)
		return o;
	setenv("TERM", "xterm", 1);
	execl(path, "taskq-top", "-s", segment, "--view", view, "-d", delay, looks ? "-n" : "-r",
	      looks ? count : NULL, NULL);
	_exit(127);
}

/* Reads what it draws until it ends, as a terminal would; when `wanted` first came. */
static uint64_t drain(const struct observer *o, const char *wanted)
{
	char text[1 << 16];
	uint64_t seen = 0;

	for (;;) {
		const ssize_t n = read(o->terminal, text, sizeof(text) - 1);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return seen; /* EIO: nobody has the other side any more */
		text[n] = '\0';
		if (!seen && wanted && strstr(text, wanted))
			seen = bench_now();
	}
}

/* CPU time of so many looks, its start and end included; 0 it did not end well. */
static uint64_t cpu_of(const char *view, unsigned looks)
{
	const struct observer o = start(view, "20ms", looks);
	struct rusage usage;
	int status;

	if (o.pid < 0)
		return 0;
	drain(&o, NULL);
	close(o.terminal);
	if (wait4(o.pid, &status, 0, &usage) < 0 || status != 0)
		return 0;
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000ull +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000ull;
}

static void report_look(const char *view)
{
	const uint64_t warm = cpu_of(view, WARM_LOOKS), more = cpu_of(view, WARM_LOOKS + LOOKS);
	char name[80];

	snprintf(name, sizeof(name), "CPU of a look of taskq-top, %s, %u waiting", view, TASKS);
	if (!warm || more <= warm)
		bench_not_measured(name, "taskq-top did not run");
	else
		bench_report(name, (double)(more - warm) / LOOKS / 1e6, "ms", 20);
}

static void report_first_screen(void)
{
	static const char name[] = "first screen of taskq-top, 1000000 waiting";
	uint64_t samples[FIRST_SCREENS];

	for (unsigned i = 0; i < FIRST_SCREENS; i++) {
		const uint64_t begin = bench_now();
		const struct observer o = start("overview", "20ms", 1);
		const uint64_t seen = o.pid > 0 ? drain(&o, "Workers") : 0;

		if (o.pid > 0) {
			close(o.terminal);
			waitpid(o.pid, NULL, 0);
		}
		if (!seen) {
			bench_not_measured(name, "taskq-top did not run");
			return;
		}
		samples[i] = seen - begin;
	}
	bench_report(name, (double)bench_quantile(samples, FIRST_SCREENS, 0.5) / 1e6, "ms", 100);
}

/* The terminals of all observers, read by a process of its own. */
static pid_t drain_all(const struct observer *observers)
{
	const pid_t pid = fork();
	struct pollfd fds[OBSERVERS];
	char text[1 << 16];

	if (pid != 0)
		return pid;
	for (unsigned i = 0; i < OBSERVERS; i++)
		fds[i] = (struct pollfd){ .fd = observers[i].terminal, .events = POLLIN };
	while (poll(fds, OBSERVERS, -1) >= 0)
		for (unsigned i = 0; i < OBSERVERS; i++)
			if (fds[i].revents && read(fds[i].fd, text, sizeof(text)) <= 0)
				_exit(0);
	_exit(0);
}

/* What they took: by the clock, and of a processor. */
struct took {
	uint64_t wall_ns, cpu_ns;
};

static uint64_t cpu_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static struct took lives(struct tq *tq, struct tq_worker *worker)
{
	struct tq_claim claim = { .size = sizeof(claim) };
	const struct tq_task_spec spec = bench_spec();
	const struct took begin = { bench_now(), cpu_now() };

	for (unsigned i = 0; i < bench_scaled(LIVES); i++) {
		bench_must(tq_submit(tq, &spec, NULL), "submit");
		bench_must(tq_claim(worker, 0, &claim), "claim");
		bench_must(tq_complete(worker, &claim, NULL, 0), "complete");
	}
	return (struct took){ bench_now() - begin.wall_ns, cpu_now() - begin.cpu_ns };
}

static void signal_all(const struct observer *observers, int number)
{
	for (unsigned i = 0; i < OBSERVERS; i++)
		kill(observers[i].pid, number);
}

/*
 * Of a processor's time the queue must not need more because it is looked at; by the
 * clock it does where the observers want more processors than there are.  Compared in
 * pairs, one right after the other: the machine's moods change more slowly.
 */
static void report_ratios(const struct took *with, const struct took *without)
{
	uint64_t cpu[ROUNDS], wall[ROUNDS]; /* thousandths */

	for (unsigned i = 0; i < ROUNDS; i++) {
		cpu[i] = with[i].cpu_ns * 1000 / without[i].cpu_ns;
		wall[i] = with[i].wall_ns * 1000 / without[i].wall_ns;
	}
	bench_report("CPU of a life beside 20 taskq-top, 60 looks/s, of that without",
		     (double)bench_quantile(cpu, ROUNDS, 0.5) / 10, "%", 102);
	bench_report("the same by the clock", (double)bench_quantile(wall, ROUNDS, 0.5) / 10, "%",
		     0);
}

/* In turns with none, and with all of them, so that the machine's moods meet both. */
static void report_slowdown(struct tq *tq)
{
	struct took with[ROUNDS], without[ROUNDS];
	struct observer observers[OBSERVERS];
	struct tq_worker *worker;

	bench_must(tq_worker_open(tq, NULL, &worker), "worker");
	for (unsigned i = 0; i < OBSERVERS; i++)
		observers[i] = start("overview", OBSERVER_DELAY, 0);
	const pid_t drainer = drain_all(observers);

	bench_pause(500000);
	for (unsigned i = 0; i < ROUNDS; i++) {
		signal_all(observers, SIGSTOP);
		without[i] = lives(tq, worker);
		signal_all(observers, SIGCONT);
		bench_pause(50000);
		with[i] = lives(tq, worker);
	}
	signal_all(observers, SIGKILL);
	kill(drainer, SIGKILL);
	for (unsigned i = 0; i < OBSERVERS; i++) {
		waitpid(observers[i].pid, NULL, 0);
		close(observers[i].terminal);
	}
	waitpid(drainer, NULL, 0);
	tq_worker_close(worker);
	report_ratios(with, without);
}

void bench_observers(void)
{
	struct tq *tq = bench_open();

	report_slowdown(tq);
	bench_fill(tq, bench_scaled(TASKS));
	report_first_screen();
	report_look("overview");
	report_look("tasks");
	bench_close(tq);
}
