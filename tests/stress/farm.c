/* SPDX-License-Identifier: MIT */
/* Farms with handlers and commands; their workers are killed as well as their masters. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storm.h"

#define CHILD_NS (15 * MS) /* the longest life of most handlers' children ... */
#define OLD_CHILD_NS (120 * MS) /* ... and of some */

/* The handler's argument is the master's player; in a worker it becomes the worker's. */
static struct player *player_of(void *arg)
{
	struct player *p = arg;

	if (who_pid(p->who) != getpid())
		player_become_child(p);
	return p;
}

static int say(struct player *p, struct tq_run *run, struct attempt *a)
{
	unsigned char buf[300];
	uint32_t bytes = (uint32_t)chance_in(&p->chance, PAPER_BYTES_MIN, sizeof(buf));

	if (a->slot == UINT32_MAX)
		return TQ_RUN_FATAL;
	if (a->said == SAID_BACK)
		a->said = SAID_FAIL;
	if (a->said == SAID_DONE && chance_percent(&p->chance, 60)) {
		paper_write(buf, bytes, a->slot);
		player_accepts(p, "tq_run_result", tq_run_result(run, buf, bytes));
	}
	ledger_say(p->ledger, a->slot, a->said, p->who);
	fuse_light(p);
	if (a->said == SAID_DONE)
		return TQ_RUN_DONE;
	return a->said == SAID_FAIL ? TQ_RUN_FAIL : TQ_RUN_FATAL;
}

static void maybe_die(struct player *p)
{
	if (!player_phase_is(p, PHASE_STORM) || !chance_percent(&p->chance, 1))
		return;
	ledger_killing(p->ledger, p->who, 0);
	_exit(EXIT_PLANNED);
}

static int handle(struct tq_run *run, void *arg)
{
	struct player *p = player_of(arg);
	struct attempt a;

	attempt_begin(p, tq_run_claim(run), &a);
	maybe_die(p);
	attempt_run(p, tq_run_worker(run), tq_run_claim(run), &a);
	return say(p, run, &a);
}

/* It inherits the lock (LG-4), so that its life is part of the attempt. */
static pid_t fork_child(struct player *p)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	ledger_guest(p->ledger, who_am_i());
	player_work(
		chance_below(&p->chance, chance_percent(&p->chance, 20) ? OLD_CHILD_NS : CHILD_NS));
	_exit(0);
}

static int handle_family(struct tq_run *run, void *arg)
{
	struct player *p = player_of(arg);
	struct attempt a;
	int status;

	attempt_begin(p, tq_run_claim(run), &a);
	int fd = open(p->storm->ledger_path, O_RDWR | O_CLOEXEC);
	bool locked = fd >= 0 && a.slot != UINT32_MAX && ledger_lock(p->ledger, fd, a.slot);
	pid_t child = fork_child(p);

	maybe_die(p);
	attempt_run(p, tq_run_worker(run), tq_run_claim(run), &a);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (locked)
		ledger_unlock(fd, a.slot);
	if (fd >= 0)
		close(fd);
	return say(p, run, &a);
}

/* Workers are the master's children: it alone sees how they end. */
static void hear(void *arg, const char *text)
{
	struct player *p = arg;
	const char *cause = strstr(text, "signal:");

	if (cause && strncmp(cause, "signal:KILL", 11) != 0 &&
	    strncmp(cause, "signal:TERM", 11) != 0)
		ledger_fault(p->ledger, FAULT_CRASHED, UINT32_MAX, "%s", text);
	if (getenv("FARM_LOG"))
		dprintf(STDERR_FILENO, "farm %d: %s\n", (int)getpid(), text);
}

int play_farm(struct player *p)
{
	/* With all of the lock's time-out: a worker that cannot register costs a back-off. */
	const struct tq_open_opts open_opts = { .size = sizeof(open_opts) };
	const char *const queue = QUEUE_FARM;
	struct tq_farm_opts opts = {
		.size = sizeof(opts),
		.queues = &queue,
		.queue_count = 1,
		.workers = (uint32_t)chance_in(&p->chance, 1, 3),
		.lease_ns = chance_in(&p->chance, 500, 2000) * MS,
		.grace_ns = 300 * MS,
		.max_tasks = chance_percent(&p->chance, 50) ? 50 : 0,
		.log = hear,
		.log_arg = p,
	};
	int r = tq_open(p->storm->segment, &open_opts, &p->tq);

	if (r == 0)
		r = tq_handler_set(p->tq, KIND_HANDLER, handle, p);
	if (r == 0)
		r = tq_handler_set(p->tq, KIND_FAMILY, handle_family, p);
	player_does(p, DOING_FARM, UINT32_MAX);
	if (r == 0)
		r = tq_farm_run(p->tq, &opts);
	player_accepts(p, "tq_farm_run", r);
	return 0;
}
