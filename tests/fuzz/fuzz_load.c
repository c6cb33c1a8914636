/* SPDX-License-Identifier: MIT */
/* Files of `taskq load`, as far as they are checked; nothing is loaded. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "tests/support/scene.h"
#include "tools/taskq/dump/load.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	struct cli cli = { .segment = "none", .queue = "default" };
	struct load *load = calloc(1, sizeof(*load));

	tqt_require(load);
	load->cli = &cli;
	load->path = "-";
	load->keyed = json_object();
	load->fd = memfd_create("dump", MFD_CLOEXEC);
	tqt_require(load->fd >= 0 && write(load->fd, bytes, count) == (ssize_t)count);
	task_options_init(&load->defaults);
	if (!load_read(load, LOAD_CHECK))
		tqt_require(*load->error && !cli.exit_code);
	close(load->fd);
	load_free(load);
	task_options_free(&load->defaults);
	free(load);
	return 0;
}
