/* SPDX-License-Identifier: MIT */
/*
 * submit SEGMENT CMD [ARG]...: hand in a command, wait for its end, print its output.
 *
 * Somebody must run it: `taskq -s SEGMENT work`.  Exits 0 when the task is done.
 */
#include <stdio.h>

#include <taskq/taskq.h>

static int submit(struct tq *tq, const char *const *argv, uint64_t *ret_id)
{
	const struct tq_task_spec spec = {
		.size = sizeof(spec),
		.priority = TQ_PRIORITY_HIGH,
		.label = "example",
		.timeout_ns = 60ull * 1000000000,
		.attempts_max = 3,
	};

	return tq_submit_exec(tq, argv, &spec, ret_id);
}

static void print_output(struct tq *tq, uint64_t id)
{
	char data[4096];
	uint64_t bytes;

	/* What was kept of its output; `bytes` may be more than fits here. */
	if (tq_task_result(tq, id, data, sizeof(data), &bytes) == 0)
		fwrite(data, 1, bytes < sizeof(data) ? bytes : sizeof(data), stdout);
}

static int run(struct tq *tq, const char *const *argv)
{
	struct tq_task_info info = { .size = sizeof(info) };
	char text[TQ_ID_TEXT_MAX], cause[32];
	uint64_t id;
	int r = submit(tq, argv, &id);

	if (r < 0)
		return r;
	fprintf(stderr, "submitted %s\n", tq_task_id_format(id, text));
	r = tq_wait(tq, &id, 1, TQ_FOREVER_NS, NULL, &info);
	if (r < 0)
		return r;
	print_output(tq, id);
	fprintf(stderr, "%s, %s, after %u attempts\n", tq_task_state_name(info.state),
		tq_cause_format(info.cause, info.cause_arg, cause), info.attempt);
	return info.state == TQ_DONE ? 0 : 1;
}

int main(int argc, char **argv)
{
	const struct tq_open_opts opts = { .size = sizeof(opts), .flags = TQ_OPEN_CREATE };
	struct tq *tq;
	int r;

	if (argc < 3) {
		fprintf(stderr, "usage: %s SEGMENT CMD [ARG]...\n", argv[0]);
		return 2;
	}
	r = tq_open(argv[1], &opts, &tq);
	if (r == 0) {
		r = run(tq, (const char *const *)(argv + 2));
		tq_close(tq);
	}
	if (r < 0)
		fprintf(stderr, "%s: %s\n", tq_error_name(r), tq_strerror(r));
	return r != 0;
}
