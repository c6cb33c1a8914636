/* SPDX-License-Identifier: MIT */
/* Peers without a server: taskq itself, and the kernel's message queues. */
#include <errno.h>
#include <mqueue.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench_peer.h"

#define NAME_BYTES 32

static struct {
	struct tq *tq;
	struct tq_worker *worker;
	struct tq_claim claim;
} ours;

static const char *open_ours(uint32_t depth, uint32_t bytes)
{
	(void)depth, (void)bytes;
	ours.tq = bench_open();
	ours.claim.size = sizeof(ours.claim);
	bench_must(tq_worker_open(ours.tq, NULL, &ours.worker), "worker");
	return NULL;
}

static void put_ours(const char *payload, uint32_t bytes)
{
	struct tq_task_spec spec = bench_spec();

	spec.priority = bench_priority();
	spec.payload = payload;
	spec.payload_bytes = bytes;
	bench_must(tq_submit(ours.tq, &spec, NULL), "submit");
}

/* The others hand over a copy: so do we. */
static void live_ours(const char *payload, uint32_t bytes, uint32_t count)
{
	char *copy = malloc(bytes + 1u);

	for (uint32_t i = 0; copy && i < count; i++) {
		put_ours(payload, bytes);
		bench_must(tq_claim(ours.worker, 0, &ours.claim), "claim");
		memcpy(copy, ours.claim.payload, ours.claim.payload_bytes);
		bench_must(tq_complete(ours.worker, &ours.claim, NULL, 0), "complete");
	}
	free(copy);
}

static void close_ours(void)
{
	tq_worker_close(ours.worker);
	bench_close(ours.tq);
}

const struct peer bench_peer_taskq = { "taskq",		  "one process, three calls a life",
				       "nothing of this", open_ours,
				       put_ours,	  live_ours,
				       close_ours };

static struct {
	mqd_t queue;
	char name[NAME_BYTES];
	char *buffer;
	uint32_t bytes;
} mq;

static const char *open_mq(uint32_t depth, uint32_t bytes)
{
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	struct mq_attr attr = { .mq_maxmsg = (long)depth + 1, .mq_msgsize = (long)bytes + 1 };

	(void)setrlimit(RLIMIT_MSGQUEUE, &all); /* when it may: the open says whether */
	snprintf(mq.name, sizeof(mq.name), "/taskq-bench.%d", (int)getpid());
	mq.queue = mq_open(mq.name, O_RDWR | O_CREAT | O_EXCL, 0600, &attr);
	if (mq.queue == (mqd_t)-1)
		return "the system allows no queue of that size (fs.mqueue)";
	mq.bytes = bytes + 1;
	mq.buffer = malloc(mq.bytes);
	return NULL;
}

static void put_mq(const char *payload, uint32_t bytes)
{
	bench_must(mq_send(mq.queue, payload, bytes, (unsigned)bench_priority()) < 0 ? -errno : 0,
		   "mq_send");
}

static void live_mq(const char *payload, uint32_t bytes, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		put_mq(payload, bytes);
		bench_must(mq_receive(mq.queue, mq.buffer, mq.bytes, NULL) < 0 ? -errno : 0,
			   "mq_receive");
	}
}

static void close_mq(void)
{
	mq_close(mq.queue);
	mq_unlink(mq.name);
	free(mq.buffer);
}

const struct peer bench_peer_mq = {
	"POSIX mq", "mq_send, mq_receive", "leases, results, retries", open_mq, put_mq, live_mq,
	close_mq
};
