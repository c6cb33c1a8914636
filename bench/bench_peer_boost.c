/* SPDX-License-Identifier: MIT */
/* The peer that is a header of boost, where there was one when this was built. */
#include "bench_peer.h"

#ifdef BENCH_HAVE_BOOST

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench_boost.h"

#define NAME_BYTES 32

static struct {
	char name[NAME_BYTES];
	char *buffer;
	uint32_t bytes;
} boost;

static const char *open_boost(const struct peer_load *load)
{
	const uint64_t messages = (uint64_t)load->depth + (load->room ? load->room : 1);

	boost.bytes = load->bytes ? load->bytes : 1;
	snprintf(boost.name, sizeof(boost.name), "taskq-bench-boost.%d", (int)getpid());
	if (bench_boost_open(boost.name, messages, boost.bytes) < 0)
		return "there is no memory for it";
	boost.buffer = malloc(boost.bytes);
	return NULL;
}

static void put_boost(const char *payload, uint32_t bytes)
{
	bench_must(bench_boost_send(payload, bytes, (uint32_t)bench_priority()) < 0 ? -EPROTO : 0,
		   "boost send");
}

/* The same priorities, but rising: at random it would move half of all for each. */
static void fill_boost(const char *payload, uint32_t bytes, uint32_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		const uint32_t priority = (uint32_t)(i * BENCH_PRIORITIES / count);

		bench_must(bench_boost_send(payload, bytes, priority) < 0 ? -EPROTO : 0,
			   "boost send");
	}
}

static void take_boost(uint32_t bytes)
{
	bench_must(bench_boost_receive(boost.buffer, boost.bytes, bytes) < 0 ? -EPROTO : 0,
		   "boost receive");
}

static void close_boost(void)
{
	bench_must(bench_boost_close(boost.name) < 0 ? -EPROTO : 0, "boost close");
	free(boost.buffer);
}

#else

static const char *open_boost(const struct peer_load *load)
{
	(void)load;
	return "this was built without boost";
}
#define fill_boost NULL
#define put_boost NULL
#define take_boost NULL
#define close_boost NULL

#endif

const struct peer bench_peer_boost = { .name = "boost message_queue",
				       .settings = "boost::interprocess, send and receive",
				       .lacks = "leases, crash safety, results, retries",
				       .open = open_boost,
				       .fill = fill_boost,
				       .put = put_boost,
				       .take = take_boost,
				       .close = close_boost };
