/* SPDX-License-Identifier: MIT */
/* The trap flag and its handler. */
#include "tests/crash/step.h"

#include "tests/crash/map.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#include "tests/crash/map.h"

#define TRAP_FLAG 0x100
#define STACK_BYTES (256u << 10) /* the handler hands over to other threads and waits */

static _Thread_local struct tqt_stepper *current;

/* The linker's: where the program begins, and where its code ends. */
extern const char __executable_start[], etext[];

static uint8_t *stepped; /* a byte for each address of the program; NULL nothing is noted */

static void note(uintptr_t at)
{
	const uintptr_t from = (uintptr_t)__executable_start;

	if (stepped && at >= from && at < (uintptr_t)etext)
		stepped[at - from] = 1;
}

static void stop(struct tqt_stepper *s)
{
	current = NULL;
	if (s->stores)
		tqt_map_open(s->stores);
}

static void on_trap(int number, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	struct tqt_stepper *s = current;

	(void)number, (void)info;
	u->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
	if (!s)
		return;
	s->steps++;
	s->registers = u->uc_mcontext.gregs;
	note((uintptr_t)u->uc_mcontext.gregs[REG_RIP]); /* the next one */
	if (!s->look(s))
		stop(s);
	else if (!s->stores || s->is_close)
		u->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
	else
		tqt_map_close(s->stores);
}

void tqt_step_store(const struct tqt_map *map, void *context)
{
	ucontext_t *u = context;

	if (!current || current->stores != map)
		return;
	note((uintptr_t)u->uc_mcontext.gregs[REG_RIP]);
	u->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

void tqt_step_install(void)
{
	struct sigaction sa = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK };

	sigemptyset(&sa.sa_mask);
	sigaction(SIGTRAP, &sa, NULL);
}

void tqt_step_thread(void)
{
	/* Below the red zone's reach; freed by the end of the program. */
	stack_t stack = { .ss_sp = malloc(STACK_BYTES), .ss_size = STACK_BYTES };

	if (!stack.ss_sp || sigaltstack(&stack, NULL) < 0) {
		perror("sigaltstack");
		exit(1);
	}
}

void tqt_step_note(void)
{
	stepped = calloc(1, (size_t)(etext - __executable_start));
	if (!stepped) {
		perror("calloc");
		exit(1);
	}
}

void tqt_step_write(const char *path)
{
	FILE *f = fopen(path, "w");

	for (size_t i = 0; f && i < (size_t)(etext - __executable_start); i++)
		if (stepped[i])
			fprintf(f, "%zx\n", i);
	if (!f || fclose(f)) {
		perror(path);
		exit(1);
	}
}

/* Not inlined: it uses the stack below, where a leaf may have something. */
static __attribute__((noinline)) void set_flag(void)
{
	__asm__ volatile("pushfq; orq %0, (%%rsp); popfq" : : "i"(TRAP_FLAG) : "memory", "cc");
}

void tqt_step_begin(struct tqt_stepper *stepper)
{
	if (stepper->stores)
		tqt_map_close(stepper->stores); /* what others have stored into meanwhile */
	current = stepper;
	if (!stepper->stores || stepper->is_close)
		set_flag();
}

struct tqt_stepper *tqt_step_closely(void)
{
	struct tqt_stepper *s = current && current->stores ? current : NULL;

	if (s) {
		s->is_close = true;
		set_flag();
	}
	return s;
}

void tqt_step_loosely(struct tqt_stepper *stepper)
{
	if (stepper)
		stepper->is_close = false; /* seen after the next instruction */
}

void tqt_step_end(void)
{
	if (current)
		stop(current);
	__asm__ volatile("pushfq; andq %0, (%%rsp); popfq" : : "i"(~TRAP_FLAG) : "memory", "cc");
}

uint64_t tqt_step_place(const struct tqt_stepper *stepper)
{
	uint64_t h = 0;

	for (int r = REG_R8; r <= REG_RIP; r++) {
		h = (h ^ (uint64_t)stepper->registers[r]) * 0xff51afd7ed558ccdull;
		h ^= h >> 29;
	}
	return h;
}

struct tqt_stepper *tqt_step_pause(void)
{
	struct tqt_stepper *s = current;

	if (s)
		tqt_step_end();
	return s;
}

void tqt_step_resume(struct tqt_stepper *stepper)
{
	if (stepper)
		tqt_step_begin(stepper);
}
