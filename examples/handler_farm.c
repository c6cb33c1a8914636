/* SPDX-License-Identifier: MIT */
/*
 * handler_farm SEGMENT: a farm whose workers run a function.
 *
 * Each task adds up the numbers 1 to N in steps, reports its progress, and saves a
 * checkpoint after each step.  The first attempt of each task ends half-way in a
 * crash; the next one goes on from the checkpoint.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <taskq/taskq.h>

#define TASKS 4
#define STEPS 10

/* What a checkpoint holds. */
struct state {
	uint64_t next;
	uint64_t sum;
};

static int add_up(struct tq_run *run, void *arg)
{
	const struct tq_claim *claim = tq_run_claim(run);
	struct state state = { 1, 0 };
	uint64_t last;

	(void)arg;
	if (claim->payload_bytes != sizeof(last)) {
		tq_run_error(run, "the payload is not a number");
		return TQ_RUN_FATAL;
	}
	memcpy(&last, claim->payload, sizeof(last));
	if (claim->checkpoint_bytes == sizeof(state)) /* an earlier attempt came that far */
		memcpy(&state, claim->checkpoint, sizeof(state));
	while (state.next <= last) {
		const uint32_t percent = (uint32_t)(state.next * 100 / last);

		if (tq_run_stopping(run)) /* cancelled, or out of time */
			return TQ_RUN_FAIL;
		state.sum += state.next++;
		if (tq_run_progress(run, percent, "adding") < 0 ||
		    tq_run_checkpoint(run, &state, sizeof(state)) < 0)
			return TQ_RUN_FAIL;
		if (claim->attempt == 1 && state.next > last / 2)
			raise(SIGKILL); /* only this worker's process pays for it */
	}
	return tq_run_result(run, &state.sum, sizeof(state.sum));
}

static int submit_all(struct tq *tq, uint64_t *ids)
{
	int r = 0;

	for (uint64_t i = 0; i < TASKS && r == 0; i++) {
		const uint64_t last = STEPS * (i + 1);
		const struct tq_task_spec spec = {
			.size = sizeof(spec),
			.kind = "add-up",
			.payload = &last,
			.payload_bytes = sizeof(last),
		};

		r = tq_submit(tq, &spec, &ids[i]);
	}
	return r;
}

static int print_all(struct tq *tq, const uint64_t *ids)
{
	for (uint64_t i = 0; i < TASKS; i++) {
		const uint64_t last = STEPS * (i + 1);
		struct tq_task_info info = { .size = sizeof(info) };
		uint64_t sum = 0;
		int r = tq_task_result(tq, ids[i], &sum, sizeof(sum), NULL);

		if (r == 0)
			r = tq_task_info(tq, ids[i], &info);
		if (r < 0)
			return r;
		printf("1 + ... + %llu = %llu, attempts %u\n", (unsigned long long)last,
		       (unsigned long long)sum, info.attempt);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const struct tq_open_opts opts = { .size = sizeof(opts), .flags = TQ_OPEN_CREATE };
	const struct tq_farm_opts farm = {
		.size = sizeof(farm),
		.workers = 2,
		.flags = TQ_FARM_UNTIL_EMPTY | TQ_FARM_NO_EXEC,
	};
	uint64_t ids[TASKS];
	struct tq *tq;
	int r;

	if (argc != 2)
		return 2;
	r = tq_open(argv[1], &opts, &tq);
	if (r == 0) {
		r = tq_handler_set(tq, "add-up", add_up, NULL);
		if (r == 0)
			r = submit_all(tq, ids);
		if (r == 0) /* forks; without UNTIL_EMPTY it ends by SIGTERM */
			r = tq_farm_run(tq, &farm);
		if (r == 0)
			r = print_all(tq, ids);
		tq_close(tq);
	}
	if (r < 0)
		fprintf(stderr, "%s: %s\n", tq_error_name(r), tq_strerror(r));
	return r != 0;
}
