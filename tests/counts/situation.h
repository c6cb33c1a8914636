/* SPDX-License-Identifier: MIT */
/*
 * A segment of its own for each situation: what stands in it, and a system of make-believe.
 *
 * What stands "elsewhere" stands in a queue that nobody serves, but for the second kind,
 * which waits at the end of the queue that is served.
 */
#ifndef TQT_COUNTS_SITUATION_H
#define TQT_COUNTS_SITUATION_H

#include <pthread.h>

#include "client/core/handle.h"

#define TQT_SITUATIONS 9
#define TQT_BATCH 64 /* the most of one hold */

struct tqt_scene {
	struct tqi_ops ops; /* the real ones but for clock and sleep */
	struct tq *tq;
	struct tq_worker *worker;
	uint64_t now_ns;
	uint32_t random;
	bool in_order; /* no other priorities than one */
	struct tq_task_spec specs[TQT_BATCH];
	struct tq_claim claims[TQT_BATCH];
	pthread_t client;	  /* who waits, in one of the situations */
	struct tqi_word32 asleep; /* 1: it sleeps ... */
	struct tqi_word32 woken;  /* ... until this grows */
	uint64_t awaited;	  /* the task that it waits for; 0 there is no client */
};

/* Ends the program when it cannot be had. */
void tqt_situation_open(struct tqt_scene *s, uint32_t situation);
void tqt_situation_close(struct tqt_scene *s);
const char *tqt_situation_name(uint32_t situation);

/* New specs, of other priorities. */
void tqt_scene_prepare(struct tqt_scene *s);
/* A client that was woken sleeps again before anything is counted. */
void tqt_scene_settle(struct tqt_scene *s);

/* Ends the program with the library's text when `r` is an error. */
int tqt_must(int r, const char *what);

#endif
