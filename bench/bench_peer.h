/* SPDX-License-Identifier: MIT */
/*
 * Others that queue tasks, and taskq, each behind the same few functions: they end the
 * program when something fails.  Children that are forked behind open() may put and take,
 * too, but for the peers with a server, whose one connection is the parent's.
 */
#ifndef TASKQ_BENCH_PEER_H
#define TASKQ_BENCH_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include "bench.h"

#define PEER_PIPELINE 64u /* commands a write, of those that have more than one */

struct peer_load {
	uint32_t depth; /* so many wait all the while */
	uint32_t room;	/* so many more may: then a put waits; 0 nobody puts more than one */
	uint32_t bytes; /* of a payload */
};

struct peer {
	const char *name;
	const char *settings;
	const char *lacks; /* of what taskq has: leases, crash safety, priorities, results */
	/* NULL, or why it cannot be had here. */
	const char *(*open)(const struct peer_load *load);
	void (*fill)(const char *payload, uint32_t bytes, uint32_t count); /* NULL: put each */
	void (*put)(const char *payload, uint32_t bytes);
	void (*take)(uint32_t bytes); /* one, copied, and say that it is done; waits for one */
	void (*live)(const char *payload, uint32_t bytes, uint32_t count); /* NULL: put and take */
	void (*close)(void);
	uint32_t lives_min; /* fewer at once are not what it is for */
};

extern const struct peer bench_peer_taskq;
extern const struct peer bench_peer_taskq_next; /* not beside the one above: one segment */
extern const struct peer bench_peer_floor;	/* the sketch; payloads of BENCH_PAYLOAD_BYTES */
extern const struct peer bench_peer_floor_next;
extern const struct peer bench_peer_mq;
extern const struct peer bench_peer_boost;
extern const struct peer bench_peer_beanstalkd;
extern const struct peer bench_peer_redis;
extern const struct peer bench_peer_redis_pipelined;

/* Let so many wait. */
void bench_peer_fill(const struct peer *peer, const char *payload, uint32_t bytes, uint32_t count);
/* `count` times: put one, take one, and say that it is done. */
void bench_peer_live(const struct peer *peer, const char *payload, uint32_t bytes, uint32_t count);

#endif
