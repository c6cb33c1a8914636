/* SPDX-License-Identifier: MIT */
/* Reaping process groups of commands; the caller is a subreaper. */
#ifndef TQI_CLIENT_FARM_REAP_H
#define TQI_CLIENT_FARM_REAP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tqi_usage {
	uint64_t max_rss_bytes; /* of the largest process */
	uint64_t cpu_ns;	/* of all */
};

/* Wait for a child that is ending; returns its status; -1 somebody else has reaped it. */
int tqi_reap_leader(pid_t pid, struct tqi_usage *usage);
/* Reap what has ended of a group without waiting; true when nothing of it is left. */
bool tqi_reap_some(pid_t pgid, struct tqi_usage *usage);
/*
 * The same, and true as well when all that is left are zombies that a process outside
 * of the group does not reap: they do nothing more.  Walks through /proc.
 */
bool tqi_reap_rest(pid_t pgid, struct tqi_usage *usage);
/* Until nothing is left of a group all of which has got SIGKILL. */
void tqi_reap_group(pid_t pgid, struct tqi_usage *usage);
#endif
