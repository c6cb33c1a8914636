/* SPDX-License-Identifier: MIT */
/* Stop steps that a worker does not take itself: it is stopped, or stuck. */
#include "client/farm/farm.h"
#include "client/core/stopper.h"
#include "shm/ident.h"

#define PATIENCE_NS                                                                                \
	1000000000ull /* 1 s: a worker that is well takes its steps within milliseconds */

static bool is_stopped(pid_t pid)
{
	uint64_t start;
	char state;

	return tqi_pid_start((uint32_t)pid, &start, &state) == 0 && (state == 'T' || state == 't');
}

static bool is_leader(const struct tqi_attempt *attempt, uint32_t pgid)
{
	uint64_t start;
	char state;

	return tqi_pid_start(pgid, &start, &state) == 0 &&
	       start == tqi_load_relaxed64(&attempt->pgid_start);
}

/*
 * ST-3: SIGKILL goes to the worker, our child; its command follows when it is buried.
 * SIGTERM is for the command: its leader is not ours, but a stopped worker does not
 * reap it.  One that runs and does not take its steps gets SIGKILL in the end.
 */
static void send_to_child(void *arg, struct tqi_attempt *attempt, int signal)
{
	struct tqi_child *child = arg;
	uint32_t pgid = tqi_load_acquire32(&attempt->pgid);

	if (signal == SIGKILL)
		kill(child->pid, SIGKILL);
	else if (pgid && is_stopped(child->pid) && is_leader(attempt, pgid))
		(void)tqi_group_signal((pid_t)pgid, signal);
}

uint64_t tqi_farm_stop_steps(struct tqi_tx *tx, struct tqi_farm *farm)
{
	uint64_t next = UINT64_MAX;

	for (uint32_t i = 0; i < farm->child_count && !tx->corrupt; i++) {
		struct tqi_child *child = &farm->children[i];
		uint32_t w = tqi_farm_record(tx, farm, child);

		if (!w)
			continue;
		uint64_t due = tqi_stopper_run(tx, w, PATIENCE_NS, send_to_child, child);

		if (due < next)
			next = due;
	}
	return next;
}
