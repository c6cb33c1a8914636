/* SPDX-License-Identifier: MIT */
/* Submitters: tasks of all sorts, one by one and in batches, each in the ledger first. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "storm.h"

#define BATCH_MAX 24u
#define BACKLOG 300u /* unfinished tasks at which a submitter waits for some to end */
#define BUDGET 250u  /* crashes and lost leases of a task that must end by its own word */
#define LARGE_MAX (40u << 10)
#define HUGE_MAX (300u << 10) /* a run of spans */

/* One task on its way; buffers live as long as its spec. */
struct draft {
	struct tq_task_spec spec;
	char label[TQ_LABEL_MAX + 1];
	const char *limits[2];
	void *payload;
};

static uint32_t paper_bytes(struct player *p)
{
	uint64_t dice = chance_below(&p->chance, 1000);

	if (dice < 3)
		return (uint32_t)chance_in(&p->chance, LARGE_MAX, HUGE_MAX);
	if (dice < 100)
		return (uint32_t)chance_in(&p->chance, 4096, LARGE_MAX);
	return (uint32_t)chance_in(&p->chance, PAPER_BYTES_MIN, 300);
}

static void write_paper(struct player *p, struct draft *d, uint32_t slot)
{
	uint32_t bytes = paper_bytes(p);

	d->payload = malloc(bytes);
	if (!d->payload)
		return;
	paper_write(d->payload, bytes, slot);
	d->spec.payload = d->payload;
	d->spec.payload_bytes = bytes;
}

/* This program, as an attempt (command.c). */
static void write_command(struct player *p, struct draft *d, uint32_t slot)
{
	char number[16], dice[24];
	const char *argv[] = {
		p->storm->program, "--attempt", p->storm->ledger_path, number, dice, NULL
	};
	const struct tq_exec exec = { .size = sizeof(exec), .argv = argv };
	uint64_t bytes = 0;

	snprintf(number, sizeof(number), "%u", slot);
	snprintf(dice, sizeof(dice), "%llu", (unsigned long long)chance_next(&p->chance));
	(void)!tq_exec_encode(&exec, NULL, 0, &bytes);
	d->payload = malloc(bytes);
	if (!d->payload || tq_exec_encode(&exec, d->payload, bytes, &bytes) < 0)
		return;
	d->spec.payload = d->payload;
	d->spec.payload_bytes = bytes;
}

/* Where it goes, and who runs it there. */
static uint32_t choose_place(struct player *p, struct tq_task_spec *spec)
{
	uint64_t dice = chance_below(&p->chance, 100);

	spec->kind = KIND_WORK;
	if (dice < 55) {
		spec->queue = QUEUE_PLAIN;
		return 0;
	}
	if (dice < 75) {
		spec->queue = QUEUE_STEERED;
		return TRAIT_STEERED;
	}
	if (dice < 82) {
		spec->queue = QUEUE_SCRAP;
		return TRAIT_PURGED | TRAIT_STEERED;
	}
	spec->queue = QUEUE_FARM;
	spec->kind = dice < 92 ? KIND_HANDLER : dice < 96 ? KIND_FAMILY : "exec";
	return TRAIT_FARM | (strcmp(spec->kind, KIND_HANDLER) == 0 ? 0 : TRAIT_GROUP);
}

/*
 * What becomes of its record.  One that may go unseen must end by its own word or by
 * a cancel, so that the ledger can tell (judge.c): no small budgets, no time-outs.
 */
static uint32_t choose_record(struct player *p, struct tq_task_spec *spec)
{
	uint64_t dice = chance_below(&p->chance, 100);

	spec->crashes_max = spec->losses_max = BUDGET;
	if (strcmp(spec->kind, "exec") != 0 && dice < 55) {
		spec->flags |= dice < 20 ? TQ_TASK_FORGET : 0;
		return 0;
	}
	spec->flags |= TQ_TASK_KEEP;
	if (chance_percent(&p->chance, 20)) {
		spec->flags |= TQ_TASK_AT_MOST_ONCE;
		return TRAIT_KEEP | TRAIT_ONCE;
	}
	if (chance_percent(&p->chance, 20))
		spec->crashes_max = spec->losses_max = 2;
	if (chance_percent(&p->chance, 10))
		spec->timeout_ns = chance_in(&p->chance, 5, 60) * MS;
	return TRAIT_KEEP;
}

static uint64_t wall_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void choose_times(struct player *p, struct tq_task_spec *spec)
{
	static const int32_t priorities[] = { TQ_PRIORITY_LOW, TQ_PRIORITY_NORMAL, TQ_PRIORITY_HIGH,
					      TQ_PRIORITY_CRITICAL };

	spec->priority = priorities[chance_below(&p->chance, 4)];
	spec->attempts_max = (uint32_t)chance_in(&p->chance, 1, 4);
	spec->backoff_ns = chance_in(&p->chance, 1, 10) * MS;
	spec->backoff_cap_ns = 20 * MS;
	if (chance_percent(&p->chance, 15))
		spec->delay_ns = chance_in(&p->chance, 1, 150) * MS;
	else if (chance_percent(&p->chance, 10))
		spec->at_ns = wall_ns() + chance_in(&p->chance, 1, 150) * MS;
	if (chance_percent(&p->chance, 40)) /* to order by: none passes */
		spec->deadline_ns = chance_in(&p->chance, 3600, 7200) * S;
	if (chance_percent(&p->chance, 10))
		spec->full_timeout_ns = chance_in(&p->chance, 1, 200) * MS;
}

static void choose_limits(struct player *p, struct draft *d)
{
	if (!chance_percent(&p->chance, 25))
		return;
	d->spec.limit_count = chance_percent(&p->chance, 30) ? 2 : 1;
	for (uint32_t i = 0; i < d->spec.limit_count; i++)
		d->limits[i] = storm_limits[chance_below(&p->chance, STORM_LIMITS)];
	d->spec.limits = d->limits;
}

/* For when its queue is a fair one. */
static void choose_fair_key(struct player *p, struct tq_task_spec *spec)
{
	static const char *const keys[] = { "a", "b", "c", NULL };

	spec->fair_key = keys[chance_below(&p->chance, 4)];
}

static void write_draft(struct player *p, struct draft *d, uint32_t slot)
{
	uint32_t traits;

	*d = (struct draft){ .spec.size = sizeof(d->spec) };
	traits = choose_place(p, &d->spec);
	traits |= choose_record(p, &d->spec);
	choose_times(p, &d->spec);
	choose_limits(p, d);
	choose_fair_key(p, &d->spec);
	if ((traits & TRAIT_STEERED) && chance_percent(&p->chance, 5))
		d->spec.flags |= TQ_TASK_HOLD;
	if (d->spec.delay_ns || d->spec.at_ns)
		traits |= TRAIT_STEERED;
	paper_label(d->label, slot);
	d->spec.label = d->label;
	if (strcmp(d->spec.kind, "exec") == 0)
		write_command(p, d, slot);
	else
		write_paper(p, d, slot);
	ledger_describe(p->ledger, slot, traits, d->spec.attempts_max);
}

static int submit_drafts(struct player *p, const struct draft *drafts, uint32_t count,
			 uint64_t *ret_ids)
{
	struct tq_task_spec specs[BATCH_MAX];

	for (uint32_t i = 0; i < count; i++)
		specs[i] = drafts[i].spec;
	fuse_light(p);
	if (count == 1) {
		int r = tq_submit(p->tq, specs, ret_ids);

		return r < 0 ? r : 1;
	}
	return tq_submit_batch(p->tq, specs, count, ret_ids);
}

uint32_t submit_some(struct player *p)
{
	uint32_t count =
		chance_percent(&p->chance, 80) ? 1 : (uint32_t)chance_in(&p->chance, 2, BATCH_MAX);
	struct draft *drafts = calloc(count, sizeof(*drafts));
	uint32_t first = drafts ? ledger_offer(p->ledger, count) : UINT32_MAX, last = UINT32_MAX;
	uint64_t ids[BATCH_MAX];

	if (first == UINT32_MAX) {
		free(drafts);
		return UINT32_MAX;
	}
	for (uint32_t i = 0; i < count; i++)
		write_draft(p, &drafts[i], first + i);
	int r = submit_drafts(p, drafts, count, ids);

	player_accepts(p, "tq_submit", r);
	atomic_fetch_add(&p->ledger->full, r == TQ_EFULL);
	for (uint32_t i = 0; i < count; i++) {
		if (r > (int)i)
			ledger_accepted(p->ledger, last = first + i, ids[i]);
		else
			ledger_refused(p->ledger, first + i, r);
		free(drafts[i].payload);
	}
	free(drafts);
	return last;
}

/* Not faster than the others work. */
static void pace(struct player *p, uint32_t slot)
{
	struct tq_segment_info info = { .size = sizeof(info) };
	uint64_t patience = chance_in(&p->chance, 1, 40) * MS;

	if (tq_segment_info(p->tq, &info) == 0 && info.tasks_unfinished > BACKLOG)
		patience = S / 2;
	player_does(p, DOING_WAIT, slot);
	if (slot == UINT32_MAX)
		player_work(patience / 4);
	else
		player_accepts(p, "tq_wait",
			       tq_wait(p->tq, p->ledger->task[slot].id, patience, NULL));
}

int play_submitter(struct player *p)
{
	if (!player_open(p, 0))
		return 0;
	while (player_phase_is(p, PHASE_STORM)) {
		player_does(p, DOING_SUBMIT, UINT32_MAX);
		pace(p, submit_some(p));
	}
	return 0;
}
