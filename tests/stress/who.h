/* SPDX-License-Identifier: MIT */
/*
 * Processes as evidence: pid and start time in one word, so that a number that has
 * changed hands is another name.  0 = nobody.
 */
#ifndef STORM_WHO_H
#define STORM_WHO_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The calling process; to be asked again after a fork. */
uint64_t who_am_i(void);
/* 0 when there is no such process. */
uint64_t who_of(pid_t pid);
pid_t who_pid(uint64_t who);
/* Its parent now; 0 unknown. */
pid_t who_parent(pid_t pid);
/* Letter of its state in /proc; '?' unknown. */
char who_state(pid_t pid);

/* Proof that no thread of it runs any more; a zombie is gone. */
bool who_is_gone(uint64_t who);
/* Signal exactly this process; false when it is gone. */
bool who_signal(uint64_t who, int signal);

/* Call for every child of this process that is there, zombies too. */
void who_children(void (*call)(pid_t pid, void *arg), void *arg);

/* CLOCK_MONOTONIC, in ns. */
uint64_t now_ns(void);

#define MS 1000000ull	 /* ns */
#define S 1000000000ull /* ns */

#endif
