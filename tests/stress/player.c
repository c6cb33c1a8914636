/* SPDX-License-Identifier: MIT */
/* What every player does. */
#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "storm.h"

const char *const storm_limits[STORM_LIMITS] = { "one", "two", "a third", "4" };

#define OPEN_TRIES 100

bool player_phase_is(const struct player *p, enum ledger_phase phase)
{
	return p->ledger->phase == phase;
}

void player_does(struct player *p, enum doing doing, uint32_t slot)
{
	struct ledger_seat *seat = &p->ledger->seat[p->seat];

	if (p->child)
		return;
	seat->since_ns = now_ns();
	seat->slot = slot;
	seat->doing = doing;
	fuse_light(p);
}

/* Half of them are children of a server that was attached before its fork. */
struct tq *player_open(struct player *p, uint32_t flags)
{
	static const uint64_t lock_timeouts[] = { 50 * MS, S, 5 * S };
	const struct tq_open_opts opts = { .size = sizeof(opts),
					   .flags = flags,
					   .lock_timeout_ns =
						   lock_timeouts[chance_below(&p->chance, 3)] };

	if (!flags && chance_percent(&p->chance, 50))
		return p->tq = p->storm->tq;
	for (int i = 0; i < OPEN_TRIES; i++) {
		int r = tq_open(p->storm->segment, &opts, &p->tq);

		if (r == 0)
			return p->tq;
		if (!player_accepts(p, "tq_open", r))
			break;
	}
	return NULL;
}

void player_become_child(struct player *p)
{
	p->who = who_am_i();
	p->child = true;
	p->spared = false;
	p->chance.state ^= p->who;
	ledger_guest(p->ledger, p->who);
}

bool player_accepts(struct player *p, const char *call, int r)
{
	switch (r) {
	case TQ_ELOCKED: /* its holder is stopped */
	case TQ_EFULL:
	case -ENOSPC:
	case TQ_EGONE:
	case TQ_ESTATE:
	case TQ_EDRAINING:
	case -ETIMEDOUT:
	case -EAGAIN:
	case -EINTR:
		return true;
	case TQ_ESHUTDOWN:
		if (!player_phase_is(p, PHASE_STORM))
			return true;
		break;
	default:
		if (r >= 0)
			return true;
	}
	ledger_fault(p->ledger, FAULT_ANSWER, UINT32_MAX, "%s: %s", call, tq_strerror(r));
	return false;
}

void player_work(uint64_t ns)
{
	const struct timespec pause = { .tv_sec = (time_t)(ns / S), .tv_nsec = (long)(ns % S) };

	nanosleep(&pause, NULL);
}

void storm_judge_end(struct ledger *l, pid_t pid, int status, const char *role)
{
	int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	const char *what = role ? role : "an orphan";

	/* SIGTERM is what the library asks an attempt with. */
	if (signal == SIGKILL || signal == SIGTERM)
		return;
	if (signal)
		ledger_fault(l, FAULT_CRASHED, UINT32_MAX, "%s %d: signal %d", what, (int)pid,
			     signal);
	else if (role && WEXITSTATUS(status) && WEXITSTATUS(status) != EXIT_PLANNED)
		ledger_fault(l, FAULT_CRASHED, UINT32_MAX, "%s %d: exit %d", what, (int)pid,
			     WEXITSTATUS(status));
}

void player_reap(struct player *p, bool all)
{
	pid_t pid;
	int status;

	while ((pid = waitpid(-1, &status, all ? 0 : WNOHANG)) > 0 || (pid < 0 && errno == EINTR))
		if (pid > 0)
			storm_judge_end(p->ledger, pid, status, "a player's child");
}
