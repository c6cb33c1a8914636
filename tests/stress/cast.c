/* SPDX-License-Identifier: MIT */
/* Starting, ending and finding processes. */
#include "cast.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORKERS_SEEN 64
#define FUSE_STOP_MS 100
#define SPARED 3u /* one of so many of a role */

typedef int role_main(struct player *p);

static role_main *const mains[ROLE_COUNT] = {
#define ROLE_MAIN(name, text, share) play_##text,
	ROLE_MAP(ROLE_MAIN)
#undef ROLE_MAIN
};

static const uint32_t shares[ROLE_COUNT] = {
#define ROLE_SHARE(name, text, share) share,
	ROLE_MAP(ROLE_SHARE)
#undef ROLE_SHARE
};

static const char *const names[ROLE_COUNT] = {
#define ROLE_NAME(name, text, share) #text,
	ROLE_MAP(ROLE_NAME)
#undef ROLE_NAME
};

const char *role_name(enum role role)
{
	return names[role];
}

static _Noreturn void play(struct storm *storm, const struct member *m, uint32_t seat,
			   pid_t conductor)
{
	struct player p = {
		.storm = storm,
		.ledger = storm->ledger,
		.seat = seat,
		.spared = m->spared,
		.who = who_am_i(),
		.chance.state = storm->seed ^ (uint64_t)seat << 32 ^ (uint64_t)m->lives << 40,
	};
	struct ledger_seat *own = &p.ledger->seat[seat];

	prctl(PR_SET_CHILD_SUBREAPER, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != conductor)
		_exit(0);
	sigprocmask(SIG_SETMASK, &storm->signals, NULL);
	own->who = p.who;
	own->since_ns = now_ns();
	own->slot = UINT32_MAX;
	own->doing = DOING_NOTHING;
	_exit(mains[m->role](&p));
}

static void start(struct cast *c, uint32_t seat)
{
	struct member *m = &c->members[seat];
	pid_t conductor = getpid();

	m->lives++;
	c->starts++;
	fflush(NULL);
	pid_t pid = fork();

	if (pid == 0)
		play(c->storm, m, seat, conductor);
	if (pid < 0)
		ledger_fault(c->storm->ledger, FAULT_STUCK, UINT32_MAX, "fork: %s",
			     strerror(errno));
	m->pid = pid < 0 ? 0 : pid;
	m->who = pid < 0 ? 0 : who_of(pid);
}

void cast_open(struct cast *c, struct storm *storm)
{
	uint32_t dealt[ROLE_COUNT] = { 0 };

	*c = (struct cast){ .storm = storm, .chance.state = ~storm->seed };
	/* One of each, then by share. */
	while (c->count < storm->processes) {
		uint32_t best = 0;

		for (uint32_t r = 1; r < ROLE_COUNT; r++)
			if (dealt[r] * shares[best] < dealt[best] * shares[r])
				best = r;
		c->members[c->count++] = (struct member){
			.role = (enum role)best,
			.spared = ++dealt[best] % SPARED == 0,
		};
	}
	for (uint32_t i = 0; i < c->count; i++)
		start(c, i);
}

void cast_restart(struct cast *c, uint32_t roles)
{
	for (uint32_t i = 0; i < c->count; i++)
		if (!c->members[i].pid && (roles & 1u << c->members[i].role))
			start(c, i);
}

/* Its role; NULL: an orphan. */
static const char *leave_seat(struct cast *c, pid_t pid)
{
	for (uint32_t i = 0; i < c->count; i++)
		if (c->members[i].pid == pid) {
			c->members[i].pid = 0;
			c->members[i].who = 0;
			return names[c->members[i].role];
		}
	return NULL;
}

static void note_stop(struct cast *c, uint64_t who, uint64_t ns)
{
	for (uint32_t i = 0; i < STOPS_MAX; i++)
		if (!c->stops[i].who) {
			c->stops[i] = (struct stop){ who, now_ns() + ns };
			c->stop_count++;
			return;
		}
	who_signal(who, SIGCONT);
}

/* A child has stopped: by us, or by a fuse of its own. */
static void see_stop(struct cast *c, pid_t pid)
{
	uint64_t who = who_of(pid);

	for (uint32_t i = 0; i < STOPS_MAX; i++)
		if (c->stops[i].who == who)
			return;
	note_stop(c, who, chance_in(&c->chance, 1, FUSE_STOP_MS) * MS);
}

bool cast_reap(struct cast *c)
{
	pid_t pid;
	int status;

	storm_heed(c->storm);
	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0)
		if (WIFSTOPPED(status))
			see_stop(c, pid);
		else
			storm_judge_end(c->storm->ledger, pid, status, leave_seat(c, pid));
	return pid == 0;
}

void cast_wait(struct cast *c, uint64_t ns)
{
	const struct timespec ts = { .tv_sec = (time_t)(ns / S), .tv_nsec = (long)(ns % S) };
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD); /* blocked (storm.c): it waits for this */
	(void)sigtimedwait(&child, NULL, &ts);
	cast_reap(c);
}

static void count_kill(struct cast *c, uint64_t who)
{
	c->kills++;
	for (uint32_t i = 0; i < c->count; i++)
		if (c->members[i].who == who)
			c->kill_count_by_role[c->members[i].role]++;
}

void cast_kill(struct cast *c, uint64_t who)
{
	ledger_killing(c->storm->ledger, who, 0);
	if (who_signal(who, SIGKILL))
		count_kill(c, who);
}

void cast_stop(struct cast *c, uint64_t who, uint64_t ns)
{
	if (who_signal(who, SIGSTOP))
		note_stop(c, who, ns);
}

uint64_t cast_continue(struct cast *c, bool all)
{
	uint64_t now = now_ns(), next = UINT64_MAX;

	for (uint32_t i = 0; i < STOPS_MAX; i++) {
		struct stop *stop = &c->stops[i];

		if (stop->who && (all || stop->until_ns <= now)) {
			who_signal(stop->who, SIGCONT);
			stop->who = 0;
		}
		if (stop->who && stop->until_ns < next)
			next = stop->until_ns;
	}
	return next;
}

uint32_t cast_live(const struct cast *c, uint32_t roles)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < c->count; i++)
		count += c->members[i].pid && (roles & 1u << c->members[i].role);
	return count;
}

/* Ours: a child of a master that sits here, or an orphan that has come to us. */
static bool is_ours(const struct cast *c, pid_t pid)
{
	pid_t parent = who_parent(pid);

	for (uint32_t i = 0; i < c->count; i++)
		if (c->members[i].pid && c->members[i].pid == parent)
			return true;
	return parent == getpid();
}

static uint64_t find_farm_worker(struct cast *c, struct chance *chance)
{
	struct tq_worker_info infos[WORKERS_SEEN] = { { .size = sizeof(infos[0]) } };
	uint64_t cursor = 0, found = 0;
	uint32_t seen = 0;
	int n = tq_worker_list(c->storm->tq, &cursor, infos, WORKERS_SEEN);

	for (int i = 0; i < n; i++) {
		if (!infos[i].master || chance_below(chance, ++seen) != 0)
			continue;
		uint64_t who = who_of((pid_t)infos[i].pid);

		/* Whoever `who` is, it is checked and signalled as the same. */
		found = who && is_ours(c, who_pid(who)) ? who : found;
	}
	return found;
}

void cast_kill_farm(struct cast *c, const struct member *master)
{
	struct tq_worker_info infos[WORKERS_SEEN] = { { .size = sizeof(infos[0]) } };
	uint64_t cursor = 0, who[WORKERS_SEEN];
	int n = tq_worker_list(c->storm->tq, &cursor, infos, WORKERS_SEEN);

	for (int i = 0; i < n; i++) {
		who[i] = who_of((pid_t)infos[i].pid);
		if (who_parent((pid_t)infos[i].pid) != master->pid)
			who[i] = 0;
	}
	cast_kill(c, master->who);
	for (int i = 0; i < n; i++)
		if (who[i])
			cast_kill(c, who[i]);
}

uint64_t cast_find_guest(struct cast *c, struct chance *chance)
{
	uint64_t end = c->storm->ledger->guests;
	uint64_t room = end < LEDGER_GUESTS ? end : LEDGER_GUESTS;

	if (chance_percent(chance, 50) || !room)
		return find_farm_worker(c, chance);
	for (int i = 0; i < 8; i++) {
		uint64_t at = end - 1 - chance_below(chance, room);
		uint64_t who = c->storm->ledger->guest[at % LEDGER_GUESTS];

		if (who && !who_is_gone(who))
			return who;
	}
	return 0;
}

static const char *const doings[DOING_COUNT] = {
#define DOING_TEXT(name, text) text,
	DOING_MAP(DOING_TEXT)
#undef DOING_TEXT
};

void cast_print(struct cast *c)
{
	for (uint32_t i = 0; i < c->count; i++) {
		const struct ledger_seat *seat = &c->storm->ledger->seat[i];
		const struct member *m = &c->members[i];

		if (!m->pid)
			continue;
		printf("  %s %d (%c) %s", names[m->role], (int)m->pid, who_state(m->pid),
		       seat->doing < DOING_COUNT ? doings[seat->doing] : "?");
		if (seat->slot != UINT32_MAX)
			printf(" %u", seat->slot);
		printf(", for %.1f s\n", (double)(now_ns() - seat->since_ns) / 1e9);
	}
}
