/* SPDX-License-Identifier: MIT */
/* Drafts of tasks, each in the ledger before its submit. */
#include "draft.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RECENT 200u
#define BUDGET 250u /* crashes and lost leases of a task that must end by its own word */
#define LARGE_MAX (40u << 10)
#define HUGE_MAX (300u << 10) /* a run of spans */

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
static uint32_t choose_record(struct player *p, struct tq_task_spec *spec, bool keep)
{
	uint64_t dice = chance_below(&p->chance, 100);

	spec->crashes_max = spec->losses_max = BUDGET;
	if (strcmp(spec->kind, "exec") != 0 && dice < 55 && !keep) {
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

void draft_write(struct player *p, struct draft *d, uint32_t slot, bool keep)
{
	uint32_t traits;

	*d = (struct draft){ .spec.size = sizeof(d->spec) };
	traits = choose_place(p, &d->spec);
	traits |= choose_record(p, &d->spec, keep);
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

void draft_drop(struct draft *d)
{
	free(d->payload);
}

/* One that was accepted, rather one that has not ended; UINT32_MAX none found. */
static uint32_t choose_parent(struct player *p, uint32_t before)
{
	uint32_t room = before < RECENT ? before : RECENT;

	for (int i = 0; i < 10 && room; i++) {
		uint32_t slot = before - 1 - (uint32_t)chance_below(&p->chance, room);
		const struct ledger_task *t = &p->ledger->task[slot];

		if (t->state == LEDGER_ACCEPTED && (!t->outcome || i > 5))
			return slot;
	}
	return UINT32_MAX;
}

uint32_t draft_after(struct player *p, struct draft *d, uint32_t slot, uint32_t count)
{
	d->spec.after = d->after;
	for (uint32_t i = 0; i < count && d->spec.after_count < LEDGER_AFTER_MAX; i++) {
		uint32_t on = choose_parent(p, slot), kind = draft_kind(p);

		if (on == UINT32_MAX || !ledger_after(p->ledger, slot, on, kind, true))
			break;
		d->after[d->spec.after_count++] =
			(struct tq_dependency){ .id = p->ledger->task[on].id, .kind = kind };
	}
	return d->spec.after_count;
}

uint32_t draft_kind(struct player *p)
{
	uint64_t dice = chance_below(&p->chance, 100);

	return dice < 40 ? TQ_AFTER_OK : dice < 85 ? TQ_AFTER_ANY : TQ_AFTER_FAIL;
}
