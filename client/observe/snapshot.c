/* SPDX-License-Identifier: MIT */
/* Copies of records. */
#include "client/observe/snapshot.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define TRIES 64
#define STILL_MAX                                                                                  \
	3 /* looks at one transaction under way: then its journal is applied to the copy */
#define MOVING_MAX 8 /* copies of what others keep changing: then the last one will do */
#define INSIDE_ANY UINT64_MAX
/*
 * In the stamp of a copy: it is from before a transaction under way that touches the task,
 * whose stamp is that transaction's already.  Such a copy holds as long as that goes on, not
 * as long as the stamp stays: what the task had may be another's with the commit.
 */
#define STAMP_INSIDE (1ull << 63)

int tqi_peek(const struct tqi_segment *seg, uint64_t offset, void *buf, uint64_t bytes)
{
	unsigned char *to = buf;

	while (bytes > 0) {
		ssize_t n = pread(seg->fd, to, bytes, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return TQ_ECORRUPT;
		to += n;
		offset += (uint64_t)n;
		bytes -= (uint64_t)n;
	}
	return 0;
}

int tqi_peek_core(const struct tqi_segment *seg, struct tqi_core *ret_core)
{
	return tqi_peek(seg, seg->geometry.core, ret_core, sizeof(*ret_core));
}

int tqi_peek_root(const struct tqi_segment *seg, struct tqi_root *ret_root)
{
	return tqi_peek(seg, seg->geometry.root, ret_root, sizeof(*ret_root));
}

int tqi_peek_count(const struct tqi_segment *seg, uint32_t table, uint32_t *ret_count)
{
	uint64_t offset = seg->geometry.core + offsetof(struct tqi_core, tables);
	int r;

	offset += table * sizeof(struct tqi_table) + offsetof(struct tqi_table, count);
	r = tqi_peek(seg, offset, ret_count, sizeof(*ret_count));
	if (r < 0)
		*ret_count = 0;
	/* Damaged: nobody waits for 2^32 rows. */
	else if (*ret_count > seg->geometry.tables[table].max)
		*ret_count = seg->geometry.tables[table].max;
	return r;
}

int tqi_peek_version(const struct tqi_segment *seg, uint64_t *ret_version)
{
	uint64_t offset = seg->geometry.core + offsetof(struct tqi_core, version);

	return tqi_peek(seg, offset, ret_version, sizeof(*ret_version));
}

uint64_t tqi_record_offset(const struct tqi_segment *seg, uint32_t table, uint32_t index)
{
	const struct tqi_table_geometry *g = &seg->geometry.tables[table];
	uint32_t span;

	if (index == 0 || index >= g->max ||
	    tqi_peek(seg, g->directory + (uint64_t)(index >> g->shift) * sizeof(span), &span,
		     sizeof(span)) < 0 ||
	    span == 0 || span >= seg->geometry.span_count)
		return 0;
	return ((uint64_t)span << TQI_SPAN_SHIFT) +
	       (uint64_t)(index & ((1u << g->shift) - 1)) * g->record_bytes;
}

/* Put the old value of one journal entry into the copy of [offset, offset + bytes). */
static void undo_in_copy(const struct tqi_undo *u, uint64_t offset, unsigned char *copy,
			 uint64_t bytes)
{
	static const uint8_t widths[] = { 1, 2, 4, 8 };
	uint32_t code = u->where & 0xff;
	uint64_t at = u->where >> 8, width = code <= TQI_UNDO_64 ? widths[code] : 4;

	if (code >= TQI_UNDO_TAG && code < TQI_UNDO_LENGTH)
		return; /* heap entries are in no record but a heap's root */
	if (at < offset || at + width > offset + bytes)
		return;
	memcpy(copy + (at - offset), &u->old, width);
}

/* TX-7: what does not belong together was copied while it changed, or is damaged. */
static int judge(const struct tqi_segment *seg, const struct tqi_undo *journal,
		 const struct tqi_core *core)
{
	struct tqi_core later;

	if (tqi_undo_is_sane(seg, journal, core))
		return 0;
	int r = tqi_peek_core(seg, &later);

	if (r < 0)
		return r;
	return later.undo == core->undo && tqi_load_relaxed64(&later.version) ==
						   tqi_load_relaxed64(&core->version)
		       ? TQ_ECORRUPT
		       : -EAGAIN;
}

int tqi_peek_undone(const struct tqi_segment *seg, uint64_t offset, void *copy, uint64_t bytes)
{
	struct tqi_undo journal[TQI_JOURNAL_MAX];
	struct tqi_core core;
	int r = tqi_peek_core(seg, &core);

	if (r == 0 && core.undo_count <= TQI_JOURNAL_MAX)
		r = tqi_peek(seg, seg->geometry.journal, journal,
			     core.undo_count * sizeof(journal[0]));
	if (r == 0)
		r = judge(seg, journal, &core);
	for (uint32_t n = core.undo_count; r == 0 && n > 0; n--)
		undo_in_copy(&journal[n - 1], offset, copy, bytes);
	return r;
}

/*
 * A copy as of before the transaction of this version, whose writer may be stopped or dead:
 * its journal repairs it.  -EAGAIN: meanwhile it went on to its end, or is being undone.
 */
static int peek_before(const struct tqi_segment *seg, uint64_t version, uint64_t offset, void *copy,
		       uint64_t bytes)
{
	struct tqi_core first, last;
	int r;

	if ((r = tqi_peek_core(seg, &first)) < 0 || (r = tqi_peek(seg, offset, copy, bytes)) < 0 ||
	    (r = tqi_peek_undone(seg, offset, copy, bytes)) < 0 ||
	    (r = tqi_peek_core(seg, &last)) < 0)
		return r;
	return tqi_load_relaxed64(&last.version) == version &&
			       last.undo_count >= first.undo_count &&
			       tqi_load_relaxed32(&last.holder_tid) ==
				       tqi_load_relaxed32(&first.holder_tid)
		       ? 0
		       : -EAGAIN;
}

/*
 * Copy while nothing is being committed.  *ret_inside: 0 that was so; else the version of
 * the transaction under way that the copy is from before; INSIDE_ANY: they followed each
 * other so fast that it may be of several moments.
 */
static int peek_stable(const struct tqi_segment *seg, uint64_t offset, void *copy, uint64_t bytes,
		       uint64_t *ret_inside)
{
	uint64_t before, after, last = 0;
	int r, still = 0;

	*ret_inside = INSIDE_ANY;
	for (int i = 0; i < MOVING_MAX && still < STILL_MAX; i++, last = after) {
		if ((r = tqi_peek_version(seg, &before)) < 0 ||
		    (r = tqi_peek(seg, offset, copy, bytes)) < 0 ||
		    (r = tqi_peek_version(seg, &after)) < 0)
			return r;
		if (before == after && !(before & 1)) {
			*ret_inside = 0;
			return 0;
		}
		still = before == after && (!last || last == before) ? still + 1 : 0;
	}
	r = still ? peek_before(seg, last, offset, copy, bytes) : -EAGAIN;
	if (r == 0)
		*ret_inside = last;
	return r == -EAGAIN ? 0 : r;
}

int tqi_peek_record(const struct tqi_segment *seg, uint32_t table, uint32_t index, void *record)
{
	uint64_t offset = tqi_record_offset(seg, table, index), inside;

	if (!offset)
		return -ENOENT;
	return peek_stable(seg, offset, record, seg->geometry.tables[table].record_bytes, &inside);
}

uint32_t tqi_peek_run(const struct tqi_segment *seg, uint32_t table, uint32_t index, uint32_t room,
		      void *records)
{
	const struct tqi_table_geometry *g = &seg->geometry.tables[table];
	uint32_t beside = (1u << g->shift) - (index & ((1u << g->shift) - 1));
	uint32_t n = room < beside ? room : beside;
	uint64_t offset = tqi_record_offset(seg, table, index), inside;

	if (offset &&
	    peek_stable(seg, offset, records, (uint64_t)n * g->record_bytes, &inside) == 0)
		return n;
	memset(records, 0, (size_t)n * g->record_bytes);
	return n;
}

/*
 * A task's stamp is the version of the last transaction that touched it, stored
 * before its other fields change.  The copy is good when the stamp is the same
 * before and after, and older than any transaction under way.
 */
static int peek_stamped(const struct tqi_segment *seg, uint64_t offset, struct tqi_task *ret_task)
{
	uint64_t version, stamp, inside;
	int r;

	for (int i = 0; i < TRIES; i++) {
		if ((r = tqi_peek_version(seg, &version)) < 0 ||
		    (r = tqi_peek(seg, offset, ret_task, sizeof(*ret_task))) < 0 ||
		    (r = tqi_peek(seg, offset + offsetof(struct tqi_task, stamp), &stamp,
				  sizeof(stamp))) < 0)
			return r;
		if (stamp == ret_task->stamp && stamp < version)
			return 0;
	}
	r = peek_stable(seg, offset, ret_task, sizeof(*ret_task), &inside);
	if (inside && (inside == INSIDE_ANY || ret_task->stamp >= inside))
		ret_task->stamp = inside | STAMP_INSIDE;
	if (r == 0 && !inside && tqi_peek_version(seg, &version) == 0 && ret_task->stamp > version)
		return TQ_ECORRUPT; /* no transaction has been so late */
	return r;
}

bool tqi_task_unchanged(const struct tqi_segment *seg, uint32_t index, const struct tqi_task *copy)
{
	uint64_t offset = tqi_record_offset(seg, TQI_TASKS, index), stamp;

	if (copy->stamp & STAMP_INSIDE)
		return tqi_peek_version(seg, &stamp) == 0 && (stamp | STAMP_INSIDE) == copy->stamp;
	return offset &&
	       tqi_peek(seg, offset + offsetof(struct tqi_task, stamp), &stamp, sizeof(stamp)) ==
		       0 &&
	       stamp == copy->stamp;
}

static bool is_building(const struct tqi_segment *seg, uint32_t index)
{
	struct tqi_group group;

	return tqi_peek_record(seg, TQI_GROUPS, index, &group) == 0 &&
	       group.state == TQI_GROUP_BUILDING;
}

bool tqi_task_is_hidden(const struct tqi_segment *seg, const struct tqi_task *task,
			struct tqi_seen_group *seen)
{
	struct tqi_extra extra;

	if (task->state != TQ_BLOCKED || !tqi_peek_extra(seg, task, &extra) || !extra.shut)
		return false;
	if (seen->group != extra.group)
		*seen = (struct tqi_seen_group){ extra.group, is_building(seg, extra.group) };
	return seen->is_building;
}

int tqi_peek_task(const struct tqi_segment *seg, uint64_t id, struct tqi_task *ret_task)
{
	struct tqi_seen_group seen = { .group = 0 };

	return tqi_peek_task_in(seg, id, &seen, ret_task);
}

int tqi_peek_task_in(const struct tqi_segment *seg, uint64_t id, struct tqi_seen_group *seen,
		     struct tqi_task *ret_task)
{
	uint64_t offset = tqi_record_offset(seg, TQI_TASKS, tqi_id_index(id));
	uint64_t generation = tqi_id_generation(id);

	if (!offset || generation == 0)
		return -ENOENT;
	int r = peek_stamped(seg, offset, ret_task);

	if (r < 0)
		return r;
	if (generation < ret_task->generation)
		return TQ_EGONE;
	return generation == ret_task->generation && ret_task->state != TQ_FREE &&
			       !tqi_task_is_hidden(seg, ret_task, seen)
		       ? 0
		       : -ENOENT;
}

void tqi_peek_label(const struct tqi_segment *seg, const struct tqi_task *task,
		    char label[TQ_LABEL_MAX + 1])
{
	uint32_t bytes = task->label_bytes <= TQ_LABEL_MAX ? task->label_bytes : 0;

	if (bytes && tqi_peek_block(seg, task->payload, task->payload_bytes, label, bytes) < 0)
		bytes = 0;
	label[bytes] = '\0';
}

int tqi_peek_block(const struct tqi_segment *seg, uint32_t block, uint64_t at, void *buf,
		   uint64_t bytes)
{
	uint64_t offset = ((uint64_t)block << TQI_UNIT_SHIFT) + at;

	if (block == 0 || offset + bytes > seg->geometry.max_bytes)
		return TQ_ECORRUPT;
	return tqi_peek(seg, offset, buf, bytes);
}

void tqi_peek_running(const struct tqi_segment *seg, tqi_running_fn *visit, void *ctx)
{
	struct tqi_attempt a;
	struct tqi_task t;
	uint32_t count;

	tqi_peek_count(seg, TQI_ATTEMPTS, &count);
	for (uint32_t n = 1; n < count && n < seg->geometry.tables[TQI_ATTEMPTS].max; n++)
		if (tqi_peek_record(seg, TQI_ATTEMPTS, n, &a) == 0 &&
		    tqi_peek_record(seg, TQI_TASKS, a.task, &t) == 0 && t.state == TQ_RUNNING &&
		    a.id == tqi_id_make(a.task, t.generation) && !visit(ctx, &a, &t))
			return;
}

int tqi_peek_siblings(const struct tqi_segment *seg, const struct tqi_heap *heap, uint32_t place,
		      struct tqi_heap_entry siblings[4])
{
	const uint64_t bytes = 4 * sizeof(siblings[0]);
	uint32_t block, far = (place >> TQI_HEAP_FAR_SHIFT) - 2;

	if (place < TQI_HEAP_NEAR) {
		uint32_t k = tqi_heap_chunk(place);

		return tqi_peek_block(seg, heap->chunks[k],
				      (place - (4ull << k)) * sizeof(siblings[0]), siblings, bytes);
	}
	if (far >= TQI_HEAP_DIRECTORY ||
	    tqi_peek_block(seg, heap->directory, far * sizeof(block), &block, sizeof(block)) < 0)
		return TQ_ECORRUPT;
	return tqi_peek_block(seg, block,
			      (place & ((1u << TQI_HEAP_FAR_SHIFT) - 1)) * sizeof(siblings[0]),
			      siblings, bytes);
}

bool tqi_peek_extra(const struct tqi_segment *seg, const struct tqi_task *task,
		    struct tqi_extra *ret_extra)
{
	return (task->flags & TQI_TASK_EXTRA) &&
	       tqi_peek_block(seg, task->payload,
			      tqi_extra_at(task->payload_bytes, task->label_bytes), ret_extra,
			      sizeof(*ret_extra)) == 0;
}

bool tqi_worker_seems_dead(const struct tqi_worker *worker)
{
	return worker->state == TQI_WORKER_DYING || tqi_mutex_owner_died(&worker->life);
}

bool tqi_worker_may_claim(const struct tqi_worker *worker)
{
	return worker->state == TQI_WORKER_LIVE && !tqi_worker_seems_dead(worker) &&
	       !(worker->flags & (TQI_WORKER_MASTER | TQI_WORKER_STOP));
}

static void peek_name(const struct tqi_segment *seg, uint32_t table, uint32_t index, uint64_t at,
		      char name[TQ_NAME_MAX + 1])
{
	uint64_t offset = tqi_record_offset(seg, table, index);

	name[0] = '\0';
	if (offset && tqi_peek(seg, offset + at, name, TQ_NAME_MAX + 1) < 0)
		name[0] = '\0';
	name[TQ_NAME_MAX] = '\0';
}

void tqi_peek_queue_name(const struct tqi_segment *seg, uint32_t q, char name[TQ_NAME_MAX + 1])
{
	peek_name(seg, TQI_QUEUES, q, offsetof(struct tqi_queue, name), name);
}

void tqi_peek_kind_name(const struct tqi_segment *seg, uint32_t k, char name[TQ_NAME_MAX + 1])
{
	peek_name(seg, TQI_KINDS, k, offsetof(struct tqi_kind, name), name);
}

uint32_t tqi_peek_queue_find_from(const struct tqi_segment *seg, uint32_t first, const char *name)
{
	char candidate[TQ_NAME_MAX + 1];
	uint32_t count;

	tqi_peek_count(seg, TQI_QUEUES, &count);
	for (uint32_t n = 1, q = first; n < count; n++, q++) {
		if (q == 0 || q >= count)
			q = 1;
		tqi_peek_queue_name(seg, q, candidate);
		if (strcmp(candidate, name) == 0)
			return q;
	}
	return 0;
}

uint32_t tqi_peek_queue_find(const struct tqi_segment *seg, const char *name)
{
	return tqi_peek_queue_find_from(seg, 1, name);
}
