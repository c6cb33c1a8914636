/* SPDX-License-Identifier: MIT */
/* Peers without a server: taskq itself, its floor, and the kernel's message queues. */
#include <errno.h>
#include <mqueue.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench_peer.h"
#include "bench_sketch.h"

#define NAME_BYTES 32
#define MQ_ROOM 10u    /* messages that a queue may have by default: fs.mqueue.msg_max */
#define SKETCH_SPARE 8 /* tasks that run, beside those that wait */

void bench_peer_fill(const struct peer *peer, const char *payload, uint32_t bytes, uint32_t count)
{
	if (peer->fill) {
		peer->fill(payload, bytes, count);
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		peer->put(payload, bytes);
}

void bench_peer_live(const struct peer *peer, const char *payload, uint32_t bytes, uint32_t count)
{
	if (peer->live) {
		peer->live(payload, bytes, count);
		return;
	}
	for (uint32_t i = 0; i < count; i++) {
		peer->put(payload, bytes);
		peer->take(bytes);
	}
}

/* taskq */

static struct {
	struct tq *tq;
	struct tq_worker *worker; /* of this process; NULL it has taken nothing yet */
	struct tq_claim claim;
	bool has_claim; /* it runs: tq_next() ends it */
	char *copy;
} ours;

static void bound_queue(uint32_t depth_max)
{
	const struct tq_queue_opts opts = { .size = sizeof(opts), .depth_max = depth_max };

	bench_must(tq_queue_set(ours.tq, "default", &opts), "queue");
}

static const char *open_ours(const struct peer_load *load)
{
	ours.tq = bench_open();
	ours.worker = NULL;
	ours.claim.size = sizeof(ours.claim);
	ours.has_claim = false;
	ours.copy = malloc(load->bytes + 1u);
	bench_must(ours.copy ? 0 : -ENOMEM, "memory");
	if (load->room)
		bound_queue(load->depth + load->room);
	return NULL;
}

static void put_ours(const char *payload, uint32_t bytes)
{
	struct tq_task_spec spec = bench_spec();

	spec.priority = bench_priority();
	spec.payload = payload;
	spec.payload_bytes = bytes;
	spec.full_timeout_ns = TQ_FOREVER_NS / 4;
	bench_must(tq_submit(ours.tq, &spec, NULL), "submit");
}

/* The others hand over a copy: so do we. */
static void copy_claimed(uint32_t bytes)
{
	bench_must(ours.claim.payload_bytes == bytes ? 0 : -EPROTO, "payload");
	memcpy(ours.copy, ours.claim.payload, bytes);
}

static void claim_ours(void)
{
	if (!ours.worker)
		bench_must(tq_worker_open(ours.tq, NULL, &ours.worker), "worker");
	bench_must(tq_claim(ours.worker, TQ_FOREVER_NS, &ours.claim), "claim");
}

static void complete_ours(void)
{
	bench_must(tq_complete(ours.worker, &ours.claim, NULL, 0), "complete");
}

static void take_ours(uint32_t bytes)
{
	claim_ours();
	copy_claimed(bytes);
	complete_ours();
}

/* Says that the one before is done; the last one stays claimed. */
static void take_ours_next(uint32_t bytes)
{
	const struct tq_verdict done = { .size = sizeof(done), .kind = TQ_VERDICT_DONE };
	int verdict;

	if (ours.has_claim)
		bench_must(tq_next(ours.worker, &ours.claim, &done, TQ_FOREVER_NS, &ours.claim,
				   &verdict),
			   "next");
	else
		claim_ours();
	ours.has_claim = true;
	copy_claimed(bytes);
}

static void close_ours(void)
{
	if (ours.worker && ours.has_claim)
		complete_ours();
	if (ours.worker)
		tq_worker_close(ours.worker);
	free(ours.copy);
	bench_close(ours.tq);
}

const struct peer bench_peer_taskq = { .name = "taskq",
				       .settings = "submit, claim, complete: three calls a life",
				       .lacks = "nothing of this",
				       .open = open_ours,
				       .put = put_ours,
				       .take = take_ours,
				       .close = close_ours };
const struct peer bench_peer_taskq_next = { .name = "taskq with tq_next",
					    .settings = "submit, next: two calls a life",
					    .lacks = "nothing of this",
					    .open = open_ours,
					    .put = put_ours,
					    .take = take_ours_next,
					    .close = close_ours };

/* The floor */

static struct {
	struct sketch *sketch;
	uint32_t running; /* with sketch_next(); 0 none */
} plain;

static const char *open_floor(const struct peer_load *load)
{
	plain.sketch = sketch_open(load->depth + load->room + SKETCH_SPARE);
	plain.running = 0;
	return NULL;
}

static void put_floor(const char *payload, uint32_t bytes)
{
	(void)bytes;
	while (!sketch_submit(plain.sketch, bench_priority(), payload))
		sched_yield();
}

static void claim_floor(uint32_t *ret_task)
{
	char payload[BENCH_PAYLOAD_BYTES];

	while (!sketch_claim(plain.sketch, ret_task, payload))
		sched_yield();
}

static void take_floor(uint32_t bytes)
{
	uint32_t task;

	(void)bytes;
	claim_floor(&task);
	sketch_complete(plain.sketch, task);
}

static void take_floor_next(uint32_t bytes)
{
	char payload[BENCH_PAYLOAD_BYTES];

	(void)bytes;
	if (!plain.running || !sketch_next(plain.sketch, &plain.running, payload))
		claim_floor(&plain.running);
}

static void close_floor(void)
{
	sketch_close(plain.sketch);
}

const struct peer bench_peer_floor = { .name = "the floor",
				       .settings = "lock, journal, clock and heap",
				       .lacks = "all else",
				       .open = open_floor,
				       .put = put_floor,
				       .take = take_floor,
				       .close = close_floor };
const struct peer bench_peer_floor_next = { .name = "the floor with next",
					    .settings = "lock, journal, clock and heap",
					    .lacks = "all else",
					    .open = open_floor,
					    .put = put_floor,
					    .take = take_floor_next,
					    .close = close_floor };

/* POSIX message queues */

static struct {
	mqd_t queue;
	char name[NAME_BYTES];
	char *buffer;
	uint32_t bytes;
} mq;

static bool open_mq_of(uint32_t messages, uint32_t bytes)
{
	struct mq_attr attr = { .mq_maxmsg = messages, .mq_msgsize = bytes };

	mq.queue = mq_open(mq.name, O_RDWR | O_CREAT | O_EXCL, 0600, &attr);
	mq.bytes = bytes;
	return mq.queue != (mqd_t)-1;
}

/* With less room for more where the system allows no other, but as deep. */
static const char *open_mq(const struct peer_load *load)
{
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	const uint32_t bytes = load->bytes ? load->bytes : 1;

	(void)setrlimit(RLIMIT_MSGQUEUE, &all); /* when it may: the open says whether */
	snprintf(mq.name, sizeof(mq.name), "/taskq-bench.%d", (int)getpid());
	if (!open_mq_of(load->depth + (load->room ? load->room : 1), bytes) &&
	    !open_mq_of(load->depth + (load->room ? MQ_ROOM : 1), bytes))
		return "the system allows no queue of that size (fs.mqueue)";
	mq.buffer = malloc(mq.bytes);
	return NULL;
}

static void put_mq(const char *payload, uint32_t bytes)
{
	bench_must(mq_send(mq.queue, payload, bytes, (unsigned)bench_priority()) < 0 ? -errno : 0,
		   "mq_send");
}

static void take_mq(uint32_t bytes)
{
	const ssize_t r = mq_receive(mq.queue, mq.buffer, mq.bytes, NULL);

	bench_must(r < 0 ? -errno : r == (ssize_t)bytes ? 0 : -EPROTO, "mq_receive");
}

static void close_mq(void)
{
	mq_close(mq.queue);
	mq_unlink(mq.name);
	free(mq.buffer);
}

const struct peer bench_peer_mq = { .name = "POSIX mq",
				    .settings = "mq_send, mq_receive; room for 10 where no more is "
						"allowed",
				    .lacks = "leases, results, retries",
				    .open = open_mq,
				    .put = put_mq,
				    .take = take_mq,
				    .close = close_mq };
