/* SPDX-License-Identifier: MIT
 *
 * Waiting: client/core/sleeper.c, client/core/keeper.c, scheduler/worker/keepers.c,
 * scheduler/wake/asleep.c, shm/wait.c and shm/keepers.c.  A hold of the lock is one step (slot.pml shows that it may be), whose owner may be killed
 * before its commit with any of its wakes done, or after.  Names as in the code.
 *
 * Holds: when nothing moves any more and no keeper's look helps, no live sleeper sleeps
 * beside a task that it could start, nor beside one that is due or whose owner is dead.
 *
 * KILLS, STOPS  how many; any sleeper, between any two steps; kills also inside holds
 * FARM          sleepers 1 to FARM stop together, and are one domain; others are their own
 * CLIENTS       the first so many sleepers start nothing: they wait for something else
 * QUEUES        task t is in queue t % QUEUES; with two, sleeper N serves both of them,
 *               the others the one of their number
 * TQI_DEPUTIES  fewer than N - 1: not everybody is a keeper
 * FIRST0        state in which task 0 is submitted: READY or DUE
 * PROMPT        no keeper's time ever comes: nothing may wait for it (no KILLS, no STOPS)
 * BAD=1 all watch the timekeeper, not the sleeper that they queued behind (WT-4)
 * BAD=2 commits do not tell keepers that they must look earlier (WT-6)
 * BAD=3 nobody passes a wake on but looks (WT-7)
 * BAD=4 keepers may all be of one domain (WT-6)
 * BAD=5 looks count cover, also what has been in transit for long (WT-7)
 * BAD=6 who comes back counts itself as cover (WT-7)
 * With fewer deputies a stop and a kill strand everybody (run.sh wants that to fail).
 * The wake of WT-5 is not shown to be needed here: releasing the mutex wakes its watcher.
 */
#ifndef BAD
#define BAD 0
#endif
#ifndef N
#define N 3		/* sleepers */
#endif
#ifndef CLIENTS
#define CLIENTS 0
#endif
#ifndef QUEUES
#define QUEUES 1
#endif
#ifdef PROMPT
#define SPENT 3
#else
#define SPENT 0
#endif
#ifndef TASKS
#define TASKS 1
#endif
#ifndef KILLS
#define KILLS 1
#endif
#ifndef STOPS
#define STOPS 0
#endif
#ifndef GIVE_UPS
#define GIVE_UPS 0
#endif
#ifndef FIRST0
#define FIRST0 READY
#endif
#ifndef TQI_DEPUTIES
#define TQI_DEPUTIES 2
#endif
#define KEEPERS (TQI_DEPUTIES + 1)
#define NONE 0
#define READY 1
#define RUNNING 2
#define DUE 3		/* soon */
#define DONE 4
#define FREE 0
#define HELD 1
#define DIED 2
#define SOON 1
#define NEVER 2
#ifndef FARM
#define FARM 1
#endif
#define LIVE (!dead[me] && !stopped[me])
#define DOMAIN(i) ((i) <= FARM -> 1 : (i))
#define SERVES(i, t) ((i) > CLIENTS && (QUEUES == 1 || (i) == N || (i) % QUEUES == (t) % QUEUES))

/* In the segment, journalled. */
byte chain[N], count;		/* slots in use, the first taken first */
bool transit[N + 1];		/* popped, not back yet ... */
bool old[N + 1];		/* ... for long */
byte keepers[KEEPERS];
byte until[N + 1];		/* what its owner sleeps to */
byte state[TASKS], owner[TASKS];
/* The undo journal. */
byte j_chain[N], j_count, j_until[N + 1], j_state[TASKS], j_owner[TASKS], j_keepers[KEEPERS];
bool j_transit[N + 1];
/* In the segment, not journalled. */
byte mutex[N + 1]; bool waiters[N + 1];
bool bumped[N + 1];		/* its word is not the one that it read */
/* The kernel, and each process. */
byte asleep[N + 1];		/* 1 in futex_waitv, 2 woken */
byte watch[N + 1];		/* whose mutex it sleeps on, too */
bool missed[N + 1], timer[N + 1], is_keeper[N + 1];
bool dead[N + 1], stopped[N + 1], gone[N + 1];
byte kills = KILLS, stops = STOPS, give_ups = GIVE_UPS, futile = SPENT;
/* Scratch of a hold, zero between two of them. */
byte wakes, a, b, c, d, e, f, g, p, q, r;

inline begin() {
	for (a : 0 .. N - 1) { j_chain[a] = chain[a] }
	for (a : 0 .. KEEPERS - 1) { j_keepers[a] = keepers[a] }
	for (a : 1 .. N) { j_until[a] = until[a]; j_transit[a] = transit[a] }
	for (a : 0 .. TASKS - 1) { j_state[a] = state[a]; j_owner[a] = owner[a] }
	j_count = count; wakes = 0; a = 0
}

inline wake_now(i) { bumped[i] = true; if :: asleep[i] == 1 -> asleep[i] = 2 :: else fi }

inline wake_all_noted() { /* before the commit */
	for (a : 1 .. N) { if :: wakes & (1 << a) -> wake_now(a) :: else fi }
	a = 0
}

inline roll_back() {
	for (a : 0 .. N - 1) { chain[a] = j_chain[a] }
	for (a : 0 .. KEEPERS - 1) { keepers[a] = j_keepers[a] }
	for (a : 1 .. N) { until[a] = j_until[a]; transit[a] = j_transit[a] }
	for (a : 0 .. TASKS - 1) { state[a] = j_state[a]; owner[a] = j_owner[a] }
	count = j_count; a = 0
}

/* The kernel wakes one of those who wait on the word, whichever. */
inline wake_watcher(i) {
	if
	:: asleep[1] == 1 && watch[1] == i -> asleep[1] = 2
	:: asleep[2] == 1 && watch[2] == i -> asleep[2] = 2
#if N > 2
	:: asleep[3] == 1 && watch[3] == i -> asleep[3] = 2
#endif
#if N > 3
	:: asleep[4] == 1 && watch[4] == i -> asleep[4] = 2
#endif
	:: else
	fi
}

inline die(i) {
	dead[i] = true; asleep[i] = 0;
	if
	:: mutex[i] == HELD -> mutex[i] = DIED; if :: waiters[i] -> wake_watcher(i) :: else fi; waiters[i] = false
	:: else
	fi;
	futile = SPENT
}

inline release(i) { /* of its own mutex, after the commit */
	mutex[i] = FREE; if :: waiters[i] -> wake_watcher(i) :: else fi; waiters[i] = false
}

inline place_of(i, r) { r = 0; do :: r < count && chain[r] != i -> r++ :: else -> break od }

/* Its place among the keepers; KEEPERS none. */
inline keeper_of(i, r) { r = 0; do :: r < KEEPERS && keepers[r] != i -> r++ :: else -> break od }

/* Whether a keeper at another place than `but` is of the domain of i. */
inline is_kept(i, but, r) {
	r = 0;
	for (b : 0 .. KEEPERS - 1) {
		if :: b != but && keepers[b] && DOMAIN(keepers[b]) == DOMAIN(i) -> r = 1 :: else fi
	}
	b = 0
}

/* It has just been listed: an empty place, or that of a keeper whose domain has another. */
inline keeper_enter(i) {
	keeper_of(0, c);
	is_kept(i, KEEPERS, d);
	if
	:: c < KEEPERS -> keepers[c] = i
	:: c == KEEPERS && (d || BAD == 4) -> skip
	:: else ->
		do
		:: c > 1 ->
			c--; is_kept(keepers[c], c, d);
			if :: d -> keepers[c] = i; c = 0 :: else fi
		:: else -> break
		od
	fi;
	c = 0; d = 0
}

/* It is about to be listed no more: the first of another domain follows it, or anybody. */
inline keeper_leave(i) {
	keeper_of(i, c);
	if
	:: c < KEEPERS ->
		f = 0; g = 0;
		do
		:: f < count ->
			keeper_of(chain[f], d);
			if
			:: !transit[chain[f]] && d == KEEPERS ->
				if :: !g -> g = chain[f] :: else fi;
				is_kept(chain[f], c, d);
				if :: BAD != 4 && !d -> g = chain[f]; f = count :: else -> f++ fi
			:: else -> f++
			fi
		:: else -> break
		od;
		keepers[c] = g; f = 0; g = 0; d = 0
	:: else
	fi;
	c = 0
}

/* WT-5: only entering, leaving and burying change the chain. */
inline unlink_at(at) {
	b = at;
	do :: b + 1 < count -> chain[b] = chain[b + 1]; b++ :: else -> break od;
	count--; chain[count] = 0; b = 0;
	if
	:: at < count -> wakes = wakes | (1 << chain[at])
	:: else
	fi
}

/* The owner leaves, or is buried. */
inline free_at(at) {
	a = chain[at];
	if :: !transit[a] -> keeper_leave(a) :: else fi;
	transit[a] = false; a = 0; unlink_at(at)
}

inline pop(i) { keeper_leave(i); transit[i] = true; old[i] = false; wakes = wakes | (1 << i) }

/* Whether one of its domain has long been in transit, and lives. */
inline is_stalled(i, r) {
	r = 0;
	for (b : 1 .. N) {
		if :: transit[b] && old[b] && mutex[b] != DIED && DOMAIN(b) == DOMAIN(i) -> r = 1 :: else fi
	}
	b = 0
}

/* The newest live one that can start one of the tasks from .. to; of a stalled domain last. */
inline pop_for(from, to) {
	p = count; q = 0;
	do
	:: p > 0 ->
		p--; e = 0;
		for (a : from .. to) {
			if :: state[a] == READY && SERVES(chain[p], a) -> e = 1 :: else fi
		}
		if
		:: e && !transit[chain[p]] && mutex[chain[p]] != DIED ->
			is_stalled(chain[p], e);
			if :: !q || !e -> q = chain[p] :: else fi;
			if :: !e -> p = 0 :: else fi
		:: else
		fi
	:: else -> break
	od;
	a = 0; p = 0; e = 0;
	if :: q > 0 -> pop(q) :: else fi;
	q = 0
}

inline tqi_wake_for(t) { pop_for(t, t) }
inline tqi_wake_any() { pop_for(0, TASKS - 1) }

/* How many tasks are ready, and how many sleepers are on their way to some. */
inline count_cover() {
	p = 0; q = 0;
	for (a : 0 .. TASKS - 1) { if :: state[a] == READY -> p++ :: else fi }
	for (a : 1 .. N) {
		if :: transit[a] && (!old[a] || BAD == 5) && a > CLIENTS -> q++ :: else fi
	}
	a = 0
}

/* WT-7: more than what those on their way may take; all of it may be for them. */
inline pass_on() {
	count_cover();
	if :: BAD == 6 -> q++ :: else fi;
	if :: p > q -> p = 0; q = 0; tqi_wake_any() :: else -> p = 0; q = 0 fi
}

/* WT-7: who is listed leaves to those on their way what they may take. */
inline leave_to_others(i) {
	count_cover();
	if :: !transit[i] && p <= q -> t = TASKS :: else fi;
	p = 0; q = 0
}

inline need(r) {
	r = NEVER;
	for (b : 0 .. TASKS - 1) { if :: state[b] == READY || state[b] == RUNNING || state[b] == DUE -> r = SOON :: else fi }
	b = 0
}

inline tqi_wake_keepers() {
	need(p);
	a = 0;
	do
	:: BAD != 2 && a < KEEPERS ->
		if
		:: keepers[a] && p < until[keepers[a]] -> until[keepers[a]] = p; wakes = wakes | (1 << keepers[a])
		:: else
		fi;
		a++
	:: else -> break
	od;
	a = 0; p = 0
}

inline tqi_tend(is_time) {
	a = 0;
	do
	:: a < TASKS && !(state[a] == DUE && is_time) -> a++
	:: a < TASKS && state[a] == DUE && is_time -> state[a] = READY; r = a; tqi_wake_for(r); r = 0; a = 0
	:: else -> break
	od;
	a = 0
}

/* The dead ones that it queued behind. */
inline tqi_sleep_bury_older(i) {
	place_of(i, p);
	do
	:: p > 0 && mutex[chain[p - 1]] == DIED -> p--; free_at(p)
	:: else -> break
	od;
	p = 0
}

inline tqi_sleep_bury() {
	p = 0;
	do
	:: p < count -> if :: mutex[chain[p]] == DIED -> free_at(p) :: else -> p++ fi
	:: else -> break
	od;
	p = 0
}

/* A keeper's look: tasks of the dead go back, one wake more is passed on. */
inline tqi_look(is_time) {
	tqi_tend(is_time);
	tqi_sleep_bury();
	a = 0;
	do
	:: a < TASKS && state[a] == RUNNING && dead[owner[a]] -> state[a] = READY; owner[a] = 0; r = a; tqi_wake_for(r); r = 0; a = 0
	:: a < TASKS && !(state[a] == RUNNING && dead[owner[a]]) -> a++
	:: else -> break
	od;
	a = 0;
	if :: BAD == 5 -> pass_on() :: else -> tqi_wake_any() fi
}

/* Killed in a hold: before its commit, with some of its wakes done, or just after. */
inline commit(me) {
	if
	:: kills > 0 -> kills--;
		if :: wakes = 0 :: skip fi;
		wake_all_noted(); roll_back(); wakes = 0; die(me); goto over
	:: kills > 0 -> kills--; wake_all_noted(); wakes = 0; die(me); goto over
	:: wake_all_noted(); wakes = 0
	fi
}

/* Looks come later than what is long. */
inline grow_old() { for (a : 1 .. N) { old[a] = transit[a] } a = 0 }

proctype Sleeper(byte me) {
	byte t, at;
	bool has_slot, is_time, leaves, popped;

again:
	/* client/core/sleeper.c: hold() */
	atomic { LIVE ->
		d_step {
			begin(); asleep[me] = 0; bumped[me] = false; watch[me] = 0; missed[me] = false;
			tqi_tend(is_time); popped = transit[me];
			if :: has_slot -> tqi_sleep_bury_older(me) :: else fi;
			t = 0;
			do :: t < TASKS && !(state[t] == READY && SERVES(me, t)) -> t++ :: else -> break od;
			if :: has_slot -> leave_to_others(me) :: else fi
		};
		if :: has_slot && give_ups > 0 && !is_time -> give_ups--; leaves = true :: true fi;
		if
		:: t < TASKS && !leaves -> d_step { state[t] = RUNNING; owner[t] = me; futile = SPENT }
		:: else
		fi;
		if
		:: leaves || t < TASKS -> d_step {
			if
			:: has_slot ->
				place_of(me, at); free_at(at); at = 0;
				if :: BAD != 3 && popped -> pass_on() :: else fi
			:: else
			fi;
			tqi_wake_keepers(); wakes = wakes & ~(1 << me); popped = false };
			commit(me);
			if :: has_slot -> release(me) :: else fi;
			has_slot = false; is_time = false;
			if :: leaves -> goto left :: else -> goto work fi
		:: else -> d_step {
			if :: !has_slot -> chain[count] = me; count++ :: else fi;
			if :: transit[me] || !has_slot -> transit[me] = false; keeper_enter(me) :: else fi;
			keeper_of(me, at);
			need(p);
			/* a note that it was given stays until its time has come */
			until[me] = (at < KEEPERS -> (has_slot && until[me] == SOON && !is_time -> SOON : p) : NEVER);
			p = 0;
			is_keeper[me] = at < KEEPERS; place_of(me, at);
			timer[me] = until[me] == SOON;
			if :: at > 0 -> watch[me] = (BAD == 1 -> chain[0] : chain[at - 1]) :: else fi;
			at = 0; t = 0;
			if
			:: mutex[me] != HELD -> mutex[me] = HELD; waiters[me] = false
			:: else
			fi;
			if
			:: watch[me] && mutex[watch[me]] == HELD -> waiters[watch[me]] = true
			:: watch[me] && mutex[watch[me]] != HELD -> missed[me] = true
			:: else
			fi;
			if :: BAD != 3 && popped -> pass_on() :: else fi;
			popped = false;
			tqi_wake_keepers() };
			commit(me);
			has_slot = true; is_time = false
		fi
	};
	/* futex_waitv compares every word first */
	atomic { LIVE ->
		if
		:: missed[me] || bumped[me] || (watch[me] && !(mutex[watch[me]] == HELD && waiters[watch[me]])) -> asleep[me] = 2
		:: else -> asleep[me] = 1
		fi };
	if
	:: atomic { LIVE && asleep[me] == 2 -> skip }
	:: atomic { LIVE && asleep[me] == 1 && timer[me] && futile < 3 && timeout -> futile++; asleep[me] = 2; is_time = true; grow_old() }
	fi;
	/* must_look(), tqi_keep() */
	if
	:: atomic { LIVE && ((is_keeper[me] && is_time) || missed[me] || (watch[me] && mutex[watch[me]] != HELD)) ->
		d_step { begin(); tqi_look(is_time); tqi_wake_keepers() };
		commit(me) }
	:: atomic { LIVE && !((is_keeper[me] && is_time) || missed[me] || (watch[me] && mutex[watch[me]] != HELD)) -> skip }
	fi;
	goto again;
work:	/* tq_complete() */
	atomic { LIVE -> begin(); t = 0;
		do :: owner[t] != me -> t++ :: else -> break od;
		state[t] = DONE; owner[t] = 0; t = 0; futile = SPENT;
		tqi_wake_keepers();
		commit(me) };
	goto again;
left:	gone[me] = true;
over:	skip
}

proctype Submitter(byte t) {
	atomic {
		d_step { begin(); state[t] = (t == 0 -> FIRST0 : READY);
			if :: state[t] == READY -> tqi_wake_for(t) :: else fi;
			tqi_wake_keepers(); futile = SPENT };
		if
		:: kills > 0 -> kills--; if :: wakes = 0 :: skip fi; wake_all_noted(); roll_back(); wakes = 0
		:: wake_all_noted(); wakes = 0
		fi
	}
}

proctype Fate() {
	byte i, j;
	do
	:: atomic { kills > 0 || stops > 0 -> select (i : 1 .. N);
		if
		:: kills > 0 && !dead[i] && !gone[i] -> kills--; die(i)
		:: stops > 0 && !dead[i] && !stopped[i] && !gone[i] -> stops--;
			for (j : 1 .. N) { if :: DOMAIN(j) == DOMAIN(i) -> stopped[j] = true :: else fi }
			j = 0
		:: else
		fi; i = 0 }
	:: break
	od
}

#define CAN_LOOK(i) (!dead[i] && !stopped[i] && asleep[i] == 1 && timer[i] && futile < 3)
#if N > 3
#define LOOKS (CAN_LOOK(1) || CAN_LOOK(2) || CAN_LOOK(3) || CAN_LOOK(4))
#elif N > 2
#define LOOKS (CAN_LOOK(1) || CAN_LOOK(2) || CAN_LOOK(3))
#else
#define LOOKS (CAN_LOOK(1) || CAN_LOOK(2))
#endif

proctype Check() {
	byte i, t;
	(timeout && !LOOKS) -> d_step {
		for (i : 1 .. N) {
			if
			:: !dead[i] && !stopped[i] && asleep[i] == 1 ->
				for (t : 0 .. TASKS - 1) {
					assert(!(state[t] == READY && SERVES(i, t)));
#ifndef PROMPT /* what is due waits for its time, and that is all */
					assert(!(state[t] == RUNNING && dead[owner[t]]));
					assert(state[t] != DUE)
#endif
				}
			:: else
			fi
		}
	}
}

init { atomic {
	byte i;
	for (i : 1 .. N) { run Sleeper(i) }
	for (i : 0 .. TASKS - 1) { run Submitter(i) }
	run Fate(); run Check() } }
