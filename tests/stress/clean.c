/* SPDX-License-Identifier: MIT */
/* Leaving nothing behind, also when the storm is interrupted. */
#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storm.h"

#define EXIT_TOLD 143

static void kill_child(pid_t pid, void *arg)
{
	(void)arg;
	kill(pid, SIGKILL); /* not reaped: the number is its own */
}

/* Orphans come to the subreaper that this process is: so until there is no child. */
void storm_clean_up(struct storm *storm)
{
	int r;

	do
		who_children(kill_child, NULL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR);
	r = tq_destroy(storm->segment, TQ_DESTROY_FORCE);
	if (r < 0 && r != -ENOENT)
		printf("storm: cannot remove the segment: %s\n", tq_strerror(r));
}

void storm_heed(struct storm *storm)
{
	const struct timespec at_once = { 0 };
	sigset_t told;

	sigemptyset(&told);
	sigaddset(&told, SIGTERM);
	if (sigtimedwait(&told, NULL, &at_once) != SIGTERM)
		return;
	storm_clean_up(storm);
	_exit(EXIT_TOLD);
}
