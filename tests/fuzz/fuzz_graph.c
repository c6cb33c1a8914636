/* SPDX-License-Identifier: MIT */
/* Files of `submit --graph`, read and put together; nothing is submitted. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "tests/support/scene.h"
#include "tools/taskq/submit/graph_file.h"

static struct tqt_scene scene;

static void close_scene(void)
{
	tqt_scene_close(&scene);
}

static void build(struct graph_file *file)
{
	struct tq_graph *graph;
	uint32_t number;

	tqt_require(tq_graph_new(scene.tq, NULL, &graph) == 0);
	(void)!graph_file_build(file, graph, &number);
	tq_graph_drop(graph);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	struct task_options defaults;
	struct graph_file file;
	const int fd = memfd_create("graph", MFD_CLOEXEC);

	if (!scene.tq) {
		tqt_scene_open(&scene, "fuzz-graph");
		atexit(close_scene);
	}
	tqt_require(fd >= 0 && write(fd, bytes, count) == (ssize_t)count);
	tqt_require(lseek(fd, 0, SEEK_SET) == 0);
	task_options_init(&defaults);
	if (graph_file_read(&file, fd, &defaults, GRAPH_BYTES_MAX))
		build(&file);
	else
		tqt_require(*file.error || file.cycle_count > 0);
	graph_file_free(&file);
	task_options_free(&defaults);
	close(fd);
	return 0;
}
