/* SPDX-License-Identifier: MIT */
/* Who a process is: pid and start time, so that a reused pid is not mistaken for it. */
#ifndef TQI_SHM_IDENT_H
#define TQI_SHM_IDENT_H

#include <stdint.h>

/*
 * Identity of a process, as stored in wait slots, worker slots and in-flight
 * entries.  Written in the transaction that takes the record; read under the lock
 * and by observers.  `start` 0 = could not be read: then only the absence of the
 * pid proves death.
 */
struct tqi_ident {
	uint32_t pid;
	uint32_t tid;	/* thread that registered; 0 none */
	uint64_t start; /* field 22 of /proc/PID/stat, clock ticks since boot */
};

/* Start time and state letter of a process or thread; -ENOENT when it cannot be read. */
int tqi_proc_stat(const char *path, uint64_t *ret_start, char *ret_state);
int tqi_pid_start(uint32_t pid, uint64_t *ret_start, char *ret_state);

#endif
