/* SPDX-License-Identifier: MIT */
/*
 * What users see of a segment, as text: to tell whether an operation happened.
 * Times are only "set" or not; whether a worker lives is left out, for the victim's
 * does not.
 */
#ifndef TQT_DUMP_H
#define TQT_DUMP_H

#include "taskq/taskq.h"

/* But for these flags of tasks (TQ_INFO_).  The caller frees it. */
char *tqt_dump(struct tq *tq, uint32_t but);
/* Prints the first line in which they differ. */
void tqt_dump_differs(const char *a, const char *b);

#endif
