/* SPDX-License-Identifier: MIT */
/*
 * The program that a farm runs in has children of its own, whose ends are its own to wait for.
 *
 * HO-1  Its children are those that were there when the farm began, and those in its process
 *     group: a worker leads a group of its own, a command a session, and what they leave
 *     behind is in one of these, or in one of its own making.
 */
#ifndef TQI_CLIENT_FARM_HOST_H
#define TQI_CLIENT_FARM_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tqi_host_child {
	pid_t pid;
	uint64_t start; /* clock ticks since boot: a pid may come again */
};

struct tqi_host {
	pid_t group; /* 0: whatever ends is the farm's to reap */
	uint32_t count;
	struct tqi_host_child *children;
};

/* 0, or -ENOMEM. */
int tqi_host_begin(struct tqi_host *host);
void tqi_host_end(struct tqi_host *host);
/* A child that has ended, is still to be reaped, and is not the host's; 0 none. */
pid_t tqi_host_stranger(const struct tqi_host *host);

#endif
