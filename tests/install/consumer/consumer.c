/* SPDX-License-Identifier: MIT */
/* consumer SEGMENT: a C99 user: submit a task, read it back, print the version. */
#include <stdio.h>
#include <string.h>

#include <taskq/taskq.h>

static int use(struct tq *tq)
{
	struct tq_task_spec spec = { sizeof(spec) };
	struct tq_task_info info = { sizeof(info) };
	uint64_t id;
	int r;

	spec.kind = "consumer";
	r = tq_submit(tq, &spec, &id);
	if (r < 0)
		return r;
	r = tq_task_info(tq, id, &info);
	if (r < 0)
		return r;
	return info.id == id && info.state == TQ_READY ? 0 : TQ_ESTATE;
}

int main(int argc, char **argv)
{
	struct tq_open_opts opts = { sizeof(opts) };
	struct tq *tq;
	int r;

	if (argc != 2 || strcmp(tq_version(), TQ_VERSION_STRING) != 0)
		return 2;
	opts.flags = TQ_OPEN_CREATE | TQ_OPEN_EXCLUSIVE;
	r = tq_open(argv[1], &opts, &tq);
	if (r == 0) {
		r = use(tq);
		tq_close(tq);
	}
	if (r == 0)
		r = tq_destroy(argv[1], TQ_DESTROY_FORCE);
	if (r < 0) {
		fprintf(stderr, "%s: %s\n", tq_error_name(r), tq_strerror(r));
		return 1;
	}
	puts(tq_version());
	return 0;
}
