/* SPDX-License-Identifier: MIT */
/* Others that queue tasks, each behind the same few functions. */
#ifndef TASKQ_BENCH_PEER_H
#define TASKQ_BENCH_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include "bench.h"

struct peer {
	const char *name;
	const char *settings;
	const char *lacks; /* of what taskq has: leases, crash safety, priorities, results */
	/* NULL, or why it cannot be had here.  Payloads have so many bytes, `depth` wait at most. */
	const char *(*open)(uint32_t depth, uint32_t bytes);
	void (*put)(const char *payload, uint32_t bytes);
	/* `count` times: put one, take one, and say that it is done. */
	void (*live)(const char *payload, uint32_t bytes, uint32_t count);
	void (*close)(void);
};

extern const struct peer bench_peer_taskq;
extern const struct peer bench_peer_mq;
extern const struct peer bench_peer_beanstalkd;
extern const struct peer bench_peer_redis;
extern const struct peer bench_peer_redis_pipelined;

#endif
