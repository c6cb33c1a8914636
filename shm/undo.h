/* SPDX-License-Identifier: MIT */
/*
 * The undo journal: what its entries and its length say, and whether they can be believed.
 *
 * An entry's where = offset << 8 | code; of a heap's tag its place stands for the offset.
 *
 * TX-7  A journal is believed only as a whole.  Its length bears the mark of its
 *     transaction, the version, and is there twice; before anything is undone, each entry
 *     that counts is looked at.  A length that no transaction has stored, or an entry that
 *     none writes, is damage: then nothing is undone, the length stays, and whoever takes
 *     the lock finds it and gives up (TQ_ECORRUPT) until a repair has made everything anew.
 */
#ifndef TQI_SHM_UNDO_H
#define TQI_SHM_UNDO_H

#include <stdbool.h>

#include "shm/segment.h"

enum tqi_undo_code {
	TQI_UNDO_8,
	TQI_UNDO_16,
	TQI_UNDO_32,
	TQI_UNDO_64,
	TQI_UNDO_TAG, /* + family: a heap entry's tag; restores its position too */
	TQI_UNDO_LENGTH = TQI_UNDO_TAG + TQI_FAMILIES_MAX, /* + family: a heap's length */
	TQI_UNDO_CODES = TQI_UNDO_LENGTH + TQI_FAMILIES_MAX,
};

#define TQI_UNDO_ONE 0x10001u /* an entry more, in either half of the length's low half */
#define TQI_UNDO_OFF UINT64_MAX /* a repair is under way, or was: nothing is undone (TX-8) */
_Static_assert(TQI_JOURNAL_MAX < UINT16_MAX, "the length has room twice, and is never off");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "undo_count is the low end of undo");

/* The length before the first entry of the transaction of this version. */
static inline uint64_t tqi_undo_mark(uint64_t version)
{
	return version << 32;
}

/* Whether a transaction of this version can have stored this length; an empty journal's is 0. */
static inline bool tqi_undo_is_marked(uint64_t undo, uint64_t version)
{
	const uint64_t count = undo & UINT16_MAX;

	return undo == 0 || ((version & 1) && count && count <= TQI_JOURNAL_MAX &&
			     undo == tqi_undo_mark(version) + count * TQI_UNDO_ONE);
}

/*
 * TX-7, for those who apply entries to a copy of a record: the length, codes, alignment, and
 * that no fixed part is meant that transactions do not change.
 */
bool tqi_undo_is_sane(const struct tqi_segment *seg, const struct tqi_undo *journal,
		      const struct tqi_core *core);

/* TX-7, for those who apply them to the segment itself, or to a copy of all of it: besides,
 * memory is there, and in no record what its owner writes without the lock. */
bool tqi_undo_is_valid(const struct tqi_segment *seg);

#endif
