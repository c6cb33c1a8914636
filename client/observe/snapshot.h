/* SPDX-License-Identifier: MIT */
/*
 * Reading a segment without the lock and without touching it through the mapping:
 * by pread, so that a truncated file or a hole cannot raise SIGBUS, and nobody is
 * disturbed.
 *
 * What a copy means, and for how long, has one rule (client/observe/moment.h).
 *
 * The segment may be a view's (client/observe/view.h), but for tqi_peek_run(): then copies come
 * from there, all of one state, and whatever it may not have is not there.
 */
#ifndef TQI_CLIENT_OBSERVE_SNAPSHOT_H
#define TQI_CLIENT_OBSERVE_SNAPSHOT_H

#include "client/core/handle.h"
#include "client/observe/moment.h"

/* Zeroed private memory, had where it is touched: for a copy laid out like a segment; NULL none. */
void *tqi_map_private(uint64_t bytes);

/* Copy of the core page and of the root. */
int tqi_peek_core(const struct tqi_segment *seg, struct tqi_core *ret_core);
int tqi_peek_root(const struct tqi_segment *seg, struct tqi_root *ret_root);
/* One above a table's last record, and nothing else: a copy of the core takes its busiest
 * cache lines away from whoever works.  0 when it is not there. */
int tqi_peek_count(const struct tqi_segment *seg, uint32_t table, uint32_t *ret_count);
/* Offset of a record; 0 none. */
uint64_t tqi_record_offset(const struct tqi_segment *seg, uint32_t table, uint32_t index);
/* One record, whole, as of some committed state. */
int tqi_peek_record(const struct tqi_segment *seg, uint32_t table, uint32_t index, void *record);
/* The same, to go on to what it refers to. */
int tqi_peek_record_at(const struct tqi_segment *seg, uint32_t table, uint32_t index, void *record,
		       struct tqi_moment *ret_moment);
/*
 * Records that lie side by side, from `index` (above 0) on, in one copy: how many, 1 to
 * `room`.  Those of a run without memory are all zero.
 */
uint32_t tqi_peek_run(const struct tqi_segment *seg, uint32_t table, uint32_t index, uint32_t room,
		      void *records);
/* A task that has this id: 0, TQ_EGONE, -ENOENT. */
int tqi_peek_task(const struct tqi_segment *seg, uint64_t id, struct tqi_task *ret_task);
/*
 * The same of one among many: a look at a group whose builder was killed inside a
 * transaction is dear, so the one before says how it stood.
 */
struct tqi_seen_group {
	uint32_t group; /* 0 none yet */
	bool is_building;
};
int tqi_peek_task_in(const struct tqi_segment *seg, uint64_t id, struct tqi_seen_group *seen,
		     struct tqi_task *ret_task);
/* A member of a graph that has not been published: it does not exist yet. */
bool tqi_task_is_hidden(const struct tqi_segment *seg, const struct tqi_task *task,
			struct tqi_seen_group *seen);
/* Each attempt under way, and its task; false: that is enough. */
typedef bool tqi_running_fn(void *ctx, const struct tqi_attempt *attempt,
			    const struct tqi_task *task);
void tqi_peek_running(const struct tqi_segment *seg, tqi_running_fn *visit, void *ctx);
/* A task's rare settings; false: it has none. */
bool tqi_peek_extra(const struct tqi_segment *seg, const struct tqi_task *task,
		    struct tqi_extra *ret_extra);
/* Of a copied worker: whether it is dead, buried or not; whether it may claim at all. */
bool tqi_worker_seems_dead(const struct tqi_worker *worker);
bool tqi_worker_may_claim(const struct tqi_worker *worker);
/* A task's label, "" it has none. */
void tqi_peek_label(const struct tqi_segment *seg, const struct tqi_task *task,
		    char label[TQ_LABEL_MAX + 1]);
/* Bytes of a block that no record owns, or whose owner does not say when it changes. */
int tqi_peek_block(const struct tqi_segment *seg, uint32_t block, uint64_t at, void *buf,
		   uint64_t bytes);
/* Bytes of a block of a task that was copied, as of when it was; -EAGAIN: copy it again. */
int tqi_peek_owned(const struct tqi_segment *seg, const struct tqi_task *owner, uint32_t block,
		   uint64_t at, void *buf, uint64_t bytes);
/* The same of another record's. */
int tqi_peek_block_at(const struct tqi_segment *seg, const struct tqi_moment *moment,
		      uint32_t block, uint64_t at, void *buf, uint64_t bytes);
/* Whether a task's record still is what was copied. */
bool tqi_task_unchanged(const struct tqi_segment *seg, uint32_t index, const struct tqi_task *copy);
/* A queue by its name; 0 none.  The search begins at `first`, and comes round. */
uint32_t tqi_peek_queue_find_from(const struct tqi_segment *seg, uint32_t first, const char *name);
uint32_t tqi_peek_queue_find(const struct tqi_segment *seg, const char *name);
/* Name of a queue or kind; "" unknown. */
void tqi_peek_queue_name(const struct tqi_segment *seg, uint32_t q, char name[TQ_NAME_MAX + 1]);
void tqi_peek_kind_name(const struct tqi_segment *seg, uint32_t k, char name[TQ_NAME_MAX + 1]);

#endif
