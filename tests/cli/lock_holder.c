/* SPDX-License-Identifier: MIT */
/* lock_holder SEGMENT: takes the segment's lock and stops, as one hit by Ctrl-Z would. */
#include <signal.h>
#include <stdio.h>

#include "client/core/handle.h"

int main(int argc, char **argv)
{
	struct tq *tq;
	struct tqi_tx tx;
	int r = argc == 2 ? tq_open(argv[1], NULL, &tq) : -22;

	if (r == 0)
		r = tqi_hold_begin(tq, &tx);
	if (r < 0) {
		fprintf(stderr, "lock_holder: %s\n", tq_strerror(r));
		return 1;
	}
	raise(SIGSTOP);
	r = tqi_hold_end(tq, &tx, 0);
	tq_close(tq);
	return r < 0;
}
