/* SPDX-License-Identifier: MIT
 *
 * The lock of shm/lock.c over glibc's robust mutex and the kernel's walk at death, with
 * the journal of shm/tx.c, each store a step.  Names as in the code.
 *
 * Holds: whoever gets the lock finds x == y and an empty journal (LK-2, TX-1, TX-2); nobody
 * sleeps for ever on a free lock (LK-1).
 *
 * BAD=1 pthread_mutex_lock: no slices        BAD=2 the journal is forgotten before the rollback
 * BAD=3 an entry counts before it is complete BAD=4 the store before its entry
 */
#ifndef BAD
#define BAD 0
#endif
#ifndef KILLS
#define KILLS 2
#endif
#define N 3
#define UP !dead[me]

byte word;		/* owner */
bool waiters, owner_died;
bool asleep[N + 1], pending[N + 1], dead[N + 1];
byte x, y;		/* what the lock guards: equal between transactions */
byte where[2], old[2], undo_count;
byte kills = KILLS;

inline wake_one() {
	if
	:: asleep[1] -> asleep[1] = false
	:: asleep[2] -> asleep[2] = false
	:: asleep[3] -> asleep[3] = false
	:: !asleep[1] && !asleep[2] && !asleep[3] -> skip
	fi
}

/* TQI_SET: entry, count, store. */
inline tqi_set(f, v) {
	if
	:: BAD == 4 -> atomic { UP -> if :: f == 1 -> x = v :: else -> y = v fi }
	:: else
	fi;
	if
	:: BAD == 3 -> atomic { UP -> undo_count++ };
		atomic { UP -> where[undo_count - 1] = f; old[undo_count - 1] = (f == 1 -> x : y) }
	:: else -> atomic { UP -> where[undo_count] = f; old[undo_count] = (f == 1 -> x : y) };
		atomic { UP -> undo_count++ }
	fi;
	atomic { UP -> if :: f == 1 -> x = v :: else -> y = v fi }
}

inline undo(i) { if :: where[i] == 1 -> x = old[i] :: where[i] == 2 -> y = old[i] :: else fi }

inline tqi_tx_rollback() {
	if
	:: BAD == 2 -> atomic { UP -> n = undo_count; undo_count = 0 };
		do
		:: atomic { UP && n > 0 -> undo(n - 1); n-- }
		:: atomic { UP && n == 0 -> break }
		od
	:: else ->
		do
		:: atomic { UP && undo_count > 0 -> undo(undo_count - 1) }; atomic { UP -> undo_count-- }
		:: atomic { UP && undo_count == 0 -> break }
		od
	fi
}

inline tqi_lock() {
	atomic { UP -> pending[me] = true };
	do
	:: atomic { UP && word == 0 && !owner_died -> word = me; waiters = waiters || slept; break }
	:: atomic { UP && owner_died -> word = me; owner_died = false; rescue = true; waiters = waiters || slept; break }
	:: atomic { UP && word != 0 -> waiters = true };
		slept = true;
		atomic { UP -> if :: word != 0 && waiters -> asleep[me] = true :: else fi };
		if
		:: atomic { UP && !asleep[me] -> skip }
		:: atomic { BAD != 1 && UP && asleep[me] && timeout -> asleep[me] = false } /* a slice is over */
		fi
	od;
	atomic { UP -> pending[me] = false };
	if
	:: atomic { UP && rescue -> rescue = false }; tqi_tx_rollback()
	:: atomic { UP && !rescue -> skip }
	fi;
	slept = false
}

inline tqi_unlock() {
	atomic { UP -> pending[me] = true };
	atomic { UP -> w = waiters; word = 0; waiters = false };
	if
	:: atomic { UP && w -> wake_one() }
	:: atomic { UP && !w -> skip }
	fi;
	atomic { UP -> pending[me] = false; w = false }
}

proctype Process(byte me) {
	bool rescue, slept, w;
	byte n;

	tqi_lock();
	atomic { UP -> assert(x == y && undo_count == 0) };
	tqi_set(1, me);
	tqi_set(2, me);
	atomic { UP -> undo_count = 0 }; /* commit */
	tqi_unlock()
}

/* exit_robust_list() some time after the death. */
proctype Kernel() {
	byte i;
	do
	:: atomic { kills > 0 -> kills--; if :: i = 1 :: i = 2 :: i = 3 fi;
		if :: dead[i] -> i = 0 :: else -> dead[i] = true; asleep[i] = false fi };
		atomic { if
			:: i != 0 && word == i -> owner_died = true; word = 0; if :: waiters -> wake_one() :: else fi
			:: i != 0 && word == 0 && pending[i] -> wake_one()
			:: else
			fi; i = 0 }
	:: break
	od
}

/* Slices end every sleep; without them nobody may sleep on a free lock when all is over. */
#define OVER(i) (dead[i] || !asleep[i])
proctype Check() {
	(timeout && word == 0) -> assert(BAD != 1 || (OVER(1) && OVER(2) && OVER(3)))
}

init { atomic { run Process(1); run Process(2); run Process(3); run Kernel(); run Check() } }
