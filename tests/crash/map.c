/* SPDX-License-Identifier: MIT */
/* Watched mappings. */
#include "tests/crash/map.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/crash/step.h"

#define MAPS_MAX 8

static struct tqt_map *maps[MAPS_MAX];

static struct tqt_map *map_of(uintptr_t at)
{
	for (int i = 0; i < MAPS_MAX; i++) {
		struct tqt_map *m = maps[i];

		if (m && at >= (uintptr_t)m->base &&
		    at < (uintptr_t)m->base + (uint64_t)m->page_count * TQT_PAGE)
			return m;
	}
	return NULL;
}

static void protect(const struct tqt_map *map, uint32_t page, int protection)
{
	mprotect(map->base + (uint64_t)page * TQT_PAGE, TQT_PAGE, protection);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	struct tqt_map *m = map_of((uintptr_t)info->si_addr);
	uint32_t page = m ? (uint32_t)(((uintptr_t)info->si_addr - (uintptr_t)m->base) / TQT_PAGE)
			  : 0;

	if (!m || (m->is_written[page] && !m->is_guarded)) { /* a fault of its own: die of it */
		signal(number, SIG_DFL);
		return;
	}
	if (!m->is_written[page])
		m->pages[m->count++] = page;
	m->is_written[page] = 1;
	if (m->is_guarded && m->open_count < m->page_count)
		m->open[m->open_count++] = page;
	protect(m, page, PROT_READ | PROT_WRITE);
	tqt_step_store(m, context);
}

static void install(void)
{
	struct sigaction sa = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };

	sigemptyset(&sa.sa_mask);
	sigaction(SIGSEGV, &sa, NULL);
}

static void *allocate(size_t bytes)
{
	void *p = calloc(1, bytes);

	if (!p) {
		perror("calloc");
		exit(1);
	}
	return p;
}

void tqt_map_init(struct tqt_map *map, unsigned char *base, uint64_t bytes)
{
	*map = (struct tqt_map){ .base = base, .page_count = (uint32_t)(bytes / TQT_PAGE) };
	map->pages = allocate(map->page_count * sizeof(*map->pages));
	map->open = allocate(map->page_count * sizeof(*map->open));
	map->is_written = allocate(map->page_count);
	map->shadow = allocate(bytes);
	install();
	for (int i = 0; i < MAPS_MAX; i++) {
		if (!maps[i]) {
			maps[i] = map;
			return;
		}
	}
	fprintf(stderr, "too many maps\n");
	exit(1);
}

void tqt_map_free(struct tqt_map *map)
{
	for (int i = 0; i < MAPS_MAX; i++)
		if (maps[i] == map)
			maps[i] = NULL;
	free(map->pages);
	free(map->open);
	free(map->is_written);
	free(map->shadow);
}

void tqt_map_watch(struct tqt_map *map)
{
	uint64_t bytes = (uint64_t)map->page_count * TQT_PAGE;

	map->count = map->open_count = 0;
	map->is_guarded = false;
	memset(map->is_written, 0, map->page_count);
	memcpy(map->shadow, map->base, bytes);
	mprotect(map->base, bytes, PROT_READ);
}

void tqt_map_unwatch(struct tqt_map *map)
{
	mprotect(map->base, (uint64_t)map->page_count * TQT_PAGE, PROT_READ | PROT_WRITE);
}

void tqt_map_close(struct tqt_map *map)
{
	if (!map->is_guarded)
		for (uint32_t i = 0; i < map->count; i++)
			protect(map, map->pages[i], PROT_READ);
	map->is_guarded = true;
	while (map->open_count > 0)
		protect(map, map->open[--map->open_count], PROT_READ);
}

void tqt_map_open(struct tqt_map *map)
{
	map->is_guarded = false;
	map->open_count = 0;
	for (uint32_t i = 0; i < map->count; i++)
		protect(map, map->pages[i], PROT_READ | PROT_WRITE);
}

bool tqt_map_changed(struct tqt_map *map)
{
	bool changed = false;

	for (uint32_t i = 0; i < map->count; i++) {
		uint64_t at = (uint64_t)map->pages[i] * TQT_PAGE;

		if (memcmp(map->base + at, map->shadow + at, TQT_PAGE) == 0)
			continue;
		memcpy(map->shadow + at, map->base + at, TQT_PAGE);
		changed = true;
	}
	return changed;
}

static void copy_page(struct tqt_map *to, const struct tqt_map *from, uint32_t page)
{
	uint64_t at = (uint64_t)page * TQT_PAGE;

	if (memcmp(to->base + at, from->base + at, TQT_PAGE) != 0)
		memcpy(to->base + at, from->base + at, TQT_PAGE);
	memcpy(to->shadow + at, from->base + at, TQT_PAGE);
}

void tqt_map_copy(struct tqt_map *to, const struct tqt_map *from)
{
	uint32_t own = to->count;

	for (uint32_t i = 0; i < from->count; i++)
		copy_page(to, from, from->pages[i]);
	for (uint32_t i = 0; i < own; i++)
		if (!from->is_written[to->pages[i]])
			copy_page(to, from, to->pages[i]);
}
