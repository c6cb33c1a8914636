/* SPDX-License-Identifier: MIT */
/* A segment with some of everything, for who checks or damages it. */
#ifndef TQT_UNIT_CHECK_SCENE_H
#define TQT_UNIT_CHECK_SCENE_H

#include "tests/unit/fixture.h"

/* What is where. */
struct scene {
	uint32_t worker;
	struct tqi_claimed claimed;
	uint64_t finished, delayed, ready, dated, late, keyed, leader, successor;
	uint64_t holder, parked, rated;
	uint64_t fair, fair_running, fair_done;
	uint64_t at_server, was_at_server;
	uint64_t waited_for, blocked, refuser, refused, reviving;
	uint32_t waiter;
	uint32_t commanded; /* a worker that has taken `taken`; `open` waits for it */
	uint64_t answered, taken, open;
	uint32_t behalf[2], stale[2]; /* who waits for an attempt, under way and ended */
	uint64_t open_group, complete_group, cancelled_group, graph, member, member_ended, shut;
};

/* Makes some of everything in a new fixture, and says where. */
void populate(struct fixture *f, struct scene *s);

#endif
