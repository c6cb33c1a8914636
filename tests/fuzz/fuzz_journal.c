/* SPDX-License-Identifier: MIT */
/*
 * The journal of a writer that died, of any length and with any entries: it is undone or
 * refused, and a repair mends what came of it (fault.D1).
 */
#include <linux/futex.h>
#include <string.h>

#include "shm/undo.h"
#include "tests/fuzz/fuzz_image.h"

/* Eight bytes for the length, then entries; a first bit says that the length is to be right. */
static void leave_journal(struct tqi_segment *seg, const uint8_t *bytes, size_t count)
{
	struct tqi_core *core = tqi_segment_core(seg);
	const size_t most = TQI_JOURNAL_MAX * sizeof(struct tqi_undo);
	uint64_t length;

	memcpy(&length, bytes, sizeof(length));
	bytes += sizeof(length);
	count -= sizeof(length);
	memcpy(tqi_segment_journal(seg), bytes, count < most ? count : most);
	const uint64_t version = tqi_load_relaxed64(&core->version) | 1;

	tqi_store_relaxed64(&core->version, version);
	if (length & 1)
		length = tqi_undo_mark(version) +
			 count / sizeof(struct tqi_undo) % TQI_JOURNAL_MAX * TQI_UNDO_ONE;
	core->undo = length;
	*(volatile uint32_t *)(void *)&core->lock = FUTEX_OWNER_DIED;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	struct fuzz_image *image = fuzz_image_fresh();
	struct tq *tq = image->scene.tq;

	if (count < sizeof(uint64_t))
		return 0;
	leave_journal(&tq->seg, bytes, count);
	tqt_scene_look(&image->scene);
	(void)!tq_task_steer(tq, image->scene.ids[1], TQ_TASK_ACTION_CANCEL);
	if (tq_check(tq, TQ_CHECK_REPAIR, NULL, NULL) >= 0)
		tqt_require(tq_check(tq, TQ_CHECK_EXACT, NULL, NULL) == 0);
	return 0;
}
