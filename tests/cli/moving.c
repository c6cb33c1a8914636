/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into a program that looks at a segment: whenever it reads the core, another
 * transaction has ended since, as in a segment that never stands still; or, when asked by
 * TQT_LEFT, whoever copies the segment finds one sleeper too many counted.
 */
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shm/layout.h"

#define CORE_AT 4096 /* behind the header */

__attribute__((visibility("default"))) ssize_t pread(int fd, void *buf, size_t bytes, off_t offset)
{
	static uint64_t ended;
	const ssize_t n = syscall(SYS_pread64, fd, buf, bytes, offset);

	if (getenv("TQT_LEFT") && offset == 0 && n > (ssize_t)(CORE_AT + sizeof(struct tqi_core)))
		((struct tqi_core *)(void *)((char *)buf + CORE_AT))->waiter_count++;
	else if (!getenv("TQT_LEFT") && offset == CORE_AT && n == (ssize_t)sizeof(struct tqi_core))
		tqi_store_relaxed64(&((struct tqi_core *)buf)->version, ended += 2);
	return n;
}
