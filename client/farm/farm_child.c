/* SPDX-License-Identifier: MIT */
/* Starting and replacing worker processes. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "client/farm/farm.h"
#include "client/farm/handler.h"

#define PAUSE_FIRST_NS 100000000ull  /* 100 ms, doubled with each early death ... */
#define PAUSE_LAST_NS 10000000000ull /* ... to 10 s */
#define PAUSE_DOUBLINGS 7
#define ERRORS_MAX 4 /* failed registrations in a row, over 0.7 s, before the farm gives up */
#define EARLY_NS 10000000000ull /* a worker that lived 10 s did not die of how it was started */
#define NS_PER_MS 1000000ull

void tqi_farm_appoint(struct tqi_farm *farm, uint64_t when)
{
	if (when < farm->next_ns)
		farm->next_ns = when;
}

/* In the child; signals are blocked until its own handlers are in place. */
static _Noreturn void become_worker(struct tqi_farm *farm, struct tqi_board *board,
				    const sigset_t *mask)
{
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != farm->pid) /* the master died before it could be watched */
		_exit(0);
	tqi_farm_signals_worker(&farm->signals, mask);
	tqi_farm_worker_main(farm, board);
}

static pid_t fork_worker(struct tqi_farm *farm, struct tqi_board *board)
{
	sigset_t all, old;

	fflush(NULL); /* or the worker would write the same once more */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	tqi_handlers_fork_before();
	pid_t pid = fork();

	if (pid == 0) {
		tqi_handlers_fork_child();
		become_worker(farm, board, &old);
	}
	const int error = errno;

	tqi_handlers_fork_parent();
	if (pid > 0)
		setpgid(pid, pid); /* whoever of both is first */
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return pid < 0 ? -error : pid;
}

static uint64_t pause_after(uint32_t failures)
{
	uint64_t pause = PAUSE_FIRST_NS
			 << (failures < PAUSE_DOUBLINGS ? failures : PAUSE_DOUBLINGS);

	return pause < PAUSE_LAST_NS ? pause : PAUSE_LAST_NS;
}

/* Said once, until there is one: what keeps it from forking may last. */
static void put_off(struct tqi_farm *farm, struct tqi_child *child, uint64_t now, int error)
{
	child->start_ns = now + pause_after(child->unborn++);
	tqi_farm_appoint(farm, child->start_ns);
	if (!farm->cannot_fork)
		tqi_farm_log(farm, "cannot fork a worker, and tries less and less often: %s",
			     tq_strerror(error));
	farm->cannot_fork = true;
}

static void start(struct tqi_farm *farm, struct tqi_child *child, uint64_t now)
{
	struct tqi_board *board = tqi_farm_board(farm, child);
	const uint32_t early = child->early;

	memset(board, 0, sizeof(*board)); /* nobody else refers to it now */
	pid_t pid = fork_worker(farm, board);

	if (pid < 0) {
		put_off(farm, child, now, pid);
		return;
	}
	farm->cannot_fork = false;
	*child = (struct tqi_child){
		.state = TQI_CHILD_LIVE, .pid = pid, .early = early, .start_ns = now
	};
	tqi_farm_log(farm, "worker %d started", (int)pid);
}

void tqi_farm_start_due(struct tqi_farm *farm, uint64_t now)
{
	for (uint32_t i = 0; i < farm->child_count; i++) {
		struct tqi_child *child = &farm->children[i];

		if (child->state != TQI_CHILD_PAUSED)
			continue;
		if (farm->stopping)
			child->state = TQI_CHILD_NONE;
		else if (child->start_ns <= now)
			start(farm, child, now);
		else
			tqi_farm_appoint(farm, child->start_ns);
	}
}

/* Back-off for workers that die early: else a broken host would fork without end. */
static uint64_t pause_of(struct tqi_farm *farm, struct tqi_child *child, uint64_t now)
{
	/* What its tasks do to it is no fault of how it was started. */
	bool worked = child->worked ||
		      tqi_load_relaxed64(&tqi_farm_board(farm, child)->finished) > 0;

	if (child->leave != TQI_LEAVE_NOT || child->sacrificed)
		return 0;
	farm->has_worked |= child->record != 0;
	if (worked || now - child->start_ns >= EARLY_NS) {
		child->early = 0;
		return 0;
	}
	return pause_after(child->early++);
}

/* One that left for good takes its place with it, unless it was too many. */
static bool is_to_be_filled(struct tqi_farm *farm, const struct tqi_child *child)
{
	if (farm->stopping || child->retiring || child->asked)
		return false;
	if (child->leave != TQI_LEAVE_EMPTY && child->leave != TQI_LEAVE_STOPPED)
		return true;
	farm->width -= farm->width > 0;
	return false;
}

void tqi_farm_replace(struct tqi_farm *farm, struct tqi_child *child, uint64_t now)
{
	if (!is_to_be_filled(farm, child)) {
		child->state = TQI_CHILD_NONE;
		return;
	}
	uint64_t pause = pause_of(farm, child, now);
	int error = (int)tqi_load_relaxed32(&tqi_farm_board(farm, child)->error);

	/* None has ever registered, and it is not for a moment: somebody must hear of it. */
	if (error && child->early >= ERRORS_MAX && !farm->has_worked) {
		farm->error = error;
		child->state = TQI_CHILD_NONE;
		return;
	}
	child->state = TQI_CHILD_PAUSED;
	child->start_ns = now + pause;
	tqi_farm_appoint(farm, child->start_ns);
	if (pause)
		tqi_farm_log(farm, "the next worker starts in %u ms",
			     (unsigned)(pause / NS_PER_MS));
}
