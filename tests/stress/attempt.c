/* SPDX-License-Identifier: MIT */
/* What an attempt does between its claim and its verdict. */
#include "storm.h"

#define STOP_LOOK_NS (2 * MS)

/* The last attempt's checkpoint must be this task's. */
static void read_checkpoint(struct player *p, const struct tq_claim *claim, uint32_t slot)
{
	uint32_t of;

	if (!claim->checkpoint)
		return;
	if (!paper_read(claim->checkpoint, claim->checkpoint_bytes, &of) || of != slot)
		ledger_fault(p->ledger, FAULT_MIXED, slot, "a checkpoint of %llu bytes",
			     (unsigned long long)claim->checkpoint_bytes);
}

void attempt_begin(struct player *p, const struct tq_claim *claim, struct attempt *ret_attempt)
{
	*ret_attempt = (struct attempt){ .slot = UINT32_MAX };
	if (!paper_read(claim->payload, claim->payload_bytes, &ret_attempt->slot) ||
	    ret_attempt->slot >= p->ledger->tasks) {
		ret_attempt->slot = UINT32_MAX;
		ledger_fault(p->ledger, FAULT_MIXED, UINT32_MAX, "a claim of %llx has no payload",
			     (unsigned long long)claim->id);
		return;
	}
	ledger_begin(p->ledger, ret_attempt->slot, claim->id, claim->attempt, p->who);
	read_checkpoint(p, claim, ret_attempt->slot);
}

static void report(struct player *p, struct tq_worker *worker, const struct tq_claim *claim,
		   uint32_t slot)
{
	unsigned char buf[200];
	uint32_t bytes = (uint32_t)chance_in(&p->chance, PAPER_BYTES_MIN, sizeof(buf));

	if (chance_percent(&p->chance, 20))
		player_accepts(p, "tq_claim_progress",
			       tq_claim_progress(worker, claim, 50, "half of it"));
	if (!chance_percent(&p->chance, 15))
		return;
	paper_write(buf, bytes, slot);
	player_accepts(p, "tq_claim_checkpoint", tq_claim_checkpoint(worker, claim, buf, bytes));
}

/* Most take no time; some so long that others come first. */
static uint64_t duration(struct player *p)
{
	uint64_t dice = chance_below(&p->chance, 100);

	if (dice < 40)
		return 0;
	if (dice < 90)
		return chance_below(&p->chance, 3 * MS);
	return chance_below(&p->chance, 25 * MS);
}

static uint32_t choose_words(struct player *p)
{
	uint64_t dice = chance_below(&p->chance, 100);

	if (dice < 75)
		return SAID_DONE;
	if (dice < 90)
		return SAID_FAIL;
	return dice < 95 ? SAID_FATAL : SAID_BACK;
}

void attempt_run(struct player *p, struct tq_worker *worker, const struct tq_claim *claim,
		 struct attempt *a)
{
	uint64_t left = duration(p);
	bool stopping = false;

	a->said = choose_words(p);
	if (a->slot == UINT32_MAX)
		return;
	report(p, worker, claim, a->slot);
	if (chance_percent(&p->chance, 5))
		attempt_waits(p);
	while (left && !stopping) {
		uint64_t slice = left < STOP_LOOK_NS ? left : STOP_LOOK_NS;

		player_work(slice);
		left -= slice;
		stopping = tq_claim_stopping(worker, claim) != 0;
	}
	if (stopping)
		a->said = SAID_FAIL;
}
