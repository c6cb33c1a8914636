/* SPDX-License-Identifier: MIT */
/*
 * prefork SEGMENT: a server that attaches once, before it forks.
 *
 * Each child submits tasks and draws from the same queue, as the children of a web
 * server would.  They need not know of each other, nor of their parent.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <taskq/taskq.h>

#define CHILDREN 4
#define TASKS_EACH 25
#define PATIENCE_NS 500000000ull /* a child leaves when nothing has come for 0.5 s */

static int submit_some(struct tq *tq)
{
	struct tq_task_spec spec = { .size = sizeof(spec), .kind = "greet" };
	char name[32];
	int r = 0;

	for (int i = 0; i < TASKS_EACH && r == 0; i++) {
		spec.payload = name;
		spec.payload_bytes =
			(uint64_t)snprintf(name, sizeof(name), "%d of %d", i, (int)getpid());
		r = tq_submit(tq, &spec, NULL);
	}
	return r;
}

/* The work itself; `greeting` is the result. */
static int greet(struct tq_worker *worker, const struct tq_claim *claim)
{
	char greeting[64];
	const int n = snprintf(greeting, sizeof(greeting), "hello, %.*s", (int)claim->payload_bytes,
			       (const char *)claim->payload);

	return tq_complete(worker, claim, greeting, (uint64_t)n);
}

static int serve(struct tq *tq)
{
	static const char *const kinds[] = { "greet" };
	const struct tq_worker_opts opts = {
		.size = sizeof(opts), .kinds = kinds, .kind_count = 1, .name = "prefork"
	};
	struct tq_claim claim = { .size = sizeof(claim) };
	struct tq_worker *worker;
	/* The first use of the handle makes this child a participant of its own. */
	int r = tq_worker_open(tq, &opts, &worker);

	while (r == 0 || r == -EINTR) {
		r = tq_claim(worker, PATIENCE_NS, &claim);
		if (r == 0)
			r = greet(worker, &claim);
		if (r == -ETIMEDOUT) {
			tq_worker_close(worker);
			return 0;
		}
	}
	return r;
}

static int be_child(struct tq *tq)
{
	int r = submit_some(tq);

	if (r == 0)
		r = serve(tq);
	if (r < 0)
		fprintf(stderr, "child %d: %s\n", (int)getpid(), tq_strerror(r));
	return r < 0;
}

int main(int argc, char **argv)
{
	const struct tq_open_opts opts = { .size = sizeof(opts), .flags = TQ_OPEN_CREATE };
	struct tq_queue_info info = { .size = sizeof(info) };
	int status, failed = 0;
	struct tq *tq;

	if (argc != 2 || tq_open(argv[1], &opts, &tq) < 0)
		return 2;
	for (int i = 0; i < CHILDREN; i++)
		if (fork() == 0)
			_exit(be_child(tq));
	while (wait(&status) > 0)
		failed |= status;
	if (tq_queue_info(tq, "default", &info) < 0)
		return 1;
	printf("%llu submitted, %llu done\n", (unsigned long long)info.counters.submitted,
	       (unsigned long long)info.counters.done);
	tq_close(tq);
	return failed || info.counters.done != CHILDREN * TASKS_EACH;
}
