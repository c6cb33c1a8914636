/* SPDX-License-Identifier: MIT */
/* One task of very many: another priority, and the end. */
#include "bench.h"

#define TASKS 1000000u
#define STEPS 10000u

/* Some of all, far from each other; each once. */
static uint64_t pick(const uint64_t *ids, uint32_t step)
{
	return ids[(uint64_t)step * (TASKS / STEPS)];
}

static uint64_t reprioritise(struct tq *tq, uint64_t id)
{
	const struct tq_task_update update = { .size = sizeof(update),
					       .fields = TQ_UPDATE_PRIORITY,
					       .priority = bench_priority() };
	uint64_t begin = bench_now();

	bench_must(tq_task_update(tq, id, &update), "update");
	return bench_now() - begin;
}

static uint64_t cancel(struct tq *tq, uint64_t id)
{
	uint64_t begin = bench_now();

	bench_must(tq_task_steer(tq, id, TQ_TASK_ACTION_CANCEL), "cancel");
	return bench_now() - begin;
}

static void measure(struct tq *tq, const uint64_t *ids, const char *name,
		    uint64_t (*step)(struct tq *, uint64_t))
{
	static uint64_t samples[STEPS];
	const uint32_t steps = bench_scaled(STEPS);

	for (uint32_t i = 0; i < steps; i++)
		samples[i] = step(tq, pick(ids, i));
	bench_report(name, (double)bench_quantile(samples, steps, 0.5) / 1000, "us", 0);
}

void bench_steer(void)
{
	const uint32_t tasks = bench_scaled(TASKS);
	struct tq *tq = bench_open();
	uint64_t *ids = bench_share(TASKS * sizeof(*ids));
	struct tq_task_spec spec = bench_spec();

	for (uint32_t i = 0; i < tasks; i++) {
		spec.priority = bench_priority();
		bench_must(tq_submit(tq, &spec, &ids[i]), "submit");
	}
	measure(tq, ids, "another priority for one of 1000000, median", reprioritise);
	measure(tq, ids, "cancel one of 1000000, median", cancel);
	bench_unshare(ids, TASKS * sizeof(*ids));
	bench_close(tq);
}
