/* SPDX-License-Identifier: MIT */
/* Payloads of kind "exec": what can be read can be written again, and reads the same. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "taskq/taskq.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/scene.h"

static void write_again(const struct tq_exec *exec)
{
	uint64_t bytes;

	if (tq_exec_encode(exec, NULL, 0, &bytes) != -ENOBUFS)
		return; /* such as an environment that tq_exec_encode() refuses */
	void *again = malloc(bytes);
	struct tq_exec *read;

	tqt_require(again && tq_exec_encode(exec, again, bytes, &bytes) == 0);
	tqt_require(tq_exec_decode(again, bytes, &read) == 0);
	tqt_require(strcmp(read->argv[0], exec->argv[0]) == 0);
	tqt_require(read->flags == exec->flags && read->umask == exec->umask);
	free(read);
	free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	struct tq_exec *exec;

	if (tq_exec_decode(bytes, count, &exec) == 0) {
		write_again(exec);
		free(exec);
	}
	return 0;
}
