/* SPDX-License-Identifier: MIT */
/*
 * A repair of 1,000,000 waiting tasks, beside their submits in the same run.  What it finds
 * damaged is a count that nobody could damage from outside, so this bench looks inside.
 */
#include <unistd.h>

#include "bench.h"
#include "client/core/handle.h"
#include "scheduler/record/records.h"

#define TASKS 1000000u
#define BOUND 2.5 /* by hand, 1.6; submits may become cheaper yet */
#define NS_PER_MS 1e6

static double submit(struct tq *tq, uint32_t count)
{
	struct tq_task_spec spec = bench_spec();
	const uint64_t begin = bench_cpu_ns(getpid());

	for (uint32_t i = 0; i < count; i++) {
		spec.priority = bench_priority();
		bench_must(tq_submit(tq, &spec, NULL), "submit");
	}
	return (double)(bench_cpu_ns(getpid()) - begin);
}

/* As `taskq check --repair`. */
static double repair(struct tq *tq)
{
	((struct tqi_root *)tqi_segment_root(&tq->seg))->ready = 0;
	const uint64_t begin = bench_cpu_ns(getpid());

	bench_must(tq_check(tq, TQ_CHECK_REPAIR, NULL, NULL), "repair");
	const double took = (double)(bench_cpu_ns(getpid()) - begin);

	if (bench_must(tq_check(tq, 0, NULL, NULL), "check") > 0)
		bench_must(TQ_ECORRUPT, "repair");
	return took;
}

void bench_repair(void)
{
	struct tq *tq = bench_open();
	const double submits = submit(tq, bench_scaled(TASKS)), took = repair(tq);

	bench_report("1000000 submits, CPU", submits / NS_PER_MS, "ms", 0);
	bench_report("repair of these 1000000 tasks, CPU", took / NS_PER_MS, "ms", 0);
	bench_report("repair of 1000000 tasks against their submits", took / submits, "times",
		     BOUND);
	bench_close(tq);
}
