/* SPDX-License-Identifier: MIT
 *
 * An observer copies a record and the block that it owns, while a writer frees both and uses
 * them again, aborts, is killed inside and rescued, or stops anywhere (it need not take its
 * next step).  client/observe/moment.c and shm/tx.c, each store and each copy a step.
 *
 * Holds: what was accepted as the record's bytes are its bytes (RD-1 to RD-4): neither the
 * link of a free block, nor another's.  UNSTAMPED: of a record that has no stamp.
 *
 * BAD=1 the block is not put back by the journal   BAD=2 a commit or rollback closes no journal
 * BAD=3 a rollback takes back the stamp            BAD=4 what it leaves passes as from before it
 * BAD=5 rollbacks are not counted (UNSTAMPED)      BAD=6 closed after the journal is empty
 * BAD=7 the count is copied before `closed`
 */
#ifndef BAD
#define BAD 0
#endif
#ifndef KILLS
#define KILLS 1
#endif
#ifndef TXS
#define TXS 3
#endif
#ifdef UNSTAMPED
#define IS_STAMPED false
#else
#define IS_STAMPED true
#endif
#define OWN 1	/* contents of the block: the record's, */
#define LINK 2	/* of the list of free blocks, */
#define OTHER 3 /* another's */
#define F_LIVES 1
#define F_LIFE 2
#define F_BLOCK 3
#define F_FREE 4
#define F_STAMP 5
#define ENTRIES 5
#define RECORD 1
#define BLOCK 2

byte version = 2, closed, undone, count;
byte where[ENTRIES], old[ENTRIES];
byte stamp = 1, lives = 1, life = 1, block = OWN, is_free = 0;
byte kills = KILLS, ended;
bool is_dead;

inline get(f, to) {
	if
	:: f == F_LIVES -> to = lives
	:: f == F_LIFE -> to = life
	:: f == F_BLOCK -> to = block
	:: f == F_FREE -> to = is_free
	:: f == F_STAMP -> to = stamp
	fi
}
inline put(f, v) {
	if
	:: f == F_LIVES -> lives = v
	:: f == F_LIFE -> life = v
	:: f == F_BLOCK -> block = v
	:: f == F_FREE -> is_free = v
	:: f == F_STAMP -> stamp = v
	fi
}

/* Before any step of the writer. */
inline may_die() {
	if
	:: kills > 0 && !is_dead -> kills--; is_dead = true
	:: true
	fi
}
#define STEP(what) atomic { may_die(); if :: is_dead :: else -> what fi }

/* TQI_SET: the entry counts (TX-1 is lock.pml's), the store. */
inline set(f, v) {
	STEP(where[count] = f; get(f, old[count]); count++);
	STEP(put(f, v))
}
inline touch() {
	if
	:: BAD == 3 -> set(F_STAMP, version)
	:: else -> STEP(stamp = version)
	fi
}

inline roll_back() {
	is_dead = true;
	do
	:: is_dead -> atomic { is_dead = false; undone++; if :: BAD == 2 :: else -> closed = version fi };
		do
		:: atomic { count > 0 && !is_dead -> put(where[count - 1], old[count - 1]) };
			atomic { may_die(); if :: is_dead :: else -> count-- fi }
		:: count == 0 || is_dead -> break
		od
	:: !is_dead -> break
	od;
	version = (version | 1) + 1
}

inline commit() {
	STEP(if :: BAD == 2 || BAD == 6 :: else -> closed = version fi);
	STEP(count = 0);
	STEP(if :: BAD == 6 -> closed = version :: else fi);
	STEP(version++)
}

/* What a transaction does: the record ends and its block goes; the block is taken by
 * another; the slot and the block are a new record's. */
inline work() {
	if
	:: lives == 1 && life == 1 -> touch(); set(F_LIVES, 0); set(F_BLOCK, LINK); set(F_FREE, 1)
	:: is_free == 1 -> set(F_FREE, 0); set(F_BLOCK, OTHER)
	:: is_free == 1 && lives == 0 -> touch(); set(F_LIFE, 2); set(F_FREE, 0);
		set(F_BLOCK, OTHER); set(F_LIVES, 1)
	fi
}

active proctype writer() {
	do
	:: ended < TXS && (lives == 1 && life == 1 || is_free == 1) ->
		STEP(version++);
		work();
		if
		:: is_dead -> roll_back()
		:: !is_dead -> roll_back() /* it aborts */
		:: !is_dead -> commit(); if :: is_dead -> roll_back() :: else fi
		fi;
		atomic { ended++ }
	:: ended < TXS -> break
	:: ended == TXS -> break
	od
}

/* What the observer has copied. */
byte v1, v2, r_stamp, r_lives, r_life, r_block, r_undone, inside;
byte p_version, p_count, q_closed, q_count, n, m_inside, m_undone;
byte j_where[ENTRIES], j_old[ENTRIES];
bool is_fine, is_over;

/* Two copies; within one, in no order that is known. */
inline peek_progress(c, k) {
	if
	:: BAD == 7 -> k = count; c = closed
	:: BAD != 7 -> c = closed; k = count
	fi;
	p_version = version
}
inline peek_record() {
	if
	:: r_stamp = stamp; atomic { r_lives = lives; r_life = life }
	:: atomic { r_lives = lives; r_life = life }; r_stamp = stamp
	fi
}
inline undo_in_copy(what, i) {
	if
	:: what == RECORD && j_where[i] == F_LIVES -> r_lives = j_old[i]
	:: what == RECORD && j_where[i] == F_LIFE -> r_life = j_old[i]
	:: what == RECORD && j_where[i] == F_STAMP -> r_stamp = j_old[i]
	:: what == BLOCK && j_where[i] == F_BLOCK -> r_block = j_old[i]
	:: else
	fi
}

/* peek_before(): `is_fine`: the copy can be used; `is_over`: it is of what the transaction leaves. */
inline peek_before(v, what) {
	peek_progress(q_closed, q_count);
	atomic { is_fine = p_version == v; is_over = q_closed == v && q_count == 0; n = 0 };
	if
	:: is_fine ->
		if
		:: what == RECORD -> peek_record()
		:: what == BLOCK -> r_block = block
		fi;
		p_count = count;
		do
		:: atomic { n < p_count -> j_where[n] = where[n]; j_old[n] = old[n]; n++ }
		:: n == p_count -> break
		od;
		v1 = closed;
		v2 = count;
		atomic {
			is_fine = version == v && v1 == q_closed &&
				(v1 != v || p_count == q_count && v2 == q_count) &&
				(BAD != 2 || v2 >= q_count);
			do
			:: n > 0 -> n--; undo_in_copy(what, n); j_where[n] = 0; j_old[n] = 0
			:: n == 0 -> break
			od;
			v1 = 0; v2 = 0; p_count = 0; p_version = 0; q_closed = 0; q_count = 0
		}
	:: else
	fi
}

/* tqi_peek_moment(): as things are, or inside. */
inline peek_moment() {
	r_undone = undone;
	v1 = version;
	peek_record();
	v2 = version;
	if
	:: v1 == v2 && v1 % 2 == 0 -> inside = 0; is_fine = true
	:: v1 == v2 && v1 % 2 == 1 -> inside = v1;
		peek_before(inside, RECORD);
		if :: is_over -> inside = 0 :: else fi
	:: v1 != v2 -> is_fine = false
	fi
}

active proctype observer() {
	if
	:: IS_STAMPED -> /* peek_stamped() */
		v1 = version;
		peek_record();
		v2 = stamp;
		is_fine = v2 == r_stamp && r_stamp < v1;
		inside = 0
	:: peek_moment();
		if
		:: IS_STAMPED && is_fine && inside && r_stamp < inside -> inside = 0
		:: else
		fi
	fi;
	if
	:: atomic { !is_fine || r_lives == 0 || r_life != 1 -> goto end }
	:: else
	fi;
	atomic { m_inside = inside; m_undone = r_undone; v1 = 0; v2 = 0; r_undone = 0 };
	if
	:: m_inside == 0 || BAD == 1 -> r_block = block
	:: else -> peek_before(m_inside, BLOCK);
		if :: !is_fine || is_over && BAD != 4 -> goto end :: else fi
	fi;
	if
	:: IS_STAMPED && m_inside == 0 -> is_fine = stamp == r_stamp
	:: IS_STAMPED && m_inside != 0 ->
		is_fine = version == m_inside
	:: !IS_STAMPED ->
		peek_moment();
		is_fine = is_fine && r_lives == 1 && r_life == 1 && inside == m_inside;
		if
		:: is_fine && !inside && BAD != 5 -> is_fine = undone == m_undone
		:: else
		fi
	fi;
	assert(!is_fine || r_block == OWN);
end:	skip
}
