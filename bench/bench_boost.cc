// SPDX-License-Identifier: MIT
// The queue that an exception must not leave: C has none.
#include "bench_boost.h"

#include <boost/interprocess/ipc/message_queue.hpp>
#include <memory>

namespace bi = boost::interprocess;

static std::unique_ptr<bi::message_queue> queue;

template <typename Operation> static int guarded(Operation operation) noexcept
{
	try {
		return operation() ? 0 : -1;
	} catch (...) {
		return -1;
	}
}

int bench_boost_open(const char *name, uint64_t messages, uint64_t bytes)
{
	return guarded([=] {
		queue = std::make_unique<bi::message_queue>(bi::create_only, name, messages, bytes);
		return true;
	});
}

int bench_boost_send(const void *message, uint64_t bytes, uint32_t priority)
{
	return guarded([=] {
		queue->send(message, bytes, priority);
		return true;
	});
}

int bench_boost_receive(void *buffer, uint64_t buffer_bytes, uint64_t bytes)
{
	return guarded([=] {
		bi::message_queue::size_type received = 0;
		unsigned priority = 0;

		queue->receive(buffer, buffer_bytes, received, priority);
		return received == bytes;
	});
}

int bench_boost_close(const char *name)
{
	return guarded([=] {
		queue.reset();
		return bi::message_queue::remove(name);
	});
}
