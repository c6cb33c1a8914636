/* SPDX-License-Identifier: MIT */
/* exit_robust_list() of the kernel, on an image. */
#include "tests/crash/death.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

void tqt_thread_here(struct tqt_thread *thread, const struct tqt_map *map)
{
	struct robust_list_head *head;
	size_t bytes;

	thread->map = map;
	thread->tid = (uint32_t)syscall(SYS_gettid);
	if (syscall(SYS_get_robust_list, 0, &head, &bytes) < 0) {
		perror("get_robust_list");
		exit(1);
	}
	thread->robust = head;
}

/* The word of a list entry; entries outside the map are of other mappings. */
static void add(const struct tqt_thread *t, const struct robust_list *entry, struct tqt_held *held)
{
	uintptr_t at = ((uintptr_t)entry & ~(uintptr_t)1) + (uintptr_t)t->robust->futex_offset;
	uint64_t offset = at - (uintptr_t)t->map->base;

	if (offset >= (uint64_t)t->map->page_count * TQT_PAGE || held->count == TQT_HELD_MAX)
		return;
	for (uint32_t i = 0; i < held->count; i++)
		if (held->words[i] == offset)
			return;
	held->words[held->count++] = offset;
}

void tqt_thread_held(const struct tqt_thread *thread, struct tqt_held *ret_held)
{
	const volatile struct robust_list_head *head = thread->robust;
	const struct robust_list *entry = head->list.next, *pending = head->list_op_pending;

	ret_held->count = 0;
	for (int i = 0; i < TQT_HELD_MAX && entry != &thread->robust->list; i++) {
		add(thread, entry, ret_held);
		entry = ((const struct robust_list *)((uintptr_t)entry & ~(uintptr_t)1))->next;
	}
	if (pending)
		add(thread, pending, ret_held);
}

void tqt_thread_die(const struct tqt_thread *thread, unsigned char *base)
{
	struct tqt_held held;

	tqt_thread_held(thread, &held);
	for (uint32_t i = 0; i < held.count; i++) {
		uint32_t *word = (uint32_t *)(void *)(base + held.words[i]);

		if ((*word & FUTEX_TID_MASK) == thread->tid)
			*word = (*word & FUTEX_WAITERS) | FUTEX_OWNER_DIED;
	}
}
