/* SPDX-License-Identifier: MIT */
/* What must hold after a rescue. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "client/core/sleeper.h"
#include "client/worker/worker_api.h"
#include "scheduler/check/check.h"
#include "scheduler/limit/limit.h"
#include "scheduler/limit/server.h"
#include "scheduler/worker/command.h"
#include "scheduler/order/ready.h"
#include "scheduler/worker/keepers.h"
#include "shm/domain.h"
#include "shm/inflight.h"
#include "tests/crash/dump.h"
#include "tests/crash/lab.h"
#include "tests/support/trace.h"

#define LATER_NS 10000000000ull /* 10 s: looks, leases and verdicts are over by then */
#define CLAIMS 3
#define NESTED_CHECKED 8 /* of the states inside rescues, one in so many is checked at the end */

/* The rest of a lab's segment is as it was, so only what was written is compared. */
static void verify_exact(struct tqt_lab *lab)
{
	char why[160];

	for (uint32_t i = 0; i < lab->map.count; i++) {
		uint64_t at = (uint64_t)lab->map.pages[i] * TQT_PAGE;

		if (!tqt_image_same_in(&lab->sweep->stable, &lab->seg, at, at + TQT_PAGE, why)) {
			tqt_fault(lab->sweep, lab->level, "not as after the last commit: %s", why);
			return;
		}
	}
}

/* TX-8: wherever the repair before it was killed, one that comes to its end loses nothing. */
static void verify_intact(struct tqt_lab *lab)
{
	char *dump = tqt_dump(lab->tq, lab->sweep->unseen);

	if (strcmp(dump, lab->sweep->intact) != 0) {
		tqt_fault(lab->sweep, lab->level, "the second repair has lost something");
		tqt_dump_differs(dump, lab->sweep->intact);
	}
	free(dump);
}

static void report(void *arg, const char *text)
{
	struct tqt_lab *lab = arg;

	tqt_fault(lab->sweep, lab->level, "check %s: %s", lab->checking, text);
}

static void verify_check(struct tqt_lab *lab, const char *when)
{
	struct tqi_tx tx;

	tqi_tx_view(&tx, &lab->seg);
	tx.now_ns = tx.core->last_now_ns;
	lab->checking = when;
	tqi_check(&tx, lab->scratch, report, lab);
	const uint64_t task = tqt_trace_differs(&tx);

	if (task)
		tqt_fault(lab->sweep, lab->level, "the recorder %s: task %u is not where it says",
			  when, tqi_id_index(task));
	madvise(lab->scratch, lab->scratch_bytes, MADV_DONTNEED); /* zero again */
}

static bool is_alive(const struct tqi_waiter *s)
{
	return !(*(const volatile uint32_t *)(const void *)&s->mutex & 0x40000000u);
}

static bool was_woken(const struct tqt_lab *lab, const struct tqi_waiter *s)
{
	const struct tqt_system *system = lab->sweep->system;
	uint64_t offset = (uint64_t)((const unsigned char *)&s->word - lab->seg.base);

	for (uint32_t i = 0; i < system->woken_count; i++)
		if ((const unsigned char *)system->woken[i] == lab->sweep->map->base + offset)
			return true;
	return system->woken_count == TQT_WOKEN_MAX; /* too many to tell */
}

/* WT-3: whom a commit popped, or gave an earlier time to look, it has woken. */
static void verify_woken(struct tqt_lab *lab, struct tqi_tx *tx, uint32_t w)
{
	const struct tqi_waiter *s = tqi_waiter_at(tx, w);
	uint64_t offset = (uint64_t)((const unsigned char *)s - lab->seg.base);
	const struct tqi_waiter *then =
		(const struct tqi_waiter *)(const void *)(lab->sweep->start.bytes + offset);

	if (offset + sizeof(*s) > lab->sweep->start.size || then->state != TQI_WAITER_LISTED ||
	    s->owner.pid == TQT_PID_VICTIM || !is_alive(s))
		return;
	if (s->state != TQI_WAITER_TRANSIT && s->until_ns >= then->until_ns)
		return;
	if (tqi_load_relaxed32(&s->word) == tqi_load_relaxed32(&then->word) || !was_woken(lab, s))
		tqt_fault(lab->sweep, lab->level, "sleeper %u was %s without a wake", w,
			  s->state == TQI_WAITER_TRANSIT ? "popped" : "given an earlier time");
}

bool tqt_can_start(struct tqi_tx *tx, const struct tqi_worker *worker)
{
	for (uint32_t l = 1; l < tx->core->tables[TQI_LANES].count; l++) {
		const struct tqi_lane *lane = tqi_lane_at(tx, l);
		const struct tqi_class *class = tqi_class_at(tx, lane->class_);

		if (!lane->is_parking && lane->tasks.length && tqi_worker_serves(worker, class) &&
		    tqi_queue_may_start(tx, tqi_queue_at(tx, class->queue)) &&
		    !tqi_limits_full(tx, lane->limits))
			return true;
	}
	tx->corrupt = false; /* records of lanes that are free */
	return false;
}

/* Live workers that sleep beside a startable task, and those on their way. */
static void verify_sleepers(struct tqt_lab *lab, struct tqi_tx *tx)
{
	uint32_t count = tx->core->tables[TQI_WAITERS].count, stranded = 0, coming = 0, place;

	for (uint32_t w = 1; w < count; w++) {
		struct tqi_waiter *s = tqi_waiter_at(tx, w);

		if (s->state == TQI_WAITER_FREE)
			continue;
		verify_woken(lab, tx, w);
		place = tqi_waiter_keeper(tx, w);
		if (s->state == TQI_WAITER_LISTED && place < TQI_KEEPERS && is_alive(s) &&
		    s->owner.pid != TQT_PID_VICTIM && s->until_ns > tqi_keeper_until(tx, place))
			tqt_fault(lab->sweep, lab->level, "keeper %u sleeps too long", place);
		if (s->state == TQI_WAITER_LISTED && place < TQI_KEEPERS && is_alive(s) &&
		    s->owner.pid != TQT_PID_VICTIM &&
		    s->until_wall_ns > tqi_keeper_until_wall(tx, place))
			tqt_fault(lab->sweep, lab->level, "keeper %u misses the wall clock", place);
		if (!is_alive(s) || s->interest != TQI_INTEREST_WORK)
			continue;
		if (s->state == TQI_WAITER_TRANSIT)
			coming++;
		else if (tqi_command_waits(tx, s->subject) ||
			 tqt_can_start(tx, tqi_worker_at(tx, s->subject)))
			stranded = w;
	}
	if (stranded && !coming && !lab->sweep->sleeper)
		tqt_fault(lab->sweep, lab->level, "sleeper %u sleeps beside a startable task",
			  stranded);
}

static void verify_protocol(struct tqt_lab *lab)
{
	struct tqi_tx tx;

	tqi_tx_view(&tx, &lab->seg);
	tx.now_ns = tx.core->last_now_ns;
	verify_sleepers(lab, &tx);
	if (tx.core->undo_count)
		tqt_fault(lab->sweep, lab->level, "the journal is not empty");
	if (tqi_load_relaxed64(&tx.core->version) & 1)
		tqt_fault(lab->sweep, lab->level, "the version is odd");
}

/* What is in flight of the dead is room; hold.c undoes it when room is short. */
static void undo_inflight(struct tqt_lab *lab)
{
	for (uint32_t i = 0; i < TQI_INFLIGHT_MAX; i++) {
		struct tqi_inflight entry;
		struct tqi_tx tx;

		if (tqi_hold_begin(lab->tq, &tx) < 0)
			return;
		if (tqi_inflight_peek(&tx, i, &entry) &&
		    lab->system.ops.process_gone(&lab->system, &entry.owner))
			tqi_inflight_undo(&tx, i, &entry);
		if (tqi_hold_end(lab->tq, &tx, 0) < 0)
			return;
	}
}

/* Nor a graph that it was writing, nor an open group. */
static void verify_groups_buried(struct tqt_lab *lab)
{
	const struct tqi_core *core = tqi_segment_core(&lab->seg);

	for (uint32_t i = 1; i < core->tables[TQI_GROUPS].count; i++) {
		const struct tqi_group *g = tqi_table_peek(&lab->seg, TQI_GROUPS, i);

		if (g && g->owner.pid &&
		    (g->state == TQI_GROUP_BUILDING || g->state == TQI_GROUP_OPEN) &&
		    lab->system.ops.process_gone(&lab->system, &g->owner))
			tqt_fault(lab->sweep, lab->level, "group %u of the dead is still there", i);
	}
}

/* After a keeper's look nothing of the dead is left. */
static void verify_buried(struct tqt_lab *lab)
{
	const struct tqi_core *core = tqi_segment_core(&lab->seg);

	for (uint32_t i = 1; i < core->tables[TQI_WORKERS].count; i++) {
		const struct tqi_worker *worker = tqi_table_peek(&lab->seg, TQI_WORKERS, i);

		if (worker && worker->state != TQI_WORKER_FREE &&
		    lab->system.ops.process_gone(&lab->system, &worker->owner))
			tqt_fault(lab->sweep, lab->level, "worker %u of the dead is still there",
				  i);
	}
	for (uint32_t i = 1; i < core->tables[TQI_WAITERS].count; i++) {
		const struct tqi_waiter *s = tqi_table_peek(&lab->seg, TQI_WAITERS, i);

		if (s && s->state != TQI_WAITER_FREE &&
		    lab->system.ops.process_gone(&lab->system, &s->owner))
			tqt_fault(lab->sweep, lab->level, "sleeper %u of the dead is still there",
				  i);
	}
	verify_groups_buried(lab);
}

static void keep(struct tqt_lab *lab)
{
	lab->system.now_ns += LATER_NS;
	tqi_keep(lab->tq);
	if (tqi_segment_core(&lab->seg)->undo_count == 0 &&
	    !tqi_load_relaxed32(&tqi_segment_header(&lab->seg)->destroyed))
		verify_buried(lab);
	undo_inflight(lab);
}

static bool is_refusal(int r)
{
	return r == TQ_EFULL || r == TQ_ESHUTDOWN || r == TQ_EDRAINING || r == -ENOSPC;
}

static void do_command(struct tqt_lab *lab, struct tq_worker *worker)
{
	struct tq_command command = { .size = sizeof(command) };
	int r = tq_command_take(worker, &command);

	if (r == 0)
		r = tq_command_ack(worker, command.id, TQ_ANSWER_DONE, "by rescuer");
	if (r < 0)
		tqt_fault(lab->sweep, lab->level, "the rescuer's command: %s", tq_error_name(r));
}

static void claim_some(struct tqt_lab *lab, struct tq_worker *worker)
{
	for (int i = 0; i < CLAIMS; i++) {
		struct tq_claim claim = { .size = sizeof(claim) };
		int r = tq_claim(worker, 0, &claim);

		if (r == TQ_ECOMMAND) {
			do_command(lab, worker);
			continue;
		}
		if (r == -ETIMEDOUT || r == TQ_ESHUTDOWN)
			return;
		if (r == 0)
			tqt_verify_claim(lab, &claim);
		if (r == 0)
			r = tq_complete(worker, &claim, "by rescuer", 10);
		if (r < 0) {
			tqt_fault(lab->sweep, lab->level, "the rescuer's claim: %s",
				  tq_error_name(r));
			return;
		}
	}
}

/* Life goes on: another process does its work. */
static void go_on(struct tqt_lab *lab)
{
	static const char *const queues[] = { "default", "other" };
	const struct tq_worker_opts opts = { .size = sizeof(opts),
					     .queues = queues,
					     .queue_count = 2,
					     .flags = TQ_WORKER_COMMANDS };
	const struct tq_task_spec spec = {
		.size = sizeof(spec), .kind = "k", .payload = "rescuer", .payload_bytes = 7
	};
	struct tq_worker *worker;
	int r = tq_submit(lab->tq, &spec, NULL);

	if (r < 0 && !is_refusal(r))
		tqt_fault(lab->sweep, lab->level, "the rescuer's submit: %s", tq_error_name(r));
	r = tq_worker_open(lab->tq, &opts, &worker);
	if (r < 0) {
		if (!is_refusal(r))
			tqt_fault(lab->sweep, lab->level, "the rescuer's worker: %s",
				  tq_error_name(r));
		return;
	}
	claim_some(lab, worker);
	tq_worker_close(worker);
}

/*
 * A rescued image that is exactly what the last commit left needs no check of its
 * own if that had one; what the others' work made of it does.
 */
static bool deserves_check(const struct tqt_lab *lab)
{
	const struct tqt_sweep *sweep = lab->sweep;

	return sweep->thorough || lab->level == 1 || sweep->seen.count % NESTED_CHECKED == 0;
}

void tqt_verify(struct tqt_lab *lab)
{
	struct tqt_sweep *sweep = lab->sweep;
	uint32_t before = sweep->faults;

	if (sweep->intact)
		verify_intact(lab);
	else
		verify_exact(lab);
	if (lab->level == 1 && !sweep->intact)
		tqt_observe_rescued(lab);
	if (sweep->intact || sweep->thorough || sweep->boundary || sweep->seen.count == 1)
		verify_check(lab, "after the rescue");
	verify_protocol(lab);
	if ((sweep->boundary || sweep->words) && lab->level == 1 &&
	    sweep->dump_count < TQT_DUMPS_MAX)
		sweep->dumps[sweep->dump_count++] = tqt_dump(lab->tq, lab->sweep->unseen);
	if (sweep->faults != before)
		return; /* what comes of it is of no interest */
	keep(lab);
	tqt_soil(lab);
	go_on(lab);
	if (deserves_check(lab))
		verify_check(lab, "after others' work");
}
