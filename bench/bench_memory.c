/* SPDX-License-Identifier: MIT */
/* Memory of a waiting task. */
#include "bench.h"

#define TASKS 1000000u

void bench_memory(void)
{
	const uint32_t tasks = bench_scaled(TASKS);
	struct tq *tq = bench_open();
	struct tq_task_spec spec = { .size = sizeof(spec), .kind = "bench" };
	struct tq_segment_info before = { .size = sizeof(before) };
	struct tq_segment_info after = { .size = sizeof(after) };

	bench_must(tq_segment_info(tq, &before), "info");
	for (uint32_t i = 0; i < tasks; i++)
		bench_must(tq_submit(tq, &spec, NULL), "submit");
	bench_must(tq_segment_info(tq, &after), "info");
	bench_report("segment bytes of a waiting task, empty payload",
		     (double)(after.used_bytes - before.used_bytes) / tasks, "bytes", 320);
	bench_close(tq);
}
