/* SPDX-License-Identifier: MIT */
/* boost::interprocess::message_queue for C; there is one a process, and its children. */
#ifndef TASKQ_BENCH_BOOST_H
#define TASKQ_BENCH_BOOST_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All of these: 0, or -1 it has thrown. */
int bench_boost_open(const char *name, uint64_t messages, uint64_t bytes);
/* Waits for room. */
int bench_boost_send(const void *message, uint64_t bytes, uint32_t priority);
/* Waits for one, of so many bytes. */
int bench_boost_receive(void *buffer, uint64_t buffer_bytes, uint64_t bytes);
int bench_boost_close(const char *name);

#ifdef __cplusplus
}
#endif

#endif
