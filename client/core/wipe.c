/* SPDX-License-Identifier: MIT */
/* The page that forgets on fork. */
#include "client/core/wipe.h"

#include <sys/mman.h>
#include <unistd.h>

#include "shm/ident.h"

#define PAGE_BYTES 4096

struct tqi_wipe *tqi_wipe_new(void)
{
	void *page =
		mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return NULL;
	if (madvise(page, PAGE_BYTES, MADV_WIPEONFORK) < 0) {
		munmap(page, PAGE_BYTES);
		return NULL;
	}
	return page;
}

void tqi_wipe_free(struct tqi_wipe *wipe)
{
	if (wipe)
		munmap(wipe, PAGE_BYTES);
}

/* Two threads of a fresh child may both do this: they store the same. */
uint32_t tqi_wipe_learn(struct tqi_wipe *wipe)
{
	uint32_t pid = (uint32_t)getpid();
	uint64_t start;
	char state;

	tqi_store_relaxed64(&wipe->start, tqi_pid_start(pid, &start, &state) == 0 ? start : 0);
	tqi_store_release32(&wipe->pid, pid);
	return pid;
}
