/* SPDX-License-Identifier: MIT */
/*
 * Single-stepping a thread from inside: with the processor's trap flag set, every
 * instruction ends in SIGTRAP, whose handler looks at the segment, or kills the
 * process.  Several times as fast as ptrace (8 against 30 to 80 us).
 */
#ifndef TQT_STEP_H
#define TQT_STEP_H

#include <stdbool.h>
#include <stdint.h>

struct tqt_stepper {
	/* After each instruction, in a signal handler.  False: step no further. */
	bool (*look)(struct tqt_stepper *stepper);
	void *arg;
	uint64_t steps;
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

/* Run natively for a while: what other processes do meanwhile. */
struct tqt_stepper *tqt_step_pause(void);
void tqt_step_resume(struct tqt_stepper *stepper);

#endif
