/* SPDX-License-Identifier: MIT */
/* consumer SEGMENT: the same as consumer.c, as a C++11 user. */
#include <cstdio>
#include <string>

#include <taskq/taskq.h>

static int use(struct tq *tq)
{
	tq_task_spec spec{};
	struct tq_task_info info = {};
	uint64_t id = 0;

	spec.size = sizeof(spec);
	info.size = sizeof(info);
	spec.kind = "consumer";
	int r = tq_submit(tq, &spec, &id);
	if (r < 0)
		return r;
	r = tq_task_info(tq, id, &info);
	if (r < 0)
		return r;
	return info.id == id && info.state == TQ_READY ? 0 : int(TQ_ESTATE);
}

int main(int argc, char **argv)
{
	if (argc != 2 || std::string(tq_version()) != TQ_VERSION_STRING)
		return 2;
	tq_open_opts opts{};
	opts.size = sizeof(opts);
	opts.flags = TQ_OPEN_CREATE | TQ_OPEN_EXCLUSIVE;
	struct tq *tq = nullptr;
	int r = tq_open(argv[1], &opts, &tq);
	if (r == 0) {
		r = use(tq);
		tq_close(tq);
	}
	if (r == 0)
		r = tq_destroy(argv[1], TQ_DESTROY_FORCE);
	if (r < 0) {
		std::fprintf(stderr, "%s: %s\n", tq_error_name(r), tq_strerror(r));
		return 1;
	}
	std::puts(tq_version());
	return 0;
}
