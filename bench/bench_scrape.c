/* SPDX-License-Identifier: MIT */
/* taskq-exporter: what a scrape of the metrics costs with many tasks in many queues. */
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define QUEUES 100
#define TASKS_A_QUEUE 10000
#define WARM_SCRAPES 5
#define SCRAPES 20
#define APART_US 520000 /* the exporter looks at most twice a second */

struct exporter {
	pid_t pid;
	unsigned port;
};

/* One task of each queue has run, so that all have times. */
static void run_one(struct tq *tq, const char *queue)
{
	const struct tq_worker_opts opts = { .size = sizeof(opts),
					     .queues = &queue,
					     .queue_count = 1 };
	struct tq_claim claim = { .size = sizeof(claim) };
	struct tq_worker *worker;

	bench_must(tq_worker_open(tq, &opts, &worker), "worker");
	bench_must(tq_claim(worker, 0, &claim), "claim");
	bench_must(tq_complete(worker, &claim, NULL, 0), "complete");
	tq_worker_close(worker);
}

static void fill(struct tq *tq)
{
	struct tq_task_spec spec = bench_spec();
	char queue[16];

	spec.queue = queue;
	for (unsigned q = 0; q < QUEUES; q++) {
		snprintf(queue, sizeof(queue), "queue-%u", q);
		for (unsigned i = 0; i < bench_scaled(TASKS_A_QUEUE); i++)
			bench_must(tq_submit(tq, &spec, NULL), "submit");
		run_one(tq, queue);
	}
}

static void run_exporter(int out)
{
	char path[4096], segment[32];
	const ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 32);

	snprintf(segment, sizeof(segment), "bench.%d", (int)getppid());
	if (n > 0) {
		path[n] = '\0';
		snprintf(strrchr(path, '/') + 1, 16, "taskq-exporter");
	}
	dup2(out, STDOUT_FILENO);
	execl(path, "taskq-exporter", "-s", segment, "-l", "127.0.0.1:0", NULL);
	_exit(127);
}

/* The one beside this program; port 0: it did not start. */
static struct exporter start(void)
{
	struct exporter e = { 0 };
	char line[128] = "";
	int out[2];

	if (pipe(out) < 0)
		return e;
	e.pid = fork();
	if (e.pid == 0)
		run_exporter(out[1]);
	close(out[1]);
	if (e.pid > 0 && read(out[0], line, sizeof(line) - 1) > 0)
		sscanf(line, "listening on http://127.0.0.1:%u/", &e.port);
	close(out[0]);
	return e;
}

/* Bytes of the answer; 0 there was none. */
static uint64_t scrape(unsigned port)
{
	static const char request[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n"
				      "Connection: close\r\n\r\n";
	const struct sockaddr_in to = { .sin_family = AF_INET,
					.sin_port = htons((uint16_t)port),
					.sin_addr = { htonl(INADDR_LOOPBACK) } };
	const int fd = socket(AF_INET, SOCK_STREAM, 0);
	uint64_t bytes = 0;
	char text[1 << 16];
	ssize_t n;

	if (connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0 &&
	    send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL) > 0)
		while ((n = read(fd, text, sizeof(text))) > 0)
			bytes += (uint64_t)n;
	close(fd);
	return bytes;
}

/* CPU time of an exporter that was scraped so often, and bytes of a scrape; 0 it was not. */
static uint64_t cpu_of(unsigned scrapes, uint64_t *ret_bytes)
{
	const struct exporter e = start();
	struct rusage usage;
	int status;

	for (unsigned i = 0; e.port && i < scrapes; i++) {
		*ret_bytes = scrape(e.port);
		bench_pause(APART_US);
	}
	if (e.pid <= 0)
		return 0;
	kill(e.pid, SIGTERM);
	if (wait4(e.pid, &status, 0, &usage) < 0 || status != 0)
		return 0;
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000ull +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000ull;
}

void bench_scrape(void)
{
	static const char name[] = "CPU of a scrape, 1000000 tasks in 100 queues";
	struct tq *tq = bench_open();
	uint64_t bytes = 0;

	fill(tq);
	const uint64_t warm = cpu_of(WARM_SCRAPES, &bytes);
	const uint64_t more = cpu_of(WARM_SCRAPES + SCRAPES, &bytes);

	if (!warm || more <= warm || !bytes) {
		bench_not_measured(name, "taskq-exporter did not run");
	} else {
		bench_report(name, (double)(more - warm) / SCRAPES / 1e6, "ms", 0);
		bench_report("bytes of a scrape", (double)bytes, "bytes", 0);
	}
	bench_close(tq);
}
