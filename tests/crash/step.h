/* SPDX-License-Identifier: MIT */
/*
 * Single-stepping a thread from inside: with the processor's trap flag set, every
 * instruction ends in SIGTRAP, whose handler looks at the segment, or kills the
 * process.  Several times as fast as ptrace (8 against 30 to 80 us).
 *
 * What only looks at a segment and at locks need not step what changes neither.  With
 * `stores` the thread runs natively up to its next store into that map, whose pages are
 * read-only meanwhile, and from the beginning to the end of each operation on a mutex
 * (tests/crash/locks.c), which changes the thread's list of robust ones.
 */
#ifndef TQT_STEP_H
#define TQT_STEP_H

#include <stdbool.h>
#include <stdint.h>

struct tqt_map;

struct tqt_stepper {
	/* After each instruction that is stepped, in a signal handler.  False: step no further. */
	bool (*look)(struct tqt_stepper *stepper);
	void *arg;
	uint64_t steps;
	struct tqt_map *stores;	    /* NULL: each instruction is stepped */
	bool is_close;		    /* each, for a while */
	const long long *registers; /* of the thread, while it looks */
};

/* Once in the process, and in each thread that will step. */
void tqt_step_install(void);
void tqt_step_thread(void);

/*
 * From now on, note which instructions of the program are stepped; write their
 * addresses, in hexadecimal as in the program's file, a line each.
 */
void tqt_step_note(void);
void tqt_step_write(const char *path);

void tqt_step_begin(struct tqt_stepper *stepper);
void tqt_step_end(void);

/* Step each instruction of this thread up to the other call; NULL: it is not stepped by stores. */
struct tqt_stepper *tqt_step_closely(void);
void tqt_step_loosely(struct tqt_stepper *stepper);

/* In a handler of SIGSEGV, with its context: a store into this map is at hand, to be stepped. */
void tqt_step_store(const struct tqt_map *map, void *context);

/* While it looks: a hash of where the thread is, and of its registers. */
uint64_t tqt_step_place(const struct tqt_stepper *stepper);

/* Run natively for a while: what other processes do meanwhile. */
struct tqt_stepper *tqt_step_pause(void);
void tqt_step_resume(struct tqt_stepper *stepper);

#endif
