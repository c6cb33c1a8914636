/* SPDX-License-Identifier: MIT */
/*
 * The map of a segment: what lies where, computed once by one function from the
 * size and the schema.  Creation and attachment both use it.
 *
 *   fixed part, reserved at creation                  grows by extents of 1 MiB
 *   +--------+------+---------+-----------+---------+ +-----------------------
 *   | header | core | journal | directory | schema  | | spans of 64 KiB:
 *   |        |      |         | of tables | root    | | records, heaps, blocks
 *   +--------+------+---------+-----------+---------+ +-----------------------
 *
 * Everything refers to everything else by index or by offset, never by address.
 */
#ifndef TQI_SHM_LAYOUT_H
#define TQI_SHM_LAYOUT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "shm/atomic.h"
#include "shm/ident.h"

#define TQI_MAGIC 0x314b534154510aull /* "\nQTASK1", read as little endian */
#define TQI_LAYOUT_VERSION 1u

#define TQI_UNIT_SHIFT 6 /* block references count units of 64 bytes: one cache line */
#define TQI_SPAN_SHIFT 16
#define TQI_SPAN_BYTES (1u << TQI_SPAN_SHIFT)
#define TQI_EXTENT_SHIFT 20
#define TQI_EXTENT_BYTES (1u << TQI_EXTENT_SHIFT)
#define TQI_SPANS_PER_EXTENT (1u << (TQI_EXTENT_SHIFT - TQI_SPAN_SHIFT))
#define TQI_SEGMENT_BYTES_MIN (4ull << 20)
#define TQI_SEGMENT_BYTES_MAX (256ull << 30) /* 2^32 units */

#define TQI_INDEX_BITS 24 /* of a record's index: 16 M records a table */
#define TQI_INDEX_MASK ((1u << TQI_INDEX_BITS) - 1)

#define TQI_TABLES_MAX 20
#define TQI_FAMILIES_MAX 16
#define TQI_SMALL_CLASSES 10 /* blocks of 64 bytes to 32 KiB */
#define TQI_INFLIGHT_MAX 64  /* processes between two holds of one operation */
#define TQI_WAITER_LISTS 8   /* sorts of sleepers: the scheduler says which */
#define TQI_DEPUTIES 2	     /* of the timekeeper: two kills or stops at once are survived */
#define TQI_KEEPERS (1 + TQI_DEPUTIES)
#define TQI_DOMAIN_LISTS 256 /* of sleepers, by what stops together (shm/domain.h) */
#define TQI_JOURNAL_MAX 1024 /* entries one hold may write */
#define TQI_SCRATCH_BYTES 8192
#define TQI_RING_ENTRY_BYTES 32
#define TQI_RING_SLACK 512 /* slots beyond those entries: as many as a transaction may write */
#define TQI_RING_LEAST 64 /* entries that a ring may promise (shm/ring.h) */
#define TQI_RING_MOST (1u << 24)

/* What the layer above wants kept: its tables and its root. */
struct tqi_table_spec {
	const char *name;
	uint32_t
		record_bytes; /* multiple of 8, at most TQI_SCRATCH_BYTES; begins with a uint32_t link */
	uint32_t max;	       /* records at most; 0 = as many as tasks */
	/* Bytes of a record that its owner writes without the lock: no transaction does (TX-7). */
	uint32_t own_from;
	uint32_t own_end; /* 0 there are none */
};

struct tqi_schema {
	const struct tqi_table_spec *tables;
	uint32_t table_count;
	uint32_t family_table[TQI_FAMILIES_MAX]; /* heap family -> table that its entries index */
	uint32_t family_count;
	uint32_t root_bytes;
	uint64_t fingerprint; /* of the shared structs */
};

/*
 * Page 0.  Written by the creator before the segment has a name, read-only
 * afterwards, except `destroyed`.
 */
struct tqi_header {
	uint64_t magic; /* stored last */
	uint32_t layout_version;
	uint32_t reserved0;
	uint64_t fingerprint;
	uint64_t creation_id; /* random: tells a segment from its successor */
	uint64_t max_bytes;
	uint64_t tasks_max;
	uint64_t ring_entries;	/* that the ring promises; 0 there is none */
	uint64_t pid_namespace; /* inode */
	uint64_t time_namespace; /* inode */
	uint64_t created_unix_ns;
	uint32_t creator_uid;
	uint32_t reserved1;
	char boot_id[40];
	struct tqi_word32
		destroyed; /* set once, without the lock; 0 it is not, or why it is lost */
};

#define TQI_LOST_DESTROYED 1u /* on request, before the unlink */
#define TQI_LOST_REMOVED 2u   /* its file was found without a name */

/* Directory entry of one table. Journalled; read by observers. */
struct tqi_table {
	uint32_t count; /* records ever made, index 0 (= none) included */
	uint32_t free;	/* newest free record; 0 none */
	uint32_t live;	/* records in use */
	uint32_t spans; /* spans in its directory */
};

/*
 * One entry of the undo journal: the old value of a field, before the store.
 * where = offset << 8 | code, see shm/undo.h.
 */
struct tqi_undo {
	uint64_t where;
	uint64_t old;
};

/*
 * A thing that a process has taken out between two holds.  Journalled.  When its
 * owner has died, whoever needs room undoes it (shm/inflight.c).
 */
struct tqi_inflight {
	uint32_t kind; /* enum tqi_inflight_kind */
	uint32_t first;
	uint32_t count;
	uint32_t generation; /* +1 at each use, so that a stale token is noticed */
	struct tqi_ident owner;
};

/* Sleepers that have something in common (shm/wait.h). Journalled. */
struct tqi_waiter_list {
	uint32_t oldest;
	uint32_t newest;
};

/* What a span holds. Journalled. 16 bytes. */
struct tqi_span {
	uint8_t use;	/* enum tqi_span_use */
	uint8_t class_; /* of its blocks */
	uint16_t used;	/* blocks in use */
	uint16_t bump;	/* blocks ever handed out */
	uint16_t free;	/* newest free block + 1; 0 none */
	uint32_t prev;	/* spans of the class with room */
	uint32_t next;	/* or, first span of a run: its length */
};

/*
 * State of the storage itself.
 *
 *  field            written by                 under
 *  lock             glibc, kernel, lock.c      itself
 *  holder_*         the holder, after taking   the lock; left stale by unlock
 *  version          the holder: odd inside a   the lock; read by observers
 *                   transaction
 *  undo             TQI_SET, commit, rollback  the lock; read by observers
 *  closed, undone   commit, rollback, as they  the lock; read by observers
 *                   begin                      (client/observe/moment.h)
 *  ring_shown       commit, after it           the lock; read by observers (shm/ring.h)
 *  the rest         transactions               the lock, journalled
 *
 * Crash: the journal holds the old values; the next owner rolls back.  version
 * stays odd until then, which tells observers.
 */
struct tqi_core {
	pthread_mutex_t lock; /* robust, process-shared; at offset 0 of the core page */
	struct tqi_word32 holder_tid; /* 0 while the other two change */
	struct tqi_word32 holder_pid;
	struct tqi_word64 holder_start; /* start time of that thread */

	_Alignas(64) struct tqi_word64 version;
	struct tqi_word64 rollbacks; /* +1 by each rescuer, not journalled: a statistic */

	/*
	 * Length of the journal, stored as one word: 0 while it is empty; else the entries
	 * that count, their number once more, and the low half of the version under which
	 * they were written (shm/undo.h).
	 */
	_Alignas(64) union {
		uint64_t undo;
		uint16_t undo_count;
	};
	uint64_t mended; /* +1 when a repair has changed directories; plain store under the lock */
	uint64_t ring_head; /* entries ever written */
	struct tqi_word64 ring_shown; /* of them committed, at least */
	struct tqi_word64 closed; /* version whose journal takes no more entries */
	struct tqi_word64 undone; /* rollbacks begun, by rescuers and by aborts */

	_Alignas(64) uint64_t last_now_ns; /* time never goes back inside the segment */
	uint32_t waiter_oldest;		   /* of the chain: slots in use, as they were taken */
	uint32_t waiter_newest;
	uint32_t waiter_count;	   /* listed */
	uint32_t waiter_coming;			/* waited for work when popped, not back */
	uint32_t waiter_for_work;  /* listed and waiting for work */
	uint32_t spans_free;	   /* reserved and unused */
	uint32_t spans_hint;	   /* word of the span map where a search begins */
	uint32_t extents_reserved; /* extents with memory behind them */
	uint32_t class_head[TQI_SMALL_CLASSES]; /* span of that class with room; 0 none */

	struct tqi_table tables[TQI_TABLES_MAX];
	struct tqi_inflight inflight[TQI_INFLIGHT_MAX];
	uint64_t waiter_turn; /* of the last one that was listed */
	struct tqi_waiter_list waiter_lists[TQI_WAITER_LISTS];
	struct tqi_waiter_list waiter_transit; /* popped, their owners not yet back */
	uint32_t waiter_keepers[TQI_KEEPERS];  /* listed ones; 0 none (shm/domain.h) */
	uint32_t waiter_reserved;
	uint64_t waiter_domains_in_use[TQI_DOMAIN_LISTS / 64]; /* bit per list that has sleepers */
	struct tqi_waiter_list waiter_domains[TQI_DOMAIN_LISTS];
};

/* Extent states, one byte each. */
enum tqi_extent_state {
	TQI_EXTENT_HOLE = 0,  /* no memory */
	TQI_EXTENT_MOVING = 1, /* its owner is in fallocate() or punching; see inflight */
	TQI_EXTENT_HERE = 2,  /* memory reserved */
};

enum tqi_span_use {
	TQI_SPAN_FREE = 0,
	TQI_SPAN_FIXED = 1, /* the fixed part */
	TQI_SPAN_TABLE = 2,
	TQI_SPAN_BLOCKS = 3, /* carved into blocks of one class */
	TQI_SPAN_RUN = 4,    /* first span of a large block */
	TQI_SPAN_TAIL = 5,   /* its others */
};

/* Where everything is; private to each process, computed, never read from the segment. */
struct tqi_table_geometry {
	uint64_t directory; /* offset of its array of span numbers */
	uint32_t record_bytes;
	uint32_t shift; /* log2 of records per span */
	uint32_t max;	/* records at most, index 0 included */
	uint32_t reserved0;
};

struct tqi_geometry {
	uint64_t max_bytes;
	uint64_t fixed_bytes; /* rounded up to extents */
	uint64_t core;	      /* offsets */
	uint64_t journal;
	uint64_t extents;  /* one state byte each */
	uint64_t span_map; /* one bit a span: reserved and free */
	uint64_t spans;	   /* struct tqi_span each */
	uint64_t scratch;  /* where references that are out of range point */
	uint64_t root;
	uint64_t ring;
	uint32_t ring_slots; /* 0 there is none */
	uint32_t reserved0;
	uint32_t extent_count;
	uint32_t span_count;
	struct tqi_table_geometry tables[TQI_TABLES_MAX];
	uint64_t positions[TQI_FAMILIES_MAX]; /* directories of the position arrays */
	uint32_t positions_max[TQI_FAMILIES_MAX]; /* records of the family's table */
};

#define TQI_POSITIONS_SHIFT 14 /* uint32_t positions per span: 16,384 */

/* What the creator chose, and the header says. */
struct tqi_sizes {
	uint64_t max_bytes;
	uint64_t tasks_max;
	uint64_t ring_entries;
};

/* Compute the map.  -EINVAL when a size is out of range, or max_bytes too small for it. */
int tqi_geometry_compute(const struct tqi_schema *schema, const struct tqi_sizes *sizes,
			 struct tqi_geometry *ret_geometry);

/* Hash of everything two builds must agree on. */
uint64_t tqi_fingerprint(const struct tqi_schema *schema);
uint64_t tqi_hash(uint64_t hash, uint64_t value);

#endif
