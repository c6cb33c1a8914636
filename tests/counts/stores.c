/* SPDX-License-Identifier: MIT */
/*
 * Stores into the segment: it is mapped read-only, each store faults, is noted, and steps
 * through with its page open for one instruction.
 *
 * Lines: those that are stored to, whatever is stored; and those that have come to differ,
 * since a store that goes over the end of a line faults at its first byte only.
 * Entries: how long the journal was when its length fell, at the end of a transaction.
 */
#include "tests/counts/counts.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define LINE_BYTES 64
#define PAGE_BYTES 4096
#define PAGES_MAX 2 /* that one store can write */
#define TRAP_FLAG 0x100

static unsigned char *base;
static uint64_t size;			/* of what is there: behind it nothing is written */
static unsigned char *before;		/* a copy of it */
static unsigned char *written;		/* a byte a line */
static unsigned char *pages[PAGES_MAX]; /* open for the store that is stepped through */
static uint32_t opened;
static const struct tqi_core *core;
static uint32_t length; /* of the journal, after the last store */
static uint64_t lines, entries;

static void protect(unsigned char *at, uint64_t bytes, int how)
{
	if (mprotect(at, bytes, how) < 0) {
		perror("counts: mprotect");
		_exit(1);
	}
}

static void on_store(int number, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	uint64_t at = (uint64_t)((unsigned char *)info->si_addr - base);

	if (at >= size) { /* none of ours */
		signal(number, SIG_DFL);
		return;
	}
	written[at / LINE_BYTES] = 1;
	if (opened == PAGES_MAX)
		_exit(1);
	pages[opened] = base + at / PAGE_BYTES * PAGE_BYTES;
	protect(pages[opened++], PAGE_BYTES, PROT_READ | PROT_WRITE);
	u->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

static void on_step(int number, siginfo_t *info, void *context)
{
	ucontext_t *u = context;

	(void)number, (void)info;
	if (core->undo_count < length)
		entries += length;
	length = core->undo_count;
	while (opened > 0)
		protect(pages[--opened], PAGE_BYTES, PROT_READ);
	u->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}

static void install(int number, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction sa = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };

	sigemptyset(&sa.sa_mask);
	sigaction(number, &sa, NULL);
}

/* The segment is as large as it gets: all has been warmed up. */
static void watch(struct tq *tq)
{
	struct tqi_tx tx;

	tqi_tx_view(&tx, &tq->seg);
	base = tq->seg.base;
	core = tx.core;
	size = 0;
	for (uint32_t e = 0; e < tq->seg.geometry.extent_count; e++)
		if (tx.base[tq->seg.geometry.extents + e] == TQI_EXTENT_HERE)
			size = (uint64_t)(e + 1) << TQI_EXTENT_SHIFT;
	free(before);
	free(written);
	before = malloc(size);
	written = malloc(size / LINE_BYTES);
	if (!before || !written) {
		perror("counts: malloc");
		exit(1);
	}
	install(SIGSEGV, on_store);
	install(SIGTRAP, on_step);
}

static uint64_t count_written(void)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < size / LINE_BYTES; i++)
		n += written[i] ||
		     memcmp(before + i * LINE_BYTES, base + i * LINE_BYTES, LINE_BYTES) != 0;
	return n;
}

static void count(tqt_operation *op, void *arg)
{
	memcpy(before, base, size);
	memset(written, 0, size / LINE_BYTES);
	protect(base, size, PROT_READ);
	op(arg);
	protect(base, size, PROT_READ | PROT_WRITE);
	lines += count_written();
}

static void end_row(struct tqt_row *ret)
{
	ret->of[TQT_LINES] = (double)lines;
	ret->of[TQT_ENTRIES] = (double)entries;
	lines = entries = 0;
}

const struct tqt_meter tqt_meter_stores = { watch, count, end_row };
