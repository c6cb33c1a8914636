/* SPDX-License-Identifier: MIT */
/* Copies of records. */
#include "client/observe/snapshot.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define TRIES 64
/*
 * In the stamp of a copy: it is from before a transaction under way that touches the task,
 * whose stamp is that transaction's already (RD-1).
 */
#define STAMP_INSIDE (1ull << 63)

void *tqi_map_private(uint64_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

int tqi_peek_core(const struct tqi_segment *seg, struct tqi_core *ret_core)
{
	return tqi_peek(seg, seg->geometry.core, ret_core, sizeof(*ret_core));
}

int tqi_peek_root(const struct tqi_segment *seg, struct tqi_root *ret_root)
{
	return tqi_peek(seg, seg->geometry.root, ret_root, sizeof(*ret_root));
}

/* Whose geometry says how many there may be. */
static const struct tqi_segment *whole(const struct tqi_segment *seg)
{
	return seg->overlay ? seg->overlay->of : seg;
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
	else if (*ret_count > whole(seg)->geometry.tables[table].max)
		*ret_count = whole(seg)->geometry.tables[table].max;
	return r;
}

uint64_t tqi_record_offset(const struct tqi_segment *seg, uint32_t table, uint32_t index)
{
	const struct tqi_table_geometry *g = &seg->geometry.tables[table];
	uint64_t offset;
	uint32_t span;

	if (seg->overlay)
		return seg->overlay->record(seg->overlay, table, index, &offset) ? offset : 0;
	if (index == 0 || index >= g->max ||
	    tqi_peek(seg, g->directory + (uint64_t)(index >> g->shift) * sizeof(span), &span,
		     sizeof(span)) < 0 ||
	    span == 0 || span >= seg->geometry.span_count)
		return 0;
	return ((uint64_t)span << TQI_SPAN_SHIFT) +
	       (uint64_t)(index & ((1u << g->shift) - 1)) * g->record_bytes;
}

int tqi_peek_record_at(const struct tqi_segment *seg, uint32_t table, uint32_t index, void *record,
		       struct tqi_moment *ret_moment)
{
	uint64_t offset = tqi_record_offset(seg, table, index);

	if (!offset)
		return -ENOENT;
	return tqi_peek_moment(seg, offset, record, seg->geometry.tables[table].record_bytes,
			       ret_moment);
}

int tqi_peek_record(const struct tqi_segment *seg, uint32_t table, uint32_t index, void *record)
{
	struct tqi_moment moment;

	return tqi_peek_record_at(seg, table, index, record, &moment);
}

uint32_t tqi_peek_run(const struct tqi_segment *seg, uint32_t table, uint32_t index, uint32_t room,
		      void *records)
{
	const struct tqi_table_geometry *g = &seg->geometry.tables[table];
	uint32_t beside = (1u << g->shift) - (index & ((1u << g->shift) - 1));
	uint32_t n = room < beside ? room : beside;
	uint64_t offset = tqi_record_offset(seg, table, index);
	struct tqi_moment moment;

	if (offset &&
	    tqi_peek_moment(seg, offset, records, (uint64_t)n * g->record_bytes, &moment) == 0)
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
	struct tqi_moment moment;
	uint64_t version, stamp;
	int r;

	if (seg->overlay)
		return tqi_peek(seg, offset, ret_task, sizeof(*ret_task));
	for (int i = 0; i < TRIES; i++) {
		if ((r = tqi_peek_version(seg, &version)) < 0 ||
		    (r = tqi_peek(seg, offset, ret_task, sizeof(*ret_task))) < 0 ||
		    (r = tqi_peek(seg, offset + offsetof(struct tqi_task, stamp), &stamp,
				  sizeof(stamp))) < 0)
			return r;
		if (stamp == ret_task->stamp && stamp < version)
			return 0;
	}
	r = tqi_peek_moment(seg, offset, ret_task, sizeof(*ret_task), &moment);
	if (moment.inside == TQI_MOMENT_MIXED ||
	    (moment.inside && ret_task->stamp >= moment.inside))
		ret_task->stamp = moment.inside | STAMP_INSIDE;
	if (r == 0 && !moment.inside && tqi_peek_version(seg, &version) == 0 &&
	    ret_task->stamp > version)
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
	if (ret_task->state >= TQ_STATE_COUNT)
		return TQ_ECORRUPT;
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

	if (bytes &&
	    tqi_peek_owned(seg, task, task->payload, task->payload_bytes, label, bytes) < 0)
		bytes = 0;
	label[bytes] = '\0';
}

/* Of a view, which may have no more. */
static bool has_part(const struct tqi_segment *seg, uint32_t block, uint64_t at, uint64_t bytes)
{
	return !seg->overlay || !bytes ||
	       seg->overlay->block(seg->overlay, (uint64_t)block << TQI_UNIT_SHIFT, at, bytes);
}

int tqi_peek_block_at(const struct tqi_segment *seg, const struct tqi_moment *moment,
		      uint32_t block, uint64_t at, void *buf, uint64_t bytes)
{
	uint64_t offset = ((uint64_t)block << TQI_UNIT_SHIFT) + at;

	if (block == 0 || offset + bytes > seg->geometry.max_bytes ||
	    !has_part(seg, block, at, bytes))
		return TQ_ECORRUPT;
	return tqi_peek_again(seg, moment, offset, buf, bytes);
}

int tqi_peek_block(const struct tqi_segment *seg, uint32_t block, uint64_t at, void *buf,
		   uint64_t bytes)
{
	return tqi_peek_block_at(seg, &(struct tqi_moment){ 0 }, block, at, buf, bytes);
}

int tqi_peek_owned(const struct tqi_segment *seg, const struct tqi_task *owner, uint32_t block,
		   uint64_t at, void *buf, uint64_t bytes)
{
	struct tqi_moment moment = { .inside = 0 };

	if (owner->stamp & STAMP_INSIDE)
		moment.inside = owner->stamp & ~STAMP_INSIDE;
	return tqi_peek_block_at(seg, &moment, block, at, buf, bytes);
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

bool tqi_peek_extra(const struct tqi_segment *seg, const struct tqi_task *task,
		    struct tqi_extra *ret_extra)
{
	return (task->flags & TQI_TASK_EXTRA) &&
	       tqi_peek_owned(seg, task, task->payload,
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
	struct tqi_moment moment;

	name[0] = '\0';
	if (offset && tqi_peek_moment(seg, offset + at, name, TQ_NAME_MAX + 1, &moment) < 0)
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
