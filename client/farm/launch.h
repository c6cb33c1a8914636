/* SPDX-License-Identifier: MIT */
/*
 * Starting a command: the child's side.
 *
 * The child waits for one byte on `go`: until then its group is not known to the
 * segment, and the end of the pipe means that its worker is gone.  What keeps it
 * from becoming the command it writes to `status`, which closes when it succeeds.
 */
#ifndef TQI_CLIENT_FARM_LAUNCH_H
#define TQI_CLIENT_FARM_LAUNCH_H

#include <stdint.h>
#include <sys/types.h>

#include "client/worker/worker_api.h"

enum tqi_launch_step {
	TQI_LAUNCH_SETUP = 1, /* of the child itself */
	TQI_LAUNCH_CWD = 2,
	TQI_LAUNCH_OUTPUT = 3,
	TQI_LAUNCH_EXEC = 4,
	TQI_LAUNCH_INPUT = 5,
	TQI_LAUNCH_NULL = 6, /* /dev/null */
};

struct tqi_launch_fault {
	int32_t step; /* enum tqi_launch_step */
	int32_t error; /* errno */
};

/* Prepared before the fork: the child allocates nothing. */
struct tqi_launch {
	const struct tq_exec *exec;
	char **env;
	char *output_path; /* exec->output_path without its %; NULL none */
	pid_t parent;
	int go[2];     /* parent to child */
	int status[2]; /* child to parent */
	int input;     /* with TQ_EXEC_READER_INPUT; -errno: it cannot be had */
	int errors;    /* -1: with the output */
	int output[2]; /* child to parent; -1: output_path */
};

/* Pipes and environment.  0 or -errno; free with tqi_launch_free() in either case. */
int tqi_launch_prepare(struct tqi_launch *launch, const struct tq_worker *worker,
		       const struct tq_claim *claim, const struct tq_exec *exec);
/* Fork the child, which becomes leader of a session of its own.  Its pid or -errno. */
pid_t tqi_launch_fork(struct tqi_launch *launch);
/* Let it go.  0 it runs; 1 it failed before, as `ret_fault` says; -errno. */
int tqi_launch_go(struct tqi_launch *launch, struct tqi_launch_fault *ret_fault);
void tqi_launch_close(int fd[static 1]);
/* To where no standard descriptor is in its way.  0 or -errno. */
int tqi_launch_raise(int fd[static 1]);
void tqi_launch_free(struct tqi_launch *launch);

/* Child only. */
_Noreturn void tqi_launch_child(const struct tqi_launch *launch);

#endif
