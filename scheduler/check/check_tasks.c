/* SPDX-License-Identifier: MIT */
/* Task records: fields, blocks, and what they add up to. */
#include "scheduler/check/check_state.h"
#include "scheduler/graph/inherit.h"
#include "scheduler/order/policy.h"
#include "scheduler/record/task_record.h"

static void check_bytes(struct tqi_check *c, uint32_t index, uint32_t block, uint64_t bytes,
			const char *field)
{
	if (block)
		tqi_check_block(c, block, bytes, "task", index, field);
	else if (bytes)
		tqi_check_fault(c, "task %u: %s: %llu bytes without a block", index, field,
				(unsigned long long)bytes);
}

static void check_extra(struct tqi_check *c, uint32_t index, const struct tqi_task *t)
{
	uint64_t deadline = tqi_check_deadline(c, t);

	if (deadline > INT64_MAX && deadline != UINT64_MAX)
		tqi_check_fault(c, "task %u: deadline %llu", index, (unsigned long long)deadline);
	if (tqi_check_at(c, t) > INT64_MAX)
		tqi_check_fault(c, "task %u: appointment %llu", index,
				(unsigned long long)tqi_check_at(c, t));
	if ((t->flags & TQI_TASK_LATE) && deadline == UINT64_MAX)
		tqi_check_fault(c, "task %u: late without a deadline", index);
}

/* HY-1, HY-2. */
static void check_outputs(struct tqi_check *c, uint32_t index, const struct tqi_task *t)
{
	const struct tqi_history *history = tqi_unit(c->tx, t->history);
	const uint32_t newest = (t->history_count - 1u) % TQ_HISTORY_MAX;
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < TQ_HISTORY_MAX; i++) {
		const struct tqi_earlier *output = &history->outputs[i];

		check_bytes(c, index, output->block, output->bytes, "output of an attempt");
		bytes += output->bytes;
	}
	if (bytes > TQI_EARLIER_BYTES)
		tqi_check_fault(c, "task %u: %llu bytes of earlier attempts", index,
				(unsigned long long)bytes);
	if (history->outputs[newest].block)
		tqi_check_fault(c, "task %u: its newest attempt has two outputs", index);
}

static void check_history(struct tqi_check *c, uint32_t index, const struct tqi_task *t)
{
	if (t->history &&
	    tqi_check_block(c, t->history, sizeof(struct tqi_history), "task", index, "history"))
		check_outputs(c, index, t);
	if (t->history_count >= 2 * TQ_HISTORY_MAX)
		tqi_check_fault(c, "task %u: history_count is %u", index, t->history_count);
}

static void check_blocks(struct tqi_check *c, uint32_t index, const struct tqi_task *t)
{
	uint64_t bytes = (uint64_t)t->payload_bytes + t->label_bytes;

	if (t->flags & TQI_TASK_EXTRA)
		bytes = tqi_extra_at(t->payload_bytes, t->label_bytes) + sizeof(struct tqi_extra);
	check_bytes(c, index, t->payload, bytes, "payload");
	check_bytes(c, index, t->result, t->result_bytes, "result");
	check_bytes(c, index, t->error, t->error_bytes, "error text");
	check_history(c, index, t);
	if (t->kept)
		tqi_check_block(c, t->kept, t->kept_bytes, "task", index, "kept");
}

static bool is_waiting(uint32_t state)
{
	return state == TQ_BLOCKED || state == TQ_DELAYED || state == TQ_READY;
}

static void count(struct tqi_check *c, const struct tqi_task *t)
{
	const struct tqi_queue *queue = tqi_check_record(c, TQI_QUEUES, t->queue);

	c->unfinished += !tqi_state_is_final(t->state);
	c->appointments += !tqi_state_is_final(t->state) && tqi_check_at(c, t);
	c->running += t->state == TQ_RUNNING;
	c->ready += t->state == TQ_READY && !(t->flags & (TQI_TASK_HELD | TQI_TASK_ASSIGNED));
	c->due += !!(t->flags & TQI_TASK_DUE);
	c->listed += !!(t->flags & TQI_TASK_LISTED);
	c->telling += !!(t->flags & TQI_TASK_TELLING);
	c->waiting[t->queue] += is_waiting(t->state) && t->wait_sequence >= queue->purge_before;
}

/* RC-13. */
static bool check_stream(struct tqi_check *c, uint32_t index, const struct tqi_task *t)
{
	uint32_t s = tqi_check_stream_of(c, t->queue, t->kind);

	c->contests[s].held += t->state == TQ_READY && t->flags & TQI_TASK_HELD; /* of none: 0 */
	if (s)
		c->depth[s][tqi_check_gauge(c, t)]++;
	else
		tqi_check_fault(c, "task %u: no stream of queue %u and kind %u", index, t->queue,
				t->kind);
	return s;
}

/* Lane, class, queue and kind belong together. */
static const struct tqi_lane *check_place(struct tqi_check *c, uint32_t index,
					  const struct tqi_task *t)
{
	const struct tqi_lane *lane = tqi_check_record_in_use(c, TQI_LANES, t->lane);
	const struct tqi_class *class = lane ? tqi_check_record_in_use(c, TQI_CLASSES, lane->class_)
					     : NULL;

	if (!class || lane->is_parking || !tqi_check_record_in_use(c, TQI_QUEUES, t->queue) ||
	    class->queue != t->queue || class->kind != t->kind) {
		tqi_check_fault(c, "task %u: lane %u is not of queue %u and kind %u", index,
				t->lane, t->queue, t->kind);
		return NULL;
	}
	return lane;
}

/* PO-1, PO-2. */
static void check_order(struct tqi_check *c, uint32_t index, const struct tqi_task *t,
			const struct tqi_lane *lane)
{
	const struct tqi_class *class = tqi_check_record(c, TQI_CLASSES, lane->class_);
	const struct tqi_queue *queue = tqi_check_record(c, TQI_QUEUES, t->queue);
	const struct tqi_extra *extra = tqi_check_extra(c, t);
	const struct tqi_worth worth = tqi_worth_in(t, extra);

	if (extra && extra->stale & TQI_STALE_PLACE) /* IN-5 */
		return;
	if (class->era == queue->era && class->band != tqi_policy_band(queue, worth.priority))
		tqi_check_fault(c, "task %u: priority %d is not of band %u", index, worth.priority,
				class->band);
	if (t->state == TQ_READY && (t->flags & TQI_TASK_SERVED))
		tqi_check_fault(c, "task %u: ready, and names a server", index);
	if (t->state == TQ_READY && t->key != tqi_policy_key_in(class, t->ready_ns, &worth))
		tqi_check_fault(c, "task %u: its key is not that of its %s", index,
				class->edf ? "deadline" : "priority and age");
}

/* RC-2; the attempt's own side is checked with its worker. */
static void check_attempt(struct tqi_check *c, uint32_t index, const struct tqi_task *t)
{
	if ((t->state == TQ_RUNNING) != (t->attempt != 0)) {
		tqi_check_fault(c, "task %u: %s, attempt is %u", index,
				t->state == TQ_RUNNING ? "running" : "not running", t->attempt);
		return;
	}
	if (!t->attempt)
		return;
	const struct tqi_attempt *a = tqi_check_record_in_use(c, TQI_ATTEMPTS, t->attempt);

	if (!a || a->task != index || a->epoch != t->epoch ||
	    a->id != tqi_id_make(index, t->generation))
		tqi_check_fault(c, "task %u: attempt %u is not its own", index, t->attempt);
}

static void check_flags(struct tqi_check *c, uint32_t index, const struct tqi_task *t)
{
	bool final = tqi_state_is_final(t->state), due = t->flags & TQI_TASK_DUE;

	bool deadline = !final && !(t->flags & TQI_TASK_LATE) &&
			tqi_check_deadline(c, t) != UINT64_MAX && tqi_check_gauge(c, t) != TQ_FREE;
	bool total = !final && t->state != TQ_RUNNING && tqi_task_total_end(t) != UINT64_MAX;

	bool wall = t->state == TQ_DELAYED && t->due_ns == UINT64_MAX;

	if (wall != !!(t->flags & TQI_TASK_AT) || (wall && !tqi_check_at(c, t))) /* RC-4 */
		tqi_check_fault(c, "task %u: %s for the wall clock", index,
				wall ? "must wait, but does not," : "waits, but need not,");
	if (((t->state == TQ_DELAYED && !wall) || deadline || total) && !due) /* RC-4 */
		tqi_check_fault(c, "task %u: %s, but not in the due heap", index,
				deadline ? "has a deadline"
				: total	 ? "has a time-out in all"
					 : "delayed");
	if (due && t->state != TQ_DELAYED && t->state != TQ_RUNNING && !deadline && !total)
		tqi_check_fault(c, "task %u: due in state %u", index, t->state);
	bool gate = t->state == TQ_BLOCKED && (t->flags & TQI_TASK_TELLING); /* ED-3 */

	if (!final && !gate && (t->flags & (TQI_TASK_LISTED | TQI_TASK_TELLING)))
		tqi_check_fault(c, "task %u: on a list of finished ones in state %u", index,
				t->state);
	bool pinned = t->pins || (t->flags & (TQI_TASK_KEEP | TQI_TASK_TELLING));

	if (final && pinned == !!(t->flags & TQI_TASK_LISTED)) /* RC-5 */
		tqi_check_fault(c, "task %u: %s the finished list", index,
				pinned ? "pinned, but on" : "missing from");
}

static void check_numbers(struct tqi_check *c, uint32_t index, const struct tqi_task *t)
{
	const struct tqi_root *root = tqi_root(c->tx);

	if (t->generation == 0 || t->generation >= TQI_GENERATION_MAX)
		tqi_check_fault(c, "task %u: generation %llu", index,
				(unsigned long long)t->generation);
	if (t->sequence >= root->sequence || t->wait_sequence > root->sequence)
		tqi_check_fault(c, "task %u: sequence %llu is still to come", index,
				(unsigned long long)t->sequence);
	tqi_check_equal(c, "task", index, "epoch", t->epoch, t->attempts); /* RC-6 */
}

static void check_task(struct tqi_check *c, uint32_t index)
{
	const struct tqi_task *t = tqi_check_record(c, TQI_TASKS, index);
	bool free = c->marks[TQI_TASKS][index] & TQI_SEEN_FREE;

	if (!t)
		return;
	if (t->state == TQ_FREE) {
		if (!free && t->generation < TQI_GENERATION_MAX)
			tqi_check_fault(c, "task %u: free, but not on the free list", index);
		return;
	}
	if (free || t->state >= TQ_STATE_COUNT || t->cause > TQ_CAUSE_RELEASED) {
		tqi_check_fault(c, "task %u: state %u, cause %u%s", index, t->state, t->cause,
				free ? ", on the free list" : "");
		return;
	}
	bool final = tqi_state_is_final(t->state);
	const struct tqi_lane *lane = final ? NULL : check_place(c, index, t);

	if (check_stream(c, index, t))
		count(c, t);
	if (lane) {
		c->members[t->lane]++;
		check_order(c, index, t, lane);
	}
	check_attempt(c, index, t);
	check_flags(c, index, t);
	check_extra(c, index, t);
	check_numbers(c, index, t);
	check_blocks(c, index, t);
	tqi_check_task_after(c, index, t);
	tqi_check_task_key(c, index, t);
	tqi_check_task_group(c, index, t);
	tqi_check_task_limits(c, index, t, lane);
	tqi_check_task_tenant(c, index, t,
			      lane ? tqi_check_record_in_use(c, TQI_CLASSES, lane->class_) : NULL);
}

void tqi_check_tasks(struct tqi_check *c)
{
	for (uint32_t i = 1; i < c->count[TQI_TASKS]; i++)
		check_task(c, i);
}
