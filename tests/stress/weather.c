/* SPDX-License-Identifier: MIT */
/* Strikes: SIGKILL, SIGSTOP and SIGCONT, singly and together, at random. */
#include "weather.h"

#include <signal.h>

#include "drain.h"

#define PAUSE_MAX_NS (25 * MS) /* between two strikes */
#define WATCH_NS S
#define CALM_NS (30 * S) /* no attempt has ended for so long, and tasks wait: stuck */

struct weather {
	struct cast *cast;
	struct chance chance;
	uint64_t says;
	uint64_t says_ns;
};

static struct member *choose(struct weather *w, bool to_kill)
{
	struct cast *c = w->cast;

	for (int i = 0; i < 10; i++) {
		struct member *m = &c->members[chance_below(&w->chance, c->count)];

		if (m->pid && !(to_kill && m->spared))
			return m;
	}
	return NULL;
}

static uint64_t stop_time(struct weather *w)
{
	uint64_t dice = chance_below(&w->chance, 100);

	if (dice < 70)
		return chance_in(&w->chance, 1, 50) * MS;
	if (dice < 95)
		return chance_in(&w->chance, 50, 400) * MS;
	return chance_in(&w->chance, 400, 2500) * MS; /* longer than leases */
}

static void kill_one(struct weather *w)
{
	struct member *m = choose(w, true);

	if (m)
		cast_kill(w->cast, m->who);
}

static void stop_one(struct weather *w)
{
	struct member *m = choose(w, false);

	if (m)
		cast_stop(w->cast, m->who, stop_time(w));
}

static void kill_guest(struct weather *w)
{
	uint64_t who = cast_find_guest(w->cast, &w->chance);

	if (who)
		cast_kill(w->cast, who);
}

static void stop_guest(struct weather *w)
{
	uint64_t who = cast_find_guest(w->cast, &w->chance);

	if (who)
		cast_stop(w->cast, who, stop_time(w));
}

/* Wakers and the woken, rescuers and the rescued. */
static void kill_some(struct weather *w)
{
	uint64_t count = chance_in(&w->chance, 2, 5);

	while (count-- > 0)
		kill_one(w);
}

/* Nobody is left who could keep anything. */
static void kill_all(struct weather *w)
{
	for (uint32_t i = 0; i < w->cast->count; i++)
		if (w->cast->members[i].pid)
			cast_kill(w->cast, w->cast->members[i].who);
}

static struct member *choose_farm(struct weather *w)
{
	for (int i = 0; i < 100; i++) {
		struct member *m = &w->cast->members[chance_below(&w->chance, w->cast->count)];

		if (m->role == ROLE_FARM && m->pid)
			return m;
	}
	return NULL;
}

static void signal_farm(struct weather *w)
{
	static const int signals[] = { SIGTERM, SIGTTIN, SIGTTOU };
	struct member *m = choose_farm(w);

	if (m)
		who_signal(m->who, signals[chance_below(&w->chance, 3)]);
}

static void kill_farm(struct weather *w)
{
	struct member *m = choose_farm(w);

	if (m)
		cast_kill_farm(w->cast, m);
}

static void strike(struct weather *w)
{
	uint64_t dice = chance_below(&w->chance, 1000);

	if (dice < 400)
		kill_one(w);
	else if (dice < 700)
		stop_one(w);
	else if (dice < 820)
		kill_guest(w);
	else if (dice < 900)
		stop_guest(w);
	else if (dice < 975)
		kill_some(w);
	else if (dice < 980)
		kill_all(w);
	else if (dice < 990)
		signal_farm(w);
	else
		kill_farm(w);
}

static bool is_stuck(struct weather *w)
{
	struct ledger *l = w->cast->storm->ledger;
	struct tq_segment_info info = { .size = sizeof(info) };
	uint64_t now = now_ns();

	if (l->says != w->says || tq_segment_info(w->cast->storm->tq, &info) < 0 ||
	    info.tasks_unfinished == 0) {
		w->says = l->says;
		w->says_ns = now;
	}
	return now - w->says_ns > CALM_NS;
}

/* A waiter that sits there since its task was seen to have ended. */
static bool is_forgotten(struct weather *w)
{
	struct ledger *l = w->cast->storm->ledger;
	uint64_t now = now_ns();

	for (uint32_t i = 0; i < w->cast->count; i++) {
		struct ledger_seat *seat = &l->seat[i];
		uint32_t slot = seat->slot;

		if (w->cast->members[i].role != ROLE_WAITER || seat->doing != DOING_WAIT ||
		    slot == UINT32_MAX || !l->task[slot].outcome)
			continue;
		if (now - seat->since_ns > CALM_NS && now - l->task[slot].ended_ns > CALM_NS)
			return true;
	}
	return false;
}

static void watch(struct weather *w)
{
	if (is_stuck(w))
		drain_stuck(w->cast, "no attempt ends");
	if (is_forgotten(w))
		drain_stuck(w->cast, "a waiter does not return");
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t weather(struct cast *c)
{
	struct storm *storm = c->storm;
	struct weather w = { .cast = c, .chance.state = storm->seed, .says_ns = now_ns() };
	uint64_t begin = now_ns(), end = begin + storm->run_ns, now, at = begin, look = begin;

	while ((now = now_ns()) < end && !ledger_faults(storm->ledger) &&
	       !storm->ledger->overflow) {
		if (now >= at) {
			strike(&w);
			at = now + chance_below(&w.chance, PAUSE_MAX_NS);
		}
		if (now >= look) {
			watch(&w);
			look = now + WATCH_NS;
		}
		uint64_t next = least(least(cast_continue(c, false), at), least(look, end));

		now = now_ns();
		cast_wait(c, next > now ? next - now : 0);
		cast_restart(c, (1u << ROLE_COUNT) - 1);
	}
	return now_ns() - begin;
}
