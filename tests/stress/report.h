/* SPDX-License-Identifier: MIT */
/* The figures of a storm. */
#ifndef STORM_REPORT_H
#define STORM_REPORT_H

#include "cast.h"

/* How soon tasks of killed processes went on, and the one line of figures. */
void report(const struct cast *c, struct ledger *l, uint64_t storm_ns);

#endif
