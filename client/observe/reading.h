/* SPDX-License-Identifier: MIT */
/*
 * What is read of one thing, from several records: all of one committed state, whoever has
 * been stopped or killed inside a transaction.
 */
#ifndef TQI_CLIENT_OBSERVE_READING_H
#define TQI_CLIENT_OBSERVE_READING_H

#include "client/observe/view.h"

/* Copies by the functions of client/observe/snapshot.h only; read anew, it begins anew. */
typedef void tqi_reading(const struct tqi_segment *seg, void *arg);

/*
 * Read: of the segment itself while nobody is inside a transaction, which costs least, else of
 * a view.  What is not TQI_VIEW_WHOLE (others are too quick, there is no address space for a
 * view, or it is damaged) was read of the segment as it was going, where a task by itself
 * still is of one state (RD-4).
 */
enum tqi_view_answer tqi_read(struct tq *tq, tqi_reading *read, void *arg);

#endif
