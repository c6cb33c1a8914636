/* SPDX-License-Identifier: MIT */
/*
 * What users see of a segment, as text: to tell whether an operation happened.
 * Times are only "set" or not; whether a worker lives is left out, for the victim's
 * does not.
 */
#ifndef TQT_DUMP_H
#define TQT_DUMP_H

#include "taskq/taskq.h"

/* The caller frees it. */
char *tqt_dump(struct tq *tq);

#endif
