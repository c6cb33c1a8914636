/* SPDX-License-Identifier: MIT */
/*
 * Records that are used again.  Others' work finds free records of attempts full of a
 * pattern, in place of what their last owners left; what a claim did not fill shows it.
 */
#include <stddef.h>
#include <string.h>

#include "scheduler/record/records.h"
#include "tests/crash/lab.h"
#include "tests/crash/operations.h"

#define PATTERN 0xa5
#define SOILED_MAX 8 /* others' work takes fewer: the newest free ones, which come first */

static unsigned char *attempt_at(const struct tqt_lab *lab, uint32_t index)
{
	return tqi_table_peek(&lab->seg, TQI_ATTEMPTS, index);
}

/* What lives on: the chain of free records, and the number of the record's lives. */
static bool lives_on(uint32_t at)
{
	return at < offsetof(struct tqi_attempt, task) ||
	       (at >= offsetof(struct tqi_attempt, waits_life) &&
		at < offsetof(struct tqi_attempt, payload));
}

void tqt_soil(struct tqt_lab *lab)
{
	uint32_t index = tqi_segment_core(&lab->seg)->tables[TQI_ATTEMPTS].free;

	for (uint32_t i = 0; i < SOILED_MAX && index; i++) {
		unsigned char *record = attempt_at(lab, index);

		memcpy(&index, record, sizeof(index));
		for (uint32_t at = 0; at < sizeof(struct tqi_attempt); at++)
			if (!lives_on(at))
				record[at] = PATTERN;
	}
}

/* Of the report that the index names; of the block that is inherited. */
static bool is_detail(uint32_t at)
{
	return at - (uint32_t)offsetof(struct tqi_attempt, progress_ns) < sizeof(uint64_t) ||
	       at == offsetof(struct tqi_attempt, inherited_bytes);
}

/* What nobody reads: reserved, and progress that no index names. */
static bool is_unread(uint32_t at)
{
	return lives_on(at) || at >= offsetof(struct tqi_attempt, progress) ||
	       at == offsetof(struct tqi_attempt, phase) || /* and others that share its word */
	       at == offsetof(struct tqi_attempt, reserved1) || is_detail(at);
}

static void verify_filled(struct tqt_lab *lab, uint32_t slot)
{
	const unsigned char *record = attempt_at(lab, slot);
	const struct tqi_attempt *a = (const void *)record;
	bool filled = a->phase != PATTERN && a->stop_cause != PATTERN;
	unsigned char soiled[4];

	/* A byte of a number or a time may be the pattern's by chance, four are not. */
	memset(soiled, PATTERN, sizeof(soiled));
	for (uint32_t at = 0; at < sizeof(*a); at += sizeof(soiled))
		filled &= is_unread(at) || memcmp(record + at, soiled, sizeof(soiled)) != 0;
	if (!filled)
		tqt_fault(lab->sweep, lab->level, "a claim left in its attempt what was there");
}

static bool is_saved(const struct tq_claim *claim, const char *text)
{
	return claim->checkpoint_bytes == strlen(text) &&
	       memcmp(claim->checkpoint, text, strlen(text)) == 0;
}

/* A checkpoint that is named is whole; one that was acknowledged is the one that is named. */
static void verify_saved(struct tqt_lab *lab, const struct tq_claim *claim)
{
	const struct tqt_sweep *sweep = lab->sweep;
	const bool is_now = is_saved(claim, TQT_SAVED_NOW);
	const bool is_victims = claim->attempt > 1 && strstr(sweep->operation, "checkpoint");

	if (claim->checkpoint_bytes && !is_now && !is_saved(claim, TQT_SAVED_BEFORE))
		tqt_fault(lab->sweep, lab->level, "a checkpoint that nobody has saved");
	if (sweep->returned && is_victims && !is_now)
		tqt_fault(lab->sweep, lab->level, "a checkpoint that was acknowledged is lost");
}

void tqt_verify_claim(struct tqt_lab *lab, const struct tq_claim *claim)
{
	verify_filled(lab, claim->slot);
	verify_saved(lab, claim);
}
