/* SPDX-License-Identifier: MIT */
/*
 * Questions about one thing that the scheduler itself answers: its functions run on a
 * private overlay of the segment (shm/overlay.h), where they may park, open and re-key as a
 * claim does, and nothing of it reaches the segment.
 *
 * VW-1  All copies of a view are of one committed state (RD-1, RD-2): the version that they
 *     belong to is the same.  One that is not ends the try; the next begins anew.
 * VW-2  After TQI_VIEW_TRIES tries one hold copies, for TQI_VIEW_HELD_NS at most; it stores
 *     nothing.  Where that may not be, or takes longer, copies of several moments must do:
 *     the answer is torn, and whatever does not fit together in it is no damage.
 * VW-3  A view has TQI_VIEW_RECORDS and TQI_VIEW_BYTES at most, and is referred to
 *     TQI_VIEW_REFERENCES times.  When that is used up, its transaction is corrupt, which
 *     ends the scheduler's loops: the answer is cut.
 */
#ifndef TQI_CLIENT_OBSERVE_VIEW_H
#define TQI_CLIENT_OBSERVE_VIEW_H

#include "client/core/handle.h"

#define TQI_VIEW_TRIES 8	  /* then others are too quick */
#define TQI_VIEW_HELD_NS 50000ull /* 50 us: a few holds of others */
#define TQI_VIEW_RECORDS 1024u
#define TQI_VIEW_BYTES (1u << 20)
#define TQI_VIEW_REFERENCES (1u << 18) /* a thousand starts take a quarter of it */

enum tqi_view_answer {
	TQI_VIEW_WHOLE = 0,
	TQI_VIEW_CUT = 1,  /* what was looked at is too much, or damaged */
	TQI_VIEW_TORN = 2, /* others were too quick */
};

/* Asked several times, each time of a new view: it begins with an answer of its own anew. */
typedef void tqi_view_question(struct tqi_tx *tx, void *arg);

/*
 * Ask it.  `seg` may be a view's: it is asked of that one, and may not store.  `tq` NULL:
 * without a hold.  enum tqi_view_answer; -ENOMEM no address space (it
 * needs as much as the segment, but no memory for it).
 */
int tqi_view_ask(const struct tqi_segment *seg, struct tq *tq, tqi_view_question *question,
		 void *arg);

#endif
