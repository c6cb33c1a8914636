/* SPDX-License-Identifier: MIT
 *
 * One wait slot of shm/wait.c, every store a step, kills anywhere.  It justifies the
 * "one hold is one step" of waiting.pml.  Names as in the code.
 *
 * WT-1: a slot in use shows its owner's TID or OWNER_DIED, never 0; a free one can be
 * taken.  WT-3: wake words only grow; a commit implies its wake.
 *
 * BAD=1 the mutex is taken after the registering hold   BAD=2 released before the freeing commit
 * BAD=3 released after the lock                         BAD=4 woken after the commit
 */
#ifndef BAD
#define BAD 0
#endif
#ifndef KILLS
#define KILLS 2
#endif
#define OWNER_DIED 9
#define FREE 0
#define LISTED 1
#define TRANSIT 2
#define UP !dead[me]

byte lock; bool lock_died;	/* core->lock */
byte state, owner, word;	/* of the slot; word is never journalled */
byte mutex;			/* of the slot: 0, a TID, or OWNER_DIED */
byte undo_count, where[3], old[3];
bool dead[5], asleep[5];
byte kills = KILLS, last_word;

inline tqi_set(f, v) {
	atomic { UP -> where[undo_count] = f; old[undo_count] = (f == 1 -> state : owner) };
	atomic { UP -> undo_count++ };
	atomic { UP -> if :: f == 1 -> state = v :: else -> owner = v fi }
}

inline commit() { atomic { UP -> undo_count = 0 } }

inline hold_begin() {
	atomic { UP && lock == 0 -> lock = me };
	do
	:: atomic { UP && lock_died && undo_count > 0 ->
		if :: where[undo_count - 1] == 1 -> state = old[undo_count - 1] :: else -> owner = old[undo_count - 1] fi };
		atomic { UP -> undo_count-- }
	:: atomic { UP && lock_died && undo_count == 0 -> lock_died = false }
	:: atomic { UP && !lock_died -> break }
	od;
	atomic { UP -> /* what every holder relies on */
		assert(undo_count == 0 && (state == FREE) == (owner == 0));
		assert(state == FREE || mutex == owner || (mutex == OWNER_DIED && dead[owner]));
		assert(state != FREE || mutex == 0 || mutex == OWNER_DIED || dead[mutex]);
		assert(!(state == TRANSIT && !dead[owner] && asleep[owner]));
		assert(word >= last_word); last_word = word }
}

inline hold_end() { atomic { UP -> assert(lock == me); lock = 0 } }
inline take_mutex() { atomic { UP -> if :: mutex == 0 || mutex == OWNER_DIED -> mutex = me :: else -> busy = true fi } }

proctype Sleeper(byte me) {
	byte seen;
	bool busy;

	hold_begin();
	if
	:: atomic { UP && state != FREE -> skip }; hold_end()
	:: atomic { UP && state == FREE -> skip };
		if :: BAD != 1 -> take_mutex() :: else fi;
		if
		:: busy -> hold_end() /* its last owner is just dying: passed over */
		:: else ->
			tqi_set(2, me);
			tqi_set(1, LISTED);
			atomic { UP -> seen = word };
			commit();
			hold_end();
			if :: BAD == 1 -> take_mutex() :: else fi;
			atomic { UP -> if :: word == seen -> asleep[me] = true :: else fi };
			atomic { UP && !asleep[me] -> skip };
			hold_begin();
			atomic { UP -> assert(owner == me) };
			tqi_set(1, FREE);
			if :: BAD == 2 -> atomic { UP -> mutex = 0 } :: else fi;
			tqi_set(2, 0);
			commit();
			if :: BAD != 2 && BAD != 3 -> atomic { UP -> mutex = 0 } :: else fi;
			hold_end();
			if :: BAD == 3 -> atomic { UP -> mutex = 0 } :: else fi
		fi
	fi
}

proctype Waker(byte me) {
	byte round, whom;
	do
	:: round < 2 -> round++;
		hold_begin();
		if
		:: atomic { UP && state == LISTED && mutex != OWNER_DIED -> whom = owner }; /* tqi_waiter_pop */
			tqi_set(1, TRANSIT);
			atomic { UP -> word++ };
			if :: BAD != 4 -> atomic { UP -> asleep[whom] = false } :: else fi;
			commit();
			if :: BAD == 4 -> atomic { UP -> asleep[whom] = false } :: else fi
		:: atomic { UP && state != FREE && mutex == OWNER_DIED -> skip }; /* tqi_waiter_bury */
			tqi_set(1, FREE); tqi_set(2, 0); commit()
		:: atomic { UP && (state == FREE || (state == TRANSIT && mutex != OWNER_DIED)) -> skip }
		fi;
		hold_end()
	:: else -> break
	od
}

inline die_lock() { atomic { if :: i != 0 && lock == i -> lock_died = true; lock = 0 :: else fi } }
inline die_mutex() { atomic { if :: i != 0 && mutex == i -> mutex = OWNER_DIED :: else fi } }

proctype Kernel() {
	byte i;
	do
	:: atomic { kills > 0 -> kills--; if :: i = 1 :: i = 2 :: i = 3 :: i = 4 fi;
		if :: dead[i] -> i = 0 :: else -> dead[i] = true fi };
		if /* the list is walked some time later, in either order */
		:: skip; die_lock(); die_mutex()
		:: skip; die_mutex(); die_lock()
		fi;
		i = 0
	:: break
	od
}

init { atomic { run Sleeper(1); run Sleeper(2); run Waker(3); run Waker(4); run Kernel() } }
