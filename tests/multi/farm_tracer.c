/* SPDX-License-Identifier: MIT */
/* The tracer's loop. */
#include "farm_tracer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/atomic.h"

#define OPTIONS                                                                                    \
	(PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACESYSGOOD |  \
	 PTRACE_O_EXITKILL)
#define STOP_SYSCALL (SIGTRAP | 0x80) /* PTRACE_O_TRACESYSGOOD */
#define STATUS_BYTES 4096

struct tracing {
	struct farm_trace *traces;
	unsigned count;
	unsigned running; /* farms */
};

/* In a farm's process: it does not begin before it is traced. */
static struct tqi_word32 *go;
static void (*farm_handlers)(struct tq *tq);

static void await_tracer(struct tq *tq)
{
	while (!tqi_load_acquire32(go))
		pause_ms();
	if (farm_handlers)
		farm_handlers(tq);
}

static void start_traced(struct farm_box *box)
{
	farm_handlers = box->handlers;
	box->handlers = await_tracer;
	go = mmap(NULL, sizeof(*go), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(go, MAP_FAILED);
	farm_start(box);
	box->handlers = farm_handlers;
	if (ptrace(PTRACE_SEIZE, box->farm, NULL, (void *)(uintptr_t)OPTIONS) < 0) {
		print_message("ptrace: %s\n", strerror(errno));
		skip();
	}
	tqi_store_release32(go, 1);
	munmap(go, sizeof(*go));
}

/* A number in /proc/TID/status; 0 it is gone. */
static pid_t status_of(pid_t tid, const char *field)
{
	char path[64], text[STATUS_BYTES];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	const char *at = strstr(text, field);

	return at ? (pid_t)strtol(at + strlen(field), NULL, 10) : 0;
}

static struct farm_trace *trace_of_farm(struct tracing *t, pid_t pid)
{
	for (unsigned i = 0; i < t->count; i++)
		if (t->traces[i].box->farm == pid)
			return &t->traces[i];
	return NULL;
}

/* Of a worker that we follow, by any of its threads. */
static struct farm_trace *trace_of_worker(struct tracing *t, pid_t tid)
{
	const pid_t pid = status_of(tid, "\nTgid:");

	for (unsigned i = 0; i < t->count; i++)
		if (t->traces[i].pid && (t->traces[i].pid == tid || t->traces[i].pid == pid))
			return &t->traces[i];
	return NULL;
}

/* The first stop of something new: what is not a worker to be followed runs on untraced. */
static void welcome(struct tracing *t, pid_t tid)
{
	struct farm_trace *trace = trace_of_farm(t, status_of(tid, "\nPPid:"));

	if (trace && status_of(tid, "\nTgid:") == tid && trace->forked++ == trace->worker)
		trace->pid = tid;
	ptrace(trace_of_worker(t, tid) ? PTRACE_SYSCALL : PTRACE_DETACH, tid, NULL, NULL);
}

static void resume(struct tracing *t, pid_t tid, int signal)
{
	ptrace(trace_of_worker(t, tid) ? PTRACE_SYSCALL : PTRACE_CONT, tid, NULL,
	       (void *)(uintptr_t)signal);
}

static void stopped_at_call(struct tracing *t, pid_t tid)
{
	struct farm_trace *trace = trace_of_worker(t, tid);

	if (trace && ++trace->stops == trace->stop)
		kill(trace->pid, trace->signal);
	resume(t, tid, 0);
}

static void stopped(struct tracing *t, pid_t tid, int status)
{
	const int event = status >> 16, signal = WSTOPSIG(status);
	const bool known = trace_of_farm(t, tid) || (event && trace_of_worker(t, tid));

	if (signal == STOP_SYSCALL)
		stopped_at_call(t, tid);
	else if (event == PTRACE_EVENT_STOP && !known)
		welcome(t, tid);
	else
		resume(t, tid, event ? 0 : signal);
}

static void ended(struct tracing *t, pid_t tid, int status)
{
	struct farm_trace *trace = trace_of_farm(t, tid);

	if (!trace)
		return;
	trace->code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	trace->box->farm = 0;
	t->running--;
}

static void ring(int signal)
{
	(void)signal;
}

/* Without SA_RESTART: a farm that does not end ends the wait. */
static void set_alarm(void)
{
	const struct sigaction action = { .sa_handler = ring };

	sigaction(SIGALRM, &action, NULL);
	alarm((unsigned)(PATIENCE_NS / S));
}

static void blame(const struct tracing *t)
{
	for (unsigned i = 0; i < t->count; i++)
		if (t->traces[i].box->farm)
			print_message("the farm does not end: its worker %d got signal %d at stop "
				      "%u of %u\n",
				      (int)t->traces[i].pid, t->traces[i].signal, t->traces[i].stop,
				      t->traces[i].stops);
	fail();
}

void farms_run_traced(struct farm_trace *traces, unsigned count)
{
	struct tracing t = { .traces = traces, .count = count, .running = count };

	for (unsigned i = 0; i < count; i++)
		start_traced(traces[i].box);
	set_alarm();
	while (t.running > 0) {
		int status;
		pid_t tid = waitpid(-1, &status, __WALL);

		if (tid < 0)
			blame(&t);
		if (WIFSTOPPED(status))
			stopped(&t, tid, status);
		else
			ended(&t, tid, status);
	}
	alarm(0);
}
