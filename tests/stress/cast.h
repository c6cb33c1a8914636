/* SPDX-License-Identifier: MIT */
/* The processes of a storm, as their conductor sees them: its children, and theirs. */
#ifndef STORM_CAST_H
#define STORM_CAST_H

#include "storm.h"

struct member {
	enum role role;
	pid_t pid;    /* 0 none */
	uint64_t who;
	uint32_t lives; /* how often it was started */
	bool spared;	/* it is stopped, but not killed alone: it grows old */
};

#define STOPS_MAX 64u

struct stop {
	uint64_t who; /* 0 none */
	uint64_t until_ns;
};

struct cast {
	struct storm *storm;
	struct member members[SEATS_MAX];
	uint32_t count;
	struct stop stops[STOPS_MAX];
	struct chance chance;
	uint32_t starts, kills, kill_count_by_role[ROLE_COUNT], stop_count;
};

/* Give seats to `storm->processes` members of all roles, and start them. */
void cast_open(struct cast *c, struct storm *storm);
/* Start whoever has ended, of the roles in `roles` (bits). */
void cast_restart(struct cast *c, uint32_t roles);
/* Take note of all that have ended, orphans of theirs too; false when nobody is left. */
bool cast_reap(struct cast *c);
/* Sleep until a child ends, at most so long; then reap. */
void cast_wait(struct cast *c, uint64_t ns);

void cast_kill(struct cast *c, uint64_t who);
/* A master and all its workers: what they had begun has nobody above it. */
void cast_kill_farm(struct cast *c, const struct member *master);
void cast_stop(struct cast *c, uint64_t who, uint64_t ns);
/* Let those go on whose time is over, or `all`; when the next is due, UINT64_MAX never. */
uint64_t cast_continue(struct cast *c, bool all);

/* Members of the roles in `roles` that are there. */
uint32_t cast_live(const struct cast *c, uint32_t roles);
/* Somebody who may be killed and is no member: a farm's worker, a command, a child. 0 none. */
uint64_t cast_find_guest(struct cast *c, struct chance *chance);

const char *role_name(enum role role);
/* Who is there and what he does, for people. */
void cast_print(struct cast *c);

#endif
